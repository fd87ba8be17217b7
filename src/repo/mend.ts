/**
 * What a git leaves that was killed while it moved a branch forward: lock files that nobody holds, and a work tree
 * where some files are those of the commit it was to enter, some are cut off and some are gone. All of it is put
 * back to where it began. Files are known by their content, so whatever a person changed since then stays.
 */
import { lstatSync, readFileSync, rmdirSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTable, workingFolder } from '../process/index.ts';
import { type GitResult, git } from './git.ts';
import { readHead } from './head.ts';
import { absolutePath, foldersAbove, isAtOrBelow, nulList, pathText } from './paths.ts';

/** A moved file is two paths, and a submodule counts also where the project has git say nothing of it. */
export const WHOLE = ['--no-renames', '--ignore-submodules=none'];

export interface Mending {
  /** Of the repository, and of the work tree. */
  commonDir: string;
  gitDir: string;
  root: string;
  env: Record<string, string>;
  /** The branch that moved, by its full name. */
  ref: string;
  /** The commit that was to be entered. */
  to: string;
  /** When that was said, epoch ms: locks that are older are another's. */
  since: number;
  /** For the reflog, where only the branch is left to be moved. */
  why: string;
}

/** null: nothing is left of it; else what is in the way. */
export async function mend(mending: Mending): Promise<string | null> {
  const held = await freeLocks(mending);
  if (held !== null) return held;
  const { to, root, env } = mending;
  const { head } = await readHead(mending, env);
  if (head === null || head === to || !(await isAhead(mending, head))) return null;
  const changes = await changesBetween(mending, head);
  const apart = new Set(await namesOf(mending, ['diff-index', '--cached', to]));
  if (changes.length > 0 && changes.every(({ path }) => !apart.has(path))) {
    // Git writes its index when all files are there, and the branch after that.
    await ask(mending, ['update-ref', '-m', mending.why, 'HEAD', to, head]);
    return null;
  }
  const open = changes.filter(({ path, oid, mode }) => apart.has(path) && oid !== null && mode !== '160000');
  for (const path of await enteredAmong(mending, open)) remove(root, path);
  const known = new Set(changes.map(({ path }) => path));
  const gone = (await namesOf(mending, ['diff-files', '--diff-filter=D'])).filter((path) => known.has(path));
  if (gone.length > 0)
    await ask(mending, ['checkout-index', '-q', '-f', '-u', '-z', '--stdin'], { input: nulList(gone) });
  return null;
}

function ask(
  { root, env }: Mending,
  args: string[],
  { input, index }: { input?: Uint8Array; index?: string } = {},
): Promise<GitResult> {
  return git({
    args: ['-c', 'core.fsmonitor=false', ...args],
    cwd: root,
    env: index === undefined ? env : { ...env, GIT_INDEX_FILE: index },
    ...(input && { input }),
    runsForeignCode: true,
  });
}

async function isAhead(mending: Mending, head: string): Promise<boolean> {
  return (await ask(mending, ['merge-base', '--is-ancestor', head, mending.to])).code === 0;
}

async function namesOf(mending: Mending, [command = '', ...more]: string[], index?: string) {
  const args = [command, '--name-only', ...WHOLE, '-z', ...more];
  return parts((await ask(mending, args, index === undefined ? {} : { index })).stdout).map(pathText);
}

function parts(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0, end = bytes.indexOf(0); end !== -1; at = end + 1, end = bytes.indexOf(0, at))
    found.push(bytes.subarray(at, end));
  return found;
}

interface Change {
  path: string;
  /** In the commit that was to be entered; null: it has no such file. */
  oid: string | null;
  mode: string;
}

async function changesBetween(mending: Mending, head: string): Promise<Change[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', ...WHOLE, head, mending.to];
  const read = parts((await ask(mending, args)).stdout);
  const changes: Change[] = [];
  for (let at = 0; at + 1 < read.length; at += 2) {
    const [, mode = '', , oid = ''] = read[at]!.toString('latin1').split(' ');
    changes.push({ path: pathText(read[at + 1]!), oid: /^0+$/.test(oid) ? null : oid, mode });
  }
  return changes;
}

/** Paths that hold what the commit has there, or the beginning of it. Git itself compares, by its own rules. */
async function enteredAmong(mending: Mending, open: Change[]): Promise<string[]> {
  const there = open.filter(({ path }) => standsAt(mending.root, path) !== null);
  if (there.length === 0) return [];
  const folder = await mkdtemp(join(tmpdir(), 'ralph-index-'));
  try {
    const index = join(folder, 'index');
    const entries = there.map(({ path, oid, mode }) => `${mode} ${oid}\t${path}`);
    await ask(mending, ['update-index', '-z', '--index-info'], { index, input: nulList(entries) });
    await ask(mending, ['update-index', '-q', '--refresh'], { index });
    const other = new Set(await namesOf(mending, ['diff-files'], index));
    const entered: string[] = [];
    for (const change of there)
      if (!other.has(change.path) || (await isCutOff(mending, change))) entered.push(change.path);
    return entered;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function isCutOff(mending: Mending, { path, mode }: Change): Promise<boolean> {
  const stats = standsAt(mending.root, path);
  if (!mode.startsWith('100') || stats?.isFile() !== true) return false;
  const whole = await ask(mending, ['cat-file', '--filters', `${mending.to}:${path}`]);
  if (whole.code !== 0 || stats.size >= whole.stdout.length) return false;
  return whole.stdout.subarray(0, stats.size).equals(readFileSync(absolutePath(mending.root, path)));
}

/** null: nothing, or something that a link leads to. */
function standsAt(root: string, path: string): Stats | null {
  try {
    const above = foldersAbove(path).map((folder) => lstatSync(absolutePath(root, folder)));
    return above.every((stats) => stats.isDirectory()) ? lstatSync(absolutePath(root, path)) : null;
  } catch {
    return null;
  }
}

/** As git does, with the folders that are empty then. */
function remove(root: string, path: string): void {
  unlinkSync(absolutePath(root, path));
  for (const folder of foldersAbove(path).reverse()) {
    try {
      rmdirSync(absolutePath(root, folder));
    } catch {
      return;
    }
  }
}

/** How long a lock must have lain, and how long it is waited for whoever may hold it. */
const LEFT_MS = 3_000;
const WAIT_MS = 30_000;
const POLL_MS = 250;

/** Takes away the locks that the killed git left: younger than its beginning, and no git is at work there any more. */
async function freeLocks(mending: Mending): Promise<string | null> {
  const { commonDir, gitDir, ref, since } = mending;
  for (const file of [...lockFiles(gitDir), join(commonDir, `${ref}.lock`)]) {
    const until = Date.now() + WAIT_MS;
    for (let made = madeAt(file); made !== null && made >= since; made = madeAt(file)) {
      const worker = gitAtWork(mending);
      if (worker === null && Date.now() - made > LEFT_MS) await rm(file, { force: true });
      else if (Date.now() > until)
        return `${file} is there, and ${worker === null ? 'is written again and again' : `a git is at work (pid ${worker})`}`;
      else await sleep(POLL_MS);
    }
  }
  return null;
}

const lockFiles = (gitDir: string): string[] =>
  ['index', 'HEAD', 'ORIG_HEAD'].map((name) => join(gitDir, `${name}.lock`));

/** The locks that lie in git's folder of a work tree, and since when (epoch ms). */
export function leftLocks(gitDir: string): { file: string; made: number }[] {
  return lockFiles(gitDir).flatMap((file) => {
    const made = madeAt(file);
    return made === null ? [] : [{ file, made }];
  });
}

function madeAt(file: string): number | null {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return null;
  }
}

/** Pid of a git in this repository; where the machine does not tell the folder of a process, of any git. */
function gitAtWork({ commonDir, root }: Mending): number | null {
  const found = processTable().find(({ pid, command }) => {
    if (!/^(?:\S*\/)?git(?:-\S+)? (?!(?:\S+--)?daemon\b)/.test(command)) return false;
    const folder = workingFolder(pid);
    return folder === null || isAtOrBelow(folder, root) || isAtOrBelow(folder, commonDir);
  });
  return found?.pid ?? null;
}
