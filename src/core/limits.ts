/** What binds: how long one attempt may take, and when the whole run has had enough. */
import type { Allowance } from './event.ts';
import type { Policy } from './policy.ts';
import { hires, type State, type TaskState } from './state.ts';

/**
 * The time one attempt gets. wall = clamp(floor(base × growth^timeouts), min, max) in seconds, where
 * timeouts counts attempts of this task that ran out of time; idle stands apart from it.
 */
export function allowance(policy: Policy, task: TaskState | null): Allowance {
  return { wallMs: timeoutS(policy, task) * 1000, idleMs: policy.limits.idleTimeoutS * 1000 };
}

/** The wall part of the allowance in seconds, for a task or for work on the session. */
export function timeoutS(policy: Policy, task: TaskState | null): number {
  const { baseS, minS, maxS, growth, failureScaling } = policy.timeout;
  const grown = baseS * (failureScaling ? growth ** (task?.timeouts ?? 0) : 1);
  return Math.min(maxS, Math.max(minS, Math.floor(grown)));
}

/** Agent runs this run may make: the configured number, or 20 (50 with brainstorm) + 6 per task. */
export function iterationLimit(state: State): number {
  const configured = state.policy?.limits.maxIterations ?? null;
  if (configured !== null) return configured;
  const open = (state.run?.openTasks ?? 0) + (state.run?.addedTasks ?? 0);
  return (hires(state, 'brainstorm') ? 50 : 20) + 6 * open;
}

/** Spending of agents that run now and have not ended, as their streams reveal it. */
export interface LiveUsage {
  costUsd: number;
  tokens: number;
  activeMs: number;
}

export const NO_LIVE_USAGE: LiveUsage = { costUsd: 0, tokens: 0, activeMs: 0 };

/** Why nothing more may start, in words a person reads; null while every limit holds. */
export function limitReached(state: State, live: LiveUsage = NO_LIVE_USAGE): string | null {
  const { run, policy } = state;
  if (!run || !policy) return null;
  const max = iterationLimit(state);
  if (run.used >= max) return `${run.used} of ${max} iterations are used (--max-iterations)`;
  return spendingLimit(state, live);
}

/** The limits that also bind while an agent works: time, money and tokens. */
export function spendingLimit(state: State, live: LiveUsage): string | null {
  const { run, policy } = state;
  if (!run || !policy) return null;
  const { maxTimeS, maxCostUsd, maxTokens, maxCostUsdPerDay } = policy.limits;
  const activeS = (run.activeMs + live.activeMs) / 1000;
  if (maxTimeS !== null && activeS >= maxTimeS)
    return `${Math.floor(activeS)} s of ${maxTimeS} s are used (--max-time)`;
  const cost = run.costUsd + live.costUsd;
  if (maxCostUsd !== null && cost >= maxCostUsd)
    return `$${cost.toFixed(2)} of $${maxCostUsd} are spent (--max-cost)`;
  const tokens = run.tokens + live.tokens;
  if (maxTokens !== null && tokens >= maxTokens)
    return `${tokens} of ${maxTokens} tokens are used (--max-tokens)`;
  const today = run.spentTodayUsd + cost;
  if (maxCostUsdPerDay !== null && today >= maxCostUsdPerDay) {
    return `$${today.toFixed(2)} of $${maxCostUsdPerDay} are spent today (limits.max_cost_usd_per_day)`;
  }
  return null;
}

/** True when this task's own money cap is used up, counting what its live attempt has spent. */
export function taskCostReached(policy: Policy, task: TaskState, liveCostUsd = 0): boolean {
  const cap = policy.limits.maxCostUsdPerTask;
  return cap !== null && task.budgetUsd + liveCostUsd >= cap;
}
