/**
 * A scripted model: a small server that speaks enough of the providers' APIs for real agent CLIs to work
 * against it, on loopback and without a login. The script says, prompt by prompt and turn by turn,
 * what the "model" answers: words, files to write, commands to run, tokens to report, faults to play.
 *
 * A request tells by itself where the script stands. The conversation is named inside the ids of the tool
 * calls that this server handed out, the step is the number of assistant messages since the prompt began.
 * So agents may run side by side, and a request that is tried again gets the same turn again.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Dialect, dialectOf, type Heard, type ToolCall } from './model-dialects.ts';
import {
  always,
  DEFAULT_TOKENS,
  type Fault,
  list,
  type ModelScript,
  type TokenCounts,
  type Turn,
} from './model-script.ts';

export type { Conversation, Fault, ModelScript, TokenCounts, Turn } from './model-script.ts';
export { always } from './model-script.ts';

/** One request as the server saw it, without its body. */
export interface SeenRequest {
  /** Epoch ms. */
  at: number;
  path: string;
  model: string;
  /** First 4,000 characters of the prompt that began the conversation. */
  prompt: string;
  promptBytes: number;
  /** First 4,000 characters of what the last message of the request says, results of tools left out. */
  told: string;
  /** Messages the request carried, all earlier turns included. */
  messages: number;
  conversation: number;
  step: number;
  /** What was answered: tool names, `text`, `aux` or the fault. */
  reply: string;
}

export interface ModelServer {
  url: string;
  requests: SeenRequest[];
  /**
   * Sums over the answers that were sent whole; `input` counts uncached tokens only. `script`: those of the script
   * alone, for agents that leave titles and the like out of their books.
   */
  usage(which?: 'all' | 'script'): TokenCounts;
  close(): Promise<void>;
}

interface Position {
  step: number;
  prompt: string;
  conversation: number | null;
}

/** The answer of a subscription whose five-hour window is used up until `resetsAt` (epoch seconds). */
export function subscriptionLimit(resetsAt: number): Fault {
  const reset = String(resetsAt);
  return always(429, {
    headers: {
      'retry-after': '7200',
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': reset,
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-5h-status': 'rejected',
      'anthropic-ratelimit-unified-5h-reset': reset,
      'anthropic-ratelimit-unified-5h-utilization': '1.0',
    },
  });
}

/** A clean environment for the real Claude Code: private home, no login, this server as its provider. */
export function claudeEnv(url: string, home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    GIT_AUTHOR_NAME: 'Scripted Model',
    GIT_AUTHOR_EMAIL: 'model@example.invalid',
    GIT_COMMITTER_NAME: 'Scripted Model',
    GIT_COMMITTER_EMAIL: 'model@example.invalid',
  };
}

/** Where the script stands, by the history alone. */
function positionOf(messages: Heard[]): Position {
  let step = 0;
  let prompt = '';
  let conversation: number | null = null;
  let last: 'none' | 'user' | 'words' | 'calls' = 'none';
  for (const { role, text, calls } of messages) {
    if (role === 'assistant') {
      conversation = Number(/_c(\d+)s\d+n/.exec(calls[0] ?? '')?.[1] ?? conversation ?? Number.NaN);
      if (Number.isNaN(conversation)) conversation = null;
      if (last === 'user' || last === 'none') step++;
      last = calls.length > 0 ? 'calls' : 'words';
      continue;
    }
    // A broken stream is repaired by asking the model to go on: that is no new prompt, and no step.
    if (/cut off mid-stream/.test(text)) step = Math.max(0, step - 1);
    else if (last === 'none' || last === 'words') {
      step = 0;
      prompt = text;
      conversation = null;
    } else if (step === 0) prompt += `\n${text}`;
    last = 'user';
  }
  return { step, prompt, conversation };
}

function lastWords(messages: Heard[]): string {
  return (messages.findLast(({ role }) => role === 'user')?.text ?? '').slice(0, 4000);
}

/** The working directory as the CLI tells it to the model; some file tools want absolute paths. */
function cwdOf(body: string): string {
  const told =
    /working directory(?: is)?:? *(\/[^\s\\"`<]+)/i.exec(body) ??
    /items \(files \+ folders\)\.\\n\\n(\/[^\\"]+?)\/?(?:\\n|")/.exec(body) ??
    /Workspace Directories:\*\*\\n {2}- (\/[^\\"]+)/.exec(body) ??
    /<cwd>(\/[^<\\]+)<\/cwd>/.exec(body) ??
    /(?:directory|folder):? *(\/[^\s\\"`<]+)/i.exec(body);
  return told?.[1] ?? process.cwd();
}

interface Stage {
  script: ModelScript;
  /** How often each group of conversations was begun. */
  begun: Map<string, number>;
  faulted: Map<string, number>;
}

function pickConversation(stage: Stage, at: Position): { index: number; begin: () => void } {
  const all = stage.script.conversations.map((conversation, index) => ({ conversation, index }));
  if (at.conversation !== null && all[at.conversation] !== undefined) {
    return { index: at.conversation, begin: () => {} };
  }
  const fitting = all.find(({ conversation }) => conversation.match?.test(at.prompt) === true);
  const key = String(fitting?.conversation.match ?? '');
  const group = all.filter(({ conversation }) => String(conversation.match ?? '') === key);
  const begun = stage.begun.get(key) ?? 0;
  const begin = () => void (at.step === 0 && stage.begun.set(key, begun + 1));
  const place = at.step === 0 ? begun : begun - 1;
  return { index: group[Math.max(0, Math.min(place, group.length - 1))]?.index ?? 0, begin };
}

function dueFault(stage: Stage, turn: Turn, place: string): Fault | null {
  for (const [index, fault] of list(turn.fault).entries()) {
    const key = `${place}/${index}`;
    const used = stage.faulted.get(key) ?? 0;
    if (used >= (fault.times ?? 1)) continue;
    stage.faulted.set(key, used + 1);
    return fault;
  }
  return null;
}

let callNumber = 0;

/** How each CLI's own file tool is called; the first that a request offers is taken. */
const WRITE_TOOLS: Record<string, (path: string, content: string) => Record<string, unknown>> = {
  Write: (file_path, content) => ({ file_path, content }),
  write_file: (file_path, content) => ({ file_path, content }),
  write: (path, content) => ({ filePath: path, path, content }),
  create: (path, file_text) => ({ path, file_text }),
};
const RUN_TOOLS: Record<string, (command: string) => Record<string, unknown>> = {
  Bash: (command) => ({ command, description: 'scripted command' }),
  exec_command: (cmd) => ({ cmd }),
  shell: (command) => ({ command: ['bash', '-lc', command] }),
  run_shell_command: (command) => ({ command, description: 'scripted command', is_background: false }),
  bash: (command) => ({ command, description: 'scripted command' }),
};

interface Rendering {
  turn: Turn;
  cwd: string;
  place: string;
  usage: object;
  tools: string[];
}

function renderTurn({ turn, cwd, place, usage, tools }: Rendering): Answer {
  const calls: ToolCall[] = [];
  const offered = <T>(table: Record<string, T>) => Object.keys(table).find((name) => tools.includes(name));
  const add = (name: string, input: Record<string, unknown>, patch?: string) => {
    const id = `${tools.includes('Bash') ? 'toolu' : 'call'}_${place}n${++callNumber}`;
    calls.push({ id, name, input, ...(patch === undefined ? {} : { patch }) });
  };
  for (const { path, content } of list(turn.write)) {
    const name = offered(WRITE_TOOLS);
    const whole = path.startsWith('/') ? path : `${cwd}/${path}`;
    const lines = content
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `+${line}\n`);
    if (name !== undefined) add(name, WRITE_TOOLS[name]?.(whole, content) ?? {});
    else add('apply_patch', {}, `*** Begin Patch\n*** Add File: ${path}\n${lines.join('')}*** End Patch\n`);
  }
  for (const command of list(turn.run)) {
    const name = offered(RUN_TOOLS) ?? 'Bash';
    add(name, RUN_TOOLS[name]?.(command) ?? {});
  }
  for (const tool of turn.tools ?? []) add(tool.name, tool.input);
  return { text: turn.text ?? '', calls, tokens: { ...DEFAULT_TOKENS, ...usage, ...turn.usage } };
}

interface Sending {
  dialect: Dialect;
  answer: Answer;
  model: string;
  fault: Fault | null;
  turn: Turn;
  stream: boolean;
}

/** Sends the answer; true when it went out whole. */
async function send(response: ServerResponse, sending: Sending): Promise<boolean> {
  const { dialect, answer, model, fault, turn, stream } = sending;
  if (turn.delayMs !== undefined) await sleep(turn.delayMs);
  if (fault?.kind === 'status') {
    response.writeHead(fault.status ?? 500, { 'content-type': 'application/json', ...fault.headers });
    response.end(JSON.stringify(fault.body ?? dialect.errorBody(fault)));
    return false;
  }
  if (!stream && dialect.whole !== undefined) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(dialect.whole(answer, model)));
    return true;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...turn.headers, ...fault?.headers });
  const frames = dialect.frames(answer, model);
  if (fault === null) {
    response.end(frames.join(''));
    return true;
  }
  response.write(frames.slice(0, fault.kind === 'stall' ? 1 : Math.ceil(frames.length / 2)).join(''));
  if (fault.kind === 'error') response.end(dialect.errorFrame(fault));
  if (fault.kind === 'truncate') response.end();
  if (fault.kind === 'reset') setTimeout(() => response.socket?.resetAndDestroy(), 20);
  return false;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Starts the server on a free loopback port. Close it, or the process stays alive. */
export async function startModelServer(script: ModelScript): Promise<ModelServer> {
  const stage: Stage = { script, begun: new Map(), faulted: new Map() };
  const requests: SeenRequest[] = [];
  const none: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const total = { all: { ...none }, script: { ...none } };

  async function answerMessages(dialect: Dialect, body: string, path: string, response: ServerResponse) {
    const { model, tools, messages } = dialect.hear(body, path);
    const at = positionOf(messages);
    // Titles, topics and summaries offer no tools: they are no part of the script.
    const aux = tools.length === 0;
    const { index, begin } = pickConversation(stage, at);
    const turns = script.conversations[index]?.turns ?? [];
    const turn = aux
      ? { text: 'ok' }
      : (turns[Math.min(at.step, turns.length - 1)] ?? { text: 'no turn left' });
    const fault = aux ? null : dueFault(stage, turn, `${index}/${at.step}`);
    const place = `c${index}s${at.step}`;
    const answer = renderTurn({ turn, cwd: cwdOf(body), place, usage: script.usage ?? {}, tools });
    const stream = !/"stream": ?false/.test(body) && (path.includes('stream') || body.includes('"stream"'));
    const said = answer.calls.map((call) => call.name).join(',') || 'text';
    const reply = aux ? 'aux' : fault === null ? said : `${fault.kind} ${fault.status ?? ''}`.trim();
    const { prompt, step } = at;
    const seen = {
      at: Date.now(),
      path,
      model,
      prompt: prompt.slice(0, 4000),
      promptBytes: Buffer.byteLength(prompt),
    };
    const told = lastWords(messages);
    requests.push({ ...seen, told, messages: messages.length, conversation: index, step, reply });
    if (!aux && fault === null) begin();
    if (!(await send(response, { dialect, answer, model, fault, turn, stream }))) return;
    for (const key of Object.keys(none) as (keyof TokenCounts)[]) {
      total.all[key] += answer.tokens[key];
      if (!aux) total.script[key] += answer.tokens[key];
    }
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    bodyOf(request)
      .then((body) => {
        const dialect = dialectOf(path);
        if (dialect !== null) return answerMessages(dialect, body, path, response);
        response.writeHead(path.endsWith('/count_tokens') || path === '/' ? 200 : 404, {
          'content-type': 'application/json',
        });
        response.end(JSON.stringify({ input_tokens: Math.ceil(body.length / 4) }));
        return undefined;
      })
      .catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    usage: (which = 'all') => ({ ...total[which] }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
