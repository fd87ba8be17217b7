/**
 * A task is a wanted change. What the task file says of it is its definition; what happened to it is
 * the state's. Only verdicts and people move tasks.
 */

/** todo `[ ]`, doing `[/]`, review `[P]`, done `[x]`, failed `[F]`, cancelled `[C]`. */
export type TaskStatus = 'todo' | 'doing' | 'review' | 'done' | 'failed' | 'cancelled';

/** The marker a status has in every checklist the product reads or writes. */
export const MARKERS: Record<TaskStatus, string> = {
  todo: '[ ]',
  doing: '[/]',
  review: '[P]',
  done: '[x]',
  failed: '[F]',
  cancelled: '[C]',
};

/** The review fields of one story, as the task file carries them. `count` counts recorded reviews. */
export interface ReviewFields {
  status: null | 'needs_review' | 'changes_requested' | 'approved';
  count: number;
  feedback: string;
}

/** One task as its file defines it. `order` is its position in the file, from 0. */
export interface TaskDef {
  id: string;
  title: string;
  description: string;
  acceptance: string[];
  /** Lower goes first; tasks without one share 0. */
  priority: number;
  order: number;
  dependsOn: string[];
  status: TaskStatus;
  /** Present in lists with a review cycle only. */
  review?: ReviewFields;
  /** Files the task names; tasks that share one do not share a wave. */
  files: string[];
  /** `none`: finishing this task needs no change in the repository. */
  changes: 'expected' | 'none';
  sequential?: boolean;
}

/** True for a status that only a person can leave. */
export function isTerminal(status: TaskStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

/** Orders ids the way people count: task-2 before task-10. */
export function naturalOrder(a: string, b: string): number {
  const left = a.match(/\d+|\D+/g) ?? [];
  const right = b.match(/\d+|\D+/g) ?? [];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x, y] = [left[i]!, right[i]!];
    const bothNumbers = /^\d/.test(x) && /^\d/.test(y);
    const order = bothNumbers ? Number(x) - Number(y) : x < y ? -1 : x > y ? 1 : 0;
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
