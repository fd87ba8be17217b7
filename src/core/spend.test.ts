/** Sums of money: what was told, what was reckoned, and what a subscription pays, each still known in the sum. */
import { expect, test } from 'vitest';
import type { Spent } from './evidence.ts';
import { limitReached } from './limits.ts';
import { costSource, isAmount, pay, spentIn, spentWords, sumOf } from './spend.ts';
import { begun, ended, given, itemOn, listed, reportOf, started, taskOf, waved } from './test-facts.ts';

const ESTIMATED = { usd: 2, priceTable: '2026-11-29' };
const told = spentIn({ costUsd: 1 });
const reckoned = spentIn({ costUsd: 2, costFrom: ESTIMATED });
const plan = spentIn({ costUsd: 4, byPlan: true });

test('a sum that a subscription pays is told as that, and as no more than its part where others are billed', () => {
  const of = (...parts: Spent[]) => [costSource(sumOf(...parts)), spentWords(sumOf(...parts))];
  expect(of()).toEqual([null, 'no price reported']);
  expect(of(told)).toEqual(['reported', '$1.00']);
  expect(of(plan, plan)).toEqual(['subscription', '$8.00 (paid by a subscription)']);
  expect(of(told, plan)).toEqual(['reported', '$5.00 ($4.00 of it paid by a subscription)']);
  expect(of(told, reckoned, plan)).toEqual([
    'estimated',
    'about $7.00 ($2.00 of it estimated from the price table of 2026-11-29; $4.00 of it paid by a subscription)',
  ]);
  const both = spentIn({ costUsd: 2, costFrom: ESTIMATED, byPlan: true });
  expect(of(both)).toEqual([
    'subscription',
    'about $2.00 (estimated from the price table of 2026-11-29; paid by a subscription)',
  ]);
});

test('a price that nobody knows is no part, whoever pays', () => {
  const sum: Spent = { costUsd: null, estimated: null };
  pay(sum, { costUsd: null, byPlan: true });
  expect([costSource(sum), spentWords(sum)]).toEqual([null, 'no price reported']);
});

test('given a cap in money, when a subscription pays what was spent, then it binds and says who pays', () => {
  const usage = { inputTokens: 10, outputTokens: 10, costUsd: 2.5, byPlan: true as const, model: null };
  const item = itemOn('t1');
  const state = given(
    started({ limits: { maxCostUsd: 2 } }),
    listed(taskOf('t1')),
    waved(1, item),
    begun(1, item),
    ended(1, { report: reportOf({ usage }) }),
  );
  expect(limitReached(state)).toBe('$2.50 (paid by a subscription) of $2 are spent (--max-cost)');
  expect(costSource(state)).toBe('subscription');
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e308, '7', null, undefined])(
  '%s was spent by nobody',
  (usd) => {
    expect(isAmount(usd)).toBe(false);
  },
);

test.each([0, 0.01, 5e9])('%s can have been spent', (usd) => {
  expect(isAmount(usd)).toBe(true);
});
