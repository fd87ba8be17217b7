/**
 * Qwen Code, run headless with `--output-format stream-json`: the prompt on stdin, one event a line on stdout.
 * Facts about the program were recorded with version 0.15.10; the streams lie in test/fixtures/agents. The lines
 * look like Claude Code's, but it calls every end a success: an error stands in the words of the result only.
 */
import type { AgentError } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import type { Cli } from './cli.ts';
import { eventReader, type Handlers, type Notes } from './event-reader.ts';
import { count, type Json, object, objects, text } from './json.ts';
import { classifyError } from './provider-error.ts';
import { resetTimeIn } from './reset-time.ts';
import type { StreamReader } from './stream.ts';

const LOGIN = "Log in (start `qwen` and type /auth) or set the provider's API key, then run again.";
/** Its own tools that run no command. */
const QUIET = new Set(
  `read_file read_many_files list_directory glob grep_search write_file edit todo_write web_fetch web_search
  save_memory exit_plan_mode ask_user_question skill lsp`.split(/\s+/),
);
const WRITING = new Set(['write_file', 'edit']);
/** At the beginning of a result, or behind the words that were cut off. */
const API_ERROR = /\[API Error: ([\s\S]*)\]\s*$/;

function errorOf(message: string, now: number): AgentError {
  return classifyError({ status: null, words: [], message, resetsAt: resetTimeIn(message, now) }, LOGIN);
}

function readCall(block: Json, notes: Notes): AgentEvent {
  const name = text(block.name);
  const input = object(block.input);
  const command = text(input.command);
  if (name === 'run_shell_command') notes.command(text(block.id), command);
  else if (!QUIET.has(name)) notes.unseen(command);
  if (WRITING.has(name)) notes.file(text(input.file_path));
  return notes.tool(name, command || text(input.file_path));
}

function readAnswers(event: Json, notes: Notes): void {
  for (const block of objects(object(event.message).content)) {
    if (block.type !== 'tool_result') continue;
    const words =
      typeof block.content === 'string'
        ? block.content
        : objects(block.content)
            .map((part) => text(part.text))
            .join('\n');
    // Behind what the command printed, which may look alike.
    const code = /^Exit Code: (\d{1,3})$/gm;
    const codes = [...words.slice(-2_000).matchAll(code)];
    notes.printed(words);
    notes.ended(text(block.tool_use_id), codes.length === 0 ? null : Number(codes.at(-1)?.[1]));
  }
}

function handlers(notes: Notes, now: () => number): Handlers {
  return {
    system(event) {
      notes.told.sessionId ??= text(event.session_id) || null;
      if (event.subtype !== 'init') return [];
      notes.cwd = text(event.cwd);
      notes.told.usage.model = text(event.model) || null;
      const version = text(event.qwen_code_version);
      if (version !== '') notes.told.version = version;
      return [];
    },
    assistant(event) {
      const main = typeof event.parent_tool_use_id !== 'string';
      const blocks = objects(object(event.message).content);
      const events = blocks.flatMap((block): AgentEvent[] => {
        if (block.type === 'tool_use') return [readCall(block, notes)];
        if (block.type !== 'text' || !main) return [];
        notes.begin();
        return [notes.say(text(block.text))];
      });
      notes.told.closed = false;
      // Told with the last line of each answer; the result's own sum is over the whole session.
      const usage = object(object(event.message).usage);
      const [input, output] = [count(usage.input_tokens), count(usage.output_tokens)];
      return input + output === 0 ? events : [...events, notes.spend({ input, output, costUsd: null })];
    },
    user(event) {
      readAnswers(event, notes);
      return [];
    },
    result(event) {
      const said = text(event.result) || text(object(event.error).message);
      const error = API_ERROR.exec(said)?.[1];
      notes.told.closed = true;
      if (error !== undefined) notes.failed(errorOf(error, now()));
      else if (event.is_error === true)
        notes.failed(errorOf(said || 'Qwen Code ended with an error.', now()));
      else if (said !== '') {
        notes.begin();
        notes.say(said);
      }
      return [];
    },
    stream_event: null,
  };
}

/** A reader of one run. */
export function readQwen(now: () => number = Date.now): StreamReader {
  return eventReader({ handlers: (notes) => handlers(notes, now), now });
}

function args(call: AgentCall): string[] {
  const options = ['--yolo', '--output-format', 'stream-json'];
  if (call.resume !== undefined) options.push('--resume', call.resume);
  if (call.model !== null) options.push('--model', call.model);
  return options;
}

export const QWEN: Cli = {
  title: 'Qwen Code',
  program: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  oldest: [0, 15, 0],
  login: "Start `qwen` and type /auth, or set the provider's API key.",
  allow: (command) =>
    `Remove the deny rule or the excluded tool in .qwen/settings.json that stops \`${command}\`.`,
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
    cost: false,
    // A refusal is told as one, and never when it ends.
    limits: false,
    readOnly: false,
  },
  args,
  read: () => readQwen(),
};
