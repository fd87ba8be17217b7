/**
 * pi, run headless by `pi --mode rpc`: commands on stdin (see pi-live.ts), one event a line on stdout. Facts about the
 * program were recorded with version 0.73.1; the streams lie in test/fixtures/agents. It ends with 0 whatever
 * happened; how a try ended stands in the last message of the model, and `agent_end` comes after each try.
 */
import type { AgentError } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import type { Cli } from './cli.ts';
import { eventReader, type Handlers, type Notes } from './event-reader.ts';
import { count, type Json, object, objects, price, text } from './json.ts';
import { piLive } from './pi-live.ts';
import { classifyError } from './provider-error.ts';
import { resetTimeIn } from './reset-time.ts';
import type { StreamReader } from './stream.ts';

const LOGIN = "Log in (start `pi` and type /login) or set the provider's API key, then run again.";
/** Its own tools that run no command. */
const QUIET = new Set(['read', 'edit', 'write', 'grep', 'find', 'ls']);
const WRITING = new Set(['edit', 'write']);

const wordsIn = (content: unknown): string =>
  objects(content)
    .map((part) => text(part.text))
    .join('\n');

function errorOf(message: string, now: number): AgentError {
  return classifyError({ status: null, words: [], message, resetsAt: resetTimeIn(message, now) }, LOGIN);
}

function readMessage(message: Json, notes: Notes, now: number): AgentEvent[] {
  if (message.role !== 'assistant') return [];
  const stop = text(message.stopReason);
  if (stop === 'error' || stop === 'aborted') {
    notes.failed(errorOf(text(message.errorMessage) || `The model's answer was ${stop}.`, now));
    return [];
  }
  notes.answered();
  notes.begin();
  notes.told.usage.model = text(message.model) || notes.told.usage.model;
  const events = objects(message.content).flatMap((part) =>
    part.type === 'text' ? [notes.say(text(part.text))] : [],
  );
  const usage = object(message.usage);
  const input = count(usage.input) + count(usage.cacheRead) + count(usage.cacheWrite);
  const cost = object(usage.cost).total;
  const costUsd = price(cost);
  const cached = { cached: count(usage.cacheRead), written: count(usage.cacheWrite) };
  return [...events, notes.spend({ input, output: count(usage.output), ...cached, costUsd })];
}

function readTool(event: Json, notes: Notes): AgentEvent[] {
  const name = text(event.toolName);
  const args = object(event.args);
  const command = text(args.command);
  if (name === 'bash') notes.command(text(event.toolCallId), command);
  else if (!QUIET.has(name)) notes.unseen(command);
  if (WRITING.has(name)) notes.file(text(args.path));
  return [notes.tool(name, command || text(args.path))];
}

/** The exit code stands behind what the command printed, where it was another than 0. */
function exitCodeOf(words: string, failed: boolean): number | null {
  if (!failed) return 0;
  const code = /Command exited with code (\d{1,3})\s*$/.exec(words.slice(-60))?.[1];
  return code === undefined ? null : Number(code);
}

function handlers(notes: Notes, now: () => number): Handlers {
  let begun = false;
  const goesOn = () => {
    notes.told.closed = false;
    return [];
  };
  return {
    response(event) {
      if (event.command === 'get_state') notes.told.sessionId = text(object(event.data).sessionId) || null;
      // A prompt that it refuses begins nothing, and no word about it follows.
      if (event.command === 'prompt' && event.success !== true && !begun) {
        notes.told.closed = true;
        notes.failed(errorOf(text(event.error) || 'pi refused the prompt.', now()));
      }
      return [];
    },
    agent_start() {
      begun = true;
      return goesOn();
    },
    agent_end() {
      notes.told.closed = true;
      return [];
    },
    message_end: (event) => readMessage(object(event.message), notes, now()),
    tool_execution_start: (event) => readTool(event, notes),
    tool_execution_end(event) {
      const words = wordsIn(object(event.result).content);
      notes.printed(words);
      notes.ended(text(event.toolCallId), exitCodeOf(words, event.isError === true));
      return [];
    },
    auto_retry_start(event) {
      notes.told.closed = false;
      return [notes.refused(errorOf(text(event.errorMessage), now()))];
    },
    // The same words as those of the last message, which failed.
    auto_retry_end: null,
    // After an overflow it may try again; after good work it only tidies up.
    compaction_start: (event) => (event.reason === 'overflow' ? goesOn() : []),
    compaction_end: null,
    turn_start: null,
    turn_end: null,
    message_start: null,
    message_update: null,
    tool_execution_update: null,
    queue_update: null,
    session_info_changed: null,
    thinking_level_changed: null,
    extension_ui_request: null,
    extension_error: null,
  };
}

/** A reader of one `pi --mode rpc`. `cwd`: what the paths of its tools are relative to. */
export function readPi({ cwd = '', now = Date.now } = {}): StreamReader {
  const begin = (notes: Notes): Handlers => handlers(Object.assign(notes, { cwd }), now);
  return eventReader({ handlers: begin, now });
}

function args(call: AgentCall): string[] {
  const options = ['--mode', 'rpc'];
  if (call.resume !== undefined) options.push('--session', call.resume);
  if (call.model !== null) options.push('--model', call.model);
  if (call.readOnly) options.push('--tools', 'read,bash,grep,find,ls');
  return options;
}

export const PI: Cli = {
  title: 'pi',
  program: 'pi',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  oldest: [0, 60, 0],
  login: "Start `pi` and type /login, or set the provider's API key.",
  allow: (command) => `pi asks for no permission: remove the extension that stops \`${command}\`.`,
  loginStatus: null,
  readLogin: () => null,
  capabilities: {
    stream: true,
    toolEvents: true,
    sessionResume: true,
    choosesSessionId: false,
    liveInput: true,
    interrupt: true,
    tokens: true,
    cost: true,
    limits: true,
    // A reviewer is refused the file tools, but keeps its shell to run the thing: that can still write.
    readOnly: false,
  },
  args,
  read: (call) => readPi(call === undefined ? {} : { cwd: call.cwd }),
  live: piLive,
};
