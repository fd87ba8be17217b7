/** From a journal to the state it adds up to, in one pass. */
import { emptyState, evolve, type JournalRecord, type State } from '../core/index.ts';

/** The state after these records, which come in order and from the first one. */
export function fold(records: Iterable<JournalRecord>): State {
  const state = emptyState();
  for (const record of records) evolve(state, record);
  return state;
}
