/** Whether git knows whom to name as author; without that no commit can be made. */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ConfigText, configEntries } from './config-text.ts';
import { textOf } from './file-text.ts';

/** A repository's working folder and the folder of its configuration. */
export interface Identified {
  root: string;
  commonDir: string;
}

/** null when commits can be made here; otherwise git's own words. */
export function missingIdentity(place: Identified, env: Record<string, string>): Promise<string | null> {
  if (isWrittenDown(place, env)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const options = { cwd: place.root, env, maxBuffer: 65_536 };
    execFile('git', ['var', 'GIT_COMMITTER_IDENT'], options, (error, _out, stderr) => {
      const complaint =
        stderr
          .trim()
          .split('\n')
          .find((line) => line.startsWith('fatal:')) ?? stderr.trim().split('\n')[0];
      resolve(error === null ? null : (complaint ?? 'git does not know who you are'));
    });
  });
}

/**
 * Whether name and address stand plainly in the usual files, which spares a process. False where anything
 * else has a say: git is asked then.
 */
function isWrittenDown({ commonDir }: Identified, env: Record<string, string>): boolean {
  if (Object.keys(env).some((name) => /^GIT_(?:COMMITTER|CONFIG)/.test(name))) return false;
  const files = usualFiles(commonDir, env);
  if (!files.every(({ whole }) => whole)) return false;
  const entries = files.flatMap((file) => file.entries);
  if (entries.some(({ name }) => /^(?:committer|include|includeif|extensions)\./.test(name))) return false;
  const isSet = (key: string) =>
    /[\p{L}\p{N}]/u.test(entries.findLast(({ name }) => name === key)?.value ?? '');
  return isSet('user.name') && isSet('user.email');
}

/** Whether the user has every commit signed, by the usual files: `git commit` asks for it, `git commit-tree` does not. */
export function signsCommits({ commonDir }: Identified, env: Record<string, string>): boolean {
  return /^(?:true|yes|on|[1-9]\d*)$/i.test(usualSetting(commonDir, env, 'commit.gpgsign') ?? 'false');
}

/** What the usual files say of a key in small letters; null: none of them names it. */
export function usualSetting(commonDir: string, env: Record<string, string>, key: string): string | null {
  const entries = usualFiles(commonDir, env).flatMap((file) => file.entries);
  return entries.findLast(({ name }) => name === key)?.value ?? null;
}

/** Whether more than the usual files may have a say: what they include, what the environment sets, a work tree's own. */
export function isSaidElsewhere(commonDir: string, env: Record<string, string>): boolean {
  if (Object.keys(env).some((name) => /^GIT_CONFIG_(?:COUNT|KEY|VALUE|SYSTEM)/.test(name))) return true;
  const entries = usualFiles(commonDir, env).flatMap((file) => file.entries);
  return entries.some(({ name }) => /^(?:include|includeif)\.|^extensions\.worktreeconfig$/.test(name));
}

/** Those of the user and of the repository; what they include is not followed. */
function usualFiles(commonDir: string, env: Record<string, string>): ConfigText[] {
  const home = env.HOME ?? homedir();
  const own = env.GIT_CONFIG_GLOBAL;
  const users =
    own === undefined
      ? [join(env.XDG_CONFIG_HOME || join(home, '.config'), 'git', 'config'), join(home, '.gitconfig')]
      : [own];
  return [...users, join(commonDir, 'config')].map((file) => configEntries(textOf(file)));
}
