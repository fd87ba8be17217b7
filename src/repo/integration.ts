/**
 * The ground of an integration branch: what a branch would bring into it, both put together without touching a
 * work tree, and the branch moved forward. Of the user's it moves that one branch, and only forward.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, Problem } from '../core/index.ts';
import { blobId } from './blob-id.ts';
import { configEntries } from './config-text.ts';
import { type EnteringText, readEntering } from './entering.ts';
import { textOf } from './file-text.ts';
import { type GitResult, git, gitEnvironment } from './git.ts';
import { type Unreachable, unpushedLinks, unreachable } from './gitlinks.ts';
import { readHead, readRef, unfinishedOperation } from './head.ts';
import { signsCommits } from './identity.ts';
import { lackingIn } from './lacking.ts';
import { leftLocks, mend, WHOLE } from './mend.ts';
import { type Heard, type HookedMerge, heardByHooks } from './merge-hooks.ts';
import { type Draft, readDraft } from './merge-tree.ts';
import { gitDirOf, ownFolder } from './project.ts';

/** A work tree that has a branch checked out. */
export interface Checkout {
  root: string;
  /** Name of an unfinished operation (`rebase`, `merge`); null when there is none. */
  unfinished: string | null;
}

/** What lies between an integration branch and a tip: its commits, and what their files gained. */
export interface Entering extends EnteringText {
  /** Files of more than `largerThan` bytes in any of the commits. */
  large: { path: string; bytes: number }[];
}

/** `failed`: git's own words, and the files it names in them. */
export type Moved = { kind: 'moved' } | { kind: 'failed'; why: string; files: string[] };

export interface Integration {
  /** The commit a branch names now; null: there is no such branch. */
  tip(ref: string): Promise<string | null>;
  checkouts(ref: string): Checkout[];
  /** The branch a work tree is on, its unfinished operation, and its uncommitted paths; null: it is gone. */
  standing(
    root: string,
  ): Promise<{ branch: string | null; unfinished: string | null; dirty: string[] } | null>;
  /** What `tip` has and `base` has not; a string says why git could not tell. */
  entering(base: string, tip: string, largerThan: number): Promise<Entering | string>;
  /** The links in `tip` to those commits that only a work tree of ours has, or nobody here. */
  unreachable(
    tip: string,
    links: readonly string[],
    from: { root: string; onto: string },
  ): Promise<Unreachable[]>;
  /** True where the files of a commit hold this text. */
  holds(commit: string, text: string): Promise<boolean>;
  isAncestor(ancestor: string, of: string): Promise<boolean>;
  /** Those of the commits that none of the tips has, under their id or as the same patch; one process where all are there. */
  lacking(commits: readonly string[], tips: readonly string[]): Promise<string[]>;
  /** Messages of the newest commits of a history. */
  messages(tip: string): Promise<string[]>;
  /** The blob at each of these paths of a commit; what it lacks is missing. */
  blobs(commit: string, paths: readonly string[]): Promise<Map<string, string>>;
  /** Both trees put together; `old_git`: this git can only do it in a work tree. */
  mergeTrees(base: string, tip: string): Promise<MergedTrees>;
  /**
   * The merge of two commits that do not fit, with git's marks around what both changed, labelled with the two commits;
   * null where this git cannot make it.
   */
  drafted(base: string, tip: string): Promise<Draft | null>;
  /** Paths in which two commits differ. */
  differing(one: string, other: string): Promise<Differing[]>;
  /** The text of a file in a commit, one character for each byte; null: it has none of that name, or it is no text, or too much. */
  text(commit: string, path: string): Promise<string | null>;
  /** Subjects of the newest commits that `tip` has and `base` has not and that touch these files. */
  subjects(base: string, tip: string, files: readonly string[]): Promise<string[]>;
  /** Merges `other` in a work tree and takes it back where the two do not fit. */
  mergeIn(root: string, other: string, message: string): Promise<MergedTrees>;
  commit(tree: string, parents: string[], message: string): Promise<{ commit: string } | { failed: string }>;
  /** The same for a merge that is to land, heard by the hooks of the user's that run before one. */
  commitMerge(
    merge: HookedMerge & { parents: string[] },
  ): Promise<{ commit: string } | { failed: string } | Exclude<Heard, { kind: 'message' }>>;
  /** The parents of a commit; none where there is no such commit any more. */
  parents(commit: string): Promise<string[]>;
  /** Clears up after a git that was killed while it moved the branch checked out there; else what is in the way. */
  mend(root: string, left: { ref: string; to: string; since: number; why: string }): Promise<string | null>;
  /** Whether a git that was killed left its lock in a work tree; one that was made before `since` (epoch ms) is another's. */
  isLocked(root: string, since: number): boolean;
  /** Moves the branch that is checked out there forward, its files with it. */
  forward(root: string, to: string, why: string): Promise<Moved>;
  /** Branches below a name that have commits which `onto` has not. */
  unmerged(onto: string, below: string): Promise<string[]>;
  /** How many commits of a branch its upstream has not; null: none, or there is no upstream. No process without one. */
  ahead(branch: string): Promise<{ upstream: string; commits: number } | null>;
  /** Submodules whose commit in a branch no remote of theirs has, and how many it lacks. No process without submodules. */
  unpushedLinks(branch: string): Promise<{ path: string; commits: number }[]>;
  /** Moves a branch that is checked out nowhere, if it still is at `from`. */
  move(ref: string, step: { from: string; to: string; why: string }): Promise<Moved>;
}

export interface Differing {
  path: string;
  /** It is as executable as it was, and no link where it was a file. */
  sameMode: boolean;
}

export type MergedTrees =
  | { kind: 'tree'; id: string }
  /** `beyond`: what is about more than the lines of a file, in git's words. */
  | { kind: 'conflict'; files: string[]; beyond: string[] }
  | { kind: 'failed'; why: string }
  | { kind: 'old_git' };

export interface IntegrationOptions {
  commonDir: string;
  /** Where git runs; the repository's work tree, or another one of it. */
  cwd: string;
  env: Record<string, string | undefined>;
  /** Found in the environment of a git that moves a branch with its files, also when nobody waits for it any more. */
  marker?: string;
}

interface Site {
  commonDir: string;
  cwd: string;
  env: Record<string, string>;
  marker: string | undefined;
}

/** How long a lock of another git's is waited for. */
const LOCK_WAIT_MS = 30_000;
const LOCK_POLL_MS = 250;
/** A history that gained more text than this is not read. */
const MOST_BYTES = 128 * 1024 * 1024;
/** Nobody settles lines in a larger file, and no server takes one. */
const MOST_TEXT_BYTES = 50 * 1024 * 1024;

export function openIntegration({ commonDir, cwd, env, marker }: IntegrationOptions): Integration {
  const site: Site = { commonDir, cwd: existsSync(cwd) ? cwd : commonDir, env: gitEnvironment(env), marker };
  const folders = { root: site.cwd, gitDir: commonDir, commonDir };
  return {
    tip: (ref) => readRef(folders, ref, site.env),
    checkouts: (ref) => checkouts(commonDir, ref),
    standing: (root) => standing(site, root),
    entering: (base, tip, largerThan) => entering(site, { base, tip, largerThan }),
    unreachable: (tip, links, { root, onto }) => {
      const lasting = checkouts(commonDir, onto).map((one) => ({ ...one, gitDir: gitDirOf(one.root) }));
      return unreachable(
        {
          ask: (args) => ask(site, args),
          passing: { root, gitDir: ownFolder(commonDir, root) },
          lasting: [{ root: dirname(commonDir), gitDir: commonDir }, ...lasting],
        },
        tip,
        links,
      );
    },
    holds: async (commit, text) => {
      const args = ['grep', '-q', '-F', '-f', '-', commit];
      return (await ask(site, args, Buffer.from(`${text}\n`))).code === 0;
    },
    isAncestor: async (ancestor, of) =>
      (await ask(site, ['merge-base', '--is-ancestor', ancestor, of])).code === 0,
    lacking: (commits, tips) => lackingIn((args, input) => ask(site, args, input), commits, tips),
    messages: async (tip) => {
      const { stdout } = await ask(site, ['log', '--no-show-signature', '--format=%B', '-z', '-1000', tip]);
      return stdout.toString('utf8').split('\0');
    },
    blobs: (commit, paths) => blobsIn(site, commit, paths),
    mergeTrees: (base, tip) => mergeTrees(site, base, tip),
    drafted: (base, tip) => drafted(site, base, tip),
    differing: (one, other) => differing(site, one, other),
    text: (commit, path) => textIn(site, commit, path),
    subjects: async (base, tip, files) => {
      const range = ['log', '--no-merges', '--format=%s', '-20', tip, `^${base}`, '--'];
      const { stdout } = await ask(site, [...range, ...files.map((path) => `:(top,literal)${path}`)]);
      return stdout.toString('utf8').split('\n').filter(Boolean);
    },
    mergeIn: (root, other, message) => mergeIn(site, { root, other, message }),
    commit: (tree, parents, message) => commit(site, { tree, parents, message }),
    commitMerge: async ({ parents, ...merge }) => {
      const gitDir = gitDirIn(site, merge.root);
      const heard = await heardByHooks({ commonDir, gitDir, env: site.env }, merge);
      if (heard.kind !== 'message') return heard;
      return commit(site, { tree: merge.tree, parents, message: heard.message });
    },
    parents: async (commit) => {
      const { stdout } = await ask(site, ['rev-list', '--no-walk', '--parents', commit, '--']);
      return stdout.toString('latin1').trim().split(' ').slice(1);
    },
    mend: (root, left) => {
      const gitDir = gitDirIn(site, root);
      return gitDir === null
        ? Promise.resolve(null)
        : mend({ ...left, root, gitDir, commonDir, env: site.env });
    },
    isLocked: (root, since) => {
      const gitDir = gitDirIn(site, root);
      return gitDir !== null && leftLocks(gitDir).some(({ made }) => made >= since);
    },
    forward: (root, to, why) => forward(site, { root, to, why }),
    unmerged: async (onto, below) => {
      const { stdout } = await ask(site, [
        'for-each-ref',
        '--format=%(refname)',
        `--no-merged=${onto}`,
        below,
      ]);
      return stdout.toString('utf8').split('\n').filter(Boolean);
    },
    ahead: (branch) => ahead(site, branch),
    unpushedLinks: (branch) => unpushedLinks((args) => ask(site, args), site.cwd, `refs/heads/${branch}`),
    move: async (ref, { from, to, why }) =>
      movedBy(await ask(site, ['update-ref', '-m', why, ref, to, from])),
  };
}

function ask({ cwd, env }: Site, args: string[], input?: Uint8Array): Promise<GitResult> {
  return git({ args: ['-c', 'core.fsmonitor=false', ...args], cwd, env, ...(input && { input }) });
}

/** Read from git's files: the main work tree and the linked ones, in a rebase the branch it is about. */
export function checkouts(commonDir: string, ref: string): Checkout[] {
  const found: Checkout[] = [];
  const look = (gitDir: string, root: string | null) => {
    if (root === null || !existsSync(root)) return;
    const names = ['HEAD', 'rebase-merge/head-name', 'rebase-apply/head-name'];
    const heads = names.map((name) => textOf(join(gitDir, name)).trim());
    if (heads.some((head) => head === ref || head === `ref: ${ref}`))
      found.push({ root, unfinished: unfinishedOperation(gitDir) });
  };
  look(commonDir, basename(commonDir) === '.git' ? dirname(commonDir) : null);
  const linked = join(commonDir, 'worktrees');
  for (const name of existsSync(linked) ? readdirSync(linked) : []) {
    const dotGit = textOf(join(linked, name, 'gitdir')).trim();
    look(join(linked, name), dotGit === '' ? null : dirname(dotGit));
  }
  return found;
}

const STATUS = ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'];

async function standing(site: Site, root: string): ReturnType<Integration['standing']> {
  const gitDir = gitDirIn(site, root);
  if (gitDir === null) return null;
  const { branch } = await readHead({ root, gitDir, commonDir: site.commonDir }, site.env);
  const result = await ask({ ...site, cwd: root }, STATUS);
  const paths = result.stdout.toString('utf8').split('\0').filter(Boolean);
  const dirty = result.code === 0 ? paths.map((line) => line.slice(3)) : [result.stderr.trim()];
  return { branch, unfinished: unfinishedOperation(gitDir), dirty };
}

/** The git folder of a work tree of this repository; null where there is none any more. */
function gitDirIn({ commonDir }: Site, root: string): string | null {
  const text = textOf(join(root, '.git'));
  const [, named] = /^gitdir: (.+?)\r?\n?$/s.exec(text) ?? [];
  const gitDir = named ?? join(root, '.git');
  if (!existsSync(join(gitDir, 'HEAD'))) return null;
  return named === undefined || realpathSync(dirname(dirname(gitDir))) === realpathSync(commonDir)
    ? gitDir
    : null;
}

/** What the user's configuration could change about the text that is read. */
const PLAIN = ['--text', '--no-show-signature', '--no-color', '--no-ext-diff', '--no-textconv', ...WHOLE];
const DIFF = ['--src-prefix=a/', '--dst-prefix=b/', '--inter-hunk-context=0', '-U0', '--submodule=short'];

async function entering(
  site: Site,
  { base, tip, largerThan }: { base: string; tip: string; largerThan: number },
): Promise<Entering | string> {
  const settings = ['-c', 'core.quotePath=false', '-c', 'log.showRoot=true'];
  const format = ['--format=%x00%H %P', '--raw', '--no-abbrev', '-p', '-c', ...PLAIN, ...DIFF];
  const args = [...settings, 'log', ...format, tip, `^${base}`, '--'];
  let text: EnteringText;
  try {
    const result = await git({ args, cwd: site.cwd, env: site.env, maxBytes: MOST_BYTES });
    if (result.code !== 0) return reasonOf(result);
    text = readEntering(result.stdout.toString('utf8'));
  } catch (error) {
    if (error instanceof Problem && error.facts.code === 'git.output_too_large')
      return `its commits add more than ${MOST_BYTES / 1024 / 1024} MiB of text, too much to look through for keys and tokens`;
    throw error;
  }
  return { ...text, large: await larger(site, text.blobs, largerThan) };
}

async function larger(site: Site, blobs: Map<string, string>, than: number): Promise<Entering['large']> {
  if (blobs.size === 0) return [];
  const input = Buffer.from([...blobs.keys()].map((id) => `${id}\n`).join(''));
  const { stdout } = await ask(site, ['cat-file', '--batch-check=%(objectname) %(objectsize)'], input);
  return stdout
    .toString('latin1')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, size]) => Number(size) > than)
    .map(([id, size]) => ({ path: blobs.get(id!) ?? id!, bytes: Number(size) }));
}

async function mergeTrees(site: Site, base: string, tip: string): Promise<MergedTrees> {
  const result = await mergeTree(site, base, tip);
  if (result.code === 0) return { kind: 'tree', id: result.stdout.toString('latin1').split('\0')[0]!.trim() };
  if (result.code === 1 && result.stdout.length > 0) {
    const { files, beyond } = readDraft(result.stdout.toString('utf8'));
    return { kind: 'conflict', files: files.map(({ path }) => path), beyond };
  }
  // Before 2.38 it is another command of the same name.
  return result.code === 129 ? { kind: 'old_git' } : { kind: 'failed', why: reasonOf(result) };
}

async function drafted(site: Site, base: string, tip: string): Promise<Draft | null> {
  const result = await mergeTree(site, base, tip, ['-c', 'merge.conflictStyle=diff3']);
  return result.code === 1 && result.stdout.length > 0 ? readDraft(result.stdout.toString('utf8')) : null;
}

const mergeTree = (site: Site, base: string, tip: string, settings: readonly string[] = []) =>
  ask(site, [...settings, 'merge-tree', '--write-tree', '--messages', '-z', base, tip]);

async function differing(site: Site, one: string, other: string): Promise<Differing[]> {
  const { stdout } = await ask(site, ['diff-tree', '-r', '-z', '--raw', ...WHOLE, one, other]);
  const parts = stdout.toString('utf8').split('\0').filter(Boolean);
  return parts.flatMap((row, n) => {
    if (n % 2 === 1) return [];
    const [before, after] = row.slice(1).split(' ');
    return [{ path: parts[n + 1]!, sameMode: before === after }];
  });
}

const NO_TEXT = { code: 1, stdout: Buffer.alloc(0) };

async function textIn(site: Site, commit: string, path: string): Promise<string | null> {
  const args = ['cat-file', 'blob', `${commit}:${path}`];
  const { code, stdout } = await git({ args, cwd: site.cwd, env: site.env, maxBytes: MOST_TEXT_BYTES }).catch(
    (error: unknown) => {
      if (error instanceof Problem && error.facts.code === 'git.output_too_large') return NO_TEXT;
      throw error;
    },
  );
  // No other reading tells one byte that is not UTF-8 from another.
  return code !== 0 || stdout.includes(0) ? null : stdout.toString('latin1');
}

async function blobsIn(site: Site, commit: string, paths: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  if (paths.length === 0) return found;
  const wanted = new Set(paths);
  const { stdout } = await ask(site, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  for (const line of stdout.toString('utf8').split('\0')) {
    const [, mode, oid, path] = /^(\d{6}) [a-z]+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    if (path !== undefined && wanted.has(path)) found.set(path, blobId(mode!, oid!));
  }
  return found;
}

async function mergeIn(
  site: Site,
  { root, other, message }: { root: string; other: string; message: string },
): Promise<MergedTrees> {
  const there = { ...site, cwd: root };
  const merged = await git({
    args: ['merge', '--no-ff', '--no-edit', '--no-autostash', '-q', '-m', message, other],
    cwd: root,
    env: site.env,
    runsForeignCode: true,
  });
  const gitDir = gitDirIn(site, root)!;
  const { head } = await readHead({ root, gitDir, commonDir: site.commonDir }, site.env);
  if (merged.code === 0 && head !== null) return { kind: 'tree', id: head };
  const unmerged = await ask(there, ['diff', '--name-only', '--diff-filter=U', '-z']);
  const files = unmerged.stdout.toString('utf8').split('\0').filter(Boolean);
  // Nothing was uncommitted there, so what goes is only what this merge made.
  if (unfinishedOperation(gitDir) === 'merge') await ask(there, ['merge', '--abort']);
  if (files.length > 0) return { kind: 'conflict', files, beyond: [] };
  // Of a conflict that is no file's git speaks where it tells its progress.
  const said = merged.stderr.trim() === '' ? merged.stdout.toString('utf8') : merged.stderr;
  return { kind: 'failed', why: reasonOf({ ...merged, stderr: said }) };
}

async function commit(
  site: Site,
  { tree, parents, message }: { tree: string; parents: string[]; message: string },
): ReturnType<Integration['commit']> {
  const sign = signsCommits({ root: site.cwd, commonDir: site.commonDir }, site.env) ? ['-S'] : [];
  const result = await git({
    args: ['commit-tree', ...sign, tree, ...parents.flatMap((parent) => ['-p', parent])],
    cwd: site.cwd,
    env: site.env,
    input: Buffer.from(message),
    runsForeignCode: true,
  });
  const id = result.stdout.toString('latin1').trim();
  return result.code === 0 && id !== '' ? { commit: id } : { failed: reasonOf(result) };
}

async function forward(
  { env, marker }: Site,
  { root, to, why }: { root: string; to: string; why: string },
): Promise<Moved> {
  const { GIT_OPTIONAL_LOCKS: _ours, ...users } = env;
  const call = {
    args: ['merge', '--ff-only', '--no-overwrite-ignore', '--no-autostash', '--no-stat', '-q', to],
    cwd: root,
    env: { ...users, GIT_REFLOG_ACTION: why, ...(marker === undefined ? {} : { RALPH_MARKER: marker }) },
    runsForeignCode: true,
  };
  const until = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    const result = await git(call);
    if (result.code === 0) return movedBy(result);
    if (!/index\.lock/.test(result.stderr) || Date.now() > until) {
      // Git enters the files before it moves the branch, and leaves them where a hook, or a rival, forbids that.
      await git({ ...call, args: ['read-tree', '-m', '-u', to, 'HEAD'] });
      return movedBy(result);
    }
    await sleep(LOCK_POLL_MS);
  }
}

function movedBy(result: GitResult): Moved {
  if (result.code === 0) return { kind: 'moved' };
  // In every language git sets the names of files in by a tab.
  const files = [...result.stderr.matchAll(/^\t(.+)$/gm)].map(([, path]) => path!);
  return { kind: 'failed', why: reasonOf(result), files };
}

function reasonOf({ stderr, code }: GitResult): string {
  // It ends a sentence of ours.
  return endOf(stderr.trim(), 2_000).replace(/\.+$/, '') || `git ended with code ${code}`;
}

async function ahead(site: Site, branch: string): ReturnType<Integration['ahead']> {
  const { entries } = configEntries(textOf(join(site.commonDir, 'config')));
  if (!entries.some(({ name }) => name === `branch.${branch}.merge`)) return null;
  const format = '--format=%(upstream:short) %(upstream:track,nobracket)';
  const { stdout } = await ask(site, ['for-each-ref', format, `refs/heads/${branch}`]);
  const [, upstream, commits] = /^(\S+) ahead (\d+)/.exec(stdout.toString('utf8')) ?? [];
  return upstream === undefined ? null : { upstream, commits: Number(commits) };
}
