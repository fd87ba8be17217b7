/**
 * The work tree holds one task's unfinished work at a time. Turning to another task sets it aside;
 * turning back takes it up, except where somebody changed the same path meanwhile.
 */
import type { Change } from '../../core/index.ts';
import { ownChanges, standing } from '../changes.ts';
import { append, type House } from '../house.ts';

/**
 * Written down before a file is touched: a crash between the two leaves the work both in the tree and in
 * the journal, never in neither.
 */
export async function setAside(house: House, id: string): Promise<void> {
  const task = house.state.tasks.get(id)!;
  const own = await standing(house, await ownChanges(house, task, 0));
  const open = new Set(await house.ground.uncommitted(own.map((change) => change.path)));
  const changes = own.filter((change) => open.has(change.path) && !house.state.dirty.has(change.path));
  const tree = house.state.attempts.get(task.attempts.at(-1) ?? 0)?.after?.tree ?? '';
  await append(house, [{ type: 'leftovers.set_aside', task: id, tree, changes }]);
  await clear(house, changes);
  await append(house, [{ type: 'leftovers.cleared', task: id }]);
}

/**
 * Once per runner, before its first agent: what an earlier runner wrote down as set aside and did not
 * come to take out of the tree is taken out now.
 */
export async function finishSettingAside(house: House): Promise<void> {
  if (house.asideCleared) return;
  house.asideCleared = true;
  for (const task of house.state.tasks.values()) {
    if (!task.aside) continue;
    await clear(house, await standing(house, task.aside.changes));
    if (!task.aside.cleared) await append(house, [{ type: 'leftovers.cleared', task: task.def.id }]);
  }
}

async function clear(house: House, changes: Change[]): Promise<void> {
  if (changes.length === 0) return;
  await house.ground.apply(changes.map(reversed));
  house.fresh = null;
}

export async function takeUp(house: House, id: string): Promise<void> {
  const { aside } = house.state.tasks.get(id)!;
  const conflicts = await house.ground.apply(aside?.changes ?? []);
  house.fresh = null;
  await append(house, [
    { type: 'leftovers.taken_up', task: id, conflicts, count: aside?.changes.length ?? 0 },
  ]);
}

function reversed({ path, before, after }: Change): Change {
  return { path, before: after, after: before };
}
