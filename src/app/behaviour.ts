/**
 * How agents behaved in this project: the events and the profiles that outlive sessions, and the reset that
 * lets both begin anew.
 */
import { appendProject, INTERVENTIONS_RESET, readNotes } from '../store/index.ts';
import {
  type InterventionJson,
  notedEvents,
  type ProfileJson,
  profilesOf,
  sessionEvents,
} from '../views/index.ts';
import { findPlace } from './place.ts';
import { openWindow } from './windows.ts';

/**
 * Every intervention event since the last reset, oldest first: of the project, or with `session` of that one
 * session whatever was reset. `unreadable` names lines of the project journal that say nothing.
 */
export async function interventionEvents(
  cwd: string,
  session?: string,
): Promise<{ events: InterventionJson[]; unreadable: string[] }> {
  if (session !== undefined) {
    const { story } = await openWindow(cwd, session);
    return { events: sessionEvents(story), unreadable: [] };
  }
  const { notes, unreadable } = readNotes((await findPlace(cwd)).mainDir);
  return { events: notedEvents(notes), unreadable };
}

/** The profiles of the agents that were judged in this project since the last reset. */
export async function agentProfiles(cwd: string): Promise<{ profiles: ProfileJson[]; unreadable: string[] }> {
  const { notes, unreadable } = readNotes((await findPlace(cwd)).mainDir);
  return { profiles: profilesOf(notes), unreadable };
}

/** Events and profiles begin anew; what open tasks are told stays. Answers how many events were hidden. */
export async function resetInterventions(cwd: string): Promise<{ hidden: number }> {
  const { mainDir } = await findPlace(cwd);
  const hidden = notedEvents(readNotes(mainDir).notes).length;
  await appendProject(mainDir, { at: Date.now(), type: INTERVENTIONS_RESET });
  return { hidden };
}
