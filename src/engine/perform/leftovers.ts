/**
 * The work tree holds one task's unfinished work at a time. Turning to another task sets it aside;
 * turning back takes it up, except where somebody changed the same path meanwhile.
 */
import type { Change } from '../../core/index.ts';
import { ownChanges, standing } from '../changes.ts';
import { append, type House } from '../house.ts';

export async function setAside(house: House, id: string): Promise<void> {
  const task = house.state.tasks.get(id)!;
  const own = await standing(house, await ownChanges(house, task, 0));
  const open = new Set(await house.ground.uncommitted(own.map((change) => change.path)));
  const aside = own.filter((change) => open.has(change.path) && !house.state.dirty.has(change.path));
  const conflicts = new Set(await house.ground.apply(aside.map(reversed)));
  const changes = aside.filter((change) => !conflicts.has(change.path));
  const tree = house.state.attempts.get(task.attempts.at(-1) ?? 0)?.after?.tree ?? '';
  house.fresh = null;
  await append(house, [{ type: 'leftovers.set_aside', task: id, tree, changes }]);
}

export async function takeUp(house: House, id: string): Promise<void> {
  const { aside } = house.state.tasks.get(id)!;
  const conflicts = await house.ground.apply(aside?.changes ?? []);
  house.fresh = null;
  await append(house, [{ type: 'leftovers.taken_up', task: id, conflicts }]);
}

function reversed({ path, before, after }: Change): Change {
  return { path, before: after, after: before };
}
