/** What the loops of a project spend, as its journal keeps it over sessions. */
import { type Estimated, isAmount, pay, type Spent, type Usage } from '../core/index.ts';
import type { ProjectNews, ProjectRecord } from '../store/index.ts';

/** The record of what one attempt cost; null: nothing is known of it. */
export function costRecord(
  { costUsd, costFrom, byPlan, partial }: Usage,
  attempt: { at: number; session: string; iteration: number; agent: string },
): ProjectNews | null {
  if (!costUsd) return null;
  const { agent, ...base } = attempt;
  return {
    ...base,
    type: 'cost.spent',
    agent,
    usd: costUsd,
    ...(partial ? { partial } : {}),
    ...(costFrom === undefined ? {} : { estimated: costFrom }),
    ...(byPlan ? { by_plan: true } : {}),
  };
}

/** What every loop of the project has spent since midnight, local time; of one agent, where it is named. */
export function spentToday(records: readonly ProjectRecord[], agent?: string): Spent {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return spentOn(records, (record) => record.at >= midnight && (agent ?? record.agent) === record.agent);
}

/** What one session has spent, ever. */
export function spentBy(records: readonly ProjectRecord[], session: string): Spent {
  return spentOn(records, (record) => record.session === session);
}

function spentOn(records: readonly ProjectRecord[], counts: (record: ProjectRecord) => boolean): Spent {
  /** By session and iteration: a line may stand there twice. */
  const bills = new Map<string, Parameters<typeof pay>[1]>();
  for (const record of records) {
    const { type, usd, estimated, session, iteration } = record;
    if (type !== 'cost.spent' || !isAmount(usd) || !counts(record)) continue;
    bills.set(`${session} ${iteration}`, {
      costUsd: usd,
      ...(isEstimated(estimated) ? { costFrom: estimated } : {}),
      ...(record.by_plan === true ? { byPlan: true as const } : {}),
    });
  }
  const sum: Spent = { costUsd: null, estimated: null };
  for (const bill of bills.values()) pay(sum, bill);
  return sum;
}

function isEstimated(value: unknown): value is Estimated {
  const { usd, priceTable } = (value ?? {}) as Partial<Estimated>;
  return isAmount(usd) && typeof priceTable === 'string';
}
