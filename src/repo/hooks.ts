/**
 * Whether a commit runs hooks of the user's. git is asked where they lie when the ground opens, and
 * again when the repository's configuration was written since (installing packages often sets it).
 */
import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { git, gitEnvironment } from './git.ts';
import type { Place } from './place.ts';

const COMMIT_HOOKS = [
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'reference-transaction',
];

/** The folder git takes hooks from. One process at most; a missing git is a Problem. */
export async function hooksFolder(place: Place): Promise<string> {
  const config = join(place.commonDir ?? place.privateGit, 'config');
  const stamp = String(statSync(config, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 'none');
  if (place.hooks.stamp === stamp) return place.hooks.folder;
  const env = { ...place.userEnv, GIT_DIR: place.gitDir ?? place.privateGit, GIT_WORK_TREE: place.root };
  const folder = (await askFolder(place.root, env)) ?? join(place.commonDir ?? '', 'hooks');
  Object.assign(place.hooks, { folder, stamp });
  return folder;
}

/** The folder that git takes the hooks of a work tree from; null: git could not say. One process. */
export function hooksOf(root: string, env: Record<string, string | undefined>): Promise<string | null> {
  return askFolder(root, gitEnvironment(env));
}

async function askFolder(root: string, env: Record<string, string>): Promise<string | null> {
  const result = await git({ args: ['rev-parse', '--git-path', 'hooks'], cwd: root, env });
  const text = result.stdout.toString('utf8').replace(/\n$/, '');
  return result.code === 0 && text !== '' ? resolve(root, text) : null;
}

/** True when a commit now would run a hook, which may change files. */
export async function hooksRun(place: Place): Promise<boolean> {
  const folder = await hooksFolder(place);
  return COMMIT_HOOKS.some((name) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
