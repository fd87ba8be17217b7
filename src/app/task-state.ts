/** The tasks of the open session, or of the list that a run would use when nothing was run yet. */
import { emptyState, evolve, Problem, type State } from '../core/index.ts';
import type { ListReading } from '../engine/index.ts';
import { findTaskList, openTaskList } from '../store/index.ts';
import { knownSessions } from './choose.ts';
import { loadSettings } from './config.ts';
import { emptyFacts } from './empty-list.ts';
import { findPlace, type Place } from './place.ts';
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
  /** What a person should know of the file; none where a session tells of the tasks. */
  warnings: string[];
}

/** Throws a Problem for a list that is not there, holds no task or cannot be read. */
export async function taskState({ cwd, env, session, tasks }: TaskStateRequest): Promise<KnownTasks> {
  const place = await findPlace(cwd);
  const asked = session !== undefined || (tasks === undefined && (await knownSessions(place)).length > 0);
  if (asked) return { state: (await openState(cwd, session)).state, warnings: [] };
  return tasksOfFile(place, tasks ?? (await configured(place, env)));
}

/** The file that the configuration names. */
async function configured(place: Place, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { settings } = await loadSettings({ place, env, flags: {}, session: null });
  return settings.tasks ?? undefined;
}

async function tasksOfFile(place: Place, named: string | undefined): Promise<KnownTasks> {
  const found = await findTaskList(place.dir, named);
  if (found === null) throw noTasks();
  const { path } = found;
  const list = await openTaskList({ projectDir: place.dir, groundRoot: place.project.root, path });
  const reading = await list.read();
  if (reading.kind === 'unreadable') throw new Problem(reading.problem);
  if (reading.kind !== 'list') throw emptyList(path, reading);
  const source = { ...list.source, reviewed: reading.reviewed };
  const fact = {
    type: 'tasks.read' as const,
    source,
    sha256: reading.sha256,
    set: reading.tasks,
    gone: [],
    by: 'person',
  };
  const state = evolve(emptyState(), { seq: 0, at: 0, facts: [fact] });
  return { state, warnings: [...found.warnings, ...reading.warnings.map((text) => `${path}: ${text}`)] };
}

const emptyList = (path: string, reading: ListReading): Problem =>
  new Problem({
    code: 'tasks.empty',
    what: `${path} holds no task.`,
    ...emptyFacts(reading),
    at: path,
  });

const noTasks = (): Problem =>
  new Problem({
    code: 'tasks.none',
    what: 'There is no task list here and no session yet.',
    why: 'Looked for ralph/tasks.json, prd.json, PRD.md, fix_plan.md and the other usual names.',
    fix: 'Write one, or start with an objective: ralph run "…".',
  });
