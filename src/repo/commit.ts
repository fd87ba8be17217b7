/**
 * One commit of exactly the named paths, by `git commit --only`: hooks and signing run as for the user,
 * other staged files stay staged, and git itself keeps HEAD and index together if we are killed. Paths
 * git does not know yet are announced first (`git add -N`); when the commit fails that is undone to the
 * byte, provided nobody else wrote the index meanwhile.
 */

import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, pathWord } from '../core/index.ts';
import type { CommitRequest, CommitResult } from '../engine/index.ts';
import { blobId } from './blob-id.ts';
import { currentBlobs, lstatOrNull } from './content.ts';
import { type GitResult, git } from './git.ts';
import { readHead } from './head.ts';
import { hooksRun } from './hooks.ts';
import { foldersAbove, isInside, isPlainText, nulList, pathText } from './paths.ts';
import type { Place } from './place.ts';
import { strayWorktree } from './worktree.ts';

/** A place in a repository; the other kind cannot commit. */
export type GitPlace = Place & { gitDir: string; commonDir: string };

const REASON_BYTES = 4_000;
const LOCK_POLL_MS = 200;

/** The place during one commit: every git call of it carries the marker and ends with the signal. */
type Committing = GitPlace & { signal: AbortSignal | undefined };

/**
 * Commits what differs from HEAD among the paths. Ignored, outside and unchanged ones are skipped, and so
 * is a repository inside this one that git does not track; the answer's paths are those of the commit.
 */
export async function commitPaths(place: GitPlace, request: CommitRequest): Promise<CommitResult> {
  const mark = request.marker === undefined ? {} : { RALPH_MARKER: request.marker };
  const committing = { ...place, userEnv: { ...place.userEnv, ...mark }, signal: request.signal };
  const result = await attempt(committing, request);
  if (result.kind !== 'failed' || !request.signal?.aborted) return result;
  return { kind: 'failed', reason: 'the commit was interrupted' };
}

async function attempt(place: Committing, request: CommitRequest): Promise<CommitResult> {
  const stray = strayWorktree(place);
  if (stray !== null) return { kind: 'failed', reason: stray };
  if (!(await indexIsFree(place, place.signal))) return { kind: 'failed', reason: lockReason(place) };
  await withdraw(place);
  const wanted = new Set(request.paths.filter(isInside));
  if (wanted.size === 0) return { kind: 'nothing' };
  const status = await statusOf(place, wanted);
  if (typeof status === 'string') return { kind: 'failed', reason: status };
  if (status.unmerged.length > 0) {
    return {
      kind: 'failed',
      reason: `Unmerged paths: ${status.unmerged.slice(0, 20).map(pathWord).join(', ')}`,
    };
  }
  const differing = await differingFromHead(place, status);
  const chosen = await withoutDisplaced(place, differing);
  if (typeof chosen === 'string') return { kind: 'failed', reason: chosen };
  if (chosen.length === 0) return { kind: 'nothing' };
  const unknown = chosen.filter((path) => status.untracked.has(path) && !status.tracked.has(path));
  return carryOut(place, { message: request.message, chosen, unknown, paths: differing });
}

interface Tracked {
  /** Blob id in HEAD; null when HEAD lacks the path. */
  head: string | null;
  /** True when index and HEAD differ, and index and work tree too: only the content can tell. */
  unclear: boolean;
  /** Absent from both HEAD and work tree, though staged. */
  gone: boolean;
}

interface Status {
  tracked: Map<string, Tracked>;
  untracked: Set<string>;
  unmerged: string[];
}

const PATHSPEC_LIMIT = 200;

async function statusOf(place: Committing, wanted: Set<string>): Promise<Status | string> {
  const named = wanted.size <= PATHSPEC_LIMIT && [...wanted].every(isPlainText) ? [...wanted] : [];
  const options = [
    '--porcelain=v2',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    '--ignore-submodules=dirty',
  ];
  // A look writes no index, so it need not run the user's file system monitor.
  const args = ['-c', 'core.fsmonitor=false', '--literal-pathspecs', 'status', ...options, '--', ...named];
  const call = { args, cwd: place.root, env: place.userEnv, signal: place.signal, runsForeignCode: true };
  const result = await git(call);
  return result.code === 0 ? parseStatus(result.stdout, wanted) : reasonOf(result);
}

/** Reads `status --porcelain=v2 -z --no-renames`, keeping the wanted paths. */
export function parseStatus(bytes: Buffer, wanted: Set<string>): Status {
  const status: Status = { tracked: new Map(), untracked: new Set(), unmerged: [] };
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    if (end === -1) break;
    const line = bytes.subarray(at, end);
    at = end + 1;
    const fields = { '1': 8, u: 10, '?': 1 }[String.fromCharCode(line[0] ?? 0)];
    if (fields === undefined) continue;
    const parts = line.toString('latin1').split(' ', fields);
    const path = pathText(line.subarray(parts.join(' ').length + 1));
    if (!wanted.has(path)) continue;
    if (parts[0] === '?') status.untracked.add(path);
    else if (parts[0] === 'u') status.unmerged.push(path);
    else status.tracked.set(path, trackedOf(parts));
  }
  return status;
}

function trackedOf(parts: string[]): Tracked {
  const [, states, , modeHead, , modeWork, oidHead] = parts;
  const head = modeHead === '000000' ? null : blobId(modeHead!, oidHead!);
  return {
    head,
    unclear: states![0] !== '.' && states![1] !== '.',
    gone: head === null && modeWork === '000000',
  };
}

async function differingFromHead(place: GitPlace, status: Status): Promise<string[]> {
  const doubtful = [...status.tracked].filter(([path, { unclear }]) => unclear || status.untracked.has(path));
  const now = await currentBlobs(
    place,
    doubtful.map(([path]) => path),
  );
  const same = new Set(doubtful.filter(([path, { head }]) => now.get(path) === head).map(([path]) => path));
  const tracked = [...status.tracked].filter(([path, { gone }]) => !gone && !same.has(path));
  const untracked = [...status.untracked].filter((path) => !status.tracked.has(path));
  return [...tracked.map(([path]) => path), ...untracked].sort();
}

/**
 * A path whose place a folder, or a parent's place a file, has taken leaves the index by itself when the
 * newcomer enters it; named to git, it would mean everything below it or something behind a link.
 */
async function withoutDisplaced(place: GitPlace, paths: readonly string[]): Promise<string[] | string> {
  const chosen = new Set(paths);
  const kept: string[] = [];
  for (const path of paths) {
    const found = lstatOrNull(place.root, path);
    const nested = found?.isDirectory() === true && existsSync(join(place.root, path, '.git'));
    const blocked = await firstNonFolder(place, path);
    const displaced = (found?.isDirectory() === true && !nested) || (found !== null && blocked !== null);
    if (!displaced) {
      // Its parent became a file that is committed too: removed with it.
      if (blocked === null || !chosen.has(blocked)) kept.push(path);
      continue;
    }
    const newcomer =
      blocked === null ? paths.some((other) => other.startsWith(`${path}/`)) : chosen.has(blocked);
    if (!newcomer)
      return `${pathWord(path)} was replaced by ${blocked === null || blocked === undefined ? 'a folder' : pathWord(blocked)}, which is not part of this commit.`;
  }
  return kept;
}

async function firstNonFolder(place: GitPlace, path: string): Promise<string | null> {
  for (const folder of foldersAbove(path)) {
    const found = lstatOrNull(place.root, folder);
    if (found === null) return null;
    if (!found.isDirectory()) return folder;
  }
  return null;
}

interface Plan {
  message: string;
  chosen: string[];
  unknown: string[];
  paths: string[];
}

async function carryOut(place: Committing, plan: Plan): Promise<CommitResult> {
  const before = await readHead(place, place.userEnv);
  const hooked = await hooksRun(place);
  const saved = plan.unknown.length === 0 ? null : await announce(place, plan.unknown);
  if (typeof saved === 'string') return { kind: 'failed', reason: saved };
  const result = await runCommit(place, plan);
  const { head } = await readHead(place, place.userEnv);
  const landed = head !== null && head !== before.head;
  if (landed && (result.code === 0 || (await parentOf(place, head)) === before.head)) {
    await rm(announcedFile(place), { force: true });
    const all = { from: before.head, to: head, paths: plan.paths };
    // Without a hook nothing comes between what was asked for and what is in it.
    const paths = hooked ? await landedPaths(place, all) : plan.paths;
    if (hooked) await takeIn(place, paths);
    return { kind: 'committed', commit: head, paths, hooked };
  }
  if (saved !== null) await undo(place, saved, plan.unknown);
  return { kind: 'failed', reason: reasonOf(result) };
}

async function runCommit(place: Committing, { message, chosen }: Plan): Promise<GitResult> {
  const messageFile = join(place.privateGit, 'commit.message');
  const pathsFile = join(place.privateGit, 'commit.paths');
  await writeFile(messageFile, message);
  // Not by an option: hooks would get it too, and a pattern of theirs would then find nothing.
  await writeFile(pathsFile, nulList(chosen.map((path) => `:(top,literal)${path}`)));
  const paths = [`--pathspec-from-file=${pathsFile}`, '--pathspec-file-nul'];
  const args = [...DENSE, 'commit', '-q', '--only', '--cleanup=whitespace', '-F', messageFile];
  const { GIT_OPTIONAL_LOCKS: _ours, ...env } = place.userEnv;
  return lockPatient(place, {
    args: [...args, ...paths],
    cwd: place.root,
    env,
    timeoutMs: place.commitTimeoutMs,
    runsForeignCode: true,
    signal: place.signal,
  });
}

/** Of a sparse index some git versions make a broken one where work outside of the cone comes in. */
const DENSE = ['-c', 'index.sparse=false'];

/** Another git may take the lock between our look and our call; git then ended without doing anything. */
async function lockPatient(place: Committing, call: Parameters<typeof git>[0]): Promise<GitResult> {
  const lock = join(place.gitDir, 'index.lock');
  const lockedBefore = existsSync(lock);
  const result = await git(call);
  if (result.killed !== null) {
    // A git that could still act took its locks away itself: what is there now would be another's.
    if (!lockedBefore) await rm(lock, { force: true });
    await rm(join(place.gitDir, `next-index-${result.killed}.lock`), { force: true });
  }
  if (result.code !== 128 || !result.stderr.includes('index.lock')) return result;
  return (await indexIsFree(place, place.signal)) ? git(call) : { ...result, stderr: lockReason(place) };
}

/** Hooks change what is committed, and git leaves out what is no change after its filters. */
async function landedPaths(
  place: Committing,
  { from, to, paths }: { from: string | null; to: string; paths: string[] },
): Promise<string[]> {
  const options = ['-r', '-z', '--name-only', '--no-renames', '--no-commit-id', '--ignore-submodules=none'];
  const trees = from === null ? ['--root', to] : [from, to];
  const result = await git({
    args: ['diff-tree', ...options, ...trees],
    cwd: place.root,
    env: place.userEnv,
  });
  if (result.code !== 0) return paths;
  const changed = new Set<string>();
  for (let at = 0; at < result.stdout.length; ) {
    const end = result.stdout.indexOf(0, at);
    if (end === -1) break;
    changed.add(pathText(result.stdout.subarray(at, end)));
    at = end + 1;
  }
  return paths.filter((path) => changed.has(path));
}

/**
 * `commit --only` leaves what a hook added out of the index, which then says that the commit is to be undone. Paths
 * that lie in the work tree as the commit has them are told to the index as well.
 */
async function takeIn(place: Committing, paths: readonly string[]): Promise<void> {
  const status = await statusOf(place, new Set(paths));
  if (typeof status === 'string') return;
  const unclear = [...status.tracked].filter(([, tracked]) => tracked.unclear);
  const now = await currentBlobs(
    place,
    unclear.map(([path]) => path),
  );
  const same = unclear.flatMap(([path, { head }]) => (now.get(path) === head ? [path] : []));
  if (same.length === 0) return;
  const args = [...DENSE, '--literal-pathspecs', 'add', '--pathspec-from-file=-', '--pathspec-file-nul'];
  const call = { args, cwd: place.root, env: place.userEnv, input: nulList(same), runsForeignCode: true };
  await lockPatient(place, { ...call, timeoutMs: place.commitTimeoutMs, signal: place.signal });
}

interface SavedIndex {
  /** null: there was no index file. */
  before: Buffer | null;
  mtimeMs: number;
  mode: number;
  announced: Buffer;
}

async function announce(place: Committing, unknown: string[]): Promise<SavedIndex | string> {
  const file = join(place.gitDir, 'index');
  const before = await bytesOf(file);
  await writeFile(announcedFile(place), nulList(unknown));
  const info = before === null ? null : await stat(file);
  const add = (...options: string[]) =>
    lockPatient(place, {
      args: [
        ...DENSE,
        '--literal-pathspecs',
        'add',
        '-N',
        ...options,
        '--pathspec-from-file=-',
        '--pathspec-file-nul',
      ],
      cwd: place.root,
      env: place.userEnv,
      input: nulList(unknown),
      timeoutMs: place.commitTimeoutMs,
      runsForeignCode: true,
      signal: place.signal,
    });
  let result = await add();
  // Work may lie where a sparse checkout shows nothing; an older git does not know the option.
  if (result.code !== 0 && /sparse-checkout/.test(result.stderr)) result = await add('--sparse');
  const announced = (await bytesOf(file)) ?? Buffer.alloc(0);
  const saved = { before, mtimeMs: info?.mtimeMs ?? 0, mode: info?.mode ?? 0o644, announced };
  if (result.code === 0) return saved;
  if (before === null || !before.equals(announced)) await undo(place, saved, unknown);
  else await rm(announcedFile(place), { force: true });
  return reasonOf(result);
}

/** Puts the index back to the byte; if another git wrote it meanwhile, only our announcements go. */
async function undo(place: Committing, saved: SavedIndex, unknown: string[]): Promise<void> {
  const file = join(place.gitDir, 'index');
  const lock = `${file}.lock`;
  if (!(await indexIsFree(place))) return;
  const handle = await open(lock, 'wx', saved.mode & 0o777).catch(() => null);
  if (handle === null) return;
  let foreign = false;
  try {
    foreign = (await bytesOf(file))?.equals(saved.announced) === false;
    if (!foreign && saved.before !== null) await handle.writeFile(saved.before);
  } finally {
    await handle.close();
  }
  if (foreign || saved.before === null) {
    if (!foreign) await rm(file, { force: true });
    await rm(lock, { force: true });
  } else {
    // A younger time would hide the user's writes of that second from git.
    const seconds = Math.floor(saved.mtimeMs) / 1000;
    await utimes(lock, seconds, seconds);
    await rename(lock, file);
  }
  if (foreign) {
    const args = ['update-index', '--force-remove', '-z', '--stdin'];
    await git({ args, cwd: place.root, env: place.userEnv, input: nulList(unknown) });
  }
  await rm(announcedFile(place), { force: true });
}

/** What is announced to git and not committed yet, for whoever comes after a crash. */
const announcedFile = (place: GitPlace): string => join(place.privateGit, 'announced.paths');

/**
 * Takes back what an earlier runner announced and was killed before it committed: paths that the index
 * holds by name alone. One look for a file where nothing was left.
 */
export async function withdraw(place: GitPlace): Promise<void> {
  const file = announcedFile(place);
  const bytes = await bytesOf(file);
  if (bytes === null) return;
  // A lock that a dead git left is told by the next landing; here nobody waits for it.
  if (existsSync(join(place.gitDir, 'index.lock'))) return;
  const known = new Set(pathsOf(bytes));
  const args = ['-c', 'core.fsmonitor=false', 'diff-files', '--name-only', '-z', '--diff-filter=A'];
  const named = await git({ args, cwd: place.root, env: place.userEnv });
  const left = pathsOf(named.stdout).filter((path) => known.has(path));
  if (left.length > 0) {
    const remove = ['update-index', '--force-remove', '-z', '--stdin'];
    await git({ args: remove, cwd: place.root, env: place.userEnv, input: nulList(left) });
  }
  await rm(file, { force: true });
}

function pathsOf(bytes: Buffer): string[] {
  const paths: string[] = [];
  for (let at = 0, end = bytes.indexOf(0); end !== -1; at = end + 1, end = bytes.indexOf(0, at)) {
    paths.push(pathText(bytes.subarray(at, end)));
  }
  return paths;
}

async function parentOf(place: Committing, commit: string): Promise<string | null> {
  const args = ['rev-list', '--parents', '-n', '1', commit];
  const result = await git({ args, cwd: place.root, env: place.userEnv });
  return result.stdout.toString('latin1').trim().split(' ')[1] ?? null;
}

async function indexIsFree(place: GitPlace, signal?: AbortSignal): Promise<boolean> {
  const lock = join(place.gitDir, 'index.lock');
  for (let waited = 0; existsSync(lock); waited += LOCK_POLL_MS) {
    if (waited >= place.lockWaitMs || signal?.aborted) return false;
    await sleep(Math.min(LOCK_POLL_MS, place.lockWaitMs - waited));
  }
  return true;
}

function lockReason(place: GitPlace): string {
  const lock = join(place.gitDir, 'index.lock');
  return `${lock} is still there after ${place.lockWaitMs / 1000} s: another git runs, or one crashed. Remove the file if no git runs.`;
}

function reasonOf(result: GitResult): string {
  const text = `${result.stderr.trim()}\n${result.stdout.toString('utf8').trim()}`.trim();
  return endOf(text, REASON_BYTES) || `git ended with code ${result.code} and said nothing.`;
}

async function bytesOf(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch {
    return null;
  }
}
