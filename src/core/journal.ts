/**
 * A record is all facts of one step, written at once. Records are numbered and hash-chained, so a
 * reader can tell a torn or altered journal from a whole one.
 */
import type { Fact } from './event.ts';

export const JOURNAL_VERSION = 1;

export interface JournalRecord {
  v: number;
  /** From 1, without gaps. */
  seq: number;
  /** The owner's number: grows by one each time the session's lock changes hands. */
  epoch: number;
  /** Epoch ms by the clock of the runner. */
  at: number;
  facts: Fact[];
  /** sha256 of the previous record's line; empty for the first. */
  prev: string;
}
