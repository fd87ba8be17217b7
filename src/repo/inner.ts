/**
 * Repositories inside the work tree: submodules, and others that somebody made or cloned there. A snapshot holds
 * of each one only the commit that is checked out in it, so what is not committed in it is seen here alone.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InnerRepository } from '../core/index.ts';
import { lstatOrNull } from './content.ts';
import { textOf } from './file-text.ts';
import { git } from './git.ts';
import { decodeIndex, entryContent } from './index-file.ts';
import { pathText } from './paths.ts';
import { isExcluded, type Place, PRIVATE_OPTIONS } from './place.ts';
import { stampOf } from './stamp.ts';

/** More of them, and more files in each, are not looked at. */
const MOST = 50;
const FILES_MOST = 1_000;

/** The mode of a gitlink in an index is 00 00 e0 00; this byte of it stands in few other places. */
const GITLINK_BYTE = 0xe0;
const WINDOW_BYTES = 128 * 1024;

/**
 * Those with content that no commit of theirs holds, as the last snapshot found them. Without a repository inside
 * this costs one look into the private index; each one that there is costs a process.
 */
export async function innerRepositories(place: Place): Promise<InnerRepository[]> {
  if (place.gitDir === null) return [];
  const found: InnerRepository[] = [];
  const known = [...new Set([...(await gitlinks(place)), ...place.unborn])].filter(
    // Where a submodule is not checked out, git would answer for the repository around it.
    (path) => !isExcluded(place, path) && lstatOrNull(place.root, `${path}/.git`) !== null,
  );
  const modules = known.length === 0 ? new Set<string>() : submodules(place);
  for (const path of known.slice(0, MOST)) {
    const status = await statusOf(place, path);
    if (status === null || status.files.length === 0) continue;
    found.push({ path, submodule: modules.has(path), ...status });
  }
  return found;
}

/** The names of the index that stand for a commit of another repository. */
async function gitlinks(place: Place): Promise<string[]> {
  // Git writes a new index where anything is different, and asks for it before and after every attempt.
  const stamp = stampOf(place.indexFile);
  if (stamp === place.linkless || !mayHoldGitlink(place.indexFile)) {
    place.linkless = stamp;
    return [];
  }
  return (decodeIndex(await readFile(place.indexFile), place.oidBytes) ?? [])
    .filter((entry) => entryContent(entry)?.mode === '160000')
    .map(({ name }) => pathText(name));
}

/** Looks through one small window: taking a large index into memory costs more than looking. */
function mayHoldGitlink(indexFile: string): boolean {
  let file: number;
  try {
    file = openSync(indexFile, 'r');
  } catch {
    return false;
  }
  try {
    const bytes = Buffer.alloc(WINDOW_BYTES);
    let kept = 0;
    for (let got = 1; got > 0; ) {
      got = readSync(file, bytes, kept, WINDOW_BYTES - kept, null);
      const end = kept + got;
      const seen = bytes.subarray(0, end);
      for (let at = seen.indexOf(GITLINK_BYTE, 2); at !== -1; at = seen.indexOf(GITLINK_BYTE, at + 1)) {
        if (seen[at - 1] === 0 && seen[at - 2] === 0 && seen[at + 1] === 0) return true;
      }
      kept = Math.min(end, 3);
      bytes.copyWithin(0, end - kept, end);
    }
    return false;
  } finally {
    closeSync(file);
  }
}

function submodules({ root }: Place): Set<string> {
  const paths = textOf(join(root, '.gitmodules')).matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm);
  return new Set([...paths].map(([, path]) => path!.replace(/\/+$/, '')));
}

/** null: git cannot tell, e.g. because the submodule's own repository is gone. */
async function statusOf(
  place: Place,
  path: string,
): Promise<Pick<InnerRepository, 'files' | 'print'> | null> {
  const cwd = join(place.root, path);
  const args = [
    ...PRIVATE_OPTIONS,
    ...[
      'status',
      '--porcelain=v1',
      '-z',
      '--no-renames',
      '--untracked-files=all',
      '--ignore-submodules=none',
    ],
  ];
  const { code, stdout } = await git({ args, cwd, env: place.userEnv });
  if (code !== 0) return null;
  const rows = stdout
    .toString('utf8')
    .split('\0')
    .filter((row) => row !== '');
  const files = rows.map((row) => row.slice(3));
  const print = createHash('sha256').update(stdout);
  for (const file of files.slice(0, FILES_MOST)) {
    const stats = lstatOrNull(cwd, file);
    print.update(`${stats?.size ?? ''} ${stats?.mtimeMs ?? ''} ${stats?.ino ?? ''}\n`);
  }
  return { files: files.slice(0, FILES_MOST), print: print.digest('hex') };
}
