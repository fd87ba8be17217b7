/**
 * "Did you mean …?" One answer for every room that meets an unknown word: commands, task files,
 * dialects and configuration.
 */

/** Longer words are never typing errors of our names, and comparing them would only cost time. */
const LONGEST = 100;

/**
 * The candidate a person most probably meant, or null when none is close. Case is ignored; one slip
 * (a wrong, missing, extra or swapped character) is forgiven for every three characters, at least
 * one. A beginning of three characters or more that only one candidate has counts as well. Among
 * equals the first candidate wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const wanted = word.trim().toLowerCase();
  if (wanted === '' || wanted.length > LONGEST) return null;
  const all = [...candidates];
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | null = null;
  let fewest = allowed + 1;
  for (const candidate of all) {
    if (Math.abs(candidate.length - wanted.length) >= fewest) continue;
    const slips = distance(wanted, candidate.toLowerCase());
    if (slips < fewest) [best, fewest] = [candidate, slips];
  }
  if (best !== null || wanted.length < 3) return best;
  const begun = all.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
  return begun.length === 1 ? begun[0]! : null;
}

/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
        swap ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}

/** What there is, as a sentence. */
export function thereAre(names: readonly string[]): string {
  return `There ${names.length === 1 ? 'is only' : 'are'} ${names.join(', ')}.`;
}
