/**
 * `ralph run` and `ralph resume`: choose or make the session, check what must hold, then turn until the
 * law says stop. Everything after the lock is in the journal.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { type Flags, loadConfig, Problems, type Settings, toPolicy } from '../config/index.ts';
import {
  type Exit,
  exitOf,
  type Fact,
  type Policy,
  Problem,
  type State,
  type TaskDef,
} from '../core/index.ts';
import {
  append,
  Fenced,
  type House,
  intake,
  type ListReading,
  loop,
  redraw,
  type TaskList,
} from '../engine/index.ts';
import { ownIdentity } from '../process/index.ts';
import { excludeLocally, type RepoGround } from '../repo/index.ts';
import {
  createSession,
  ensureProjectFolder,
  findTaskList,
  type HeldLock,
  openTaskList,
  readProject,
  takeLock,
} from '../store/index.ts';
import { AGENT_OUTPUTS, agentMaker, BUILT_IN_AGENTS, chooseAgent } from './agents.ts';
import type { Audience } from './audience.ts';
import { currentSession, isOpen, knownSessions, namedSession, readState } from './choose.ts';
import { lockProblem, type Opened, openPlaceGround, openSession } from './open.ts';
import { findPlace, type Place } from './place.ts';
import { preflight } from './preflight.ts';
import { PRODUCT } from './product.ts';
import { setSessionAside } from './set-aside.ts';

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
  /** Told the house once it is open, so that process signals can reach it. */
  opened?(house: House): void;
}

export interface RunOutcome {
  exit: Exit;
  sessionId: string;
  sessionDir: string;
  state: State;
  place: Place;
}

/** Everything that is known before a lock is taken. */
export interface Plan {
  place: Place;
  settings: Settings;
  policy: Policy;
  warnings: string[];
  objective: string;
  taskPath: string | null;
  reading: ListReading | null;
  session: { id: string; dir: string; state: State } | null;
}

export async function runLoop(request: RunRequest): Promise<RunOutcome> {
  const plan = await planRun(request);
  const { place } = plan;
  for (const warning of plan.warnings) request.audience.say(warning);
  await checkFirst(request, plan);
  await ensureProjectFolder(place.dir);
  const loopLock = await takeLoopLock(place, plan.session?.id ?? 'new', request.force);
  try {
    if (request.fresh) await setOthersAside(plan, request);
    const session = plan.session ?? (await newSession(plan));
    return await runSession(request, plan, session);
  } finally {
    await loopLock.release();
  }
}

/** One loop per work tree, whatever its session: git's index is shared. */
async function takeLoopLock(place: Place, sessionId: string, force: boolean): Promise<HeldLock> {
  const file = join(place.dir, '.ralph', 'loop.lock');
  const answer = await takeLock({ file, identity: ownIdentity(), sessionId, now: Date.now(), force });
  if (answer.kind === 'taken') return answer;
  throw lockProblem(answer.heldBy, answer.kind === 'foreign' ? answer.lastSeenAt : null);
}

async function newSession({ place, settings }: Plan): Promise<{ id: string; dir: string }> {
  const track = settings.trackSessions;
  return createSession({ mainRoot: place.mainDir, now: Date.now(), timezone: localZone(), track });
}

/** The machine's time zone by its IANA name. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

async function setOthersAside({ place }: Plan, request: RunRequest): Promise<void> {
  for (const session of await knownSessions(place)) {
    if (session.ending.code === 0 || session.ending.code === 9) continue;
    await setSessionAside({ place, session, audience: request.audience, env: request.env });
  }
}

/** Configuration, task list and session, with every mistake told before anything is made. */
export async function planRun(request: RunRequest): Promise<Plan> {
  const place = await findPlace(request.cwd);
  const { settings, warnings } = await loadConfig({
    projectDir: place.dir,
    env: request.env,
    flags: request.flags,
    agentNames: BUILT_IN_AGENTS,
    agentOutputs: AGENT_OUTPUTS,
  });
  const objective = await objectiveText(request, settings);
  const session = await chooseSession(place, request, objective);
  const taskPath = await taskListPath({ place, settings, session: session?.state ?? null, warnings });
  const reading = taskPath === null ? null : await readOnce(place, taskPath);
  if (session === null) requireWork({ objective, taskPath, reading });
  const policy = toPolicy(settings, {
    reviewedList: reading?.kind === 'list' && reading.reviewed,
    listGates: reading?.kind === 'list' ? reading.gates : [],
    interactive: request.interactive,
    channels: false,
    agent: chooseAgent(settings, stringEnv(request.env)),
  });
  requireTask(policy, reading);
  return { place, settings, policy, warnings, objective, taskPath, reading, session };
}

function stringEnv(env: NodeJS.ProcessEnv): Record<string, string> {
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

async function chooseSession(place: Place, request: RunRequest, objective: string): Promise<Plan['session']> {
  if (request.fresh) return null;
  if (request.session !== null) return loaded(await namedSession(place, request.session));
  const known = await knownSessions(place);
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
    if (request.resume) return loaded(await currentSession(place));
    return objective === '' ? await completedWithFeedback(place, candidates.map(loaded)) : null;
  }
  if (going.length > 1) throw severalOpen(going.map(({ id }) => id));
  const only = going[0]!;
  const other = only.state.session?.objective ?? objective;
  if (objective !== '' && objective !== other) throw anotherObjective(only.id, other, objective);
  return only;
}

function loaded({ id, dir }: { id: string; dir: string }): { id: string; dir: string; state: State } {
  return { id, dir, state: readState(dir) };
}

function belongs(state: State, place: Place): boolean {
  return (state.session?.ground ?? '.') === place.ground;
}

function hasMail(state: State): boolean {
  return state.openQuestions.size > 0;
}

/** A finished session goes on when somebody gave feedback on it. */
async function completedWithFeedback(
  place: Place,
  candidates: { id: string; dir: string; state: State }[],
): Promise<Plan['session']> {
  const { feedbackSource } = await import('../store/index.ts');
  for (const session of candidates.reverse()) {
    if (!belongs(session.state, place)) continue;
    const batches = await feedbackSource(session.dir).poll(session.state.cycle + 1);
    if (batches.some((batch) => !session.state.seenMessages.has(batch.id))) return session;
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

function anotherObjective(id: string, open: string, wanted: string): Problem {
  const short = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
  return new Problem({
    code: 'session.open',
    what: `Session ${id} is open with the objective ${short(open)}; now ${short(wanted)} is asked for.`,
    why: 'One work tree works on one thing at a time.',
    fix: `Go on with \`ralph run --session ${id}\`, or set it aside with \`ralph run --new ${short(wanted)}\`.`,
  });
}

interface ListCall {
  place: Place;
  settings: Settings;
  session: State | null;
  warnings: string[];
}

/** The list of an open session is the one it began with; otherwise the configured or the detected one. */
async function taskListPath({ place, settings, session, warnings }: ListCall): Promise<string | null> {
  if (session?.source) return session.source.path;
  const found = await findTaskList(place.dir, settings.tasks ?? undefined);
  if (found === null) return null;
  warnings.push(...found.warnings);
  return found.path;
}

async function openList(place: Place, path: string): Promise<TaskList> {
  return openTaskList({ projectDir: place.dir, groundRoot: place.project.root, path });
}

async function readOnce(place: Place, path: string): Promise<ListReading> {
  return (await openList(place, path)).read();
}

function requireWork({
  objective,
  taskPath,
  reading,
}: Pick<Plan, 'objective' | 'taskPath' | 'reading'>): void {
  if (reading?.kind === 'unreadable') throw new Problem(reading.problem);
  if (reading?.kind === 'empty' || reading?.kind === 'missing') {
    throw new Problem({
      code: `tasks.${reading.kind}`,
      what: reading.kind === 'empty' ? `${taskPath} holds no task.` : `${taskPath} is not there.`,
      why: 'No task is not the same as everything done.',
      fix: 'Add at least one task, or name another list with --tasks.',
      at: taskPath ?? 'tasks',
    });
  }
  if (taskPath === null && objective === '') {
    throw new Problem({
      code: 'tasks.none',
      what: 'There is nothing to work on.',
      why: 'Neither an objective was given nor a task list found (ralph/tasks.json, prd.json, PRD.md, fix_plan.md …).',
      fix: 'Say what you want: ralph run "…", or name a list with --tasks FILE.',
    });
  }
}

function requireTask({ onlyTask }: Policy, reading: ListReading | null): void {
  if (onlyTask === null || reading?.kind !== 'list' || reading.tasks.some((task) => task.id === onlyTask))
    return;
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

async function runSession(
  request: RunRequest,
  plan: Plan,
  session: { id: string; dir: string },
): Promise<RunOutcome> {
  const { place, settings } = plan;
  const list = plan.taskPath === null ? null : await openList(place, plan.taskPath);
  const excluded = excludedPaths(place, list);
  const ground = await openPlaceGround(place, session, { excluded, useGit: settings.git });
  const agent = agentMaker(settings);
  const dirty = await dirtOf(ground, plan, list);
  if (place.project.commonDir !== null) await excludeLocally(place.project.commonDir, deskPatterns(place));
  const timezone = plan.session?.state.session?.timezone ?? localZone();
  const opened = await openSession({
    place,
    session,
    timezone,
    list,
    ground,
    agent,
    audience: request.audience,
    env: request.env,
    force: request.force,
  });
  try {
    request.opened?.(opened.house);
    await begin(opened, { request, plan, dirty: dirty.all, session });
    const exit = await toTheEnd(opened.house);
    return { exit, sessionId: session.id, sessionDir: session.dir, state: opened.house.state, place };
  } finally {
    await opened.close();
  }
}

/** The preflight, before a lock is taken or a session made; git looks through a folder that is thrown away. */
async function checkFirst(request: RunRequest, plan: Plan): Promise<void> {
  const { place, settings, policy } = plan;
  const scratch = await mkdtemp(join(tmpdir(), 'ralph-preflight-'));
  try {
    const list = plan.taskPath === null ? null : await openList(place, plan.taskPath);
    const excluded = excludedPaths(place, list);
    const ground = await openPlaceGround(
      place,
      { id: 'preflight', dir: scratch },
      { excluded, useGit: settings.git },
    );
    const { strange } = await dirtOf(ground, plan, list);
    const problems = await preflight({
      place,
      settings,
      policy,
      ground,
      agent: agentMaker(settings)(policy.agent),
      env: stringEnv(request.env),
      strangeDirt: strange,
      allowDetached: request.allowDetached,
    });
    if (problems.length === 1) throw new Problem(problems[0]!);
    if (problems.length > 1) throw new Problems(problems, 'The preflight');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function toTheEnd(house: House): Promise<Exit> {
  try {
    return await loop(house);
  } catch (error) {
    if (error instanceof Fenced)
      return exitOf(5, 'another runner has taken this session over; nothing more was written');
    throw error;
  }
}

function excludedPaths(place: Place, list: TaskList | null): string[] {
  const prefix = relative(place.project.root, place.dir);
  const own = ['ralph/progress.txt', 'ralph/blocked.txt', 'ralph/decide.txt', 'ralph/logs'].map((path) =>
    join(prefix, path),
  );
  return list?.groundPath ? [list.groundPath, ...own] : own;
}

function deskPatterns(place: Place): string[] {
  const prefix = relative(place.project.root, place.dir);
  return ['ralph/blocked.txt', 'ralph/decide.txt', 'ralph/logs'].map((path) => `/${join(prefix, path)}`);
}

/** What is dirty now: all of it, and the part that is neither our input nor our own leftovers. */
async function dirtOf(
  ground: RepoGround,
  plan: Plan,
  list: TaskList | null,
): Promise<{ all: string[]; strange: string[] }> {
  const state = plan.session?.state ?? null;
  // An attempt that a crash cut off is not told from a person's edit yet; what was dirty before stays so.
  if (state && state.open.size > 0) return { all: [...state.dirty], strange: [] };
  if (!ground.hasGit) return { all: [], strange: [] };
  const dirty = await ground.dirty();
  const ours = new Set<string>();
  for (const attempt of state?.attempts.values() ?? [])
    for (const { path } of attempt.changes) ours.add(path);
  const prefix = relative(plan.place.project.root, plan.place.dir);
  const inputs = new Set(
    ['ralph.yml', 'ralph/prd.md', 'ralph/progress.txt'].map((path) => join(prefix, path)),
  );
  if (list?.groundPath) inputs.add(list.groundPath);
  if (plan.settings.promptFile !== null) {
    inputs.add(relative(plan.place.project.root, resolve(plan.place.dir, plan.settings.promptFile)));
  }
  const all = dirty.filter((path) => !ours.has(path));
  return { all, strange: state === null ? all.filter((path) => !inputs.has(path)) : [] };
}

interface Beginning {
  request: RunRequest;
  plan: Plan;
  dirty: string[];
  session: { id: string };
}

/** The first record of this run, and before it what the start itself found out. */
async function begin(
  { house, lock, repaired }: Opened,
  { request, plan, dirty, session }: Beginning,
): Promise<void> {
  const facts: Fact[] = [];
  if (!house.state.session) {
    const { objective } = plan;
    const { ground } = plan.place;
    facts.push({
      type: 'session.created',
      id: session.id,
      objective,
      timezone: localZone(),
      product: PRODUCT,
      ground,
    });
  }
  if (repaired) facts.push({ type: 'journal.repaired', ...repaired });
  if (lock.takenOverFrom) facts.push({ type: 'lock.taken_over', from: lock.takenOverFrom });
  facts.push({
    type: 'run.started',
    policy: plan.policy,
    runner: ownIdentity(),
    dirty,
    spentTodayUsd: spentToday(plan.place, session.id),
    reopened: request.reopen,
  });
  if (plan.taskPath === null && house.state.tasks.size === 0) facts.push(objectiveFact(plan.objective));
  await append(house, facts);
  if (request.resume && house.state.paused) await resume(house);
  house.listTracked = await isTracked(house);
  await intake(house);
  await redraw(house);
}

async function resume(house: House): Promise<void> {
  const at = house.clock.now();
  await append(house, [{ type: 'session.resumed', at, text: '', by: 'ralph resume' }]);
}

async function isTracked(house: House): Promise<boolean> {
  const path = house.list?.groundPath ?? null;
  return path !== null && (await house.ground.tracked([path])).length > 0;
}

function objectiveFact(objective: string): Fact {
  const def: TaskDef = {
    id: 'objective',
    title: objective.split('\n')[0]!.slice(0, 120) || 'The objective',
    description: objective,
    acceptance: [],
    priority: 0,
    order: 0,
    dependsOn: [],
    status: 'todo',
    files: [],
    changes: 'expected',
  };
  const source = { kind: 'objective' as const, path: null, dialect: 'objective', reviewed: false };
  return { type: 'tasks.read', source, sha256: '', set: [def], gone: [], by: 'engine' };
}

/** What every loop of the project has spent since midnight, local time, without this session's own. */
function spentToday({ mainDir }: Place, sessionId: string): number {
  const midnight = new Date().setHours(0, 0, 0, 0);
  let total = 0;
  for (const record of readProject(mainDir).records) {
    if (record.type !== 'cost.spent' || record.at < midnight) continue;
    if (typeof record.usd === 'number') total += record.usd;
  }
  return sessionId === '' ? 0 : total;
}
