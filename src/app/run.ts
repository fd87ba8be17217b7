/**
 * `ralph run` and `ralph resume`: check what must hold, take the lock, then turn until the law says
 * stop. Everything after the lock is in the journal.
 */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { Problems } from '../config/index.ts';
import {
  commandFor,
  type Exit,
  emptyState,
  exitOf,
  type Fact,
  type LandingFact,
  Problem,
  pathWord,
  type State,
  systemProblem,
  TO_DO,
} from '../core/index.ts';
import {
  append,
  Fenced,
  type House,
  loop,
  type Messenger,
  openMessenger,
  redraw,
  type TaskList,
  tellLeft,
} from '../engine/index.ts';
import type { Unlanded } from '../fleet/index.ts';
import { ownIdentity } from '../process/index.ts';
import { excludeLocally, type RepoGround } from '../repo/index.ts';
import {
  createSession,
  ensureProjectFolder,
  type HeldLock,
  localZone,
  readLoops,
  takeLock,
  treeLock,
} from '../store/index.ts';
import { agentMaker } from './agents.ts';
import { begin } from './begin.ts';
import { otherAgents } from './blocked.ts';
import { makeChannels } from './channels.ts';
import { makeScratch, sweepScratch } from './checks/scratch.ts';
import { dirty } from './checks/start.ts';
import { readState } from './choose.ts';
import { type Dirt, deskPatterns, dirtOf, excludedPaths } from './dirt.ts';
import { inboxOf } from './inboxes.ts';
import { type KeptAwake, keepAwake } from './keep-awake.ts';
import { loopName } from './loop-name.ts';
import { movedHere } from './loops/astray.ts';
import { type EndCall, landIdle, landingsOf, lookBack } from './loops/at-end.ts';
import { loopAt } from './loops/beside.ts';
import { aliveProblem, isLanding } from './loops/intact.ts';
import { landBrokenOff } from './loops/land.ts';
import { lockProblem, openPlaceGround, openSession } from './open.ts';
import { findPlace, type Place } from './place.ts';
import { type Hearing, openList, type Plan, planRun, type RunRequest, stringEnv } from './plan.ts';
import { preflight, startSubject } from './preflight.ts';
import { type Primary, standForPrimary } from './primary.ts';
import { setSessionAside } from './set-aside.ts';
import { stateOfList } from './task-state.ts';
import { idleReason } from './which-list.ts';

export interface RunOutcome {
  exit: Exit;
  /** null: there was nothing to do, and no session was made. */
  sessionId: string | null;
  state: State;
  place: Place;
  /** Agents that could take over a blocked task; null: no suggestions are wanted. */
  others: string[] | null;
  /** The loop whose work tree it was. */
  loop?: string;
  /** What came of a loop's work that is done. */
  landing?: LandingFact;
  /** What is done in this project and has not reached everybody. */
  unlanded?: Unlanded;
  /** A person asked that the same command starts again. */
  again?: boolean;
}

export async function runLoop(asked: RunRequest): Promise<RunOutcome> {
  const { request, ending } = endedBySignal(asked);
  const { audience, env } = request;
  const say = (text: string) => audience.say(text);
  const hearing = request.hearing ?? unheard;
  const here = await findPlace(request.cwd);
  const { heard } = await hearing((signal) =>
    landBrokenOff(here, { env, say, play: runLoop, flags: request.flags, signal }),
  );
  if (heard !== null) return nothingBegun(here, heard);
  const plan = await planRun(request);
  const { place } = plan;
  for (const warning of plan.warnings) request.audience.say(warning);
  if (plan.idle) {
    const call = endOf(request, plan);
    const idle = await hearing(async (signal) =>
      lookBack(await landIdle(await nothingToDo(plan), { ...call, ending: signal }), {
        ...call,
        ending: signal,
      }),
    );
    return { ...idle.value, exit: exitHeard(idle.value, idle.heard) };
  }
  // Another session's work is only set aside for a run that will begin.
  await checkFirst(request, plan, plan.others.length > 0);
  const made = [join(place.dir, '.ralph'), join(place.mainDir, '.ralph-sessions')].filter(
    (folder) => !existsSync(folder),
  );
  let began = false;
  let ended: RunOutcome;
  await ensureProjectFolder(place.dir);
  const tree = await takeTreeLock(place, plan.session?.id ?? '', request.force);
  try {
    for (const session of plan.others)
      await setSessionAside({ place, session, audience: request.audience, env: request.env });
    const session = plan.session ?? (await newSession(plan));
    await tree.name(session.id);
    const found = await lookAround(plan, session);
    began = true;
    ended = await runSession(request, { plan, session, ...found });
  } finally {
    await tree.release();
    if (!began) await removeEmpty(made);
  }
  return lookBack(ended, { ...endOf(request, plan), ending });
}

const unheard: Hearing = async (work) => ({ value: await work(new AbortController().signal), heard: null });

const signalled = (signal: NodeJS.Signals, what: string): Exit =>
  exitOf(signal === 'SIGINT' ? 130 : 143, `${signal}: ${what}`);

/** A signal that came while a landing was cleared up which had been broken off. */
function nothingBegun(place: Place, heard: NodeJS.Signals): RunOutcome {
  const exit = signalled(heard, 'nothing was begun; run again to begin');
  return { exit, sessionId: null, state: emptyState(), place, others: null };
}

/** What had landed before the signal has landed. */
function exitHeard({ exit, landing }: RunOutcome, heard: NodeJS.Signals | null): Exit {
  return heard === null || landing?.type !== 'loop.queued' ? exit : signalled(heard, exit.reason);
}

/** A signal that the session of a run heard ends what is done after the session, too. */
function endedBySignal(asked: RunRequest): { request: RunRequest; ending: AbortSignal } {
  const ending = new AbortController();
  const opened: RunRequest['opened'] = async (house) => {
    const { interrupt } = house;
    interrupt.wakes.add(() => {
      if (interrupt.signal !== null) ending.abort();
    });
    await asked.opened?.(house);
  };
  return { request: { ...asked, opened }, ending: ending.signal };
}

function endOf({ env, audience }: RunRequest, { settings, policy, place, taskPath }: Plan): EndCall {
  const list = taskPath === null ? [] : [relative(place.project.root, resolve(place.dir, taskPath))];
  const excluded = [...excludedPaths(place, null), ...list];
  const say = (text: string) => audience.say(text);
  return { settings, gates: policy.gates, excluded, env, say, play: runLoop };
}

/** A list where all is done needs no agent, no clean tree and no session. */
async function nothingToDo({ place, taskPath, reading }: Plan): Promise<RunOutcome> {
  const state = stateOfList(await openList(place, taskPath!), reading);
  return { exit: exitOf(0, idleReason(taskPath!, reading)), sessionId: null, state, place, others: null };
}

/** A start that was refused leaves the project as it was; a folder that somebody uses meanwhile stays. */
async function removeEmpty(folders: string[]): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => ['?']);
    if (names.every((name) => name === '.gitignore' || /^\.tree\.lock-\d+$/.test(name)))
      await rm(folder, { recursive: true, force: true });
  }
}

/** One loop per work tree, whatever its session: git's index is shared. */
async function takeTreeLock(place: Place, sessionId: string, force: boolean): Promise<HeldLock> {
  const file = treeLock(place.dir);
  const answer = await takeLock({ file, identity: ownIdentity(), sessionId, now: Date.now(), force });
  if (answer.kind === 'taken') return answer;
  const loop = loopAt(place);
  if (loop !== null && answer.kind === 'held' && isLanding(loop, answer.heldBy))
    throw aliveProblem(loop, answer.heldBy);
  throw lockProblem(answer.heldBy, answer.kind === 'foreign' ? answer.lastSeenAt : null);
}

async function newSession({ place, settings }: Plan): Promise<{ id: string; dir: string }> {
  const track = settings.trackSessions;
  return createSession({ mainRoot: place.mainDir, now: Date.now(), timezone: localZone(), track });
}

interface Start {
  plan: Plan;
  session: { id: string; dir: string };
  list: TaskList | null;
  ground: RepoGround;
  dirt: Dirt;
}

/** The one look over the whole tree. A new session that may not begin here leaves nothing behind. */
async function lookAround(plan: Plan, session: Start['session']): Promise<Omit<Start, 'plan' | 'session'>> {
  const { place, settings } = plan;
  try {
    const list = plan.taskPath === null ? null : await openList(place, plan.taskPath);
    const excluded = excludedPaths(place, list);
    const ground = await openPlaceGround(place, session, { excluded, useGit: settings.git });
    const dirt = await dirtOf(ground, plan, list);
    if (dirt.strange.length > 0 && !settings.allowDirty)
      throw new Problem(dirty(dirt.strange, await movedHere(plan.place)));
    return { list, ground, dirt };
  } catch (error) {
    if (plan.session === null) await rm(session.dir, { recursive: true, force: true });
    throw error;
  }
}

async function runSession(request: RunRequest, start: Start): Promise<RunOutcome> {
  const awake = start.plan.settings.keepAwake ? keepAwake(request.env) : null;
  try {
    return await runAwake(request, start, awake);
  } finally {
    await awake?.release();
  }
}

async function runAwake(request: RunRequest, start: Start, awake: KeptAwake | null): Promise<RunOutcome> {
  const { plan, session, list, ground, dirt } = start;
  const { place, settings } = plan;
  const agent = agentMaker(settings);
  tellDirt(request, plan, dirt.all);
  if (place.project.commonDir !== null) await excludeLocally(place.project.commonDir, deskPatterns(place));
  const timezone = plan.session?.state.session?.timezone ?? localZone();
  const opened = await openSession({
    place,
    session,
    timezone,
    list,
    ground: () => Promise.resolve(ground),
    agent,
    audience: request.audience,
    env: request.env,
    worktree: settings.worktree,
    notes: settings,
    landings: landingsOf(place, endOf(request, plan)),
    force: request.force,
    patient: true,
  });
  let again = false;
  const primary = await standForPrimary({ mainDir: place.mainDir, sessionId: session.id });
  const messenger = await openMessages(request, {
    ...start,
    house: opened.house,
    primary,
    restart: () => {
      again = true;
    },
  });
  try {
    await request.opened?.(opened.house);
    await messenger.open();
    // Nothing was done to the tree since: what stood there is where the first attempt begins.
    opened.house.fresh = dirt.mark;
    await begin(opened, { request, plan, dirty: dirt.all, session });
    messenger.repeat();
    void awake?.trouble.then((text) => (text === null ? undefined : giveNotice(opened.house, text)));
    const exit = await toTheEnd(opened.house, opened.lock.stillOurs);
    const { state, pool } = opened.house;
    // No task is left, whatever becomes of the loop as a whole.
    if (exit.code === 0 || state.landing !== null) await pool?.close();
    await tellLeft(opened.house).catch(() => undefined);
    const others = settings.unblock.autoSuggest ? await otherAgents(settings, request.env) : null;
    const landing = state.landing === null ? {} : { landing: state.landing };
    return {
      exit,
      sessionId: session.id,
      state,
      place,
      others,
      ...landing,
      again: again && exit.code === 7,
    };
  } finally {
    await messenger.close();
    await primary.close();
    await opened.close();
  }
}

/** A journal that takes no more ends the run by itself. */
async function giveNotice(house: House, text: string): Promise<void> {
  await append(house, [{ type: 'notice.given', level: 'warning', text }]).catch(() => undefined);
}

interface Messages {
  house: House;
  primary: Primary;
  /** A person asked that the same command starts again after it stopped. */
  restart(): void;
}

/** The channels of this run, told each record from the first on. */
async function openMessages(
  { audience, env }: RunRequest,
  { plan: { place, settings }, session, house, primary, restart }: Start & Messages,
): Promise<Messenger> {
  const where = { sessionId: session.id, loop: loopName(place.ground, readLoops(place.mainDir)) };
  const say = (text: string) => audience.say(text);
  const channels = await makeChannels({ place, settings, env, say });
  const memories = async () => (await house.knowledge.read()).memories ?? '';
  const { mainDir, ground } = place;
  const inbox = inboxOf(house, { mainDir, ground, where, memories, env, primary });
  const messenger = openMessenger({ house, channels, inbox, where, say });
  const { recorded, event } = house;
  house.recorded = (record) => {
    recorded(record);
    messenger.tell(record, house.state);
    if (record.facts.some(asksRestart)) restart();
  };
  house.event = (iteration, news) => {
    event(iteration, news);
    if (news.kind === 'progress') messenger.progress(iteration, news.text);
  };
  return messenger;
}

/** Only a person's word: a file of that content may be an agent's. */
function asksRestart(fact: Fact): boolean {
  if (fact.type !== 'message.received') return false;
  const { type, op, confirmed } = fact.message;
  return type === 'HALT' && op === 'restart' && confirmed;
}

/** On the way a person's edit stops nothing; that it is left out of commits and evidence is told. */
function tellDirt({ audience }: RunRequest, { session }: Plan, dirty: string[]): void {
  const news = session === null ? [] : dirty.filter((path) => !session.state.dirty.has(path));
  if (news.length === 0) return;
  const more = news.length > 10 ? ` and ${news.length - 10} more` : '';
  audience.say(`Uncommitted, and left to you: ${news.slice(0, 10).map(pathWord).join(', ')}${more}.`);
}

/**
 * The preflight, before a lock is taken or a session made; throws what it found as a Problem. Looking through
 * the whole tree is the dear part: `lookAround` does it once, in the session's own ground. Here it is only
 * done where something else is told anyway, or where nothing else would come (`whole`); git then works in a
 * folder that is thrown away.
 */
export async function checkFirst(request: RunRequest, plan: Plan, whole: boolean): Promise<void> {
  const { settings, policy } = plan;
  const scratch = await makeScratch('preflight');
  const check = (strangeDirt: string[]) =>
    preflight({
      ...startSubject({ plan, env: stringEnv(request.env), scratch, strangeDirt }),
      agent: agentMaker(settings)(policy.agent),
      allowDetached: request.allowDetached,
    });
  try {
    let problems = await check([]);
    if (whole || problems.length > 0) {
      const strange = await strangeDirt(plan, scratch).catch(() => []);
      if (strange.length > 0) problems = await check(strange);
    }
    if (problems.length === 1) throw new Problem(problems[0]!);
    if (problems.length > 1) throw new Problems(problems, 'The preflight');
  } finally {
    await rm(scratch, { recursive: true, force: true });
    await sweepScratch(Date.now());
  }
}

async function strangeDirt(plan: Plan, scratch: string): Promise<string[]> {
  const { place, settings } = plan;
  const list = plan.taskPath === null ? null : await openList(place, plan.taskPath);
  const excluded = excludedPaths(place, list);
  const session = { id: 'preflight', dir: scratch };
  const ground = await openPlaceGround(place, session, { excluded, useGit: settings.git });
  return (await dirtOf(ground, plan, list)).strange;
}

async function toTheEnd(house: House, stillOurs: () => boolean): Promise<Exit> {
  try {
    return await loop(house);
  } catch (error) {
    if (!existsSync(join(house.sessionDir, 'journal.jsonl'))) return journalGone(house);
    if (error instanceof Fenced) return shutOut(house, stillOurs());
    // Agents have run, so this is no refusal to start: it is told as what it is, and the journal says so.
    const problem = error instanceof Problem ? error : systemProblem(error);
    if (problem !== null && problem.exitCode !== 70) return breakOff(house, problem);
    throw problem ?? error;
  }
}

/** `git clean -x` and the like: every other error is only what follows from it. */
function journalGone({ sessionDir, state }: House): Exit {
  const who = state.open.size > 0 ? 'the attempt, or somebody meanwhile,' : 'somebody';
  return exitOf(
    70,
    `${who} deleted ${sessionDir}: the journal of this session is lost, what was committed is kept. ${TO_DO}commit or undo what \`git status\` shows; \`${commandFor(state, 'ralph run')}\` then begins a new session`,
  );
}

/** Nothing more may be written: the session has another owner, or its journal is not what was written. */
function shutOut({ sessionDir, state }: House, ours: boolean): Exit {
  if (!ours)
    return exitOf(
      70,
      `another runner took this session over; nothing more was written here. ${TO_DO}\`${commandFor(state, 'ralph status')}\` shows what it does`,
    );
  const who = state.open.size > 0 ? 'by the attempt, or by somebody meanwhile' : 'by somebody';
  const file = join(sessionDir, 'journal.jsonl');
  return exitOf(
    70,
    `${file} was changed ${who}: what is true of this session is not sure any more, so nothing is built on it; what was committed is kept. ${TO_DO}${wayOn({ sessionDir, state })}`,
  );
}

/** What to do with a journal as it stands now. */
function wayOn({ sessionDir, state }: Pick<House, 'sessionDir' | 'state'>): string {
  try {
    return readState(sessionDir).session === null
      ? `commit or undo what \`git status\` shows; \`${commandFor(state, 'ralph run')}\` then begins anew`
      : `commit or undo what \`git status\` shows; \`${commandFor(state, 'ralph run')}\` then goes on with what the journal says now`;
  } catch (error) {
    if (error instanceof Problem) return error.facts.fix.replace(/\.$/, '');
    throw error;
  }
}

async function breakOff(house: House, { facts }: Problem): Promise<Exit> {
  const why = facts.why.length > 400 ? `${facts.why.slice(0, 399)}…` : facts.why;
  const exit = exitOf(
    facts.code.startsWith('pool.') ? 5 : 70,
    `${facts.what} ${TO_DO}${facts.fix.replace(/\.$/, '')}. (${why})`,
  );
  await append(house, [{ type: 'run.stopped', ...exit }])
    .then(() => redraw(house))
    .catch(() => undefined);
  return exit;
}
