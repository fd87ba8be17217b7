/** What a person reads of a loop, and of a day whose money is spent. */
import { expect, test } from 'vitest';
import { emptyState, type LandingFact, landingText, type State } from '../core/index.ts';
import { advice, describeFact, loopJson } from './index.ts';
import type { LoopLook } from './loops.ts';

const LOOP: LoopLook['loop'] = {
  id: 'fix',
  session: 's1',
  branch: 'ralph/fix',
  onto: 'main',
  worktree: '/tree',
  standing: 'needs_review',
  parked: { why: 'both change a.txt', files: ['a.txt'], next: 'Settle it' },
  hired: null,
  damage: null,
  later: 0,
  unmerged: 1,
  unpushed: null,
};
const look = (more: Partial<LoopLook> = {}): LoopLook => ({
  loop: LOOP,
  state: null,
  live: { runner: null },
  primary: false,
  ...more,
});

/** Stopped by a limit; the day has one of $5. */
function spent(todayUsd: number, ground: string): State {
  const stopped = { code: 1, word: 'LIMIT', reason: 'a limit' };
  const told = {
    policy: { limits: { maxCostUsdPerDay: 5 } },
    run: { spentTodayUsd: todayUsd, costUsd: 0, stopped },
    session: { id: 's1', ground },
  };
  return { ...emptyState(), ...told } as unknown as State;
}

test('a parked loop names its files once', () => {
  expect(loopJson(look()).next).toBe('both change a.txt. Settle it');
  const parked = { why: 'both change them', files: ['a.txt'], next: 'Settle it' };
  expect(loopJson(look({ loop: { ...LOOP, parked } })).next).toBe('both change them (a.txt). Settle it');
});

test("what a day's limit stopped goes on from the next day on, or with another limit in the file that it reads", () => {
  expect(advice(1, spent(5, '.'))).toBe(
    '`ralph run` goes on from the next day on, or once limits.max_cost_usd_per_day is raised in ralph.yml',
  );
  expect(advice(1, spent(5, '/tree'))).toContain('raised in the ralph.yml in /tree');
  expect(advice(1, spent(4, '.'))).toContain('goes on with a fresh limit');
  const open = { ...LOOP, standing: 'open' as const, parked: null };
  expect(loopJson(look({ loop: open, state: spent(5, '/tree') })).next).toBe(
    '`ralph run --worktree fix` goes on from the next day on, or once limits.max_cost_usd_per_day is raised in the ralph.yml in /tree',
  );
});

test('the end of a run that its landing explains does not say it again', () => {
  const landing: LandingFact = {
    type: 'loop.parked',
    loop: 'fix',
    branch: 'ralph/fix',
    onto: 'main',
    why: 'both change a.txt',
    files: ['a.txt'],
    next: 'Settle it.',
  };
  const state = { ...emptyState(), landing };
  const stopped = { type: 'run.stopped', code: 8, word: 'AWAITING' } as const;
  expect(describeFact({ ...stopped, reason: landingText(landing) }, 0, state)).toBe(
    'stopped: AWAITING (exit 8)',
  );
  expect(describeFact({ ...stopped, reason: 'a question' }, 0, state)).toContain('a question');
});
