/**
 * What may still be spent on agents that are hired for conflicts. Whoever lands pays: a run that is under way out of its
 * own limits, and one that lands loops which waited for it out of what its limits have left when it has ended.
 */
import type { Flags, Settings } from '../../config/index.ts';
import {
  type LandingFact,
  type LandingHire,
  newSpend,
  type Remaining,
  remainingOf,
  type State,
} from '../../core/index.ts';

/** Several landings draw on it, one after the other; a limit that there is not is no part of it. */
export interface Purse {
  left: Remaining;
}

export const purseOf = (state: State): Purse => ({ left: remainingOf(state) });

/** `before`: who had been hired for that loop when the landing began. */
export function payFrom({ left }: Purse, { hired }: LandingFact, before: LandingHire | null): void {
  if (hired === undefined) return;
  const { spent, tokens, activeMs } = newSpend(hired, before);
  draw(left, { costUsd: spent.costUsd ?? 0, tokens, activeMs });
}

/** Why nobody may be hired any more, as a sentence without its stop; null: somebody may. */
export function emptied({ left }: Purse): string | null {
  const flags = { maxCost: '--max-cost', maxTime: '--max-time', maxTokens: '--max-tokens' };
  const used = KEYS.find((key) => (left[key] ?? 1) <= 0);
  return used === undefined ? null : `the run that lands it has nothing left of its ${flags[used]}`;
}

const KEYS = ['maxCost', 'maxTime', 'maxTokens'] as const;

function draw(left: Remaining, spent: { costUsd: number; tokens: number; activeMs: number }): void {
  if (left.maxCost !== undefined) left.maxCost -= spent.costUsd;
  if (left.maxTime !== undefined) left.maxTime -= Math.ceil(spent.activeMs / 1000);
  if (left.maxTokens !== undefined) left.maxTokens -= spent.tokens;
}

export const limitsOf = ({ limits }: Pick<Settings, 'limits'>): Remaining => ({
  ...(limits.maxCostUsd !== null && { maxCost: limits.maxCostUsd }),
  ...(limits.maxTimeS !== null && { maxTime: limits.maxTimeS }),
  ...(limits.maxTokens !== null && { maxTokens: limits.maxTokens }),
});

/** A crash stops no run: its limits go on at the next start. */
export const isUnderWay = (state: State | null): state is State =>
  state?.run != null && state.run.stopped === null;

interface Caps {
  /** The loop's own session; null: it has none. */
  state: State | null;
  /** Limits of the place it works in. */
  settings: Pick<Settings, 'limits'>;
  /** Who was hired, where that one goes on; null: it begins. */
  known: State | null;
  /** Of the run that lands it; null: it is the loop's own, or a person's word. */
  purse: Purse | null;
}

/**
 * How far the agent may go: as far as the run that lands still may, and after it has stopped as far as one like it.
 * What was spent in `known`, which goes on, is spent.
 */
export function capsOf({ state, settings, known, purse }: Caps): Flags {
  const own = isUnderWay(state) ? remainingOf(state) : limitsOf(settings);
  // Where it was killed its own run goes on; one that was stopped begins a new one.
  const run = known?.run ?? null;
  if (run?.stopped != null)
    draw(own, { costUsd: run.costUsd ?? 0, tokens: run.tokens, activeMs: run.activeMs });
  const { mode } = (state?.run?.flags ?? {}) as Flags;
  const caps: Flags = mode === undefined ? {} : { mode };
  for (const key of KEYS) {
    const most = Math.min(own[key] ?? Infinity, purse?.left[key] ?? Infinity);
    if (most !== Infinity) caps[key] = Math.max(key === 'maxCost' ? 0.01 : 1, most);
  }
  return caps;
}
