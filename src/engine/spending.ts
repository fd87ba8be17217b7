/** Keeps the cap of the day honest: what other loops of the project spend meanwhile counts here, too. */
import { spentSince, spentToday } from '../core/index.ts';
import { append, type House } from './house.ts';

/** Differences of less are not worth a record, unless the cap lies between: USD, and the share of the cap. */
const NOTICEABLE = 0.005;
const SHARE = 0.01;

/** Writes down what the day has cost so far, where a cap is held against it and it is not what was thought. */
export async function lookAtSpending(house: House): Promise<void> {
  const cap = house.state.policy?.limits.maxCostUsdPerDay ?? null;
  if (cap === null) return;
  const { usd, midnight } = house.spending.othersToday(house.clock.now());
  await append(house, (state) => {
    const [known, seen] = [spentToday(state), usd + spentSince(state, midnight)];
    const isSame = Math.abs(seen - known) < Math.max(NOTICEABLE, cap * SHARE) && seen >= cap === known >= cap;
    return isSame ? [] : [{ type: 'spend.seen', usd: seen }];
  });
}
