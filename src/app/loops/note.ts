/**
 * Tells a loop's session what became of its work when its own run is over: landed by `ralph loops merge`, after
 * another run, or given up. It stands in the session's journal then, and every window of the session says so.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decide, emptyState, evolve, type Fact, type LandingFact, type State } from '../../core/index.ts';
import { ownIdentity } from '../../process/index.ts';
import {
  type HeldLock,
  type Loop,
  openJournal,
  openMirrors,
  type Repair,
  sessionsFolder,
  takeLock,
} from '../../store/index.ts';
import type { Place } from '../place.ts';
import { loopsToDraw } from './list.ts';

/** A message that is just taken in holds a session for a moment. */
const TRIES = 20;
const PAUSE_MS = 150;

interface Noting {
  main: Place;
  loop: Loop;
  say(text: string): void;
}

/** Nothing is lost where it cannot be written: the project journal has it, and the next run of the loop says it. */
export async function noteLanding({ main, loop, say }: Noting, landing: LandingFact): Promise<void> {
  const { session } = loop;
  const dir = session === null ? null : join(sessionsFolder(main.mainDir), session);
  if (dir === null || !existsSync(join(dir, 'journal.jsonl'))) return;
  const lock = await lockFor(dir, session!);
  if (lock === null)
    return say(`Session ${session} is held by another process and was not told: ${loop.id}.`);
  try {
    await write({ dir, main, lock, say }, landing);
  } finally {
    await lock.release();
  }
}

async function lockFor(dir: string, sessionId: string): Promise<HeldLock | null> {
  const file = join(dir, 'lock');
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await takeLock({ file, identity: ownIdentity(), sessionId, now: Date.now() });
    if (answer.kind === 'taken') return answer;
    await sleep(PAUSE_MS);
  }
  return null;
}

interface Writing {
  dir: string;
  main: Place;
  lock: HeldLock;
  say(text: string): void;
}

async function write({ dir, main, lock, say }: Writing, landing: LandingFact): Promise<void> {
  const state = emptyState();
  const mirrors = openMirrors({
    sessionDir: dir,
    mainDir: main.mainDir,
    loops: loopsToDraw(main),
    warn: say,
  });
  const { journal, repaired } = await openJournal({
    file: join(dir, 'journal.jsonl'),
    epoch: lock.epoch,
    stillOurs: lock.stillOurs,
    record: (record) => {
      evolve(state, record);
      mirrors.tell(record);
    },
  });
  try {
    const { seq } = state;
    const facts = factsOf(state, { landing, lock, repaired });
    if (facts.length === 0) return;
    const record = await journal.append(seq, Date.now(), facts);
    if (record !== 'fenced') await mirrors.redraw(state, [record]);
  } finally {
    await mirrors.close({ draw: lock.stillOurs() }).catch(() => undefined);
    await journal.close();
  }
}

interface Found {
  landing: LandingFact;
  lock: HeldLock;
  repaired: Repair | null;
}

/** With it goes how the session ends now, where that is all it waited for; the state is then as after all of them. */
function factsOf(state: State, { landing, lock, repaired }: Found): Fact[] {
  const isKnown = JSON.stringify(state.landing) === JSON.stringify(landing);
  const facts: Fact[] = [];
  if (repaired) facts.push({ type: 'journal.repaired', ...repaired });
  if (lock.takenOverFrom) facts.push({ type: 'lock.taken_over', from: lock.takenOverFrom });
  if (!isKnown) facts.push(landing);
  const at = Date.now();
  evolve(state, { seq: state.seq + 1, at, facts });
  const step = state.policy === null ? null : decide(state, { now: at, live: new Set() });
  if (step?.do !== 'stop' || !SAID_BY_LANDING.has(step.code)) return isKnown ? [] : facts;
  const { code, word, reason } = step;
  const before = state.run?.stopped;
  if (before?.code === code && before.reason === reason) return isKnown ? [] : facts;
  const stopped: Fact = { type: 'run.stopped', code, word, reason };
  evolve(state, { seq: state.seq, at, facts: [stopped] });
  return [...facts, stopped];
}

/** Landed or kept elsewhere, awaited, given up. */
const SAID_BY_LANDING: ReadonlySet<number> = new Set([0, 8, 9]);
