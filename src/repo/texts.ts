/** What lies at some paths now, as text, without a git process. */
import { readFile } from 'node:fs/promises';
import { lstatOrNull } from './content.ts';
import { isInside } from './paths.ts';
import type { Place } from './place.ts';

/** Larger files are not read. */
const MOST_BYTES = 2 * 1024 * 1024;

/** Size by path, with the text where it is no larger than 2 MiB; missing for what is no plain file. */
export async function texts(
  { root }: Place,
  paths: readonly string[],
): Promise<Map<string, { bytes: number; text: string | null }>> {
  const found = new Map<string, { bytes: number; text: string | null }>();
  for (const path of paths) {
    const stats = isInside(path) ? lstatOrNull(root, path) : null;
    if (stats?.isFile() !== true) continue;
    const read = stats.size > MOST_BYTES ? null : await readFile(`${root}/${path}`, 'utf8').catch(() => null);
    found.set(path, { bytes: stats.size, text: read });
  }
  return found;
}
