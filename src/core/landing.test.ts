/** What became of a loop's work is said as it is, also where a person had it land before it was done. */
import { describe, expect, test } from 'vitest';
import { type LandingFact, type LandingHire, landingText, payHire } from './landing.ts';
import { remainingOf } from './limits.ts';
import { emptyState, type RunState } from './state.ts';
import { policyOf } from './test-facts.ts';

const LOOP = { loop: 'fix', branch: 'ralph/fix', onto: 'main' };
const HALF = { unfinished: { done: 1, total: 2 } };
const OUTCOMES: LandingFact[] = [
  { type: 'loop.landed', ...LOOP, commit: 'c0ffee', merged: false },
  { type: 'loop.parked', ...LOOP, why: 'a.txt differs', files: ['a.txt'], next: 'Settle it.' },
  { type: 'loop.queued', ...LOOP, why: 'a run works there', next: 'Wait.' },
  { type: 'loop.stayed', ...LOOP },
  { type: 'loop.handed_over', ...LOOP },
];

test('given all of its tasks are done, when its landing is told, then it is said to be done or to have landed', () => {
  expect(OUTCOMES.map((fact) => landingText(fact).split(/ on |, /)[0])).toEqual([
    'Loop fix landed',
    'Loop fix is done and did not land',
    'Loop fix is done and waits to land',
    'Loop fix is done and stays',
    'Loop fix is done',
  ]);
});

test('given a task is open, when its landing is told, then no outcome says that it is done, and one that landed says how it goes on', () => {
  const texts = OUTCOMES.map((fact) => landingText({ ...fact, ...HALF }));
  for (const text of texts) {
    expect(text).not.toContain('is done');
    expect(text).toContain('1 of 2 tasks done');
  }
  expect(texts[0]).toBe(
    'Loop fix landed on main: c0ffee, with 1 of 2 tasks done; `ralph run --worktree fix` goes on with the rest',
  );
});

describe('who pays for an agent that was hired', () => {
  const hire = (costUsd: number | null, { session = 's1', more = {} } = {}): LandingHire => ({
    ...{ agent: 'somebody', session, settled: true, tokens: 10 * (costUsd ?? 0), activeMs: 1000 },
    spent: { costUsd, estimated: null, ...more },
  });
  const landed = (hired: LandingHire): LandingFact => ({ ...OUTCOMES[0]!, hired });
  const running = () => ({ costUsd: 1, estimated: null, tokens: 5, activeMs: 500 }) as RunState;

  test('given a run that lands, when somebody was hired, then cost, tokens and time are its own', () => {
    const run = running();
    payHire({ run, landing: null }, landed(hire(2)));
    expect(run).toMatchObject({ costUsd: 3, tokens: 25, activeMs: 1500 });
  });

  test('given a landing that told of it before, when it is told again, then only what is new is paid', () => {
    const run = running();
    payHire({ run, landing: landed(hire(2)) }, landed(hire(5)));
    expect(run).toMatchObject({ costUsd: 4, tokens: 35, activeMs: 500 });
    payHire({ run, landing: landed(hire(5)) }, landed(hire(2, { session: 's2' })));
    expect(run.costUsd).toBe(6);
  });

  test('given what it cost is not known, or reckoned, then it is no part of the sum, or a reckoned one', () => {
    const run = running();
    payHire({ run, landing: null }, landed(hire(null)));
    expect([run.costUsd, run.activeMs]).toEqual([1, 1500]);
    const estimated = { usd: 2, priceTable: '2026' };
    payHire({ run, landing: null }, landed(hire(2, { session: 's2', more: { estimated } })));
    expect(run).toMatchObject({ costUsd: 3, estimated });
  });

  test('given nobody was hired, or no run, then nothing is paid', () => {
    const run = running();
    payHire({ run, landing: null }, OUTCOMES[0]!);
    payHire({ run: null, landing: null }, landed(hire(2)));
    expect(run).toEqual(running());
  });

  test('given a run with limits, then what it has left is each of them without what it used', () => {
    const limits = { maxTimeS: 100, maxCostUsd: 5, maxTokens: null };
    const state = { ...emptyState(), run: { ...running(), activeMs: 1_500 }, policy: policyOf({ limits }) };
    expect(remainingOf(state)).toEqual({ maxCost: 4, maxTime: 99 });
    expect(remainingOf({ ...state, run: null })).toEqual({});
  });
});
