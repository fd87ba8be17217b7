/**
 * A display follows a session for a person: it is told every record and what live agents say. It never
 * throws into the loop and never asks it for anything.
 */
import type { JournalRecord, State } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { describeFact, oneLine } from '../views/index.ts';

export interface Display {
  /** One durable record, and the state it led to. */
  record(record: JournalRecord, state: State): void;
  /** Progress of a live agent. */
  event(iteration: number, event: AgentEvent): void;
  /** Takes what is drawn off the screen, so that somebody can type there; lines go on. */
  rest(): void;
  /** Draws again after `rest`. */
  wake(): void;
  /** Ends it and leaves what is shown; later calls do nothing. */
  close(): void;
}

/** Longest line that is printed. Characters. */
const LINE_CHARS = 500;

/** The lines of one record, in the order of its facts. */
export function linesOf(record: JournalRecord, state: State): string[] {
  return record.facts.flatMap((fact) => {
    const line = describeFact(fact, record.at, state);
    return line === null ? [] : [oneLine(line, LINE_CHARS)];
  });
}

/**
 * One line a fact; of an agent's progress only what explains a delay. A `write` that throws (a closed
 * pipe) silences the display and nothing else.
 */
export function plainDisplay(write: (line: string) => void): Display {
  let closed = false;
  const say = (lines: () => string[]) => {
    if (closed) return;
    try {
      for (const line of lines()) write(line);
    } catch {
      closed = true;
    }
  };
  return {
    record: (record, state) => say(() => linesOf(record, state)),
    event: (iteration, event) => {
      if (event.kind !== 'retry') return;
      say(() => [
        `iteration ${iteration} · the agent tries again (${event.attempt}): ${oneLine(event.reason)}`,
      ]);
    },
    rest: () => undefined,
    wake: () => undefined,
    close: () => {
      closed = true;
    },
  };
}
