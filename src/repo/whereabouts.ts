/** What lies at single paths of the work tree, and whether a snapshot would hold it. */
import { readFile, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { Whereabouts } from '../core/index.ts';
import { lstatOrNull } from './content.ts';
import { git } from './git.ts';
import { decodeIndex, EXTENDED } from './index-file.ts';
import { foldersAbove, isInside, pathBytes, pathText } from './paths.ts';
import { isExcluded, type Place, WITHOUT_GIT } from './place.ts';

/**
 * Paths (relative to the root) that are there, each with what it is and where it really lies; absent ones
 * are missing. Git is asked, once, only about what the last snapshot lacks.
 */
export async function whereabouts(place: Place, paths: readonly string[]): Promise<Map<string, Whereabouts>> {
  const found = new Map<string, Whereabouts>();
  const folders = new Map<string, Folder>();
  for (const path of new Set(paths)) {
    const there = await look(place, path, folders);
    if (there !== null) found.set(path, there);
  }
  const files = [...found.values()].filter(({ kind }) => kind === 'file');
  const held =
    files.length === 0
      ? new Set()
      : await snapshotHolds(
          place,
          files.map(({ path }) => path),
        );
  const ask = [...found.values()].filter(
    ({ kind, path }) => kind === 'folder' || (kind === 'file' && !held.has(path)),
  );
  const hidden = await ignored(
    place,
    ask.map(({ path }) => path),
  );
  for (const one of ask) if (hidden.has(one.path)) one.kind = 'ignored';
  return found;
}

/** Those of the paths that the private index has, which the last snapshot was written from. */
async function snapshotHolds(place: Place, paths: readonly string[]): Promise<Set<string>> {
  const bytes = await readFile(place.indexFile).catch(() => null);
  if (bytes === null) return new Set();
  const version = bytes.length < 12 ? 0 : bytes.readUInt32BE(4);
  // Names of version 4 are packed, each into the one before.
  if (version === 4) {
    const names = new Set(decodeIndex(bytes, place.oidBytes)?.map(({ name }) => pathText(name)));
    return new Set(paths.filter((path) => names.has(path)));
  }
  return new Set(paths.filter((path) => hasName(bytes, pathBytes(path))));
}

/** An entry's name ends in a zero byte and follows its flags, whose last 12 bits are its length. */
function hasName(bytes: Buffer, name: Buffer): boolean {
  const ended = Buffer.concat([name, Buffer.of(0)]);
  const length = Math.min(name.length, 0xfff);
  for (let at = bytes.indexOf(ended); at !== -1; at = bytes.indexOf(ended, at + 1)) {
    const flags = at - (at >= 4 && (bytes.readUInt16BE(at - 4) & EXTENDED) !== 0 ? 4 : 2);
    if ((bytes.readUInt16BE(at - 2) & 0xfff) === length || (bytes.readUInt16BE(flags) & 0xfff) === length)
      return true;
  }
  return false;
}

/** Where a folder really lies; null: out of the work tree, or nowhere. `apart`: in a repository of its own. */
interface Folder {
  path: string | null;
  apart: boolean;
}

async function look(place: Place, path: string, folders: Map<string, Folder>): Promise<Whereabouts | null> {
  if (!isInside(path)) return null;
  const stats = lstatOrNull(place.root, path);
  if (stats === null) return null;
  const cut = path.lastIndexOf('/');
  const parent = cut === -1 ? '' : path.slice(0, cut);
  let folder = folders.get(parent);
  if (folder === undefined) {
    folder = parent === '' ? { path: '', apart: false } : await realFolder(place, parent);
    folders.set(parent, folder);
  }
  if (folder.path === null) return { kind: 'outside', path };
  // The name itself may be a link: that is content. Only a folder on the way to it leads elsewhere.
  const name = path.slice(cut + 1);
  const real = folder.path === '' ? name : `${folder.path}/${name}`;
  if (folder.apart) return { kind: 'inner', path: real };
  if (!isInside(real) || isExcluded(place, real)) return { kind: 'ignored', path: real };
  return { kind: stats.isDirectory() ? 'folder' : 'file', path: real };
}

async function realFolder(place: Place, folder: string): Promise<Folder> {
  const [root, target] = await Promise.all(
    [place.root, `${place.root}/${folder}`].map((path) =>
      realpath(path).then(
        (real) => real.split(sep).join('/'),
        () => null,
      ),
    ),
  );
  if (root == null || target == null || (target !== root && !target.startsWith(`${root}/`)))
    return { path: null, apart: false };
  const path = target.slice(root.length + 1);
  for (const above of path === '' ? [] : [...foldersAbove(path), path]) {
    if (lstatOrNull(place.root, `${above}/.git`) !== null) return { path, apart: true };
  }
  return { path, apart: false };
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
