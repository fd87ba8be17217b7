/**
 * Reading without the lock: once for a window, or on and on for a follower. Nothing here writes, and a
 * cut end is left for the writer to mend.
 */
import { closeSync, type FSWatcher, openSync, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { JournalRecord } from '../core/index.ts';
import { CHAIN_START, readChain, scanChain } from './chain.ts';
import { errorCode } from './disk.ts';

const POLL_MS = 1_000;
const CHUNK_BYTES = 8 * 1024 * 1024;

/** The whole records of a journal, and how many bytes of a cut end follow them. */
export interface JournalReading {
  records: JournalRecord[];
  tornBytes: number;
}

/**
 * Hands over each record of a journal in order, keeping none: the quick way for a window that folds.
 * Answers the bytes of a cut end. A file that is not there has no records. Throws Problems as
 * `readChain` does.
 */
export function scanJournal(file: string, record: (record: JournalRecord) => void): number {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
  try {
    return scanChain({ file, fd, record }).torn.length;
  } finally {
    closeSync(fd);
  }
}

/** Reads a whole journal for a window. As `scanJournal`, with the records kept. */
export async function readJournal(file: string): Promise<JournalReading> {
  const records: JournalRecord[] = [];
  const tornBytes = scanJournal(file, (record) => records.push(record));
  return { records, tornBytes };
}

export interface FollowOptions {
  /** Records up to this number are not handed over. Default 0: all. */
  afterSeq?: number;
  /** Safety net under the file system's own notices. Default 1,000 ms. */
  pollMs?: number;
  /** The journal was replaced or cut: what was handed over is void, and all comes again from the start. */
  onRestart?: () => void;
  /** The journal cannot be read further (a Problem); following has stopped. */
  onProblem?: (problem: unknown) => void;
}

/**
 * Hands over every record, those there and those to come, in order. The file need not exist yet.
 * Answers the function that stops it; after that nothing is handed over.
 */
export function followJournal(
  file: string,
  onRecord: (record: JournalRecord) => void,
  options: FollowOptions = {},
): () => void {
  const { afterSeq = 0, pollMs = POLL_MS, onRestart, onProblem } = options;
  let end = CHAIN_START;
  let identity = 0;
  let stopped = false;
  let reading = false;
  let again = false;

  function hand(record: JournalRecord): void {
    if (!stopped && record.seq > afterSeq) onRecord(record);
  }

  function restart(): void {
    if (end.seq > 0) onRestart?.();
    end = CHAIN_START;
  }

  async function readOn(handle: FileHandle): Promise<void> {
    const { size, ino } = await handle.stat();
    if (size < end.bytes || (identity !== 0 && ino !== identity)) restart();
    identity = ino;
    for (let wanted = CHUNK_BYTES; end.bytes < size && !stopped; ) {
      const length = Math.min(wanted, size - end.bytes);
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, end.bytes);
      const before = end.bytes;
      const chunk = buffer.subarray(0, buffer.lastIndexOf(0x0a, bytesRead - 1) + 1);
      end = readChain({ file, buffer: chunk, start: end, record: hand });
      if (end.bytes > before) continue;
      if (before + bytesRead >= size) return; // a line still in writing
      wanted *= 2; // one line longer than the piece
    }
  }

  async function look(): Promise<void> {
    again = true;
    if (reading) return;
    reading = true;
    while (again && !stopped) {
      again = false;
      await lookOnce();
    }
    reading = false;
  }

  async function lookOnce(): Promise<void> {
    try {
      const handle = await open(file, 'r');
      try {
        await readOn(handle);
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return restart();
      if (stopped) return;
      stop();
      onProblem?.(error);
    }
  }

  const watcher = watchFor(file, () => void look());
  const poll = setInterval(() => void look(), pollMs);
  function stop(): void {
    stopped = true;
    clearInterval(poll);
    watcher?.close();
  }
  void look();
  return stop;
}

// The folder is watched, not the file: the file may not be there yet, or may be replaced.
function watchFor(file: string, changed: () => void): FSWatcher | null {
  try {
    const watcher = watch(dirname(file), (_event, name) => {
      if (name === null || name === basename(file)) changed();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null; // out of watches, or no folder yet: the poll is enough
  }
}
