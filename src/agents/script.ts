/** The scripted agent: a command agent whose program is our own and plays a script file. */
import { readFileSync } from 'node:fs';
import { Problem, type ProblemFacts } from '../core/index.ts';
import type { Agent } from '../engine/index.ts';
import { commandAgent } from './command.ts';
import { parseScript } from './script-file.ts';

/** The hidden command under which the product's own program plays a script. */
export const SCRIPT_COMMAND = '__script-agent';

export interface ScriptSpec {
  name: string;
  /** Absolute path of the script file. */
  script: string;
  /** The program that calls `main` of script-main.ts; default: this very program with `__script-agent`. */
  program?: string[];
}

function checkScript(path: string): ProblemFacts[] {
  try {
    parseScript(readFileSync(path, 'utf8'), path);
    return [];
  } catch (error) {
    if (error instanceof Problem) return [error.facts];
    return [
      {
        code: 'agent.script_missing',
        what: `The script ${path} cannot be read.`,
        why: (error as Error).message,
        fix: 'Create it, or correct the path in the configuration.',
      },
    ];
  }
}

/** An agent that plays a script file, the same way every time. */
export function scriptAgent({ name, script, program }: ScriptSpec): Agent {
  const own = [process.execPath, ...process.execArgv, process.argv[1] ?? '', SCRIPT_COMMAND];
  return {
    ...commandAgent({ name, command: [...(program ?? own), script] }),
    check: () => Promise.resolve(checkScript(script)),
  };
}
