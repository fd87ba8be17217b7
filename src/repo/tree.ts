/**
 * Work trees of our own beside the user's, by git: made, given what no commit has, listed, and taken away again.
 * What they are for is known above: the pool's are on no branch, a loop's is on one of ours.
 */

import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { endOf } from '../core/index.ts';
import { textOf } from './file-text.ts';
import { type GitResult, git, gitEnvironment } from './git.ts';
import { isInside } from './paths.ts';
import { commonDirOf, gitDirOf } from './project.ts';

/** The user's work tree, whose repository the new ones belong to. */
export interface Beside {
  root: string;
  /** The project's folder in it. */
  cwd: string;
  env?: Record<string, string | undefined> | undefined;
  /** A private index in place of the work tree's own. */
  index?: string;
}

/** Installed packages, which no commit has, are those of the project's folder. */
export const SHARED = ['node_modules', '.venv'];

/** The user's own configuration counts but for hooks: a mere copy of a tree is no checkout of theirs. */
export function treeGit(
  { env, index }: Beside,
  cwd: string,
  args: string[],
  input?: Uint8Array,
): Promise<GitResult> {
  const quiet = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'advice.detachedHead=false'];
  return git({
    args: [...quiet.flatMap((setting) => ['-c', setting]), ...args],
    cwd,
    ...(input && { input }),
    env: { ...gitEnvironment(env ?? process.env), ...(index === undefined ? {} : { GIT_INDEX_FILE: index }) },
  });
}

/** Whether what lies there is a work tree of this repository and not of another, or a mere folder. */
export function isTreeOf({ root: main }: Pick<Beside, 'root'>, root: string): boolean {
  const [there, here] = [gitDirOf(root), gitDirOf(main)];
  return there !== null && here !== null && there !== here && commonDirOf(there) === commonDirOf(here);
}

export interface NewTree {
  /** Absolute. */
  root: string;
  /** What `git worktree add` is told beside the path: flags before it, what is checked out after it. */
  flags: readonly string[];
  start: string;
  /** Untracked paths below the project's folder that it is given, e.g. `.env`; what the commit has stays. */
  copy: readonly string[];
}

/** Makes one; answers why git could not, or null. Throws where the disk does not take what it is given. */
export async function addTree(beside: Beside, { root, flags, start, copy }: NewTree): Promise<string | null> {
  await mkdir(dirname(root), { recursive: true });
  const added = await treeGit(beside, beside.root, ['worktree', 'add', '-q', ...flags, root, start]);
  if (added.code !== 0) return endOf(added.stderr.trim(), 500) || `git ended with ${added.code}`;
  const cwd = join(root, relative(beside.root, beside.cwd));
  await mkdir(cwd, { recursive: true });
  await copyPaths(beside.cwd, cwd, copy);
  for (const name of SHARED) {
    const from = join(beside.cwd, name);
    if (!existsSync(from) || existsSync(join(cwd, name))) continue;
    const ignored = await treeGit(beside, beside.cwd, ['check-ignore', '-q', name]);
    if (ignored.code === 0) await symlink(from, join(cwd, name));
  }
  return null;
}

/** Copies what lies at these relative paths and is not there yet; never anything outside of the two folders. */
export async function copyPaths(from: string, to: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (!isInside(path) || !existsSync(join(from, path)) || existsSync(join(to, path))) continue;
    await mkdir(dirname(join(to, path)), { recursive: true });
    await cp(join(from, path), join(to, path), {
      recursive: true,
      errorOnExist: false,
      verbatimSymlinks: true,
    });
  }
}

/**
 * Whatever somebody made of it: git forgets a work tree whose folder is gone. It goes under another name first: half of
 * it, left by a kill, would look like a work tree that somebody deleted files from, or like a folder of a person's.
 */
export async function dropTree(beside: Beside, root: string): Promise<void> {
  // No loop, and no session, can have that name.
  const going = `${root}~going`;
  await rm(going, { recursive: true, force: true });
  // What cannot be renamed, such as a mount, goes where it is.
  await rename(root, going).catch(() => undefined);
  for (const folder of [going, root]) await rm(folder, { recursive: true, force: true });
  await treeGit(beside, beside.root, ['worktree', 'remove', '--force', '--force', root]);
}

export interface LinkedTree {
  /** Git's own folder of it. */
  gitDir: string;
  /** Where it was made or moved to by git, also when nothing lies there any more. */
  root: string;
  /** Full name; null: it is on none. */
  branch: string | null;
}

/** The same as git's files tell it, without a process. */
export function linkedTrees(commonDir: string): LinkedTree[] {
  const folder = join(commonDir, 'worktrees');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const gitDir = join(folder, name);
    const place = textOf(join(gitDir, 'gitdir')).trim();
    if (place === '') return [];
    const branch = /^ref: (refs\/heads\/\S+)$/.exec(textOf(join(gitDir, 'HEAD')).trim())?.[1] ?? null;
    return [{ gitDir, root: dirname(resolve(gitDir, place)), branch }];
  });
}

export interface ListedTree {
  root: string;
  /** Full name; null: it is on none. */
  branch: string | null;
}

/** The work trees that git knows, those whose folder is gone included. */
export async function listTrees(beside: Beside): Promise<ListedTree[]> {
  const listed = await treeGit(beside, beside.root, ['worktree', 'list', '--porcelain']);
  const parts = listed.stdout.toString('utf8').split('\n\n');
  return parts.flatMap((part) => {
    const root = /^worktree (.+)$/m.exec(part)?.[1];
    return root === undefined ? [] : [{ root, branch: /^branch (.+)$/m.exec(part)?.[1] ?? null }];
  });
}
