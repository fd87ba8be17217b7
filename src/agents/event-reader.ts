/**
 * What the readers of JSON events have in common: one object a line, a handler for each type, and notes of
 * what was said. A type without a handler is counted and changes nothing; no line can make a reader throw.
 */
import { type AgentError, holdsCompletion, type ProviderErrorKind, type RunCommand } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { isObject, type Json, parseLine } from './json.ts';
import { type AnswerTokens, estimateUsd, openBill } from './prices.ts';
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

/** Reads one event of its type. */
export type Handler = (event: Json) => AgentEvent[];
/** Handlers by type; null: known, and it tells nothing we keep. */
export type Handlers = Record<string, Handler | null>;

/** What one run has told so far, and the ways to add to it. */
export interface Notes {
  told: Told & { toolCalls: number };
  /** Folder that the paths of tools are relative to; empty: not told. */
  cwd: string;
  /** What the model says now is a message of its own. */
  begin(): void;
  say(words: string): AgentEvent;
  /** A piece of the message that is being said. */
  grow(piece: string): void;
  tool(name: string, detail: string): AgentEvent;
  file(path: string): void;
  /** The agent's own shell runs this. */
  command(id: string, command: string): void;
  /** `exitCode` null: nobody knows. */
  ended(id: string, exitCode: number | null, denied?: boolean): void;
  /** Another tool ran, and may have run commands nobody saw. */
  unseen(command: string): void;
  /** Output of a tool. */
  printed(words: string): void;
  /** Adds to the bill. `costUsd` null: not told. */
  spend(more: AnswerTokens & { costUsd: number | null }): AgentEvent;
  /** The provider answers: what it refused before is past. */
  answered(): void;
  /** The provider refused, and the agent tries again. */
  refused(error: AgentError): AgentEvent;
  /** The agent gave up. */
  failed(error: AgentError): void;
  /** An event of this unknown kind below a known type. */
  unknown(kind: string): void;
}

/** Longest command that is kept, in characters. */
const COMMAND_CHARS = 2_000;
/** Kept of one message before its beginning is let go: pieces, and characters. */
const PIECES = 64;
const PIECE_CHARS = 1024 * 1024;
/** A limit that ends this much later is not worth an agent that holds on. */
const LONG_WAIT_MS = 10 * 60_000;

/** After so many refusals in a row it will not get better by holding on. */
export type Patience = Partial<Record<ProviderErrorKind, number>>;
const PATIENCE: Patience = { auth: 2, billing: 2 };

export interface EventReaderOptions {
  handlers(notes: Notes): Handlers;
  /** Name of the field that tells the type; default `type`. */
  type?: string;
  patience?: Patience;
  /** False: the format has no closing event. */
  closes?: boolean;
  now?: () => number;
  /** A line of stderr, for agents that complain only there. */
  complaint?(line: string, notes: Notes): AgentEvent[];
}

interface Standing {
  stuck: AgentError | null;
  refusals: { kind: string; count: number };
}

function newNotes(
  standing: Standing,
  patience: Patience,
  now: () => number,
): Notes & { texts: string[]; files: Set<string> } {
  const running = new Map<string, RunCommand>();
  const told = { ...nothingTold(), toolCalls: 0, closed: false as boolean | null };
  const bill = openBill();
  const notes = {
    told,
    cwd: '',
    texts: [] as string[],
    files: new Set<string>(),
    begin: () => void notes.texts.splice(0),
    say(words: string): AgentEvent {
      const { texts } = notes;
      texts.push(words);
      if (texts.length > PIECES || words.length > PIECE_CHARS)
        texts.splice(0, texts.length, lastPart(texts.join('\n')));
      return { kind: 'text', text: words };
    },
    grow(piece: string) {
      const words = (notes.texts.pop() ?? '') + piece;
      notes.texts.push(words.length > PIECE_CHARS ? lastPart(words) : words);
    },
    tool(name: string, detail: string): AgentEvent {
      told.toolCalls++;
      return { kind: 'tool', name, detail: detail.slice(0, 500) };
    },
    file(path: string) {
      if (path === '' || notes.files.size >= LISTED) return;
      const absolute = /^([/\\]|[A-Za-z]:)/.test(path) || notes.cwd === '';
      notes.files.add(absolute ? path : `${notes.cwd}/${path.replace(/^\.\//, '')}`);
    },
    command(id: string, command: string) {
      if (told.commands.length >= LISTED) return;
      const row = { command: command.slice(0, COMMAND_CHARS), exitCode: null, denied: false };
      told.commands.push(row);
      running.set(id, row);
    },
    ended(id: string, exitCode: number | null, denied = false) {
      const row = running.get(id);
      if (row === undefined) return;
      running.delete(id);
      row.exitCode = exitCode;
      row.denied = denied;
    },
    unseen(command: string) {
      const last = told.commands.at(-1);
      const row = {
        command: command.slice(0, COMMAND_CHARS),
        exitCode: null,
        denied: false,
        unseen: true as const,
      };
      // A tool that is called a hundred times in a row says no more than once.
      if (last?.unseen === true && last.command === row.command) return;
      if (told.commands.length < LISTED) told.commands.push(row);
    },
    printed: (words: string) => void (holdsCompletion(words) && Object.assign(told, { toolClaimed: true })),
    spend({ costUsd, ...tokens }: AnswerTokens & { costUsd: number | null }): AgentEvent {
      const { usage } = told;
      usage.inputTokens += tokens.input;
      usage.outputTokens += tokens.output;
      // A model without a price costs 0 by its agent's book; that is not known, and not free.
      if (costUsd) bill.tell(costUsd);
      else bill.reckon(estimateUsd(usage.model, tokens));
      bill.charge(usage);
      return usageEvent(usage);
    },
    answered() {
      told.error = null;
      told.trouble = null;
      standing.refusals = { kind: '', count: 0 };
    },
    refused(error: AgentError): AgentEvent {
      const { kind, count } = standing.refusals;
      standing.refusals = { kind: error.kind, count: kind === error.kind ? count + 1 : 1 };
      told.error = null;
      told.trouble = error;
      const attempt = standing.refusals.count;
      const late = error.resetsAt !== null && error.resetsAt - now() > LONG_WAIT_MS;
      if (late || attempt >= (patience[error.kind] ?? Number.POSITIVE_INFINITY)) standing.stuck = error;
      return { kind: 'retry', reason: error.message.slice(0, 300), attempt };
    },
    failed(error: AgentError) {
      told.error = error;
      told.trouble = null;
    },
    unknown: (kind: string) => countUnknown(told, kind),
  };
  return notes;
}

/** A reader of lines that reads an event as well that somebody else took out of its line. */
export interface EventReader extends StreamReader {
  event(event: unknown): AgentEvent[];
}

/** A reader whose handlers take notes. */
export function eventReader(options: EventReaderOptions): EventReader {
  const { type = 'type', closes = true, now = Date.now, complaint } = options;
  const standing: Standing = { stuck: null, refusals: { kind: '', count: 0 } };
  const notes = newNotes(standing, { ...PATIENCE, ...options.patience }, now);
  if (!closes) notes.told.closed = null;
  const handlers = options.handlers(notes);
  function read(event: unknown): AgentEvent[] {
    const name = isObject(event) ? event[type] : undefined;
    if (!isObject(event) || typeof name !== 'string' || !Object.hasOwn(handlers, name)) {
      notes.unknown(typeof name === 'string' ? name : NO_EVENT);
      return [];
    }
    return handlers[name]?.(event) ?? [];
  }
  return {
    event: read,
    line: (raw) => (raw.trim() === '' ? [] : read(parseLine(raw))),
    ...(complaint === undefined ? {} : { complaint: (line: string) => complaint(line, notes) }),
    told: () => ({
      ...notes.told,
      usage: { ...notes.told.usage },
      commands: notes.told.commands.map((row) => ({ ...row })),
      toolFiles: [...notes.files],
      // The words of a run that failed claim nothing.
      finalMessage: notes.told.error === null ? lastPart(notes.texts.join('\n')) : '',
    }),
    leaving: () => (notes.told.closed === true ? 'yes' : 'no'),
    hopeless: () => standing.stuck,
  };
}
