/**
 * The mailbox: `signals/inputs/`, where anybody may drop a YAML file. Reading moves nothing; a file
 * leaves only through `settle`, after its fact was appended, so a crash in between means one more
 * reading of a message the journal already knows by its id.
 *
 * No file may stand in the way of another: what is half-written, malformed, unknown, of no use now or
 * one of ten thousand is passed by, and PAUSE and ABORT are found first.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Handling, Incoming, Mailbox } from '../engine/index.ts';
import { errorCode } from './disk.ts';
import { addDelivery, type Delivery, fileProcessed, fileRejected, readPlain, slotFor } from './handled.ts';
import { readSignal, SIGNAL_BYTES, type SignalReading } from './signal.ts';
import { timeOfName, timeOfText } from './signal-time.ts';
import { isSigned, signingKey } from './signing.ts';
import { watchMailbox } from './watching.ts';

const SETTLED_MS = 200;
const UNREADABLE_MS = 10_000;
const UNKNOWN_TYPE_MS = 24 * 3_600_000;
const POLL_MOST = 100;
/** Files read as YAML in one poll; a flood of useless ones is spread over several. */
const PARSE_MOST = 400;
const CACHED_BYTES = 4_096;
const WARNED_MOST = 10_000;

export interface MailboxOptions {
  /** Of the session: the zone of times without an offset. */
  timezone: string;
  /** Told once about each thing that is odd but stops nothing. */
  warn?: (text: string) => void;
  /** The key that verifies signatures; default: the user's own, read when first needed. */
  key?: string | null;
}

export interface OpenedMailbox extends Mailbox {
  /** Notes in the processed copy that a message reached somebody. */
  delivered(id: string, delivery: Delivery): Promise<boolean>;
}

/** What we know of one file between polls. */
interface Seen {
  /** Changes with the content. */
  mark: string;
  /** Epoch ms: since when it has been as it is. */
  since: number;
  whole: boolean;
  size: number;
  mtimeMs: number;
  arrivedAt: number;
  urgent: boolean;
  /** By a glance at the text; the order of reading, not of delivery. */
  createdAt: number;
  glanced: boolean;
  /** How often it was handed out and left lying. */
  offers: number;
  reading: SignalReading | null;
}

/** Opens a session's mailbox; its folders are made when missing, now or later. */
export function openMailbox(sessionDir: string, options: MailboxOptions): OpenedMailbox {
  const folder = join(sessionDir, 'signals');
  const place = {
    inputs: join(folder, 'inputs'),
    processed: join(folder, 'processed'),
    rejected: join(folder, 'rejected'),
  };
  const seen = new Map<string, Seen>();
  const warned = new Set<string>();
  const watching = watchMailbox(place.inputs);
  let key: Promise<string | null> | null = options.key === undefined ? null : Promise.resolve(options.key);

  function warnOnce(text: string): void {
    if (warned.has(text)) return;
    if (warned.size === WARNED_MOST) warned.clear();
    warned.add(text);
    options.warn?.(text);
  }

  async function poll(now: number): Promise<Incoming[]> {
    const entries = await list();
    const names = new Set<string>();
    for (const entry of entries) if (look(entry, now)) names.add(entry.name);
    for (const name of [...seen.keys()]) if (!names.has(name)) seen.delete(name);
    const answer = await pick(now);
    watching.again(nextLook(answer.length));
    return answer;
  }

  async function list(): Promise<Dirent[]> {
    try {
      return readdirSync(place.inputs, { withFileTypes: true }).filter(({ name }) => counts(name));
    } catch (error) {
      try {
        if (errorCode(error) === 'ENOENT') await mkdir(place.inputs, { recursive: true });
        else throw error;
      } catch (reason) {
        const why = errorCode(reason) || String(reason);
        warnOnce(
          `The mailbox ${place.inputs} cannot be read (${why}): signals do not arrive. \`ralph pause\` and the other commands tell more.`,
        );
      }
      return [];
    }
  }

  /** Brings what we know of a file up to date; false when it is none of ours. */
  function look({ name }: Dirent, now: number): boolean {
    let stats: BigIntStats;
    try {
      stats = lstatSync(join(place.inputs, name), { bigint: true });
    } catch {
      return false; // moved away since it was listed
    }
    if (!stats.isFile()) {
      warnOnce(`${name} in the mailbox is a link, folder or device; only plain files are read.`);
      return false;
    }
    const mark = `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
    const known = seen.get(name);
    const entry = known?.mark === mark ? known : firstSight(stats, mark, now);
    entry.whole ||= now - entry.since >= SETTLED_MS;
    seen.set(name, entry);
    return true;
  }

  /** Urgent first, then what was not handed out yet, so that a hundred useless files block nothing. */
  async function pick(now: number): Promise<Incoming[]> {
    for (const [name, entry] of seen) if (entry.whole && !entry.glanced) glance(name, entry);
    const order = [...seen]
      .filter(([, { whole }]) => whole)
      .sort(
        ([a, x], [b, y]) =>
          Number(y.urgent) - Number(x.urgent) ||
          x.offers - y.offers ||
          x.createdAt - y.createdAt ||
          (a < b ? -1 : 1),
      );
    const picked: Incoming[] = [];
    let parses = 0;
    let fresh = 0;
    for (const [name, entry] of order) {
      // A full answer means "ask again at once": it must hold news, or the reader would never be done.
      const most = fresh > 0 ? POLL_MOST : POLL_MOST - 1;
      if (picked.length >= most || parses === PARSE_MOST) break;
      if (entry.reading === null) parses++;
      const incoming = await offer(name, entry, now);
      if (incoming === null) continue;
      if (entry.offers++ === 0) fresh++;
      picked.push(incoming);
    }
    return picked.sort(byUrgencyAndTime);
  }

  function glance(name: string, entry: Seen): void {
    entry.glanced = true;
    entry.createdAt = timeOfName(name, options.timezone) ?? entry.mtimeMs;
    const text = entry.size > SIGNAL_BYTES ? '' : (read(name)?.toString('latin1') ?? '');
    entry.urgent = /(?:^|[\s{,])["']?type["']?\s*:\s*["']?\s*(?:pause|abort|stop)\b/i.test(text);
    const said = /^["']?created_at["']?\s*:\s*["']?([^"'#\n]+)/im.exec(text)?.[1];
    if (said !== undefined) entry.createdAt = timeOfText(said, options.timezone) ?? entry.createdAt;
  }

  function read(name: string): Buffer | null {
    try {
      return readPlain(join(place.inputs, name));
    } catch (error) {
      warnOnce(`${name} in the mailbox cannot be read (${errorCode(error)}); it is passed by.`);
      return null;
    }
  }

  async function offer(name: string, entry: Seen, now: number): Promise<Incoming | null> {
    const reading = await readingOf(name, entry, now);
    if (reading === null) return null;
    switch (reading.kind) {
      case 'message':
        for (const warning of reading.warnings) warnOnce(warning);
        return { kind: 'message', name, message: reading.message, arrivedAt: entry.arrivedAt };
      case 'rejected':
        return { kind: 'rejected', name, reason: reading.reason };
      case 'unreadable':
        return now - entry.since < UNREADABLE_MS ? null : { kind: 'rejected', name, reason: reading.reason };
      case 'unknown_type':
        warnOnce(`${name}: ${reading.reason} It stays in the mailbox for a day.`);
        return now - entry.since < UNKNOWN_TYPE_MS
          ? null
          : { kind: 'rejected', name, reason: reading.reason };
    }
  }

  async function readingOf(name: string, entry: Seen, now: number): Promise<SignalReading | null> {
    if (entry.reading !== null) return entry.reading;
    if (entry.size > SIGNAL_BYTES) {
      entry.reading = { kind: 'rejected', reason: 'The file is larger than a message may be (64 KB).' };
      return entry.reading;
    }
    const bytes = read(name);
    if (bytes === null) {
      entry.offers++; // not the first in the row next time
      return null;
    }
    const reading = readSignal({ name, bytes, mtimeMs: entry.mtimeMs, timezone: options.timezone, now });
    if (reading.kind === 'message') {
      await confirm(name, reading);
      // Another message of this name was handled before: this one is known by the name it will lie under.
      reading.message.id = (await slotFor(place.processed, name, bytes)).name;
    }
    if (reading.kind !== 'message' || bytes.length <= CACHED_BYTES) entry.reading = reading;
    return reading;
  }

  async function confirm(
    name: string,
    { message, fields }: SignalReading & { kind: 'message' },
  ): Promise<void> {
    if (!fields.has('signature')) return;
    key ??= signingKey();
    const secret = await key;
    message.confirmed = secret !== null && isSigned(secret, { session: basename(sessionDir), name, fields });
    if (!message.confirmed)
      warnOnce(`${name}: its signature is not this user's for this session; it counts as unsigned.`);
  }

  function nextLook(handedOut: number): number | null {
    if (handedOut === POLL_MOST) return 0;
    const states = [...seen.values()];
    if (states.some(({ whole, reading, offers }) => whole && reading === null && offers === 0)) return 0;
    if (states.some(({ whole }) => !whole)) return SETTLED_MS;
    return states.some(({ reading }) => reading?.kind === 'unreadable') ? 1_000 : null;
  }

  async function settle(name: string, outcome: 'processed' | 'rejected', handling: Handling): Promise<void> {
    const source = join(place.inputs, name);
    const file = outcome === 'processed' ? fileProcessed : fileRejected;
    const slot = await file(source, place[outcome], { name, handling });
    seen.delete(name);
    if (slot?.duplicate) warnOnce(`${name}: the same file was handled before; this copy was dropped.`);
  }

  return {
    poll,
    settle,
    watch: (changed) => watching.watch(changed),
    delivered: (id, delivery) => addDelivery(place.processed, id, delivery),
  };
}

function counts(name: string): boolean {
  return /\.ya?ml$/i.test(name) && !name.startsWith('.');
}

/**
 * A rename changes a file's change time and not its write time: such a file is whole at once. One that
 * is written in place has both equal, and is whole once it has rested.
 */
function firstSight(stats: BigIntStats, mark: string, now: number): Seen {
  const [mtimeMs, ctimeMs] = [Number(stats.mtimeNs) / 1e6, Number(stats.ctimeNs) / 1e6];
  return {
    mark,
    since: Math.min(ctimeMs, now),
    whole: stats.ctimeNs > stats.mtimeNs,
    size: Number(stats.size),
    mtimeMs,
    arrivedAt: Math.floor(ctimeMs),
    urgent: false,
    createdAt: mtimeMs,
    glanced: false,
    offers: 0,
    reading: null,
  };
}

const RANK: Record<string, number> = { ABORT: 0, PAUSE: 1 };

function byUrgencyAndTime(a: Incoming, b: Incoming): number {
  const key = (one: Incoming): [number, number] =>
    one.kind === 'message' ? [RANK[one.message.type] ?? 2, one.message.createdAt] : [2, 0];
  const [[rankA, timeA], [rankB, timeB]] = [key(a), key(b)];
  return rankA - rankB || timeA - timeB || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
