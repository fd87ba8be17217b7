/**
 * One folder, looked at and never walked: its names are listed once, and single files are read within
 * bounds. A repository of a hundred thousand files costs a look no more than a small one.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A manifest is some kilobytes; what is larger is something else. */
const LARGEST_BYTES = 1_048_576;

/** What a look may ask of a folder. Nothing throws: what cannot be read is not there. */
export interface Folder {
  /** Absolute. */
  dir: string;
  /** True for a name that lies directly in it, whatever it is. */
  has(name: string): boolean;
  /** The names directly in it, sorted; in a folder below it where one is named. */
  names(below?: string): string[];
  /** A text file's content; null where there is none, it is no plain file, or it is larger than `limit`. */
  read(path: string, limit?: number): string | null;
  /** True for a plain file that lies there, links followed. */
  isFile(path: string): boolean;
  isFolder(path: string): boolean;
}

/** Opens a folder for looking. */
export function openFolder(dir: string): Folder {
  const listed = new Map<string, string[]>();
  const names = (below = ''): string[] => {
    const known = listed.get(below) ?? namesIn(join(dir, below));
    listed.set(below, known);
    return known;
  };
  let here: Set<string> | null = null;
  const kind = (path: string) => kindOf(join(dir, path));
  return {
    dir,
    names,
    has(name) {
      here ??= new Set(names());
      return here.has(name);
    },
    read: (path, limit = LARGEST_BYTES) => readWithin(join(dir, path), limit),
    isFile: (path) => kind(path) === 'file',
    isFolder: (path) => kind(path) === 'folder',
  };
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}

function kindOf(path: string): 'file' | 'folder' | 'other' {
  try {
    const found = statSync(path);
    return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
  } catch {
    return 'other';
  }
}

/** Looks before it opens: a pipe would never end. A byte order mark is no part of the text. */
function readWithin(path: string, limit: number): string | null {
  let handle: number | null = null;
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > limit) return null;
    handle = openSync(path, 'r');
    const bytes = Buffer.alloc(found.size);
    const length = readSync(handle, bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, length).replace(/^\ufeff/, '');
  } catch {
    return null;
  } finally {
    if (handle !== null) closeSync(handle);
  }
}
