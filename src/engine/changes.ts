/**
 * Which paths are whose. A task owns the difference its own attempts made, each before → after, as
 * far as it still stands; what people, other tasks and the engine changed is nobody's evidence.
 */
import { relative } from 'node:path';
import {
  type AttemptState,
  type Change,
  type EarlierWork,
  isBookName,
  netChanges,
  type TaskState,
  type WorkRef,
} from '../core/index.ts';
import type { House } from './house.ts';
import type { Works } from './ports.ts';

/** Facts carry this many paths; the rest lies in the session's store. */
export const MAX_CHANGES = 1_000;

/** Every change of an attempt, those beyond the fact's bound included. */
export function allChanges(house: House, attempt: AttemptState): Promise<Change[]> {
  return changesOf(house.works, attempt);
}

/** The same, where only the session's works are at hand. What gates or a merge made of a path is what it left there. */
export async function changesOf(works: Pick<Works, 'get'>, attempt: AttemptState): Promise<Change[]> {
  const made = await whole(works, attempt);
  if (attempt.rewritten.length === 0) return made;
  const net = new Map(made.map((change) => [change.path, change]));
  for (const rewritten of attempt.rewritten) {
    for (const change of await whole(works, rewritten)) {
      const first = net.get(change.path);
      // What somebody else made of the path in between is not undone with it.
      net.set(change.path, {
        ...change,
        before: first?.after === change.before ? first.before : change.before,
      });
    }
  }
  return [...net.values()];
}

async function whole(
  works: Pick<Works, 'get'>,
  { changes, more }: { changes: Change[]; more: string | null },
): Promise<Change[]> {
  const bytes = more === null ? null : await works.get(more);
  return bytes === null ? changes : (JSON.parse(Buffer.from(bytes).toString('utf8')) as Change[]);
}

/** The net change of this task's attempts after the given iteration. */
export async function ownChanges(house: House, task: TaskState, since: number): Promise<Change[]> {
  const made = new Map<number, Change[]>();
  for (const iteration of task.attempts) {
    const attempt = house.state.attempts.get(iteration);
    if (attempt && iteration > since) made.set(iteration, await allChanges(house, attempt));
  }
  return netChanges(task, made, since);
}

/**
 * Tells a person's uncommitted paths among the changes of an attempt. One that held exactly what the attempt's
 * own task had left there is that task's: nothing of a person's was in it.
 */
export async function theirsIn(house: House, attempt: AttemptState): Promise<(change: Change) => boolean> {
  const { dirty, tasks } = house.state;
  const task = tasks.get(attempt.item.task ?? '');
  const own = dirty.size === 0 || !task ? [] : await ownChanges(house, task, 0);
  const left = new Map(own.map(({ path, after }) => [path, after]));
  return ({ path, before }) => dirty.has(path) && !(left.has(path) && left.get(path) === before);
}

/** Those of the changes whose path still holds what the attempt left there. */
export async function standing(house: House, changes: Change[]): Promise<Change[]> {
  if (changes.length === 0) return [];
  const now = await house.ground.current(changes.map((change) => change.path));
  return changes.filter((change) => (now.get(change.path) ?? null) === change.after);
}

/** Whose work it is that stands, for the words of a verdict; null where nothing does. */
export async function earlierWork(
  house: House,
  task: TaskState,
  stand: Change[],
): Promise<EarlierWork | null> {
  if (stand.length === 0) return null;
  const paths = new Set(stand.map(({ path }) => path));
  const attempts: number[] = [];
  for (const iteration of task.attempts) {
    const attempt = house.state.attempts.get(iteration);
    if (!attempt || iteration <= task.sinceReview) continue;
    const changes = await allChanges(house, attempt);
    if (changes.some(({ path }) => paths.has(path))) attempts.push(attempt.attempt);
  }
  return { attempts, paths: [...paths] };
}

/** Changes as a fact carries them. */
export interface ToldChanges {
  changes: Change[];
  changeCount: number;
  more: WorkRef | null;
}

/** What goes into the fact itself, and the whole of it into the store where that is not all. */
export async function told(house: House, changes: Change[]): Promise<ToldChanges> {
  const cut = changes.length > MAX_CHANGES;
  const more = cut ? await house.works.put('changes.json', JSON.stringify(changes)) : null;
  return { changes: changes.slice(0, MAX_CHANGES), changeCount: changes.length, more };
}

/**
 * Only the loop's own task list, notes and logs: never evidence of work. The same names deeper in the
 * project are the project's, and may well be what a task asked for; so is source code in a folder of that
 * name. `path` is relative to the ground's root, the names to the project's folder in it.
 */
export function isBookkeeping({ ground, state }: Pick<House, 'ground' | 'state'>, path: string): boolean {
  const prefix = relative(ground.root, ground.cwd).replaceAll('\\', '/');
  if (prefix !== '' && !path.startsWith(`${prefix}/`)) return false;
  const name = prefix === '' ? path : path.slice(prefix.length + 1);
  if (state.source?.path !== null && state.source?.path === name) return true;
  return isBookName(name, () => [state.session?.objective ?? '', ...tasksWords(state)].join('\n'));
}

function* tasksWords({ tasks }: House['state']): Generator<string> {
  for (const { def } of tasks.values()) yield [def.title, def.description, ...def.acceptance].join('\n');
}
