/** What the loops of a project spend, as its journal keeps it over sessions. */
import { type Estimated, pay, type Spent, type Usage } from '../core/index.ts';
import type { ProjectNews, ProjectRecord } from '../store/index.ts';

/** The record of what one attempt cost; null: nothing is known of it. */
export function costRecord(
  { costUsd, costFrom, partial }: Usage,
  attempt: { at: number; session: string; iteration: number; agent: string },
): ProjectNews | null {
  if (!costUsd) return null;
  const { agent, ...base } = attempt;
  const cut = partial ? { partial } : {};
  const record = { ...base, type: 'cost.spent', agent, usd: costUsd, ...cut };
  return costFrom === undefined ? record : { ...record, estimated: costFrom };
}

/** What every loop of the project has spent since midnight, local time; of one agent, where it is named. */
export function spentToday(records: readonly ProjectRecord[], agent?: string): Spent {
  const midnight = new Date().setHours(0, 0, 0, 0);
  /** By session and iteration: a line may stand there twice. */
  const bills = new Map<string, Parameters<typeof pay>[1]>();
  for (const { type, at, usd, estimated, ...record } of records) {
    if (type !== 'cost.spent' || at < midnight || typeof usd !== 'number') continue;
    if (agent !== undefined && record.agent !== agent) continue;
    const from = isEstimated(estimated) ? { costFrom: estimated } : {};
    bills.set(`${record.session} ${record.iteration}`, { costUsd: usd, ...from });
  }
  const sum: Spent = { costUsd: null, estimated: null };
  for (const bill of bills.values()) pay(sum, bill);
  return sum;
}

function isEstimated(value: unknown): value is Estimated {
  const { usd, priceTable } = (value ?? {}) as Partial<Estimated>;
  return typeof usd === 'number' && typeof priceTable === 'string';
}
