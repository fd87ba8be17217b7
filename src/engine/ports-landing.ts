/** The port through which a loop that is done reaches the branch it is for. */
import type { LandingFact, State } from '../core/index.ts';

/** Brings the work of a loop that is done to the branch it is for. */
export interface Landings {
  /**
   * Waits for its turn, has the gates run, and moves that branch, or says why not. Nothing is lost where `signal` ends
   * it: it is then queued, unless it had landed already. `passedOn`: the commit whose content every required gate has
   * passed on; null: they have their word first.
   */
  bringIn(state: State, how: { passedOn: string | null; signal: AbortSignal }): Promise<LandingFact>;
}
