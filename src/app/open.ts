/**
 * Opens a session as a house: takes its lock, reads its journal, and connects every port to the real
 * thing. Who opens a house closes it, whatever happens in between.
 */
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../config/index.ts';
import { emptyState, evolve, type JournalRecord, Problem, type State } from '../core/index.ts';
import {
  type House,
  type KnowledgeSource,
  type Landings,
  openHouse,
  redraw,
  type TaskList,
} from '../engine/index.ts';
import { ownIdentity } from '../process/index.ts';
import { openGround, type RepoGround } from '../repo/index.ts';
import {
  appendProject,
  feedbackSource,
  type HeldLock,
  knowledgeSource,
  type LiveSpending,
  liveSpending,
  type OpenedMailbox,
  openCycleFiles,
  openDesk,
  openHumanDesk,
  openJournal,
  openMailbox,
  openMirrors,
  openWorks,
  otherSpending,
  type Repair,
  sha256,
  skillFolders,
  takeLock,
} from '../store/index.ts';
import { oneLine } from '../views/index.ts';
import type { Audience } from './audience.ts';
import { systemClock } from './clock.ts';
import { agentEnvironment, withoutOwnSecrets } from './environment.ts';
import { processGates } from './gates.ts';
import { thisMachine } from './host.ts';
import { markedProcesses } from './leftovers.ts';
import { mainPlace } from './loops/beside.ts';
import { loopsToDraw } from './loops/list.ts';
import type { Place } from './place.ts';
import { poolOf } from './pool.ts';
import { redactorHere } from './secrets.ts';
import { costRecord } from './spending.ts';
import { unknownRecord } from './unknown-events.ts';

export interface OpenRequest {
  place: Place;
  session: { id: string; dir: string };
  timezone: string;
  list: TaskList | null;
  /** Asked for once the lock is held: another opener of this session has its private index in use. */
  ground(): Promise<RepoGround>;
  agent: House['agent'];
  audience: Audience;
  env: NodeJS.ProcessEnv;
  /** What a new work tree beside the user's is given; absent: nothing. */
  worktree?: Settings['worktree'];
  /** What of people's notes stands in prompts; absent: no prompt is made. */
  notes?: Pick<Settings, 'memories' | 'skills'>;
  /** Where the work goes when all of it is done; absent: it is where it belongs. */
  landings?: Landings | null;
  /** A person's word that an owner on another host is gone. */
  force: boolean;
  /** We have the work tree: no run holds the session, so that whoever does gives it back at once. */
  patient?: boolean;
}

export interface Opened {
  house: House;
  lock: HeldLock;
  repaired: Repair | null;
  close(): Promise<void>;
}

/** Throws a Problem when another runner holds the session. */
export async function openSession(request: OpenRequest): Promise<Opened> {
  const { place, session, audience } = request;
  const lock = await lockSession(request);
  try {
    const ground = await request.ground();
    const file = join(session.dir, 'journal.jsonl');
    const mirrors = openMirrors({
      sessionDir: session.dir,
      mainDir: place.mainDir,
      loops: loopsToDraw(await mainPlace(place)),
      warn: (text) => audience.say(text),
    });
    const state = emptyState();
    const { journal, repaired } = await openJournal({
      file,
      epoch: lock.epoch,
      stillOurs: lock.stillOurs,
      record: (record) => {
        evolve(state, record);
        mirrors.tell(record);
      },
    });
    const desk = openDesk(place.dir, session.dir);
    await desk.linkLogs();
    const mailbox = openMailbox(session.dir, {
      timezone: request.timezone,
      warn: (text) => audience.say(text),
    });
    const works = openWorks(session.dir);
    const live = liveSpending(place.mainDir, session.id);
    let receipts: Promise<void> = Promise.resolve();
    const house: House = openHouse({
      clock: systemClock,
      journal,
      mailbox,
      desk: openHumanDesk(desk),
      works,
      cycles: openCycleFiles({ sessionDir: session.dir, works, now: systemClock.now }),
      ground,
      pool: poolOf(request, ground),
      agent: request.agent,
      gates: processGates(redactorHere()),
      redactor: redactorHere(),
      leftovers: markedProcesses,
      list: request.list,
      mirrors,
      knowledge: knowledgeOf(request, ground),
      feedback: feedbackSource(session.dir),
      spending: otherSpending(place.mainDir, () => session.id),
      host: thisMachine,
      landings: request.landings ?? null,
      secret: () => randomBytes(32).toString('hex'),
      sha256,
      recorded: (record) => {
        audience.record(record, house.state);
        receipts = receipts.then(() => writeReceipts(mailbox, record, house.state));
        void recordForProject(place, session.id, { record, state: house.state, live }).catch((error: Error) =>
          audience.say(error.message),
        );
      },
      event: (iteration, event) => {
        if (event.kind === 'usage' && event.costUsd !== null) live.tell(iteration, event.costUsd);
        audience.event(iteration, event);
      },
      sessionId: session.id,
      sessionDir: session.dir,
      env: await agentEnvironment(session.dir, request.env),
      state,
    });
    house.predecessorSeenAt = lock.predecessorSeenAt;
    return {
      house,
      lock,
      repaired,
      close: () => close(house, { lock, journal, mirrors, receipts: () => receipts }),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Memories lie in the main checkout, skills where `skills.dirs` says. */
function knowledgeOf({ place, notes, audience }: OpenRequest, ground: RepoGround): KnowledgeSource {
  if (notes === undefined) return knowledgeSource(place.dir, ground);
  const { memories, skills } = notes;
  const folders = {
    dirs: skills.dirs,
    projectDir: place.dir,
    home: homedir(),
    warn: (text: string) => audience.say(text),
  };
  return knowledgeSource(place.dir, ground, {
    mainDir: place.mainDir,
    memories: { enabled: memories.enabled, budgetTokens: memories.budgetTokens },
    skills: skillFolders(folders),
  });
}

/** The processed copy of each message lists whom it reached, for whoever wrote the file. Never rejects. */
async function writeReceipts(
  mailbox: OpenedMailbox,
  { at, facts }: JournalRecord,
  state: State,
): Promise<void> {
  for (const fact of facts) {
    if (fact.type !== 'attempt.started' && fact.type !== 'guidance.reached') continue;
    const { iteration } = fact;
    const ids = fact.type === 'attempt.started' ? fact.delivered : fact.messages;
    const to = state.attempts.get(iteration)?.item.role ?? 'agent';
    const messages = ids.filter((id) => state.seenMessages.has(id));
    // A receipt that cannot be written changes nothing: the delivery stands in the journal.
    for (const id of messages) await mailbox.delivered(id, { to, iteration, at }).catch(() => false);
  }
}

/** What outlives sessions: spending, whose cap for the day holds over all loops, and how an agent failed. */
async function recordForProject(
  { mainDir }: Place,
  session: string,
  { record, state, live }: { record: JournalRecord; state: State; live: LiveSpending },
): Promise<void> {
  for (const fact of record.facts) {
    if (fact.type !== 'attempt.ended' && fact.type !== 'attempt.lost') continue;
    const { iteration } = fact;
    const base = { at: record.at, session, iteration };
    const agent = state.attempts.get(iteration)?.agent ?? 'unknown';
    const usage = fact.type === 'attempt.ended' ? fact.report.usage : fact.usage;
    const cost = usage === undefined ? null : costRecord(usage, { ...base, agent });
    if (cost !== null) await appendProject(mainDir, cost);
    live.over(iteration);
    if (fact.type === 'attempt.lost') continue;
    const unknown = unknownRecord(fact.report, { ...base, agent });
    if (unknown !== null) await appendProject(mainDir, unknown);
    const { error } = fact.report;
    if (error === null) continue;
    const message = oneLine(error.message, 300);
    const { kind, resetsAt } = error;
    await appendProject(mainDir, { ...base, type: 'agent.failed', agent, kind, message, resetsAt });
  }
}

interface Held {
  lock: HeldLock;
  journal: { close(): Promise<void> };
  mirrors: { close(options: { draw: boolean }): Promise<void> };
  receipts(): Promise<void>;
}

/**
 * Never throws: everything that counts is in the journal already, and an error of a full disk here would
 * hide the one that ended the run. A lock that cannot be given back is free as soon as this process is gone.
 */
async function close(house: House, { lock, journal, mirrors, receipts }: Held): Promise<void> {
  for (const handle of house.live.values()) await handle.stop(0);
  await receipts();
  // Another owner may have taken the session over: what it draws is not ours to draw.
  const draw = lock.stillOurs();
  if (draw) await redraw(house).catch(() => undefined);
  await mirrors.close({ draw }).catch(() => undefined);
  await journal.close().catch(() => undefined);
  await lock.release();
}

/** A message that is just taken in, or a landing that is just told, holds a session for a moment. */
const MOMENT_MS = 5_000;
const LOOK_MS = 40;

async function lockSession({ session, force, patient = false }: OpenRequest): Promise<HeldLock> {
  const file = join(session.dir, 'lock');
  const id = { identity: ownIdentity(), sessionId: session.id };
  for (const until = Date.now() + MOMENT_MS; ; await sleep(LOOK_MS)) {
    const answer = await takeLock({ file, ...id, now: Date.now(), force });
    if (answer.kind === 'taken') return answer;
    if (answer.kind === 'held' && patient && Date.now() < until) continue;
    throw lockProblem(answer.heldBy, answer.kind === 'foreign' ? answer.lastSeenAt : null);
  }
}

/** The Problem of a lock that another runner holds; `lastSeenAt` set: it is on another host and silent. */
export function lockProblem(
  holder: { pid: number; host: string; sessionId: string; startedAt: number },
  lastSeenAt: number | null,
): Problem {
  const since = new Date(holder.startedAt).toISOString();
  const session = holder.sessionId === '' ? 'a session just beginning' : `session ${holder.sessionId}`;
  const where = `pid ${holder.pid} on ${holder.host}, ${session}, since ${since}`;
  return new Problem({
    code: 'lock.held',
    what: `Another run is working here: ${where}.`,
    why: "Two loops in one work tree would take each other's changes for their own.",
    fix:
      lastSeenAt === null
        ? 'Wait for it, or end it with `ralph stop`; `ralph status` shows what it does.'
        : `It was last seen ${new Date(lastSeenAt).toISOString()}. If that machine is gone, run again with --force.`,
  });
}

/** The ground of a place. The task file and progress notes stay out of snapshots: they are not work. */
export async function openPlaceGround(
  place: Place,
  session: { id: string; dir: string },
  options: { excluded: string[]; useGit: boolean },
): Promise<RepoGround> {
  return openGround({
    cwd: place.dir,
    privateDir: join(session.dir, 'ground'),
    sessionId: session.id,
    excluded: options.excluded,
    useGit: options.useGit && place.project.gitDir !== null,
    // Git runs hooks, and a hook is anybody's program.
    env: withoutOwnSecrets(process.env),
  });
}
