/**
 * A mark "in progress" that somebody else set and that is older than `task_wip_minutes`: nobody works on that task
 * any more. It fails, with a report that says how far it came; the reviewer writes it where one is hired for that.
 */
import { commandFor } from './command.ts';
import { callUsedUp, keepsWorks } from './cycle.ts';
import type { Fact } from './event.ts';
import { type Item, itemKey } from './role.ts';
import { hires, type State, type TaskState } from './state.ts';
import { isTerminal } from './task.ts';

/** The reason of a task that failed so begins with this. */
const STALE = 'in progress since';

/** Whether this task failed because its mark was stale. */
export function isStale({ status, reason }: TaskState): boolean {
  return status === 'failed' && reason.startsWith(STALE);
}

/**
 * What follows from a mark "in progress" that no run of ours stands behind and that is `since` old (epoch ms; null:
 * nobody knows). None where it is younger than a task may be: it goes back to what it was.
 */
export function staleFacts(
  state: State,
  id: string,
  { since, now }: { since: number | null; now: number },
): Fact[] {
  const task = state.tasks.get(id);
  const minutes = state.policy?.limits.taskWipMinutes;
  if (!task || minutes === undefined || since === null || isTerminal(task.status)) return [];
  if (task.status === 'doing' || now - since <= minutes * 60_000) return [];
  const reason = `${STALE} ${new Date(since).toISOString()}, longer than ${minutes} minutes (limits.task_wip_minutes), and nothing works on it`;
  return [
    { type: 'task.moved', task: id, to: 'failed', reason, by: 'engine' },
    {
      type: 'notice.given',
      level: 'warning',
      text: `Task ${id} failed: it was marked as ${reason}. \`${commandFor(state, `ralph tasks reopen ${id}`)}\` takes it up again.`,
    },
  ];
}

/** The report of a task that failed so: a call that is due, one that the session goes on without, or nothing. */
export function staleReport(state: State): { item: Item; usedUp: string | null } | null {
  if (!hires(state, 'TIMEOUT_FAIL') || !keepsWorks(state)) return null;
  const { done, passedOver } = state.cycleWork;
  for (const task of state.tasks.values()) {
    if (!isStale(task)) continue;
    const item: Item = { role: 'reviewer', mode: 'TIMEOUT_FAIL', subject: task.def.id, task: task.def.id };
    const key = itemKey(item);
    if (!done.includes(key) && !passedOver.includes(key)) return { item, usedUp: callUsedUp(state, item) };
  }
  return null;
}

/** Tasks whose report the engine writes itself, because nobody is hired for it or nobody could. */
export function ownStaleReports(state: State, facts: readonly Fact[]): TaskState[] {
  if (!keepsWorks(state)) return [];
  const ids = facts.flatMap((fact) => {
    if (fact.type === 'call.passed_over' && fact.item.mode === 'TIMEOUT_FAIL') return [fact.item.subject];
    return fact.type === 'task.moved' && fact.to === 'failed' && !hires(state, 'TIMEOUT_FAIL')
      ? [fact.task]
      : [];
  });
  return ids.flatMap((id) => state.tasks.get(id) ?? []).filter(isStale);
}
