/**
 * What a window sees of a session: the state its journal adds up to. Folding a long journal takes half a
 * second, so a window that had much to fold leaves its result beside the journal and the next one goes
 * on from there.
 *
 * The kept fold is nobody's truth: runners read the journal itself, whole and checked. It counts only for
 * the program that made it, and only where the journal still holds the line it ends with.
 */
import { isAscii } from 'node:buffer';
import { closeSync, openSync, readFileSync, readSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyState, evolve, type JournalRecord, type State } from '../core/index.ts';
import { hearRecord, type MessageStory } from '../views/index.ts';
import { CHAIN_START, type ChainEnd, scanChain, sha256 } from './chain.ts';
import { errorCode, temporaryName } from './disk.ts';

export interface Folded {
  state: State;
  /** Messages and what became of them, the newest last, at most 200. */
  messages: MessageStory[];
}

interface Kept {
  end: ChainEnd;
  folded: Folded;
}

const KEPT_FILE = 'fold.cache';
/** Fewer records than this are folded again each time: reading the kept fold would cost as much. */
const WORTH_RECORDS = 5_000;

/**
 * Folds one session's journal for reading; a torn tail is passed by, a missing file is an empty session.
 * `build` names the program's code, null where it has no name: then nothing is kept. Throws Problems as
 * `readChain` does.
 */
export function foldSession(dir: string, build: string | null): Folded {
  const file = join(dir, 'journal.jsonl');
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { state: emptyState(), messages: [] };
    throw error;
  }
  try {
    const kept = build === null ? null : readKept(join(dir, KEPT_FILE), build);
    const { end: start, folded } =
      kept !== null && stillThere(fd, kept.end)
        ? kept
        : { end: CHAIN_START, folded: { state: emptyState(), messages: [] } };
    const record = (record: JournalRecord) => {
      evolve(folded.state, record);
      hearRecord(folded.messages, record);
    };
    const { end } = scanChain({ file, fd, start, record });
    if (build !== null && end.seq - start.seq >= WORTH_RECORDS)
      keep(join(dir, KEPT_FILE), build, { end, folded });
    return folded;
  } finally {
    closeSync(fd);
  }
}

/** Whether the journal still has, at that place, the line with that hash. */
function stillThere(fd: number, { bytes, lastBytes, prev }: ChainEnd): boolean {
  const line = Buffer.alloc(lastBytes);
  const read = readSync(fd, line, 0, lastBytes, bytes - lastBytes);
  return read === lastBytes && line.at(-1) === 0x0a && sha256(line.subarray(0, -1)) === prev;
}

function readKept(file: string, build: string): Kept | null {
  try {
    const bytes = readFileSync(file);
    const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
    const kept = JSON.parse(text) as {
      build: string;
      end: ChainEnd;
      state: object;
      messages: MessageStory[];
    };
    if (kept.build !== build) return null;
    return { end: kept.end, folded: { state: unpack(kept.state), messages: kept.messages } };
  } catch {
    return null; // missing, or cut by a full disk: it is made again
  }
}

/** Maps and sets stand as lists; which those are, the empty state tells. */
function unpack(packed: object): State {
  const state = { ...emptyState(), ...packed } as Record<string, unknown>;
  for (const [key, empty] of Object.entries(emptyState())) {
    if (empty instanceof Map) state[key] = new Map(state[key] as [unknown, unknown][]);
    else if (empty instanceof Set) state[key] = new Set(state[key] as unknown[]);
  }
  return state as unknown as State;
}

function pack(state: State): object {
  const lists = Object.entries(state).map(([key, value]) => {
    return [key, value instanceof Map || value instanceof Set ? [...value] : value];
  });
  return Object.fromEntries(lists);
}

function keep(file: string, build: string, { end, folded }: Kept): void {
  const temporary = temporaryName(file);
  try {
    const content = { build, end, state: pack(folded.state), messages: folded.messages };
    writeFileSync(temporary, JSON.stringify(content), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, file);
  } catch {
    // A folder that only may be read, or a full disk: the next window folds again.
    try {
      unlinkSync(temporary);
    } catch {
      // It was never made.
    }
  }
}
