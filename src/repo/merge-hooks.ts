/**
 * The hooks of the user's that `git merge` runs before it commits: `pre-merge-commit` on the merge, and `commit-msg` on
 * its message, which it may edit. A merge that is made from trees runs none by itself, so they are run as git would.
 */
import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endOf } from '../core/index.ts';
import { textOf } from './file-text.ts';
import { type GitResult, git } from './git.ts';
import { hooksOf } from './hooks.ts';
import { isSaidElsewhere, usualSetting } from './identity.ts';

/** A merge that is to be committed. */
export interface HookedMerge {
  /** The work tree where the hooks run. */
  root: string;
  tree: string;
  message: string;
  signal: AbortSignal | undefined;
}

/** `interrupted`: `signal` ended it. `refused`: a hook's file, and its last words. */
export type Heard =
  | { kind: 'message'; message: string }
  | { kind: 'refused'; hook: string; why: string }
  | { kind: 'interrupted' };

interface Site {
  commonDir: string;
  /** git's own folder of the work tree. */
  gitDir: string | null;
  env: Record<string, string>;
}

/** Longer runs no hook that anybody waits for at each commit. */
const WALL_MS = 10 * 60_000;

/** What the user's hooks make of the message of a merge. Without such hooks no process is started. */
export async function heardByHooks(site: Site, merge: HookedMerge): Promise<Heard> {
  const folder = await folderOf(site, merge.root);
  const [before, onMessage] = [runnable(folder, 'pre-merge-commit'), runnable(folder, 'commit-msg')];
  const first = before ?? onMessage;
  if (first === null) return { kind: 'message', message: merge.message };
  if (site.gitDir === null)
    return { kind: 'refused', hook: first, why: `it runs in ${merge.root}, which is gone` };
  const scratch = await mkdtemp(join(site.gitDir, 'ralph-merge-'));
  const call = callOf(site, merge, scratch);
  try {
    if (before !== null) {
      const read = await call(['read-tree', merge.tree]);
      const said = read.code === 0 ? await call(['hook', 'run', 'pre-merge-commit']) : read;
      if (said.code !== 0) return refused(merge, before, said);
    }
    if (onMessage === null) return { kind: 'message', message: merge.message };
    const file = join(scratch, 'MERGE_MSG');
    await writeFile(file, merge.message);
    const said = await call(['hook', 'run', 'commit-msg', '--', file]);
    if (said.code !== 0) return refused(merge, onMessage, said);
    const message = cleaned(await readFile(file, 'utf8'));
    if (message !== '') return { kind: 'message', message };
    return { kind: 'refused', hook: onMessage, why: 'it left no message' };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Nobody asks git for what stands in the usual files, or nowhere. */
async function folderOf({ commonDir, env }: Site, root: string): Promise<string> {
  const own = join(commonDir, 'hooks');
  const isUsual =
    usualSetting(commonDir, env, 'core.hookspath') === null &&
    !isSaidElsewhere(commonDir, env) &&
    (env.GIT_CONFIG_NOSYSTEM !== undefined || !/hookspath/i.test(textOf('/etc/gitconfig')));
  return isUsual ? own : ((await hooksOf(root, env)) ?? own);
}

function runnable(folder: string, name: string): string | null {
  const file = join(folder, name);
  try {
    accessSync(file, constants.X_OK);
    return file;
  } catch {
    return null;
  }
}

function callOf({ env }: Site, { root, signal }: HookedMerge, scratch: string) {
  const { GIT_OPTIONAL_LOCKS: _ours, ...users } = env;
  const own = { ...users, GIT_INDEX_FILE: join(scratch, 'index'), GIT_REFLOG_ACTION: 'merge' };
  return (args: string[]): Promise<GitResult> =>
    git({
      args: ['-c', 'core.fsmonitor=false', ...args],
      cwd: root,
      env: own,
      timeoutMs: WALL_MS,
      runsForeignCode: true,
      signal,
    });
}

function refused({ signal }: HookedMerge, hook: string, { code, stderr }: GitResult): Heard {
  if (signal?.aborted) return { kind: 'interrupted' };
  const last = stderr.trim().split('\n').slice(-5).join('\n');
  return { kind: 'refused', hook, why: endOf(last, 2_000) || `it ended with code ${code}` };
}

/** As `git merge` takes a message that nobody edited: no blank lines around it, none twice, nothing behind a line. */
function cleaned(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const kept = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return kept === '' ? '' : `${kept}\n`;
}
