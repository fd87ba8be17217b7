/** The tasks of the open session, or of the list that a run would use when nothing was run yet. */
import { emptyState, evolve, Problem, type State } from '../core/index.ts';
import { findTaskList, openTaskList } from '../store/index.ts';
import { knownSessions } from './choose.ts';
import { findPlace } from './place.ts';
import { openState } from './windows.ts';

export async function taskState(cwd: string, id?: string): Promise<State> {
  const place = await findPlace(cwd);
  if (id !== undefined || (await knownSessions(place)).length > 0) return (await openState(cwd, id)).state;
  const found = await findTaskList(place.dir);
  const list =
    found &&
    (await openTaskList({ projectDir: place.dir, groundRoot: place.project.root, path: found.path }));
  const reading = await list?.read();
  if (!list || !reading) throw noTasks();
  if (reading.kind === 'unreadable') throw new Problem(reading.problem);
  if (reading.kind !== 'list') throw noTasks();
  const source = { ...list.source, reviewed: reading.reviewed };
  const { sha256, tasks } = reading;
  const fact = { type: 'tasks.read' as const, source, sha256, set: tasks, gone: [], by: 'person' };
  return evolve(emptyState(), { seq: 0, at: 0, facts: [fact] });
}

const noTasks = (): Problem =>
  new Problem({
    code: 'tasks.none',
    what: 'There is no task list here and no session yet.',
    why: 'Looked for ralph/tasks.json, prd.json, PRD.md, fix_plan.md and the other usual names.',
    fix: 'Write one, or start with an objective: ralph run "…".',
  });
