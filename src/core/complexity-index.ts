/** The words Ralph knows of each class, so that a text's own are found in one pass: the longest phrase first. */
import { plain } from './complexity-text.ts';

/** How much these words say, and the words, separated by commas. */
export type Family = readonly [weight: number, words: string];

/**
 * What a term says, in one number so that thousands of them cost a start little. Each class has seven bits,
 * in the order of classes: the tenths that the term weighs for it, and whether it does so as an order.
 */
type Says = number;

const BITS = 7;
const FIELD = 127;
const TENTHS = 63;
const ORDER = 64;

/** A known word or phrase where it stands in a text. */
export interface Found {
  /** As it is known, which tells that two inflections are the same. */
  term: string;
  /** How many words it has. */
  length: number;
  says: Says;
}

export interface TermIndex {
  /** Words and phrases, plain. */
  terms: Map<string, Says>;
  /** How many words the longest phrase has that begins with this one; words without phrases are left out. */
  longest: Map<string, number>;
  /** Last parts of German compounds. */
  ends: Map<string, Says>;
}

const SEPARATOR = /,\s*/;

/** Reads the families of all classes, in the order of their ranks. */
export function indexTerms(classes: readonly (readonly Family[])[]): TermIndex {
  const index: TermIndex = { terms: new Map(), longest: new Map(), ends: new Map() };
  classes.forEach((families, rank) => {
    for (const [weight, words] of families) {
      for (const word of plain(words).split(SEPARATOR))
        put(index, word, { rank, tenths: Math.round(weight * 10) });
    }
  });
  return index;
}

interface Weight {
  rank: number;
  tenths: number;
}

function put({ terms, longest, ends }: TermIndex, word: string, { rank, tenths }: Weight): void {
  const sign = word[0];
  if (sign === '-') return say(ends, word.slice(1), { rank, field: tenths });
  const order = sign === '^';
  const term = order ? word.slice(1) : word;
  say(terms, term, { rank, field: order ? tenths | ORDER : tenths });
  const space = term.indexOf(' ');
  if (space < 0) return;
  const first = term.slice(0, space);
  let length = 2;
  for (let at = term.indexOf(' ', space + 1); at > 0; at = term.indexOf(' ', at + 1)) length++;
  if ((longest.get(first) ?? 1) < length) longest.set(first, length);
}

/** A word that stands twice in a class says the more of both. */
function say(terms: Map<string, Says>, term: string, { rank, field }: { rank: number; field: number }): void {
  const all = terms.get(term) ?? 0;
  const before = fieldOf(all, rank);
  const more = (before & TENTHS) < (field & TENTHS) ? field : before;
  terms.set(term, (all & ~(FIELD << (rank * BITS))) | (more << (rank * BITS)));
}

function fieldOf(says: Says, rank: number): number {
  return (says >> (rank * BITS)) & FIELD;
}

/** What a term weighs for the class of this rank, and whether that is an order's: full only where a text begins. */
export function weightOf({ says }: Found, rank: number): { weight: number; order: boolean } {
  const field = fieldOf(says, rank);
  return { weight: (field & TENTHS) / 10, order: (field & ORDER) !== 0 };
}

/**
 * The longest phrase that begins here, or the last part of a compound; null where no known word stands. The
 * text is given as the bases of each of its words, the word itself first.
 */
export function termAt(index: TermIndex, text: readonly string[][], at: number): Found | null {
  let best: Found | null = null;
  for (const base of text[at]!) {
    const longest = index.longest.get(base) ?? 1;
    const found = longestFrom(index, text, { term: base, at: at + 1, left: longest - 1, length: 1 });
    if (found && (!best || found.length > best.length)) best = found;
  }
  return best ?? endOf(index, text[at]![0]!);
}

interface Begun {
  term: string;
  /** The next word. */
  at: number;
  /** How many more words a phrase may have. */
  left: number;
  length: number;
}

function longestFrom(index: TermIndex, text: readonly string[][], begun: Begun): Found | null {
  const { term, at, left, length } = begun;
  let best: Found | null = null;
  if (left > 0) {
    for (const base of text[at] ?? []) {
      const next = { term: `${term} ${base}`, at: at + 1, left: left - 1, length: length + 1 };
      const found = longestFrom(index, text, next);
      if (found && (!best || found.length > best.length)) best = found;
    }
  }
  return best ?? foundAs(index.terms, term, length);
}

function foundAs(terms: Map<string, Says>, term: string, length: number): Found | null {
  const says = terms.get(term);
  return says === undefined ? null : { term, length, says };
}

const IDEOGRAPHS = /^[\p{sc=Han}\p{sc=Katakana}ー]+$/u;
/** Longer "words" are no words. */
const LONGEST_WORD = 40;

/** German puts what a thing is last, and so do Japanese and Chinese, which leave no space between words. */
function endOf({ terms, ends }: TermIndex, word: string): Found | null {
  if (word.length < 3 || word.length > LONGEST_WORD) return null;
  for (let from = 3; from < word.length - 3; from++) {
    const found = foundAs(ends, word.slice(from), 1);
    if (found) return found;
  }
  if (!IDEOGRAPHS.test(word)) return null;
  for (let from = 1; from < word.length - 1; from++) {
    const found = foundAs(terms, word.slice(from), 1);
    if (found) return found;
  }
  return null;
}
