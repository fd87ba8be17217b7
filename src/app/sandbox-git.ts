/**
 * What of git's folders an agent in a sandbox may not write: whatever makes a git that runs outside of the sandbox
 * (Ralph's own, and the user's) start a program, or work in another folder. Objects, refs, their logs and the folder of
 * its own work tree stay open, so that it can commit. What is not there yet is made, empty, for only what is there can be
 * shut.
 */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { hooksOf, type Project } from '../repo/index.ts';

/** In the order of the mounts: the last one of a path counts. */
export interface GitMounts {
  open: string[];
  shut: string[];
  /** Open again, below what is shut. */
  own: string[];
  /** Shut again, below that. */
  ownShut: string[];
}

export async function gitMounts(
  { root, gitDir, commonDir }: Project,
  env: Record<string, string>,
): Promise<GitMounts> {
  if (gitDir === null || commonDir === null) return { open: [], shut: [], own: [], ownShut: [] };
  const hooks = await hooksOf(root, env);
  madeFolder(join(commonDir, 'worktrees'));
  const isWithin = hooks?.startsWith(`${root}${sep}`) || hooks?.startsWith(`${commonDir}${sep}`);
  if (hooks !== null && isWithin) madeFolder(hooks);
  const isLinked = gitDir !== commonDir;
  const shut = [
    ...rulesOf(commonDir),
    ...submodulesOf(commonDir),
    join(commonDir, 'worktrees'),
    ...(isFolder(hooks) ? [hooks!] : []),
    // Of the user's checkout: what it has checked out, and what is staged there.
    ...(isLinked ? ['HEAD', 'index'].map((name) => join(commonDir, name)) : []),
    // Where this is a file it says which repository the work tree belongs to.
    ...(statSync(join(root, '.git'), { throwIfNoEntry: false })?.isFile() ? [join(root, '.git')] : []),
  ];
  if (!isLinked) return { open: [commonDir], shut, own: [], ownShut: [] };
  const ownShut = [
    ...['commondir', 'gitdir'].map((name) => join(gitDir, name)),
    madeFile(join(gitDir, 'config.worktree')),
    ...submodulesOf(gitDir),
  ];
  return { open: [commonDir], shut, own: [gitDir], ownShut };
}

/** The configuration, the hooks, and the attributes and ignore rules that no commit holds. */
function rulesOf(gitDir: string): string[] {
  return [
    join(gitDir, 'config'),
    madeFile(join(gitDir, 'config.worktree')),
    ...['hooks', 'info'].map((name) => madeFolder(join(gitDir, name))),
  ];
}

/** The same of each submodule's own git folder; they may lie in one another, and their names may hold slashes. */
function submodulesOf(gitDir: string): string[] {
  const look = (folder: string): string[] =>
    foldersIn(folder).flatMap((name) => {
      const at = join(folder, name);
      const isGit = existsSync(join(at, 'HEAD')) && existsSync(join(at, 'objects'));
      return isGit ? [...rulesOf(at), ...submodulesOf(at)] : look(at);
    });
  return look(join(gitDir, 'modules'));
}

function isFolder(path: string | null): boolean {
  return path !== null && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function madeFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

function madeFile(path: string): string {
  if (!existsSync(path)) writeFileSync(path, '', { flag: 'a' });
  return path;
}
