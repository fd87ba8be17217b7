/** What binds: how long one attempt may take, and when the whole run has had enough. */
import { type Classified, type Complexity, classify, DEFAULT_CLASSES } from './complexity.ts';
import type { Allowance, TimeReckoning } from './event.ts';
import type { Spent } from './evidence.ts';
import type { Policy } from './policy.ts';
import { money, spentWords, sumOf } from './spend.ts';
import { hires, type State, type TaskState } from './state.ts';
import type { TaskDef } from './task.ts';

/** What of a task its time depends on. */
export type TimedTask = Pick<TaskState, 'def' | 'timeouts' | 'grant'>;

/** What accepted attempts of each class took, ms, the newest last. */
export type Durations = State['durations'];

export const noDurations = (): Durations => ({ simple: [], medium: [], complex: [], ui_heavy: [] });

const NO_DURATIONS = noDurations();

/** How many accepted attempts of a class are remembered: enough for a percentile, and what is old fades. */
const REMEMBERED = 50;

/** Adds what one accepted attempt took. */
export function rememberDuration(durations: Durations, level: Complexity, ms: number): void {
  const known = durations[level];
  known.push(ms);
  if (known.length > REMEMBERED) known.shift();
}

/** Fewer accepted attempts of a class than this say nothing about the next one. */
const ENOUGH_SAMPLES = 5;

/** The time one attempt gets. Silence has a limit of its own, which nothing scales. */
export function allowance(policy: Policy, task: TimedTask | null, durations = NO_DURATIONS): Allowance {
  return { wallMs: timeoutS(policy, task, durations) * 1000, idleMs: policy.limits.idleTimeoutS * 1000 };
}

/** The wall part of the allowance in seconds, for a task or for work on the session. */
export function timeoutS(policy: Policy, task: TimedTask | null, durations = NO_DURATIONS): number {
  return reckonTime(policy, task, durations).timeoutS;
}

/**
 * The wall limit with all it comes from: clamp(floor(mode × class × grant × growth^timeouts), min, max) in
 * seconds, where timeouts counts attempts of this task that ran out of time. What a person granted in
 * seconds stands in place of all of it. Where `learn` is on and enough attempts of the class were
 * accepted, what nine of ten of them took stands in place of mode × class.
 */
export function reckonTime(
  policy: Policy,
  task: TimedTask | null,
  durations: Durations = NO_DURATIONS,
): TimeReckoning {
  const { mode, baseS, minS, maxS, failureScaling, complexityScaling, classes, learn } = policy.timeout;
  const found = task && classOf(policy, task.def);
  const multiplier = found && complexityScaling ? (classes ?? DEFAULT_CLASSES)[found.level].multiplier : 1;
  const known = found ? durations[found.level] : [];
  const p90S = nineOfTen(known);
  const learned = learn === true && p90S !== null;
  const granted = task?.grant?.multiplier ?? 1;
  const grantedS = task?.grant?.timeoutS ?? null;
  const growth = failureScaling ? policy.timeout.growth : 1;
  const timeouts = task?.timeouts ?? 0;
  const computedS = Math.floor((learned ? p90S : baseS * multiplier) * granted * growth ** timeouts);
  const bounded = Math.min(maxS, Math.max(minS, computedS));
  return {
    mode,
    baseS,
    complexity: found?.level ?? null,
    because: found?.because ?? '',
    multiplier,
    p90S,
    samples: known.length,
    learned,
    granted,
    grantedS,
    growth,
    timeouts,
    minS,
    maxS,
    // An endless number has no place in a journal.
    computedS: Math.min(computedS, Number.MAX_SAFE_INTEGER),
    timeoutS: grantedS ?? bounded,
  };
}

/** The class of a task under this policy; null stands for a session that never ran. */
export function classOf(policy: Policy | null, def: TaskDef): Classified {
  return classify(def, policy?.timeout?.classes ?? DEFAULT_CLASSES);
}

/** The nearest-rank 90th percentile, in whole seconds upwards. */
function nineOfTen(durationsMs: readonly number[]): number | null {
  if (durationsMs.length < ENOUGH_SAMPLES) return null;
  const sorted = [...durationsMs].sort((a, b) => a - b);
  return Math.ceil(sorted[Math.ceil(sorted.length * 0.9) - 1]! / 1000);
}

/** Agent runs this run may make: the configured number, or 20 (50 with brainstorm) + 6 per task. */
export function iterationLimit(state: State): number {
  const configured = state.policy?.limits.maxIterations ?? null;
  if (configured !== null) return configured;
  const open = (state.run?.openTasks ?? 0) + (state.run?.addedTasks ?? 0);
  return (hires(state, 'brainstorm') ? 50 : 20) + 6 * open;
}

/** Spending of agents that run now and have not ended, as their streams reveal it. */
export interface LiveUsage extends Spent {
  tokens: number;
  activeMs: number;
}

export const noLiveUsage = (): LiveUsage => ({ costUsd: null, estimated: null, tokens: 0, activeMs: 0 });

/** Why nothing more may start, in words a person reads; null while every limit holds. */
export function limitReached(state: State, live: LiveUsage = noLiveUsage()): string | null {
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
  const cost = sumOf(run, live);
  const usd = cost.costUsd ?? 0;
  if (maxCostUsd !== null && usd >= maxCostUsd)
    return `${spentWords(cost)} of $${maxCostUsd} are spent (--max-cost)`;
  const tokens = run.tokens + live.tokens;
  if (maxTokens !== null && tokens >= maxTokens)
    return `${tokens} of ${maxTokens} tokens are used (--max-tokens)`;
  const today = run.spentTodayUsd + usd;
  if (maxCostUsdPerDay !== null && today >= maxCostUsdPerDay)
    return `${cost.estimated === null ? '' : 'about '}${money(today)} of $${maxCostUsdPerDay} are spent today by all loops of the project (limits.max_cost_usd_per_day)`;
  return null;
}

/** What a run under way may still spend, by the names of the flags; a limit that it has not is no part of it. */
export interface Remaining {
  maxCost?: number;
  /** Seconds. */
  maxTime?: number;
  maxTokens?: number;
}

export function remainingOf({ run, policy }: State): Remaining {
  if (!run || !policy) return {};
  const { maxTimeS, maxCostUsd, maxTokens } = policy.limits;
  return {
    ...(maxCostUsd !== null && { maxCost: maxCostUsd - (run.costUsd ?? 0) }),
    ...(maxTimeS !== null && { maxTime: Math.ceil(maxTimeS - run.activeMs / 1000) }),
    ...(maxTokens !== null && { maxTokens: maxTokens - run.tokens }),
  };
}

/** True when this task's own money cap is used up, counting what its live attempt has spent. */
export function taskCostReached(policy: Policy, task: TaskState, liveCostUsd = 0): boolean {
  const cap = policy.limits.maxCostUsdPerTask;
  return cap !== null && task.budgetUsd + liveCostUsd >= cap;
}
