/**
 * The environment that agents and gates start from: the user's own, without what belongs to another
 * attempt or to a git hook that called us, and with `ralph` on the PATH.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { shellWord } from '../core/index.ts';

const ATTEMPT_VARIABLES =
  /^RALPH_(SESSION_DIR|SESSION_ID|ITERATION|CYCLE|ROLE|MODE|CATEGORY|TASK_ID|ATTEMPT|OUTBOX|RUN_TOKEN|MARKER|PUBLISHES)$/;

/**
 * What the loop itself speaks with: an agent that had it could read the chat's updates away, or write there.
 */
const OWN_SECRETS = /^(RALPH_TELEGRAM_BOT_TOKEN|RALPH_CONFIG_(ROBOT|CHANNELS)(__.*)?)$/i;

/** For every program that is started: none of them needs what only the loop itself speaks with. */
export function withoutOwnSecrets(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !OWN_SECRETS.test(entry[0]),
    ),
  );
}

/** Variables to inherit, and a PATH whose first folder holds `ralph`. */
export async function agentEnvironment(
  sessionDir: string,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const inherited = Object.entries(withoutOwnSecrets(env)).filter(
    ([name]) => !ATTEMPT_VARIABLES.test(name) && !isGitHookVariable(name),
  );
  const bin = await ownCommand(sessionDir);
  const base = Object.fromEntries(inherited);
  const name = Object.keys(base).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  return { ...base, [name]: [bin, base[name]].filter(Boolean).join(delimiter) };
}

/** What git sets for its hooks would point our own git calls at the wrong repository. */
function isGitHookVariable(name: string): boolean {
  return /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR)$/.test(
    name,
  );
}

/** Writes a launcher of this very program into the session; answers its folder. */
async function ownCommand(sessionDir: string): Promise<string> {
  const bin = join(sessionDir, 'bin');
  await mkdir(bin, { recursive: true });
  const [node, program] = [process.execPath, process.argv[1] ?? ''];
  const loader = program.endsWith('.ts') ? '--import tsx ' : '';
  await writeFile(
    join(bin, 'ralph'),
    `#!/bin/sh\nexec ${shellWord(node)} ${loader}${shellWord(program)} "$@"\n`,
  );
  await chmod(join(bin, 'ralph'), 0o755);
  await writeFile(join(bin, 'ralph.cmd'), `@"${node}" ${loader}"${program}" %*\r\n`);
  return bin;
}
