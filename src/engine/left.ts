/** What attempts left in the work tree, so that what a person changed since is told from it. */
import type { State } from '../core/index.ts';
import { changesOf } from './changes.ts';
import type { Works } from './ports.ts';

/** What the newest attempt that changed a path left there: blob id, null for nothing. */
export type Left = Map<string, string | null>;

/**
 * What attempts left and nothing has landed since. A path that holds anything else now was changed by a
 * person, whoever had it before.
 */
export async function leftBy(works: Pick<Works, 'get'>, state: State): Promise<Left> {
  const left: Left = new Map();
  for (const attempt of [...state.attempts.values()].sort((a, b) => a.iteration - b.iteration)) {
    const landed = hasLanded(state, attempt.item.task);
    for (const { path, after } of await changesOf(works, attempt)) {
      if (landed) left.delete(path);
      else left.set(path, after);
    }
    for (const { path, after } of attempt.noted) left.set(path, after);
  }
  return left;
}

/** Only a commit of the engine's holds all that its task left. */
function hasLanded({ tasks, policy }: State, id: string | undefined): boolean {
  const task = id === undefined ? undefined : tasks.get(id);
  return policy?.commit === 'auto' && task?.landed === 'landed' && task.commit !== null;
}
