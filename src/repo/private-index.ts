/**
 * The user's index as a private one: excluded paths are cut out, marks that hide changes are cleared, and
 * what git knows of unchanged folders stays, so that the first tree costs no more than the next. One pass
 * over the bytes, because a large project has a hundred thousand entries.
 * Format: git's Documentation/gitformat-index, versions 2 and 3; a version 4 index is written as version 2.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { decodeIndex, encodeIndex } from './index-file.ts';

const STAT_BYTES = 40;
const EXTENDED = 0x4000;
const ASSUME_VALID = 0x8000;
const SKIP_WORKTREE = 0x4000;
const NAME_LENGTH = 0x0fff;
/** More than any path that a file system takes. */
const NAMES_BYTES = 64 * 1024;
const SAMPLE = 64;

export interface PrivateIndex {
  /** The file, in pieces: it is long, and joining them would cost as much as reading it. */
  pieces: Buffer[];
  /** Which paths are tracked, as one hash: unchanged by a refresh or by staging known files. */
  tracked: string;
  /** Names whose changes the user told git to overlook. */
  hidden: Buffer[];
  /** Some of the names, evenly spread. */
  sample: Buffer[];
  /** The tree that the user's index stands for, where git has noted it there; null: not known. */
  staged: string | null;
}

export interface IndexWish {
  oidBytes: 20 | 32;
  /** Names to leave out, each with all below it. */
  excluded: readonly Buffer[];
  /** Whether a file that a sparse checkout leaves out is there all the same. */
  present(name: Buffer): boolean;
}

/** A private version of an index file, made in its bytes; null when it is torn, foreign, split or sparse. */
export function privateIndex(user: Buffer, wish: IndexWish): PrivateIndex | null {
  const bytes = plainBytes(user, wish.oidBytes);
  const read = bytes === null ? null : readEntries(bytes, wish);
  if (bytes === null || read === null) return null;
  const { kept, count, end, dropped, tracked, hidden, sample } = read;
  const tree = treeExtension(bytes.subarray(end, bytes.length - wish.oidBytes));
  if (tree === null) return null;
  const head = Buffer.from(bytes.subarray(0, 12));
  head.writeUInt32BE(count, 8);
  const body = [head, ...kept, withoutFolders(tree, dropped, wish.oidBytes)];
  const hash = createHash(wish.oidBytes === 32 ? 'sha256' : 'sha1');
  for (const piece of body) hash.update(piece);
  return { pieces: [...body, hash.digest()], tracked, hidden, sample, staged: rootOf(tree, wish.oidBytes) };
}

/** In a version whose names stand whole. */
function plainBytes(user: Buffer, oidBytes: number): Buffer | null {
  if (user.length < 12 + oidBytes || user.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = user.readUInt32BE(4);
  if (version === 2 || version === 3) return user;
  const entries = decodeIndex(user, oidBytes);
  return entries === null ? null : encodeIndex(entries, oidBytes);
}

interface ReadEntries {
  /** Pieces of the file, in order. */
  kept: Buffer[];
  count: number;
  /** Where the extensions begin. */
  end: number;
  dropped: Buffer[];
  tracked: string;
  hidden: Buffer[];
  sample: Buffer[];
}

function readEntries(bytes: Buffer, { oidBytes, excluded, present }: IndexWish): ReadEntries | null {
  const all = bytes.readUInt32BE(8);
  const limit = bytes.length - oidBytes;
  if (all > bytes.length / (STAT_BYTES + oidBytes)) return null;
  const read: ReadEntries = { kept: [], count: 0, end: 12, dropped: [], tracked: '', hidden: [], sample: [] };
  const stride = Math.ceil(all / SAMPLE);
  const hash = createHash('sha1');
  const names = Buffer.allocUnsafe(NAMES_BYTES);
  let named = 0;
  let from = 12; // where the piece in hand begins
  let at = 12;
  for (let n = 0; n < all; n += 1) {
    const fixedEnd = at + STAT_BYTES + oidBytes + 2;
    if (fixedEnd + 2 > limit) return null;
    const flags = bytes.readUInt16BE(fixedEnd - 2);
    const more = (flags & EXTENDED) !== 0;
    const nameAt = fixedEnd + (more ? 2 : 0);
    const short = flags & NAME_LENGTH;
    const nul = short < NAME_LENGTH ? nameAt + short : bytes.indexOf(0, nameAt);
    if (nul < nameAt || nul >= limit || bytes[nul] !== 0 || nul - nameAt >= NAMES_BYTES) return null;
    const length = nul - at;
    const next = at + length + 8 - (length % 8);
    if (next > limit) return null;
    if (named + nul + 1 - nameAt > NAMES_BYTES) {
      hash.update(names.subarray(0, named));
      named = 0;
    }
    // Byte by byte: a call for each of so many short names costs more than the bytes.
    for (let from = nameAt; from <= nul; from += 1) names[named++] = bytes[from]!;
    if (n % stride === 0) read.sample.push(bytes.subarray(nameAt, nul));
    if (isBelowAny(bytes, { from: nameAt, to: nul }, excluded)) {
      read.dropped.push(bytes.subarray(nameAt, nul));
      if (at > from) read.kept.push(bytes.subarray(from, at));
      from = next;
    } else {
      read.count += 1;
      const skipped = more && (bytes.readUInt16BE(fixedEnd) & SKIP_WORKTREE) !== 0;
      if (skipped || (flags & ASSUME_VALID) !== 0) {
        const name = bytes.subarray(nameAt, nul);
        read.hidden.push(name);
        bytes.writeUInt16BE(flags & ~ASSUME_VALID, fixedEnd - 2);
        if (skipped && present(name))
          bytes.writeUInt16BE(bytes.readUInt16BE(fixedEnd) & ~SKIP_WORKTREE, fixedEnd);
      }
    }
    at = next;
  }
  if (at > from) read.kept.push(bytes.subarray(from, at));
  return { ...read, end: at, tracked: hash.update(names.subarray(0, named)).digest('hex') };
}

function isBelowAny(
  bytes: Buffer,
  { from, to }: { from: number; to: number },
  folders: readonly Buffer[],
): boolean {
  for (const folder of folders) {
    if (bytes[from] !== folder[0] || to - from < folder.length) continue;
    if (to - from > folder.length && bytes[from + folder.length] !== 0x2f) continue;
    if (bytes.compare(folder, 0, folder.length, from, from + folder.length) === 0) return true;
  }
  return false;
}

/** The cached trees; empty without any, null where an extension means more than the entries show. */
function treeExtension(bytes: Buffer): Buffer | null {
  let tree: Buffer = Buffer.alloc(0);
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at + 4);
    // A lower-case name (`link`, `sdir`) must be understood.
    if (bytes[at]! >= 0x61) return null;
    if (bytes.toString('latin1', at, at + 4) === 'TREE') tree = bytes.subarray(at + 8, at + 8 + size);
    at += 8 + size;
  }
  return tree;
}

/**
 * The cached trees as an extension, each folder with a dropped path in it marked as unknown. One that cannot
 * be read is left out: git makes it again.
 */
function withoutFolders(tree: Buffer, dropped: readonly Buffer[], oidBytes: number): Buffer {
  const unknown = new Set<string>();
  for (const name of dropped) {
    const parts = name.toString('latin1').split('/');
    for (let depth = 0; depth < parts.length; depth += 1) unknown.add(parts.slice(0, depth).join('/'));
  }
  const pieces: Buffer[] = [];
  const end =
    tree.length === 0 ? -1 : readFolder({ tree, at: 0, above: null }, { unknown, pieces, oidBytes });
  if (end !== tree.length) return Buffer.alloc(0);
  const body = Buffer.concat(pieces);
  const head = Buffer.alloc(8);
  head.write('TREE', 'latin1');
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** The first folder of the extension is the root, whose name is empty. */
function rootOf(tree: Buffer, oidBytes: number): string | null {
  const line = tree.indexOf(0x0a);
  if (line === -1 || tree[0] !== 0 || tree[1] === 0x2d) return null;
  const end = line + 1 + oidBytes;
  return end > tree.length ? null : tree.toString('hex', line + 1, end);
}

interface Rewriting {
  unknown: Set<string>;
  pieces: Buffer[];
  oidBytes: number;
}

/** One folder and those in it: `name NUL count SP subfolders LF [oid]`. Answers where it ends, -1 if torn. */
function readFolder(
  { tree, at, above }: { tree: Buffer; at: number; above: string | null },
  into: Rewriting,
): number {
  const nul = tree.indexOf(0, at);
  const line = nul === -1 ? -1 : tree.indexOf(0x0a, nul);
  if (line === -1) return -1;
  const name = tree.toString('latin1', at, nul);
  const path = above === null || above === '' ? name : `${above}/${name}`;
  const counts = /^(-?\d+) (\d+)$/.exec(tree.toString('latin1', nul + 1, line));
  if (counts === null) return -1;
  const known = Number(counts[1]) >= 0;
  const oidEnd = line + 1 + (known ? into.oidBytes : 0);
  if (oidEnd > tree.length) return -1;
  into.pieces.push(
    into.unknown.has(path) ? Buffer.from(`${name}\0-1 ${counts[2]}\n`, 'latin1') : tree.subarray(at, oidEnd),
  );
  let next = oidEnd;
  for (let n = Number(counts[2]); n > 0 && next !== -1; n -= 1) {
    next = readFolder({ tree, at: next, above: path }, into);
  }
  return next;
}
