/**
 * Mirrors on disk. A mirror may be lost at any time, so it is written whole but not synced; what is
 * remembered is how the file looked when we left it, so that an untouched one costs a single look.
 */
import { statSync } from 'node:fs';
import { appendFile, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskError, errorCode, temporaryName } from './disk.ts';

/** What became of a file since we left it. `unknown`: this process has not drawn it yet. */
export type Standing = 'ours' | 'missing' | 'changed' | 'unknown';

/** A mirror that is replaced as a whole. */
export interface WholeMirror {
  standing(): Standing;
  /** Makes the file say this; no write where it does. */
  draw(text: string): Promise<void>;
  /** Makes the file say what was drawn last, if anything was. */
  keep(): Promise<void>;
  /** The text on disk; null where there is none. */
  text(): Promise<string | null>;
}

/** A mirror that grows by lines. */
export interface GrowingMirror {
  /**
   * Adds lines to an untouched file. A file that is missing, torn, changed or not drawn by this process
   * gets `whole()` instead, which tells everything, these lines too; empty: there is nothing to draw yet.
   */
  grow(lines: string, whole: () => string): Promise<void>;
}

function identityOf(file: string): string | null {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`;
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

async function textAt(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return null;
    throw error;
  }
}

/** The old file or the new one, never half of either; after a power cut it is drawn again. */
async function replace(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = temporaryName(file);
  try {
    const handle = await open(temporary, 'wx', 0o666);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw diskError(error, file);
  }
}

/** A mirror at this path. */
export function wholeMirror(file: string): WholeMirror {
  let last: { text: string; identity: string | null } | null = null;

  function standing(): Standing {
    if (last === null) return 'unknown';
    const now = identityOf(file);
    if (now === null) return 'missing';
    return now === last.identity ? 'ours' : 'changed';
  }

  async function draw(text: string): Promise<void> {
    if (last?.text === text && standing() === 'ours') return;
    if ((await textAt(file)) !== text) await replace(file, text);
    last = { text, identity: identityOf(file) };
  }

  return {
    standing,
    draw,
    text: () => textAt(file),
    async keep() {
      if (last !== null) await draw(last.text);
    },
  };
}

/** A growing mirror at this path. */
export function growingMirror(file: string): GrowingMirror {
  /** How the file looked when we left it; undefined: not drawn, or a write failed half-way. */
  let left: string | null | undefined;

  async function append(lines: string): Promise<void> {
    left = undefined;
    try {
      await appendFile(file, lines);
    } catch (error) {
      throw diskError(error, file);
    }
    left = identityOf(file);
  }

  async function drawWhole(text: string): Promise<void> {
    left = undefined;
    if (text !== '' && (await textAt(file)) !== text) await replace(file, text);
    left = identityOf(file);
  }

  return {
    async grow(lines, whole) {
      const untouched = left !== undefined && identityOf(file) === left;
      if (untouched && lines === '') return;
      if (untouched && left !== null) return append(lines);
      return drawWhole(whole());
    },
  };
}
