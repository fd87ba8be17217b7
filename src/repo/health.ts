/**
 * What `ralph doctor` asks of git beside the ground: its version, whether hooks can run, and whether a
 * signed commit can be made. Nothing here writes into the user's repository.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { git, gitEnvironment } from './git.ts';

/** The version git tells, e.g. `2.39.5`; null when it tells none. A missing git is a Problem. */
export async function gitVersion(cwd: string, env: Record<string, string>): Promise<string | null> {
  const { stdout } = await git({ args: ['--version'], cwd, env: gitEnvironment(env) });
  return /(\d+(?:\.\d+)+)/.exec(stdout.toString('utf8'))?.[1] ?? null;
}

const COMMIT_HOOKS = new Set(['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit']);

/** The hooks that a commit would meet. */
export interface HookHealth {
  /** Absolute. */
  folder: string;
  /** `core.hooksPath` names a folder that is not there: git runs no hook and says nothing. */
  folderMissing: boolean;
  runnable: string[];
  /** There, but not executable: git passes them by with a hint only. */
  notExecutable: string[];
}

/** Looks at the hooks of a work tree; at most two git processes. */
export async function hookHealth(root: string, env: Record<string, string>): Promise<HookHealth> {
  const call = { cwd: root, env: gitEnvironment(env) };
  const asked = await git({ ...call, args: ['rev-parse', '--git-path', 'hooks'] });
  const folder = resolve(root, asked.stdout.toString('utf8').trim() || '.git/hooks');
  const configured = await git({ ...call, args: ['config', '--get', 'core.hooksPath'] });
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => COMMIT_HOOKS.has(name)) : [];
  const runs = (name: string) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return {
    folder,
    folderMissing: configured.code === 0 && !existsSync(folder),
    runnable: names.filter(runs),
    notExecutable: names.filter((name) => !runs(name)),
  };
}

/** Whether commits are to be signed, and what came of a try. */
export type SigningHealth = { wanted: false } | { wanted: true; complaint: string | null; program: string };

const SIGNING_MS = 30_000;

/**
 * Makes a signed commit of an empty tree in an object folder of its own, as `git commit -S` would, and
 * points no branch at it. A key that waits for a pass phrase has nobody to ask and counts as not usable.
 */
export async function trySigning(
  root: string,
  scratch: string,
  env: Record<string, string>,
): Promise<SigningHealth> {
  const clean = gitEnvironment(env);
  const asked = async (...args: string[]) =>
    (await git({ args: ['config', ...args], cwd: root, env: clean })).stdout.toString('utf8').trim();
  if ((await asked('--type=bool', '--get', 'commit.gpgsign')) !== 'true') return { wanted: false };
  const program = (await asked('--get', 'gpg.format')) || 'openpgp';
  const objects = join(scratch, 'signing');
  await mkdir(objects, { recursive: true });
  const call = { cwd: root, env: { ...clean, GIT_OBJECT_DIRECTORY: objects } };
  const tree = await git({ ...call, args: ['mktree'], input: new Uint8Array() });
  const args = ['commit-tree', '-S', '-m', 'ralph doctor', tree.stdout.toString('utf8').trim()];
  const made = await git({ ...call, args, runsForeignCode: true, timeoutMs: SIGNING_MS });
  const complaint = made.code === 0 ? null : made.stderr.trim().split('\n').slice(0, 4).join(' ');
  return { wanted: true, complaint, program };
}
