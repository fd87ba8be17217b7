/**
 * Claude Code's `--output-format stream-json`, one JSON object a line. The reader holds no clock and no
 * file: the same lines always tell the same. Unknown fields are ignored, unknown types are counted, and
 * no line can make it throw.
 *
 * The final message is the LAST result's text: a sub-agent that ends in the background starts another
 * turn, with another `result`. Lines of sub-agents carry `parent_tool_use_id` and are never the message.
 */
import { type AgentError, holdsCompletion } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { type CommandLog, commandLog } from './claude-commands.ts';
import { classifyClaudeError } from './claude-error.ts';
import { count, isObject, type Json, object, objects, parseLine, price, text } from './json.ts';
import { type Bill, estimateUsd, openBill } from './prices.ts';
import type { ErrorMarks } from './provider-error.ts';
import {
  countUnknown,
  LISTED,
  lastPart,
  NO_EVENT,
  nothingTold,
  type StreamReader,
  type Told,
  usageEvent,
} from './stream.ts';

/** Kept of one message before its beginning is let go: characters, and pieces. */
const TEXT_CHARS = 1024 * 1024;
const TEXTS_MOST = 64;

interface Tokens {
  input: number;
  output: number;
}

/** What one message has told so far. */
interface Message extends Tokens {
  /** Of what it wrote. */
  chars: number;
  /** By the price table. */
  usd: number;
}

interface Reading {
  told: Told & { toolCalls: number };
  log: CommandLog;
  files: Set<string>;
  cwd: string;
  /** Nobody else than Anthropic answers, so that what needs no key is paid by a subscription. */
  planPays: boolean;
  /** The last assistant message of the main conversation, joined from its lines. */
  message: { id: string; texts: string[] };
  /** Tokens of the last messages by id, and their sum: what is known while no result has come. */
  recent: Map<string, Message>;
  seen: Tokens;
  billed: Tokens;
  bill: Bill;
  resetsAt: number | null;
  /** The provider refused at least once with a reset time ahead and no answer came since. */
  rejected: boolean;
  retries: { word: string; count: number };
  stuck: AgentError | null;
  marks: Partial<ErrorMarks>;
}

/** Retries after a refused login before the run is called hopeless: the login will not get better. */
const AUTH_RETRIES = 2;
/** A retry delay that long is a limit and not a hiccup. */
const LONG_DELAY_MS = 10 * 60_000;
/** About as many characters make a token of prose and code. */
const CHARS_A_TOKEN = 4;
/** Messages whose usage may still be repeated. */
const RECENT = 200;
const FILE_TOOLS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit']);
const QUIET_TYPES = new Set([
  'stream_event',
  'control_request',
  'control_response',
  'control_cancel_request',
  'command_lifecycle',
  'keep_alive',
  'tool_progress',
  'auth_status',
  'tool_use_summary',
  'prompt_suggestion',
]);

/** Cache reads and writes are input: they are billed and they fill the window. */
function tokensOf(usage: Json): Tokens {
  const cached = count(usage.cache_read_input_tokens) + count(usage.cache_creation_input_tokens);
  return { input: count(usage.input_tokens) + cached, output: count(usage.output_tokens) };
}

/** Paths are absolute or relative to where the program was started, which it tells at its beginning. */
function noteFile(reading: Reading, path: string): void {
  if (path === '' || reading.files.size >= LISTED) return;
  const absolute = /^([/\\]|[A-Za-z]:)/.test(path) || reading.cwd === '';
  reading.files.add(absolute ? path : `${reading.cwd}/${path.replace(/^\.\//, '')}`);
}

function readToolCall(reading: Reading, block: Json, parent: string): AgentEvent {
  const name = text(block.name);
  const input = object(block.input);
  const command = text(input.command);
  reading.told.toolCalls++;
  if (FILE_TOOLS.has(name)) noteFile(reading, text(input.file_path) || text(input.notebook_path));
  reading.log.called({ id: text(block.id), name, input, by: parent });
  const detail = command || text(input.file_path) || text(input.notebook_path) || text(input.description);
  return { kind: 'tool', name, detail: detail.slice(0, 500) };
}

function readAssistant(reading: Reading, event: Json): AgentEvent[] {
  const message = object(event.message);
  const main = typeof event.parent_tool_use_id !== 'string';
  const id = text(message.id);
  const model = text(message.model);
  const synthetic = model === '<synthetic>';
  if (main && model !== '' && !synthetic) reading.told.usage.model = model;
  const error = text(event.error);
  if (error !== '') {
    reading.marks.words = [text(event.api_error), error];
    if (typeof event.api_error_status === 'number') reading.marks.status = event.api_error_status;
    readLimit(reading, object(event.api_error_params));
  } else if (!synthetic) {
    reading.retries = { word: '', count: 0 };
    reading.told.trouble = null;
    reading.rejected = false;
    reading.marks = {};
  }
  if (main && (id !== reading.message.id || id === '')) reading.message = { id, texts: [] };
  const events: AgentEvent[] = [];
  for (const block of objects(message.content)) {
    if (block.type === 'tool_use') events.push(readToolCall(reading, block, text(event.parent_tool_use_id)));
    if (block.type !== 'text' || !main) continue;
    addText(reading.message.texts, text(block.text));
    events.push({ kind: 'text', text: text(block.text) });
  }
  if (isObject(message.usage) && !synthetic) events.push(readUsage(reading, message));
  return events;
}

/** A message without end would fill the memory: of a long one only what `lastPart` shows is kept. */
function addText(texts: string[], next: string): void {
  texts.push(next);
  const chars = texts.reduce((sum, part) => sum + part.length, 0);
  if (chars > TEXT_CHARS || texts.length > TEXTS_MOST)
    texts.splice(0, texts.length, lastPart(texts.join('\n')));
}

/**
 * The lines of one message repeat its usage, also with lines of a sub-agent in between. Output is told too
 * low here (it is the count at the message's beginning), so that its price is reckoned by what it wrote; the
 * result puts both right.
 */
function readUsage(reading: Reading, message: Json): AgentEvent {
  const { recent, seen, billed, bill, told } = reading;
  const id = text(message.id);
  const usage = object(message.usage);
  const tokens = tokensOf(usage);
  const before = recent.get(id) ?? { input: 0, output: 0, chars: 0, usd: 0 };
  const chars = before.chars + writtenIn(objects(message.content));
  const usd = estimateUsd(text(message.model), {
    input: tokens.input,
    output: Math.max(tokens.output, Math.round(chars / CHARS_A_TOKEN)),
    cached: count(usage.cache_read_input_tokens),
    written: count(usage.cache_creation_input_tokens),
  });
  bill.reckon(usd === null ? null : usd - before.usd);
  bill.charge(told.usage);
  seen.input += tokens.input - before.input;
  seen.output += tokens.output - before.output;
  recent.delete(id);
  recent.set(id, { ...tokens, chars, usd: usd ?? 0 });
  const oldest = recent.keys().next().value;
  if (recent.size > RECENT && oldest !== undefined) recent.delete(oldest);
  told.usage.inputTokens = Math.max(billed.input, seen.input);
  told.usage.outputTokens = Math.max(billed.output, seen.output);
  return usageEvent(told.usage);
}

/** Characters that a model wrote: words, thoughts, and the texts it gives to tools. */
function writtenIn(blocks: Json[]): number {
  let chars = 0;
  for (const { text: words, thinking, input } of blocks)
    for (const part of [words, thinking, ...Object.values(object(input))])
      if (typeof part === 'string') chars += part.length;
  return chars;
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .map((part) => text(part.text))
    .join('\n');
}

function readUser(reading: Reading, event: Json): void {
  const outcome = object(event.tool_use_result);
  noteFile(reading, text(outcome.type) === 'text' ? '' : text(outcome.filePath));
  const refused = new Set(
    objects(event.tool_result_meta)
      .filter((meta) => object(meta.permission_decision).decision === 'reject')
      .map((meta) => text(meta.id)),
  );
  for (const block of objects(object(event.message).content)) {
    const id = text(block.tool_use_id);
    if (block.type !== 'tool_result') continue;
    const words = contentText(block.content);
    if (holdsCompletion(words)) reading.told.toolClaimed = true;
    reading.log.answered(id, {
      words,
      outcome,
      failed: block.is_error === true,
      refused: refused.has(id),
    });
  }
}

function readRetry(reading: Reading, event: Json): AgentEvent[] {
  const word = text(event.error) || 'unknown';
  const status = typeof event.error_status === 'number' ? event.error_status : null;
  const { retries } = reading;
  reading.retries = { word, count: retries.word === word ? retries.count + 1 : 1 };
  const attempt = count(event.attempt) || reading.retries.count;
  const delayMs = count(event.retry_delay_ms);
  const error = classifyClaudeError({
    status,
    words: [word],
    message: `Claude Code keeps retrying: ${word}${status === null ? '' : ` (HTTP ${status})`}, try ${attempt}`,
    resetsAt: reading.resetsAt,
  });
  reading.told.trouble = error;
  const longWait = error.kind === 'limit' && (delayMs >= LONG_DELAY_MS || reading.rejected);
  if ((error.kind === 'auth' && reading.retries.count >= AUTH_RETRIES) || longWait) reading.stuck = error;
  return [{ kind: 'retry', reason: status === null ? word : `${word} (HTTP ${status})`, attempt }];
}

/** No key: it is logged in with an account of claude.ai. */
const PLAN = new Set(['none', 'oauth']);

function readSystem(reading: Reading, event: Json): AgentEvent[] {
  const subtype = text(event.subtype);
  if (subtype === 'init') {
    // A further turn begins, and its first words may be long in coming. What ended the last one is past.
    if (reading.told.closed === true) reading.told = { ...reading.told, closed: false, error: null };
    reading.cwd = text(event.cwd);
    reading.told.usage.model = text(event.model) || reading.told.usage.model;
    const version = text(event.claude_code_version);
    if (version !== '') reading.told.version = version;
    if (reading.planPays && PLAN.has(text(event.apiKeySource))) reading.told.usage.byPlan = true;
  }
  if (subtype === 'api_retry') return readRetry(reading, event);
  if (subtype === 'background_tasks_changed') {
    const tasks = objects(event.tasks);
    reading.told.background = tasks.slice(0, 100).map((task) => ({
      what: text(task.description).slice(0, 500),
      agent: text(task.task_type) !== 'local_bash',
    }));
  }
  if (subtype === 'permission_denied') {
    reading.log.denied(text(event.tool_use_id));
  }
  if (subtype === 'task_notification') reading.log.ended(text(event.tool_use_id), text(event.summary));
  return [];
}

function readLimit(reading: Reading, event: Json): void {
  const info = object(event.rate_limit_info);
  if (text(info.status) !== 'rejected') return;
  reading.rejected = true;
  // Epoch seconds in the stream.
  reading.resetsAt = count(info.resetsAt) > 0 ? Math.round(count(info.resetsAt) * 1000) : null;
}

function readDenials(reading: Reading, result: Json): void {
  for (const denial of objects(result.permission_denials)) {
    if (text(denial.tool_name) === 'Bash') reading.log.refused(text(object(denial.tool_input).command));
  }
}

/** `modelUsage` sums the whole run, sub-agents included; older versions have `usage` a result only. */
function readBill(reading: Reading, result: Json): void {
  const models = Object.values(object(result.modelUsage)).filter(isObject);
  const { billed } = reading;
  if (models.length > 0) {
    billed.input = 0;
    billed.output = 0;
    for (const model of models) {
      billed.input += count(model.inputTokens);
      billed.input += count(model.cacheReadInputTokens) + count(model.cacheCreationInputTokens);
      billed.output += count(model.outputTokens);
    }
  } else if (isObject(result.usage)) {
    const tokens = tokensOf(result.usage);
    billed.input += tokens.input;
    billed.output += tokens.output;
  }
  const { usage } = reading.told;
  usage.inputTokens = billed.input;
  usage.outputTokens = billed.output;
  const told = price(result.total_cost_usd);
  if (told !== null) reading.bill.settle(told);
  reading.bill.charge(usage);
}

function readResult(reading: Reading, result: Json): AgentEvent[] {
  const { told, marks } = reading;
  told.closed = true;
  readDenials(reading, result);
  readBill(reading, result);
  const said = text(result.result);
  const subtype = text(result.subtype);
  const failed = result.is_error === true || typeof result.api_error_status === 'number';
  told.error = null;
  told.trouble = null;
  if (failed || subtype.startsWith('error')) {
    const status =
      typeof result.api_error_status === 'number' ? result.api_error_status : (marks.status ?? null);
    const reason = text(result.terminal_reason);
    const errors = Array.isArray(result.errors) ? result.errors.filter((row) => typeof row === 'string') : [];
    const words = [reason, text(result.api_error), ...(marks.words ?? []), text(result.api_error_type)];
    const message = said || errors.join('; ') || `Claude Code ended with ${reason || subtype || 'an error'}`;
    told.error = classifyClaudeError({ status, words, message, resetsAt: reading.resetsAt });
  }
  // An error's text is Claude Code's, not the model's: it claims nothing.
  told.finalMessage = told.error === null ? lastPart(said) : '';
  return [usageEvent(told.usage)];
}

function readEvent(reading: Reading, event: Json): AgentEvent[] {
  if (reading.told.sessionId === null && typeof event.session_id === 'string') {
    reading.told.sessionId = event.session_id;
  }
  const type = text(event.type);
  // New words after a result belong to a further turn, which will have its own result.
  if ((type === 'assistant' || type === 'user') && reading.told.closed === true) reading.told.closed = false;
  if (type === 'assistant') return readAssistant(reading, event);
  if (type === 'system') return readSystem(reading, event);
  if (type === 'result') return readResult(reading, event);
  if (type === 'user') readUser(reading, event);
  else if (type === 'rate_limit_event') readLimit(reading, event);
  else if (!QUIET_TYPES.has(type)) countUnknown(reading.told, type);
  return [];
}

function newReading(planPays: boolean): Reading {
  const told = { ...nothingTold(), toolCalls: 0, closed: false };
  return {
    told,
    log: commandLog(told.commands),
    files: new Set(),
    cwd: '',
    planPays,
    message: { id: '', texts: [] },
    recent: new Map(),
    seen: { input: 0, output: 0 },
    billed: { input: 0, output: 0 },
    bill: openBill(),
    resetsAt: null,
    rejected: false,
    retries: { word: '', count: 0 },
    stuck: null,
    marks: {},
  };
}

/**
 * A reader of one Claude Code run (`stream-json`, or the single object of `--output-format json`). `planPays`: where no
 * key is used, a subscription pays.
 */
export function readClaude({ planPays = true }: { planPays?: boolean } = {}): StreamReader {
  const reading = newReading(planPays);
  return {
    line(raw) {
      if (raw.trim() === '') return [];
      const event = parseLine(raw);
      // `--output-format json --verbose` prints the same events as one array.
      if (Array.isArray(event)) return event.filter(isObject).flatMap((row) => readEvent(reading, row));
      if (isObject(event)) return readEvent(reading, event);
      countUnknown(reading.told, NO_EVENT);
      return [];
    },
    told() {
      const { told, message } = reading;
      const said = message.texts.join('\n');
      const final =
        told.closed !== true || (told.finalMessage === '' && told.error === null) ? said : told.finalMessage;
      return {
        ...told,
        usage: { ...told.usage },
        commands: told.commands.filter(reading.log.counts),
        toolFiles: [...reading.files],
        finalMessage: lastPart(final),
      };
    },
    leaving() {
      const { closed, background } = reading.told;
      // A sub-agent in the background starts a further turn when it ends: that is no leaving yet.
      if (closed !== true || background.some((task) => task.agent)) return 'no';
      return background.length > 0 ? 'busy' : 'yes';
    },
    hopeless: () => reading.stuck,
  };
}
