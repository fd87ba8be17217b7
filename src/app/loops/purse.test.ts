/** How far an agent may go that is hired for a conflict: as far as everybody who pays for it still may. */
import { describe, expect, test } from 'vitest';
import { emptyState, type LandingFact, type LandingHire, type State } from '../../core/index.ts';
import { capsOf, emptied, payFrom } from './purse.ts';

const LIMITS = { maxCostUsd: null, maxTimeS: null, maxTokens: null };
const settings = (limits: Partial<Record<keyof typeof LIMITS, number>> = {}) =>
  ({ limits: { ...LIMITS, ...limits } }) as never;

interface Spent {
  costUsd?: number;
  tokens?: number;
  activeMs?: number;
  stopped?: boolean;
  limits?: Partial<Record<keyof typeof LIMITS, number>>;
  flags?: Record<string, unknown>;
}

function session({
  costUsd = 0,
  tokens = 0,
  activeMs = 0,
  stopped = false,
  limits,
  flags = {},
}: Spent): State {
  const end = stopped ? { code: 0, word: '', reason: '' } : null;
  const run = { costUsd, tokens, activeMs, flags, stopped: end } as never;
  return { ...emptyState(), run, policy: { limits: { ...LIMITS, ...limits } } as never };
}

const NOBODY = { state: null, settings: settings(), known: null, purse: null };

describe('capsOf', () => {
  test('given no limit anywhere, then there is none, and the mode is that of the loop', () => {
    expect(capsOf(NOBODY)).toEqual({});
    const state = session({ flags: { mode: 'fast', maxCost: '9' } });
    expect(capsOf({ ...NOBODY, state })).toEqual({ mode: 'fast' });
  });

  test('given the run of the loop is under way, then what it has left of each limit binds', () => {
    const limits = { maxCostUsd: 5, maxTimeS: 600, maxTokens: 1000 };
    const state = session({ costUsd: 2, tokens: 400, activeMs: 60_500, limits });
    expect(capsOf({ ...NOBODY, state })).toEqual({ maxCost: 3, maxTime: 540, maxTokens: 600 });
  });

  test('given that run has stopped, then the limits of another one like it do', () => {
    const state = session({ costUsd: 4, stopped: true, limits: { maxCostUsd: 5 } });
    expect(capsOf({ ...NOBODY, state, settings: settings({ maxCostUsd: 5, maxTimeS: 60 }) })).toEqual({
      maxCost: 5,
      maxTime: 60,
    });
  });

  test('given another run lands it, then whichever is less binds, for each limit by itself', () => {
    const purse = { left: { maxCost: 1, maxTime: 900, maxTokens: 50 } };
    expect(capsOf({ ...NOBODY, settings: settings({ maxCostUsd: 5, maxTimeS: 60 }), purse })).toEqual({
      maxCost: 1,
      maxTime: 60,
      maxTokens: 50,
    });
  });

  test('given one that goes on after a stop, then what it had spent is spent; after a kill its own run counts that', () => {
    const spent = { costUsd: 2, tokens: 10, activeMs: 1500 };
    const limits = settings({ maxCostUsd: 5, maxTokens: 100, maxTimeS: 60 });
    const caps = (stopped: boolean) =>
      capsOf({ ...NOBODY, settings: limits, known: session({ ...spent, stopped }) });
    expect(caps(true)).toEqual({ maxCost: 3, maxTokens: 90, maxTime: 58 });
    expect(caps(false)).toEqual({ maxCost: 5, maxTokens: 100, maxTime: 60 });
  });

  test('given nothing is left, then the least that is a limit', () => {
    const known = session({ costUsd: 7, tokens: 700, activeMs: 700_000, stopped: true });
    const limits = settings({ maxCostUsd: 5, maxTokens: 100, maxTimeS: 60 });
    expect(capsOf({ ...NOBODY, settings: limits, known })).toEqual({
      maxCost: 0.01,
      maxTokens: 1,
      maxTime: 1,
    });
  });
});

describe('a purse', () => {
  const hire = (costUsd: number, session = 's1'): LandingHire => ({
    ...{ agent: 'somebody', session, settled: true, tokens: 100 * costUsd, activeMs: 1000 * costUsd },
    spent: { costUsd, estimated: null },
  });
  const landed = (hired?: LandingHire): LandingFact => ({
    ...{ type: 'loop.landed', loop: 'one', branch: 'ralph/one', onto: 'main', commit: 'c', merged: true },
    ...(hired && { hired }),
  });

  test('pays for each landing what it did not pay for before, and is empty where a limit is used up', () => {
    const purse = { left: { maxCost: 5, maxTime: 10, maxTokens: 1000 } };
    payFrom(purse, landed(), null);
    payFrom(purse, landed(hire(2)), null);
    expect(purse.left).toEqual({ maxCost: 3, maxTime: 8, maxTokens: 800 });
    payFrom(purse, landed(hire(3)), hire(2));
    expect([purse.left, emptied(purse)]).toEqual([{ maxCost: 2, maxTime: 7, maxTokens: 700 }, null]);
    payFrom(purse, landed(hire(2, 's2')), hire(3));
    expect(emptied(purse)).toBe('the run that lands it has nothing left of its --max-cost');
  });

  test('without limits is never empty', () => {
    const purse = { left: {} };
    payFrom(purse, landed(hire(100)), null);
    expect([purse.left, emptied(purse)]).toEqual([{}, null]);
  });
});
