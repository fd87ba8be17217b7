/**
 * What this ground already knows, so that the usual iteration asks git nothing twice: which content the
 * last differences ended at, and the subjects of the commits below HEAD.
 *
 * A remembered blob is never believed, only tried: the file's bytes are hashed here, and where the hash
 * is the remembered one the path holds that content. Everything else is left for git to name.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Change } from '../core/index.ts';
import { blobId } from './blob-id.ts';
import { lstatOrNull } from './content.ts';
import { absolutePath } from './paths.ts';
import type { Place } from './place.ts';

const PATHS_MOST = 10_000;
/** Larger files, and more of them at once, are cheaper for git than for us. */
const FILE_BYTES = 1024 * 1024;
const TRIED_MOST = 200;

export interface Memory {
  /** Remembers what these paths held at the end of a difference. */
  learn(changes: readonly Change[]): void;
  /** The paths among these that still hold what is remembered, with it; others are missing. */
  recognise(paths: readonly string[]): Promise<Map<string, string>>;
}

export function openMemory(place: Place): Memory {
  const known = new Map<string, string>();
  return {
    learn(changes) {
      if (known.size + changes.length > PATHS_MOST) known.clear();
      for (const { path, after } of changes.slice(0, PATHS_MOST)) {
        if (after === null) known.delete(path);
        else known.set(path, after);
      }
    },
    async recognise(paths) {
      const found = new Map<string, string>();
      if (paths.length > TRIED_MOST) return found;
      for (const path of paths) {
        const blob = known.get(path);
        if (blob !== undefined && holds(place, path, blob)) found.set(path, blob);
      }
      return found;
    },
  };
}

/** Of these changes the paths that hold their end or their beginning, with it; others are missing. */
export function eitherEnd(place: Place, changes: readonly Change[]): Map<string, string> {
  const found = new Map<string, string>();
  if (changes.length > TRIED_MOST) return found;
  for (const { path, before, after } of changes) {
    const blob = [after, before].find((one) => one !== null && holds(place, path, one));
    if (blob) found.set(path, blob);
  }
  return found;
}

function holds(place: Place, path: string, blob: string): boolean {
  const stats = lstatOrNull(place.root, path);
  if (stats?.isFile() !== true || stats.size > FILE_BYTES) return false;
  try {
    const bytes = readFileSync(absolutePath(place.root, path));
    const algorithm = place.oidBytes === 32 ? 'sha256' : 'sha1';
    const oid = createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    return blobId((stats.mode & 0o100) === 0 ? '100644' : '100755', oid) === blob;
  } catch {
    return false;
  }
}

/** The last commits' subjects as of one HEAD. */
export interface Subjects {
  head: string | null;
  count: number;
  lines: string[];
}

/** The subjects after one more commit on top of that HEAD; `%s` is the first paragraph on one line. */
export function withCommit(subjects: Subjects, commit: string, message: string): Subjects {
  const subject = message
    .trim()
    .split(/\n\s*\n/)[0]!
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
  return { ...subjects, head: commit, lines: [subject, ...subjects.lines].slice(0, subjects.count) };
}
