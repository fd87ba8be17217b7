/**
 * Which paths are whose. A task owns the difference its own attempts made, each before → after, as
 * far as it still stands; what people, other tasks and the engine changed is nobody's evidence.
 */
import type { AttemptState, Change, State, TaskState } from '../core/index.ts';
import type { House } from './house.ts';

/** Facts carry this many paths; the rest lies in the session's store. */
export const MAX_CHANGES = 1_000;

/** Every change of an attempt, those beyond the fact's bound included. */
export async function allChanges(house: House, attempt: AttemptState): Promise<Change[]> {
  if (attempt.more === null) return attempt.changes;
  const bytes = await house.works.get(attempt.more);
  return bytes === null ? attempt.changes : (JSON.parse(Buffer.from(bytes).toString('utf8')) as Change[]);
}

/** The net change of this task's attempts after the given iteration: first before, last after. */
export async function ownChanges(house: House, task: TaskState, since: number): Promise<Change[]> {
  const net = new Map<string, Change>();
  for (const iteration of task.attempts) {
    const attempt = house.state.attempts.get(iteration);
    if (!attempt || iteration <= since) continue;
    for (const change of await allChanges(house, attempt)) {
      const first = net.get(change.path);
      net.set(change.path, { ...change, before: first ? first.before : change.before });
    }
  }
  return [...net.values()].filter((change) => change.before !== change.after);
}

/** Those of the changes whose path still holds what the attempt left there. */
export async function standing(house: House, changes: Change[]): Promise<Change[]> {
  if (changes.length === 0) return [];
  const now = await house.ground.current(changes.map((change) => change.path));
  return changes.filter((change) => (now.get(change.path) ?? null) === change.after);
}

/**
 * Only the loop's own task list, notes and logs: never evidence of work. The same names deeper in the
 * project are the project's, and may well be what a task asked for.
 */
export function isBookkeeping(path: string, state: State): boolean {
  if (state.source?.path !== null && state.source?.path === path) return true;
  return (
    /^((ralph|notes)\/)?(progress\.(txt|md)|scratchpad\.md|memories\.md|activity\.(log|md)|notes\.(txt|md))$/.test(
      path,
    ) ||
    /^(\.ralph|\.ralph-sessions|ralph\/logs|logs)\//.test(path) ||
    /^[^/]+\.log$/.test(path)
  );
}
