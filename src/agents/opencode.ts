/**
 * OpenCode, run headless by `opencode run --format json`: the prompt on stdin, one event a line on stdout.
 * Facts about the program were recorded with version 1.18.33; the streams lie in test/fixtures/agents. It has
 * no closing event but the end of a step for the reason `stop`. What the provider refuses it tries again for
 * ever, and says so on stderr only; a prompt too long it shortens and tries again for ever.
 */
import type { AgentError } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import type { Cli } from './cli.ts';
import { eventReader, type Handlers, type Notes } from './event-reader.ts';
import { count, type Json, object, parseLine, price, text } from './json.ts';
import { classifyError } from './provider-error.ts';
import { resetTimeIn, resetTimeOf } from './reset-time.ts';
import type { StreamReader } from './stream.ts';

const LOGIN = "Log in (`opencode auth login`) or set the provider's API key, then run again.";
/** Its own tools that run no command. `task` hires an agent whose calls are not shown. */
const QUIET = new Set(
  'read write edit multiedit patch apply_patch glob grep list ls webfetch websearch codesearch todowrite todoread skill lsp question invalid'.split(
    ' ',
  ),
);
const WRITING = new Set(['write', 'edit', 'multiedit']);
/** Reasons for which a step is whole; with any other the stream was cut off. */
const WHOLE = new Set(['stop', 'length', 'content-filter']);

function errorOf(error: Json, now: number): AgentError {
  const data = object(error.data);
  const message = text(data.message) || text(error.name) || 'OpenCode ended with an error.';
  const answer = object(object(parseLine(text(data.responseBody))).error);
  const status = typeof data.statusCode === 'number' ? data.statusCode : null;
  const words = [text(error.name), text(answer.code), text(answer.type)];
  const resetsAt = resetTimeOf(object(data.responseHeaders), now) ?? resetTimeIn(message, now);
  return classifyError({ status, words, message, resetsAt }, LOGIN);
}

function readTool(part: Json, notes: Notes): AgentEvent[] {
  const name = text(part.tool);
  const state = object(part.state);
  const [input, metadata] = [object(state.input), object(state.metadata)];
  const command = text(input.command);
  const path = text(metadata.filepath) || text(input.filePath);
  if (name === 'bash') {
    notes.command(text(part.callID), command);
    notes.ended(text(part.callID), typeof metadata.exit === 'number' ? metadata.exit : null);
  } else if (!QUIET.has(name)) notes.unseen(command);
  if (WRITING.has(name) && state.status === 'completed') notes.file(path);
  notes.printed(text(state.output));
  return [notes.tool(name, command || path || text(state.title))];
}

function handlers(notes: Notes, now: () => number): Handlers {
  let message = '';
  // Between a prompt that was too long and the next try with a shorter one.
  let shortening = false;
  const noteSession = (event: Json) => {
    notes.told.sessionId ??= text(event.sessionID) || null;
    return object(event.part);
  };
  return {
    step_start(event) {
      noteSession(event);
      notes.told.closed = false;
      return [];
    },
    text(event) {
      const part = noteSession(event);
      if (part.synthetic === true) {
        notes.told.closed = false;
        shortening = false;
        return [];
      }
      if (text(part.messageID) !== message) notes.begin();
      message = text(part.messageID);
      return [notes.say(text(part.text))];
    },
    tool_use(event) {
      const part = noteSession(event);
      notes.answered();
      return readTool(part, notes);
    },
    step_finish(event) {
      const part = noteSession(event);
      const tokens = object(part.tokens);
      const cache = object(tokens.cache);
      const input = count(tokens.input) + count(cache.read) + count(cache.write);
      const output = count(tokens.output) + count(tokens.reasoning);
      const costUsd = price(part.cost);
      const cached = { cached: count(cache.read), written: count(cache.write) };
      const events: AgentEvent[] = [notes.spend({ input, output, ...cached, costUsd })];
      const reason = text(part.reason);
      if (shortening) return events;
      if (WHOLE.has(reason)) {
        notes.answered();
        notes.told.closed = true;
      } else if (reason !== 'tool-calls') {
        const cut = `The model's answer ended in the middle (reason: ${reason || 'none'}).`;
        events.push(notes.refused({ kind: 'network', message: cut, resetsAt: null }));
      }
      return events;
    },
    error(event) {
      noteSession(event);
      const error = errorOf(object(event.error), now());
      if (error.kind !== 'prompt_too_long') {
        notes.failed(error);
        return [];
      }
      shortening = true;
      notes.told.closed = false;
      return [notes.refused(error)];
    },
    reasoning: null,
  };
}

/** `message="stream error" … error.error="AI_APICallError: …"`, and the title's own troubles are nobody's. */
function readComplaint(line: string, notes: Notes, now: number): AgentEvent[] {
  if (!line.includes('message="stream error"') || line.includes('small=true')) return [];
  const message = /error\.error="((?:[^"\\]|\\.)*)"/.exec(line.slice(0, 8_000))?.[1];
  if (message === undefined) return [];
  const resetsAt = resetTimeIn(message, now);
  const error = classifyError({ status: null, words: [], message, resetsAt }, LOGIN);
  // Told again on stdout, or not known for what it is.
  if (error.kind === 'crash' || error.kind === 'auth' || error.kind === 'prompt_too_long') return [];
  return [notes.refused(error)];
}

/** A reader of one `opencode run --format json`, with its log of errors on stderr. */
export function readOpencode(now: () => number = Date.now): StreamReader {
  return eventReader({
    handlers: (notes) => handlers(notes, now),
    complaint: (line, notes) => readComplaint(line, notes, now()),
    patience: { limit: 4, overload: 5, network: 5, prompt_too_long: 2 },
    now,
  });
}

function args(call: AgentCall): string[] {
  const options = ['run', '--format', 'json', '--auto', '--print-logs', '--log-level', 'ERROR'];
  if (call.resume !== undefined) options.push('--session', call.resume);
  if (call.model !== null) options.push('--model', call.model);
  return options;
}

export const OPENCODE: Cli = {
  title: 'OpenCode',
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  oldest: [1, 18, 0],
  login: 'Run `opencode auth login`, or name a provider with a key in opencode.json.',
  allow: (command) => `Remove the rule under permission.bash in opencode.json that denies \`${command}\`.`,
  loginStatus: null,
  readLogin: () => null,
  capabilities: {
    stream: true,
    toolEvents: true,
    sessionResume: true,
    choosesSessionId: false,
    liveInput: false,
    interrupt: false,
    tokens: true,
    cost: true,
    limits: true,
    readOnly: false,
  },
  args,
  read: () => readOpencode(),
};
