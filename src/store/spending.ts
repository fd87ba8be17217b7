/**
 * What other sessions of the project have spent today, read from the project journal as it grows: every loop
 * writes there what each attempt cost; and from what they tell of attempts that are still at work.
 */

import { isAmount } from '../core/index.ts';
import { liveBills } from './live-spending.ts';
import { type ProjectRecord, readProjectLine } from './project.ts';
import { projectText } from './project-tail.ts';

export interface OtherSpending {
  /** Since midnight, local time; `midnight`: when that was. Epoch ms and USD. */
  othersToday(now: number): { usd: number; midnight: number };
}

/** `own`: the session whose spending is known without the journal. */
export function otherSpending(mainDir: string, own: () => string): OtherSpending {
  const live = liveBills(mainDir);
  const tail = projectText(mainDir, { compressed: false });
  /** By session and iteration: a line may stand there twice. */
  let bills = new Map<string, { at: number; usd: number }>();
  return {
    othersToday(now) {
      const midnight = new Date(now).setHours(0, 0, 0, 0);
      // Looked at before the journal: a bill that moves meanwhile is found there.
      const atWork = live(now, own());
      const { text, anew } = tail();
      if (anew) bills = new Map();
      for (const line of text.split('\n')) {
        // Most lines are about other things; they need no parsing.
        const record = line.includes('"type":"cost.spent"') ? readProjectLine(line) : null;
        const usd = record?.session === own() ? null : priceIn(record);
        if (usd !== null) bills.set(`${record?.session} ${record?.iteration}`, { at: record!.at, usd });
      }
      let usd = 0;
      for (const [key, bill] of bills)
        if (bill.at >= midnight) usd += bill.usd;
        else bills.delete(key);
      // A bill that stands in the journal is the last word on its attempt.
      for (const [key, bill] of atWork) if (bill.at >= midnight && !bills.has(key)) usd += bill.usd;
      return { usd, midnight };
    },
  };
}

function priceIn(record: ProjectRecord | null): number | null {
  return record?.type === 'cost.spent' && isAmount(record.usd) ? record.usd : null;
}
