/**
 * What the words of a task say together. Each known word is evidence for a class; the title's count in
 * full, those of description and criteria less; a small change named in a short title makes lighter what
 * that title is about. The heaviest class wins and its heaviest word is told.
 */
import { indexTerms, type TermIndex, termAt, weightOf } from './complexity-index.ts';
import {
  COMPLEX,
  type Evidence,
  hintsOf,
  MEDIUM,
  type Part,
  partsOf,
  SIMPLE,
  type Texts,
  TITLE,
} from './complexity-shape.ts';
import { basesOf, piecesOf, plain } from './complexity-text.ts';
import { COMPLEX_WORDS } from './complexity-words-complex.ts';
import { MEDIUM_WORDS } from './complexity-words-medium.ts';
import { SIMPLE_WORDS } from './complexity-words-simple.ts';
import { UI_WORDS } from './complexity-words-ui.ts';

const CLASSES = 4;
/** What medium weighs when nothing speaks for it. */
const MEDIUM_ALONE = 0.9;
/** Every further word of medium says less: those words stand in all kinds of tasks. */
const FURTHER_MEDIUM = 0.5;
/** An order ("drop …") after this many words is no longer what the text begins with. */
const HEAD_WORDS = 2;
const LATER_ORDER = 0.5;
/** From this weight on a word of the title names a small change; in a title no longer than this many words. */
const SMALL_CHANGE = 3;
const SHORT_TITLE = 16;
const BESIDE_SMALL_CHANGE = 0.5;
/** More criteria than this weigh for the class above the heaviest, if that is not above complex. */
const MANY_CRITERIA = 3;
const CRITERIA_WEIGHT = 1.2;

/** The class that the evidence comes to. */
export interface Weighed {
  rank: number;
  /** The heaviest word of the class found first; null where none was. */
  first: Evidence | null;
  /** The class found first, where the number of criteria raised it. */
  raisedFrom: number | null;
}

/** Weighs a task; evidence for the classes marked in `without`, by their rank, is left out. */
export function weigh(texts: Texts, without: readonly boolean[]): Weighed {
  const evidence = [...wordsIn(partsOf(texts)), ...hintsOf(texts)]
    .filter(({ rank }) => !without[rank])
    .sort((a, b) => b.weight - a.weight);
  const sums = sumsOf(evidence, texts.title);
  const rank = heaviest(sums);
  const first = evidence.find((one) => one.rank === rank) ?? null;
  const above = rank + 1;
  const raised =
    texts.acceptance.length > MANY_CRITERIA &&
    above <= COMPLEX &&
    !without[above] &&
    sums[above]! + CRITERIA_WEIGHT >= sums[rank]!;
  return raised ? { rank: above, first, raisedFrom: rank } : { rank, first, raisedFrom: null };
}

let known: TermIndex | undefined;

/** The known words of these parts, in the order of reading; one that comes again counts once. */
function wordsIn(parts: readonly Part[]): Evidence[] {
  known ??= indexTerms([SIMPLE_WORDS, MEDIUM_WORDS, COMPLEX_WORDS, UI_WORDS]);
  const found = new Map<string, Evidence>();
  for (const { place, text, factor } of parts) {
    const pieces = piecesOf(text);
    const words = pieces.map((piece) => basesOf(plain(piece)));
    for (let at = 0; at < words.length; at++) {
      const term = termAt(known, words, at);
      if (!term) continue;
      const later = at >= HEAD_WORDS;
      const word = pieces.slice(at, at + term.length).join(' ');
      at += term.length - 1;
      for (let rank = 0; rank < CLASSES; rank++) {
        const says = weightOf(term, rank);
        const weight = says.weight * factor * (says.order && later ? LATER_ORDER : 1);
        const key = `${rank} ${term.term}`;
        if (weight > (found.get(key)?.weight ?? 0)) found.set(key, { rank, weight, word, place });
      }
    }
  }
  return [...found.values()];
}

/** What all evidence, the heaviest first, comes to for each class. */
function sumsOf(evidence: readonly Evidence[], title: string): number[] {
  const short = title.split(/\s+/, SHORT_TITLE + 1).length <= SHORT_TITLE;
  const small = short && evidence.some(isSmallChange);
  const sums = [0, 0, 0, 0];
  let medium = 1;
  for (const { rank, weight } of evidence) {
    const beside = small && rank !== SIMPLE ? BESIDE_SMALL_CHANGE : 1;
    sums[rank]! += weight * beside * (rank === MEDIUM ? medium : 1);
    if (rank === MEDIUM) medium *= FURTHER_MEDIUM;
  }
  sums[MEDIUM] = Math.max(sums[MEDIUM]!, MEDIUM_ALONE);
  return sums;
}

function isSmallChange({ rank, weight, place }: Evidence): boolean {
  return rank === SIMPLE && weight >= SMALL_CHANGE && place === TITLE;
}

/** The stronger class where two weigh the same. */
function heaviest(sums: readonly number[]): number {
  let best = 0;
  sums.forEach((sum, rank) => {
    if (sum >= sums[best]!) best = rank;
  });
  return best;
}
