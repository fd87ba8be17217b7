/**
 * Files that a loop's work tree was given and that git mostly does not see, such as `.env`: what they held when the
 * work began is noted, so that what was changed in them since goes nowhere without a copy.
 */
import { existsSync } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { gitDirOf, ignoredIn, isTreeOf, SHARED } from '../../repo/index.ts';
import { type Loop, sha256 } from '../../store/index.ts';
import type { Place } from '../place.ts';
import { besideOf, folderIn, printsIn } from './beside.ts';

/** A folder that was given may hold packages: of so many files it is told whether they are as they were. */
const MOST = 1_000;

/** What these paths below the project's folder hold now, by path. */
export async function printsOf(cwd: string, paths: readonly string[]): Promise<Record<string, string>> {
  const prints: Record<string, string> = {};
  const waiting = [...paths];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const stat = await lstat(join(cwd, path)).catch(() => null);
    if (stat?.isFile()) prints[path] = sha256(await readFile(join(cwd, path)));
    if (stat?.isDirectory())
      waiting.push(...(await readdir(join(cwd, path))).map((name) => join(path, name)));
    if (Object.keys(prints).length >= MOST) break;
  }
  return prints;
}

/** Given files that hold something else by now, relative to the project's folder; one that was deleted is none. */
export async function editedGiven(main: Place, loop: Loop): Promise<string[]> {
  if (!isTreeOf(main.project, loop.worktree)) return [];
  const before = printsIn(gitDirOf(loop.worktree));
  const now = await printsOf(folderIn(main, loop), Object.keys(before));
  return Object.keys(now).filter((path) => now[path] !== before[path]);
}

/** Copies them to a folder of the main checkout that git ignores: they may hold secrets. null: there are none. */
export async function keepGiven(main: Place, loop: Loop): Promise<string | null> {
  const edited = await editedGiven(main, loop);
  if (edited.length === 0) return null;
  const folder = freeFolder(join(main.mainDir, '.ralph', 'discarded', loop.id));
  for (const path of edited) {
    const to = join(folder, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await copyFile(join(folderIn(main, loop), path), to);
  }
  return folder;
}

/** What we keep in a work tree ourselves, from the project's folder. */
const OURS = ['.ralph', '.ralph-sessions', 'ralph', ...SHARED];

/**
 * Files that git ignores in its work tree and that nobody keeps: they go with it. What it was given is elsewhere, or
 * gets a copy where it was changed.
 */
export async function unkeptFiles(main: Place, loop: Loop): Promise<string[]> {
  if (!isTreeOf(main.project, loop.worktree)) return [];
  const below = relative(main.project.root, main.dir);
  const given = Object.keys(printsIn(gitDirOf(loop.worktree)));
  const known = [...given, ...OURS].map((path) => join(below, path));
  const unkept: string[] = [];
  const waiting = await ignoredIn(besideOf(main), loop.worktree);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (known.some((one) => path === one || path === `${one}/` || path!.startsWith(`${one}/`))) continue;
    // A folder that holds something known is ignored as one, and what else lies in it is not known.
    if (path.endsWith('/') && known.some((one) => one.startsWith(path!)))
      waiting.push(...(await namesIn(loop.worktree, path)));
    else unkept.push(path);
  }
  return unkept;
}

/** As git names them: a folder with its slash. */
async function namesIn(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  return entries.map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
}

function freeFolder(base: string): string {
  for (let n = 1; ; n++) {
    const folder = n === 1 ? base : `${base}-${n}`;
    if (!existsSync(folder)) return folder;
  }
}
