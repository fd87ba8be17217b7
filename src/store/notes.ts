/**
 * What the project journal knows of the behaviour of agents: a note on each judged iteration, and resets that
 * hide what came before them.
 */
import type { IterationNote } from '../views/index.ts';
import { type ProjectRecord, readProject } from './project.ts';

/** The project journal's record types about the behaviour of agents. A reset hides what came before it. */
export const ITERATION_NOTED = 'iteration.noted';
export const INTERVENTIONS_RESET = 'interventions.reset';

/** A record as the note it is; null for any other, and for one that was edited into something else. */
export function readNote(record: ProjectRecord): IterationNote | null {
  if (record.type !== ITERATION_NOTED) return null;
  const { v: _, type: __, n: ___, ...note } = record;
  const read = note as Partial<IterationNote>;
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
  return whole
    ? {
        ...(read as IterationNote),
        events: read.events!.map((event) => ({ ...event, details: event.details ?? {} })),
      }
    : null;
}

/** Every note since the last reset, oldest first, and the lines that could not be read. */
export function readNotes(mainDir: string): { notes: IterationNote[]; unreadable: string[] } {
  const { records, unreadable } = readProject(mainDir);
  const reset = records.findLastIndex((record) => record.type === INTERVENTIONS_RESET);
  const notes: IterationNote[] = [];
  for (const record of records.slice(reset + 1)) {
    const note = readNote(record);
    if (note !== null) notes.push(note);
  }
  return { notes, unreadable };
}
