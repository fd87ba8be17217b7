/** How many lines files have now, as far as that is cheap to tell. */
import { readFile } from 'node:fs/promises';
import { lstatOrNull } from './content.ts';
import { isInside } from './paths.ts';
import type { Place } from './place.ts';

/** Larger files are not read for a count. */
const MOST_BYTES = 2 * 1024 * 1024;

/** Lines by path; missing for what is no plain file, cannot be read, or is larger than 2 MiB. */
export async function lineCounts({ root }: Place, paths: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const stats = isInside(path) ? lstatOrNull(root, path) : null;
    if (stats?.isFile() !== true || stats.size > MOST_BYTES) continue;
    const bytes = await readFile(`${root}/${path}`).catch(() => null);
    if (bytes !== null) counts.set(path, linesOf(bytes));
  }
  return counts;
}

/** A last line without its end counts. */
function linesOf(bytes: Buffer): number {
  let lines = bytes.length > 0 && bytes.at(-1) !== 0x0a ? 1 : 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines++;
  return lines;
}
