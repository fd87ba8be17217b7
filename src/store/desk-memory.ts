/**
 * What we last put on the desk: which questions stood in which file, in which words. A person's edit can
 * only be read against that, also by the next process, so it is kept in the session's folder. Without it
 * a file that is gone would clear questions that never stood in it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DeskEntry, writeBlocked, writeDecide } from '../dialects/index.ts';
import type { DeskFile } from '../engine/index.ts';
import { atomicWrite } from './disk.ts';

/** One state of a desk file as we wrote it. */
export interface Shown {
  entries: DeskEntry[];
  /** Words of people that belong to no open question any more; they stay in the file. */
  kept: string;
  /** When the words in it that nobody has taken as an answer yet were written, epoch ms; absent: there are none. */
  draftedAt?: number;
}

export interface DeskMemory {
  /**
   * What stands in the file: nothing, one state, or two where a crash came between. null: nobody knows,
   * because the notes are gone.
   */
  of(file: DeskFile): Shown[] | null;
  set(file: DeskFile, shown: Shown[]): Promise<void>;
}

/** The memory of one session's desk. */
export function openDeskMemory(sessionDir: string): DeskMemory {
  const place = join(sessionDir, 'desk', 'shown.json');
  const notes = readNotes(place);
  const known = notes ?? new Map<DeskFile, Shown[]>();
  const unknown = new Set<DeskFile>(notes === null ? DESK_FILES : []);
  return {
    of: (file) => (unknown.has(file) ? null : (known.get(file) ?? [])),
    async set(file, shown) {
      unknown.delete(file);
      known.set(file, shown);
      const text = `${JSON.stringify({ v: 1, files: Object.fromEntries(known) }, null, 2)}\n`;
      await atomicWrite(place, text, { within: sessionDir });
    },
  };
}

/** Both files of the desk, in the order they are looked at. */
export const DESK_FILES: readonly DeskFile[] = ['blocked.txt', 'decide.txt'];

function readNotes(place: string): Map<DeskFile, Shown[]> | null {
  try {
    const value = JSON.parse(readFileSync(place, 'utf8')) as { files?: Record<string, unknown> };
    const files = Object.entries(value.files ?? {}).filter(([, shown]) => isShownList(shown));
    return new Map(files as [DeskFile, Shown[]][]);
  } catch {
    // Not there, cut short or edited: then nothing of it may be relied on.
    return null;
  }
}

function isShownList(value: unknown): value is Shown[] {
  return (
    Array.isArray(value) &&
    value.every((shown: Partial<Shown> | null) => {
      return Array.isArray(shown?.entries) && shown.entries.every(isEntry) && typeof shown.kept === 'string';
    })
  );
}

function isEntry(value: Partial<DeskEntry> | null): boolean {
  return typeof value?.id === 'string' && typeof value.text === 'string' && Number.isFinite(value.askedAt);
}

/** The text of a desk file in this state. */
export function textOf(file: DeskFile, { entries, kept }: Shown): string {
  const written = file === 'blocked.txt' ? writeBlocked(entries) : writeDecide(entries);
  return kept === '' ? written : `${written}\n${keptPart(kept)}`;
}

const KEPT = 'Found in this file when it was written anew; nobody has read it as an answer:';

/** A comment, indented, so that no reader takes a line of it for an answer or for structure. */
function keptPart(kept: string): string {
  const lines = kept.split('\n').map((line) => `    ${line.replaceAll('-->', '-- >').trimEnd()}`);
  return `<!-- ${KEPT}\n${lines.join('\n')}\n-->\n`;
}
