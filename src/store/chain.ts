/**
 * The chain: how a journal's bytes become records. Each line is one record that carries the hash of the
 * line before it, so a cut end, a changed line and a missing line are three different findings. Only a
 * cut end is ordinary (a crash during a write); everything else stops the reader with the line's number.
 */
import { createHash, hash } from 'node:crypto';
import { readSync } from 'node:fs';
import { JOURNAL_VERSION, type JournalRecord, Problem, shellWord } from '../core/index.ts';

const NEWLINE = 0x0a;

/** sha256 of a text or bytes, in hex. */
export function sha256(content: string | Uint8Array): string {
  // The one-shot form costs a third of createHash on short lines; older runtimes lack it.
  return typeof hash === 'function'
    ? hash('sha256', content, 'hex')
    : createHash('sha256').update(content).digest('hex');
}

/** Where a reader stands: the last whole record, and the byte after its line. */
export interface ChainEnd {
  seq: number;
  /** Hash of the last line; empty before the first. */
  prev: string;
  /** Lines read. */
  line: number;
  /** Bytes of whole, good lines. */
  bytes: number;
  /** Bytes of the last line, its newline included. */
  lastBytes: number;
}

/** The place before the first record. */
export const CHAIN_START: ChainEnd = { seq: 0, prev: '', line: 0, bytes: 0, lastBytes: 0 };

export interface ChainReading {
  file: string;
  /** The file's bytes from where `start` ends. */
  buffer: Buffer;
  start: ChainEnd;
  record(record: JournalRecord): void;
}

/**
 * Reads whole lines and hands each record over as it is read: keeping 100,000 of them costs as much as
 * reading them. What is left over at the end (no newline yet, or a last line that is not JSON) is not
 * read: the returned end's `bytes` tell where it begins.
 * Throws a Problem for a line in the middle that is not JSON, for a broken chain, and for records of a
 * newer version.
 */
export function readChain({ file, buffer, start, record: onRecord }: ChainReading): ChainEnd {
  const end = { ...start };
  for (let from = 0; ; ) {
    const to = buffer.indexOf(NEWLINE, from);
    if (to === -1) break;
    const record = parseLine(buffer.toString('utf8', from, to));
    const at = { file, line: end.line + 1 };
    if (record === undefined) {
      if (to === buffer.length - 1) break;
      throw damaged(at, 'the line is not JSON, and later lines follow it');
    }
    checkRecord(record, end, at);
    onRecord(record);
    end.prev = sha256(buffer.subarray(from, to));
    end.seq = record.seq;
    end.line += 1;
    end.lastBytes = to + 1 - from;
    from = to + 1;
    end.bytes = start.bytes + from;
  }
  return end;
}

const SCAN_BYTES = 1024 * 1024;

/**
 * Reads a whole journal from a descriptor, from where `start` ends, in one buffer: a long journal then
 * costs its parsing and little memory. Answers where the whole records end and the bytes of a cut end.
 * Throws as `readChain` does.
 */
export function scanChain(scan: {
  file: string;
  fd: number;
  start?: ChainEnd;
  record(record: JournalRecord): void;
}): { end: ChainEnd; torn: Buffer } {
  const { file, fd, record, start = CHAIN_START } = scan;
  let buffer = Buffer.allocUnsafe(SCAN_BYTES);
  let filled = 0;
  let end = start;
  for (let position = start.bytes; ; ) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, position);
    if (read === 0) return { end, torn: buffer.subarray(0, filled) };
    position += read;
    filled += read;
    const next = readChain({ file, buffer: buffer.subarray(0, filled), start: end, record });
    const used = next.bytes - end.bytes;
    end = next;
    buffer.copyWithin(0, used, filled);
    filled -= used;
    // A line longer than the buffer.
    if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
  }
}

function parseLine(text: string): JournalRecord | undefined {
  try {
    return JSON.parse(text) as JournalRecord;
  } catch {
    return undefined;
  }
}

function checkRecord(record: JournalRecord, end: ChainEnd, at: { file: string; line: number }): void {
  if (typeof record !== 'object' || record === null || !Number.isInteger(record.v) || record.v < 1) {
    throw damaged(at, 'the line is JSON but not a record');
  }
  if (record.v > JOURNAL_VERSION) throw newer(at, record.v);
  if (!Array.isArray(record.facts) || typeof record.at !== 'number' || typeof record.epoch !== 'number') {
    throw damaged(at, 'the record lacks its facts, time or epoch');
  }
  if (record.seq !== end.seq + 1) {
    throw damaged(at, `the record is number ${String(record.seq)}, expected ${end.seq + 1}`);
  }
  if (record.prev !== end.prev) {
    const before = end.line === 0 ? 'a line before the first' : `line ${end.line} as it now stands`;
    throw damaged(at, `the record was written after something other than ${before}`);
  }
}

function damaged(at: { file: string; line: number }, why: string): Problem {
  const [file, bad] = [shellWord(at.file), shellWord(`${at.file}.bad`)];
  const keep =
    at.line === 1
      ? `move it away, \`mv ${file} ${bad}\`, commit or undo what \`git status\` shows, and begin a new session: \`ralph run\``
      : `keep its whole part (later facts are lost), \`mv ${file} ${bad} && head -n ${at.line - 1} ${bad} > ${file}\`, commit or undo what \`git status\` shows, and go on from there: \`ralph run\``;
  return new Problem({
    code: 'journal.damaged',
    what: `The journal cannot be read past line ${at.line}.`,
    why: `${why}. It was changed by something other than the runner, or the disk lost a part.`,
    fix: `Put the file back from a backup; without one, ${keep}.`,
    at: `${at.file}:${at.line}`,
  });
}

function newer(at: { file: string; line: number }, version: number): Problem {
  return new Problem({
    code: 'journal.newer',
    what: 'The journal was made by a newer version of ralph.',
    why: `Its records have version ${version}; this program knows up to ${JOURNAL_VERSION}.`,
    fix: 'Use the ralph that made it or a later one, or start another session with --new.',
    at: `${at.file}:${at.line}`,
  });
}
