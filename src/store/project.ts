/**
 * The project journal, `.ralph/journal.jsonl`: what outlives sessions (spend, intervention events,
 * pairing, resets, loops). Several loops write it at once without a lock: each record is one line,
 * written by one append, and tells its own story, so their order among each other does not matter.
 */
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import type { BadLine } from './bad-lines.ts';
import { diskError, errorCode, StoreFull, synced, temporaryName } from './disk.ts';
import { ensureProjectFolder } from './sessions.ts';

/** What is told of one event. What further keys mean depends on `type`, which the writers agree on. */
export interface ProjectNews {
  /** Epoch ms. */
  at: number;
  /** noun.past, like facts. */
  type: string;
  [key: string]: unknown;
}

/** One line as it is read back. */
export interface ProjectRecord extends ProjectNews {
  v: number;
}

/** Where the project journal lies. */
export function projectJournal(mainRoot: string): string {
  return join(mainRoot, '.ralph', 'journal.jsonl');
}

/** Appends records durably, with one write. Throws `StoreFull` when the disk takes no more. */
export async function appendProject(mainRoot: string, ...news: ProjectNews[]): Promise<void> {
  await ensureProjectFolder(mainRoot);
  const lines = news.map((one) => `${JSON.stringify({ v: 1, ...one })}\n`).join('');
  for (let n = 0; n < 3 && !(await appended(projectJournal(mainRoot), lines)); n++);
}

/**
 * False where another loop closed the journal meanwhile: what was written may be compressed already without it, so
 * it is written once more. Better told twice, in the instant in which that can be, than never.
 */
async function appended(file: string, lines: string): Promise<boolean> {
  const descriptor = openSync(file, 'a+', 0o600);
  try {
    const bytes = Buffer.from(`${endsOpen(descriptor) ? '\n' : ''}${lines}`);
    // The rest of a cut write may not be sent after it: another writer's line could lie between.
    if (writeSync(descriptor, bytes) < bytes.length) throw new StoreFull('ENOSPC', file, null);
    if (statSync(file, { throwIfNoEntry: false })?.ino !== fstatSync(descriptor).ino) return false;
    await synced(descriptor);
    return true;
  } catch (error) {
    throw diskError(error, file);
  } finally {
    closeSync(descriptor);
  }
}

/** True where a crash left a line without its end; the next record must not be glued to it. */
function endsOpen(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

/**
 * The journal's files, oldest first: closed ones, then the one that grows. `compressed`: also those whose age had
 * them compressed; otherwise only what was added to in the last `days` of `tidyProject`, and a little more.
 */
export function projectFiles(mainRoot: string, { compressed }: { compressed: boolean }): string[] {
  const folder = join(mainRoot, '.ralph');
  const names = namesIn(folder);
  const closed = names.filter(
    (name) =>
      CLOSED.test(name) || (compressed && COMPRESSED.test(name) && !names.includes(name.slice(0, -3))),
  );
  return [...closed.sort().map((name) => join(folder, name)), projectJournal(mainRoot)];
}

const CLOSED = /^journal-\d{8}T\d{6}Z\.jsonl$/;
const COMPRESSED = /^journal-\d{8}T\d{6}Z\.jsonl\.gz$/;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no run was made here yet
  }
}

/** What one of these files holds; nothing where it is gone, null where it was compressed and cannot be read. */
export function projectBytes(file: string): Buffer | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  if (!file.endsWith('.gz')) return bytes;
  try {
    return gunzipSync(bytes);
  } catch {
    return null;
  }
}

/** Where each line of a file begins. */
export function lineStarts(bytes: Buffer): number[] {
  const starts = bytes.length === 0 ? [] : [0];
  for (
    let end = bytes.indexOf(0x0a);
    end !== -1 && end + 1 < bytes.length;
    end = bytes.indexOf(0x0a, end + 1)
  )
    starts.push(end + 1);
  return starts;
}

/** The n-th line of a file, from 0, as one that could not be read; null for an empty one. */
export function badLine(file: string, bytes: Buffer, starts: readonly number[], n: number): BadLine | null {
  const end =
    starts[n + 1] === undefined && bytes.at(-1) !== 0x0a ? bytes.length : (starts[n + 1] ?? bytes.length) - 1;
  const line = bytes.subarray(starts[n], end);
  return line.toString('latin1').trim() === '' ? null : { place: `${basename(file)}:${n + 1}`, bytes: line };
}

/**
 * The records in file order, with `compressed` also those that were compressed, and the lines that could not be read (cut short
 * by a crash, or edited). `isWhole`: what else a record must be.
 */
export function readProject(
  mainRoot: string,
  isWhole: (record: ProjectRecord) => boolean = () => true,
  { compressed }: { compressed: boolean } = { compressed: false },
): { records: ProjectRecord[]; bad: BadLine[] } {
  const records: ProjectRecord[] = [];
  const bad: BadLine[] = [];
  for (const file of projectFiles(mainRoot, { compressed })) {
    const bytes = projectBytes(file) ?? Buffer.alloc(0);
    const starts = lineStarts(bytes);
    for (let n = 0; n < starts.length; n++) {
      const record = readProjectLine(bytes.toString('utf8', starts[n], starts[n + 1] ?? bytes.length));
      if (record !== null && isWhole(record)) records.push(record);
      else bad.push(...[badLine(file, bytes, starts, n)].flatMap((one) => one ?? []));
    }
  }
  return { records, bad };
}

const DAY_MS = 86_400_000;
/** As many may be unreadable before the age of the journal is unknown. */
const FIRST_LINES = 100;

/**
 * Keeps the journal short: one that began more than `days` ago is closed under a name of its own, and a closed
 * one to which nothing was added for so long is compressed. What another loop adds meanwhile it finds missing
 * from the journal, and adds again. Called by the holder of the project's lock.
 */
export async function tidyProject(
  mainRoot: string,
  { now, days }: { now: number; days: number },
): Promise<void> {
  const cut = now - days * DAY_MS;
  const growing = projectJournal(mainRoot);
  const first = (projectBytes(growing) ?? Buffer.alloc(0))
    .toString('utf8')
    .split('\n', FIRST_LINES)
    .map(readProjectLine)
    .find((record) => record !== null);
  if (first != null && first.at < cut) {
    const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
    await rename(growing, join(mainRoot, '.ralph', `journal-${stamp}.jsonl`));
  }
  for (const file of projectFiles(mainRoot, { compressed: false }).slice(0, -1)) {
    if (statSync(file).mtimeMs < cut) await compress(file);
  }
}

/** The compressed file is whole before its source goes; where both stand, the source is read. */
async function compress(file: string): Promise<void> {
  const half = temporaryName(`${file}.gz`);
  await pipeline(createReadStream(file), createGzip(), createWriteStream(half, { mode: 0o600 }));
  await rename(half, `${file}.gz`);
  await rm(file);
}

/** As many as a date can have. */
const MOST_MS = 8.64e15;

/** Epoch ms. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MOST_MS;
}

/** One line of the journal; null for one that cannot be read. */
export function readProjectLine(line: string): ProjectRecord | null {
  try {
    const value = JSON.parse(line) as Partial<ProjectRecord> | null;
    const whole = typeof value === 'object' && value !== null && typeof value.type === 'string';
    return whole && isTime(value.at) ? (value as ProjectRecord) : null;
  } catch {
    return null;
  }
}
