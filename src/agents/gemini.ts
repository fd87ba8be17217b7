/**
 * Gemini CLI, run headless with `--output-format stream-json`: the prompt on stdin, one event a line on stdout.
 * Facts about the program were recorded with version 0.61.0; the streams lie in test/fixtures/agents. What it says
 * comes in pieces that are joined here, the prompt is repeated as a message of the user, and what its provider
 * refuses for a while it tries again without a word.
 */
import type { AgentError } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import type { Cli } from './cli.ts';
import { eventReader, type Handlers, type Notes } from './event-reader.ts';
import { count, type Json, object, text } from './json.ts';
import { classifyError } from './provider-error.ts';
import { resetTimeIn } from './reset-time.ts';
import { lastPart, type StreamReader } from './stream.ts';

const LOGIN = 'Log in (start `gemini` and type /auth) or set GEMINI_API_KEY, then run again.';
/** Its own tools that run no command. `invoke_agent` hires an agent whose calls are not shown. */
const QUIET = new Set(
  `read_file read_many_files list_directory glob grep_search search_file_content write_file replace web_fetch
  google_web_search write_todos save_memory enter_plan_mode exit_plan_mode ask_user activate_skill update_topic
  list_background_processes read_background_output`.split(/\s+/),
);
const WRITING = new Set(['write_file', 'replace']);

function errorOf(message: string, now: number): AgentError {
  // The provider's answer stands in the sentence as JSON: {"error":{"code":401,"status":"UNAUTHENTICATED"}}.
  const code = /"code"\s*:\s*([45]\d\d)\b/.exec(message)?.[1];
  const word = /"status"\s*:\s*"([A-Z_]+)"/.exec(message)?.[1];
  const status = code === undefined ? null : Number(code);
  const words = word === undefined ? [] : [word];
  return classifyError({ status, words, message, resetsAt: resetTimeIn(message, now) }, LOGIN);
}

function readCall(event: Json, notes: Notes): AgentEvent {
  const name = text(event.tool_name);
  const input = object(event.parameters);
  const command = text(input.command);
  if (name === 'run_shell_command') notes.command(text(event.tool_id), command);
  else if (!QUIET.has(name)) notes.unseen(command);
  if (WRITING.has(name)) notes.file(text(input.file_path));
  return notes.tool(name, command || text(input.file_path));
}

function readAnswer(event: Json, notes: Notes): void {
  const words = text(event.output) || text(object(event.error).message);
  // A call is called a success however its command ended, and the code stands only where nothing was printed.
  const code = /^Command exited with code: (\d{1,3})$/.exec(words.slice(0, 100).trim())?.[1];
  const quiet = event.status === 'success' && words.trim() === '' ? 0 : null;
  notes.printed(words);
  notes.ended(text(event.tool_id), code === undefined ? quiet : Number(code));
}

function handlers(notes: Notes, now: () => number): Handlers {
  // The pieces of one message, in which a piece may end anywhere.
  let pieces = '';
  return {
    init(event) {
      notes.told.sessionId ??= text(event.session_id) || null;
      notes.told.usage.model = text(event.model) || null;
      return [];
    },
    message(event) {
      if (event.role !== 'assistant') return [];
      const piece = text(event.content);
      pieces = lastPart(event.delta === true ? pieces + piece : piece);
      notes.told.closed = false;
      notes.begin();
      notes.say(pieces);
      return [{ kind: 'text', text: piece }];
    },
    tool_use(event) {
      pieces = '';
      notes.told.closed = false;
      return [readCall(event, notes)];
    },
    tool_result(event) {
      pieces = '';
      readAnswer(event, notes);
      return [];
    },
    /** A warning, or what the result tells again. */
    error: null,
    result(event) {
      notes.told.closed = true;
      if (event.status !== 'success') {
        const message = text(object(event.error).message);
        notes.failed(errorOf(message || 'Gemini CLI ended with an error.', now()));
      }
      const stats = object(event.stats);
      const [input, output] = [count(stats.input_tokens), count(stats.output_tokens)];
      return input + output === 0
        ? []
        : [notes.spend({ input, output, cached: count(stats.cached), several: true, costUsd: null })];
    },
  };
}

/** A reader of one run. */
export function readGemini(now: () => number = Date.now): StreamReader {
  return eventReader({ handlers: (notes) => handlers(notes, now), now });
}

function args(call: AgentCall): string[] {
  // An empty prompt makes it headless; what stands on stdin is put in front of it.
  const options = ['--prompt', '', '--yolo', '--output-format', 'stream-json'];
  if (call.resume !== undefined) options.push('--resume', call.resume);
  if (call.model !== null) options.push('--model', call.model);
  return options;
}

export const GEMINI: Cli = {
  title: 'Gemini CLI',
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  oldest: [0, 61, 0],
  login: 'Start `gemini` and type /auth, or set GEMINI_API_KEY.',
  allow: (command) =>
    `Remove the excluded tool or the policy in .gemini/settings.json that stops \`${command}\`.`,
  loginStatus: null,
  readLogin: () => null,
  // In a folder that is not trusted --yolo is taken back without a word.
  env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  capabilities: {
    stream: true,
    toolEvents: true,
    sessionResume: true,
    choosesSessionId: false,
    liveInput: false,
    interrupt: false,
    tokens: true,
    cost: false,
    limits: false,
    readOnly: false,
  },
  args,
  read: () => readGemini(),
};
