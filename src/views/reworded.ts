/**
 * Tasks whose own words an agent changed. That is legal, because a criterion can be wrong; whoever reads that the
 * task is done has to know by which words.
 */
import { naturalOrder, type Reworded, type State, type TaskState } from '../core/index.ts';
import { oneLine } from './words.ts';

/** As data; null where the words are a person's. */
export function rewordedJson({ reworded }: TaskState): Reworded | null {
  if (reworded === null) return null;
  const { iteration, before, after } = reworded;
  return { iteration, before, after };
}

/** `iteration 3 made “a.txt exists” into “anything”`. */
export function rewordedWords({ iteration, before, after }: Reworded): string {
  if (after.length === 0) return `iteration ${iteration} took away ${quoted(before)}`;
  if (before.length === 0) return `iteration ${iteration} added ${quoted(after)}`;
  return `iteration ${iteration} made ${quoted(before)} into ${quoted(after)}`;
}

/** Done in the running or last run by such words, in the order of their ids. */
export function doneReworded(state: State): ({ task_id: string } & Reworded)[] {
  const from = state.run?.startedAt ?? Number.POSITIVE_INFINITY;
  return [...state.tasks.values()]
    .filter(({ status, attempts }) => {
      const last = state.attempts.get(attempts.at(-1) ?? 0);
      return status === 'done' && last !== undefined && last.startedAt >= from;
    })
    .flatMap((task) => {
      const reworded = rewordedJson(task);
      return reworded === null ? [] : [{ task_id: task.def.id, ...reworded }];
    })
    .sort((a, b) => naturalOrder(a.task_id, b.task_id));
}

const QUOTED_MOST = 3;

function quoted(lines: readonly string[]): string {
  const shown = lines.slice(0, QUOTED_MOST).map((line) => `“${oneLine(line, 120)}”`);
  const more = lines.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
