/**
 * Between two attempts a person may have worked in the tree. What neither an attempt left nor a commit has is
 * theirs: from now on it is treated like what was dirty at the start.
 */
import type { Mark } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { leftBy } from '../left.ts';

/** Asked for where the ground was looked at anew; git is only asked where it does not stand as it was left. */
export async function sparePersonsBetween(house: House, now: Mark): Promise<void> {
  const { state, ground } = house;
  const last = state.lastMark?.tree ?? null;
  if (last === null || last === now.tree) return;
  const changed = (await ground.changes(last, now.tree)).filter(({ path }) => !state.dirty.has(path));
  if (changed.length === 0) return;
  const left = await leftBy(house.works, state);
  const strange = changed.filter(({ path, after }) => !left.get(path)?.has(after));
  const paths = await ground.uncommitted(strange.map(({ path }) => path));
  if (paths.length === 0) return;
  const reason = 'changed between two attempts, by none of them; uncommitted and not counted';
  await append(house, [{ type: 'dirt.found', paths, reason }]);
}
