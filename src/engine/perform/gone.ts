/** Looks whether the branch still holds what landed: at a start, and before a run says that all is done. */
import { goneFacts, landedTasks, type TaskState } from '../../core/index.ts';
import { ownChanges } from '../changes.ts';
import { append, type House } from '../house.ts';
import { syncList } from '../list.ts';
import { trailers } from './land.ts';

/** True when tasks are open again. While the session is paused, a person may be about to bring the work back. */
export async function reopenGone(house: House): Promise<boolean> {
  await broughtBack(house);
  if (house.state.paused) return false;
  const landed = landedTasks(house.state);
  if (landed.length === 0) return false;
  const missing = new Set(await house.ground.missing(landed.map(({ commit }) => commit!)));
  const gone: TaskState[] = [];
  for (const task of landed) {
    if (missing.has(task.commit!) && !(await isThere(house, task))) gone.push(task);
  }
  const facts = goneFacts(house.state, gone);
  await append(house, facts);
  if (!facts.some((fact) => fact.type === 'task.moved')) return false;
  await syncList(house);
  await standHere(house);
  return true;
}

/** To go on without what an attempt took off was a person's word: the session stands on what is left. */
async function standHere(house: House): Promise<void> {
  const { attempts, lastIteration, lastMark } = house.state;
  if (!attempts.get(lastIteration)?.rewrote || lastMark === null) return;
  const mark = { ...(await house.ground.head()), tree: lastMark.tree };
  await append(house, [{ type: 'ground.changed', mark, by: 'person' }]);
}

/** Rebased, amended or squashed: the work has another name and is in the branch all the same. */
async function isThere(house: House, task: TaskState): Promise<boolean> {
  if ((await house.ground.commitSaying(null, trailers(house, task))) !== null) return true;
  const own = await ownChanges(house, task, 0);
  const paths = own.map(({ path }) => path);
  const { head } = await house.ground.head();
  const committed = await house.ground.committed(head, paths);
  return own.length > 0 && own.every(({ path, after }) => (committed.get(path) ?? null) === after);
}

/** A pause over commits that an attempt took off is over once the branch has them again. */
async function broughtBack(house: House): Promise<void> {
  const { paused, attempts, lastIteration } = house.state;
  const last = attempts.get(lastIteration);
  if (paused?.by !== 'engine' || !last?.rewrote || last.after === null) return;
  const { head, branch } = await house.ground.head();
  if (branch === null || branch !== last.before.branch) return;
  if (!(await house.ground.isAncestor(last.before.head, head))) return;
  const text = 'the branch has the commits again that were taken off';
  await append(house, [{ type: 'session.resumed', at: house.clock.now(), text, by: 'engine' }]);
}
