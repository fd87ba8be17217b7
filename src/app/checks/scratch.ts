/**
 * Folders that a check works in and throws away. A start that was killed in the middle leaves its own behind;
 * the next start that comes by takes such a folder away once nobody can be at work in it any more.
 */
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** No check lasts that long. */
const ABANDONED_MS = 24 * 60 * 60_000;

/** A new empty folder for one check. */
export function makeScratch(check: 'preflight' | 'doctor'): Promise<string> {
  return mkdtemp(join(tmpdir(), `ralph-${check}-`));
}

/** Six letters or digits are what mkdtemp adds; other names, as those of folders kept for a person, are not ours. */
const OURS = /^ralph-(?:preflight|doctor)-[A-Za-z0-9]{6}$/;

/** Removes folders of checks that were begun more than a day ago, by the same user. Never throws. */
export async function sweepScratch(now: number): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => OURS.test(each))) {
    const folder = join(tmpdir(), name);
    const stat = await lstat(folder).catch(() => null);
    if (stat === null || !stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid)) continue;
    if (now - stat.mtimeMs < ABANDONED_MS) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
