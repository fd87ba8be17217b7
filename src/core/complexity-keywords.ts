/**
 * Keywords that decide: those a project names for a class. A word counts only as a whole, whatever its
 * case and also in the plural; of several classes whose keywords stand in a task the strongest has it.
 */
import { piecesOf, singulars } from './complexity-text.ts';

/** A keyword as it stands in a text, and its class's place in the order of classes. */
export interface Hit {
  rank: number;
  word: string;
}

/** One keyword: its words in order, each lower case. */
interface Keyword {
  words: string[];
  rank: number;
}

/** Keywords by their first word. */
export type KeywordIndex = Map<string, Keyword[]>;

/** The lists of keywords, in the order of their classes, made ready to be looked for. */
export function indexKeywords(lists: readonly (readonly string[])[]): KeywordIndex {
  const index: KeywordIndex = new Map();
  const put = (words: string[], rank: number) => {
    if (words.length === 0) return;
    index.set(words[0]!, [...(index.get(words[0]!) ?? []), { words, rank }]);
  };
  lists.forEach((keywords, rank) => {
    for (const keyword of keywords) {
      put(piecesOf(keyword).map(lower), rank);
      // "SwiftUI" is found in "swiftui" too, where no hump shows that it has two parts.
      put(piecesOf(lower(keyword)), rank);
    }
  });
  return index;
}

/** The keyword of the strongest class in this text, the first of its class. */
export function strongestKeyword(text: string, keywords: KeywordIndex): Hit | null {
  const pieces = piecesOf(text);
  const words = pieces.map(lower);
  let best: Hit | null = null;
  for (let at = 0; at < words.length; at++) {
    for (const first of singulars(words[at]!)) {
      for (const keyword of keywords.get(first) ?? []) {
        if (best && keyword.rank <= best.rank) continue;
        if (!standsAt(words, at, keyword)) continue;
        best = { rank: keyword.rank, word: pieces.slice(at, at + keyword.words.length).join(' ') };
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

function lower(word: string): string {
  return word.toLowerCase();
}
