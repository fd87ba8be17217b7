/**
 * GitHub Copilot CLI, run headless with `--output-format json`: the prompt on stdin, one event a line on stdout.
 * Facts about the program were recorded with version 1.0.102; the streams lie in test/fixtures/agents. It names
 * its session in its last line only, and neither tokens nor a cost.
 */
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import type { Cli } from './cli.ts';
import { eventReader, type Handlers, type Notes } from './event-reader.ts';
import { type Json, object, objects, text } from './json.ts';
import { classifyError } from './provider-error.ts';
import { resetTimeIn } from './reset-time.ts';
import type { StreamReader } from './stream.ts';

const LOGIN =
  'Log in (start `copilot` and type /login) or set a valid token or provider key, then run again.';
/** Its own tools that run no command. */
const QUIET = new Set(
  `view create edit str_replace apply_patch grep rg glob report_intent read_bash write_bash stop_bash list_bash
  show_file update_todo sql store_memory web_fetch web_search ask_user skill task_complete exit_plan_mode`.split(
    /\s+/,
  ),
);
/** Types that tell nothing we keep. */
const NOISE =
  `user.message assistant.turn_start assistant.turn_end assistant.turn_retry assistant.message_start
  assistant.message_delta assistant.tool_call_delta assistant.idle assistant.intent assistant.reasoning
  assistant.reasoning_delta assistant.usage model.call_start model.call_finished model.call_final_result
  tool.execution_partial_result tool.execution_progress tool.shell_output session.background_tasks_changed
  session.info session.mcp_servers_loaded session.skills_loaded session.tools_updated session.start session.resume
  session.warning session.idle session.usage_info session.truncation session.compaction_start
  session.compaction_complete session.model_change session.title_changed`.split(/\s+/);

const statusOf = (data: Json): number | null =>
  typeof data.statusCode === 'number' ? data.statusCode : null;

function readStart(data: Json, notes: Notes): AgentEvent[] {
  const name = text(data.toolName);
  const input = object(data.arguments);
  const command = text(input.command);
  if (name === 'bash') notes.command(text(data.toolCallId), command);
  else if (!QUIET.has(name)) notes.unseen(command);
  return name === 'report_intent' ? [] : [notes.tool(name, command || text(input.path))];
}

function readComplete(data: Json, notes: Notes): AgentEvent[] {
  const code = object(data.shellExecution).exitCode;
  for (const edit of objects(data.fileEdits)) notes.file(text(edit.path));
  notes.printed(text(object(data.result).content));
  notes.ended(text(data.toolCallId), typeof code === 'number' ? code : null);
  return [];
}

function handlers(notes: Notes, now: () => number): Handlers {
  const errorOf = (data: Json, message: string, words: string[]) =>
    classifyError({ status: statusOf(data), words, message, resetsAt: resetTimeIn(message, now()) }, LOGIN);
  return {
    ...Object.fromEntries(NOISE.map((type) => [type, null])),
    'assistant.message'(event) {
      const data = object(event.data);
      notes.answered();
      notes.told.usage.model = text(data.model) || notes.told.usage.model;
      if (text(data.content) === '') return [];
      notes.begin();
      return [notes.say(text(data.content))];
    },
    'tool.execution_start': (event) => readStart(object(event.data), notes),
    'tool.execution_complete': (event) => readComplete(object(event.data), notes),
    'model.call_failure'(event) {
      const data = object(event.data);
      const status = statusOf(data);
      const why =
        text(data.errorMessage) || (status === null ? 'no answer, connection error' : `HTTP ${status}`);
      return [notes.refused(errorOf(data, `Copilot keeps retrying: ${why}`, [text(data.errorCode)]))];
    },
    'session.error'(event) {
      const data = object(event.data);
      notes.failed(
        errorOf(data, text(data.message) || 'Copilot ended with an error.', [text(data.errorType)]),
      );
      return [];
    },
    result(event) {
      notes.told.sessionId = text(event.sessionId) || null;
      notes.told.closed = true;
      return [];
    },
  };
}

/** A reader of one run. */
export function readCopilot(now: () => number = Date.now): StreamReader {
  return eventReader({
    handlers: (notes) => handlers(notes, now),
    // It gives a refused login up by itself, at once.
    patience: { auth: 4 },
    now,
  });
}

function args(call: AgentCall): string[] {
  const options = ['--allow-all-tools', '--output-format', 'json', '--no-color'];
  if (call.resume !== undefined) options.push(`--resume=${call.resume}`);
  if (call.model !== null) options.push('--model', call.model);
  return options;
}

export const COPILOT: Cli = {
  title: 'GitHub Copilot CLI',
  program: 'copilot',
  install: 'npm install -g @github/copilot',
  oldest: [1, 0, 0],
  login: 'Start `copilot` and type /login, or set COPILOT_PROVIDER_BASE_URL and a key of your own provider.',
  allow: (command) => `Remove the deny rule or the hook in Copilot's settings that stops \`${command}\`.`,
  loginStatus: null,
  readLogin: () => null,
  capabilities: {
    stream: true,
    toolEvents: true,
    sessionResume: true,
    choosesSessionId: false,
    liveInput: false,
    interrupt: false,
    tokens: false,
    cost: false,
    // A refusal is told as one, and never when it ends.
    limits: false,
    readOnly: false,
  },
  args,
  read: () => readCopilot(),
};
