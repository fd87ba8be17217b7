/**
 * Repositories inside the work tree: submodules, and others that somebody made or cloned there. A snapshot holds
 * of each one only the commit that is checked out in it, so what is not committed in it is seen here alone.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InnerRepository } from '../core/index.ts';
import { lstatOrNull } from './content.ts';
import { textOf } from './file-text.ts';
import { git } from './git.ts';
import { decodeIndex, entryContent } from './index-file.ts';
import { pathText } from './paths.ts';
import { isExcluded, type Place, PRIVATE_OPTIONS } from './place.ts';

/** More of them, and more files in each, are not looked at. */
const MOST = 50;
const FILES_MOST = 1_000;

const GITLINK = Buffer.of(0x00, 0x00, 0xe0, 0x00);

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
  const bytes = await readFile(place.indexFile).catch(() => null);
  if (bytes === null || !bytes.includes(GITLINK)) return [];
  return (decodeIndex(bytes, place.oidBytes) ?? [])
    .filter((entry) => entryContent(entry)?.mode === '160000')
    .map(({ name }) => pathText(name));
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
