/**
 * Repositories of their own in a work tree of ours: submodules at any depth, checked out or not any more, and others
 * that somebody made there. They go with the work tree, and no commit of it holds what is in them.
 */
import { existsSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gitProblem } from './git.ts';
import { gitlinksOf, modulesIn, onlyFolder } from './modules.ts';
import { uncommitted } from './own-branch.ts';
import { commonDirOf, gitDirOf, ownFolder } from './project.ts';
import { type Beside, treeGit } from './tree.ts';

/** One with something that is nowhere else. */
export interface Apart {
  /** Below the work tree; where it is not checked out any more, git's own folder of it. */
  path: string;
  /** Git's own folder of it; null: git cannot read it. */
  gitDir: string | null;
  /** What git cannot tell counts as held. */
  holds:
    | { kind: 'uncommitted'; files: string[] }
    | { kind: 'commits'; newest: string }
    | { kind: 'unreadable' };
}

/** Also where the work tree is gone: git keeps its own folder of it, and the submodules' in there. */
export async function heldApart(beside: Beside, root: string): Promise<Apart[]> {
  const seen = new Set<string>();
  const found = gitDirOf(root) === null ? [] : await inTree(beside, { root, top: root, seen });
  const main = gitDirOf(beside.root);
  const own = main === null ? null : ownFolder(commonDirOf(main), root);
  return own === null ? found : [...found, ...(await inFolder(beside, own, seen))];
}

interface Look {
  root: string;
  /** The work tree that all paths are named from. */
  top: string;
  /** Folders of git's that were looked into. */
  seen: Set<string>;
}

async function inTree(beside: Beside, { root, top, seen }: Look): Promise<Apart[]> {
  const found: Apart[] = [];
  for (const name of await innerFolders(beside, root)) {
    const inner = join(root, name);
    const path = relative(top, inner);
    const gitDir = gitDirOf(inner);
    if (gitDir === null) {
      found.push({ path, gitDir, holds: { kind: 'unreadable' } });
      continue;
    }
    seen.add(gitDir);
    const holds = (await filesOf(beside, inner)) ?? (await commitsOf(beside, gitDir));
    if (holds !== null) found.push({ path, gitDir, holds });
    if (holds?.kind === 'unreadable') continue;
    found.push(
      ...(await inTree(beside, { root: inner, top, seen })),
      ...(await inFolder(beside, gitDir, seen)),
    );
  }
  return found;
}

/** Those that are checked out right below this one. Nothing is asked of the files: each work tree of the pool is looked at. */
async function innerFolders(beside: Beside, root: string): Promise<string[]> {
  const which = ['ls-files', '--stage', '--others', '--exclude-standard', '-z'];
  const listed = await treeGit(beside, root, which);
  if (listed.code !== 0) throw gitProblem(`tell which repositories lie in ${root}`, listed);
  const rows = listed.stdout.toString('utf8');
  const links = gitlinksOf(rows).map(({ path }) => path);
  // Of what is untracked only a repository is named as a folder.
  const untracked = rows.split('\0').filter((path) => path.endsWith('/'));
  const found = new Set([...links, ...untracked.map((path) => path.slice(0, -1))]);
  return [...found].filter((path) => existsSync(join(root, path, '.git')));
}

/** Repositories of submodules in a folder of git's, whether their files lie anywhere or not. */
async function inFolder(beside: Beside, gitDir: string, seen: Set<string>): Promise<Apart[]> {
  const found: Apart[] = [];
  for (const module of modulesIn(join(gitDir, 'modules'))) {
    if (!seen.has(realpathSync(module))) {
      seen.add(realpathSync(module));
      const holds = await commitsOf(beside, module);
      if (holds !== null) found.push({ path: module, gitDir: module, holds });
    }
    found.push(...(await inFolder(beside, module, seen)));
  }
  return found;
}

async function filesOf(beside: Beside, root: string): Promise<Apart['holds'] | null> {
  try {
    const files = await uncommitted(beside, root, { untracked: true });
    return files.length > 0 ? { kind: 'uncommitted', files } : null;
  } catch {
    return { kind: 'unreadable' };
  }
}

/** Whatever its names and their logs lead to and no remote had when it was last heard of. */
async function commitsOf(beside: Beside, gitDir: string): Promise<Apart['holds'] | null> {
  const which = ['rev-list', '--max-count=1', '--all', '--reflog', '--not', '--remotes'];
  const { code, stdout } = await treeGit(beside, beside.root, [...onlyFolder(gitDir), ...which]);
  const newest = stdout.toString('latin1').trim();
  if (code !== 0) return { kind: 'unreadable' };
  return newest === '' ? null : { kind: 'commits', newest };
}
