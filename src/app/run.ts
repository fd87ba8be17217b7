/**
 * `ralph run` and `ralph resume`: check what must hold, take the lock, then turn until the law says
 * stop. Everything after the lock is in the journal.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problems } from '../config/index.ts';
import { type Exit, exitOf, Problem, type State } from '../core/index.ts';
import { append, Fenced, type House, loop } from '../engine/index.ts';
import { ownIdentity } from '../process/index.ts';
import { excludeLocally } from '../repo/index.ts';
import { createSession, ensureProjectFolder, type HeldLock, takeLock } from '../store/index.ts';
import { agentMaker } from './agents.ts';
import { begin, localZone } from './begin.ts';
import { deskPatterns, dirtOf, excludedPaths } from './dirt.ts';
import { lockProblem, openPlaceGround, openSession } from './open.ts';
import type { Place } from './place.ts';
import { openList, type Plan, planRun, type RunRequest, stringEnv } from './plan.ts';
import { preflight, startSubject } from './preflight.ts';
import { setSessionAside } from './set-aside.ts';

export interface RunOutcome {
  exit: Exit;
  sessionId: string;
  sessionDir: string;
  state: State;
  place: Place;
}

export async function runLoop(request: RunRequest): Promise<RunOutcome> {
  const plan = await planRun(request);
  const { place } = plan;
  for (const warning of plan.warnings) request.audience.say(warning);
  await checkFirst(request, plan);
  await ensureProjectFolder(place.dir);
  const loopLock = await takeLoopLock(place, plan.session?.id ?? '', request.force);
  try {
    for (const session of plan.others)
      await setSessionAside({ place, session, audience: request.audience, env: request.env });
    const session = plan.session ?? (await newSession(plan));
    await loopLock.name(session.id);
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
  tellDirt(request, plan, dirty.all);
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

/** On the way a person's edit stops nothing; that it is left out of commits and evidence is told. */
function tellDirt({ audience }: RunRequest, { session }: Plan, dirty: string[]): void {
  const news = session === null ? [] : dirty.filter((path) => !session.state.dirty.has(path));
  if (news.length === 0) return;
  const more = news.length > 10 ? ` and ${news.length - 10} more` : '';
  audience.say(`Uncommitted, and left to you: ${news.slice(0, 10).join(', ')}${more}.`);
}

/** The preflight, before a lock is taken or a session made; throws what it found as a Problem. Git looks through a folder that is thrown away. */
export async function checkFirst(request: RunRequest, plan: Plan): Promise<void> {
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
      ...startSubject({ plan, env: stringEnv(request.env), scratch, strangeDirt: strange }),
      agent: agentMaker(settings)(policy.agent),
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
    if (error instanceof Fenced) {
      return exitOf(
        70,
        'another runner took this session over, or its files were changed from outside; nothing more was written. See `ralph status`',
      );
    }
    // Agents have run, so this is no refusal to start: it is told as what it is, and the journal says so.
    if (error instanceof Problem && error.exitCode !== 70) return breakOff(house, error);
    throw error;
  }
}

async function breakOff(house: House, { facts }: Problem): Promise<Exit> {
  const exit = exitOf(70, `${facts.what} ${facts.why} What to do: ${facts.fix}`);
  await append(house, [{ type: 'run.stopped', ...exit }]).catch(() => undefined);
  return exit;
}
