/**
 * The `command` agent: any program that takes a prompt and prints text. The prompt comes on stdin, as
 * the last argument or as the path of a file; stdin is closed after it. Exit 0 is "ended well", anything
 * else is "died"; stderr goes to the log, and of one that died its last lines may say why. It is the contract that scripts and test agents use.
 */
import { isAbsolute } from 'node:path';
import type { ProblemFacts } from '../core/index.ts';
import type { Agent, AgentCall, Capabilities } from '../engine/index.ts';
import { findProgram } from '../process/index.ts';
import { billIn } from './bill.ts';
import { type ChildPlan, startChild } from './child.ts';
import { readClaude } from './claude-stream.ts';
import { readText } from './text-stream.ts';

export type PromptWay = 'stdin' | 'arg' | 'file';

/** Formats of stdout that a command agent may speak; a new agent's stream is a new row. */
export const OUTPUTS = {
  text: { read: readText, json: false },
  'claude-json': { read: readClaude, json: true },
} as const;
export type OutputFormat = keyof typeof OUTPUTS;

export interface CommandSpec {
  name: string;
  /** The program and its arguments; an argument `{prompt}` or `{prompt_file}` is replaced, else the prompt is appended. */
  command: string[];
  /** Default stdin. */
  prompt?: PromptWay;
  /** Default text. */
  output?: OutputFormat;
}

const TEXT_ONLY: Capabilities = {
  stream: false,
  toolEvents: false,
  sessionResume: false,
  choosesSessionId: false,
  liveInput: false,
  interrupt: false,
  tokens: false,
  cost: false,
  limits: false,
  readOnly: false,
};
const WITH_EVENTS: Capabilities = {
  ...TEXT_ONLY,
  stream: true,
  toolEvents: true,
  tokens: true,
  cost: true,
  limits: true,
};

function argumentsWith(command: string[], placeholder: string, value: string): string[] {
  if (!command.includes(placeholder)) return [...command, value];
  return command.map((part) => (part === placeholder ? value : part));
}

function planOf(spec: CommandSpec, call: AgentCall): ChildPlan {
  const reader = OUTPUTS[spec.output ?? 'text'].read();
  const way = spec.prompt ?? 'stdin';
  const plan: ChildPlan = { command: spec.command, env: call.env, reader };
  if (way === 'stdin') plan.input = call.prompt;
  if (way === 'arg') plan.command = argumentsWith(spec.command, '{prompt}', call.prompt);
  if (way === 'file') plan.command = argumentsWith(spec.command, '{prompt_file}', call.promptPath);
  return plan;
}

/** Whether the program of this command can be found. */
export function checkProgram(spec: Pick<CommandSpec, 'name' | 'command'>): ProblemFacts[] {
  const program = spec.command[0];
  if (program === undefined || program.trim() === '') {
    return [
      {
        code: 'agent.command_empty',
        what: `The agent "${spec.name}" has no command.`,
        why: 'Its `command` is an empty list, so there is nothing to start.',
        fix: `Give it a program, e.g. agents: { ${spec.name}: { command: ["bash", "agent.sh"] } }.`,
      },
    ];
  }
  // A path in the command is relative to the work tree, which this machine-level check does not know.
  if (!isAbsolute(program) && /[/\\]/.test(program)) return [];
  if (findProgram(program, process.env) !== null) return [];
  return [
    {
      code: 'agent.not_found',
      what: `The agent "${spec.name}" cannot be started: ${program} was not found.`,
      why: isAbsolute(program)
        ? 'No executable file has that path.'
        : 'No folder of PATH holds an executable of that name.',
      fix: 'Install it, or correct the first entry of `command`.',
    },
  ];
}

/** An agent that is any program. Throws nothing: what is wrong with it is told by `check` or the report. */
export function commandAgent(spec: CommandSpec): Agent {
  return {
    name: spec.name,
    capabilities: OUTPUTS[spec.output ?? 'text'].json ? WITH_EVENTS : TEXT_ONLY,
    start: (call) => Promise.resolve(startChild(call, planOf(spec, call))),
    billIn: ({ logPath }) => billIn(logPath, OUTPUTS[spec.output ?? 'text'].read()),
    check: () => Promise.resolve(checkProgram(spec)),
  };
}
