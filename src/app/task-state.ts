/** The tasks of the open session, or of the list that a run would use when nothing was run yet. */
import { type Loaded, type Settings, toPolicy } from '../config/index.ts';
import { emptyState, evolve, type Policy, Problem, type State } from '../core/index.ts';
import type { ListReading, TaskList } from '../engine/index.ts';
import { openTaskList } from '../store/index.ts';
import { earlierDurations } from './behaviour.ts';
import { isOpen, knownSessions } from './choose.ts';
import { loadSettings } from './config.ts';
import { emptyProblem } from './empty-list.ts';
import { findPlace, type Place } from './place.ts';
import { noListFacts, whichList } from './which-list.ts';
import { openState, type StateWindow } from './windows.ts';

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
    const opened = await openState(cwd, session);
    const { state } = opened;
    const path = state.source?.path ?? 'the task list';
    const warnings = (state.unread ?? []).map((text) => `${path}: ${text}`);
    if (session === undefined) warnings.push(...(await elsewhere(place, env, opened)));
    return { state, warnings };
  }
  const loaded = await settingsOf(place, env, tasks !== undefined);
  const settings = loaded?.settings ?? null;
  if (tasks !== undefined) return tasksOfFile(place, { cwd, named: tasks, called: cwd, settings });
  const { tasks: named } = settings ?? {};
  const from = loaded?.origin.get('tasks');
  return tasksOfFile(place, { cwd: place.dir, named: named ?? undefined, from, called: cwd, settings });
}

/** What the next start would go by. A list that is named is shown although ralph.yml holds a mistake. */
async function settingsOf(
  place: Place,
  env: NodeJS.ProcessEnv,
  named: boolean,
): Promise<Pick<Loaded, 'settings' | 'origin'> | null> {
  const loading = loadSettings({ place, env, flags: {}, session: null });
  return named ? loading.catch(() => null) : loading;
}

/** A finished session shows its own tasks; where a run would begin with others, that is said. */
async function elsewhere(
  place: Place,
  env: NodeJS.ProcessEnv,
  { session, state }: StateWindow,
): Promise<string[]> {
  if (isOpen(state)) return [];
  const settings = (await settingsOf(place, env, true))?.settings ?? null;
  const next = await tasksOfFile(place, {
    cwd: place.dir,
    named: settings?.tasks ?? undefined,
    called: place.dir,
    settings,
  }).catch(() => null);
  const open = [...(next?.state.tasks.values() ?? [])].filter(({ status }) => status === 'todo');
  if (open.length === 0) return [];
  const path = next!.state.source?.path ?? 'the list';
  const ids = open.slice(0, 5).map(({ def }) => def.id);
  const more = open.length > 5 ? ` and ${open.length - 5} more` : '';
  return [
    `These are the tasks of session ${state.session?.id ?? session.id}, which is finished. \`ralph run\` would begin a new one with ${path}: ${ids.join(', ')}${more} (\`ralph tasks --tasks ${path}\` shows it).`,
  ];
}

async function tasksOfFile(
  place: Place,
  {
    cwd,
    named,
    from,
    called,
    settings,
  }: {
    cwd: string;
    named: string | undefined;
    from?: string | undefined;
    called: string;
    settings: Settings | null;
  },
): Promise<KnownTasks> {
  const found = await whichList({ place, cwd, named, from });
  if (found === null) throw noTasks(place, called);
  const { path } = found;
  const list = await openTaskList({ projectDir: place.dir, groundRoot: place.project.root, path });
  const reading = await list.read();
  if (reading.kind === 'unreadable') throw new Problem(reading.problem);
  if (reading.kind !== 'list') throw new Problem(emptyProblem(path, reading));
  const state = stateOfList(list, reading);
  if (settings !== null) {
    state.policy = firstPolicy(settings, reading);
    state.durations = earlierDurations(place.mainDir) ?? state.durations;
  }
  return { state, warnings: [...found.warnings, ...reading.warnings.map((text) => `${path}: ${text}`)] };
}

/** What a first run would go by, as far as it bears on the tasks: nobody is started for a look. */
function firstPolicy(settings: Settings, { reviewed, gates }: Read): Policy {
  const facts = { reviewedList: reviewed, listGates: gates, interactive: false, channels: [], agent: '' };
  return toPolicy(settings, facts);
}

type Read = Extract<ListReading, { kind: 'list' }>;

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
