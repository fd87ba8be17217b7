/**
 * Work that had landed and that the branch does not hold any more: "done" would be no longer true. Where an
 * attempt took it off, or a person had the session go on without it, its task is open again. Else a person is
 * told first, with the way back.
 */
import type { Fact } from './event.ts';
import { type Left, type Made, netChanges } from './ownership.ts';
import type { State, TaskState } from './state.ts';

/** The tasks whose commit counts as theirs and has to be in the branch. */
export function landedTasks(state: State): TaskState[] {
  return [...state.tasks.values(), ...state.replaced].filter(
    ({ status, landed, commit }) =>
      status === 'done' && landed === 'landed' && commit !== null && commit !== '',
  );
}

/** Work that landed, and by what it is known where its commit has another id: after a rebase, an amend, a squash. */
export interface LandedWork {
  task: string;
  commit: string;
  /** Lines of its commit's message. */
  said: readonly string[];
  /** What it left at each path, or later tasks of the session after it: a squash holds only the last of them. */
  left: Left;
}

export function landedWork(state: State, task: TaskState, made: Made): LandedWork {
  const { id } = task.def;
  const own = task.attempts.at(-1) ?? state.lastIteration;
  const left: Left = new Map(netChanges(task, made, 0).map(({ path, after }) => [path, new Set([after])]));
  for (const other of landedTasks(state)) {
    if ((other.attempts.at(-1) ?? 0) <= own) continue;
    for (const { path, after } of netChanges(other, made, 0)) left.get(path)?.add(after);
  }
  return { task: id, commit: task.commit ?? '', said: trailersOf(state, task), left };
}

/** The lines of a landing commit's message that say whose work it is. */
export function trailersOf(state: State, task: TaskState): string[] {
  const iteration = task.attempts.at(-1) ?? state.lastIteration;
  const { id } = task.def;
  return [`Ralph-Session: ${state.session?.id ?? ''}`, `Ralph-Task: ${id}`, `Ralph-Attempt: ${iteration}`];
}

/** True where these blobs of a commit are what the work left. */
export function isHeldBy({ left }: LandedWork, blobs: ReadonlyMap<string, string>): boolean {
  return left.size > 0 && [...left].every(([path, after]) => after.has(blobs.get(path) ?? null));
}

/** Those of the tasks whose loss nobody has heard of and no attempt made: a person is to look first. */
export function unheardOf(state: State, gone: readonly TaskState[]): TaskState[] {
  return gone.filter((task) => !state.forgone.has(task.commit ?? '') && takenOffBy(state, task) === null);
}

/**
 * What follows for these tasks of `landedTasks`, whose commit and content the branch lacks. `stands`: those whose
 * work is all in the work tree.
 */
export function goneFacts(
  state: State,
  gone: readonly TaskState[],
  stands: ReadonlySet<TaskState> = new Set(),
): Fact[] {
  const facts: Fact[] = [];
  for (const task of gone) {
    const { id } = task.def;
    const now = state.tasks.get(id);
    if (now === undefined) continue;
    const commit = (task.commit ?? '').slice(0, 10);
    const show = `\`git show ${commit}\` shows what it was.`;
    const by = takenOffBy(state, task);
    const since = by === null ? '' : `, since iteration ${by} took commits off`;
    const text =
      now === task
        ? `${id} is open again: its commit ${commit} is not in the branch any more${since}. ${show}`
        : `${id} of cycle ${task.cycle} was done, but its commit ${commit} is not in this branch any more; ${show}`;
    if (now === task) {
      const how = by === null ? ', and the session was resumed without it' : ` in iteration ${by}`;
      const reason = `its commit ${commit} was taken off the branch${how}`;
      const more = stands.has(task) ? { stands: true as const } : {};
      facts.push({ type: 'task.moved', task: id, to: 'todo', reason, by: 'engine', ...more });
    }
    if (!state.notices.some((given) => given.text === text))
      facts.push({ type: 'notice.given', level: 'warning', text });
  }
  return facts;
}

/** The attempt after the task's own that took commits off, or of whose end nobody knows enough; null: none. */
function takenOffBy(state: State, { attempts }: TaskState): number | null {
  const own = attempts.at(-1) ?? 0;
  const later = [...state.attempts.values()].filter(({ iteration }) => iteration > own).reverse();
  return (later.find(({ rewrote }) => rewrote) ?? later.find(({ lost }) => lost !== null))?.iteration ?? null;
}
