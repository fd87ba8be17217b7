/** The flags that set keys of the configuration: `run` and `resume` take them, and `config` shows what they change. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Flags } from '../config/index.ts';
import { wholeNumber } from './io.ts';

/** What commander reads of them: text as it was given. */
export interface KeyOptions {
  tasks?: string;
  team?: string;
  agent?: string;
  model?: string;
  maxIterations?: string;
  maxStuck?: string;
  maxCost?: string;
  maxTime?: string;
  maxTokens?: string;
  mode?: string;
  reviewCap?: string;
  parallel?: string;
  gate?: string[];
}

/** Adds them to a command. */
export function keyOptions(command: Command): Command {
  return command
    .option(
      '--tasks <file>',
      'the task list; default: tasks in ralph.yml, else the first of the usual places',
    )
    .option('--team <name>', 'who is hired: auto, solo, pair, full or one of your own; default: auto')
    .option(
      '--agent <name>',
      'who works: claude, or one described in ralph.yml; default: the first installed',
    )
    .option('--model <name>', "the agent's model; default: the agent's own")
    .option(
      '-n, --max-iterations <count>',
      'agent runs at the most; default: 20, and 6 more for every open task',
    )
    .option('--max-stuck <count>', 'iterations without progress at the most, 0 is off; default: 3')
    .option('--max-cost <usd>', 'US dollars at the most; default: no limit')
    .option('--max-time <duration>', 'working time at the most, e.g. 90m or 8h; default: no limit')
    .option('--max-tokens <count>', 'input and output tokens at the most; default: no limit')
    .option('--mode <mode>', 'time for an attempt: speed, balanced or quality; default: balanced')
    .addOption(
      new Option('--gate <command>', 'a command that must pass, beside those of ralph.yml; repeatable')
        .argParser(collect)
        .default([], 'none'),
    )
    .option('--review-cap <count>', 'reviews with issues of one story at the most; default: 5')
    .option('--parallel <count>', 'agents side by side; default: 1', wholeNumber('--parallel', 1));
}

function collect(value: string, previous: string[]): string[] {
  if (value.trim() === '') throw new InvalidArgumentError('A gate is a command.');
  return [...previous, value];
}

/** What was given, for the configuration's last layer. */
export function keyFlags({ gate, ...options }: KeyOptions): Flags {
  const {
    tasks,
    team,
    agent,
    model,
    maxIterations,
    maxStuck,
    maxCost,
    maxTime,
    maxTokens,
    mode,
    reviewCap,
    parallel,
  } = options;
  const flags = {
    tasks,
    team,
    agent,
    model,
    maxIterations,
    maxStuck,
    maxCost,
    maxTime,
    maxTokens,
    mode,
    reviewCap,
    parallel,
    gates: gate?.length ? gate : undefined,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Flags;
}
