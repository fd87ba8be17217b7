/**
 * What a window sees of a session: the state its journal adds up to. Folding a long journal takes half a
 * second, so a window that had much to fold leaves its result beside the journal and the next one goes
 * on from there.
 *
 * The kept fold is nobody's truth: runners read the journal itself, whole and checked. It counts only for
 * the program that made it, and only where the journal still holds the line it ends with. Its file has
 * three lines: what it is, the state without old attempts, and those, which few windows ask for.
 */
import {
  closeSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type AttemptState, emptyState, evolve, type JournalRecord, type State } from '../core/index.ts';
import { hearRecord, type MessageStory } from '../views/index.ts';
import { CHAIN_START, type ChainEnd, scanChain, sha256 } from './chain.ts';
import { errorCode, temporaryName } from './disk.ts';
import { LazyMap } from './lazy-map.ts';

export interface Folded {
  state: State;
  /** Messages and what became of them, the newest last, at most 200. */
  messages: MessageStory[];
}

/** The first line of the file. */
interface Label {
  build: string;
  end: ChainEnd;
  /** Bytes of the second and the third line, newlines included. */
  bytes: [number, number];
  oldAttempts: { count: number; upTo: number };
}

/** One session's folder and the build that reads it. */
interface Place {
  journal: string;
  cache: string;
  /** Names the program's code; null: nothing is kept. */
  build: string | null;
}

const LABEL_BYTES = 4_096;
/** Fewer records than this are folded again each time: reading the kept fold would cost as much. */
const WORTH_RECORDS = 5_000;

/**
 * Folds one session's journal for reading; a torn tail is passed by, a missing file is an empty session.
 * `build` names the program's code, null where it has no name: then nothing is kept. Throws Problems as
 * `readChain` does.
 */
export function foldSession(dir: string, build: string | null): Folded {
  const place = { journal: join(dir, 'journal.jsonl'), cache: join(dir, 'fold.cache'), build };
  let fd: number;
  try {
    fd = openSync(place.journal, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return empty();
    throw error;
  }
  try {
    const kept = build === null ? null : readKept(place, fd);
    const { end: start, folded } = kept ?? { end: CHAIN_START, folded: empty() };
    const { end } = scanChain({ file: place.journal, fd, start, record: (record) => take(folded, record) });
    if (build !== null && end.seq - start.seq >= WORTH_RECORDS) keep({ ...place, build }, end, folded);
    return folded;
  } finally {
    closeSync(fd);
  }
}

function empty(): Folded {
  return { state: emptyState(), messages: [] };
}

function take({ state, messages }: Folded, record: JournalRecord): void {
  evolve(state, record);
  hearRecord(messages, record);
}

/** The kept fold; null where there is none that counts. */
function readKept(place: Place, journal: number): { end: ChainEnd; folded: Folded } | null {
  const labelled = openKept(place.cache);
  if (labelled === null) return null;
  const { fd, label, text } = labelled;
  try {
    if (label.build !== place.build || !stillThere(journal, label.end)) return null;
    const [second, third] = label.bytes;
    if (fstatSync(fd).size !== Buffer.byteLength(text) + second + third) return null;
    const recent = JSON.parse(bytesAt(fd, Buffer.byteLength(text), label.bytes[0])) as Packed;
    const { count, upTo } = label.oldAttempts;
    const attempts = new LazyMap(recent.state.attempts as [number, AttemptState][], {
      count,
      may: (iteration) => iteration <= upTo,
      load: () => oldAttempts(place, text),
    });
    const state = unpack(recent.state);
    return { end: label.end, folded: { state: { ...state, attempts }, messages: recent.messages } };
  } catch {
    return null; // cut by a full disk: it is made again
  } finally {
    closeSync(fd);
  }
}

interface Packed {
  state: Record<string, unknown>;
  messages: MessageStory[];
}

function openKept(file: string): { fd: number; label: Label; text: string } | null {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch {
    return null;
  }
  try {
    const start = bytesAt(fd, 0, LABEL_BYTES);
    const text = start.slice(0, start.indexOf('\n') + 1);
    return { fd, text, label: JSON.parse(text) as Label };
  } catch {
    closeSync(fd);
    return null;
  }
}

function bytesAt(fd: number, position: number, length: number): string {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.toString('utf8', 0, readSync(fd, buffer, 0, length, position));
}

/** Whether the journal still has, at that place, the line with that hash. */
function stillThere(fd: number, { bytes, lastBytes, prev }: ChainEnd): boolean {
  const line = Buffer.alloc(lastBytes);
  const read = readSync(fd, line, 0, lastBytes, bytes - lastBytes);
  return read === lastBytes && line.at(-1) === 0x0a && sha256(line.subarray(0, -1)) === prev;
}

/** The third line, or the journal itself where another window has put another file there meanwhile. */
function oldAttempts(place: Place, text: string): Iterable<[number, AttemptState]> {
  const { end, bytes, oldAttempts: old } = JSON.parse(text) as Label;
  const kept = openKept(place.cache);
  if (kept !== null) {
    try {
      if (kept.text === text) {
        const third = bytesAt(kept.fd, Buffer.byteLength(text) + bytes[0], bytes[1]);
        return JSON.parse(third) as [number, AttemptState][];
      }
    } catch {
      // Damaged: it goes, so that the next window makes it again.
      rmSync(place.cache, { force: true });
    } finally {
      closeSync(kept.fd);
    }
  }
  const { state } = foldSession(join(place.journal, '..'), null);
  return [...state.attempts].filter(([iteration]) => iteration <= old.upTo && end.seq <= state.seq);
}

/** Maps and sets stand as lists; which those are, the empty state tells. */
function unpack(packed: Record<string, unknown>): State {
  const state: Record<string, unknown> = { ...emptyState(), ...packed };
  for (const [key, value] of Object.entries(emptyState())) {
    if (value instanceof Map) state[key] = new Map(state[key] as [unknown, unknown][]);
    else if (value instanceof Set) state[key] = new Set(state[key] as unknown[]);
  }
  return state as unknown as State;
}

function pack(state: State): Record<string, unknown> {
  const lists = Object.entries(state).map(([key, value]) => {
    return [key, value instanceof Map || value instanceof Set ? [...value] : value];
  });
  return Object.fromEntries(lists) as Record<string, unknown>;
}

/** From this iteration on attempts are recent: what is still open, and the last of every task at work. */
function recentFrom(state: State): number {
  const first = Math.min(...state.open, ...(state.wave?.started ?? []), state.lastIteration);
  return Math.max(1, first - 100);
}

function keep(place: Place & { build: string }, end: ChainEnd, { state, messages }: Folded): void {
  const from = recentFrom(state);
  const attempts = [...state.attempts];
  const old = attempts.filter(([iteration]) => iteration < from);
  const recent = { state: pack({ ...state, attempts: new Map(attempts.slice(old.length)) }), messages };
  const lines = [`${JSON.stringify(recent)}\n`, `${JSON.stringify(old)}\n`] as const;
  const label: Label = {
    build: place.build,
    end,
    bytes: [Buffer.byteLength(lines[0]), Buffer.byteLength(lines[1])],
    oldAttempts: { count: old.length, upTo: from - 1 },
  };
  const temporary = temporaryName(place.cache);
  try {
    writeFileSync(temporary, [JSON.stringify(label), '\n', ...lines].join(''), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, place.cache);
  } catch {
    // A folder that only may be read, or a full disk: the next window folds again.
    try {
      unlinkSync(temporary);
    } catch {
      // It was never made.
    }
  }
}
