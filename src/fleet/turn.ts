/**
 * Whose turn it is to land. Loops of one project land one after another, in the order in which they were done; one
 * whose process is gone holds nobody up.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findByMarker, isAlive, ownIdentity } from '../process/index.ts';
import {
  type HeldLock,
  isHeld,
  type Loop,
  readLock,
  readLoops,
  sha256,
  takeLock,
  treeLock,
} from '../store/index.ts';

const POLL_MS = 300;

export interface Waiting {
  /** The project's folder in the main checkout. */
  mainDir: string;
  /** The project's folder below the top of its work tree; empty: it is the top. */
  below: string;
  loop: string;
  /** False: whatever takes time is told, and the loop stays queued. */
  wait: boolean;
  /** A word for whoever watches; once for each thing that is waited for. */
  say(text: string): void;
  signal?: AbortSignal | undefined;
}

/** A lock that is held, or why it could not be had. */
export type Turn = HeldLock | { kind: 'not_now'; why: string };

/** Stands in the environment of each git that moves a branch with its files for a landing of this project. */
export const landingMarker = (mainDir: string): string => `landing-${sha256(mainDir).slice(0, 16)}`;

/** Waits until no other loop lands, no git of a landing that was killed is at work, and none that was done earlier waits. */
export async function ownTurn(waiting: Waiting): Promise<Turn> {
  const file = join(waiting.mainDir, '.ralph', 'queue.lock');
  return patiently(waiting, async () => {
    const holder = await readLock(file).catch(() => null);
    if (holder !== null && isHeld(holder)) return `loop ${holder.sessionId} lands now`;
    const loops = readLoops(waiting.mainDir);
    const left = gitLeft(waiting, loops);
    if (left !== null) return `git goes on with a landing that was broken off (pid ${left})`;
    const before = earlier(loops, waiting.loop);
    if (before !== null) return `loop ${before.id} was done earlier and lands first`;
    const answer = await take(file, waiting.loop);
    return answer.kind === 'taken' ? answer : `loop ${answer.heldBy.sessionId} lands now`;
  });
}

/** Somebody lands now, or a git goes on with what a landing told it that was killed. */
export async function isLandingNow(mainDir: string, loops: readonly Loop[]): Promise<boolean> {
  const holder = await readLock(join(mainDir, '.ralph', 'queue.lock')).catch(() => null);
  return (holder !== null && isHeld(holder)) || gitLeft({ mainDir }, loops) !== null;
}

/** A git outlives the landing that started it, and does to its end what it was told. */
function gitLeft({ mainDir }: Pick<Waiting, 'mainDir'>, loops: readonly Loop[]): number | null {
  if (!loops.some(({ landing, candidate }) => landing !== null || candidate !== null)) return null;
  const marked = findByMarker({ name: 'RALPH_MARKER', value: landingMarker(mainDir) });
  return marked.find(({ command }) => / merge --ff-only /.test(command))?.pid ?? null;
}

/** Waits until no run works in a work tree; null where no run ever was: then none works there. */
export async function quietTree(waiting: Waiting, root: string): Promise<Turn | null> {
  const dir = join(root, waiting.below);
  return existsSync(join(dir, '.ralph')) ? quietCheckout(waiting, dir) : null;
}

/** Waits until no run works in a work tree, and holds it until the answer is released. */
async function quietCheckout(waiting: Waiting, dir: string): Promise<Turn> {
  const file = treeLock(dir);
  return patiently(waiting, async () => {
    const answer = await take(file, '');
    if (answer.kind === 'taken') return answer;
    return `a run works in ${dir} (session ${answer.heldBy.sessionId || 'not named yet'}, pid ${answer.heldBy.pid})`;
  });
}

function take(file: string, sessionId: string): ReturnType<typeof takeLock> {
  return takeLock({ file, identity: ownIdentity(), sessionId, now: Date.now() });
}

async function patiently(
  { loop, wait, say, signal }: Waiting,
  once: () => Promise<HeldLock | string>,
): Promise<Turn> {
  let told = '';
  for (;;) {
    const found = await once();
    if (typeof found !== 'string') return found;
    if (!wait || signal?.aborted === true) return { kind: 'not_now', why: found };
    if (found !== told) say(`Loop ${loop} is done and waits to land: ${found}.`);
    told = found;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The loop that is to land before this one: done earlier, and somebody else's process sees to it. */
function earlier(loops: readonly Loop[], id: string): Loop | null {
  const own = loops.find((loop) => loop.id === id)?.queued ?? null;
  const isBefore = ({ id: other, standing, queued }: Loop): boolean => {
    if (other === id || standing !== 'queued' || queued?.by == null || own === null) return false;
    const { pid, startTime, host } = queued.by;
    const here = ownIdentity();
    return queued.at < own.at && pid !== here.pid && host === here.host && isAlive(pid, startTime);
  };
  return loops.find(isBefore) ?? null;
}
