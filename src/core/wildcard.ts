/** Patterns in which `*` is anything, held against texts, and against texts of which parts are not known. */
import { HOLE } from './shell-words.ts';

/** What stands between the stars. */
export type Pattern = readonly string[];

export const patternOf = (text: string): Pattern => text.split('*');

/** Whether a text is what the pattern says. */
export function fits(pattern: Pattern, text: string): boolean {
  const first = pattern[0]!;
  if (pattern.length === 1) return text === first;
  const last = pattern.at(-1)!;
  const end = text.length - last.length;
  let at = first.length;
  if (end < at || !text.startsWith(first) || !text.endsWith(last)) return false;
  for (let part = 1; part < pattern.length - 1; part++) {
    const found = text.indexOf(pattern[part]!, at);
    if (found === -1) return false;
    at = found + pattern[part]!.length;
  }
  return at <= end;
}

/**
 * Whether a text with holes can become what the pattern says; a hole may be several words, and none. Where both sides
 * leave something open, whatever stands in the middle of one goes into what the other leaves open: only their
 * beginnings and their ends can disagree.
 */
export function mayFit(pattern: Pattern, text: string): boolean {
  const known = text.split(HOLE);
  if (known.length === 1) return fits(pattern, text);
  if (pattern.length === 1) {
    const without = text.split(' ').filter((word) => word !== HOLE);
    return fits(known, pattern[0]!) || fits(without.join(' ').split(HOLE), pattern[0]!);
  }
  const [begin, end] = [known[0]!, known.at(-1)!];
  const [first, last] = [pattern[0]!, pattern.at(-1)!];
  return (begin.startsWith(first) || first.startsWith(begin)) && (end.endsWith(last) || last.endsWith(end));
}
