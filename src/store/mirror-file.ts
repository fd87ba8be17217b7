/**
 * Mirrors on disk. A mirror may be lost at any time, so it is written whole but not synced; what is
 * remembered is how the file looked when we left it, so that an untouched one costs a single look.
 * The files are small and the system only buffers them, so nothing here waits: on a busy machine a trip
 * through the thread pool takes a hundred times as long as the write.
 */
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { clearWay, diskError, errorCode, temporaryName } from './disk.ts';

/** What became of a file since we left it. `unknown`: this process has not drawn it yet. */
export type Standing = 'ours' | 'missing' | 'changed' | 'unknown';

/** A mirror that is replaced as a whole. */
export interface WholeMirror {
  standing(): Standing;
  /** Makes the file say this; no write where it does. */
  draw(text: string): void;
  /** Makes the file say what was drawn last, if anything was. */
  keep(): void;
  /** The text on disk; null where there is none. */
  text(): string | null;
}

/** A mirror that grows by lines. */
export interface GrowingMirror {
  /**
   * Adds lines to an untouched file. A file that is missing, torn, changed or not drawn by this process
   * gets `whole()` instead, which tells everything, these lines too; empty: there is nothing to draw yet.
   */
  grow(lines: string, whole: () => string): void;
}

function identityOf(file: string): string | null {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`;
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

function textAt(file: string): string | null {
  try {
    // A pipe would be waited for, and a link's text is somebody else's.
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return null;
    throw error;
  }
}

/** The old file or the new one, never half of either; after a power cut it is drawn again. */
function replace(root: string, file: string, text: string): void {
  clearWay(root, file);
  const temporary = temporaryName(file);
  try {
    writeNew(temporary, text);
    renameSync(temporary, file);
  } catch (error) {
    try {
      unlinkSync(temporary);
    } catch {
      // It was never made.
    }
    throw diskError(error, file);
  }
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  }
}

/** A mirror at this path; from `root` on the way there is ours. */
export function wholeMirror(file: string, root = dirname(file)): WholeMirror {
  let last: { text: string; identity: string | null } | null = null;

  function standing(): Standing {
    if (last === null) return 'unknown';
    const now = identityOf(file);
    if (now === null) return 'missing';
    return now === last.identity ? 'ours' : 'changed';
  }

  function draw(text: string): void {
    const ours = standing() === 'ours';
    if (ours && last?.text === text) return;
    if (ours || textAt(file) !== text) replace(root, file, text);
    last = { text, identity: identityOf(file) };
  }

  return {
    standing,
    draw,
    text: () => (standing() === 'ours' ? last!.text : textAt(file)),
    keep() {
      if (last !== null) draw(last.text);
    },
  };
}

/** A growing mirror at this path; from `root` on the way there is ours. */
export function growingMirror(file: string, root = dirname(file)): GrowingMirror {
  /** How the file looked when we left it; undefined: not drawn, or a write failed half-way. */
  let left: string | null | undefined;

  function append(lines: string): void {
    left = undefined;
    try {
      appendFileSync(file, lines);
    } catch (error) {
      throw diskError(error, file);
    }
    left = identityOf(file);
  }

  function drawWhole(text: string): void {
    left = undefined;
    if (text !== '' && textAt(file) !== text) replace(root, file, text);
    left = identityOf(file);
  }

  return {
    grow(lines, whole) {
      const untouched = left !== undefined && identityOf(file) === left;
      if (untouched && lines === '') return;
      if (untouched && left !== null) append(lines);
      else drawWhole(whole());
    },
  };
}
