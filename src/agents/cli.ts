/**
 * What the agents with a program of their own have in common: how each is described, looked for, asked for
 * its version and started. One row for each program, beside its reader.
 */
import type { ProblemFacts } from '../core/index.ts';
import type { Agent, AgentCall, Capabilities } from '../engine/index.ts';
import { findProgram, run } from '../process/index.ts';
import { billIn } from './bill.ts';
import { startChild } from './child.ts';
import type { StreamReader } from './stream.ts';
import type { LiveInput } from './talk.ts';

export interface CliSpec {
  name: string;
  /** Program to start instead of the one from PATH. */
  program?: string;
  /** Arguments put in front of ours. */
  args?: string[];
  /** Environment of the machine check; default: this process's. */
  env?: Record<string, string | undefined>;
}

/** What a person is told of an agent program. */
export interface About {
  title: string;
  install: string;
  login: string;
  /** How its own permissions are opened for one command. */
  allow(command: string): string;
  /** Arguments that print whether somebody is logged in; null: no such command. */
  loginStatus: string[] | null;
  /** Reads what it printed, on both streams; null: it does not tell. */
  readLogin(printed: string): boolean | null;
}

/** What a look for the program needs. */
export interface Wanted {
  title: string;
  program: string;
  install: string;
  /** The first version whose stream is read. */
  oldest: readonly [number, number, number];
}

/** One agent program as its adapter describes it. The prompt goes to stdin. */
export interface Cli extends About, Wanted {
  capabilities: Capabilities;
  args(call: AgentCall): string[];
  /** Laid below the call's own environment. */
  env?: Record<string, string>;
  /** Without a call: for a run that began afresh. */
  read(call?: Pick<AgentCall, 'cwd' | 'model'>): StreamReader;
  /** It is talked to while it works, in one run; absent: stdin is closed behind the prompt. */
  live?(call: AgentCall): LiveInput;
}

export const VERSION_MS = 20_000;

async function versionOf(program: string, env: Record<string, string | undefined>): Promise<string | null> {
  const whole = Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const command = [program, '--version'];
  const result = await run({ command, cwd: process.cwd(), env: whole, wallMs: VERSION_MS, idleMs: null })
    .done;
  // One of them prints it on stderr.
  return /(\d+\.\d+\.\d+)/.exec(`${result.stdout.head}\n${result.stderrTail}`)?.[1] ?? null;
}

export function isOlder(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, least] of than.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

/** Looks for the program on PATH and at its version; both null where they were not found. */
export async function lookFor(
  wanted: Wanted,
  { name, program: own, env = process.env }: CliSpec,
): Promise<{ program: string | null; version: string | null; problems: ProblemFacts[] }> {
  const { title, install, oldest } = wanted;
  const asked = own ?? wanted.program;
  const program = findProgram(asked, env);
  if (program === null) {
    const problem = {
      code: 'agent.not_found',
      what: `The agent "${name}" cannot be started: ${asked} was not found.`,
      why: 'No folder of PATH holds an executable of that name.',
      fix: `Install ${title} (${install}), or choose another agent with --agent.`,
    };
    return { program, version: null, problems: [problem] };
  }
  const version = await versionOf(program, env);
  if (version === null) {
    const problem = {
      code: 'agent.version_unreadable',
      what: `The agent "${name}" does not tell its version.`,
      why: `\`${program} --version\` printed no version number within ${VERSION_MS / 1000} seconds.`,
      fix: `Run \`${program} --version\` by hand; if it fails, install ${title} again.`,
    };
    return { program, version, problems: [problem] };
  }
  if (!isOlder(version, oldest)) return { program, version, problems: [] };
  const problem = {
    code: 'agent.too_old',
    what: `The agent "${name}" is too old: ${title} ${version}.`,
    why: `Its event stream is read from version ${oldest.join('.')} on.`,
    fix: `Update it: ${install}@latest`,
  };
  return { program, version, problems: [problem] };
}

/** An agent of this row. */
export function cliAgent(cli: Cli, spec: CliSpec): Agent {
  return {
    name: spec.name,
    capabilities: cli.capabilities,
    start(call) {
      const command = [spec.program ?? cli.program, ...(spec.args ?? []), ...cli.args(call)];
      const env = { ...cli.env, ...call.env };
      const live = cli.live?.(call);
      const plan = { command, env, input: call.prompt, reader: cli.read(call) };
      return Promise.resolve(startChild(call, live === undefined ? plan : { ...plan, live }));
    },
    billIn: ({ logPath, model }) => billIn(logPath, cli.read({ cwd: '/', model })),
    check: async () => (await lookFor(cli, spec)).problems,
  };
}
