/**
 * HEAD and unfinished operations, read from git's files: 0.05 ms instead of a process. Whatever does
 * not look like the files we know (reftable, say) is asked of git itself, once.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GitResult, git } from './git.ts';

export interface GitFolders {
  root: string;
  gitDir: string;
  commonDir: string;
}

export interface Head {
  /** Commit id; null before the first commit. */
  head: string | null;
  /** Branch name; null when detached. */
  branch: string | null;
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const MAX_LINKS = 5;

/** HEAD of one work tree. `env` is used only when git has to be asked. */
export async function readHead(folders: GitFolders, env: Record<string, string>): Promise<Head> {
  const text = fileText(join(folders.gitDir, 'HEAD'));
  if (text === null || existsSync(join(folders.commonDir, 'reftable'))) return askGit(folders, env);
  const first = text.trim();
  if (OBJECT_ID.test(first)) return { head: first, branch: null };
  const ref = refOf(first);
  if (ref === null) return askGit(folders, env);
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : ref;
  const head = resolveRef(folders, ref);
  return head === 'odd' ? askGit(folders, env) : { head, branch };
}

/** The commit a branch (`refs/heads/…`) names now; null when there is no such branch. */
export async function readRef(
  folders: GitFolders,
  ref: string,
  env: Record<string, string>,
): Promise<string | null> {
  const found = existsSync(join(folders.commonDir, 'reftable')) ? 'odd' : resolveRef(folders, ref);
  if (found !== 'odd') return found;
  const call = { cwd: folders.root, env: { ...env, GIT_DIR: folders.commonDir } };
  const asked = await git({ ...call, args: ['rev-parse', '--verify', '-q', `${ref}^{commit}`] });
  const id = asked.stdout.toString('latin1').trim();
  return asked.code === 0 && OBJECT_ID.test(id) ? id : null;
}

function resolveRef(folders: GitFolders, first: string): string | null | 'odd' {
  let ref = first;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    if (ref.split('/').includes('..')) return 'odd';
    const loose =
      fileText(join(folders.commonDir, ref)) ??
      (folders.gitDir === folders.commonDir ? null : fileText(join(folders.gitDir, ref)));
    if (loose === null) return packedRef(folders.commonDir, ref);
    const text = loose.trim();
    if (OBJECT_ID.test(text)) return text;
    const next = refOf(text);
    if (next === null) return 'odd';
    ref = next;
  }
  return 'odd';
}

function refOf(text: string): string | null {
  return /^ref:\s*(refs\/[^\n]+?)\s*$/.exec(text)?.[1] ?? null;
}

function packedRef(commonDir: string, ref: string): string | null {
  const text = fileText(join(commonDir, 'packed-refs'));
  if (text === null) return null;
  for (let at = text.indexOf(` ${ref}\n`); at !== -1; at = text.indexOf(` ${ref}\n`, at + 1)) {
    const oid = text.slice(text.lastIndexOf('\n', at) + 1, at);
    if (OBJECT_ID.test(oid)) return oid;
  }
  return null;
}

function fileText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Missing, or a folder (refs/heads/feature when only feature/x exists).
    return null;
  }
}

async function askGit(folders: GitFolders, env: Record<string, string>): Promise<Head> {
  const ask = (...args: string[]): Promise<GitResult> =>
    git({ args, cwd: folders.root, env: { ...env, GIT_DIR: folders.gitDir, GIT_WORK_TREE: folders.root } });
  const both = await ask('rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD');
  const lines = both.stdout.toString('utf8').split('\n');
  if (both.code === 0 && OBJECT_ID.test(lines[0] ?? ''))
    return { head: lines[0]!, branch: branchOf(lines[1]) };
  const unborn = await ask('symbolic-ref', '-q', 'HEAD');
  return { head: null, branch: branchOf(unborn.stdout.toString('utf8').trim()) };
}

function branchOf(ref: string | undefined): string | null {
  if (ref === undefined || ref === '' || ref === 'HEAD') return null;
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : ref;
}

const OPERATIONS: [file: string, name: string][] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer/todo', 'cherry-pick'],
  ['BISECT_LOG', 'bisect'],
];

/** Name of the unfinished operation in a work tree's git folder; null when there is none. */
export function unfinishedOperation(gitDir: string): string | null {
  return OPERATIONS.find(([file]) => existsSync(join(gitDir, file)))?.[1] ?? null;
}
