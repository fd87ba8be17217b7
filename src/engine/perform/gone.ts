/** Which work that landed the branch does not hold any more, under its own name or another one. */
import {
  type Change,
  isHeldBy,
  landedTasks,
  landedWork,
  type TaskState,
  trailersOf,
} from '../../core/index.ts';
import { allChanges, ownChanges, standing } from '../changes.ts';
import type { House } from '../house.ts';

/** The tasks that landed and whose work the branch has under no name. */
export async function goneTasks(house: House): Promise<TaskState[]> {
  const landed = landedTasks(house.state);
  if (landed.length === 0) return [];
  const missing = new Set(await house.ground.missing(landed.map(({ commit }) => commit!)));
  const gone: TaskState[] = [];
  for (const task of landed) {
    if (missing.has(task.commit!) && !(await isThere(house, task))) gone.push(task);
  }
  return gone;
}

/** Rebased, amended or squashed: the work has another name and is in the branch all the same. */
async function isThere(house: House, task: TaskState): Promise<boolean> {
  const { ground, state } = house;
  if ((await ground.commitSaying(null, trailersOf(state, task))) !== null) return true;
  const made = new Map<number, Change[]>();
  for (const iteration of landedTasks(state).flatMap(({ attempts }) => attempts)) {
    const attempt = state.attempts.get(iteration);
    if (attempt) made.set(iteration, await allChanges(house, attempt));
  }
  const work = landedWork(state, task, made);
  return isHeldBy(work, await ground.committed((await ground.head()).head, [...work.left.keys()]));
}

/** True where all that the task left lies in the work tree. */
export async function isStanding(house: House, task: TaskState): Promise<boolean> {
  const own = await ownChanges(house, task, 0);
  return own.length > 0 && (await standing(house, own)).length === own.length;
}
