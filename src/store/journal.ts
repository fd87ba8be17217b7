/**
 * The journal: the one file that says what is true of a session. Its writer holds the session's lock,
 * appends whole records and answers only once they are on the disk. Records that are queued while the
 * disk is busy go out together: one write, one sync.
 *
 * Danger: the file must hold nothing that was refused. A failed write is cut off again before the
 * caller hears of it, and a file that is not exactly as long as we left it belongs to another owner.
 */
import { fstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { chmod, type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Fact, JOURNAL_VERSION, type JournalRecord } from '../core/index.ts';
import type { Journal } from '../engine/index.ts';
import { type ChainEnd, scanChain, sha256 } from './chain.ts';
import { createWhole, type DiskIo, diskError, REAL_IO, syncFolder } from './disk.ts';

export interface JournalOptions {
  file: string;
  /** From `takeLock`; stands in every record written here. */
  epoch: number;
  /** From `takeLock`. Without it, a `lock` file beside the journal with another epoch fences. */
  stillOurs?: () => boolean;
  /** Handed each record that is there, in order; none is kept, because a long session has many. */
  record?: (record: JournalRecord) => void;
  /** For tests of a failing disk. */
  io?: DiskIo;
}

/** The cut end of the last write before a crash: how long it was, and where it was put. */
export interface Repair {
  bytes: number;
  /** Name in the journal's folder. */
  keptAs: string;
}

export interface OpenedJournal {
  journal: Journal & { close(): Promise<void> };
  repaired: Repair | null;
}

interface Waiting {
  record: JournalRecord;
  line: string;
  resolve(answer: JournalRecord | 'fenced'): void;
  reject(error: unknown): void;
}

/**
 * Opens a journal for writing, making it (mode 0600) when there is none, and reads what it holds. A cut
 * last line is put aside as `journal.torn-<n>` and reported. Throws Problems as `readChain` does.
 */
export async function openJournal(options: JournalOptions): Promise<OpenedJournal> {
  const { file } = options;
  const handle = await openPrivate(file);
  try {
    const { end, torn } = scanChain({ file, fd: handle.fd, record: options.record ?? (() => undefined) });
    const repaired = await setTornAside({ file, handle, torn, end });
    return { journal: writer(options, handle, end), repaired };
  } catch (error) {
    await handle.close();
    throw diskError(error, file);
  }
}

async function openPrivate(file: string): Promise<FileHandle> {
  const handle = await open(file, 'a+', 0o600);
  const { mode } = await handle.stat();
  // Facts quote people and prompts; a journal copied in with wider rights is narrowed again.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) await chmod(file, 0o600);
  return handle;
}

async function setTornAside(found: {
  file: string;
  handle: FileHandle;
  torn: Uint8Array;
  end: ChainEnd;
}): Promise<Repair | null> {
  const { torn } = found;
  if (torn.length === 0) return null;
  const folder = dirname(found.file);
  for (let n = 1; ; n++) {
    const keptAs = `journal.torn-${n}`;
    if (!(await createWhole(join(folder, keptAs), torn, { mode: 0o600 }))) continue;
    await syncFolder(folder);
    await found.handle.truncate(found.end.bytes);
    await found.handle.datasync();
    return { bytes: torn.length, keptAs };
  }
}

function epochOfLock(file: string): number | null {
  try {
    const epoch = (JSON.parse(readFileSync(join(dirname(file), 'lock'), 'utf8')) as { epoch?: unknown })
      .epoch;
    return typeof epoch === 'number' ? epoch : null;
  } catch {
    return null;
  }
}

function writer(options: JournalOptions, handle: FileHandle, start: ChainEnd): OpenedJournal['journal'] {
  const { file, epoch, io = REAL_IO } = options;
  const ours = options.stillOurs ?? (() => (epochOfLock(file) ?? epoch) === epoch);
  let tail = { seq: start.seq, prev: start.prev }; // with everything queued
  let durable = { ...tail, bytes: start.bytes }; // on the disk
  let queue: Waiting[] = [];
  let flushing: Promise<void> | null = null;
  let state: 'open' | 'fenced' | 'broken' | 'closed' = 'open';
  let failure: unknown = null;

  function append(expectedSeq: number, at: number, facts: Fact[]): Promise<JournalRecord | 'fenced'> {
    if (state === 'fenced') return Promise.resolve('fenced');
    if (state === 'broken') return Promise.reject(failure);
    if (state === 'closed') return Promise.reject(new Error('the journal is closed'));
    if (expectedSeq !== tail.seq) {
      return Promise.reject(new Error(`append after ${expectedSeq}, but the journal is at ${tail.seq}`));
    }
    const record = { v: JOURNAL_VERSION, seq: tail.seq + 1, epoch, at, facts, prev: tail.prev };
    const line = JSON.stringify(record);
    tail = { seq: record.seq, prev: sha256(line) };
    return new Promise((resolve, reject) => {
      queue.push({ record, line, resolve, reject });
      flushing ??= Promise.resolve().then(flush);
    });
  }

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      await writeBatch(batch);
    }
    flushing = null;
  }

  async function writeBatch(batch: Waiting[]): Promise<void> {
    const last = batch.at(-1)!;
    try {
      if (!(await ownedAndUntouched())) return fence(batch);
      const bytes = Buffer.from(`${batch.map(({ line }) => line).join('\n')}\n`);
      await io.write(handle, bytes);
      await io.fdatasync(handle);
      durable = { seq: last.record.seq, prev: sha256(last.line), bytes: durable.bytes + bytes.length };
    } catch (error) {
      return giveUp(batch, diskError(error, file));
    }
    for (const { record, resolve } of batch) resolve(record);
  }

  async function ownedAndUntouched(): Promise<boolean> {
    const { size, ino, dev } = fstatSync(handle.fd);
    // Another file may stand in its place by now, and ours have gone elsewhere under another name.
    const there = statsOf(file);
    return size === durable.bytes && there?.ino === ino && there.dev === dev && ours();
  }

  function fence(batch: Waiting[]): void {
    state = 'fenced';
    for (const { resolve } of [...batch, ...queue.splice(0)]) resolve('fenced');
  }

  // Later records were chained to the refused ones, so all that wait are refused with them.
  async function giveUp(batch: Waiting[], error: unknown): Promise<void> {
    try {
      await io.truncate(handle, durable.bytes);
    } catch {
      state = 'broken';
      failure = error;
    }
    tail = { seq: durable.seq, prev: durable.prev };
    for (const { reject } of [...batch, ...queue.splice(0)]) reject(error);
  }

  return {
    get seq() {
      return tail.seq;
    },
    epoch,
    append,
    async close() {
      if (flushing !== null) await flushing;
      if (state === 'closed') return;
      state = 'closed';
      await handle.close();
    },
  };
}

function statsOf(file: string): Stats | null {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}
