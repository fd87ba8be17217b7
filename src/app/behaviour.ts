/** How agents behaved in this project: the events and the profiles that outlive sessions. */
import type { Durations } from '../core/index.ts';
import { readNotes, setLinesAside } from '../store/index.ts';
import {
  type InterventionJson,
  newSequel,
  notedEvents,
  type ProfileJson,
  profilesOf,
  type Sequel,
  sequelOf,
  sessionEvents,
  verifiedDurations,
} from '../views/index.ts';
import { findPlace } from './place.ts';

/** Intervention events, to be read once. */
export interface Events {
  /** Oldest first, read as they are asked for. */
  events: Iterable<InterventionJson>;
  /** Sets lines aside that could not be read, once the events are at their end; words for a person, null: none. */
  setAside(): string | null;
  /** Who was given a prompt after each; complete when the events are at their end. */
  sequel: Sequel;
}

/**
 * Every intervention event since the last reset: of the project, or with `session` of that one session
 * whatever was reset.
 */
export async function interventionEvents(cwd: string, session?: string): Promise<Events> {
  if (session !== undefined) {
    // Only this needs to know how sessions are read.
    const { openWindow } = await import('./windows.ts');
    const { story } = await openWindow(cwd, session);
    return { events: sessionEvents(story), setAside: () => null, sequel: sequelOf(story) };
  }
  const { mainDir } = await findPlace(cwd);
  const { notes, bad } = readNotes(mainDir);
  const sequel = newSequel();
  return { events: notedEvents(notes, sequel), setAside: () => setLinesAside(mainDir, bad), sequel };
}

/** The profiles of the agents that were judged in this project since the last reset; `lost` as in `Events`. */
export async function agentProfiles(cwd: string): Promise<{ profiles: ProfileJson[]; lost: string | null }> {
  const { mainDir } = await findPlace(cwd);
  const { notes, bad } = readNotes(mainDir);
  return { profiles: profilesOf(notes), lost: setLinesAside(mainDir, bad) };
}

/** What accepted attempts of each class took in this project since the last reset; null: none is known. */
export function earlierDurations(mainDir: string): Durations | null {
  return verifiedDurations(readNotes(mainDir).notes);
}
