/**
 * `core.worktree` sends every git call without GIT_WORK_TREE to another folder. Whoever sets it while a
 * session runs would make our commits record that folder's content, so it is read again before each one.
 */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shellWord } from '../core/index.ts';
import { configEntries } from './config-text.ts';
import { textOf } from './file-text.ts';

interface Folders {
  gitDir: string | null;
  commonDir: string | null;
}

/** What core.worktree is in the repository's own files, unresolved; null when it is not set. No process. */
export function configuredWorktree({ gitDir, commonDir }: Folders): string | null {
  return gitDir === null || commonDir === null ? null : (settingOf(gitDir, commonDir)?.value ?? null);
}

/** Why git would commit another folder than `root`; null when it commits this one. `before`: as opened. */
export function strayWorktree(
  place: Folders & { root: string; worktreeAtOpen: string | null },
): string | null {
  const { gitDir, commonDir, root, worktreeAtOpen: before } = place;
  const now = gitDir === null || commonDir === null ? null : settingOf(gitDir, commonDir);
  // Not set means the folder that holds `.git`, which is how the root was found.
  if (gitDir === null || now === null || realOf(resolve(gitDir, now.value)) === root) return null;
  const what =
    now.value === before
      ? `core.worktree of this repository is ${now.value}`
      : `core.worktree of this repository was changed during the session from ${before ?? 'not set'} to ${now.value}`;
  const edit =
    before === null || now.value === before
      ? '--unset-all core.worktree'
      : `core.worktree ${shellWord(before)}`;
  // From another folder, because git refuses to start here when the named one is missing.
  return `${what}; git would commit another folder than ${root}. Restore it with \`git -C / config --file ${shellWord(now.file)} ${edit}\` and start again.`;
}

interface Setting {
  value: string;
  file: string;
}

function settingOf(gitDir: string, commonDir: string): Setting | null {
  const shared = join(commonDir, 'config');
  const text = textOf(shared);
  const perTree = /^(?:true|yes|on|[1-9]\d*)$/i.test(valueIn(text, 'extensions', 'worktreeconfig') ?? '');
  const own = join(gitDir, 'config.worktree');
  const first = perTree ? valueIn(textOf(own), 'core', 'worktree') : null;
  if (first !== null) return { value: first, file: own };
  // A linked work tree does not take it from the shared file, unless each has its own configuration.
  if (gitDir !== commonDir && !perTree) return null;
  const second = valueIn(text, 'core', 'worktree');
  return second === null ? null : { value: second, file: shared };
}

/** The last value of a key in the text of a configuration file; a key alone is `true`. Names in small letters. */
export function valueIn(text: string, section: string, key: string): string | null {
  const name = `${section}.${key}`;
  return configEntries(text).entries.findLast((entry) => entry.name === name)?.value ?? null;
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
