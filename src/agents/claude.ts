/**
 * Claude Code, run headless: the prompt as the first message on stdin, which stays open for more, its events
 * as `stream-json` on stdout. Facts about the program were recorded with version 2.1.332; the streams lie in
 * test/fixtures/agents. A version too old for that is given the prompt as text and is not talked to.
 */
import { randomUUID } from 'node:crypto';
import { Problem, type ProblemFacts } from '../core/index.ts';
import type { Agent, AgentCall, Capabilities } from '../engine/index.ts';
import { findProgram } from '../process/index.ts';
import { billIn } from './bill.ts';
import { startChild } from './child.ts';
import { claudeLive, LIVE_ARGUMENTS, LIVE_SINCE } from './claude-live.ts';
import { ASKING_ARGUMENTS, PERSONS_TOOLS } from './claude-permission.ts';
import { readClaude } from './claude-stream.ts';
import { type About, type CliSpec, isOlder, lookFor, type Wanted } from './cli.ts';
import { isAsked } from './permission.ts';

export const CLAUDE: About & Wanted = {
  title: 'Claude Code',
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  // The first version whose stream was read with this reader: `--session-id` and `stream-json` are there.
  oldest: [2, 0, 0],
  login: 'Start `claude` and type /login, or set ANTHROPIC_API_KEY.',
  allow: (command) =>
    `Add "Bash(${command})" to permissions.allow in .claude/settings.json, and remove the deny rule, hook or managed setting that stops it.`,
  loginStatus: ['auth', 'status'],
  readLogin: (printed) => {
    const said = /"loggedIn"\s*:\s*(true|false)/.exec(printed)?.[1];
    return said === undefined ? null : said === 'true';
  },
};

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
  permissions: true,
};

/** Tools that change the work tree; refused to a call that shall only read. */
const WRITING_TOOLS = 'Write,Edit,MultiEdit,NotebookEdit';

function argumentsOf(call: AgentCall, live: boolean): string[] {
  const asks = isAsked(call);
  const free = asks ? ASKING_ARGUMENTS : ['--dangerously-skip-permissions'];
  const args = ['-p', '--output-format', 'stream-json', '--verbose', ...free];
  if (live) args.push(...LIVE_ARGUMENTS);
  if (call.resume === undefined) args.push('--session-id', randomUUID());
  else args.push('--resume', call.resume);
  if (call.model !== null) args.push('--model', call.model);
  const without = [...(call.readOnly ? [WRITING_TOOLS] : []), ...(asks ? [PERSONS_TOOLS] : [])];
  if (without.length > 0) args.push('--disallowedTools', without.join(','));
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

/** Another cloud or a gateway answers: that needs no key of Anthropic's either, and is billed. */
function isElsewhere(env: Record<string, string | undefined>): boolean {
  const isSet = (name: string) => !['', '0', 'false', undefined].includes(env[name]);
  return (
    ['BEDROCK', 'VERTEX', 'FOUNDRY'].some((cloud) => isSet(`CLAUDE_CODE_USE_${cloud}`)) ||
    isSet('ANTHROPIC_AUTH_TOKEN')
  );
}

const CANNOT_ASK: ProblemFacts = {
  code: 'permissions.not_asked',
  what: 'permissions asks or denies, and this version of Claude Code asks nobody before a command.',
  why: `It asks on its stdin from version ${LIVE_SINCE.join('.')} on.`,
  fix: `Update it: ${CLAUDE.install}@latest`,
};

/** Programs, by path, that were found too old to be talked to; what was not looked at is taken for a new one. */
const DEAF = new Set<string>();

function isDeaf(spec: CliSpec, env: Record<string, string | undefined>): boolean {
  return DEAF.size > 0 && DEAF.has(findProgram(spec.program ?? 'claude', env) ?? '');
}

async function checkClaude(spec: CliSpec): Promise<ProblemFacts[]> {
  const { program, version, problems } = await lookFor(CLAUDE, spec);
  if (program !== null && version !== null) {
    if (isOlder(version, LIVE_SINCE)) DEAF.add(program);
    else DEAF.delete(program);
  }
  return problems;
}

/** Claude Code as an agent. */
export function claudeAgent(spec: CliSpec): Agent {
  return {
    name: spec.name,
    get capabilities() {
      if (!isDeaf(spec, spec.env ?? process.env)) return CAPABILITIES;
      const { permissions: _, ...rest } = CAPABILITIES;
      return { ...rest, liveInput: false, interrupt: false };
    },
    start(call) {
      const live = !isDeaf(spec, call.env);
      if (!live && isAsked(call)) throw new Problem(CANNOT_ASK);
      const command = [spec.program ?? 'claude', ...(spec.args ?? []), ...argumentsOf(call, live)];
      const plan = {
        command,
        env: environmentOf(call),
        input: call.prompt,
        reader: readClaude({ planPays: !isElsewhere(call.env) }),
      };
      return Promise.resolve(startChild(call, live ? { ...plan, live: claudeLive(call) } : plan));
    },
    billIn({ logPath }) {
      // Its call is over; the environment that it was started from says who pays.
      const planPays = !isElsewhere(spec.env ?? process.env);
      return billIn(logPath, readClaude({ planPays }));
    },
    check: () => checkClaude(spec),
  };
}
