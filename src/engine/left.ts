/** What attempts left in the work tree, so that what a person changed since is told from it. */
import { type Change, type Left, leftThere, type State } from '../core/index.ts';
import { changesOf } from './changes.ts';
import type { Works } from './ports.ts';

/**
 * What may stand at each path because attempts left it there, the loop's notes and logs among it. A path that
 * holds anything else now was changed by a person, whoever had it before.
 */
export async function leftBy(works: Pick<Works, 'get'>, state: State): Promise<Left> {
  const made = new Map<number, Change[]>();
  for (const attempt of state.attempts.values()) made.set(attempt.iteration, await changesOf(works, attempt));
  const left = leftThere(state, made);
  for (const [path, after] of newestNotes(state)) left.set(path, new Set(left.get(path)).add(after));
  return left;
}

/** Notes are every task's: nobody sets them aside, and the last word stands. */
function newestNotes({ attempts }: State): Map<string, string | null> {
  const notes = new Map<string, string | null>();
  for (const attempt of [...attempts.values()].sort((a, b) => a.iteration - b.iteration))
    for (const { path, after } of attempt.noted) notes.set(path, after);
  return notes;
}
