/** The tasks of the open session, or of the list that a run would use when nothing was run yet. */
import { emptyState, evolve, Problem, type State } from '../core/index.ts';
import type { ListReading, TaskList } from '../engine/index.ts';
import { openTaskList } from '../store/index.ts';
import { knownSessions } from './choose.ts';
import { loadSettings } from './config.ts';
import { emptyProblem } from './empty-list.ts';
import { findPlace, type Place } from './place.ts';
import { noListFacts, whichList } from './which-list.ts';
import { openState } from './windows.ts';

export interface TaskStateRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The session that is meant; the open one where none is named. */
  session?: string | undefined;
  /** A task file to look into instead, whatever was run. */
  tasks?: string | undefined;
}

export interface KnownTasks {
  state: State;
  /** What a person should know of the file; of a session's only what may be meant as tasks and is none. */
  warnings: string[];
}

/** Throws a Problem for a list that is not there, holds no task or cannot be read. */
export async function taskState({ cwd, env, session, tasks }: TaskStateRequest): Promise<KnownTasks> {
  const place = await findPlace(cwd);
  const asked = session !== undefined || (tasks === undefined && (await knownSessions(place)).length > 0);
  if (asked) {
    const { state } = await openState(cwd, session);
    const path = state.source?.path ?? 'the task list';
    return { state, warnings: (state.unread ?? []).map((text) => `${path}: ${text}`) };
  }
  const named = tasks ?? (await configured(place, env));
  return tasksOfFile(place, { cwd: tasks === undefined ? place.dir : cwd, named, called: cwd });
}

/** The file that the configuration names. */
async function configured(place: Place, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { settings } = await loadSettings({ place, env, flags: {}, session: null });
  return settings.tasks ?? undefined;
}

async function tasksOfFile(
  place: Place,
  { cwd, named, called }: { cwd: string; named: string | undefined; called: string },
): Promise<KnownTasks> {
  const found = await whichList({ place, cwd, named });
  if (found === null) throw noTasks(place, called);
  const { path } = found;
  const list = await openTaskList({ projectDir: place.dir, groundRoot: place.project.root, path });
  const reading = await list.read();
  if (reading.kind === 'unreadable') throw new Problem(reading.problem);
  if (reading.kind !== 'list') throw new Problem(emptyProblem(path, reading));
  const state = stateOfList(list, reading);
  return { state, warnings: [...found.warnings, ...reading.warnings.map((text) => `${path}: ${text}`)] };
}

/** What a first look at a list would make of an empty session. */
export function stateOfList(list: TaskList, reading: ListReading | null): State {
  const state = emptyState();
  if (reading?.kind !== 'list') return state;
  const { reviewed, sha256, tasks } = reading;
  const source = { ...list.source, reviewed };
  const fact = { type: 'tasks.read' as const, source, sha256, set: tasks, gone: [], by: 'person' };
  return evolve(state, { seq: 0, at: 0, facts: [fact] });
}

const noTasks = (place: Place, cwd: string): Problem =>
  new Problem({
    code: 'tasks.none',
    what: 'There is no task list here and no session yet.',
    ...noListFacts({ place, cwd, command: 'ralph tasks' }),
  });
