/**
 * A mirror that a crash tore, or that something else wrote over, is put beside itself before it is drawn
 * again: the journal has all it can show, and somebody may want to see what happened to it.
 */
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { diskError, errorCode } from './disk.ts';

/** Copies of one mirror that are kept at most. */
const MOST = 20;

/** What a behaviour mirror holds under `key`; each has a type of its own. */
export interface MirrorShape {
  key: 'events' | 'agents';
  /** Whether an entry can be read. */
  isWhole: (entry: unknown) => boolean;
}

export const EVENTS_SHAPE: MirrorShape = {
  key: 'events',
  isWhole: (entry) => isObject(entry) && typeof entry.event_type === 'string',
};
export const PROFILES_SHAPE: MirrorShape = { key: 'agents', isWhole: isObject };

/**
 * Puts what cannot be read aside and answers the words for a person; null where the file is whole or not
 * there. The damaged file itself stays, to be replaced by the next drawing.
 */
export function setDamagedAside(file: string, shape: MirrorShape): string | null {
  let bytes: Buffer;
  try {
    // Anything but a file is put out of the way by the drawing; a pipe would be waited for.
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
    bytes = readFileSync(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return null;
    throw error;
  }
  const damage = damageOf(bytes.toString('utf8'), shape);
  if (damage === null) return null;
  const named = `.ralph/${basename(dirname(file))}/${basename(file)}`;
  const kept = bytes.length === 0 ? null : keep(file, bytes);
  const aside = kept === null ? '' : `; what it said is kept as ${basename(kept)} beside it`;
  return `${named} was damaged: ${damage}${aside}. It is drawn again from .ralph/journal.jsonl, which holds every event.`;
}

function damageOf(text: string, { key, isWhole }: MirrorShape): string | null {
  if (text.trim() === '') return 'it was empty';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it was no whole JSON';
  }
  const held = isObject(value) ? value[key] : undefined;
  if (!isObject(held) && !Array.isArray(held)) return `it held no "${key}"`;
  const entries = Object.values(held);
  const bad = entries.filter((entry) => !isWhole(entry)).length;
  if (bad === 0) return null;
  return `${bad} of its ${entries.length} ${key} could not be read, ${entries.length - bad} could`;
}

/** The copy's path; null where there are too many already. Two processes that see the same damage make one. */
function keep(file: string, bytes: Buffer): string | null {
  for (let n = 1; n <= MOST; n++) {
    const aside = join(dirname(file), `${basename(file)}.damaged-${n}`);
    try {
      writeFileSync(aside, bytes, { flag: 'wx', mode: 0o600 });
      return aside;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw diskError(error, aside);
      if (readFileSync(aside).equals(bytes)) return aside;
    }
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
