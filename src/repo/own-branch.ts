/**
 * The branch of a work tree of ours: where it stands, what is not committed beside it, and how all of it is kept
 * under another name before it goes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GitResult, gitProblem } from './git.ts';
import { type Beside, treeGit } from './tree.ts';

/** Every branch named so or below it, with its commit. */
export async function branchesAt(beside: Beside, name: string): Promise<Map<string, string>> {
  const listed = await treeGit(beside, beside.root, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    name,
  ]);
  const lines = listed.stdout.toString('utf8').split('\n').filter(Boolean);
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]));
}

/** Paths that are not as HEAD has them, in the work tree at `root`. Throws where git cannot tell. */
export async function uncommitted(
  beside: Beside,
  root: string,
  { untracked }: { untracked: boolean },
): Promise<string[]> {
  const files = `--untracked-files=${untracked ? 'all' : 'no'}`;
  const told = said(
    `tell what is uncommitted in ${root}`,
    await treeGit(beside, root, ['status', '--porcelain', '-z', '--no-renames', files]),
  );
  return told
    .split('\0')
    .filter((line) => line.length > 3)
    .map((line) => line.slice(3));
}

/** What git ignores there, relative to its root; a folder that is ignored as a whole is one of them, with its slash. */
export async function ignoredIn(beside: Beside, root: string): Promise<string[]> {
  const asked = [
    'status',
    '--porcelain',
    '-z',
    '--no-renames',
    '--ignored=matching',
    '--untracked-files=all',
  ];
  return said(`tell what it ignores in ${root}`, await treeGit(beside, root, asked))
    .split('\0')
    .filter((line) => line.startsWith('!! '))
    .map((line) => line.slice(3));
}

/** Whether git ignores this path in the work tree at `root`; a file that it tracks is none. */
export async function isIgnored(beside: Beside, root: string, path: string): Promise<boolean> {
  return (await treeGit(beside, root, ['check-ignore', '-q', '--', path])).code === 0;
}

/** Whether the second commit holds the first. */
export async function holds(beside: Beside, older: string, newer: string): Promise<boolean> {
  return (await treeGit(beside, beside.root, ['merge-base', '--is-ancestor', older, newer])).code === 0;
}

/** The newest commit that both hold; null: none, or one of them is not there. */
export async function mergeBase(beside: Beside, one: string, other: string): Promise<string | null> {
  const { code, stdout } = await treeGit(beside, beside.root, ['merge-base', one, other]);
  return code === 0 ? stdout.toString('latin1').trim() : null;
}

export interface NamedCommit {
  id: string;
  subject: string;
}

/** What this commit's history has and that of none of these: the newest first. One that git has no more counts for nothing. */
export async function commitsBeyond(
  beside: Beside,
  tip: string,
  these: readonly string[],
): Promise<NamedCommit[]> {
  const not = these.map((commit) => `^${commit}`);
  const args = [
    'log',
    '--ignore-missing',
    '--no-show-signature',
    '--no-color',
    '--format=%H %s',
    tip,
    ...not,
  ];
  const told = said('list commits', await treeGit(beside, beside.root, [...args, '--']));
  return told
    .split('\n')
    .filter(Boolean)
    .map((line) => ({
      id: line.slice(0, line.indexOf(' ')),
      subject: line.slice(line.indexOf(' ') + 1),
    }));
}

/** How far back its log is looked through. */
const MOST_LOGGED = 500;

/**
 * Commits that nothing but the HEAD of this work tree, its log or a name of its own leads to: what was made on no
 * branch there. Of those that follow each other the newest.
 */
export async function strandedIn(beside: Beside, root: string): Promise<string[]> {
  const ids = new Set<string>();
  for (const args of [
    ['rev-parse', '-q', '--verify', 'HEAD^{commit}'],
    ['log', '-g', '--format=%H', `--max-count=${MOST_LOGGED}`, 'HEAD', '--'],
    // Names that git keeps for each work tree by itself.
    ['for-each-ref', '--format=%(objectname)', 'refs/worktree', 'refs/bisect', 'refs/rewritten'],
  ]) {
    const { stdout } = await treeGit(beside, root, args);
    for (const id of stdout.toString('latin1').split('\n').filter(Boolean)) ids.add(id);
  }
  if (ids.size === 0) return [];
  const beyond = ['--ignore-missing', ...ids, '--not', '--single-worktree', '--all'];
  const told = said('list commits', await treeGit(beside, beside.root, ['rev-list', '--parents', ...beyond]));
  const rows = told
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));
  const older = new Set(rows.flatMap(([, ...parents]) => parents));
  return rows.map(([id]) => id!).filter((id) => !older.has(id));
}

/** Takes a branch away where it still stands at that commit; false: it does not, or is checked out somewhere. */
export async function dropBranch(beside: Beside, ref: string, commit: string): Promise<boolean> {
  return (await treeGit(beside, beside.root, ['update-ref', '-d', ref, commit])).code === 0;
}

/** Names a commit under a name of ours; false where git could not. */
export async function nameCommit(beside: Beside, ref: string, commit: string): Promise<boolean> {
  return (await treeGit(beside, beside.root, ['update-ref', ref, commit])).code === 0;
}

/**
 * A commit of everything that stands uncommitted in the work tree but for these paths, on top of `head`; its index and
 * files stay as they are. null: nothing does. Throws where git could not make it.
 */
export async function commitOfWork(
  beside: Beside,
  root: string,
  { head, message, without }: { head: string; message: string; without: readonly string[] },
): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-index-'));
  try {
    const index = join(folder, 'index');
    const told = (result: GitResult) => said(`keep what stands uncommitted in ${root}`, result);
    const ask = async (...args: string[]) => told(await treeGit({ ...beside, index }, root, args));
    await ask('read-tree', head);
    const before = await ask('write-tree');
    await ask('add', '-A');
    if (without.length > 0) {
      const reset = ['--literal-pathspecs', 'reset', '-q', '--pathspec-from-file=-', '--pathspec-file-nul'];
      // A work tree may be given more files than a command line takes.
      const paths = Buffer.from(without.map((path) => `${path}\0`).join(''));
      told(await treeGit({ ...beside, index }, root, [...reset, head], paths));
    }
    const tree = await ask('write-tree');
    if (tree === before) return null;
    const who = ['-c', 'user.name=Ralph', '-c', 'user.email=ralph@localhost'];
    return await ask(...who, 'commit-tree', tree, '-p', head, '-m', message);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function said(doing: string, result: GitResult): string {
  if (result.code !== 0) throw gitProblem(doing, result);
  return result.stdout.toString('utf8').replace(/\n$/, '');
}
