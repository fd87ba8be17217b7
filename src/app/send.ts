/**
 * Says something to a session. With a live runner the message lies in the mailbox and is read there;
 * without one this command takes it in itself, so that its effect is seen at once.
 */

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  commandFor,
  decide,
  type JournalRecord,
  type MessageType,
  Problem,
  type State,
} from '../core/index.ts';
import { intake, redraw, turn } from '../engine/index.ts';
import {
  type LockReading,
  readLock,
  type SignalDraft,
  scanJournal,
  senderName,
  signingKey,
  treeLock,
  writeSignal,
} from '../store/index.ts';
import { answeredSession, heardSession } from './across.ts';
import { currentSession, type KnownSession, readState } from './choose.ts';
import { groundOf } from './known-loops.ts';
import { findPlace, type Place } from './place.ts';
import { openQuietly } from './quiet.ts';

export interface SendRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  session?: string;
  draft: Omit<SignalDraft, 'from'>;
}

export interface Sent {
  sessionId: string;
  /** The message's id. */
  message: string;
  /** What it did. `queued`: it waits, for the runner to read it, or as guidance for the next prompt. */
  outcome: string;
  /** False: a live runner will read it. */
  read: boolean;
  state: State;
}

/** Throws a Problem when the message was not taken. */
export async function send({ draft, ...request }: SendRequest): Promise<Sent> {
  const { sessionId, sent, read, state } = await sendAll({ ...request, drafts: [draft] });
  const [{ message, outcome, rejected }] = sent as [SentOne];
  if (rejected !== null) throw notTaken(rejected, state);
  return { sessionId, message, outcome, read, state };
}

/** One of several messages; `rejected`: why it was not taken. */
export interface SentOne {
  message: string;
  outcome: string;
  rejected: string | null;
}

/** Says several things at once: without a runner they are all taken in by one opening of the session. */
export async function sendAll({
  cwd,
  env,
  session: id,
  drafts,
}: Omit<SendRequest, 'draft'> & { drafts: SendRequest['draft'][] }): Promise<{
  sessionId: string;
  sent: SentOne[];
  read: boolean;
  state: State;
}> {
  const here = await findPlace(cwd);
  const session = await sessionFor(here, id, drafts);
  const place = await placeOf(here, session);
  const key = await signingKey({ create: true, env });
  const names: string[] = [];
  for (const draft of drafts)
    names.push(await writeSignal(session.dir, { ...draft, from: senderName() }, { key }));
  const takenIn = await takeInWhenFree({ place, session, env, names });
  if (takenIn !== null) return { sessionId: session.id, read: true, ...takenIn };
  const state = readState(session.dir);
  const outcome = queued(await readLock(join(session.dir, 'lock')), state);
  const sent = names.map((message) => ({ message, outcome, rejected: null }));
  return { sessionId: session.id, sent, read: false, state };
}

/** The named session; an answer that names none finds the loop that asks. */
function sessionFor(
  place: Place,
  id: string | undefined,
  drafts: SendRequest['draft'][],
): Promise<KnownSession> {
  const answer = drafts.find(({ type }) => ANSWERS.has(type));
  if (id !== undefined) return currentSession(place, id);
  if (answer === undefined) return heardSession(place);
  return answeredSession(place, answer.question ?? null);
}

const ANSWERS: ReadonlySet<MessageType> = new Set(['ANSWER', 'APPROVE', 'SKIP']);

/** Where the session works; here where its work tree is gone, or the journal does not say. */
async function placeOf(here: Place, { dir }: KnownSession): Promise<Place> {
  const ground = groundOf(dir) ?? here.ground;
  if (ground === here.ground) return here;
  const inside = relative(here.project.root, here.dir);
  const root = ground === '.' ? join(here.mainDir, relative(here.dir, here.project.root)) : ground;
  const folder = join(root, inside);
  return existsSync(folder) ? findPlace(folder) : here;
}

function queued(holder: LockReading | null, state: State): string {
  if (holder === null || holder.alive !== null) return 'queued';
  const seen = `its runner on ${holder.host} was last seen ${new Date(holder.lastSeenAt).toISOString()}`;
  return `queued; ${seen}; if that machine is gone, \`${commandFor(state, 'ralph resume --force')}\` takes over`;
}

/** Another terminal that takes its own message in holds the session for a moment only. */
const MOMENT_MS = 2_000;
const LOOK_MS = 40;

/** null: a runner holds the session and will read the messages. */
async function takeInWhenFree(request: TakeIn): Promise<TakenIn | null> {
  const { place, session } = request;
  for (const until = Date.now() + MOMENT_MS; ; await sleep(LOOK_MS)) {
    const holder = await readLock(join(session.dir, 'lock'));
    if (holder === null || holder.alive === false) {
      try {
        return await takeIn(request);
      } catch (error) {
        if (!(error instanceof Problem) || error.facts.code !== 'lock.held') throw error;
      }
    } else if (holder.alive === null || (await isLoop(place, holder))) return null;
    if (Date.now() >= until) return null;
  }
}

/** A runner also holds the work tree; who takes a message in does not. */
async function isLoop({ dir }: Place, holder: LockReading): Promise<boolean> {
  if (!existsSync(join(dir, '.ralph'))) return false;
  const loop = await readLock(treeLock(dir));
  return loop !== null && loop.pid === holder.pid && loop.host === holder.host;
}

interface TakeIn {
  place: Place;
  session: KnownSession;
  env: NodeJS.ProcessEnv;
  names: string[];
}

interface TakenIn {
  sent: SentOne[];
  state: State;
}

async function takeIn({ place, session, env, names }: TakeIn): Promise<TakenIn> {
  const opened = await openQuietly({ place, session, env });
  const { house } = opened;
  const from = house.state.seq;
  const seen: JournalRecord[] = [];
  try {
    const { recorded } = house;
    house.recorded = (record) => {
      seen.push(record);
      recorded(record);
    };
    await intake(house);
    // An abort runs its checklist at once, also without a runner.
    while (decide(house.state, { now: house.clock.now(), live: new Set() }).do === 'abort') await turn(house);
    await redraw(house);
    const news = seen.filter((record) => record.seq > from);
    const sent = names.map((name) => outcomeOf(news, name) ?? outcomeBefore(session.dir, name));
    return { sent, state: house.state };
  } finally {
    await opened.close();
  }
}

/** Another terminal may have taken it in together with its own. */
function outcomeBefore(dir: string, message: string): SentOne {
  let found: SentOne | null = null;
  scanJournal(join(dir, 'journal.jsonl'), (record) => {
    found = outcomeOf([record], message) ?? found;
  });
  return found ?? { message, outcome: 'left in the mailbox until it can be used', rejected: null };
}

function outcomeOf(records: JournalRecord[], message: string): SentOne | null {
  for (const fact of records.flatMap((record) => record.facts)) {
    if (fact.type === 'message.received' && fact.message.id === message)
      return { message, outcome: fact.action, rejected: null };
    if (fact.type === 'message.rejected' && fact.id === message)
      return { message, outcome: 'rejected', rejected: fact.reason };
  }
  return null;
}

function notTaken(reason: string, state: State): Problem {
  return new Problem({
    code: 'message.rejected',
    what: `The message was not taken: ${reason}`,
    why: 'Its type, target or content does not fit this session as it stands.',
    fix: `See \`${commandFor(state, 'ralph status')}\` and \`${commandFor(state, 'ralph inbox')}\` for what is open.`,
  });
}

/** What each control message is called when it is sent. */
export const CONTROL: Record<'pause' | 'stop' | 'abort', MessageType> = {
  pause: 'PAUSE',
  stop: 'HALT',
  abort: 'ABORT',
};
