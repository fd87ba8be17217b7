/**
 * An agent's stdout, read line by line. Every agent has its own reader; what a reader was told has the
 * same shape for all of them, and only facts about the run: nothing here believes the agent's words.
 */
import type { AgentError, RunCommand, Usage } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';

/** What a stream told so far. Lists are bounded, see LISTED. */
export interface Told {
  sessionId: string | null;
  usage: Usage;
  /** null where the format has no tool events. */
  toolCalls: number | null;
  toolFiles: string[];
  commands: RunCommand[];
  finalMessage: string;
  error: AgentError | null;
  /** The provider refuses and the agent is trying again: what a run that ends now died of. */
  trouble: AgentError | null;
  /** The closing event was seen; null where the format has none, so that only the exit code tells. */
  closed: boolean | null;
  /** It says that its turn was ended from outside; absent where it says no such thing. */
  cancelled?: true;
  /** What the agent says it left running in the background; `agent`: another turn follows when it ends. */
  background: { what: string; agent: boolean }[];
  /** Lines that are no event at all or of a type this reader does not know. */
  unknownEvents: number;
  /** Their kinds, each once; absent: there were none. */
  unknownKinds?: string[];
  /** Of the agent's program, as it says. */
  version?: string;
  /** Output of a tool held a signal of completion; absent where none did. */
  toolClaimed?: true;
}

/** Reads one run's stdout. Never throws, keeps bounded memory, knows no clock and no disk. */
export interface StreamReader {
  /** One whole line of stdout, without its end; answers what a window may show. */
  line(text: string): AgentEvent[];
  /** Raw stdout, for readers to whom lines are not enough. */
  chunk?(bytes: Uint8Array): void;
  /** One whole line of stderr, for programs that tell some of their trouble only there. */
  complaint?(line: string): AgentEvent[];
  told(): Told;
  /**
   * Whether the agent has said its last word and only has to leave. `busy`: it left a command running,
   * for which it waits. Cheap: asked after every line.
   */
  leaving(): 'no' | 'yes' | 'busy';
  /** Why waiting for this agent is pointless although it still runs (an endless retry loop); else null. */
  hopeless(): AgentError | null;
}

/** How many files and commands are listed; the count of tool calls goes on. */
export const LISTED = 1000;
/** Final messages keep their last 256 KiB: promise tags and result objects stand at the end. */
export const MESSAGE_BYTES = 256 * 1024;

/** A stream that told nothing yet. */
export function nothingTold(): Told {
  return {
    sessionId: null,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: null, model: null },
    toolCalls: null,
    toolFiles: [],
    commands: [],
    finalMessage: '',
    error: null,
    trouble: null,
    closed: null,
    background: [],
    unknownEvents: 0,
  };
}

/** A line that is no event. */
export const NO_EVENT = 'no event';
const KINDS_LISTED = 20;

/** Counts an event of a kind that this reader does not know: another version of its program may have begun to tell it. */
export function countUnknown(told: Told, kind: string): void {
  told.unknownEvents += 1;
  const name =
    kind
      .replace(/[^\w./:-]+/g, ' ')
      .trim()
      .slice(0, 60) || NO_EVENT;
  told.unknownKinds ??= [];
  if (told.unknownKinds.length < KINDS_LISTED && !told.unknownKinds.includes(name))
    told.unknownKinds.push(name);
}

/** The bill as windows and limits hear of it. */
export function usageEvent({ model: _, ...bill }: Usage): AgentEvent {
  return { kind: 'usage', ...bill };
}

/** The last part of a text, at most `MESSAGE_BYTES` of UTF-8, never beginning inside a character. */
export function lastPart(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= MESSAGE_BYTES) return text;
  let from = bytes.length - MESSAGE_BYTES;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.toString('utf8', from);
}
