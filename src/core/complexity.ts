/**
 * How much work a task looks like, read from its words: the class that scales an attempt's time. A word
 * counts only as a whole, whatever its case; "build" holds no UI and "review" no View. The class is a
 * guess, so the word it comes from and where it stands are always told with it.
 */
import { DEFAULT_WORDS } from './complexity-words.ts';
import type { TaskDef } from './task.ts';

/** From the least work to the most; `ui_heavy` is work that is mostly seen and handled on a screen. */
export const COMPLEXITIES = ['simple', 'medium', 'complex', 'ui_heavy'] as const;

export type Complexity = (typeof COMPLEXITIES)[number];

/** What one class means: its factor on the mode's time, and the words that put a task into it. */
export interface ComplexityClass {
  multiplier: number;
  keywords: string[];
}

export type ComplexityClasses = Record<Complexity, ComplexityClass>;

/** The classes of a project that configures none. */
export const DEFAULT_CLASSES: ComplexityClasses = {
  simple: { multiplier: 1, keywords: DEFAULT_WORDS.simple },
  medium: { multiplier: 1.5, keywords: DEFAULT_WORDS.medium },
  complex: { multiplier: 2, keywords: DEFAULT_WORDS.complex },
  ui_heavy: { multiplier: 3, keywords: DEFAULT_WORDS.ui_heavy },
};

/** The class of a task and why it has it. */
export interface Classified {
  level: Complexity;
  /** Continues "ui_heavy because …": "of 'Chart' in acceptance 2", or that no keyword was found. */
  because: string;
}

/** More criteria than this raise a task by one class. */
const MANY_CRITERIA = 3;

/**
 * The class of a task by title, description and criteria. The strongest class with a keyword in them wins;
 * none is medium; more than three criteria raise the class by one.
 */
export function classify(
  { title, description, acceptance }: Pick<TaskDef, 'title' | 'description' | 'acceptance'>,
  classes: ComplexityClasses,
): Classified {
  const keywords = indexOf(classes);
  const places: [string, string][] = [
    ['the title', title],
    ['the description', description],
    ...acceptance.map((text, index): [string, string] => [`acceptance ${index + 1}`, text]),
  ];
  let best: Hit | null = null;
  for (const [place, text] of places) {
    const hit = strongest(text, keywords);
    if (hit && (!best || hit.rank > best.rank)) best = { ...hit, place };
  }
  const rank = best?.rank ?? COMPLEXITIES.indexOf('medium');
  const because = best ? `of '${best.word}' in ${best.place}` : 'no keyword says otherwise';
  const raised = Math.min(rank + 1, COMPLEXITIES.length - 1);
  if (acceptance.length <= MANY_CRITERIA || raised === rank) return { level: COMPLEXITIES[rank]!, because };
  const more = `${acceptance.length} acceptance criteria raise it from ${COMPLEXITIES[rank]}`;
  return { level: COMPLEXITIES[raised]!, because: best ? `${because}, and ${more}` : more };
}

interface Hit {
  rank: number;
  /** As it stands in the text. */
  word: string;
  place: string;
}

/** One keyword: its words in order, each lower case. */
interface Keyword {
  words: string[];
  rank: number;
}

/** Keywords by their first word. */
type KeywordIndex = Map<string, Keyword[]>;

const indexes = new WeakMap<ComplexityClasses, KeywordIndex>();

function indexOf(classes: ComplexityClasses): KeywordIndex {
  const known = indexes.get(classes);
  if (known) return known;
  const index: KeywordIndex = new Map();
  const put = (words: string[], rank: number) => {
    if (words.length === 0) return;
    index.set(words[0]!, [...(index.get(words[0]!) ?? []), { words, rank }]);
  };
  COMPLEXITIES.forEach((level, rank) => {
    for (const keyword of classes[level].keywords) {
      put(piecesOf(keyword).map(lower), rank);
      // "SwiftUI" is found in "swiftui" too, where no hump shows that it has two parts.
      put(piecesOf(lower(keyword)), rank);
    }
  });
  indexes.set(classes, index);
  return index;
}

function strongest(text: string, keywords: KeywordIndex): Hit | null {
  const pieces = piecesOf(text);
  const words = pieces.map(lower);
  let best: Hit | null = null;
  for (let at = 0; at < words.length; at++) {
    for (const first of singulars(words[at]!)) {
      for (const keyword of keywords.get(first) ?? []) {
        if (best && keyword.rank <= best.rank) continue;
        if (!standsAt(words, at, keyword)) continue;
        const word = pieces.slice(at, at + keyword.words.length).join(' ');
        best = { rank: keyword.rank, word, place: '' };
      }
    }
  }
  return best;
}

/** Only a keyword's last word may stand in the plural. */
function standsAt(words: string[], at: number, keyword: Keyword): boolean {
  const last = keyword.words.length - 1;
  return keyword.words.every((wanted, i) => {
    const word = words[at + i];
    if (word === undefined) return false;
    return word === wanted || (i === last && singulars(word).includes(wanted));
  });
}

/** The word, and what it could be the plural of. */
function singulars(word: string): string[] {
  const forms = [word];
  if (word.length > 2 && word.endsWith('s')) forms.push(word.slice(0, -1));
  if (word.length > 4 && word.endsWith('es')) forms.push(word.slice(0, -2));
  if (word.length > 4 && word.endsWith('ies')) forms.push(`${word.slice(0, -3)}y`);
  return forms;
}

function lower(word: string): string {
  return word.toLowerCase();
}

/** A run of Han or Katakana, which no space ends; an acronym, also its plural; a hump or plain word; digits. */
const PIECE =
  /\p{sc=Han}+|[\p{sc=Katakana}ー]+|\p{Lu}{2,}s(?![\p{Ll}\p{M}])|\p{Lu}+(?!\p{Ll})|\p{Lu}?(?:(?![\p{sc=Han}\p{sc=Katakana}])[\p{Ll}\p{Lo}\p{Lt}\p{M}])+|\p{N}+|\p{Lu}/gu;

/** A text's words: at spaces, signs, hyphens and underscores, and at the humps of camelCase and HTTPView. */
function piecesOf(text: string): string[] {
  return text.normalize('NFC').match(PIECE) ?? [];
}
