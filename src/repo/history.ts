/** Questions to the user's history. They read; only `keepCommit` writes, and only below refs/ralph/. */
import { type CommitPlace, Problem, shellWord } from '../core/index.ts';
import type { GitPlace } from './commit.ts';
import { type GitResult, git, gitProblem } from './git.ts';
import { lackingIn } from './lacking.ts';
import { pathText } from './paths.ts';

const MAX_COMMITS = 1_000;

function ask(place: GitPlace, args: string[]): Promise<GitResult> {
  return git({ args: ['-c', 'core.fsmonitor=false', ...args], cwd: place.root, env: place.userEnv });
}

/** The same, by the shell that stays: for what every start asks. */
async function askCheaply(place: GitPlace, args: string[]): Promise<Pick<GitResult, 'code' | 'stdout'>> {
  const line = ['git', '-c', 'core.fsmonitor=false', ...args].map(shellWord).join(' ');
  return (await place.shell?.run([line])) ?? (await ask(place, args));
}

/**
 * Commits reachable from `to` and not from `from`, oldest first, the newest 1,000. When `from` is not
 * known any more, only `to` can be named.
 */
export async function commitsBetween(
  place: GitPlace,
  from: string | null,
  to: string | null,
): Promise<string[]> {
  if (to === null || from === to) return [];
  const range = from === null ? [to] : [to, `^${from}`];
  const result = await ask(place, ['rev-list', '--reverse', `--max-count=${MAX_COMMITS}`, ...range, '--']);
  if (result.code !== 0) return [to];
  return result.stdout.toString('latin1').split('\n').filter(Boolean);
}

/** True when `of` is `ancestor` or descends from it. Before the first commit is an ancestor of all. */
export async function isAncestor(
  place: GitPlace,
  ancestor: string | null,
  of: string | null,
): Promise<boolean> {
  if (ancestor === null || ancestor === of) return true;
  if (of === null) return false;
  // 1: it is not. 128: one of them is gone, so no history leads there.
  return (await ask(place, ['merge-base', '--is-ancestor', ancestor, of])).code === 0;
}

/** True when one of these is the commit or descends from it; those that are gone by now hold nothing. */
export async function isHeldBy(place: GitPlace, commit: string, tips: readonly string[]): Promise<boolean> {
  const input = Buffer.from(`${[commit, ...tips.map((tip) => `^${tip}`)].join('\n')}\n`);
  const args = ['-c', 'core.fsmonitor=false', 'rev-list', '--ignore-missing', '--max-count=1', '--stdin'];
  const { code, stdout } = await git({ args, cwd: place.root, env: place.userEnv, input });
  return code !== 0 || stdout.length === 0;
}

/** Those of the commits that HEAD does not reach, under this id or with the same patch under another. */
export function missingCommits(place: GitPlace, commits: readonly string[]): Promise<string[]> {
  const answer = (args: string[], input?: Uint8Array) =>
    git({
      args: ['-c', 'core.fsmonitor=false', ...args],
      cwd: place.root,
      env: place.userEnv,
      ...(input && { input }),
    });
  return lackingIn(answer, commits, ['HEAD']);
}

/**
 * Where commits lie that somebody named: in the history of `since`, or elsewhere. What is no commit here, or
 * fits several, is missing. Nothing is fetched from another repository.
 */
export async function commitPlaces(
  place: GitPlace,
  ids: readonly string[],
  since: string | null,
): Promise<Map<string, CommitPlace>> {
  const places = new Map<string, CommitPlace>();
  const asked = ids.filter((id) => /^[0-9a-f]{7,64}$/.test(id));
  if (asked.length === 0) return places;
  const { code, stdout } = await git({
    args: ['cat-file', '--batch-check=%(objectname)'],
    cwd: place.root,
    env: { ...place.userEnv, GIT_NO_LAZY_FETCH: '1' },
    input: Buffer.from(asked.map((id) => `${id}^{commit}\n`).join('')),
  });
  if (code !== 0) return places;
  const lines = stdout.toString('latin1').split('\n');
  for (const [index, id] of asked.entries()) {
    const whole = lines[index] ?? '';
    if (!/^[0-9a-f]{40,64}$/.test(whole)) continue;
    const old = since !== null && (await isAncestor(place, whole, since));
    places.set(id, old ? 'before' : 'aside');
  }
  return places;
}

/** Keeps a commit of the user's repository from being pruned, also where the work tree is gone. */
export async function keepCommit(place: GitPlace, commit: string, ref: string): Promise<void> {
  const shared = { ...place, root: place.commonDir };
  const result = await ask(shared, ['update-ref', ref, commit]);
  if (result.code === 0) return;
  // Another repository stands in the place of the one that had it: there is nothing to keep.
  if ((await ask(shared, ['cat-file', '-e', `${commit}^{commit}`])).code !== 0) return;
  const { facts } = gitProblem(`keep the commit ${commit.slice(0, 12)} under ${ref}`, result);
  throw new Problem({ ...facts, code: 'git.keep_failed' });
}

/**
 * The newest commit of HEAD's history without `from`'s whose message holds each of these lines, with the
 * paths it changed against its first parent.
 */
export async function commitSaying(
  place: GitPlace,
  from: string | null,
  lines: readonly string[],
): Promise<{ commit: string; paths: string[] } | null> {
  const range = from === null ? ['HEAD'] : ['HEAD', `^${from}`];
  const options = ['--no-show-signature', '--format=%H%n%B', '-z', `--max-count=${MAX_COMMITS}`];
  const found = await ask(place, ['log', ...options, ...range, '--']);
  if (found.code !== 0) return null;
  for (const entry of found.stdout.toString('utf8').split('\0')) {
    const [commit = '', ...message] = entry.trimStart().split('\n');
    if (lines.every((line) => message.includes(line))) return { commit, paths: await pathsOf(place, commit) };
  }
  return null;
}

async function pathsOf(place: GitPlace, commit: string): Promise<string[]> {
  const options = [
    '--no-show-signature',
    '--format=',
    '--name-only',
    '--no-renames',
    '-z',
    '-m',
    '--first-parent',
  ];
  const { stdout } = await ask(place, ['show', ...options, commit, '--']);
  const paths: string[] = [];
  for (let at = 0, end = stdout.indexOf(0); end !== -1; at = end + 1, end = stdout.indexOf(0, at)) {
    if (end > at) paths.push(pathText(stdout.subarray(at, end)));
  }
  return paths;
}

const EMPTY_TREE = {
  20: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  32: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

/** Paths that are staged: what the user's index says and this tree does not. */
export async function stagedPaths(place: GitPlace, tree: string): Promise<string[]> {
  const options = ['--cached', '--name-only', '-z', '--no-renames', '--ignore-submodules=dirty'];
  const result = await ask(place, ['diff-index', ...options, tree, '--']);
  if (result.code !== 0) throw gitProblem('tell which files are staged', result);
  const paths: string[] = [];
  for (let at = 0; at < result.stdout.length; ) {
    const end = result.stdout.indexOf(0, at);
    if (end === -1) break;
    paths.push(pathText(result.stdout.subarray(at, end)));
    at = end + 1;
  }
  return paths;
}

/** The last commits, newest first: the subject of each, and the tree of the first. */
export async function recentHistory(
  place: GitPlace,
  count: number,
): Promise<{ tree: string; subjects: string[] }> {
  const options = [
    '--no-show-signature',
    '--no-color',
    '--format=%T %s',
    '-z',
    '-n',
    String(Math.max(1, count)),
  ];
  const result = await askCheaply(place, ['log', ...options]);
  // An unborn branch has no log; git knows the empty tree without an object.
  if (result.code !== 0) return { tree: EMPTY_TREE[place.oidBytes], subjects: [] };
  const lines = result.stdout.toString('utf8').split('\0').filter(Boolean);
  const subjects = lines.map((line) => line.slice(line.indexOf(' ') + 1));
  return { tree: lines[0]?.split(' ')[0] ?? EMPTY_TREE[place.oidBytes], subjects: subjects.slice(0, count) };
}
