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
import { createGzip } from 'node:zlib';
import { diskError, errorCode, StoreFull, synced } from './disk.ts';
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
  const file = projectJournal(mainRoot);
  const descriptor = openSync(file, 'a+', 0o600);
  try {
    const lines = news.map((one) => `${JSON.stringify({ v: 1, ...one })}\n`).join('');
    const bytes = Buffer.from(`${endsOpen(descriptor) ? '\n' : ''}${lines}`);
    // The rest of a cut write may not be sent after it: another writer's line could lie between.
    if (writeSync(descriptor, bytes) < bytes.length) throw new StoreFull('ENOSPC', file, null);
    await synced(descriptor);
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

/** The journal's files, oldest first: closed ones that are not compressed yet, then the one that grows. */
export function projectFiles(mainRoot: string): string[] {
  const folder = join(mainRoot, '.ralph');
  const closed = namesIn(folder).filter((name) => CLOSED.test(name));
  return [...closed.sort().map((name) => join(folder, name)), projectJournal(mainRoot)];
}

const CLOSED = /^journal-\d{8}T\d{6}Z\.jsonl$/;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no run was made here yet
  }
}

/**
 * The records in file order, and the lines that could not be read (cut short by a crash, or edited), each as
 * `journal.jsonl:7`. They stay where they are.
 */
export function readProject(mainRoot: string): { records: ProjectRecord[]; unreadable: string[] } {
  const records: ProjectRecord[] = [];
  const unreadable: string[] = [];
  for (const file of projectFiles(mainRoot)) {
    textOf(file)
      .split('\n')
      .forEach((line, index) => {
        if (line.trim() === '') return;
        const record = readProjectLine(line);
        if (record === null) unreadable.push(`${basename(file)}:${index + 1}`);
        else records.push(record);
      });
  }
  return { records, unreadable };
}

const DAY_MS = 86_400_000;
/** As many may be unreadable before the age of the journal is unknown. */
const FIRST_LINES = 100;

/**
 * Keeps the journal short: one that began more than `days` ago is closed under a name of its own, and a closed
 * one to which nothing was added for so long is compressed. A record that another loop adds meanwhile lands in
 * the closed file, which is still read. Called by the holder of the project's lock.
 */
export async function tidyProject(
  mainRoot: string,
  { now, days }: { now: number; days: number },
): Promise<void> {
  const cut = now - days * DAY_MS;
  const files = projectFiles(mainRoot);
  for (const file of files.slice(0, -1)) {
    if (statSync(file).mtimeMs < cut) await compress(file);
  }
  const growing = files.at(-1)!;
  const first = textOf(growing)
    .split('\n', FIRST_LINES)
    .map(readProjectLine)
    .find((record) => record !== null);
  if (first == null || first.at >= cut) return;
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  await rename(growing, join(mainRoot, '.ralph', `journal-${stamp}.jsonl`));
}

async function compress(file: string): Promise<void> {
  await pipeline(createReadStream(file), createGzip(), createWriteStream(`${file}.gz`, { mode: 0o600 }));
  await rm(file);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/** One line of the journal; null for one that cannot be read. */
export function readProjectLine(line: string): ProjectRecord | null {
  try {
    const value = JSON.parse(line) as Partial<ProjectRecord> | null;
    const whole = typeof value === 'object' && value !== null && typeof value.type === 'string';
    return whole && typeof value.at === 'number' ? (value as ProjectRecord) : null;
  } catch {
    return null;
  }
}
