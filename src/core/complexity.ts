/**
 * How much work a task looks like, read from its words: the class that scales an attempt's time. A word
 * counts only as a whole, whatever its case; "build" holds no UI and "review" no View. A keyword that the
 * project named decides; otherwise all that is known of the text is weighed. The class is a guess, so the
 * word it comes from and where it stands are always told with it.
 */
import { indexKeywords, type KeywordIndex, strongestKeyword } from './complexity-keywords.ts';
import type { Texts } from './complexity-shape.ts';
import { weigh } from './complexity-weigh.ts';

/** From the least work to the most; `ui_heavy` is work that is mostly seen and handled on a screen. */
export const COMPLEXITIES = ['simple', 'medium', 'complex', 'ui_heavy'] as const;

export type Complexity = (typeof COMPLEXITIES)[number];

/** What one class means: its factor on the mode's time, and the words that put a task into it. */
export interface ComplexityClass {
  multiplier: number;
  keywords: string[];
}

export type ComplexityClasses = Record<Complexity, ComplexityClass>;

/**
 * The classes of a project that configures none. Their keywords stand for all the words Ralph knows of the
 * class; a list that is not this one is the project's own, takes their place, and decides.
 */
export const DEFAULT_CLASSES: ComplexityClasses = {
  simple: { multiplier: 1, keywords: ['fix', 'update', 'refactor', 'add'] },
  medium: { multiplier: 1.5, keywords: ['test', 'mock', 'fixture'] },
  complex: { multiplier: 2, keywords: ['CLI', 'command', 'parser'] },
  ui_heavy: { multiplier: 3, keywords: ['UI', 'View', 'Chart', 'Dashboard', 'SwiftUI'] },
};

/** The class of a task and why it has it. */
export interface Classified {
  level: Complexity;
  /** Continues "ui_heavy because …": "of 'Chart' in acceptance 2", or that no keyword was found. */
  because: string;
}

/**
 * The class of a task by title, description and criteria. The strongest class of which the project's own
 * keywords stand in them wins; without one the heaviest evidence; without any it is medium.
 */
export function classify(texts: Texts, classes: ComplexityClasses): Classified {
  const { own, keywords } = ownOf(classes);
  const named = own.includes(true) ? namedIn(texts, keywords) : null;
  if (named) return named;
  const { rank, first, raisedFrom } = weigh(texts, own);
  const level = COMPLEXITIES[rank]!;
  const because = first ? `of '${first.word}' in ${first.place}` : null;
  if (raisedFrom === null) return { level, because: because ?? 'no keyword says otherwise' };
  const more = `${texts.acceptance.length} acceptance criteria raise it from ${COMPLEXITIES[raisedFrom]}`;
  return { level, because: because ? `${because}, and ${more}` : more };
}

function namedIn(texts: Texts, keywords: KeywordIndex): Classified | null {
  let best: { rank: number; because: string } | null = null;
  const places: [string, string][] = [
    ['the title', texts.title],
    ['the description', texts.description],
    ...texts.acceptance.map((text, index): [string, string] => [`acceptance ${index + 1}`, text]),
  ];
  for (const [place, text] of places) {
    const hit = strongestKeyword(text, keywords);
    if (hit && (!best || hit.rank > best.rank))
      best = { rank: hit.rank, because: `of '${hit.word}' in ${place}` };
  }
  return best && { level: COMPLEXITIES[best.rank]!, because: best.because };
}

/** Which classes have a list of the project's own, and those lists. */
interface Own {
  own: boolean[];
  keywords: KeywordIndex;
}

const known = new WeakMap<ComplexityClasses, Own>();

function ownOf(classes: ComplexityClasses): Own {
  const before = known.get(classes);
  if (before) return before;
  const own = COMPLEXITIES.map((level) => {
    return classes[level].keywords.join('\n') !== DEFAULT_CLASSES[level].keywords.join('\n');
  });
  const lists = COMPLEXITIES.map((level, rank) => (own[rank] ? classes[level].keywords : []));
  const found = { own, keywords: indexKeywords(lists) };
  known.set(classes, found);
  return found;
}
