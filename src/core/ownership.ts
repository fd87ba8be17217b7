/**
 * Whose content stands at a path. The work tree holds one task's uncommitted work at a time; that of the others
 * lies aside. So what stands there is told by who holds the tree, and not by who wrote to the path last.
 */
import type { Change } from './evidence.ts';
import type { State, TaskState } from './state.ts';

/** Every change of each attempt, by iteration; a fact, and so the state, holds only the first of them. */
export type Made = ReadonlyMap<number, readonly Change[]>;

/** What attempts left at each path, blob ids, null for nothing; an empty set: they wrote there, and it is gone. */
export type Left = Map<string, Set<string | null>>;

/**
 * The net change of the task's attempts after iteration `since`: first before, last after. Where somebody else
 * changed a path between two of them, what they left is the before: it is not this task's to undo. What could
 * not be put back is in the tree no more, and no part of it.
 */
export function netChanges(task: TaskState, made: Made, since: number): Change[] {
  const net = new Map<string, Change>();
  // The last word on a path counts.
  const parted = new Map(task.parted);
  for (const iteration of task.attempts) {
    if (iteration <= since) continue;
    for (const change of made.get(iteration) ?? []) {
      if (iteration <= (parted.get(change.path) ?? 0)) continue;
      const first = net.get(change.path);
      net.set(change.path, {
        ...change,
        before: first?.after === change.before ? first.before : change.before,
      });
    }
  }
  return [...net.values()].filter((change) => change.before !== change.after);
}

/**
 * What may stand at each path that attempts changed, without being anybody else's doing and without a commit of
 * the engine's that holds it. A path that holds anything else was changed by a person, whoever had it before.
 */
export function leftThere(state: State, made: Made): Left {
  const left: Left = new Map();
  const tasks = [...state.tasks.values(), ...state.replaced];
  const ofTasks = new Set(tasks.flatMap(({ attempts }) => attempts));
  const lastOf = new Map(tasks.map((task) => [task.attempts.at(-1) ?? 0, task]));
  for (const iteration of [...made.keys()].sort((a, b) => a - b)) {
    const changes = made.get(iteration)!;
    for (const { path } of changes) if (!left.has(path)) left.set(path, new Set());
    const task = lastOf.get(iteration);
    if (task) lay(left, state, { task, made });
    else if (!ofTasks.has(iteration)) for (const { path, after } of changes) left.set(path, new Set([after]));
  }
  // It was taken up since others wrote there.
  const owner = state.tasks.get(state.groundOwner ?? '');
  if (owner) lay(left, state, { task: owner, made });
  // A runner may have been killed while it put these back, before it could write that down.
  for (const { aside } of tasks)
    for (const { path, before, after } of aside?.changes ?? [])
      if (left.get(path)?.has(before)) left.get(path)!.add(after);
  return left;
}

/** What this task left, over what was there before it. */
function lay(left: Left, state: State, { task, made }: { task: TaskState; made: Made }): void {
  if (hasLanded(state, task)) {
    for (const iteration of task.attempts)
      for (const { path } of made.get(iteration) ?? []) left.delete(path);
  } else if (task.aside) {
    // Until it is known to be out of the tree, it may still lie there.
    for (const { path, before, after } of task.aside.changes) left.set(path, new Set([before, after]));
  } else {
    for (const { path, after } of netChanges(task, made, 0)) left.set(path, new Set([after]));
  }
}

/** Only a commit of the engine's holds all that its task left. */
function hasLanded({ policy }: State, { landed, commit }: TaskState): boolean {
  return policy?.commit === 'auto' && landed === 'landed' && commit !== null;
}
