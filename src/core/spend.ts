/** What was spent: sums of the session and the run, by what agents told and by what was reckoned for them. */
import type { Spent, Usage } from './evidence.ts';
import type { AttemptState, State } from './state.ts';

/** More dollars or tokens than anybody has: what says so is damaged, and its sums would end as no number. */
const MOST = 1e12;

/** What can have been spent: no damaged number may use up a limit or give back what was spent. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MOST;
}

/** Adds what one attempt used. */
export function spend(state: State, attempt: AttemptState, usage: Usage): void {
  attempt.usage = usage;
  const task = attempt.item.task === undefined ? undefined : state.tasks.get(attempt.item.task);
  if (task) {
    task.costUsd += usage.costUsd ?? 0;
    task.budgetUsd += usage.costUsd ?? 0;
  }
  pay(state, usage);
  state.tokens.input += usage.inputTokens;
  state.tokens.output += usage.outputTokens;
  if (!state.run) return;
  pay(state.run, usage);
  state.run.tokens += usage.inputTokens + usage.outputTokens;
}

type Price = Pick<Usage, 'costUsd' | 'costFrom' | 'byPlan'>;

/** A sum of prices, of which the unknown ones are no part. */
export function pay(sum: Spent, { costUsd, costFrom, byPlan }: Price): void {
  if (costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
  if (byPlan) payByPlan(sum, costUsd ?? 0);
  if (costFrom === undefined) return;
  const { usd, priceTable } = sum.estimated ?? { usd: 0, priceTable: '' };
  sum.estimated = {
    usd: usd + costFrom.usd,
    priceTable: [priceTable, costFrom.priceTable].sort()[1]!,
  };
}

function payByPlan(sum: Spent, usd: number): void {
  if (usd > 0) sum.byPlanUsd = (sum.byPlanUsd ?? 0) + usd;
}

export function sumOf(...parts: readonly Spent[]): Spent {
  const sum: Spent = { costUsd: null, estimated: null };
  for (const { costUsd, estimated, byPlanUsd = 0 } of parts) {
    pay(sum, estimated === null ? { costUsd } : { costUsd, costFrom: estimated });
    payByPlan(sum, byPlanUsd);
  }
  return sum;
}

/** `$1.20`; below a cent with two more places. */
export function money(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}

/** A difference that no sum shows. USD. */
const NOTHING_USD = 0.005;

/** The sum as people read it, with what of it nobody told, and what of it nobody is billed for. */
export function spentWords(spent: Spent): string {
  const { costUsd, estimated, byPlanUsd = 0 } = spent;
  if (costUsd === null) return 'no price reported';
  const part = (usd: number) => (costUsd - usd < NOTHING_USD ? '' : `${money(usd)} of it `);
  const notes = [
    ...(estimated === null
      ? []
      : [`${part(estimated.usd)}estimated from the price table of ${estimated.priceTable}`]),
    ...(byPlanUsd === 0 ? [] : [`${part(byPlanUsd)}paid by a subscription`]),
  ];
  return `${estimated === null ? '' : 'about '}${money(costUsd)}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}

/**
 * Where the figure comes from, for programs; null: there is none. `estimated`: part of it is tokens by the price
 * table. `subscription`: all of it is what a subscription pays, whoever reckoned it.
 */
export type CostSource = 'reported' | 'estimated' | 'subscription' | null;

export function costSource({ costUsd, estimated, byPlanUsd = 0 }: Spent): CostSource {
  if (costUsd === null) return null;
  if (byPlanUsd > 0 && costUsd - byPlanUsd < NOTHING_USD) return 'subscription';
  return estimated === null ? 'reported' : 'estimated';
}

/** One attempt's bill as a sum. */
export function spentIn(price: Price): Spent {
  const sum: Spent = { costUsd: null, estimated: null };
  pay(sum, price);
  return sum;
}

/** Attempts of this session, ended or cut off, whose bill came at `since` or later. USD. */
export function spentSince(state: State, since: number): number {
  let usd = 0;
  for (const { endedAt, usage } of state.attempts.values())
    if (endedAt !== null && endedAt >= since) usd += usage?.costUsd ?? 0;
  return usd;
}

/** What all loops have spent today as this run has it. */
export const spentToday = ({ run }: State): number => (run ? run.spentTodayUsd + (run.costUsd ?? 0) : 0);

/** Today's limit of all loops of the project is used up, as this run has it. */
export function isDaySpent(state: State): boolean {
  const most = state.policy?.limits.maxCostUsdPerDay ?? null;
  return most !== null && state.run !== null && spentToday(state) >= most;
}

/** The whole of today was looked at; what this run adds from now on comes on top. */
export function seeSpending({ run }: State, usd: number): void {
  if (run) run.spentTodayUsd = usd - (run.costUsd ?? 0);
}
