/**
 * Which item goes next. Tasks with few fruitless tries come first, so that one bad task never starves
 * the rest; among equals, work that a review sent back comes before reviews, and reviews before new work.
 */
import { asksPerson } from './correct.ts';
import type { Limits } from './policy.ts';
import { type Item, itemKey } from './role.ts';
import { needsOf, splitDue, splitItem, splitUsedUp } from './split.ts';
import { heldBy, hires, type State, type TaskState } from './state.ts';
import { isTerminal, naturalOrder } from './task.ts';

/** Whether the run may work on this task at all (`--task`). */
export function inScope(state: State, task: TaskState): boolean {
  const only = state.policy?.onlyTask ?? null;
  return only === null || only === task.def.id;
}

/** A dependency is satisfied once it, or all that took its place, is done and landed; a cancelled one never is. */
export function isReady(state: State, task: TaskState): boolean {
  return needsOf(state, task).every((id) => {
    const dependency = state.tasks.get(id);
    return dependency !== undefined && dependency.status === 'done' && dependency.landed === 'landed';
  });
}

/** False once a person took the task away, or a question holds it, while its item waited to be started. */
export function isWanted(state: State, item: Item): boolean {
  // Its role may be gone since: another start may have another configuration.
  if (item.mode === 'hat' && !state.policy?.hats?.roles.some(({ name }) => name === item.role)) return false;
  if (item.task === undefined) return true;
  const task = state.tasks.get(item.task);
  // Its report is wanted until somebody takes it up again.
  if (item.mode === 'TIMEOUT_FAIL') return task?.status === 'failed';
  if (task === undefined || isTerminal(task.status) || heldBy(state, item.task) !== null) return false;
  // Open again before its review began.
  return item.mode !== 'TASK_REVIEW' || task.status === 'review';
}

/** The item that would move this task next, in the team that is hired. */
export function nextItem(state: State, task: TaskState): Item {
  const subject = task.def.id;
  if (splitDue(state, task) !== null) return splitItem(task);
  if (task.status === 'review' && hires(state, 'TASK_REVIEW')) {
    return { role: 'reviewer', mode: 'TASK_REVIEW', subject, task: subject };
  }
  const mode = task.rework && hires(state, 'review-fix') ? 'review-fix' : 'implement';
  return { role: 'executor', mode, subject, task: subject };
}

/** The task's attempts are used up: only a person who acts on it gives it others, a mere start does not. */
export function attemptsUsed(limits: Limits, { charged, tries }: TaskState): string | null {
  return charged >= (tries ?? limits.maxTaskAttempts) ? rejected(charged, 'attempt') : null;
}

/** A reviewer's own budget is used up: a question about the task is due, never a failed task. */
export function isExhausted(state: State, task: TaskState): string | null {
  const { limits } = state.policy!;
  if (splitDue(state, task) !== null) return splitUsedUp(state, task);
  const { reviewRejections, tries } = task;
  const used = attemptsUsed(limits, task);
  if (used !== null) return used;
  if (asksPerson(task)) return 'every correction that applies was tried';
  if (tries !== null && reviewRejections >= tries)
    return `${rejected(reviewRejections, 'try', 'tries')} by review`;
  if (task.def.review === undefined && reviewRejections >= limits.reviewCap) {
    return `${reviewRejections} reviews asked for changes`;
  }
  if (limits.maxCostUsdPerTask !== null && task.budgetUsd >= limits.maxCostUsdPerTask) {
    return `it has cost $${task.budgetUsd.toFixed(2)} of $${limits.maxCostUsdPerTask}`;
  }
  // Thousands of tasks are asked at every step; most of them were never tried.
  if (state.items.size === 0) return null;
  const item = state.items.get(itemKey(nextItem(state, task)));
  if (!item) return null;
  if (item.charged >= limits.maxTaskAttempts) return `${item.charged} reviews ended without a verdict`;
  if (item.died >= 1 + limits.maxSubagentRetries) return `its agent died ${item.died} times`;
  return null;
}

function rejected(n: number, one: string, more = `${one}s`): string {
  return n === 1 ? `1 ${one} was rejected` : `${n} ${more} were rejected`;
}

export interface Candidate {
  task: TaskState;
  item: Item;
  notBefore: number;
}

/** Tasks that could be worked on now, best first; the back-off of each stands beside it. */
export function candidates(state: State): Candidate[] {
  const found: Candidate[] = [];
  for (const task of state.tasks.values()) {
    if (isTerminal(task.status) || task.status === 'doing' || !inScope(state, task)) continue;
    if (heldBy(state, task.def.id) || !isReady(state, task) || isExhausted(state, task)) continue;
    const item = nextItem(state, task);
    found.push({ task, item, notBefore: state.items.get(itemKey(item))?.notBefore ?? 0 });
  }
  return found.sort(byPreference);
}

function byPreference(a: Candidate, b: Candidate): number {
  return (
    a.task.fruitless - b.task.fruitless ||
    kindRank(a) - kindRank(b) ||
    a.task.def.priority - b.task.def.priority ||
    a.task.def.order - b.task.def.order ||
    naturalOrder(a.task.def.id, b.task.def.id)
  );
}

function kindRank({ task, item }: Candidate): number {
  if (task.rework) return 0;
  return item.mode === 'TASK_REVIEW' ? 1 : 2;
}

/** The wave: items of one kind, as many as may run side by side, none sharing a file with another. */
export function pickWave(ready: Candidate[], size: number): Item[] {
  const first = ready[0];
  if (!first || size < 1) return [];
  const wave: Candidate[] = [first];
  for (const next of ready.slice(1)) {
    if (wave.length >= size || first.task.def.sequential) break;
    if (next.item.mode !== first.item.mode || next.task.def.sequential) continue;
    if (wave.some((other) => sharesFile(other.task, next.task))) continue;
    wave.push(next);
  }
  return wave.map((candidate) => candidate.item);
}

function sharesFile(a: TaskState, b: TaskState): boolean {
  return a.def.files.some((file) => b.def.files.includes(file));
}
