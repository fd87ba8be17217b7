/** Loads a configuration whose files exist only in a test. */
import type { Flags } from './layers.ts';
import { type Loaded, loadConfig } from './load.ts';

/** Built-in agents as far as these tests are concerned. */
export const AGENT_NAMES = ['claude', 'codex'];

export interface Given {
  /** Text of ralph.yml. */
  yml?: string | undefined;
  /** Text of .ralph/ralph.toml. */
  toml?: string | undefined;
  /** Text of the user's own ralph.yml or ralph.toml, at home in /home/ada. */
  userYml?: string | undefined;
  userToml?: string | undefined;
  /** Text of the session's instructions file. */
  instructions?: string | undefined;
  /** Any other file by its absolute path. */
  files?: Record<string, string>;
  env?: Record<string, string>;
  flags?: Flags;
  agentOutputs?: string[];
}

const INSTRUCTIONS = '.ralph-sessions/260208-143000.instructions.md';

/** `loadConfig` on these files, for a project in /project. */
export function loadGiven({ env = {}, flags = {}, ...given }: Given): Promise<Loaded> {
  const files: Record<string, string | undefined> = {
    '/project/ralph.yml': given.yml,
    '/project/.ralph/ralph.toml': given.toml,
    '/home/ada/.config/ralph/ralph.yml': given.userYml,
    '/home/ada/.config/ralph/ralph.toml': given.userToml,
    [`/project/${INSTRUCTIONS}`]: given.instructions,
    ...given.files,
  };
  const readFile = async (path: string): Promise<string> => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined;
    if (text !== undefined) return text;
    throw Object.assign(new Error('not there'), { code: 'ENOENT' });
  };
  return loadConfig({
    projectDir: '/project',
    env: { HOME: '/home/ada', ...env },
    flags,
    readFile,
    agentNames: AGENT_NAMES,
    ...(given.agentOutputs === undefined ? {} : { agentOutputs: given.agentOutputs }),
    instructions: { path: `/project/${INSTRUCTIONS}`, name: INSTRUCTIONS },
    platform: 'linux',
  });
}
