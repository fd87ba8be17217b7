/**
 * Changes of a file that others changed as well, put together line by line as git merges. Nothing is written
 * where the two do not fit, and nothing where one of them is no plain text.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change } from '../core/index.ts';
import { blobId, parseBlobId } from './blob-id.ts';
import { currentBlobs, readBlob } from './content.ts';
import { git, gitProblem } from './git.ts';
import { type Place, PRIVATE_OPTIONS } from './place.ts';
import { restore } from './restore.ts';
import { privateGit } from './snapshots.ts';

/** What became of each change; together they are all of them. */
export interface Merged {
  /** The path holds both now: what stood there, and what the merge made of it. */
  merged: Change[];
  /** Left as they stood. */
  conflicts: string[];
}

/** Puts each change on top of what its path holds now, where the two fit. */
export async function mergeInto(place: Place, changes: readonly Change[]): Promise<Merged> {
  const now = await currentBlobs(
    place,
    changes.map(({ path }) => path),
  );
  const scratch = join(place.privateGit, `merge.${randomBytes(6).toString('hex')}`);
  const fitting: Change[] = [];
  await mkdir(scratch, { mode: 0o700 });
  try {
    for (const change of changes) {
      const held = now.get(change.path) ?? null;
      const after = await together(place, scratch, { ...change, held });
      if (after !== null) fitting.push({ path: change.path, before: held, after });
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  const left = new Set(await restore(place, fitting));
  const merged = fitting.filter(({ path }) => !left.has(path));
  const done = new Set(merged.map(({ path }) => path));
  return { merged, conflicts: changes.map(({ path }) => path).filter((path) => !done.has(path)) };
}

/** What stands at a path may be in no snapshot yet. */
async function heldText(place: Place, path: string, blob: string): Promise<Uint8Array | null> {
  const known = await readBlob(place, blob);
  if (known !== null) return known;
  const written = await privateGit(place, ['hash-object', '-w', '--', path]);
  return written.code === 0 ? readBlob(place, blob) : null;
}

interface Three extends Change {
  held: string | null;
}

/** The blob that holds both changes; null where they do not fit. */
async function together(
  place: Place,
  scratch: string,
  { path, before, after, held }: Three,
): Promise<string | null> {
  const parts = [held, before, after].map((id) => (id === null ? null : parseBlobId(id)));
  if (parts.some((part) => part === null || !part.mode.startsWith('100'))) return null;
  const texts = await Promise.all([
    heldText(place, path, held!),
    readBlob(place, before!),
    readBlob(place, after!),
  ]);
  const files = ['ours', 'base', 'theirs'].map((name) => join(scratch, name));
  for (const [index, text] of texts.entries()) {
    if (text === null || text.includes(0)) return null;
    await writeFile(files[index]!, text);
  }
  const run = (args: string[], input?: Uint8Array) =>
    git({
      args: [...PRIVATE_OPTIONS, ...args],
      cwd: place.root,
      env: place.privateEnv,
      ...(input && { input }),
    });
  const made = await run(['merge-file', '-p', '-q', ...files]);
  if (made.code !== 0) return null;
  const written = await run(['hash-object', '-w', '--stdin'], made.stdout);
  if (written.code !== 0) throw gitProblem('keep a merged file', written);
  // A mode that the change set wins over the one that stood there.
  const [ours, base, theirs] = parts.map((part) => part!.mode);
  const mode = theirs === base ? ours! : theirs!;
  return blobId(mode, written.stdout.toString('latin1').trim());
}
