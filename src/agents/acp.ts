/**
 * Any agent that speaks the Agent Client Protocol on its stdin and stdout: `acp:gemini --acp`, `acp:opencode acp`.
 * What it can do it says itself when it starts, so that little is promised before.
 */
import type { AgentError, ProblemFacts } from '../core/index.ts';
import type { Agent, Capabilities } from '../engine/index.ts';
import { run } from '../process/index.ts';
import { type Advertised, acpConversation, INITIALIZE, readAdvertised } from './acp-talk.ts';
import { billIn } from './bill.ts';
import { startChild } from './child.ts';
import { checkProgram } from './command.ts';
import { object, parseLine } from './json.ts';

export interface AcpSpec {
  name: string;
  /** The program and its arguments. */
  command: string[];
}

/** What an agent's name begins with whose command line stands behind it. */
export const ACP_PREFIX = 'acp:';

const CAPABILITIES: Capabilities = {
  stream: true,
  toolEvents: true,
  sessionResume: true,
  choosesSessionId: false,
  liveInput: false,
  interrupt: true,
  tokens: false,
  cost: false,
  limits: false,
  readOnly: false,
  permissions: true,
};

/** Programs that are known to take words in while they work. Others tell it when they start, or do not. */
const LISTENING = /(?:^|[/\\])opencode\b|(?:claude-agent|claude-code|codex)-acp\b/;

const WORD = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s'"]+)|(\s+)/y;

/** The words of a command line, quotes taken off; the whole may stand in quotes as well. */
export function commandWords(line: string): string[] {
  const whole = /^\s*(["'])(.*)\1\s*$/s.exec(line);
  const inner = whole?.[2];
  const rest = inner !== undefined && !inner.includes(whole?.[1] ?? '') ? inner : line;
  const words: string[] = [];
  let open = false;
  WORD.lastIndex = 0;
  while (WORD.lastIndex < rest.length) {
    const found = WORD.exec(rest);
    if (found === null) return rest.split(/\s+/).filter((word) => word !== '');
    const [, single, double, bare, space] = found;
    if (space !== undefined) open = false;
    else {
      const piece = single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? bare ?? '';
      if (open) words[words.length - 1] += piece;
      else words.push(piece);
      open = true;
    }
  }
  return words;
}

/** The agent that this name describes; null where it describes none. */
export function acpSpecOf(name: string): AcpSpec | null {
  if (!name.startsWith(ACP_PREFIX)) return null;
  return { name, command: commandWords(name.slice(ACP_PREFIX.length)) };
}

/** What is started by `npx` may have to be downloaded before it answers. */
const FIRST_ANSWER_MS = 60_000;

/** An agent behind the protocol. */
export function acpAgent(spec: AcpSpec, withinMs: number = FIRST_ANSWER_MS): Agent {
  return {
    name: spec.name,
    capabilities: { ...CAPABILITIES, liveInput: spec.command.some((word) => LISTENING.test(word)) },
    start(call) {
      const { reader, converse, isGreeted } = acpConversation(call);
      const answer = { withinMs, isThere: isGreeted, missing: neverAnswered(spec, withinMs) };
      return Promise.resolve(
        startChild(call, { command: spec.command, env: call.env, reader, converse, answer }),
      );
    },
    billIn({ logPath, model }) {
      // The same is asked again, of nobody, so that the answers in the log are known for what they are.
      const { reader, converse } = acpConversation({ prompt: '', cwd: '/', model });
      converse({ write: () => true, endInput: () => {} });
      return billIn(logPath, reader);
    },
    check: (): Promise<ProblemFacts[]> => Promise.resolve(checkProgram(spec)),
  };
}

function neverAnswered({ command }: AcpSpec, afterMs: number): AgentError {
  const message =
    `\`${command.join(' ').slice(0, 200)}\` did not answer \`initialize\` within ${afterMs / 1000} s: it does not speak the Agent ` +
    'Client Protocol on stdin and stdout when it is started so, or it waits for something. Start it by hand and see; ' +
    'many programs want an argument such as `acp` or `--acp`.';
  return { kind: 'crash', message, resetsAt: null };
}

/** Slow ones unpack themselves before they answer. */
const GREET_MS = 30_000;

/** What the agent says of itself when it is greeted; null where it says nothing in time, or nothing of that kind. */
export async function greet(spec: AcpSpec, env: Record<string, string>): Promise<Advertised | null> {
  let said: Advertised | null = null;
  const child = run({
    command: spec.command,
    cwd: process.cwd(),
    env,
    input: 'keep-open',
    wallMs: GREET_MS,
    idleMs: null,
    onLine(line, stream) {
      const message = object(stream === 'stdout' ? parseLine(line) : null);
      if (message.id !== 0) return;
      if (message.result !== undefined) said = readAdvertised(object(message.result));
      child.endInput();
      setTimeout(() => void child.stop(), LEAVE_MS).unref();
    },
  });
  child.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE })}\n`);
  await child.done;
  return said;
}

/** From the end of its input to the end of the program. */
const LEAVE_MS = 2_000;
