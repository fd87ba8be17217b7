/**
 * What the mailbox knows of a file before it reads it: whether it is whole, when it came, and, by a
 * glance at its text, whether it is urgent. Ten thousand files are glanced at once each, not at every poll.
 */
import { type BigIntStats, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from './disk.ts';
import { readPlain } from './handled.ts';
import { SIGNAL_BYTES, type SignalReading } from './signal.ts';
import { timeOfName, timeOfText } from './signal-time.ts';

const RESTED_MS = 200;

/** One open mailbox. */
export interface Box {
  /** The session's id. */
  session: string;
  inputs: string;
  processed: string;
  timezone: string;
  seen: Map<string, Seen>;
  /** Each text once. */
  warn(text: string): void;
  /** The key that verifies signatures; null without one. */
  key(): Promise<string | null>;
}

/** What we know of one file between polls. */
export interface Seen {
  /** Changes with the content. */
  mark: string;
  /** Epoch ms: since when it has been as it is. */
  since: number;
  whole: boolean;
  size: number;
  mtimeMs: number;
  /** Epoch ms, by the file system: cannot be set by whoever wrote the file. */
  arrivedAt: number;
  urgent: boolean;
  /** By a glance at the text; the order of reading, not of delivery. */
  createdAt: number;
  glanced: boolean;
  /** How often it was handed out and left lying. */
  offers: number;
  reading: SignalReading | null;
}

/** Brings what we know of a file up to date; false when it is none of ours. */
export function look(box: Box, name: string, now: number): boolean {
  let stats: BigIntStats;
  try {
    stats = lstatSync(join(box.inputs, name), { bigint: true });
  } catch {
    return false; // moved away since it was listed
  }
  if (!stats.isFile()) {
    box.warn(`${name} in the mailbox is a link, folder or device; only plain files are read.`);
    return false;
  }
  const mark = `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
  const known = box.seen.get(name);
  const entry = known?.mark === mark ? known : firstSight(stats, mark, now);
  entry.whole ||= now - entry.since >= RESTED_MS;
  box.seen.set(name, entry);
  return true;
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

const URGENT = /(?:^|[\s{,])["']?type["']?\s*:\s*["']?\s*(?:pause|abort|stop)\b/i;
const CREATED_AT = /^["']?created_at["']?\s*:\s*["']?([^"'#\n]+)/im;

/** Looks at a file's text without parsing it: a message that only quotes `type: ABORT` is read early, no more. */
export function glance(box: Box, name: string, entry: Seen): void {
  entry.glanced = true;
  entry.createdAt = timeOfName(name, box.timezone) ?? entry.mtimeMs;
  const text = entry.size > SIGNAL_BYTES ? '' : (readFrom(box, name)?.toString('latin1') ?? '');
  entry.urgent = URGENT.test(text);
  const said = CREATED_AT.exec(text)?.[1];
  if (said !== undefined) entry.createdAt = timeOfText(said, box.timezone) ?? entry.createdAt;
}

/** A file's bytes; null (and a warning) where it cannot be read. */
export function readFrom(box: Box, name: string): Buffer | null {
  try {
    return readPlain(join(box.inputs, name));
  } catch (error) {
    box.warn(`${name} in the mailbox cannot be read (${errorCode(error)}); it is passed by.`);
    return null;
  }
}
