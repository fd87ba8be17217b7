/** What lies at single paths of the work tree, and whether a snapshot would hold it. */
import { realpath } from 'node:fs/promises';
import type { Whereabouts } from '../core/index.ts';
import { lstatOrNull } from './content.ts';
import { git } from './git.ts';
import { foldersAbove, isInside } from './paths.ts';
import { isExcluded, type Place, WITHOUT_GIT } from './place.ts';

/**
 * Paths (relative to the root) that are there, each with what it is and where it really lies; absent ones
 * are missing. Asks git one question at most, and only where something was found.
 */
export async function whereabouts(place: Place, paths: readonly string[]): Promise<Map<string, Whereabouts>> {
  const found = new Map<string, Whereabouts>();
  for (const path of new Set(paths)) {
    const there = await look(place, path);
    if (there !== null) found.set(path, there);
  }
  const ask = [...found.values()].filter(({ kind }) => kind === 'file' || kind === 'folder');
  const hidden = await ignored(
    place,
    ask.map(({ path }) => path),
  );
  for (const one of ask) if (hidden.has(one.path)) one.kind = 'ignored';
  return found;
}

async function look(place: Place, path: string): Promise<Whereabouts | null> {
  if (!isInside(path) || path.includes('\0')) return null;
  const stats = await lstatOrNull(place.root, path);
  if (stats === null) return null;
  let real = path;
  try {
    // The link itself is content; a folder on the way to it that is a link leads elsewhere.
    const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    const target = await realpath(parent === '' ? place.root : `${place.root}/${parent}`);
    const root = await realpath(place.root);
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (target !== root && !target.startsWith(`${root}/`)) return { kind: 'outside', path };
    const folder = target.slice(root.length + 1);
    real = folder === '' ? name : `${folder}/${name}`;
  } catch {
    return null;
  }
  if (isExcluded(place, real) || real === '.git' || real.startsWith('.git/'))
    return { kind: 'ignored', path: real };
  for (const folder of foldersAbove(real)) {
    // A repository of its own: its content is no part of this one's snapshots.
    if ((await lstatOrNull(place.root, `${folder}/.git`)) !== null) return { kind: 'ignored', path: real };
  }
  return { kind: stats.isDirectory() ? 'folder' : 'file', path: real };
}

async function ignored(place: Place, paths: string[]): Promise<Set<string>> {
  if (place.gitDir === null) {
    return new Set(paths.filter((path) => WITHOUT_GIT.some((folder) => `/${path}/`.includes(`/${folder}`))));
  }
  if (paths.length === 0) return new Set();
  const { code, stdout } = await git({
    args: ['check-ignore', '-z', '--stdin'],
    cwd: place.root,
    env: place.userEnv,
    input: Buffer.from(paths.map((path) => `${path}\0`).join('')),
  });
  return code === 0 ? new Set(stdout.toString('utf8').split('\0')) : new Set();
}
