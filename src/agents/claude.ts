/**
 * Claude Code, run headless: the prompt as the first message on stdin, which stays open for more, its events
 * as `stream-json` on stdout. Facts about the program were recorded with version 2.1.332; the streams lie in
 * test/fixtures/streams. A version too old for that is given the prompt as text and is not talked to.
 */
import { randomUUID } from 'node:crypto';
import type { ProblemFacts } from '../core/index.ts';
import type { Agent, AgentCall, Capabilities } from '../engine/index.ts';
import { findProgram, run } from '../process/index.ts';
import { startChild } from './child.ts';
import { CLAUDE_LIVE, LIVE_ARGUMENTS, LIVE_SINCE } from './claude-live.ts';
import { readClaude } from './claude-stream.ts';

export interface ClaudeSpec {
  name: string;
  /** Program to start instead of `claude` from PATH. */
  program?: string;
  /** Arguments put in front of ours. */
  args?: string[];
  /** Environment of the machine check; default: this process's. */
  env?: Record<string, string | undefined>;
}

/** The first version whose stream was read with this reader: `--session-id` and `stream-json` are there. */
const OLDEST = [2, 0, 0] as const;
const VERSION_MS = 20_000;

const CAPABILITIES: Capabilities = {
  stream: true,
  toolEvents: true,
  sessionResume: true,
  choosesSessionId: true,
  liveInput: true,
  interrupt: true,
  tokens: true,
  cost: true,
  limits: true,
  // A reviewer is refused the file tools, but keeps its shell to run the thing: that can still write.
  readOnly: false,
};

/** Tools that change the work tree; refused to a call that shall only read. */
const WRITING_TOOLS = 'Write,Edit,MultiEdit,NotebookEdit';

function argumentsOf(call: AgentCall, live: boolean): string[] {
  const args = ['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'];
  if (live) args.push(...LIVE_ARGUMENTS);
  if (call.resume === undefined) args.push('--session-id', randomUUID());
  else args.push('--resume', call.resume);
  if (call.model !== null) args.push('--model', call.model);
  if (call.readOnly) args.push('--disallowedTools', WRITING_TOOLS);
  // Beside the user's own servers, not in their place. The `=` keeps the option from taking what follows it.
  if (call.env.RALPH_RUN_TOKEN !== undefined) args.push(`--mcp-config=${OWN_SERVER}`);
  return args;
}

/** The tools of the agent's side. No secret stands here: the server inherits the attempt's environment. */
const OWN_SERVER = JSON.stringify({
  mcpServers: {
    ralph:
      process.platform === 'win32'
        ? { command: 'cmd', args: ['/c', 'ralph', 'mcp'] }
        : { command: 'ralph', args: ['mcp'] },
  },
});

/** Without IS_SANDBOX, Claude Code refuses to skip its permission prompts as root, and nobody answers them. */
function environmentOf(call: AgentCall): Record<string, string> {
  const root = process.getuid?.() === 0;
  return { ...(root ? { IS_SANDBOX: '1' } : {}), ...call.env };
}

async function versionOf(program: string, env: Record<string, string | undefined>): Promise<string | null> {
  const whole = Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const result = await run({
    command: [program, '--version'],
    cwd: process.cwd(),
    env: whole,
    wallMs: VERSION_MS,
    idleMs: null,
  }).done;
  return /(\d+\.\d+\.\d+)/.exec(result.stdout.head)?.[1] ?? null;
}

function isOlder(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, least] of than.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

/** Programs, by path, that were found too old to be talked to; what was not looked at is taken for a new one. */
const DEAF = new Set<string>();

function isDeaf(spec: ClaudeSpec, env: Record<string, string | undefined>): boolean {
  return DEAF.size > 0 && DEAF.has(findProgram(spec.program ?? 'claude', env) ?? '');
}

async function checkClaude(spec: ClaudeSpec): Promise<ProblemFacts[]> {
  const env = spec.env ?? process.env;
  const program = findProgram(spec.program ?? 'claude', env);
  if (program === null) {
    return [
      {
        code: 'agent.not_found',
        what: `The agent "${spec.name}" cannot be started: ${spec.program ?? 'claude'} was not found.`,
        why: 'No folder of PATH holds an executable of that name.',
        fix: 'Install Claude Code (npm install -g @anthropic-ai/claude-code), or choose another agent with --agent.',
      },
    ];
  }
  const version = await versionOf(program, env);
  if (version === null) {
    return [
      {
        code: 'agent.version_unreadable',
        what: `The agent "${spec.name}" does not tell its version.`,
        why: `\`${program} --version\` printed no version number within ${VERSION_MS / 1000} seconds.`,
        fix: `Run \`${program} --version\` by hand; if it fails, install Claude Code again.`,
      },
    ];
  }
  if (isOlder(version, LIVE_SINCE)) DEAF.add(program);
  else DEAF.delete(program);
  if (!isOlder(version, OLDEST)) return [];
  return [
    {
      code: 'agent.too_old',
      what: `The agent "${spec.name}" is too old: Claude Code ${version}.`,
      why: `Its event stream is read from version ${OLDEST.join('.')} on.`,
      fix: 'Update it: npm install -g @anthropic-ai/claude-code@latest',
    },
  ];
}

/** Claude Code as an agent. */
export function claudeAgent(spec: ClaudeSpec): Agent {
  return {
    name: spec.name,
    get capabilities() {
      if (!isDeaf(spec, spec.env ?? process.env)) return CAPABILITIES;
      return { ...CAPABILITIES, liveInput: false, interrupt: false };
    },
    start(call) {
      const live = !isDeaf(spec, call.env);
      const command = [spec.program ?? 'claude', ...(spec.args ?? []), ...argumentsOf(call, live)];
      const plan = { command, env: environmentOf(call), input: call.prompt, reader: readClaude() };
      return Promise.resolve(startChild(call, live ? { ...plan, live: CLAUDE_LIVE } : plan));
    },
    check: () => checkClaude(spec),
  };
}
