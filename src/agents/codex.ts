/**
 * Codex, run headless by `codex exec --json`: the prompt on stdin, one event a line on stdout. Facts about
 * the program were recorded with version 0.171.0; the streams lie in test/fixtures/agents. It names no model
 * and no cost, counts tokens at the end of a turn, over the whole of its thread, and tells a used-up limit's
 * end in a sentence only.
 */
import type { AgentError } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import type { Cli } from './cli.ts';
import { eventReader, type Handlers, type Notes } from './event-reader.ts';
import { count, type Json, object, objects, text } from './json.ts';
import { classifyError } from './provider-error.ts';
import { resetTimeIn } from './reset-time.ts';
import type { StreamReader } from './stream.ts';
import { unwrapShell } from './unwrap-shell.ts';

const LOGIN =
  'Log in (`codex login`) or set a valid key for the provider in ~/.codex/config.toml, then run again.';

function errorOf(message: string, now: number): AgentError {
  return classifyError({ status: null, words: [], message, resetsAt: resetTimeIn(message, now) }, LOGIN);
}

function commandOf(item: Json): string {
  return unwrapShell(text(item.command));
}

/** Codex names an item once when it begins and once when it is over; some only then. */
function itemHandlers(notes: Notes): { started: Handlers; completed: Handlers } {
  const begun = new Set<string>();
  const startCommand = (item: Json): AgentEvent[] => {
    begun.add(text(item.id));
    notes.command(text(item.id), commandOf(item));
    return [notes.tool('shell', commandOf(item))];
  };
  const tool = (name: string, detail: (item: Json) => string) => (item: Json) => {
    notes.unseen('');
    return [notes.tool(name, detail(item))];
  };
  return {
    started: { command_execution: startCommand },
    completed: {
      agent_message(item) {
        notes.answered();
        notes.begin();
        return [notes.say(text(item.text))];
      },
      command_execution(item) {
        const events = begun.delete(text(item.id)) ? [] : startCommand(item);
        const code = typeof item.exit_code === 'number' ? item.exit_code : null;
        notes.ended(text(item.id), code, item.status === 'declined');
        notes.printed(text(item.aggregated_output));
        return events;
      },
      file_change(item) {
        const paths = objects(item.changes).map((change) => text(change.path));
        if (item.status !== 'failed') for (const path of paths) notes.file(path);
        return [notes.tool('file_change', paths.join(' '))];
      },
      mcp_tool_call(item) {
        notes.printed(
          objects(object(item.result).content)
            .map((part) => text(part.text))
            .join('\n'),
        );
        return tool('mcp', ({ server, tool: name }) => `${text(server)}.${text(name)}`)(item);
      },
      collab_tool_call: tool('agent', ({ tool: name }) => text(name)),
      web_search: (item) => [notes.tool('web_search', text(item.query))],
      reasoning: null,
      todo_list: null,
      // A warning; what ends the turn is told by it.
      error: null,
    },
  };
}

interface Tokens {
  /** Cached ones are counted in. */
  input: number;
  output: number;
  cached: number;
  written: number;
}

/** What each thread had used when its last turn ended, as far as this process saw. */
const USED = new Map<string, Tokens>();
const THREADS = 1_000;

/** The tokens that a turn adds to those of its thread. */
function addedBy(thread: string, total: Tokens, resumed: boolean): Tokens {
  const before = resumed ? USED.get(thread) : undefined;
  USED.delete(thread);
  USED.set(thread, total);
  const oldest = USED.keys().next().value;
  if (USED.size > THREADS && oldest !== undefined) USED.delete(oldest);
  if (before === undefined) return total;
  const added = (of: keyof Tokens) => Math.max(0, total[of] - before[of]);
  return {
    input: added('input'),
    output: added('output'),
    cached: added('cached'),
    written: added('written'),
  };
}

function handlers(notes: Notes, now: () => number, resumed: boolean): Handlers {
  const items = itemHandlers(notes);
  const read = (table: Handlers, strict: boolean) => (event: Json) => {
    const item = object(event.item);
    const name = text(item.type);
    if (Object.hasOwn(table, name)) return table[name]?.(item) ?? [];
    if (strict) notes.unknown();
    return [];
  };
  return {
    'thread.started'(event) {
      notes.told.sessionId = text(event.thread_id) || null;
      return [];
    },
    'turn.started'() {
      notes.told.closed = false;
      return [];
    },
    'item.started': read(items.started, false),
    'item.updated': null,
    'item.completed': read(items.completed, true),
    'turn.completed'(event) {
      const usage = object(event.usage);
      notes.answered();
      notes.told.closed = true;
      const total = {
        input: count(usage.input_tokens),
        output: count(usage.output_tokens),
        cached: count(usage.cached_input_tokens),
        written: count(usage.cache_write_input_tokens),
      };
      const added = addedBy(notes.told.sessionId ?? '', total, resumed);
      return [notes.spend({ ...added, several: true, costUsd: null })];
    },
    'turn.failed'(event) {
      notes.told.closed = true;
      notes.failed(errorOf(text(object(event.error).message) || 'The turn failed.', now()));
      return [];
    },
    error: (event) => [notes.refused(errorOf(text(event.message), now()))],
  };
}

interface CodexCall {
  /** It goes on in an earlier thread. */
  resumed?: boolean;
  /** The model it was told to take: it names none itself. */
  model?: string | null;
  now?: () => number;
}

/** A reader of one `codex exec --json`. */
export function readCodex({ resumed = false, model = null, now = Date.now }: CodexCall = {}): StreamReader {
  return eventReader({
    handlers(notes) {
      notes.told.usage.model = model;
      return handlers(notes, now, resumed);
    },
    now,
  });
}

function args(call: AgentCall): string[] {
  const options = ['--json', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check'];
  // Its shell leaves out variables that look like secrets, and the attempt's own token does.
  options.push('-c', 'shell_environment_policy.ignore_default_excludes=true');
  if (call.model !== null) options.push('--model', call.model);
  return call.resume === undefined
    ? ['exec', ...options, '-']
    : ['exec', 'resume', ...options, call.resume, '-'];
}

export const CODEX: Cli = {
  title: 'Codex',
  program: 'codex',
  install: 'npm install -g @openai/codex',
  oldest: [0, 100, 0],
  login: 'Run `codex login`, or name a provider with a key in ~/.codex/config.toml.',
  allow: (command) =>
    `Remove the rule in ~/.codex/rules or the managed requirement that stops \`${command}\`; Ralph starts Codex with approvals off.`,
  loginStatus: ['login', 'status'],
  readLogin: (printed) => {
    if (/\bnot logged in\b/i.test(printed)) return null;
    return /\blogged in\b/i.test(printed) ? true : null;
  },
  capabilities: {
    stream: true,
    toolEvents: true,
    sessionResume: true,
    choosesSessionId: false,
    liveInput: false,
    interrupt: false,
    tokens: true,
    cost: false,
    limits: true,
    // Its own sandbox would keep a reviewer from running the thing, and from reporting.
    readOnly: false,
  },
  args,
  read: (call) => readCodex({ resumed: call?.resume !== undefined, model: call?.model ?? null }),
};
