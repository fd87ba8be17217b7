/**
 * What "blocked" means, once for every window and command: a task that goes nowhere until somebody acts.
 * An open question is about it, its attempts are used up, or it failed for good. A task that only waits
 * for such a one is not blocked, and never taken for satisfied: it is shown as waiting.
 */
import { DEPENDENCY_FAILED } from './evolve-task.ts';
import { isExhausted } from './pick.ts';
import type { Question } from './question.ts';
import { needsOf } from './split.ts';
import { heldBy, type State, type TaskState } from './state.ts';

export interface BlockedTask {
  task: TaskState;
  /** `attempts`: out of them and not asked about yet; `failed`: for good in this cycle. */
  kind: 'question' | 'attempts' | 'failed';
  question: Question | null;
  /** In words; may quote an agent. */
  why: string;
  /** Epoch ms; null where the list itself says so. */
  since: number | null;
}

export interface WaitingTask {
  task: TaskState;
  /** The blocked or cancelled tasks at the ends of its dependencies. */
  on: string[];
}

export interface Blockage {
  blocked: BlockedTask[];
  waiting: WaitingTask[];
}

/** Every blocked task and every task that waits for one, in the order of the list. */
export function blockage(state: State): Blockage {
  const tasks = [...state.tasks.values()].sort((a, b) => a.def.order - b.def.order);
  const found = new Map<string, BlockedTask>();
  for (const task of tasks) {
    const one = blockedTask(state, task);
    if (one) found.set(task.def.id, one);
  }
  const waiting = tasks.flatMap((task) => {
    const open = task.status !== 'done' && task.status !== 'cancelled' && !found.has(task.def.id);
    const on = open ? [...causes(state, task, found, new Set())] : [];
    return on.length > 0 ? [{ task, on }] : [];
  });
  return { blocked: [...found.values()], waiting };
}

/** How this one task is blocked; null where it is not. */
export function blockedTask(state: State, task: TaskState): BlockedTask | null {
  if (task.status === 'done' || task.status === 'cancelled' || task.status === 'doing') return null;
  const question = heldBy(state, task.def.id)?.question ?? null;
  const used = state.policy ? isExhausted(state, task) : null;
  if (question) {
    const why = used !== null && question.askedBy === 'engine' ? `out of attempts: ${used}` : question.text;
    return { task, kind: 'question', question, why, since: question.askedAt };
  }
  if (task.status === 'failed') {
    if (waitsOnly(state, task)) return null;
    const why = task.reason || 'it is marked as failed in the list';
    return { task, kind: 'failed', question, why, since: task.movedAt || null };
  }
  if (used === null) return null;
  const last = state.attempts.get(task.attempts.at(-1) ?? 0);
  const why = `out of attempts: ${used}`;
  return { task, kind: 'attempts', question, why, since: last?.endedAt ?? null };
}

/** What an open task that is not blocked itself waits for: dependencies that are not done and landed; else none. */
export function waitsFor(state: State, task: TaskState): string[] {
  const { status } = task;
  if (status === 'done' || status === 'cancelled' || status === 'doing') return [];
  if (blockedTask(state, task) !== null) return [];
  return needsOf(state, task).filter((id) => {
    const dependency = state.tasks.get(id);
    return dependency !== undefined && (dependency.status !== 'done' || dependency.landed !== 'landed');
  });
}

/** It failed only because a task it depends on did, or was cancelled. */
function waitsOnly(state: State, task: TaskState): boolean {
  return (
    task.reason.startsWith(DEPENDENCY_FAILED) &&
    needsOf(state, task).some((id) => ['failed', 'cancelled'].includes(state.tasks.get(id)?.status ?? ''))
  );
}

/** The blocked and cancelled tasks this one waits for, through any number of others. */
function causes(
  state: State,
  task: TaskState,
  blocked: ReadonlyMap<string, BlockedTask>,
  seen: Set<string>,
): Set<string> {
  const found = new Set<string>();
  for (const id of needsOf(state, task)) {
    const dependency = state.tasks.get(id);
    if (!dependency || seen.has(id)) continue;
    seen.add(id);
    if (blocked.has(id) || dependency.status === 'cancelled') found.add(id);
    else if (dependency.status !== 'done')
      for (const cause of causes(state, dependency, blocked, seen)) found.add(cause);
  }
  return found;
}
