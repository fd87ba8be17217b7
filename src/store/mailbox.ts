/**
 * The mailbox: `signals/inputs/`, where anybody may drop a YAML file. Reading moves nothing; a file
 * leaves only through `settle`, after its fact was appended, so a crash in between means one more
 * reading of a message the journal already knows by its id.
 *
 * No file may stand in the way of another: what is half-written, malformed, unknown, of no use now or
 * one of ten thousand is passed by, and PAUSE and ABORT are found first.
 */
import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Incoming, Mailbox } from '../engine/index.ts';
import { errorCode } from './disk.ts';
import { addDelivery, type Delivery, fileProcessed, fileRejected, slotFor } from './handled.ts';
import { type Box, glance, look, readFrom, type Seen } from './sighting.ts';
import { readSignal, SIGNAL_BYTES, type SignalReading } from './signal.ts';
import { isSigned, signingKey } from './signing.ts';
import { type Watching, watchMailbox } from './watching.ts';

const UNREADABLE_MS = 10_000;
const UNKNOWN_TYPE_MS = 24 * 3_600_000;
const LOOK_SOON_MS = 200;
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

/** Opens a session's mailbox; its folders are made when missing, now or later. */
export function openMailbox(sessionDir: string, options: MailboxOptions): OpenedMailbox {
  const folder = join(sessionDir, 'signals');
  const processed = join(folder, 'processed');
  const box = openBox(sessionDir, options);
  const watching = watchMailbox(box.inputs);
  return {
    async poll(now) {
      await refresh(box, watching, now);
      const answer = await pick(box, now);
      watching.again(nextLook(box, answer.length));
      return answer;
    },
    async settle(name, outcome, handling) {
      const file = outcome === 'processed' ? fileProcessed : fileRejected;
      const slot = await file(join(box.inputs, name), join(folder, outcome), { name, handling });
      box.seen.delete(name);
      if (slot?.duplicate) box.warn(`${name}: the same file was handled before; this copy was dropped.`);
    },
    watch: (changed) => watching.watch(changed),
    delivered: (id, delivery) => addDelivery(processed, id, delivery),
  };
}

function openBox(sessionDir: string, options: MailboxOptions): Box {
  const warned = new Set<string>();
  let key: Promise<string | null> | null = options.key === undefined ? null : Promise.resolve(options.key);
  return {
    session: basename(sessionDir),
    inputs: join(sessionDir, 'signals', 'inputs'),
    processed: join(sessionDir, 'signals', 'processed'),
    timezone: options.timezone,
    seen: new Map(),
    warn(text) {
      if (warned.has(text)) return;
      if (warned.size === WARNED_MOST) warned.clear();
      warned.add(text);
      options.warn?.(text);
    },
    key() {
      key ??= signingKey();
      return key;
    },
  };
}

/** Brings what we know in line with what lies there. */
async function refresh(box: Box, watching: Watching, now: number): Promise<void> {
  const names = new Set(
    (await list(box)).filter((name) => isUnread(box.seen.get(name)) || look(box, name, now)),
  );
  for (const name of [...box.seen.keys()]) if (!names.has(name)) box.seen.delete(name);
  const unsure = [...box.seen].flatMap(([name, { whole }]) => (whole ? [] : [name]));
  for (const name of await watching.movedIn(unsure)) box.seen.get(name)!.whole = true;
}

/** What was never read is looked at when it is: a flood is not looked at again for each hundred of it. */
function isUnread(entry: Seen | undefined): boolean {
  return entry?.whole === true && entry.reading === null && entry.offers === 0;
}

async function list(box: Box): Promise<string[]> {
  try {
    return readdirSync(box.inputs).filter((name) => /\.ya?ml$/i.test(name) && !name.startsWith('.'));
  } catch (error) {
    await makeAgain(box, error);
    return [];
  }
}

async function makeAgain(box: Box, missing: unknown): Promise<void> {
  try {
    if (errorCode(missing) !== 'ENOENT') throw missing;
    await mkdir(box.inputs, { recursive: true });
  } catch (error) {
    const why = errorCode(error) || String(error);
    box.warn(
      `The mailbox ${box.inputs} cannot be read (${why}), so signal files are not seen. Make it a writable folder again.`,
    );
  }
}

/** Urgent first, then what was not handed out yet, so that a hundred useless files block nothing. */
async function pick(box: Box, now: number): Promise<Incoming[]> {
  const picked: Incoming[] = [];
  let parses = 0;
  let fresh = 0;
  for (const [name, entry] of inOrder(box)) {
    // A full answer means "ask again at once": it must hold news, or the reader would never be done.
    const most = fresh > 0 ? POLL_MOST : POLL_MOST - 1;
    if (picked.length >= most || parses === PARSE_MOST) break;
    if (entry.reading === null) parses++;
    const incoming = await offer(box, { name, entry, now });
    if (incoming === null) continue;
    if (entry.offers++ === 0) fresh++;
    picked.push(incoming);
  }
  return picked.sort(byUrgencyAndTime);
}

function inOrder(box: Box): [string, Seen][] {
  const whole = [...box.seen].filter(([, entry]) => entry.whole);
  for (const [name, entry] of whole) if (!entry.glanced) glance(box, name, entry);
  return whole.sort(
    ([a, x], [b, y]) =>
      Number(y.urgent) - Number(x.urgent) ||
      x.offers - y.offers ||
      x.createdAt - y.createdAt ||
      (a < b ? -1 : 1),
  );
}

interface Candidate {
  name: string;
  entry: Seen;
  now: number;
}

async function offer(box: Box, { name, entry, now }: Candidate): Promise<Incoming | null> {
  const reading = entry.reading ?? (await readAfresh(box, { name, entry, now }));
  if (reading === null) return null;
  const lain = now - entry.since;
  switch (reading.kind) {
    case 'message':
      for (const warning of reading.warnings) box.warn(warning);
      return { kind: 'message', name, message: reading.message, arrivedAt: entry.arrivedAt };
    case 'rejected':
      return { kind: 'rejected', name, reason: reading.reason };
    case 'unreadable':
      return lain < UNREADABLE_MS ? null : { kind: 'rejected', name, reason: reading.reason };
    case 'unknown_type':
      box.warn(`${name}: ${reading.reason} It stays in the mailbox for a day.`);
      return lain < UNKNOWN_TYPE_MS ? null : { kind: 'rejected', name, reason: reading.reason };
  }
}

/** As it lies there now; null where it is gone, or written to since it was seen. */
async function readAfresh(box: Box, { name, entry, now }: Candidate): Promise<SignalReading | null> {
  if (entry.offers === 0 && (!look(box, name, now) || box.seen.get(name) !== entry)) return null;
  return readingOf(box, { name, entry, now });
}

async function readingOf(box: Box, { name, entry, now }: Candidate): Promise<SignalReading | null> {
  if (entry.size > SIGNAL_BYTES) {
    entry.reading = { kind: 'rejected', reason: 'The file is larger than a message may be (64 KB).' };
    return entry.reading;
  }
  const bytes = readFrom(box, name);
  if (bytes === null) {
    entry.offers++; // not the first in the row next time
    return null;
  }
  const reading = readSignal({ name, bytes, mtimeMs: entry.mtimeMs, timezone: box.timezone, now });
  if (reading.kind === 'message') {
    await confirm(box, reading);
    // Another message of this name was handled before: this one is known by the name it will lie under.
    reading.message.id = (await slotFor(box.processed, name, bytes)).name;
  }
  if (reading.kind !== 'message' || bytes.length <= CACHED_BYTES) entry.reading = reading;
  return reading;
}

async function confirm(box: Box, { message, fields }: SignalReading & { kind: 'message' }): Promise<void> {
  if (!fields.has('signature')) return;
  const key = await box.key();
  const name = message.id;
  message.confirmed = key !== null && isSigned(key, { session: box.session, name, fields });
  if (!message.confirmed)
    box.warn(`${name}: its signature is not this user's for this session; it counts as unsigned.`);
}

/** When to look again although nothing arrives; null: no need. */
function nextLook(box: Box, handedOut: number): number | null {
  const states = [...box.seen.values()];
  const unread = states.some(({ whole, reading, offers }) => !whole || (reading === null && offers === 0));
  if (unread || handedOut === POLL_MOST) return LOOK_SOON_MS;
  return states.some(({ reading }) => reading?.kind === 'unreadable') ? 1_000 : null;
}

const RANK: Record<string, number> = { ABORT: 0, PAUSE: 1 };

function byUrgencyAndTime(a: Incoming, b: Incoming): number {
  const key = (one: Incoming): [number, number] =>
    one.kind === 'message' ? [RANK[one.message.type] ?? 2, one.message.createdAt] : [2, 0];
  const [[rankA, timeA], [rankB, timeB]] = [key(a), key(b)];
  return rankA - rankB || timeA - timeB || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
