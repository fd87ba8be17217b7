/**
 * Paths as git has them are bytes; facts hold text. Bytes that are no UTF-8 become lone surrogates
 * U+DC80…U+DCFF (as Python's `surrogateescape` does), which JSON keeps, so every name comes back exactly.
 */
import { Buffer } from 'node:buffer';

const LONE = /[\u{dc80}-\u{dcff}]/u;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of a path's bytes; loses nothing. */
export function pathText(bytes: Uint8Array): string {
  const quick = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (!quick.includes('\ufffd')) return quick;
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    text +=
      length === 0
        ? String.fromCharCode(0xdc00 + bytes[at]!)
        : strict.decode(bytes.subarray(at, at + length));
    at += Math.max(length, 1);
  }
  return text;
}

/** Bytes of the UTF-8 character at `at`; 0 when there is none. */
function characterLength(bytes: Uint8Array, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    try {
      strict.decode(bytes.subarray(at, at + length));
      return length;
    } catch {
      // Not a whole character yet; a longer piece may be.
    }
  }
  return 0;
}

/** The bytes `pathText` was made from. */
export function pathBytes(text: string): Buffer {
  if (!LONE.test(text)) return Buffer.from(text, 'utf8');
  const pieces: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const lone = code >= 0xdc80 && code <= 0xdcff;
    pieces.push(lone ? Buffer.from([code - 0xdc00]) : Buffer.from(character, 'utf8'));
  }
  return Buffer.concat(pieces);
}

/** True when the name fits a command line argument, which node can only write as UTF-8. */
export function isPlainText(path: string): boolean {
  return !LONE.test(path);
}

/** The absolute path as bytes, for `node:fs`. */
export function absolutePath(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), pathBytes(path)]);
}

/** Each path ended by NUL, the form git reads exactly. */
export function nulList(paths: readonly string[]): Buffer {
  const nul = Buffer.from([0]);
  return Buffer.concat(paths.flatMap((path) => [pathBytes(path), nul]));
}

/** A relative path that stays below its root and out of git's own folder. */
export function isInside(path: string): boolean {
  if (path === '' || path.includes('\0')) return false;
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git');
}

/** Folders above a relative path, outermost first: `a/b/c` → `a`, `a/b`. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}

/** True when `path` is `folder` or lies below it. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
