/**
 * Codex, run headless by `codex app-server`: requests on stdin (see codex-live.ts), one message a line on stdout.
 * Facts about the program were recorded with version 0.171.0; the streams lie in test/fixtures/agents. It names no
 * cost, counts tokens with each answer of the model, over the whole of its thread, and tells a used-up limit's end
 * in a sentence only.
 */
import type { AgentError } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import type { Cli } from './cli.ts';
import { codexLive, THREAD } from './codex-live.ts';
import { eventReader, type Handler, type Handlers, type Notes } from './event-reader.ts';
import { count, isObject, type Json, object, objects, parseLine, text } from './json.ts';
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

/** What a failed try or turn says of its cause; the sentence that counts stands behind, in the details. */
function causeOf(error: Json, now: number): AgentError {
  const [message, details] = [text(error.message), text(error.additionalDetails)];
  return errorOf(details === '' ? message || 'The turn failed.' : `${message} (${details})`, now);
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
    started: { commandExecution: startCommand },
    completed: {
      agentMessage(item) {
        notes.answered();
        notes.begin();
        return [notes.say(text(item.text))];
      },
      commandExecution(item) {
        const events = begun.delete(text(item.id)) ? [] : startCommand(item);
        const code = typeof item.exitCode === 'number' ? item.exitCode : null;
        notes.ended(text(item.id), code, item.status === 'declined');
        notes.printed(text(item.aggregatedOutput));
        return events;
      },
      fileChange(item) {
        const paths = objects(item.changes).map((change) => text(change.path));
        if (item.status !== 'failed' && item.status !== 'declined')
          for (const path of paths) notes.file(path);
        return [notes.tool('file_change', paths.join(' '))];
      },
      mcpToolCall(item) {
        notes.printed(
          objects(object(item.result).content)
            .map((part) => text(part.text))
            .join('\n'),
        );
        return tool('mcp', ({ server, tool: name }) => `${text(server)}.${text(name)}`)(item);
      },
      dynamicToolCall: tool('tool', ({ tool: name }) => text(name)),
      collabAgentToolCall: tool('agent', ({ tool: name }) => text(name)),
      webSearch: (item) => [notes.tool('web_search', text(item.query))],
      userMessage: null,
      hookPrompt: null,
      functionCallOutput: null,
      plan: null,
      reasoning: null,
      subAgentActivity: null,
      imageView: null,
      imageGeneration: null,
      sleep: null,
      enteredReviewMode: null,
      exitedReviewMode: null,
      contextCompaction: null,
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

const tokensOf = (usage: Json): Tokens => ({
  input: count(usage.inputTokens),
  output: count(usage.outputTokens),
  cached: count(usage.cachedInputTokens),
  written: count(usage.cacheWriteInputTokens),
});

const minus = (more: Tokens, less: Tokens): Tokens => ({
  input: Math.max(0, more.input - less.input),
  output: Math.max(0, more.output - less.output),
  cached: Math.max(0, more.cached - less.cached),
  written: Math.max(0, more.written - less.written),
});

/** Reckons what is new in sums that go over whole threads, those of earlier runs included; some come twice. */
function tokenCounter(): (thread: string, usage: Json) => Tokens {
  const sums = new Map<string, Tokens>();
  return (thread, usage) => {
    const total = tokensOf(object(usage.total));
    const before = sums.get(thread) ?? minus(total, tokensOf(object(usage.last)));
    sums.set(thread, total);
    return minus(total, before);
  };
}

/** Told, and nothing of it is kept. */
const QUIET = `
  thread/archived thread/closed thread/compacted thread/deleted thread/environment/connected thread/goal/cleared
  thread/environment/disconnected thread/goal/updated thread/name/updated thread/project/updated thread/queue/changed
  thread/reverted thread/settings/updated thread/started thread/status/changed turn/moderationMetadata
  turn/plan/updated app/list/updated configWarning deprecationNotice
  fs/changed guardianWarning hook/completed hook/started item/autoApprovalReview/completed
  item/autoApprovalReview/started item/commandExecution/terminalInteraction item/mcpToolCall/progress
  mcpServer/startupStatus/updated model/rerouted model/safetyBuffering/updated model/verification
  item/commandExecution/requestApproval item/fileChange/requestApproval mcpServer/elicitation/request
  modelProvider/authRecoveryCompleted modelProvider/authRecoveryStarted serverRequest/resolved skills/changed warning
`;
const NO_PLAN = new Set(['', 'unknown']);
/** What answers to our requests are called; they alone have no method. */
const ANSWER = '';

function turnHandlers(notes: Notes, now: () => number): Record<'started' | 'completed' | 'error', Handler> {
  return {
    started() {
      notes.told.closed = false;
      return [];
    },
    completed({ turn }) {
      const { status, error } = object(turn);
      notes.told.closed = true;
      if (status === 'completed') notes.answered();
      else if (status === 'interrupted') notes.failed(errorOf('The turn was interrupted.', now()));
      else notes.failed(causeOf(object(error), now()));
      return [];
    },
    error({ error, willRetry }) {
      const cause = causeOf(object(error), now());
      if (willRetry === true) return [notes.refused(cause)];
      notes.failed(cause);
      return [];
    },
  };
}

function handlers(notes: Notes, now: () => number): Handlers {
  const items = itemHandlers(notes);
  const turns = turnHandlers(notes, now);
  const added = tokenCounter();
  let begun = false;
  /** Agents that it hired have threads of their own: what ends there ends nothing here. */
  const own = (handler: Handler) => (event: Json) => {
    const params = object(event.params);
    return params.threadId === notes.told.sessionId ? handler(params) : [];
  };
  /** With an account of ChatGPT its plan is named; with a key none is. */
  const account: Handler = ({ params }) => {
    const { planType = object(object(params).rateLimits).planType } = object(params);
    if (!NO_PLAN.has(text(planType))) notes.told.usage.byPlan = true;
    return [];
  };
  const read = (table: Handlers, strict: boolean) =>
    own(({ item }) => {
      const name = text(object(item).type);
      if (Object.hasOwn(table, name)) return table[name]?.(object(item)) ?? [];
      if (strict) notes.unknown(`item/completed ${name}`);
      return [];
    });
  return {
    ...Object.fromEntries(
      QUIET.trim()
        .split(/\s+/)
        .map((name) => [name, null]),
    ),
    [ANSWER](event) {
      // `ralph/0.171.0 (…)`: the name is ours, the version is its own.
      const version = /^[^/\s]*\/(\d[\w.-]*)/.exec(text(object(event.result).userAgent))?.[1];
      if (version !== undefined) notes.told.version = version;
      if (event.id === THREAD && event.error === undefined) {
        const { thread, model } = object(event.result);
        notes.told.sessionId = text(object(thread).id) || null;
        notes.told.usage.model = text(model) || notes.told.usage.model;
      }
      // What it refuses before the first turn begins nothing, and no word about it follows.
      if (event.error !== undefined && !begun) {
        notes.told.closed = true;
        notes.failed(causeOf(object(event.error), now()));
      }
      return [];
    },
    'turn/started': own((params) => {
      begun = true;
      return turns.started(params);
    }),
    'turn/completed': own(turns.completed),
    error: own(turns.error),
    'item/started': read(items.started, false),
    'item/completed': read(items.completed, true),
    'account/updated': account,
    'account/rateLimits/updated': account,
    'thread/tokenUsage/updated'({ params }) {
      const { threadId, tokenUsage } = object(params);
      const more = added(text(threadId), object(tokenUsage));
      // The sums of a thread that goes on are told before its turn begins.
      return begun ? [notes.spend({ ...more, costUsd: null })] : [];
    },
  };
}

interface CodexCall {
  /** The model it was told to take. */
  model?: string | null;
  now?: () => number;
}

/** A reader of one `codex app-server`. */
export function readCodex({ model = null, now = Date.now }: CodexCall = {}): StreamReader {
  const reader = eventReader({
    type: 'method',
    handlers(notes) {
      notes.told.usage.model = model;
      return handlers(notes, now);
    },
    now,
  });
  return {
    ...reader,
    line(raw) {
      if (raw.trim() === '') return [];
      const message = parseLine(raw);
      if (!isObject(message) || message.method !== undefined) return reader.event(message);
      return reader.event(Object.hasOwn(message, 'id') ? { ...message, method: ANSWER } : message);
    },
  };
}

/** Its shell leaves out variables that look like secrets, and the attempt's own token does. */
const ARGUMENTS = ['app-server', '-c', 'shell_environment_policy.ignore_default_excludes=true'];

export const CODEX: Cli = {
  title: 'Codex',
  program: 'codex',
  install: 'npm install -g @openai/codex',
  oldest: [0, 139, 0],
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
    liveInput: true,
    interrupt: true,
    tokens: true,
    cost: false,
    limits: true,
    // Its own sandbox would keep a reviewer from running the thing, and from reporting.
    readOnly: false,
    permissions: true,
  },
  args: () => ARGUMENTS,
  read: (call) => readCodex({ model: call?.model ?? null }),
  live: codexLive,
};
