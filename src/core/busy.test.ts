import { expect, test } from 'vitest';
import { wasBusy, wasBusySince } from './busy.ts';
import type { Fact } from './event.ts';
import { evolve } from './evolve.ts';
import { emptyState, type State } from './state.ts';
import { begun, ended, itemOn, listed, started, taskOf, waved, waveEnded } from './test-facts.ts';

/** The state after these facts, each at its minute. */
function at(...facts: [minute: number, fact: Fact][]): State {
  const state = emptyState();
  for (const [n, [minute, fact]] of facts.entries())
    evolve(state, { seq: n + 1, at: minute * 60_000, facts: [fact] });
  return state;
}
const minutes = (state: State, ...wanted: number[]) =>
  wanted.map((minute) => wasBusy(state, minute * 60_000));
const wave: [number, Fact][] = [
  [0, started()],
  [0, listed(taskOf('t1'))],
  [1, waved(1, itemOn('t1'))],
  [2, begun(1, itemOn('t1'))],
];
const paused: Fact = { type: 'session.paused', at: 0, text: '', by: 'ann' };
const stopped: Fact = { type: 'run.stopped', code: 3, word: 'DECIDE', reason: '' };

test('from the start of a wave to its end, gates and landing within it, something may be at work', () => {
  const state = at(...wave, [5, ended(1)], [9, waveEnded(1)]);
  expect(minutes(state, 0.5, 1, 5, 8, 10)).toEqual([false, true, true, true, false]);
  expect([wasBusySince(state, 8 * 60_000), wasBusySince(state, 10 * 60_000)]).toEqual([true, false]);
});
test('while a paused wave is kept open, nothing is at work; resumed, it is again', () => {
  const held = at(...wave, [3, paused], [4, ended(1, { stoppedFor: 'pause' })]);
  expect(minutes(held, 3.5, 60)).toEqual([true, false]);
  const during = at(...wave, [3, ended(1)], [4, paused]);
  expect(minutes(during, 4, 60)).toEqual([true, false]);
  const resumed: Fact = { type: 'session.resumed', at: 0, text: '', by: 'ann' };
  const pause: [number, Fact][] = [...wave, [3, paused], [4, ended(1, { stoppedFor: 'pause' })]];
  const again = at(...pause, [49, resumed], [50, begun(2, itemOn('t1'))]);
  expect(minutes(again, 20, 55)).toEqual([false, true]);
});
test("what a person writes after a crash in the gates is a person's; an agent that outlived the runner may write too", () => {
  const gates = at(...wave, [3, ended(1)], [60, started()]);
  expect(minutes(gates, 2, 30)).toEqual([true, false]);
  expect(minutes(at(...wave, [60, started()]), 30)).toEqual([true]);
});
test('between the end of a run and the next nothing is at work', () => {
  expect(minutes(at(...wave, [3, ended(1)], [4, stopped]), 3, 5)).toEqual([true, false]);
});
