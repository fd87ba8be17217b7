/** Keeps the cap of the day honest: what other loops of the project spend meanwhile counts here, too. */
import { spentSince, spentToday } from '../core/index.ts';
import { append, type House } from './house.ts';

/** Differences of less are not worth a record. USD. */
const NOTICEABLE = 0.005;

/** Writes down what the day has cost so far, where a cap is held against it and it is not what was thought. */
export async function lookAtSpending(house: House): Promise<void> {
  if (house.state.policy?.limits.maxCostUsdPerDay == null) return;
  const { usd, midnight } = house.spending.othersToday(house.clock.now());
  await append(house, (state) => {
    const seen = usd + spentSince(state, midnight);
    return Math.abs(seen - spentToday(state)) < NOTICEABLE ? [] : [{ type: 'spend.seen', usd: seen }];
  });
}
