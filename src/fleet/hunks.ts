/**
 * The marks that git puts around what both sides changed, read: what stands outside of them is settled already, and
 * whoever settles the rest may write between them only.
 */

/** A file with conflicts in it. */
export interface Conflicted {
  /** The text before, between and after the conflicts, as lines; one more than there are conflicts. */
  outside: string[][];
  /** The lines of all sides within each conflict. */
  inside: string[][];
}

/** The commits by which the marks are labelled. */
interface Sides {
  base: string;
  tip: string;
}

/** null: there are no conflicts of lines in it. */
export function readConflicted(text: string, { base, tip }: Sides): Conflicted | null {
  const found: Conflicted = { outside: [[]], inside: [] };
  let size = 0;
  for (const line of text.split('\n')) {
    const [, mark = '', label = ''] = /^(<{7,}|>{7,}) ([0-9a-f]{40,64})(?::.*)?\r?$/.exec(line) ?? [];
    if (size === 0 && mark.startsWith('<') && label === base) {
      size = mark.length;
      found.inside.push([]);
    } else if (size > 0 && mark === '>'.repeat(size) && label === tip) {
      size = 0;
      found.outside.push([]);
    } else (size > 0 ? found.inside : found.outside).at(-1)!.push(line);
  }
  return size > 0 || found.inside.length === 0 ? null : found;
}

/** Lines as git begins, parts and ends a conflict with, whatever stands behind them. */
const MARK = /^(?:<{7,}|>{7,}|\|{7,})(?: .*)?\r?$/;
const PARTING = /^={7,}\r?$/;

/** Why this is not the settled file; null: it is. */
export function unsettled(
  { outside, inside }: Conflicted,
  text: string | null,
): 'gone' | 'marks' | 'outside' | null {
  if (text === null) return 'gone';
  const lines = text.split('\n');
  const known = outside.flat().filter((line) => MARK.test(line)).length;
  if (lines.filter((line) => MARK.test(line)).length > known) return 'marks';
  // A line of equal signs may be a heading of somebody's; each conflict has one of its own.
  const partings = (of: readonly string[]) => of.filter((line) => PARTING.test(line)).length;
  const most = partings(outside.flat()) + partings(inside.flat()) - inside.length;
  if (partings(lines) > most) return 'marks';
  return keeps(lines, outside) ? null : 'outside';
}

/** The lines hold these parts in their order: the first at the beginning, the last at the end. */
function keeps(lines: readonly string[], parts: readonly string[][]): boolean {
  const [first, last] = [parts[0]!, parts.at(-1)!];
  const end = lines.length - last.length;
  if (end < first.length || !standsAt(lines, first, 0) || !standsAt(lines, last, end)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    while (at + part.length <= end && !standsAt(lines, part, at)) at += 1;
    if (at + part.length > end) return false;
    at += part.length;
  }
  return true;
}

function standsAt(lines: readonly string[], part: readonly string[], at: number): boolean {
  return part.every((line, n) => lines[at + n] === line);
}
