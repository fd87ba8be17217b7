/**
 * What a run would do, before anything is made: configuration, objective, task list and session are
 * chosen here, and every mistake in them is told.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Flags, type Settings, toPolicy } from '../config/index.ts';
import {
  commandFor,
  type Fact,
  type Policy,
  Problem,
  type ProblemFacts,
  type State,
  shellWord,
} from '../core/index.ts';
import { type House, isPersons, type ListReading, type TaskList } from '../engine/index.ts';
import { feedbackSource, hasMarkedProgress, openTaskList } from '../store/index.ts';
import { chooseAgent, usableFallback } from './agents.ts';
import type { Audience } from './audience.ts';
import { plannedChannels } from './channels.ts';
import {
  currentSession,
  foreignSession,
  isOpen,
  namedSession,
  newestForeign,
  readState,
  sessionsHere,
} from './choose.ts';
import { loadSettings } from './config.ts';
import { emptyProblem } from './empty-list.ts';
import { type Errand, onErrand } from './errand.ts';
import { importedSession } from './import-session.ts';
import { loopAt, loopWork } from './loops/beside.ts';
import { findPlace, type Place } from './place.ts';
import { allDone, fromHere, noListFacts, whichList } from './which-list.ts';

export type Hearing = <T>(
  work: (ending: AbortSignal) => Promise<T>,
) => Promise<{ value: T; heard: NodeJS.Signals | null }>;

export interface RunRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  flags: Flags;
  objective: string | null;
  session: string | null;
  /** `--new`: beside an open session. */
  fresh: boolean;
  reopen: boolean;
  force: boolean;
  allowDetached: boolean;
  /** A person sits at this terminal and can answer. */
  interactive: boolean;
  /** `ralph resume`: a word to go on after a pause. */
  resume: boolean;
  audience: Audience;
  /** `--worktree`: the loop to work in, made where there is none; empty: a new one. null: in this work tree. */
  loop: string | null;
  /** Told the house once it is open and nothing is done in it yet, so that process signals can reach it. */
  opened?(house: House): void | Promise<void>;
  /** Does what is done outside of a session so that a signal ends it, and tells which one; absent: none is heard. */
  hearing?: Hearing;
  /** The objective is an errand of ours; absent: a person's. */
  errand?: Errand;
}

/** Everything that is known before a lock is taken. */
export interface Plan {
  place: Place;
  /** What was typed; for `ralph resume`, beside what the run before was given. */
  flags: Flags;
  settings: Settings;
  policy: Policy;
  warnings: string[];
  /** Keys that are set and that nothing carries out yet. */
  notYet: ProblemFacts[];
  /** Where each key of the configuration got its value: `default`, a line of a file, a variable or a flag. */
  origin: ReadonlyMap<string, string>;
  objective: string;
  taskPath: string | null;
  reading: ListReading | null;
  /** Nothing is open and no session to go on with: a run would do nothing. */
  idle: boolean;
  session: LoadedSession | null;
  /** Other open sessions of this work tree that have work or questions lying in it. */
  others: LoadedSession[];
}

export interface LoadedSession {
  id: string;
  dir: string;
  state: State;
  /** Another tool's: the facts that its journal is to begin with. */
  imported?: Fact[];
}

/** Configuration, task list and session, with every mistake told before anything is made. */
export async function planRun(request: RunRequest): Promise<Plan> {
  const place = await findPlace(request.cwd);
  const resumed = request.resume ? await chooseSession(place, request, '') : null;
  // Without this, a gate given on the command line would be lost in silence after a crash.
  const flags: Flags = {
    ...(resumed?.state.run?.flags as Flags | undefined),
    ...flagsFromHere(place, request),
  };
  const layers = { place, env: request.env, flags };
  const alone = await loadSettings({ ...layers, session: resumed });
  const objective = await objectiveText(request, alone.settings);
  const session = resumed ?? (await chooseSession(place, request, objective));
  // A session keeps its team: another one would walk past what is left to plan, review or approve.
  const team = session?.state.run?.flags.team;
  if (flags.team === undefined && typeof team === 'string') flags.team = team;
  if (flags.team === undefined && session?.imported !== undefined && alone.settings.team === 'auto')
    flags.team = 'full';
  // A session's own layer can only be read when the session is known.
  const loaded = session === resumed ? alone : await loadSettings({ ...layers, session });
  const { warnings, notYet, origin } = loaded;
  const settings = request.errand ? onErrand(loaded.settings, request.errand) : loaded.settings;
  const taskPath = await taskListPath({ place, request, flags, settings, origin, session, warnings });
  const reading = taskPath === null ? null : await readOnce(place, taskPath);
  const odd = (reading?.kind === 'list' && reading.odd) || [];
  warnings.push(...odd.map((text) => `${taskPath}: ${text}`));
  if (session === null) await requireWork({ place, request, objective, taskPath, reading });
  requireTask(flags.task, reading);
  const idle = session === null && settings.requiredTopics.length === 0 && allDone(reading);
  const fallback = await usableFallback(settings);
  warnings.push(...fallback.warnings);
  const loop = settings.git ? loopAt(place) : null;
  const policy = toPolicy(fallback.usable, {
    ...(loop && { loop: loopWork(loop) }),
    reviewedList: reading?.kind === 'list' && reading.reviewed,
    listGates: reading?.kind === 'list' ? reading.gates : [],
    interactive: request.interactive,
    channels: plannedChannels(settings),
    // Who has nothing to do need not be there.
    agent: idle ? '' : chooseAgent(settings, stringEnv(request.env)),
  });
  if (session === null && taskPath !== null && policy.modes.includes('TASK_BREAKDOWN'))
    warnings.push(givenPlan(taskPath, objective));
  const others = await lyingAround(place, session?.id ?? null);
  const known = { settings, policy, warnings, notYet, origin };
  return { place, flags, ...known, objective, taskPath, reading, idle, session, others };
}

/** A team that plans has nothing to plan where there is a list; nobody should find that out in the morning. */
function givenPlan(taskPath: string, objective: string): string {
  const said = objective === '' ? '' : ' What you typed stands in every prompt, but no task is made of it.';
  return `${taskPath} is the plan: its tasks are worked off and none are added.${said} To have an objective planned instead, move the list away.`;
}

/** A list that is typed is looked for where the person stands; a later run may start somewhere else. */
function flagsFromHere(place: Place, { cwd, flags }: RunRequest): Flags {
  if (flags.tasks === undefined || flags.tasks.trim() === '') return flags;
  return { ...flags, tasks: fromHere(place, cwd, flags.tasks) };
}

export function stringEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

async function objectiveText(request: RunRequest, settings: Settings): Promise<string> {
  const spoken = request.objective?.trim() ?? '';
  if (settings.promptFile === null) return spoken;
  const path = resolve(request.cwd, settings.promptFile);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Problem({
      code: 'prompt.unreadable',
      what: `The prompt file ${settings.promptFile} cannot be read.`,
      why: error.message,
      fix: 'Name a text file with --prompt-file.',
    });
  });
  return [spoken, text.trim()].filter((part) => part !== '').join('\n\n');
}

/** The open sessions, other than ours, whose leftovers or desk files lie in this work tree. */
async function lyingAround(place: Place, ours: string | null): Promise<LoadedSession[]> {
  const known = await sessionsHere(place);
  return known
    .filter(({ id, ending }) => id !== ours && ending.code !== 0 && ending.code !== 9)
    .flatMap(loadedIfWhole)
    .filter(({ state }) => belongs(state, place) && (hasWork(state) || hasPapers(state)));
}

/** Unfinished work lies in the tree, or may: set aside and not known to be out of it. */
function hasWork(state: State): boolean {
  if (state.groundOwner !== null) return true;
  const crashed = state.run?.stopped === null;
  return [...state.tasks.values()].some(({ aside }) => aside !== null && (crashed || !aside.cleared));
}

function hasPapers(state: State): boolean {
  return [...state.desk.values()].some(({ sha256 }) => sha256 !== null);
}

async function chooseSession(
  place: Place,
  request: RunRequest,
  objective: string,
): Promise<LoadedSession | null> {
  if (request.fresh) return null;
  if (request.session !== null) {
    const foreign = await foreignSession(place, request.session);
    const imported = foreign === null ? null : await importedSession(foreign, place.ground);
    if (foreign !== null && imported !== null)
      return { id: foreign.id, dir: foreign.dir, state: imported.state, imported: imported.facts };
    const named = loaded(await namedSession(place, request.session));
    refuseElsewhere(named, place);
    return named;
  }
  const known = await sessionsHere(place);
  const candidates = known.filter(
    (session, index) =>
      index === known.length - 1 || (session.ending.code !== 0 && session.ending.code !== 9),
  );
  const open = candidates
    .map(loaded)
    .filter(({ state }) => belongs(state, place) && (isOpen(state) || hasMail(state)));
  const begun = open.filter(({ state }) => state.session !== null);
  const wanted = begun.length > 0 ? begun : open.slice(-1); // a runner was killed before its first record
  const going = objective === '' ? wanted : wanted.filter(({ state }) => !state.aborted?.done);
  if (going.length === 0) {
    if (request.resume) {
      const newest = loaded(await currentSession(place));
      refuseElsewhere(newest, place);
      return newest;
    }
    return objective === '' ? await completedWithWord(place, candidates.map(loaded)) : null;
  }
  if (going.length > 1) throw severalOpen(going.map(({ id }) => id));
  const only = going[0]!;
  const other = only.state.session?.objective ?? objective;
  if (objective !== '' && objective !== other) throw anotherObjective(only, other, objective);
  return only;
}

/** A session's leftovers and its index are those of its own work tree, as long as that is there. */
function refuseElsewhere({ id, state }: LoadedSession, { ground, mainDir }: Place): void {
  const theirs = state.session?.ground ?? ground;
  const root = theirs === '.' ? mainDir : theirs;
  if (theirs === ground || !existsSync(root)) return;
  throw new Problem({
    code: 'session.elsewhere',
    what: `Session ${id} works in another work tree.`,
    why: `Its work lies in ${root}.`,
    fix: `Go on with it there: ralph run -C ${shellWord(root)} --session ${id}`,
  });
}

function loaded({ id, dir }: { id: string; dir: string }): LoadedSession {
  return { id, dir, state: readState(dir) };
}

/** Nothing of a damaged session can be set aside; what lies in the tree is then nobody's, and told as that. */
function loadedIfWhole(session: { id: string; dir: string }): LoadedSession[] {
  try {
    return [loaded(session)];
  } catch (error) {
    if (error instanceof Problem && error.facts.code.startsWith('journal.')) return [];
    throw error;
  }
}

function belongs(state: State, place: Place): boolean {
  return (state.session?.ground ?? '.') === place.ground;
}

function hasMail(state: State): boolean {
  return state.openQuestions.size > 0;
}

/** A finished session goes on when somebody gave feedback on it, or changed a marker in its progress.md. */
async function completedWithWord(place: Place, candidates: LoadedSession[]): Promise<LoadedSession | null> {
  for (const session of candidates.reverse()) {
    if (!belongs(session.state, place)) continue;
    const batches = await feedbackSource(session.dir).poll(session.state.cycle + 1);
    const { state } = session;
    if (batches.some((batch) => !state.seenMessages.has(batch.id) && isPersons(state, batch))) return session;
    if (hasMarkedProgress(session.dir, session.state)) return session;
  }
  return null;
}

const severalOpen = (ids: string[]): Problem =>
  new Problem({
    code: 'session.several_open',
    what: `Several sessions are open here: ${ids.join(', ')}.`,
    why: 'Each of them could be meant.',
    fix: 'Name one with --session ID.',
  });

function anotherObjective({ id, state }: LoadedSession, open: string, wanted: string): Problem {
  const ralph = (command: string) => commandFor(state, command);
  const short = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
  return new Problem({
    code: 'session.open',
    what: `Session ${id} is open with the objective ${short(open)}; now ${short(wanted)} is asked for.`,
    why: 'One work tree works on one thing at a time.',
    fix: `Go on with \`${ralph(`ralph run --session ${id}`)}\`, or set it aside with \`${ralph(`ralph run --new ${short(wanted)}`)}\`.`,
  });
}

interface ListCall {
  place: Place;
  request: RunRequest;
  flags: Flags;
  settings: Settings;
  origin: Plan['origin'];
  session: LoadedSession | null;
  warnings: string[];
}

/** The list of an open session is the one it began with; otherwise the configured or the detected one. */
async function taskListPath(call: ListCall): Promise<string | null> {
  const { place, request, flags, settings, origin, session, warnings } = call;
  const begun = session?.state.source;
  if (request.errand) return null;
  if (session && begun) {
    if (request.flags.tasks !== undefined) refuseAnotherList(place, session, flags.tasks!);
    return begun.path;
  }
  const found = await whichList({ place, cwd: place.dir, named: settings.tasks, from: origin.get('tasks') });
  warnings.push(...(found?.warnings ?? []));
  return found?.path ?? null;
}

/** Taking the session's own list in silence would work on something else than was typed. */
function refuseAnotherList(place: Place, { id, state }: LoadedSession, tasks: string): void {
  const path = state.source?.path ?? null;
  if (path !== null && resolve(place.dir, path) === resolve(place.dir, tasks)) return;
  throw new Problem({
    code: 'session.open',
    what: `Session ${id} is open and works on ${path ?? 'its objective'}; now ${tasks} is asked for.`,
    why: 'One work tree works on one list at a time.',
    fix: `Go on with it: ${commandFor(state, `ralph run --session ${id}`)}, or begin with the other: ${commandFor(state, `ralph run --new --tasks ${shellWord(tasks)}`)}`,
  });
}

export async function openList(place: Place, path: string): Promise<TaskList> {
  return openTaskList({ projectDir: place.dir, groundRoot: place.project.root, path });
}

async function readOnce(place: Place, path: string): Promise<ListReading> {
  return (await openList(place, path)).read();
}

async function requireWork({
  place,
  request,
  objective,
  taskPath,
  reading,
}: Pick<Plan, 'place' | 'objective' | 'taskPath' | 'reading'> & { request: RunRequest }): Promise<void> {
  if (reading?.kind === 'unreadable') throw new Problem(reading.problem);
  if (reading?.kind === 'empty' || reading?.kind === 'missing') {
    throw new Problem(emptyProblem(taskPath ?? 'tasks', reading));
  }
  if (taskPath === null && objective === '') {
    const none = noListFacts({ place, cwd: request.cwd, command: 'ralph run' });
    const left = await newestForeign(place);
    const untaken = await untakenFeedback(place);
    const fix =
      untaken !== null
        ? `Feedback that is not taken: ${untaken}. Write into it and run again. Or: ${none.fix}`
        : left === null
          ? none.fix
          : `Take up the session that another tool left: ralph run --session ${left}. Or: ${none.fix}`;
    throw new Problem({ code: 'tasks.none', what: 'There is nothing to work on.', ...none, fix });
  }
}

/** What somebody put beside the last session as feedback, and that opens no cycle as it lies. */
async function untakenFeedback(place: Place): Promise<string | null> {
  const last = (await sessionsHere(place)).at(-1);
  if (last === undefined) return null;
  const { waiting } = await import('./feedback.ts');
  const found = await waiting({ dir: last.dir, state: readState(last.dir), besides: '' });
  return found[0] ?? null;
}

function requireTask(onlyTask: string | undefined, reading: ListReading | null): void {
  if (onlyTask === undefined || reading?.kind !== 'list') return;
  if (reading.tasks.some((task) => task.id === onlyTask)) return;
  throw new Problem({
    code: 'tasks.unknown',
    what: `There is no task ${onlyTask} in the list.`,
    why: `It has ${reading.tasks
      .slice(0, 8)
      .map((task) => task.id)
      .join(', ')}${reading.tasks.length > 8 ? ' …' : ''}.`,
    fix: 'See `ralph tasks` for the ids.',
  });
}
