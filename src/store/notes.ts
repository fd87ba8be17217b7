/**
 * What the project journal knows of the behaviour of agents: a note on each judged iteration, and resets that
 * hide what came before them.
 */
import { basename } from 'node:path';
import type { IterationNote } from '../views/index.ts';
import type { BadLine } from './bad-lines.ts';
import { isWholeNews } from './loop-news.ts';
import {
  badLine,
  lineStarts,
  type ProjectRecord,
  projectBytes,
  projectFiles,
  readProjectLine,
} from './project.ts';

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
    read.events.every(isEvent);
  if (!whole) return null;
  for (const event of read.events!) event.details = { ...NOTHING_TOLD, ...event.details };
  return read as IterationNote;
}

/** What an older Ralph did not say of an event. */
const NOTHING_TOLD = { task_id: null, finding: null, detail: '' };

function isEvent(event: Partial<IterationNote['events'][number]> | null): boolean {
  if (typeof event?.event_type !== 'string') return false;
  const { task_id, finding, detail } = { ...NOTHING_TOLD, ...event.details };
  return (
    [task_id, finding, detail].every((value) => value === null || typeof value === 'string') &&
    detail !== null
  );
}

/** False for a note or for news of a loop that was edited into something else; others are whole as they are. */
export function isWholeRecord(record: ProjectRecord): boolean {
  return isWholeNews(record) && (record.type !== ITERATION_NOTED || readNote(record) !== null);
}

/** The notes of a project, to be read once, and the lines among them that could not be read. */
export interface Notes {
  /** Every note since the last reset, oldest first, read as they are asked for. */
  notes: Iterable<IterationNote>;
  /** Complete when the notes are at their end. */
  bad: BadLine[];
}

export function readNotes(mainDir: string): Notes {
  const bad: BadLine[] = [];
  return { notes: notesIn(projectFiles(mainDir, { compressed: true }), bad), bad };
}

function* notesIn(files: string[], bad: BadLine[]): Generator<IterationNote> {
  const parts: Part[] = [];
  for (const file of files.toReversed()) {
    const bytes = projectBytes(file);
    if (bytes === null) {
      // It is known by its name: none of its lines can be.
      bad.push({ place: basename(file), bytes: Buffer.from(basename(file)) });
      continue;
    }
    const starts = lineStarts(bytes);
    const reset = lastReset(bytes, starts);
    parts.unshift({ file, bytes, starts, from: reset + 1 });
    if (reset !== -1) break;
  }
  for (const { file, bytes, starts, from } of parts) {
    for (let n = from; n < starts.length; n++) {
      const record = readProjectLine(bytes.toString('utf8', starts[n], starts[n + 1] ?? bytes.length));
      const note = record === null ? null : readNote(record);
      if (note !== null) yield note;
      else if (record === null || record.type === ITERATION_NOTED)
        bad.push(...[badLine(file, bytes, starts, n)].flatMap((one) => one ?? []));
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
