/** Who watches a run: told each durable record and each sign of life. */
import type { JournalRecord, State } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';

export interface Audience {
  record(record: JournalRecord, state: State): void;
  event(iteration: number, event: AgentEvent): void;
  /** A sentence that belongs to no record, e.g. a warning of the preflight. */
  say(text: string): void;
}
