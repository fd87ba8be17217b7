/**
 * The content of everything git does not ignore, as a tree id: `git add -A` and `git write-tree` on a
 * private index that stays warm from one snapshot to the next.
 *
 * The index starts as the user's (its stat data saves reading every file) with three differences:
 * excluded paths are left out, marks that hide changes are cleared, and its time is set back so that
 * git re-reads what was written in the same second. It is taken again only when other paths became
 * tracked (an ignored file added by force, say), never for a mere refresh.
 */
import { existsSync, linkSync, lstatSync, rmSync, statSync } from 'node:fs';
import { copyFile, rename, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Change, endOf, Problem, shellWord } from '../core/index.ts';
import { blobId } from './blob-id.ts';
import { type GitResult, git, gitProblem } from './git.ts';
import { absolutePath, pathBytes, pathText } from './paths.ts';
import { everything, note, type Place, PRIVATE_OPTIONS } from './place.ts';
import { entryCount, type PrivateIndex, privateIndex } from './private-index.ts';
import type { RootTree } from './root-tree.ts';
import type { Shell } from './shell.ts';
import { stampOf } from './stamp.ts';

/** What is known of the user's index, so that it is read again only when it was written. */
export interface Warmth {
  stamp: string;
  tracked: string;
  /** How many entries the user's index has; null: not known. */
  entries: number | null;
  /** Paths whose changes the user told git to overlook. */
  hidden: string[];
  /** The tree that the user's index stands for; null: not known. */
  staged: string | null;
}

/** A look at a file on a local disk takes some microseconds, over a network some hundred. */
const QUICK_US = 60;

/** Runs git with our index and objects on the user's folder. */
export function privateGit(place: Place, args: string[], env = place.privateEnv): Promise<GitResult> {
  return git({ args: privateArgs(place, args), cwd: place.root, env });
}

function privateArgs(place: Place, args: string[]): string[] {
  const threads = place.quickFiles ? ['-c', 'core.preloadIndex=false'] : [];
  return [...PRIVATE_OPTIONS, ...threads, ...args];
}

/** The same call as a shell has it. */
function shellLine(place: Place, args: string[]): string {
  return ['git', ...privateArgs(place, args)].map(shellWord).join(' ');
}

/** The name of an index that is not there: git then reads none. */
function noIndex(place: Place): string {
  return `${place.indexFile}.none`;
}

/** Brings the private index in line with what the user tracks. Cheap when nothing was written. */
export async function warmIndex(place: Place, warmth: Warmth): Promise<Warmth> {
  const source = place.gitDir === null ? place.indexFile : join(place.gitDir, 'index');
  const stamp = stampOf(source);
  if (warmth.stamp !== '' && (place.gitDir === null || warmth.stamp === stamp)) return warmth;
  if (stamp === 'none') {
    if (place.gitDir !== null) await rm(place.indexFile, { force: true });
    return { stamp, tracked: 'none', entries: null, hidden: [], staged: null };
  }
  const wish = {
    from: source,
    to: `${place.indexFile}.new`,
    oidBytes: place.oidBytes,
    excluded: place.excluded.map(pathBytes),
    present: (name: Buffer) => isPresent(place, name),
  };
  const first = warmth.stamp === '';
  // With other paths in it, it is taken again in any case; mostly a commit of ours put them there.
  const others = first || entryCount(source) !== warmth.entries;
  const seen = others ? null : privateIndex({ ...wish, to: null });
  if (seen !== null && seen.tracked === warmth.tracked) return { ...warmth, ...known(seen), stamp };
  const ours = privateIndex({ ...wish, root: first ? await headTree(place) : null });
  if (ours === null) return copyWhole(place, source, stamp);
  if (first) place.quickFiles = isQuick(place, ours.sample);
  const seconds = Math.floor(statSync(source).mtimeMs / 1000);
  await utimes(wish.to, seconds, seconds);
  await rename(wish.to, place.indexFile);
  if (ours.made !== null) noteTreed(place, ours.made);
  return { ...known(ours), stamp };
}

/** The tree of HEAD as an object; null without one, and where no shell stays that could ask cheaply. */
async function headTree(place: Place): Promise<RootTree | null> {
  if (place.gitDir === null || place.shell === null) return null;
  const told = await place.shell.run([shellLine(place, ['cat-file', 'tree', 'HEAD^{tree}'])]);
  if (told?.code !== 0) return null;
  return { content: told.stdout, objects: place.privateEnv.GIT_OBJECT_DIRECTORY! };
}

function known({ tracked, entries, staged, hidden }: PrivateIndex): Omit<Warmth, 'stamp'> {
  return { tracked, entries, staged, hidden: hidden.map(pathText) };
}

/**
 * Looks at some files and tells whether that was quick, as on a local disk. On a network drive each look waits,
 * and git's threads wait side by side; here they cost half as much again as the looking.
 */
function isQuick(place: Place, sample: readonly Buffer[]): boolean {
  const from = process.hrtime.bigint();
  for (const name of sample) isPresent(place, name);
  return Number(process.hrtime.bigint() - from) / 1000 <= sample.length * QUICK_US;
}

function isPresent(place: Place, name: Buffer): boolean {
  try {
    return lstatSync(absolutePath(place.root, pathText(name)), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a folder on the way became a file, or may not be entered
  }
}

/** Split, sparse or unknown index: git reads it itself, and drops our excluded paths with one process. */
async function copyWhole(place: Place, source: string, stamp: string): Promise<Warmth> {
  await copyFile(source, place.indexFile);
  const seconds = Math.floor(statSync(source).mtimeMs / 1000);
  await utimes(place.indexFile, seconds, seconds);
  const args = [
    '--literal-pathspecs',
    'rm',
    '-r',
    '-f',
    '-q',
    '--cached',
    '--sparse',
    '--ignore-unmatch',
    '--',
  ];
  const removed = await privateGit(place, [...args, ...place.excluded]);
  // A torn index: every file is read anew instead.
  if (removed.code !== 0) await rm(place.indexFile, { force: true });
  return { stamp, tracked: stamp, entries: null, hidden: [], staged: null };
}

/** Options of a comparison: exact, by path, and nothing of the user's runs. */
const RAW_DIFF = [
  '-r',
  '-z',
  '--raw',
  '--no-renames',
  '--no-abbrev',
  '--no-ext-diff',
  '--ignore-submodules=none',
];

/**
 * Adds the whole ground to the private index and answers its tree. At most three processes: the comparison with an
 * earlier tree is nearly always the next question, so it is asked along.
 */
export async function takeTree(place: Place, since: string | null): Promise<string> {
  const taken = place.shell === null ? null : await takeInOneGo(place, place.shell, since);
  if (taken !== null) return taken;
  // Something is odd here, and the single commands find out what it is.
  place.shell = null;
  return takeSlowly(place);
}

/** Null when any of the commands did not go well. */
async function takeInOneGo(place: Place, shell: Shell, since: string | null): Promise<string | null> {
  const lines = [
    `${shellLine(place, addArgs(place))}; added=$?; [ $added -le 1 ] || exit 2`,
    `if ${isTreed(place)}; then tree=${place.treed}; else tree=$(${shellLine(place, ['write-tree'])}) || exit 2; fi`,
    'echo "$added $tree"',
  ];
  if (since !== null) {
    const compare = shellLine(place, ['diff-tree', ...RAW_DIFF, since]);
    lines.push(`[ "$tree" = ${since} ] || GIT_INDEX_FILE=${shellWord(noIndex(place))} ${compare} "$tree" --`);
  }
  const result = await shell.run(lines);
  const end = result?.stdout.indexOf(0x0a) ?? -1;
  if (result?.code !== 0 || end === -1) return null;
  const [added, tree] = result.stdout.toString('latin1', 0, end).split(' ') as [string, string];
  if (added !== '0') {
    if (SPARSE.test(result.stderr) || NO_WRITING.test(result.stderr)) return null;
    noteSkipped(place, result.stderr);
  }
  if (since !== null) place.compared = { before: since, after: tree, raw: result.stdout.subarray(end + 1) };
  noteTreed(place, tree);
  return tree;
}

/** The index that `place.treed` is the tree of, under a second name. */
const treedFile = ({ indexFile }: Place): string => join(dirname(indexFile), `treed.${basename(indexFile)}`);

/** As a shell asks it: git puts a new index in place where anything is different, and leaves the old one else. */
function isTreed(place: Place): string {
  return place.treed === null
    ? 'false'
    : `[ ${shellWord(place.indexFile)} -ef ${shellWord(treedFile(place))} ]`;
}

function noteTreed(place: Place, tree: string): void {
  const file = treedFile(place);
  try {
    if (place.treed === tree && isOneFile(place.indexFile, file)) return;
    place.treed = null;
    rmSync(file, { force: true });
    if (!isOurs(place, tree)) return;
    linkSync(place.indexFile, file);
    place.treed = tree;
  } catch {
    // A file system without second names: the tree is written anew each time.
  }
}

/** A tree that only the user's objects hold can be pruned, which writing it would show. */
function isOurs({ privateEnv }: Place, tree: string): boolean {
  return existsSync(join(privateEnv.GIT_OBJECT_DIRECTORY!, tree.slice(0, 2), tree.slice(2)));
}

function isOneFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

async function takeSlowly(place: Place): Promise<string> {
  await addAll(place);
  const written = await privateGit(place, ['write-tree']);
  if (written.code === 0) return written.stdout.toString('latin1').trim();
  if (!/invalid object|error building trees|unable to read/.test(written.stderr)) {
    throw gitProblem('write the snapshot tree', written);
  }
  // Someone pruned objects that only our index still named; the files are here, so read them all again.
  await rm(place.indexFile, { force: true });
  await addAll(place);
  const again = await privateGit(place, ['write-tree']);
  if (again.code !== 0) throw gitProblem('write the snapshot tree', again);
  return again.stdout.toString('latin1').trim();
}

function addArgs(place: Place): string[] {
  return ['add', '-A', '--ignore-errors', '--no-warn-embedded-repo', '--', ...everything(place)];
}

const SPARSE = /sparse-checkout/;
const NO_WRITING = /No space left|unable to write|Read-only/;

async function addAll(place: Place): Promise<void> {
  const args = addArgs(place);
  let added = await privateGit(place, args);
  if (added.code > 1 && /index file|bad signature|bad index|index uses/.test(added.stderr)) {
    await rm(place.indexFile, { force: true });
    added = await privateGit(place, args);
  }
  if (added.code === 1 && SPARSE.test(added.stderr)) {
    added = await privateGit(place, args.toSpliced(2, 0, '--sparse'));
  }
  if (added.code === 0) return;
  if (added.code !== 1 || NO_WRITING.test(added.stderr)) {
    throw gitProblem('take a snapshot of the work tree', added);
  }
  noteSkipped(place, added.stderr);
}

/** Exit code 1 with `--ignore-errors`: everything else was added. */
function noteSkipped(place: Place, stderr: string): void {
  for (const line of stderr.split('\n')) {
    const unborn = /^error: '(.+?)\/?' does not have a commit checked out/.exec(line)?.[1];
    if (unborn !== undefined && place.unborn.size < 100) place.unborn.add(unborn);
    if (line.startsWith('error: ')) note(place, `Left out of the snapshot: ${line.slice('error: '.length)}`);
  }
}

/** Exact difference of two trees in git's path order; at most one process. */
export async function treeChanges(place: Place, before: string, after: string): Promise<Change[]> {
  if (before === after) return [];
  if (place.compared?.before === before && place.compared.after === after) {
    return parseRawDiff(place.compared.raw);
  }
  // Git would read the whole index first, for attributes that a raw difference has no use for.
  const env = { ...place.privateEnv, GIT_INDEX_FILE: noIndex(place) };
  const result = await privateGit(place, ['diff-tree', ...RAW_DIFF, before, after, '--'], env);
  if (result.code !== 0) {
    throw new Problem({
      code: 'ground.tree_missing',
      what: `The snapshots ${before.slice(0, 12)} and ${after.slice(0, 12)} could not be compared.`,
      why: endOf(result.stderr.trim(), 500) || `git ended with code ${result.code}.`,
      fix: 'Objects were removed or damaged (by git gc --prune=now, or in the session folder), so this session cannot compare any more. Commit or undo what `git status` shows, and begin a new one: `ralph run --new`.',
    });
  }
  return parseRawDiff(result.stdout);
}

/** Parses `--raw -z` output: `:mode mode id id status NUL path NUL`, repeated. */
export function parseRawDiff(bytes: Buffer): Change[] {
  const changes: Change[] = [];
  for (let at = 0; at < bytes.length; ) {
    const headEnd = bytes.indexOf(0, at);
    const pathEnd = headEnd === -1 ? -1 : bytes.indexOf(0, headEnd + 1);
    const head = bytes.toString('latin1', at, Math.max(headEnd, at));
    const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*$/.exec(head);
    if (pathEnd === -1 || match === null) throw new Error(`git diff-tree gave an unknown line: ${head}`);
    const [, modeBefore, modeAfter, before, after] = match;
    changes.push({
      path: pathText(bytes.subarray(headEnd + 1, pathEnd)),
      before: modeBefore === '000000' ? null : blobId(modeBefore!, before!),
      after: modeAfter === '000000' ? null : blobId(modeAfter!, after!),
    });
    at = pathEnd + 1;
  }
  return changes;
}
