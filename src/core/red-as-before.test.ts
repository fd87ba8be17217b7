import { expect, test } from 'vitest';
import type { GateResult } from './evidence.ts';
import { redAsBefore } from './judge.ts';
import type { GateDef } from './policy.ts';
import { gateKey } from './state.ts';
import { given, listed, started, taskOf } from './test-facts.ts';

const GATE: GateDef = {
  name: 'check',
  run: 'make check',
  timeoutS: 60,
  minTests: 0,
  required: true,
  baseline: 'no_regression',
};
const red = (failures: string[], more: Partial<GateResult> = {}): GateResult => ({
  gate: GATE.name,
  run: GATE.run,
  tree: 'merged',
  outcome: 'failed',
  exitCode: 1,
  durationMs: 1,
  tests: null,
  failures,
  excerpt: '',
  output: null,
  ...more,
});

/** A session whose one task began on the tree `base`, where the gate said this. */
function session(before: GateResult | null) {
  const state = given(started(), listed(taskOf('t1')));
  state.tasks.get('t1')!.baseTree = 'base';
  if (before !== null) state.gates.set(gateKey(GATE, 'base'), before);
  return state;
}

test.each<[string, GateResult | null, GateResult, boolean]>([
  ['given the same failure before, it holds nothing up', red(['a']), red(['a']), true],
  ['given more failures before, it holds nothing up', red(['a', 'b']), red(['a']), true],
  ['given another failure before, it does', red(['b']), red(['a']), false],
  ['given a pass before, it does', red([], { outcome: 'passed', exitCode: 0 }), red(['a']), false],
  ['given that nothing is known from before, it does', null, red(['a']), false],
  ['given that it passes now, it is not red', red(['a']), red([], { outcome: 'passed' }), false],
])('a gate that is red at a landing: %s', (_, before, after, isAsBefore) => {
  expect(redAsBefore(session(before), GATE, after)).toBe(isAsBefore);
});

test('a gate that was green in between is not as red as before', () => {
  const state = session(red(['a']));
  state.onceGreen.add(`${GATE.name}\0${GATE.run}`);
  expect(redAsBefore(state, GATE, red(['a']))).toBe(false);
});
