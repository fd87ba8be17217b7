/**
 * A scripted model: a small server that speaks enough of the Anthropic Messages API for a real agent CLI
 * to work against it, on loopback and without a login. The script says, prompt by prompt and turn by turn,
 * what the "model" answers: words, files to write, commands to run, tokens to report, faults to play.
 *
 * A request tells by itself where the script stands. The conversation is named inside the ids of the tool
 * calls that this server handed out, the step is the number of assistant messages since the prompt began.
 * So agents may run side by side, and a request that is tried again gets the same turn again.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Something that goes wrong instead of the turn, `times` times (default once), then the turn is played. */
export interface Fault {
  /**
   * `status`: an error answer. `truncate`: the stream ends half way. `reset`: the connection breaks half
   * way. `stall`: the stream opens and then says nothing. `error`: an error event inside a 200 stream.
   */
  kind: 'status' | 'truncate' | 'reset' | 'stall' | 'error';
  status?: number;
  message?: string;
  headers?: Record<string, string>;
  times?: number;
}

/** One answer of the model. `write` and `run` become calls of the CLI's own file and shell tools. */
export interface Turn {
  text?: string;
  write?: { path: string; content: string } | { path: string; content: string }[];
  run?: string | string[];
  /** Raw tool calls by exact name. */
  tools?: { name: string; input: Record<string, unknown> }[];
  usage?: Partial<TokenCounts>;
  headers?: Record<string, string>;
  delayMs?: number;
  fault?: Fault | Fault[];
}

/** What one fresh prompt gets. Without `match` it fits every prompt. */
export interface Conversation {
  match?: RegExp;
  turns: Turn[];
}

/**
 * The k-th fresh prompt that fits a group of conversations (equal `match`) plays the k-th of the group;
 * the last one repeats. Groups with a `match` are tried before those without.
 */
export interface ModelScript {
  conversations: Conversation[];
  /** Tokens of a turn that names none. */
  usage?: Partial<TokenCounts>;
}

/** One request as the server saw it, without its body. */
export interface SeenRequest {
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
  /** Sums over all answers that were sent whole; `input` counts uncached tokens only. */
  usage(): TokenCounts;
  close(): Promise<void>;
}

interface Block {
  type?: string;
  text?: string;
  id?: string;
}
interface ApiMessage {
  role: string;
  content: string | Block[];
}
interface ApiRequest {
  model?: string;
  stream?: boolean;
  system?: unknown;
  tools?: { name: string }[];
  messages?: ApiMessage[];
}
interface Position {
  step: number;
  prompt: string;
  conversation: number | null;
}
interface Answer {
  text: string;
  calls: { id: string; name: string; input: Record<string, unknown> }[];
  tokens: TokenCounts;
}

const DEFAULT_TOKENS: TokenCounts = { input: 1000, output: 50, cacheRead: 0, cacheWrite: 0 };
const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};
const list = <T>(value: T | T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
const blocksOf = (message: ApiMessage): Block[] =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;

/** A fault that answers with this HTTP status for ever. */
export function always(status: number, rest: Partial<Fault> = {}): Fault {
  return { kind: 'status', status, times: Number.MAX_SAFE_INTEGER, ...rest };
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

function positionOf(messages: ApiMessage[]): Position {
  let step = 0;
  let prompt = '';
  let conversation: number | null = null;
  let last: 'none' | 'user' | 'words' | 'calls' = 'none';
  for (const message of messages) {
    const blocks = blocksOf(message);
    const text = blocks.map((block) => block.text ?? '').join('\n');
    if (message.role === 'assistant') {
      const ids = blocks.map((block) => block.id ?? '').filter((id) => id.startsWith('toolu_'));
      conversation = Number(/^toolu_c(\d+)s/.exec(ids[0] ?? '')?.[1] ?? conversation ?? Number.NaN);
      if (Number.isNaN(conversation)) conversation = null;
      if (last === 'user' || last === 'none') step++;
      last = ids.length > 0 ? 'calls' : 'words';
    } else if (message.role === 'user') {
      // A broken stream is repaired by asking the model to go on: that is no new prompt, and no step.
      if (/cut off mid-stream/.test(text)) step = Math.max(0, step - 1);
      else if (last === 'none' || last === 'words') {
        step = 0;
        prompt = text;
        conversation = null;
      } else if (step === 0) prompt += `\n${text}`;
      last = 'user';
    }
  }
  return { step, prompt, conversation };
}

function lastWords(messages: ApiMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const words = last === undefined ? [] : blocksOf(last).map((block) => block.text ?? '');
  return words.join('\n').slice(0, 4000);
}

/** The working directory as the CLI tells it to the model; its file tool wants absolute paths. */
function cwdOf(body: string): string {
  const told = /working directory(?: is)?: *(\/[^\s\\"`<]+)/i.exec(body);
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

function renderTurn({ turn, cwd, place, usage }: { turn: Turn; cwd: string; place: string; usage: object }) {
  const calls: Answer['calls'] = [];
  const add = (name: string, input: Record<string, unknown>) =>
    calls.push({ id: `toolu_${place}n${++callNumber}`, name, input });
  for (const { path, content } of list(turn.write)) {
    add('Write', { file_path: path.startsWith('/') ? path : `${cwd}/${path}`, content });
  }
  for (const command of list(turn.run)) add('Bash', { command, description: 'scripted command' });
  for (const tool of turn.tools ?? []) add(tool.name, tool.input);
  return { text: turn.text ?? '', calls, tokens: { ...DEFAULT_TOKENS, ...usage, ...turn.usage } };
}

function framesOf(answer: Answer, model: string): [string, Record<string, unknown>][] {
  const { tokens } = answer;
  const usage = {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cacheRead,
    output_tokens: 1,
  };
  const message = {
    id: `msg_${++callNumber}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const frames: [string, Record<string, unknown>][] = [['message_start', { message }]];
  const blocks: { start: object; delta: object }[] = [];
  if (answer.text !== '' || answer.calls.length === 0) {
    blocks.push({ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: answer.text } });
  }
  for (const { id, name, input } of answer.calls) {
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    blocks.push({ start: { type: 'tool_use', id, name, input: {} }, delta });
  }
  for (const [index, { start, delta }] of blocks.entries()) {
    frames.push(['content_block_start', { index, content_block: start }]);
    frames.push(['content_block_delta', { index, delta }]);
    frames.push(['content_block_stop', { index }]);
  }
  const stop = answer.calls.length > 0 ? 'tool_use' : 'end_turn';
  const closing = { delta: { stop_reason: stop, stop_sequence: null } };
  frames.push(['message_delta', { ...closing, usage: { ...usage, output_tokens: tokens.output } }]);
  frames.push(['message_stop', {}]);
  return frames;
}

function errorBody(fault: Fault): string {
  const status = fault.status ?? 529;
  const type = ERROR_TYPES[status] ?? 'api_error';
  return JSON.stringify({
    type: 'error',
    error: { type, message: fault.message ?? `scripted error ${status}` },
  });
}

/** Sends the answer; true when it went out whole. */
async function send(
  response: ServerResponse,
  { answer, model, fault, turn }: { answer: Answer; model: string; fault: Fault | null; turn: Turn },
): Promise<boolean> {
  if (turn.delayMs !== undefined) await sleep(turn.delayMs);
  if (fault?.kind === 'status') {
    response.writeHead(fault.status ?? 500, { 'content-type': 'application/json', ...fault.headers });
    response.end(errorBody(fault));
    return false;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...turn.headers, ...fault?.headers });
  const frames = framesOf(answer, model).map(
    ([event, data]) => `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`,
  );
  if (fault === null) {
    response.end(frames.join(''));
    return true;
  }
  response.write(frames.slice(0, fault.kind === 'stall' ? 1 : Math.ceil(frames.length / 2)).join(''));
  if (fault.kind === 'error') response.end(`event: error\ndata: ${errorBody(fault)}\n\n`);
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
  const total: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

  async function answerMessages(body: string, path: string, response: ServerResponse): Promise<void> {
    const request = JSON.parse(body) as ApiRequest;
    const at = positionOf(request.messages ?? []);
    // Titles, topics and summaries offer no tools: they are no part of the script.
    const aux = (request.tools ?? []).length === 0;
    const { index, begin } = pickConversation(stage, at);
    const turns = script.conversations[index]?.turns ?? [];
    const turn = aux
      ? { text: 'ok' }
      : (turns[Math.min(at.step, turns.length - 1)] ?? { text: 'no turn left' });
    const fault = aux ? null : dueFault(stage, turn, `${index}/${at.step}`);
    const place = `c${index}s${at.step}`;
    const answer = renderTurn({ turn, cwd: cwdOf(body), place, usage: script.usage ?? {} });
    const said = answer.calls.map((call) => call.name).join(',') || 'text';
    const reply = aux ? 'aux' : fault === null ? said : `${fault.kind} ${fault.status ?? ''}`.trim();
    const model = request.model ?? 'scripted-model';
    const { prompt, step } = at;
    const seen = { path, model, prompt: prompt.slice(0, 4000), promptBytes: Buffer.byteLength(prompt) };
    const messages = request.messages?.length ?? 0;
    const told = lastWords(request.messages ?? []);
    requests.push({ ...seen, told, messages, conversation: index, step, reply });
    if (!aux && fault === null) begin();
    if (!(await send(response, { answer, model, fault, turn }))) return;
    for (const key of Object.keys(total) as (keyof TokenCounts)[]) total[key] += answer.tokens[key];
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    bodyOf(request)
      .then((body) => {
        if (path.endsWith('/messages')) return answerMessages(body, path, response);
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
    usage: () => ({ ...total }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
