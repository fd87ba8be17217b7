/** How agents behaved in this project: the events and the profiles that outlive sessions. */
import type { Durations } from '../core/index.ts';
import { readNotes } from '../store/index.ts';
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

/** Intervention events, to be read once, and lines of the project journal that say nothing. */
export interface Events {
  /** Oldest first, read as they are asked for. */
  events: Iterable<InterventionJson>;
  /** Complete when the events are at their end. */
  unreadable: string[];
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
    return { events: sessionEvents(story), unreadable: [], sequel: sequelOf(story) };
  }
  const { notes, unreadable } = readNotes((await findPlace(cwd)).mainDir);
  const sequel = newSequel();
  return { events: notedEvents(notes, sequel), unreadable, sequel };
}

/** The profiles of the agents that were judged in this project since the last reset. */
export async function agentProfiles(cwd: string): Promise<{ profiles: ProfileJson[]; unreadable: string[] }> {
  const { notes, unreadable } = readNotes((await findPlace(cwd)).mainDir);
  return { profiles: profilesOf(notes), unreadable };
}

/** What accepted attempts of each class took in this project since the last reset; null: none is known. */
export function earlierDurations(mainDir: string): Durations | null {
  return verifiedDurations(readNotes(mainDir).notes);
}
