/**
 * A planned task that is cut anew: it ran out of the most time that an attempt of it can have, or guidance made
 * another task of it. The planner writes what takes its place; the task is cancelled with `replacedBy`, what
 * waited for it waits for all of that, and what its attempts left goes to the first of them.
 */
import { callUsedUp, isPlanned } from './cycle.ts';
import type { Fact } from './event.ts';
import { timeoutS } from './limits.ts';
import { carriesOut, type Item } from './role.ts';
import { hires, type State, type TaskState } from './state.ts';
import type { TaskDef } from './task.ts';

/** How often what takes a task's place may itself be cut anew. */
const DEPTH_MOST = 2;
/** More than this is no split but a breakdown of its own. */
const PARTS_MOST = 4;

/** Why a task is cut anew. */
export type SplitCause =
  /** `seconds`: what its last attempt had. */
  | { why: 'timeout'; seconds: number }
  /** `words`: the executor's. */
  | { why: 'scope'; words: string };

const SCOPE_CHANGE = /^STEER scope change\b/i;

/** Whether these words of a blocked executor say that guidance made another task of its own. */
export function isScopeChange(words: string): boolean {
  return SCOPE_CHANGE.test(words);
}

/** Whether the planner may put others in the place of this task at all. A person's own list is theirs. */
export function maySplit(state: State, task: TaskState): boolean {
  return task.depth < DEPTH_MOST && isPlanned(state) && hires(state, 'SPLIT_TASK');
}

/** Why the planner is to cut this task anew now; null where it is not. */
export function splitDue(state: State, task: TaskState): SplitCause | null {
  if (task.status !== 'todo' || task.attempts.length === 0 || !maySplit(state, task)) return null;
  const last = state.attempts.get(task.attempts.at(-1)!);
  // What was tried before a person acted on it, or on the task it comes from, says nothing any more.
  if (!last?.verdict || last.iteration <= task.ladderFrom || last.item.task !== task.def.id) return null;
  const { verdict, report, claim, allowance } = last;
  if (verdict.value === 'blocked' && claim?.kind === 'blocked' && isScopeChange(claim.text))
    return { why: 'scope', words: claim.text };
  const late = report?.ending === 'timed_out' && report.timeout !== 'idle';
  if (verdict.value !== 'rejected' || !late) return null;
  // The most that an attempt of it can have: none gets more, or there is none left.
  const { limits } = state.policy!;
  const more = timeoutS(state.policy!, task, state.durations) * 1000 > allowance.wallMs;
  const left = task.charged < (task.tries ?? limits.maxTaskAttempts);
  return more && left ? null : { why: 'timeout', seconds: allowance.wallMs / 1000 };
}

/** The planner's call about this task. */
export function splitItem({ def }: TaskState): Item {
  return { role: 'planner', mode: 'SPLIT_TASK', subject: def.id, task: def.id };
}

/** Why the planner is not called about it again; null while it may be. */
export function splitUsedUp(state: State, task: TaskState): string | null {
  const why = callUsedUp(state, splitItem(task));
  return why === null ? null : `the planner could not put others in its place: ${why}`;
}

/** The task ids that a dependency stands for now: itself, or all that took its place. */
export function standsFor(state: State, id: string): string[] {
  const task = state.tasks.get(id);
  if (task?.status !== 'cancelled' || task.replacedBy.length === 0) return [id];
  return [...new Set(task.replacedBy.flatMap((part) => standsFor(state, part)))];
}

/** What a task waits for, with what took the place of others. */
export function needsOf(state: State, { def }: TaskState): string[] {
  const { dependsOn } = def;
  // Thousands of tasks are asked at every step; hardly any was cut anew.
  if (!dependsOn.some((id) => state.tasks.get(id)?.status === 'cancelled')) return dependsOn;
  return [...new Set(dependsOn.flatMap((id) => standsFor(state, id)))];
}

/** The whole graph around the parts of a task, in which they stand in its place and nothing waits for it. */
export function graphAround(
  state: State,
  task: string,
  parts: readonly string[],
): { id: string; dependsOn: string[] }[] {
  return [...state.tasks.values()].map((other) => {
    const needs = other.def.id === task ? [] : needsOf(state, other);
    return { id: other.def.id, dependsOn: needs.flatMap((id) => (id === task ? parts : [id])) };
  });
}

/** What is wrong with the parts as such, in sentences for the planner. */
export function partFaults(state: State, task: TaskState, parts: readonly TaskDef[]): string[] {
  const { id } = task.def;
  const scope = splitDue(state, task)?.why === 'scope';
  const faults: string[] = [];
  const least = scope ? 1 : 2;
  const named = scope ? `tasks/${id}a.md` : `tasks/${id}a.md, tasks/${id}b.md`;
  if (parts.length < least)
    faults.push(
      `${id} needs at least ${least === 1 ? 'one new task' : 'two new tasks'} in its place, and ${parts.length === 0 ? 'none' : 'one'} is there; write ${named}`,
    );
  if (parts.length > PARTS_MOST)
    faults.push(`${parts.length} new tasks are too many in the place of ${id}; write two to four`);
  const known = new Map([...state.tasks.keys()].map((other) => [other.toLowerCase(), other]));
  for (const part of parts) {
    const other = known.get(part.id.toLowerCase());
    if (other !== undefined)
      faults.push(
        `tasks/${part.id}.md: "${other}" is a task already, as case does not count; give it another name`,
      );
    if (part.dependsOn.some((on) => on.toLowerCase() === id.toLowerCase()))
      faults.push(
        `${part.id} depends on ${id}, whose place it takes; name what ${id} depends on, or another new task`,
      );
  }
  return faults;
}

/** What an accepted call about a task leads to, in the record of its verdict. */
export function replacedFacts(state: State, task: TaskState, parts: readonly TaskDef[]): Fact[] {
  const { id, order } = task.def;
  const by = parts.map((part) => part.id);
  const cause = splitDue(state, task);
  const why =
    cause?.why === 'scope'
      ? oneLine(cause.words)
      : `it ran out of the most time it could have, ${cause?.seconds ?? 0} s`;
  return [
    {
      type: 'tasks.read',
      source: state.source!,
      sha256: state.sourceSha ?? '',
      // They stand where it stood.
      set: parts.map((part) => ({ ...part, order })),
      gone: [],
      by: 'agent',
    },
    {
      type: 'task.moved',
      task: id,
      to: 'cancelled',
      reason: `replaced_by: ${by.join(', ')}; ${why}`,
      by: 'engine',
    },
    { type: 'task.replaced', task: id, by },
  ];
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** What took its place knows how deep it is, and the first takes over its work. */
export function handOver(state: State, task: TaskState, by: readonly string[]): void {
  task.replacedBy = [...by];
  const parts = by.flatMap((id) => state.tasks.get(id) ?? []);
  for (const part of parts) part.depth = task.depth + 1;
  // One that waits for no other can build on it at once.
  const heir = parts.find(({ def }) => !def.dependsOn.some((id) => by.includes(id))) ?? parts[0];
  if (!heir) return;
  const { attempts, aside, conflicts, kept, parted, sinceReview, baseTree } = task;
  Object.assign(heir, { attempts, aside, conflicts, kept, parted, sinceReview, baseTree });
  Object.assign(task, { attempts: [], aside: null, conflicts: [], kept: {}, parted: [] });
  if (state.groundOwner === task.def.id) state.groundOwner = heir.def.id;
}

/** Whether this call cuts a task anew. */
export function cutsAnew(item: Item): boolean {
  return item.task !== undefined && item.role === 'planner' && !carriesOut(item);
}
