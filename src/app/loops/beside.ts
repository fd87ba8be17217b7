/** Where a loop's things are: its branch, its work tree, and the name people see of it in the project. */
import { existsSync, readFileSync } from 'node:fs';
import { lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { LoopWork } from '../../core/index.ts';
import { type Beside, gitDirOf } from '../../repo/index.ts';
import { type Loop, readLoops } from '../../store/index.ts';
import { withoutOwnSecrets } from '../environment.ts';
import { findPlace, type Place } from '../place.ts';

/** The main checkout of a place, which may be in a work tree beside it. */
export async function mainPlace(place: Place): Promise<Place> {
  if (place.ground === '.') return place;
  const root = place.mainDir.slice(0, place.mainDir.length - relative(place.project.root, place.dir).length);
  return findPlace(existsSync(place.mainDir) ? place.mainDir : root);
}

/** The main checkout as git is asked there. */
export function besideOf(main: Place): Beside {
  return { root: main.project.root, cwd: main.dir, env: withoutOwnSecrets(process.env) };
}

export const loopBranch = (name: string): string => `refs/heads/ralph/${name}`;

/** A branch as people name it. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/heads\//, '');

/** Held by the start that makes it; `folder`: where the work trees of loops lie. */
export function makingLock(folder: string, name: string): string {
  return join(folder, `${name}.lock`);
}

/** The loop whose work tree this is; null: it is nobody's. */
export function loopAt(place: Place): Loop | null {
  if (place.ground === '.' || place.project.commonDir === null) return null;
  const isHere = ({ worktree, standing }: Loop) =>
    worktree === place.project.root && standing !== 'removed' && standing !== 'discarded';
  return readLoops(place.mainDir).findLast(isHere) ?? null;
}

/** The loop as its session names it. */
export function loopWork({ id, branch, onto }: Loop): LoopWork {
  return { loop: id, branch: shortRef(branch), onto: shortRef(onto) };
}

/** The project's folder in a loop's work tree. */
export function folderIn(main: Place, { worktree }: Pick<Loop, 'worktree'>): string {
  return join(worktree, relative(main.project.root, main.dir));
}

/** Stands in git's own folder of a work tree that was made whole, and tells what was uncommitted in it from then on. */
const MADE = 'ralph-made';

export interface Mark {
  given: readonly string[];
  prints?: Readonly<Record<string, string>>;
  /** The loop it was made for; absent: it is for something else, or an older version made it. */
  loop?: MarkedLoop;
}

/** What a loop is known by where the project journal is lost. Branches by their full names. */
export interface MarkedLoop {
  id: string;
  onto: string;
  base: string;
}

export async function markMade({ worktree }: Pick<Loop, 'worktree'>, mark: Mark): Promise<void> {
  await writeFile(join(gitDirOf(worktree)!, MADE), `${JSON.stringify(mark)}\n`);
}

export function isWhole({ worktree }: Loop): boolean {
  const dir = gitDirOf(worktree);
  return dir !== null && existsSync(join(dir, MADE));
}

/** Uncommitted paths that a work tree began with, relative to its root; none where we did not make it. */
export function givenIn(gitDir: string | null): string[] {
  return [...(markIn(gitDir)?.given ?? [])];
}

/** Files that we write into a work tree ourselves. */
const OURS = ['ralph/progress.txt', 'ralph/blocked.txt', 'ralph/decide.txt', 'ralph/logs'];

/** The same relative to the root of the work tree. */
export function oursIn({ project, dir }: Place): string[] {
  const below = relative(project.root, dir);
  return OURS.map((path) => join(below, path));
}

/** What the files that were copied into it held, by path below the project's folder. */
export function printsIn(gitDir: string | null): Readonly<Record<string, string>> {
  return markIn(gitDir)?.prints ?? {};
}

/** null: it was not made whole, or is none of ours. What somebody made of it says nothing. */
export function markIn(gitDir: string | null): Mark | null {
  const file = gitDir === null ? '' : join(gitDir, MADE);
  if (!existsSync(file)) return null;
  try {
    const { given, prints, loop } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Mark>;
    const isWhole = [loop?.id, loop?.onto, loop?.base].every((text) => typeof text === 'string');
    return { given: given ?? [], prints: prints ?? {}, ...(loop && isWhole && { loop }) };
  } catch {
    return { given: [] };
  }
}

/** The name that people see in the project. */
const linkOf = (main: Place, id: string): string => join(main.mainDir, '.ralph', 'worktrees', id);

/** `.ralph/worktrees/<name>` leads to it; answers false where something else of that name stays. */
export async function link(main: Place, loop: Loop): Promise<boolean> {
  const path = linkOf(main, loop.id);
  await mkdir(dirname(path), { recursive: true });
  const there = await lstat(path).catch(() => null);
  if (there !== null && !there.isSymbolicLink()) return false;
  await rm(path, { force: true });
  await symlink(loop.worktree, path);
  return true;
}

export async function unlink(main: Place, id: string): Promise<void> {
  const path = linkOf(main, id);
  if ((await lstat(path).catch(() => null))?.isSymbolicLink() === true) await rm(path, { force: true });
}
