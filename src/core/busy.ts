/**
 * When agents, and gates and hooks that may run what they wrote, were at work. What was written into a file then may
 * be theirs, whoever it names.
 */
import type { Fact } from './event.ts';
import type { State } from './state.ts';

/** Gates that a pause ends are gone by then, ms. */
const WINDING_UP_MS = 10_000;

/** Takes a record in; asked before its facts change the state. */
export function keepBusy(state: State, { at, facts }: { at: number; facts: readonly Fact[] }): void {
  for (const fact of facts) {
    switch (fact.type) {
      case 'wave.started':
      case 'attempt.started':
      case 'baseline.started':
        begin(state, at);
        break;
      case 'gate.ran':
        begin(state, at - fact.result.durationMs);
        break;
      case 'attempt.ended':
        if (fact.stoppedFor === 'pause') end(state, at);
        break;
      case 'wave.ended':
      case 'abort.done':
      case 'run.stopped':
        end(state, at);
        break;
      case 'run.started':
        // A runner that was gone ran nothing; an agent that outlived it is at work until it is found.
        if (![...state.open].some((iteration) => state.attempts.get(iteration)?.state === 'open'))
          end(state, state.lastAt);
        break;
      default:
        break;
    }
  }
}

function begin(state: State, from: number): void {
  if (state.busy.at(-1)?.to !== null) state.busy.push({ from, to: null });
}

function end(state: State, at: number): void {
  const last = state.busy.at(-1);
  if (last !== undefined) last.to ??= at;
}

/** Whether something other than people was at work at this moment, epoch ms. */
export function wasBusy(state: State, at: number): boolean {
  return state.busy.some((span) => at >= span.from && at <= endOf(state, span));
}

/** Whether something other than people was at work at this moment or later. */
export function wasBusySince(state: State, at: number): boolean {
  return state.busy.some((span) => endOf(state, span) >= at);
}

function endOf({ paused }: State, { to }: State['busy'][number]): number {
  if (to !== null) return to;
  return paused === null ? Number.POSITIVE_INFINITY : paused.since + WINDING_UP_MS;
}
