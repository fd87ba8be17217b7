/** What was spent: sums of the session and the run, by what agents told and by what was reckoned for them. */
import type { Spent, Usage } from './evidence.ts';
import type { AttemptState, State } from './state.ts';

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

/** A sum of prices, of which the unknown ones are no part. */
export function pay(sum: Spent, { costUsd, costFrom }: Pick<Usage, 'costUsd' | 'costFrom'>): void {
  if (costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
  if (costFrom === undefined) return;
  const { usd, priceTable } = sum.estimated ?? { usd: 0, priceTable: '' };
  sum.estimated = {
    usd: usd + costFrom.usd,
    priceTable: [priceTable, costFrom.priceTable].sort()[1]!,
  };
}

export function sumOf(...parts: readonly Spent[]): Spent {
  const sum: Spent = { costUsd: null, estimated: null };
  for (const { costUsd, estimated } of parts)
    pay(sum, estimated === null ? { costUsd } : { costUsd, costFrom: estimated });
  return sum;
}

/** `$1.20`; below a cent with two more places. */
export function money(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}

/** The sum as people read it, with what of it nobody told. */
export function spentWords({ costUsd, estimated }: Spent): string {
  if (costUsd === null) return 'no price reported';
  if (estimated === null) return money(costUsd);
  const part = costUsd - estimated.usd < 0.005 ? '' : `${money(estimated.usd)} of it `;
  return `about ${money(costUsd)} (${part}estimated from the price table of ${estimated.priceTable})`;
}

/** Where the figure comes from, for programs; null: there is none. */
export function costSource({ costUsd, estimated }: Spent): 'reported' | 'estimated' | null {
  if (costUsd === null) return null;
  return estimated === null ? 'reported' : 'estimated';
}

/** One attempt's bill as a sum. */
export function spentIn({ costUsd, costFrom }: Pick<Usage, 'costUsd' | 'costFrom'>): Spent {
  return { costUsd, estimated: costFrom ?? null };
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

/** The whole of today was looked at; what this run adds from now on comes on top. */
export function seeSpending({ run }: State, usd: number): void {
  if (run) run.spentTodayUsd = usd - (run.costUsd ?? 0);
}
