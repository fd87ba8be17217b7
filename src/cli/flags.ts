/** The flags that set keys of the configuration: `run` and `resume` take them, and `config` shows what they change. */
import { type Command, Option } from 'commander';
import type { Flags } from '../config/index.ts';
import { Problem } from '../core/index.ts';
import { wholeNumber } from './io.ts';

/** Each of them: how it is written, and what it says. */
const KEYS = {
  tasks: ['--tasks <file>', 'the task list; default: tasks in ralph.yml, else the first of the usual places'],
  team: [
    '--team <name>',
    'who is hired: auto, solo, pair, full, feature, bugfix, review, docs or one of your own; default: auto',
  ],
  agent: ['--agent <name>', 'who works: one that `ralph agents` lists; default: the first installed'],
  model: ['--model <name>', "the agent's model; default: the agent's own"],
  maxIterations: [
    '-n, --max-iterations <count>',
    'agent runs at the most; default: 20, and 6 more for every open task',
  ],
  maxStuck: ['--max-stuck <count>', 'iterations without progress at the most, 0 is off; default: 3'],
  maxCost: ['--max-cost <usd>', 'US dollars at the most; default: no limit'],
  maxTime: ['--max-time <duration>', 'working time at the most, e.g. 90m or 8h; default: no limit'],
  maxTokens: ['--max-tokens <count>', 'input and output tokens at the most; default: no limit'],
  mode: ['--mode <mode>', 'time for an attempt: speed, balanced or quality; default: balanced'],
  gate: ['--gate <command>', 'a command that must pass, beside those of ralph.yml; repeatable'],
  reviewCap: ['--review-cap <count>', 'reviews with issues of one story at the most; default: 5'],
  parallel: ['--parallel <count>', 'agents side by side; default: 3 in a team that plans, else 1'],
} as const satisfies Record<string, readonly [flags: string, about: string]>;

type KeyName = keyof typeof KEYS;

/** What commander reads of them: text as it was given. */
export type KeyOptions = { [Name in Exclude<KeyName, 'gate'>]?: string } & { gate?: string[] };

/** Adds them to a command. */
export function keyOptions(command: Command): Command {
  for (const [name, [flags, about]] of Object.entries(KEYS)) {
    const option = new Option(flags, about);
    if (name === 'gate') option.argParser(collect).default([], 'none');
    if (name === 'parallel') option.argParser(wholeNumber('--parallel', 1));
    command.addOption(option);
  }
  return command;
}

function collect(value: string, previous: string[]): string[] {
  if (value.trim() === '') {
    throw new Problem({
      code: 'usage.value',
      what: '--gate was given an empty command.',
      why: 'A gate is a command whose exit code tells whether the work is accepted.',
      fix: 'For example: --gate "npm test". Leave it away to use the gates of ralph.yml.',
    });
  }
  return [...previous, value];
}

/** What was given, for the configuration's last layer. */
export function keyFlags({ gate = [], ...options }: KeyOptions): Flags {
  const given = Object.entries(options).filter(([name, value]) => name in KEYS && value !== undefined);
  return { ...Object.fromEntries(given), ...(gate.length > 0 && { gates: gate }) };
}
