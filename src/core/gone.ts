/**
 * Work that had landed and that the branch does not hold any more. Where an attempt took it off, its task is
 * open again: "done" would be no longer true. Where nobody but a person can have done it, it was their
 * choice, which is only said.
 */
import type { Fact } from './event.ts';
import type { State, TaskState } from './state.ts';

/** The tasks whose commit counts as theirs and has to be in the branch. */
export function landedTasks(state: State): TaskState[] {
  return [...state.tasks.values(), ...state.replaced].filter(
    ({ status, landed, commit }) => status === 'done' && landed === 'landed' && commit !== null,
  );
}

/** What follows for these tasks of `landedTasks`, whose commit and content the branch lacks. */
export function goneFacts(state: State, gone: readonly TaskState[]): Fact[] {
  const facts: Fact[] = [];
  for (const task of gone) {
    const { id } = task.def;
    const now = state.tasks.get(id);
    if (now === undefined) continue;
    const commit = (task.commit ?? '').slice(0, 10);
    const by = takenOffBy(state, task);
    const text =
      now !== task
        ? `${id} of cycle ${task.cycle} is done, but its commit ${commit} is not in this branch any more; \`git show ${commit}\` shows what it was.`
        : by === null
          ? `${id} is done, but its commit ${commit} is not in this branch any more. No attempt took it off, so the task stays done; \`ralph tasks reopen ${id}\` opens it again.`
          : `${id} is open again: its commit ${commit} is not in the branch any more, since iteration ${by} took commits off. \`git show ${commit}\` shows what it was.`;
    if (now === task && by !== null) {
      const reason = `its commit ${commit} was taken off the branch in iteration ${by}`;
      facts.push({ type: 'task.moved', task: id, to: 'todo', reason, by: 'engine' });
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
