/**
 * The user's index as a private one: excluded paths are cut out, marks that hide changes are cleared, and
 * what git knows of unchanged folders stays, so that the first tree costs no more than the next. A large
 * project has a hundred thousand entries, so the file goes through one small window: touching new memory
 * for all of it would cost more than reading it.
 * Format: git's Documentation/gitformat-index, versions 2 and 3; a version 4 index is written as version 2.
 */
import { Buffer } from 'node:buffer';
import { closeSync, fstatSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { decodeIndex, encodeIndex } from './index-file.ts';
import { type RootTree, rootWithout } from './root-tree.ts';

const HEAD_BYTES = 12;
const STAT_BYTES = 40;
const EXTENDED = 0x40;
const ASSUME_VALID = 0x80;
const SKIP_WORKTREE = 0x40;
const NAME_LENGTH = 0x0fff;
/** More than any path that a file system takes, with what stands before and after it. */
const ENTRY_BYTES = 16 * 1024;
/** A multiple of 4, so that names are read by words. */
const WINDOW_BYTES = 128 * 1024;
const SAMPLE = 16;

export interface PrivateIndex {
  /** Which paths are tracked, as one hash: unchanged by a refresh or by staging known files. */
  tracked: string;
  /** How many entries there are, those left out included. */
  entries: number;
  /** Names whose changes the user told git to overlook. */
  hidden: Buffer[];
  /** Some of the names, evenly spread. */
  sample: Buffer[];
  /** The tree that the user's index stands for, where git has noted it there; null: not known. */
  staged: string | null;
  /** The tree that the private one stands for, where it was made along; else null. */
  made: string | null;
}

/** How many entries an index file says it has; null where it cannot be read. */
export function entryCount(file: string): number | null {
  const head = Buffer.alloc(HEAD_BYTES);
  let source: number | null = null;
  try {
    source = openSync(file, 'r');
    return readSync(source, head, 0, HEAD_BYTES, 0) < HEAD_BYTES ? null : head.readUInt32BE(8);
  } catch {
    return null;
  } finally {
    if (source !== null) closeSync(source);
  }
}

export interface IndexWish {
  /** The user's index file. */
  from: string;
  /** Where the private one is written; null: only look. Nothing is left there when the answer is null. */
  to: string | null;
  oidBytes: 20 | 32;
  /** Names to leave out, each with all below it. */
  excluded: readonly Buffer[];
  /** Whether a file that a sparse checkout leaves out is there all the same. */
  present(name: Buffer): boolean;
  /** The tree of HEAD; null: not known. Only looked at where one is written. */
  root?: RootTree | null;
}

/**
 * Makes a private version of an index file; null when that is torn, foreign, split or sparse. It ends in
 * zeros instead of a checksum, which git has verified in `fsck` alone since 2.13.
 */
export function privateIndex(wish: IndexWish): PrivateIndex | null {
  const source = openSync(wish.from, 'r');
  let out: number | null = null;
  let made: PrivateIndex | null = null;
  try {
    out = wish.to === null ? null : openSync(wish.to, 'w', 0o600);
    made = rewrite(source, out, wish);
    return made;
  } finally {
    closeSync(source);
    if (out !== null) closeSync(out);
    if (made === null && wish.to !== null) rmSync(wish.to, { force: true });
  }
}

function rewrite(source: number, out: number | null, wish: IndexWish): PrivateIndex | null {
  const window = openWindow(source, out, wish.oidBytes);
  const head = window === null ? null : nextBytes(window, HEAD_BYTES);
  if (window === null || head === null) return null;
  write(window, head);
  const entries = head.readUInt32BE(8);
  const read = readEntries(window, entries, wish);
  if (read === null) return null;
  const { count, dropped, hash, hidden, sample } = read;
  const tree = treeExtension(read.rest);
  if (tree === null) return null;
  const staged = rootOf(tree, wish.oidBytes);
  const root = wish.root && staged ? rootWithout(wish.root, { root: staged, names: dropped }) : null;
  const left = root === null ? null : withRoot(tree, { count, root });
  write(window, left ?? withoutFolders(tree, dropped, wish.oidBytes));
  write(window, Buffer.alloc(wish.oidBytes));
  head.writeUInt32BE(count, 8);
  if (out !== null) writeSync(out, head, 0, HEAD_BYTES, 0);
  return { tracked: hash, entries, hidden, sample, staged, made: root?.toString('hex') ?? null };
}

/** The part of the file that is in hand. */
interface Window {
  bytes: Buffer;
  /** The same bytes, four by four. */
  words: Int32Array;
  /** How many bytes are in hand. */
  filled: number;
  /** Puts up to `most` more bytes at a place; answers how many, 0 at the end. */
  more(bytes: Buffer, at: number, most: number): number;
  /** Bytes of the file that are still to come, its checksum left out. */
  left: number;
  out: number | null;
}

/** The window over a file whose names stand whole; null for what is no index. */
function openWindow(source: number, out: number | null, oidBytes: number): Window | null {
  const { size } = fstatSync(source);
  const head = Buffer.alloc(8);
  if (size < HEAD_BYTES + oidBytes || readSync(source, head, 0, 8, 0) < 8) return null;
  const version = head.readUInt32BE(4);
  if (head.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return null;
  const memory = new ArrayBuffer(WINDOW_BYTES);
  const window = { bytes: Buffer.from(memory), words: new Int32Array(memory), filled: 0, out };
  if (version < 4) {
    let at = 0;
    const more = (bytes: Buffer, to: number, most: number) => {
      const got = readSync(source, bytes, to, most, at);
      at += got;
      return got;
    };
    return { ...window, left: size - oidBytes, more };
  }
  const entries = decodeIndex(readFileSync(source), oidBytes);
  if (entries === null) return null;
  const whole = encodeIndex(entries, oidBytes);
  let at = 0;
  const more = (bytes: Buffer, to: number, most: number) => {
    const got = whole.copy(bytes, to, at, at + most);
    at += got;
    return got;
  };
  return { ...window, left: whole.length - oidBytes, more };
}

/** Moves what is in hand from `at` on to the front, and fills the window up. */
function refill(window: Window, at: number): void {
  const { bytes } = window;
  bytes.copyWithin(0, at, window.filled);
  window.filled -= at;
  while (window.left > 0 && window.filled < WINDOW_BYTES) {
    const most = Math.min(window.left, WINDOW_BYTES - window.filled);
    const got = window.more(bytes, window.filled, most);
    window.filled += got;
    window.left = got === 0 ? 0 : window.left - got;
  }
}

/** The next bytes before the window, as a piece of their own; null when the file ends before. */
function nextBytes(window: Window, length: number): Buffer | null {
  const piece = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const got = window.more(piece, at, length - at);
    if (got === 0) return null;
    at += got;
    window.left -= got;
  }
  return piece;
}

function write({ out }: Window, piece: Buffer): void {
  for (let at = 0; out !== null && at < piece.length; ) at += writeSync(out, piece, at, piece.length - at);
}

interface ReadEntries {
  /** How many are kept. */
  count: number;
  dropped: Buffer[];
  hash: string;
  hidden: Buffer[];
  sample: Buffer[];
  /** The extensions. */
  rest: Buffer;
}

function readEntries(
  window: Window,
  all: number,
  { oidBytes, excluded, present }: IndexWish,
): ReadEntries | null {
  if (all > window.left / (STAT_BYTES + oidBytes)) return null;
  const { bytes } = window;
  const read: Omit<ReadEntries, 'hash' | 'rest'> = { count: 0, dropped: [], hidden: [], sample: [] };
  const stride = Math.ceil(all / SAMPLE);
  const nameOf = (from: number, to: number) => Buffer.from(bytes.subarray(from, to));
  const fixed = STAT_BYTES + oidBytes;
  const walk: Walk = { ...window, fixed, special: firstBytes(excluded), n: 0, low: 0, high: 0 };
  let from = 0; // where the piece in hand begins
  let at = 0;
  while (walk.n < all) {
    if (at + ENTRY_BYTES > window.filled && window.left > 0) {
      write(window, bytes.subarray(from, at));
      refill(window, at);
      from = 0;
      at = 0;
    }
    const sampled = walk.n % stride === 0;
    if (!sampled) {
      const stop = Math.min(all, walk.n - (walk.n % stride) + stride);
      const before = walk.n;
      at = overPlain(walk, at, { stop, end: window.filled - (window.left > 0 ? ENTRY_BYTES : 0) });
      read.count += walk.n - before;
      if (walk.n === stop || (window.left > 0 && at + ENTRY_BYTES > window.filled)) continue;
    }
    const entry = entryAt(window, at, fixed);
    if (entry === null) return null;
    const { nameAt, nul, next } = entry;
    addName(walk, nameAt, next);
    walk.n += 1;
    if (sampled) read.sample.push(nameOf(nameAt, nul));
    if (isBelowAny(bytes, { from: nameAt, to: nul }, excluded)) {
      read.dropped.push(nameOf(nameAt, nul));
      write(window, bytes.subarray(from, at));
      from = next;
    } else {
      read.count += 1;
      uncover(at + fixed, entry);
    }
    at = next;
  }
  write(window, bytes.subarray(from, at));
  const begun = nameOf(at, window.filled);
  const end = nextBytes(window, window.left);
  const hash = `${walk.low}.${walk.high}`;
  return end === null ? null : { ...read, hash, rest: Buffer.concat([begun, end]) };

  /** Clears the marks of an entry that hide changes. */
  function uncover(flagsAt: number, { nameAt, nul }: Entry): void {
    const skipped = nameAt === flagsAt + 4 && (bytes[flagsAt + 2]! & SKIP_WORKTREE) !== 0;
    if (!skipped && (bytes[flagsAt]! & ASSUME_VALID) === 0) return;
    const name = nameOf(nameAt, nul);
    read.hidden.push(name);
    bytes[flagsAt]! &= ~ASSUME_VALID;
    if (skipped && present(name)) bytes[flagsAt + 2]! &= ~SKIP_WORKTREE;
  }
}

interface Entry {
  nameAt: number;
  /** Where its name ends. */
  nul: number;
  /** Where the next one begins. */
  next: number;
}

/** Where the parts of an entry stand; null when it is torn. */
function entryAt({ bytes, filled }: Window, at: number, fixed: number): Entry | null {
  const flagsAt = at + fixed;
  if (flagsAt + 4 > filled) return null;
  const flags = bytes[flagsAt]!;
  const nameAt = flagsAt + ((flags & EXTENDED) === 0 ? 2 : 4);
  const short = ((flags << 8) | bytes[flagsAt + 1]!) & NAME_LENGTH;
  const nul = short < NAME_LENGTH ? nameAt + short : bytes.indexOf(0, nameAt);
  if (nul < nameAt || bytes[nul] !== 0) return null;
  const next = at + ((nul - at + 8) & ~7);
  return next > filled || next - at > ENTRY_BYTES ? null : { nameAt, nul, next };
}

interface Walk {
  bytes: Buffer;
  words: Int32Array;
  /** Bytes of an entry before its flags. */
  fixed: number;
  /** By first byte of a name: 1 for what needs a closer look. */
  special: Uint8Array;
  /** How many entries lie behind. */
  n: number;
  /** Halves of the hash over their names. */
  low: number;
  high: number;
}

/**
 * Steps over entries that stay as they are; answers where the first one begins that does not, or needs a closer
 * look. Nearly all of a large index goes through here, so it is small: the compiler is done with it at once.
 */
function overPlain(walk: Walk, start: number, { stop, end }: { stop: number; end: number }): number {
  const { bytes, fixed, special } = walk;
  let at = start;
  while (walk.n < stop && at + fixed + 4 <= end) {
    const flagsAt = at + fixed;
    const flags = (bytes[flagsAt]! << 8) | bytes[flagsAt + 1]!;
    const length = flags & NAME_LENGTH;
    const next = at + ((fixed + 2 + length + 8) & ~7);
    if (flags >= EXTENDED << 8 || length === NAME_LENGTH || next > end) break;
    if (special[bytes[flagsAt + 2]!] === 1 || bytes[flagsAt + 2 + length] !== 0) break;
    addName(walk, flagsAt + 2, next);
    walk.n += 1;
    at = next;
  }
  return at;
}

/** Adds a name, with the zeros that fill it up, to the hash. By words: there are many names, and all are short. */
function addName(walk: Walk, nameAt: number, next: number): void {
  const { bytes, words } = walk;
  // A name may begin in the middle of a word.
  let hash = (nameAt & 3) === 0 ? 0 : (bytes[nameAt]! << 8) | bytes[nameAt + 1]!;
  const end = next >> 2;
  for (let word = (nameAt + 3) >> 2; word < end; word += 1) {
    hash = Math.imul(hash ^ words[word]!, 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  walk.low = Math.imul(walk.low ^ hash, 0x01000193);
  walk.high = Math.imul(walk.high + hash, 0x2c1b3c6d) ^ (walk.high >>> 13);
}

/** By byte, 1 where one of the names begins with it. */
function firstBytes(names: readonly Buffer[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const name of names) if (name.length > 0) table[name[0]!] = 1;
  return table;
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
  const into = { unknown, pieces, oidBytes };
  const end = tree.length === 0 ? -1 : readFolder({ tree, at: 0, above: null }, into);
  if (end === -1 || (unknown.size > 0 && end !== tree.length)) return Buffer.alloc(0);
  return asExtension(Buffer.concat([...pieces, tree.subarray(end)]));
}

/** The cached trees as an extension, with this one as the root, and so many entries in it. */
function withRoot(tree: Buffer, { count, root }: { count: number; root: Buffer }): Buffer {
  const line = tree.indexOf(0x0a);
  const folders = tree.toString('latin1', tree.indexOf(0x20), line + 1);
  const head = Buffer.from(`\0${count}${folders}`, 'latin1');
  return asExtension(Buffer.concat([head, root, tree.subarray(line + 1 + root.length)]));
}

function asExtension(body: Buffer): Buffer {
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
  /** Folders to be marked that were not met yet. */
  unknown: Set<string>;
  pieces: Buffer[];
  oidBytes: number;
}

/**
 * One folder and those in it: `name NUL count SP subfolders LF [oid]`. Answers where it ends, -1 if torn, or how
 * far it had to read: what follows the last folder to be marked stays as it is.
 */
function readFolder(
  { tree, at, above }: { tree: Buffer; at: number; above: string | null },
  into: Rewriting,
): number {
  if (into.unknown.size === 0) return at;
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
  const marked = into.unknown.delete(path);
  into.pieces.push(marked ? Buffer.from(`${name}\0-1 ${counts[2]}\n`, 'latin1') : tree.subarray(at, oidEnd));
  let next = oidEnd;
  for (let n = Number(counts[2]); n > 0 && next !== -1 && into.unknown.size > 0; n -= 1) {
    next = readFolder({ tree, at: next, above: path }, into);
  }
  return next;
}
