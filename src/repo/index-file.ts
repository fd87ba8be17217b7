/**
 * Git's index, read and rewritten by us so that a private copy costs no process: the tracked paths with
 * their stat data are kept, excluded paths are left out, and marks that hide changes are cleared.
 * Format: git's Documentation/gitformat-index, versions 2 to 4. Split and sparse indexes answer null.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

export interface IndexEntry {
  /** Bytes of the path; `pathText` gives the name. */
  name: Buffer;
  /** Stat data, object id, flags. */
  fixed: Buffer;
  extended: number;
}

const STAT_BYTES = 40;
/** The flag of an entry with two more bytes of flags. */
export const EXTENDED = 0x4000;

/** Entries of an index file; null when it is torn, foreign, split or sparse. */
export function decodeIndex(bytes: Buffer, oidBytes: number): IndexEntry[] | null {
  if (bytes.length < 12 + oidBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4 || count > bytes.length / (STAT_BYTES + oidBytes)) return null;
  const entries: IndexEntry[] = [];
  const end = bytes.length - oidBytes;
  let at = 12;
  let previous: Buffer = Buffer.alloc(0);
  for (let n = 0; n < count; n += 1) {
    const fixedEnd = at + STAT_BYTES + oidBytes + 2;
    if (fixedEnd + 2 > end) return null;
    const fixed = bytes.subarray(at, fixedEnd);
    const hasMore = (bytes.readUInt16BE(fixedEnd - 2) & EXTENDED) !== 0;
    const extended = hasMore ? bytes.readUInt16BE(fixedEnd) : 0;
    const nameAt = fixedEnd + (hasMore ? 2 : 0);
    const read = version === 4 ? packedName(bytes, nameAt, previous) : plainName(bytes, nameAt, at);
    if (read === null || read.next > end) return null;
    entries.push({ name: read.name, fixed, extended });
    previous = read.name;
    at = read.next;
  }
  return onlyOptionalExtensions(bytes.subarray(at, end)) ? entries : null;
}

interface ReadName {
  name: Buffer;
  next: number;
}

function plainName(bytes: Buffer, nameAt: number, entryAt: number): ReadName | null {
  const nul = bytes.indexOf(0, nameAt);
  if (nul === -1) return null;
  const length = nul - entryAt;
  return { name: bytes.subarray(nameAt, nul), next: entryAt + length + 8 - (length % 8) };
}

function packedName(bytes: Buffer, nameAt: number, previous: Buffer): ReadName | null {
  let at = nameAt;
  let byte = bytes[at++]!;
  let strip = byte & 127;
  while ((byte & 128) !== 0 && at < bytes.length) {
    byte = bytes[at++]!;
    strip = (strip + 1) * 128 + (byte & 127);
  }
  const nul = bytes.indexOf(0, at);
  if (nul === -1 || strip > previous.length) return null;
  const kept = previous.subarray(0, previous.length - strip);
  return { name: Buffer.concat([kept, bytes.subarray(at, nul)]), next: nul + 1 };
}

/** A lower-case name (`link`, `sdir`) says that entries mean more than they show. */
function onlyOptionalExtensions(bytes: Buffer): boolean {
  for (let at = 0; at + 8 <= bytes.length; at += 8 + bytes.readUInt32BE(at + 4)) {
    if (bytes[at]! >= 0x61) return false;
  }
  return true;
}

/** An index file of these entries, without extensions: git rebuilds them when it writes. */
export function encodeIndex(entries: readonly IndexEntry[], oidBytes: number): Buffer {
  const head = Buffer.alloc(12);
  head.write('DIRC', 'latin1');
  const extended = entries.some(
    (entry) => (entry.fixed.readUInt16BE(entry.fixed.length - 2) & EXTENDED) !== 0,
  );
  head.writeUInt32BE(extended ? 3 : 2, 4);
  head.writeUInt32BE(entries.length, 8);
  const pieces: Buffer[] = [head];
  for (const { name, fixed, extended: more } of entries) {
    const hasMore = (fixed.readUInt16BE(fixed.length - 2) & EXTENDED) !== 0;
    const length = fixed.length + (hasMore ? 2 : 0) + name.length;
    const tail = Buffer.alloc(8 - (length % 8));
    pieces.push(fixed);
    if (hasMore) pieces.push(Buffer.from([more >> 8, more & 255]));
    pieces.push(name, tail);
  }
  const body = Buffer.concat(pieces);
  const digest = createHash(oidBytes === 32 ? 'sha256' : 'sha1')
    .update(body)
    .digest();
  return Buffer.concat([body, digest]);
}

/** Mode and object id of an entry, as git prints them; null for an unmerged one. */
export function entryContent(entry: IndexEntry): { mode: string; oid: string } | null {
  if ((entry.fixed.readUInt16BE(entry.fixed.length - 2) & 0x3000) !== 0) return null;
  return {
    mode: entry.fixed.readUInt32BE(24).toString(8),
    oid: entry.fixed.toString('hex', STAT_BYTES, entry.fixed.length - 2),
  };
}
