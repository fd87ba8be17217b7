/**
 * Where the project lies: the work tree around a folder and git's folders behind it, found by reading
 * files, as git itself looks for them.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { Problem } from '../core/index.ts';
import { configEntries } from './config-text.ts';
import { textOf } from './file-text.ts';

export interface Project {
  /** Top of the work tree, links resolved; the folder itself without a repository. */
  root: string;
  /** The asked folder, links resolved: `root` or below it. */
  cwd: string;
  /** This work tree's own git folder (`.git`, or `.git/worktrees/<name>`); null without git. */
  gitDir: string | null;
  /** What all work trees share: refs, objects, config, info. Same as `gitDir` in the main checkout. */
  commonDir: string | null;
}

/** Finds the project around `cwd`. A missing folder or one inside git's own folder is a Problem. */
export async function findProject(cwd: string): Promise<Project> {
  let at: string;
  try {
    at = realpathSync(cwd);
    if (!statSync(at).isDirectory()) throw new Error('not a folder');
  } catch {
    throw new Problem({
      code: 'ground.missing',
      what: `There is no folder ${cwd}.`,
      why: 'The project folder must exist before anything can run in it.',
      fix: 'Change into the project folder, or name one that exists.',
    });
  }
  for (let folder = at; ; folder = dirname(folder)) {
    const gitDir = gitDirOf(folder);
    if (isBare(gitDir ?? folder)) throw bare(at, gitDir ?? folder);
    if (gitDir !== null) {
      if (at === gitDir || at.startsWith(`${gitDir}/`)) throw insideGit(at, folder);
      return { root: folder, cwd: at, gitDir, commonDir: commonDirOf(gitDir) };
    }
    if (dirname(folder) === folder) return { root: at, cwd: at, gitDir: null, commonDir: null };
  }
}

/** A repository without a work tree: a folder that is git's own in all but its name, or says that it is one. */
function isBare(folder: string): boolean {
  if (!existsSync(join(folder, 'HEAD')) || existsSync(join(folder, 'commondir'))) return false;
  if (!existsSync(join(folder, 'objects')) || !existsSync(join(folder, 'refs'))) return false;
  try {
    const { entries } = configEntries(readFileSync(join(folder, 'config'), 'utf8'));
    const last = (name: string) => entries.findLast((entry) => entry.name === name)?.value;
    return /^(true|yes|on|1)$/i.test(last('core.bare') ?? '') && last('core.worktree') === undefined;
  } catch {
    return false;
  }
}

function bare(at: string, folder: string): Problem {
  return new Problem({
    code: 'ground.bare',
    what: `${folder} is a bare repository: it has no work tree.`,
    why: 'An agent works in files, and here are none to work in.',
    fix: `Make a work tree and run there: git -C ${JSON.stringify(folder)} worktree add ${JSON.stringify(`${dirname(at)}/work`)}, or clone it. If files do lie beside it, it only says that it is bare: git config core.bare false`,
  });
}

function insideGit(at: string, root: string): Problem {
  return new Problem({
    code: 'ground.inside_git',
    what: `${at} lies inside git's own folder.`,
    why: 'Work there would damage the repository.',
    fix: `Run from ${root} or a folder of the project.`,
  });
}

/** The git folder of a work tree's top, or null. A broken `.git` counts as none, as with git. */
export function gitDirOf(folder: string): string | null {
  const dotGit = join(folder, '.git');
  try {
    const target = statSync(dotGit).isDirectory() ? dotGit : linkedGitDir(dotGit);
    return target !== null && existsSync(join(target, 'HEAD')) && hasObjects(target)
      ? realpathSync(target)
      : null;
  } catch {
    return null;
  }
}

function linkedGitDir(file: string): string | null {
  if (statSync(file).size > 64 * 1024) return null;
  const match = /^gitdir: (.+?)\r?\n?$/s.exec(readFileSync(file, 'utf8'));
  return match === null ? null : resolve(dirname(file), match[1]!);
}

function hasObjects(gitDir: string): boolean {
  return existsSync(join(gitDir, 'commondir')) || existsSync(join(gitDir, 'objects'));
}

/** Git's own folder of a linked work tree, found from both sides: it stays when the work tree was deleted. */
export function ownFolder(commonDir: string, root: string): string | null {
  const there = gitDirOf(root);
  if (there !== null) return commonDirOf(there) === realpathSync(commonDir) ? there : null;
  const linked = join(commonDir, 'worktrees');
  const names = existsSync(linked) ? readdirSync(linked) : [];
  const own = names.find((name) => textOf(join(linked, name, 'gitdir')).trim() === join(root, '.git'));
  return own === undefined ? null : join(linked, own);
}

/** Why a linked work tree is to stay as it is, as somebody told git; null: nobody did. */
export function heldTree(commonDir: string, root: string): string | null {
  const own = ownFolder(commonDir, root);
  if (own === null || !existsSync(join(own, 'locked'))) return null;
  return textOf(join(own, 'locked')).trim();
}

/** The shared git folder behind a work tree's own. */
export function commonDirOf(gitDir: string): string {
  try {
    const text = readFileSync(join(gitDir, 'commondir'), 'utf8').replace(/\r?\n$/, '');
    return realpathSync(isAbsolute(text) ? text : join(gitDir, text));
  } catch {
    return gitDir;
  }
}

/**
 * Adds ignore patterns to the repository's local exclude file, each once; what stands there stays.
 * Answers the patterns that were new.
 */
export async function excludeLocally(commonDir: string, patterns: readonly string[]): Promise<string[]> {
  const file = join(commonDir, 'info', 'exclude');
  let text = '';
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unwritable(file, error);
  }
  const present = new Set(text.split(/\r?\n/).map((line) => line.trimEnd()));
  const added = [...new Set(patterns)].filter((pattern) => !present.has(pattern));
  if (added.length === 0) return [];
  const start = text === '' || text.endsWith('\n') ? '' : '\n';
  try {
    await mkdir(dirname(file), { recursive: true });
    await appendFile(file, `${start}${added.join('\n')}\n`);
  } catch (error) {
    throw unwritable(file, error);
  }
  return added;
}

function unwritable(file: string, error: unknown): Problem {
  return new Problem({
    code: 'git.exclude_unwritable',
    what: `The local exclude file ${file} could not be changed.`,
    why: error instanceof Error ? error.message : String(error),
    fix: 'Make the file writable for you, or add the patterns to .gitignore by hand.',
  });
}
