/**
 * A file of the user's that we may change: what it is on disk right now, and a replacement that steps
 * back when somebody else wrote meanwhile. People and agents write these files as they please.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
} from 'node:fs';
import { dirname } from 'node:path';
import {
  diskError,
  errorCode,
  removeAnyway,
  scratchFor,
  syncFolder,
  temporaryName,
  writeNew,
} from './disk.ts';

/** What lies at a path. `identity` changes with every write and every replacement. */
export type Sight =
  | { kind: 'missing' }
  | { kind: 'file'; identity: string; size: number; mode: number; mtimeMs: number; ctimeMs: number }
  | { kind: 'link' }
  | { kind: 'folder' }
  | { kind: 'other' };

/** Looks without following a link. Throws where the folder may not be searched. */
export async function sight(file: string): Promise<Sight> {
  return sightNow(file);
}

/** One look is some microseconds; a trip to the thread pool would cost more than that. */
function sightNow(file: string): Sight {
  try {
    const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return { kind: 'missing' };
    if (stat.isSymbolicLink()) return { kind: 'link' };
    if (stat.isDirectory()) return { kind: 'folder' };
    if (!stat.isFile()) return { kind: 'other' };
    return {
      kind: 'file',
      identity: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`,
      size: Number(stat.size),
      mode: Number(stat.mode) & 0o777,
      mtimeMs: Number(stat.mtimeMs),
      ctimeMs: Number(stat.ctimeMs),
    };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return { kind: 'missing' };
    throw error;
  }
}

/**
 * The first `limit` bytes of a regular file, or the last ones; null where there is none, where a link
 * or a device lies there instead, and where it may not be read.
 */
export async function readBounded(
  file: string,
  limit: number,
  from: 'start' | 'end' = 'start',
): Promise<Buffer | null> {
  const there = await sight(file).catch(() => null);
  if (there?.kind !== 'file') return null;
  try {
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const { size } = fstatSync(descriptor);
      const length = Math.min(size, limit);
      const buffer = Buffer.alloc(length);
      const read = readSync(descriptor, buffer, 0, length, from === 'start' ? 0 : size - length);
      return buffer.subarray(0, read);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (errorCode(error) === '') throw error;
    return null;
  }
}

/** True when both looks saw the same file with the same content. */
function isSame(a: Sight, b: Sight): boolean {
  if (a.kind !== 'file' || b.kind !== 'file') return a.kind === b.kind;
  return a.identity === b.identity;
}

export interface Swap {
  text: string;
  /** What the caller read. */
  seen: Sight;
  mode: number;
  /** Of the work tree the file may lie in. */
  projectDir: string;
}

/**
 * Replaces the file as a whole, unless it is no longer what `seen` says. False: it changed, nothing was
 * written. Throws `StoreFull` when the disk takes no more, with the old file untouched.
 */
export async function swap(file: string, { text, seen, mode, projectDir }: Swap): Promise<boolean> {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = temporaryName(file, scratchFor(file, projectDir));
  try {
    await writeNew(temporary, text, { mode });
    chmodSync(temporary, mode);
    // Looked at last of all, and nothing waits between the look and the rename.
    if (!isSame(sightNow(file), seen)) {
      removeAnyway(temporary);
      return false;
    }
    renameSync(temporary, file);
  } catch (error) {
    removeAnyway(temporary);
    throw diskError(error, file);
  }
  await syncFolder(dirname(file));
  return true;
}
