/**
 * One conversation over the Agent Client Protocol (version 1, JSON-RPC, one message a line): `initialize`, a
 * session, the prompt, and what people say on the way. It reads what comes and writes what is due; who owns the
 * process, its clocks and its end is the room of processes. Why the few methods are spoken here and not by the
 * protocol's library stands in docs/design/2026-11-29-acp.md.
 */
import type { AgentError } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import { acpUpdates } from './acp-events.ts';
import { acpOutcome, acpRequest, CANCELLED } from './acp-permission.ts';
import { eventReader, type Notes } from './event-reader.ts';
import { count, isObject, type Json, object, objects, parseLine, text } from './json.ts';
import { openDesk } from './permission.ts';
import { classifyError } from './provider-error.ts';
import { resetTimeIn } from './reset-time.ts';
import { NO_EVENT, type StreamReader } from './stream.ts';
import type { Input, Talk } from './talk.ts';

const VERSION = 1;
const AUTH_REQUIRED = -32000;
const METHOD_NOT_FOUND = -32601;

/** Agents that take a second prompt in at the next boundary of the running turn, by the name they tell. */
const QUEUEING = /^opencode$|claude-(?:agent|code)-acp/i;

/** How the agent takes words in the middle of a turn; null: it would end the turn, or nobody knows. */
type Way = 'queue' | 'steering' | null;

/** What an agent says of itself. */
export interface Advertised {
  name: string;
  version: string | null;
  resume: 'session/resume' | 'session/load' | null;
  live: Way;
}

/** Reads the answer to `initialize`. */
export function readAdvertised(result: Json): Advertised {
  const [info, abilities] = [object(result.agentInfo), object(result.agentCapabilities)];
  const metas = [object(result._meta), object(abilities._meta)];
  const name = text(info.name);
  const queues = QUEUEING.test(name) || metas.some((meta) => object(meta.claudeCode).promptQueueing === true);
  const steers = metas.some((meta) => object(meta.steering).supported === true);
  const canResume = isObject(object(abilities.sessionCapabilities).resume);
  return {
    name,
    version: text(info.version) || null,
    resume: canResume ? 'session/resume' : abilities.loadSession === true ? 'session/load' : null,
    live: steers ? 'steering' : queues ? 'queue' : null,
  };
}

/** The answers to `initialize` and what is asked next; `id` 0. */
export const INITIALIZE = {
  protocolVersion: VERSION,
  clientInfo: { name: 'ralph', version: '1' },
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
};

export interface Conversation {
  reader: StreamReader;
  /** The agent has answered when it was greeted, whatever it said. */
  isGreeted(): boolean;
  converse(input: Input): Talk;
}

type Answered = (answer: { result: Json } | { error: Json }) => AgentEvent[];

interface Said {
  text: string;
  urgent: boolean;
  taken(is: boolean): void;
}

/** How to log in, as a sentence. */
export const ACP_LOGIN = "Log in with the agent's own program, or set its API key, then run again.";

function errorOf(error: Json, now: number): AgentError {
  const data = object(error.data);
  const words = [text(error.message), text(data.message), text(data.details), text(error.data)];
  const message =
    [...new Set(words.filter((one) => one !== ''))].join(': ') || 'The agent refused without a word.';
  const marks = [data.code, data.errorKind, data.type, data.error, data.errorName].map(text);
  if (error.code === AUTH_REQUIRED) marks.unshift('authentication');
  const status = typeof data.statusCode === 'number' ? data.statusCode : statusIn(message);
  return classifyError({ status, words: marks, message, resetsAt: resetTimeIn(message, now) }, ACP_LOGIN);
}

/** `Internal error: … 401`: some put the provider's status into their own sentence. */
function statusIn(message: string): number | null {
  const found = /\b(?:error|status|code)[ :]+([45]\d\d)\b/i.exec(message)?.[1];
  return found === undefined ? null : Number(found);
}

/** Begins when `converse` is given the agent's stdin. */
export function acpConversation(
  call: Pick<AgentCall, 'prompt' | 'cwd' | 'model' | 'resume' | 'permission'>,
  now: () => number = Date.now,
): Conversation {
  const updates = acpUpdates();
  let notes!: Notes;
  const base = eventReader({
    type: 'sessionUpdate',
    now,
    handlers(own) {
      notes = own;
      return updates.handlers(own);
    },
  });
  const waiting = new Map<number, Answered>();
  /** Said by people, and not given to the agent yet. */
  let held: Said[] = [];
  /** Given to the agent, and not known to be taken in. */
  const under = new Set<Said>();
  let input: Input | null = null;
  let about: Advertised | null = null;
  let session = '';
  let turns = 0;
  let isOver = false;
  /** The turn was asked to end: for an urgent word, which then begins the next one, or for good. */
  let ending: 'word' | 'all' | null = null;
  let last = 0;
  const desk = openDesk(call);
  /** Asked for, and not answered yet. */
  const asking = new Set<unknown>();

  const write = (message: Json): boolean =>
    input?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`) === true;

  function ask(method: string, params: Json, answered: Answered): boolean {
    const id = last++;
    waiting.set(id, answered);
    return write({ id, method, params });
  }

  function fail(error: AgentError): AgentEvent[] {
    isOver = true;
    notes.failed(error);
    notes.told.closed = true;
    return updates.flush();
  }
  const crash = (message: string) => fail({ kind: 'crash', message, resetsAt: null });

  /** `next` where it answered, the failure where it refused. */
  const orFail =
    (next: (result: Json) => AgentEvent[]): Answered =>
    (answer) =>
      'error' in answer ? fail(errorOf(answer.error, now())) : next(answer.result);

  function begun(result: Json): AgentEvent[] {
    if (result.protocolVersion !== VERSION) {
      const told = text(result.protocolVersion) || JSON.stringify(result.protocolVersion ?? null);
      return crash(
        `The agent speaks version ${told.slice(0, 40)} of the Agent Client Protocol, and version ${VERSION} is spoken here.`,
      );
    }
    about = readAdvertised(result);
    const { resume } = about;
    if (call.resume === undefined || resume === null) {
      openNew();
      return [];
    }
    const old = call.resume;
    ask(resume, { sessionId: old, cwd: call.cwd, mcpServers: [] }, (answer) => {
      if ('error' in answer) openNew();
      else return opened({ ...answer.result, sessionId: old });
      return [];
    });
    return [];
  }

  function openNew(): void {
    ask('session/new', { cwd: call.cwd, mcpServers: [] }, orFail(opened));
  }

  function opened(result: Json): AgentEvent[] {
    session = text(result.sessionId);
    notes.told.sessionId = session || null;
    if (session === '') return crash('The agent opened a session without an id.');
    if (call.model === null) return prompt(call.prompt);
    const { model } = call;
    const set = (method: string, params: Json) =>
      ask(
        method,
        { sessionId: session, ...params },
        orFail(() => prompt(call.prompt)),
      );
    const option = objects(result.configOptions).find(
      ({ category, id }) => category === 'model' || id === 'model',
    );
    if (option !== undefined) set('session/set_config_option', { configId: option.id, value: model });
    else if (isObject(result.models)) set('session/set_model', { modelId: model });
    else
      return crash(
        `The agent lets nobody choose its model, so it cannot work with ${model}. Leave \`model\` out, or set it in the agent's own settings.`,
      );
    return [];
  }

  function prompt(words: string, said?: Said): AgentEvent[] {
    turns += 1;
    notes.told.closed = false;
    ask('session/prompt', { sessionId: session, prompt: [{ type: 'text', text: words }] }, (answer) => {
      turns -= 1;
      if (said !== undefined) settle(said, 'result' in answer);
      if ('error' in answer) return fail(errorOf(answer.error, now()));
      return ended(answer.result);
    });
    hand();
    return [];
  }

  function settle(said: Said, is: boolean): void {
    under.delete(said);
    said.taken(is);
  }

  /** A turn is over. Another may go on beside it, into which what people said was taken. */
  function ended(result: Json): AgentEvent[] {
    const usage = object(result.usage);
    const input = count(usage.inputTokens) + count(usage.cachedReadTokens) + count(usage.cachedWriteTokens);
    const output = count(usage.outputTokens);
    const events = updates.flush();
    if (input + output > 0) events.push(notes.spend({ input, output, costUsd: null }));
    if (turns > 0) return events;
    const reason = text(result.stopReason);
    if (ending === 'word' && held.length > 0) {
      ending = null;
      hand();
      return events;
    }
    if (reason === 'cancelled') {
      if (ending === null)
        return [
          ...events,
          ...crash('The agent says that its turn was cancelled, and nobody asked for that.'),
        ];
      notes.told.cancelled = true;
    }
    if (reason === 'max_tokens' || reason === 'max_turn_requests')
      return [...events, ...crash(`The agent stopped in the middle of its turn (${reason}).`)];
    isOver = true;
    notes.answered();
    notes.told.closed = true;
    return events;
  }

  /** Gives on what people said, as far as the agent takes it now. */
  function hand(): void {
    if (session === '' || isOver || about === null || held.length === 0) return;
    if (turns === 0) return give('queue');
    if (held.some(({ urgent }) => urgent) && about.live !== 'steering') {
      if (ending === null) cancel();
      ending ??= 'word';
      return;
    }
    if (about.live !== null) give(about.live);
  }

  /** Ends the turn. What it asked for in it is asked of nobody any more, and the protocol wants that said. */
  function cancel(): boolean {
    const isWritten = write({ method: 'session/cancel', params: { sessionId: session } });
    desk.allGone();
    for (const id of asking) write({ id, result: { outcome: CANCELLED } });
    asking.clear();
    return isWritten;
  }

  function give(way: 'queue' | 'steering'): void {
    const now = held;
    held = [];
    for (const said of now) {
      under.add(said);
      if (way === 'queue') prompt(said.text, said);
      else
        ask(
          '_session/steering',
          { sessionId: session, prompt: [{ type: 'text', text: said.text }] },
          (answer) => {
            settle(said, 'result' in answer && answer.result.outcome === 'injected');
            return [];
          },
        );
    }
  }

  function answer(message: Json): AgentEvent[] {
    const answered = typeof message.id === 'number' ? waiting.get(message.id) : undefined;
    if (answered === undefined) {
      notes.unknown('an answer to nothing');
      return [];
    }
    waiting.delete(message.id as number);
    return isObject(message.error)
      ? answered({ error: message.error })
      : answered({ result: object(message.result) });
  }

  function asked(message: Json): AgentEvent[] {
    const { id, method } = message;
    const params = object(message.params);
    if (method === 'session/request_permission') {
      const told = updates.toolCall(object(params.toolCall));
      asking.add(id);
      desk.ask(JSON.stringify(id), acpRequest(told, params), (decision) => {
        const outcome = acpOutcome(params, decision);
        if (!decision.allow || outcome === CANCELLED) updates.refused(told.id);
        asking.delete(id);
        write({ id, result: { outcome } });
      });
      return updates.flush();
    }
    notes.unknown(text(method));
    write({
      id,
      error: { code: METHOD_NOT_FOUND, message: `Method not found: ${text(method).slice(0, 80)}` },
    });
    return [];
  }

  function notified({ method, params }: Json): AgentEvent[] {
    // Names of vendors begin so, and may be anything.
    if (text(method).startsWith('_')) return [];
    const { sessionId, update } = object(params);
    if (method !== 'session/update') {
      notes.unknown(text(method));
      return [];
    }
    // The past of a session that is taken up again is told anew.
    if (session === '' || sessionId !== session) {
      updates.costBefore(object(update));
      return [];
    }
    return base.event(update);
  }

  return {
    isGreeted: () => about !== null || isOver,
    reader: {
      ...base,
      line(raw) {
        if (raw.trim() === '') return [];
        const message = parseLine(raw);
        if (!isObject(message)) {
          notes.unknown(NO_EVENT);
          return [];
        }
        if (message.method === undefined) return answer(message);
        return message.id === undefined ? notified(message) : asked(message);
      },
    },
    converse(own) {
      input = own;
      ask('initialize', INITIALIZE, orFail(begun));
      return {
        send(words, { urgent = false } = {}) {
          if (isOver || ending === 'all') return Promise.resolve(false);
          return new Promise((resolve) => {
            held.push({ text: words, urgent, taken: resolve });
            hand();
          });
        },
        heard: () => {},
        hush: () => own.endInput(),
        goOn: () => {},
        cancel() {
          if (session === '' || turns === 0 || isOver) return false;
          ending = 'all';
          return cancel();
        },
        over() {
          isOver = true;
          for (const said of [...held, ...under]) said.taken(false);
          held = [];
          under.clear();
        },
      };
    },
  };
}
