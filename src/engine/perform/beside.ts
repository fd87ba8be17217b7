/**
 * A person's uncommitted files beside the work of attempts (`--allow-dirty`): those that an agent's own commit
 * took along, and those that changed while a task was worked on, which no commit of ours may hold.
 */
import { type AttemptState, type Fact, pathWord, type TaskState } from '../../core/index.ts';
import { isBookkeeping, ownChanges } from '../changes.ts';
import type { House } from '../house.ts';

/** How many of the paths are named. */
const NAMED = 5;

/** The warning that commits of this attempt hold files which a person had left uncommitted. */
export async function takenAlong(house: House, attempt: AttemptState): Promise<Fact[]> {
  const { before, after, commits } = attempt;
  const last = commits.at(-1);
  if (after === null || last === undefined || house.state.dirty.size === 0) return [];
  const paths = [...house.state.dirty].filter((path) => path !== house.list?.groundPath);
  const [was, is] = await Promise.all([
    house.ground.committed(before.head, paths),
    house.ground.committed(after.head, paths),
  ]);
  const taken = paths.filter((path) => was.get(path) !== is.get(path));
  if (taken.length === 0) return [];
  const how = `take ${taken.length === 1 ? 'it' : 'them'} out again with \`git reset --soft ${before.head === null ? 'HEAD~1' : before.head.slice(0, 9)}\` and a commit of the rest, or leave it at that`;
  const text = `Iteration ${attempt.iteration} committed by itself (${last.slice(0, 9)}) what you had left uncommitted: ${named(taken)}; ${how}.`;
  return [{ type: 'notice.given', level: 'warning', text }];
}

/** Paths with a person's uncommitted work that changed during this task's attempts and that HEAD still lacks. */
export async function mixedIn(house: House, task: TaskState): Promise<string[]> {
  const { dirty, attempts } = house.state;
  if (dirty.size === 0) return [];
  const own = new Set((await ownChanges(house, task, 0)).map(({ path }) => path));
  const mixed = new Set<string>();
  for (const iteration of task.attempts) {
    const { before, after, lost } = attempts.get(iteration) ?? {};
    // What a person did after a killed attempt cannot be told from what it did.
    if (!before || !after || lost || before.tree === after.tree) continue;
    for (const { path } of await house.ground.changes(before.tree, after.tree))
      if (dirty.has(path) && !own.has(path) && !isBookkeeping(house, path)) mixed.add(path);
  }
  return mixed.size === 0 ? [] : house.ground.uncommitted([...mixed]);
}

/** Why a task with such paths has not landed as a whole. */
export function mixedReason(paths: string[]): string {
  const it = paths.length === 1 ? 'it' : 'them';
  return `${named(paths)} ${paths.length === 1 ? 'holds' : 'hold'} your uncommitted edits and changed while this task was worked on, so ${paths.length === 1 ? 'it is' : 'they are'} in no commit: look at ${it} (\`git diff\`) and commit ${it}, or undo what is not yours, then \`ralph run\``;
}

function named(paths: string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  return `${paths.slice(0, NAMED).map(pathWord).join(', ')}${more}`;
}
