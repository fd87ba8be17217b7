/**
 * The lock: who may append to a session. The file `lock` is for people and windows; what decides is a
 * row of *claims* beside it, `.lock-<epoch>`, each created exclusively and with its content in one step.
 * The highest claim owns the session. To take over a dead owner's session is to create the next claim,
 * so two takers can never both win, and an owner that was thought dead sees the higher claim and stops.
 *
 * Why not simply remove a stale lock: between reading it and removing it, another taker may have
 * replaced it, and the second removal would then throw out a living owner.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runner } from '../core/index.ts';
import { isAlive, ownIdentity } from '../process/index.ts';
import { atomicWrite, createWhole, errorCode, removeFile } from './disk.ts';

const HEARTBEAT_MS = 60_000;
const FOREIGN_STALE_MS = 5 * 60_000;
const HALF_WRITTEN_MS = 5_000;
const TRIES = 50;

/** Who holds a lock, as its file tells. */
export interface LockHolder extends Runner {
  sessionId: string;
  epoch: number;
  /** Epoch ms. */
  startedAt: number;
}

export interface TakeLock {
  /** The lock's path: `<session>/lock`, `.ralph/tree.lock` or `.ralph/loop.lock`. */
  file: string;
  identity: Runner;
  sessionId: string;
  /** Epoch ms. */
  now: number;
  /** A person's word that the owner on another host is gone. Never takes from a living owner here. */
  force?: boolean;
}

export interface HeldLock {
  kind: 'taken';
  /** Grows by one each time the lock changes hands. */
  epoch: number;
  /** The dead owner whose lock this was; null when it was free. */
  takenOverFrom: Runner | null;
  /** That owner's last heartbeat, epoch ms; one comes every minute. */
  predecessorSeenAt: number | null;
  /** False once another owner took over; two file look-ups. */
  stillOurs(): boolean;
  /** Writes the session into the lock, where it was not known yet when the lock was taken. */
  name(sessionId: string): Promise<void>;
  /** Never throws: a lock that cannot be given back is free once its process is gone. */
  release(): Promise<void>;
}

/**
 * `held`: the owner lives. `foreign`: the owner is on another host and its last heartbeat is older than
 * five minutes; only a person can say whether it is gone (`force`).
 */
export type LockAnswer =
  | HeldLock
  | { kind: 'held'; heldBy: LockHolder }
  | { kind: 'foreign'; heldBy: LockHolder; lastSeenAt: number };

interface Claim {
  pid: number;
  started_at: string;
  start_time: string;
  host: string;
  boot: string;
  session_id: string;
  epoch: number;
  /** Tells our claim from another one of the same process. */
  token: string;
  released_at?: string;
}

/** The lock of the one runner in the work tree with this project folder. */
export function treeLock(dir: string): string {
  return join(dir, '.ralph', 'tree.lock');
}

/** Takes the lock, or says who holds it. Does not wait for the owner. */
export async function takeLock(request: TakeLock): Promise<LockAnswer> {
  const { file, identity } = request;
  await mkdir(dirname(file), { recursive: true });
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const found = await findOwner(file);
    if (found === 'half-written') {
      await sleep(HALF_WRITTEN_MS / TRIES);
      continue;
    }
    const standing = found.owner === null ? 'free' : standingOf(found.owner, identity);
    if (standing === 'alive') return { kind: 'held', heldBy: holderOf(found.owner!.claim) };
    if (standing === 'foreign' && request.force !== true) return foreignAnswer(found.owner!);
    const claim = newClaim(request, found.epoch + 1);
    if (!(await claimed(file, claim))) continue;
    await atomicWrite(file, textOf(claim));
    await clearOldClaims(file, claim.epoch);
    return hold(file, claim, found.owner);
  }
  throw new Error(`${file}: the owner changed ${TRIES} times while the lock was being taken`);
}

/** Who holds a lock now. `alive` is null where only the other host could tell. */
export interface LockReading extends LockHolder {
  alive: boolean | null;
  /** Epoch ms of the last heartbeat. */
  lastSeenAt: number;
}

/** Reads a lock for a window and takes nothing; null when it is free. */
export async function readLock(file: string): Promise<LockReading | null> {
  const found = await findOwner(file);
  if (found === 'half-written' || found.owner === null) return null;
  const { claim, lastSeenAt } = found.owner;
  const here = ownIdentity();
  const standing = standingOf(found.owner, here);
  const alive = claim.host === here.host ? standing === 'alive' : null;
  return { ...holderOf(claim), alive, lastSeenAt };
}

/** Whether a lock counts as held: its owner lives, or it is on another host that was seen lately. */
export function isHeld(reading: LockReading): boolean {
  return reading.alive ?? Date.now() - reading.lastSeenAt <= FOREIGN_STALE_MS;
}

const textOf = (claim: Claim): string => `${JSON.stringify(claim)}\n`;
const claimFile = (file: string, epoch: number): string => join(dirname(file), `.${basename(file)}-${epoch}`);

function newClaim({ identity, sessionId, now }: TakeLock, epoch: number): Claim {
  return {
    pid: identity.pid,
    started_at: new Date(now).toISOString(),
    start_time: identity.startTime,
    host: identity.host,
    boot: identity.boot,
    session_id: sessionId,
    epoch,
    token: randomBytes(8).toString('hex'),
  };
}

function holderOf(claim: Claim): LockHolder {
  return {
    pid: claim.pid,
    startTime: claim.start_time,
    host: claim.host,
    boot: claim.boot,
    sessionId: claim.session_id,
    epoch: claim.epoch,
    startedAt: Date.parse(claim.started_at),
  };
}

function standingOf({ claim, lastSeenAt }: Owner, here: Runner): 'alive' | 'dead' | 'foreign' {
  if (claim.host !== here.host) return Date.now() - lastSeenAt > FOREIGN_STALE_MS ? 'foreign' : 'alive';
  if (claim.boot !== '' && claim.boot !== here.boot) return 'dead';
  // Lock files of other makers have no start time; then the pid alone must do.
  const lives = claim.start_time === '' ? pidExists(claim.pid) : isAlive(claim.pid, claim.start_time);
  return lives ? 'alive' : 'dead';
}

function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

function foreignAnswer({ claim, lastSeenAt }: Owner): LockAnswer {
  return { kind: 'foreign', heldBy: holderOf(claim), lastSeenAt };
}

interface Owner {
  claim: Claim;
  lastSeenAt: number;
}

interface Found {
  /** null: nobody holds the lock. */
  owner: Owner | null;
  /** The highest epoch that was ever used. */
  epoch: number;
}

async function findOwner(file: string): Promise<Found | 'half-written'> {
  const epoch = await highestClaim(file);
  const claimed = epoch === 0 ? null : await readClaim(claimFile(file, epoch));
  if (claimed === 'half-written') return claimed;
  if (claimed !== null && claimed.claim.released_at === undefined) return { owner: claimed, epoch };
  // Free by the claims; but a `lock` that is not the released owner's was made by somebody else.
  const shown = await readClaim(file);
  if (shown === 'half-written') return shown;
  if (shown === null || (claimed !== null && shown.claim.token === claimed.claim.token)) {
    return { owner: null, epoch };
  }
  return { owner: shown, epoch: Math.max(epoch, shown.claim.epoch) };
}

async function highestClaim(file: string): Promise<number> {
  const prefix = `.${basename(file)}-`;
  const epochs = (await readdir(dirname(file)))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return Math.max(0, ...epochs);
}

/** null: no such file, or one that says nothing and is too old to be still in writing. */
async function readClaim(file: string): Promise<Owner | null | 'half-written'> {
  try {
    const lastSeenAt = (await stat(file)).mtimeMs;
    const claim = parseClaim(await readFile(file, 'utf8'));
    if (claim !== null) return { claim, lastSeenAt };
    return Date.now() - lastSeenAt < HALF_WRITTEN_MS ? 'half-written' : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function parseClaim(text: string): Claim | null {
  try {
    const raw = JSON.parse(text) as Partial<Claim> | null;
    if (typeof raw !== 'object' || raw === null || !Number.isInteger(raw.pid)) return null;
    return {
      pid: raw.pid!,
      started_at: String(raw.started_at ?? ''),
      start_time: String(raw.start_time ?? ''),
      host: String(raw.host ?? hostname()),
      boot: String(raw.boot ?? ''),
      session_id: String(raw.session_id ?? ''),
      epoch: Number.isInteger(raw.epoch) ? raw.epoch! : 0,
      token: String(raw.token ?? ''),
      ...(typeof raw.released_at === 'string' ? { released_at: raw.released_at } : {}),
    };
  } catch {
    return null;
  }
}

/** Claims the epoch; false when somebody else has it, or has had it. */
async function claimed(file: string, claim: Claim): Promise<boolean> {
  const own = claimFile(file, claim.epoch);
  if (!(await createWhole(own, textOf(claim)))) return false;
  if ((await highestClaim(file)) === claim.epoch) return true;
  // We looked long ago: this number was used and cleared away since. The higher one owns.
  await removeFile(own);
  return false;
}

// The claim just below stays: a reader that lists the folder meanwhile must not miss both.
async function clearOldClaims(file: string, epoch: number): Promise<void> {
  const prefix = `.${basename(file)}-`;
  for (const name of await readdir(dirname(file))) {
    const n = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (n < epoch - 1) await removeFile(join(dirname(file), name));
  }
}

function hold(file: string, claim: Claim, dead: Owner | null): HeldLock {
  const own = claimFile(file, claim.epoch);
  const stillOurs = () => existsSync(own) && !existsSync(claimFile(file, claim.epoch + 1));
  const beat = setInterval(() => {
    if (stillOurs()) touch([own, file]);
  }, HEARTBEAT_MS);
  beat.unref();
  return {
    kind: 'taken',
    epoch: claim.epoch,
    takenOverFrom: dead === null ? null : runnerOf(holderOf(dead.claim)),
    predecessorSeenAt: dead?.lastSeenAt ?? null,
    stillOurs,
    async name(sessionId) {
      if (claim.session_id === sessionId || !stillOurs()) return;
      claim.session_id = sessionId;
      for (const path of [own, file]) await atomicWrite(path, textOf(claim));
    },
    async release() {
      clearInterval(beat);
      if (!stillOurs()) return;
      try {
        // First the claim: a crash in between leaves a `lock` that nobody believes any more.
        await atomicWrite(own, textOf({ ...claim, released_at: new Date().toISOString() }));
        if (tokenOf(file) === claim.token) await removeFile(file);
      } catch {
        // A full disk, or the folder is gone: the lock is free once this process is.
      }
    },
  };
}

const runnerOf = ({ pid, startTime, host, boot }: LockHolder): Runner => ({ pid, startTime, host, boot });

function tokenOf(file: string): string | null {
  try {
    return parseClaim(readFileSync(file, 'utf8'))?.token ?? null;
  } catch {
    return null;
  }
}

function touch(files: string[]): void {
  const now = new Date();
  for (const file of files) {
    try {
      utimesSync(file, now, now);
    } catch {
      // A person removed the visible file; the claim is what counts.
    }
  }
}
