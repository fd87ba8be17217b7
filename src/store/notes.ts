/**
 * What the project journal knows of the behaviour of agents: a note on each judged iteration, and resets that
 * hide what came before them.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { IterationNote } from '../views/index.ts';
import { errorCode } from './disk.ts';
import { type ProjectRecord, projectFiles, readProjectLine } from './project.ts';

/** The project journal's record types about the behaviour of agents. A reset hides what came before it. */
export const ITERATION_NOTED = 'iteration.noted';
export const INTERVENTIONS_RESET = 'interventions.reset';

/** A record as the note it is; null for any other, and for one that was edited into something else. */
export function readNote(record: ProjectRecord): IterationNote | null {
  if (record.type !== ITERATION_NOTED) return null;
  // Ten thousand of them are read in one command: the record itself becomes the note.
  const read = record as Partial<IterationNote>;
  const whole =
    typeof read.session === 'string' &&
    typeof read.iteration === 'number' &&
    typeof read.agent === 'string' &&
    typeof read.outcome === 'string' &&
    typeof read.files === 'number' &&
    typeof read.evidence === 'number' &&
    typeof read.durationMs === 'number' &&
    typeof read.thresholds?.noFiles === 'number' &&
    typeof read.thresholds.falseCompletion === 'number' &&
    Array.isArray(read.events) &&
    read.events.every((event) => typeof event?.event_type === 'string');
  if (!whole) return null;
  for (const event of read.events!) event.details ??= {} as (typeof event)['details'];
  return read as IterationNote;
}

/** The notes of a project, to be read once, and the lines among them that could not be read. */
export interface Notes {
  /** Every note since the last reset, oldest first, read as they are asked for. */
  notes: Iterable<IterationNote>;
  /** As `journal.jsonl:7`; complete when the notes are at their end. */
  unreadable: string[];
}

export function readNotes(mainDir: string): Notes {
  const unreadable: string[] = [];
  return { notes: notesIn(projectFiles(mainDir), unreadable), unreadable };
}

function* notesIn(files: string[], unreadable: string[]): Generator<IterationNote> {
  const parts: Part[] = [];
  for (const file of files.toReversed()) {
    const bytes = bytesOf(file);
    const starts = startsOf(bytes);
    const reset = lastReset(bytes, starts);
    parts.unshift({ file, bytes, starts, from: reset + 1 });
    if (reset !== -1) break;
  }
  for (const { file, bytes, starts, from } of parts) {
    for (let n = from; n < starts.length; n++) {
      const line = bytes.toString('utf8', starts[n], starts[n + 1] ?? bytes.length);
      const record = readProjectLine(line);
      const note = record === null ? null : readNote(record);
      if (note !== null) yield note;
      else if (record === null && line.trim() !== '') unreadable.push(`${basename(file)}:${n + 1}`);
    }
  }
}

interface Part {
  file: string;
  bytes: Buffer;
  /** Where each line begins. */
  starts: number[];
  /** The first line that counts, from 0. */
  from: number;
}

function startsOf(bytes: Buffer): number[] {
  const starts = bytes.length === 0 ? [] : [0];
  for (
    let end = bytes.indexOf(0x0a);
    end !== -1 && end + 1 < bytes.length;
    end = bytes.indexOf(0x0a, end + 1)
  )
    starts.push(end + 1);
  return starts;
}

/** A reset is short, and nearly all that is not short is a note. */
const RESET_BYTES = 500;

/** The last line that is a reset, from 0; -1 where there is none. */
function lastReset(bytes: Buffer, starts: readonly number[]): number {
  for (let n = starts.length - 1; n >= 0; n--) {
    const [start, end] = [starts[n]!, starts[n + 1] ?? bytes.length];
    if (end - start > RESET_BYTES) continue;
    const line = bytes.toString('utf8', start, end);
    if (line.includes(INTERVENTIONS_RESET) && readProjectLine(line)?.type === INTERVENTIONS_RESET) return n;
  }
  return -1;
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
