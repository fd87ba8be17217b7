/**
 * What the gates say before a task begins, so that old failures are told from new ones. Usually a
 * look-up, because the last verdict left the same tree; otherwise one extra run.
 */
import { gateKey, type Item, type Mark, MODES } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { recordGate, runGate } from './gate.ts';

export interface BaselineCall {
  iteration: number;
  item: Item;
  before: Mark;
}

/** The mark the attempt starts from, which gates may have moved; `ended` when something stopped a gate. */
export async function baseline(
  house: House,
  { iteration, item, before }: BaselineCall,
): Promise<Mark | 'ended'> {
  const task = item.task === undefined ? undefined : house.state.tasks.get(item.task);
  if (!MODES[item.mode].runsGates || !task || task.baseTree !== null) return before;
  const due = (house.state.policy?.gates ?? []).filter(
    (def) => def.baseline === 'no_regression' && !house.state.gates.has(gateKey(def, before.tree)),
  );
  if (due.length === 0) return before;
  const results = [];
  for (const def of due) {
    await append(house, [{ type: 'baseline.started', iteration, gate: def.name }]);
    const result = await runGate(house, { iteration, def });
    if (result === null) return 'ended';
    results.push(result);
  }
  const after = await house.ground.snapshot();
  house.fresh = after;
  for (const result of results) {
    await recordGate(house, { iteration, when: 'baseline', result: { ...result, tree: after.tree } });
  }
  return after;
}
