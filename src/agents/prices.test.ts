/** Money by the price table: only for models it names, at the rates of the length of the prompt. */
import { expect, test } from 'vitest';
import table from './prices.json' with { type: 'json' };
import { estimateUsd } from './prices.ts';

test('every family of the table says where and when it was read, and no model stands in two', () => {
  const names = table.families.flatMap(({ models }) => Object.keys(models));
  expect(new Set(names).size).toBe(names.length);
  for (const { source, read } of table.families) {
    expect(source).toMatch(/^https:\/\//);
    expect(read <= table.date && /^20\d\d-\d\d-\d\d$/.test(read)).toBe(true);
  }
});

test('cached tokens cost their own rates', () => {
  // What Claude Code itself told of this very run, see test/fixtures/agents.
  const tokens = { input: 3_200, output: 140, cached: 200, written: 100 };
  expect(estimateUsd('claude-opus-5-5', tokens)).toBeCloseTo(0.01494, 10);
});

test('a longer prompt costs the rates of its length, all of it', () => {
  expect(estimateUsd('claude-haiku-5-5', { input: 100_000, output: 0 })).toBeCloseTo(0.01, 10);
  expect(estimateUsd('claude-haiku-5-5', { input: 200_000, output: 1_000 })).toBeCloseTo(0.1025, 10);
});

test('a name with its provider, its date or its window is the same model, and an unknown one has no price', () => {
  const tokens = { input: 1_000_000, output: 0 };
  const names = ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5', 'claude-sonnet-4-5[1m]'];
  expect(names.map((name) => estimateUsd(name, tokens))).toEqual([3, 3, 3]);
  expect([null, '', 'claude-sonnet-9', 'gpt-5'].map((name) => estimateUsd(name, tokens))).toEqual([
    null,
    null,
    null,
    null,
  ]);
});
