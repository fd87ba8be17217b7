/**
 * `ralph interventions --reset`: events and profiles begin anew, in their files too. Apart from the windows on
 * them, which need nothing of what draws files.
 */
import { appendProject, drawBehaviour, INTERVENTIONS_RESET, readNotes } from '../store/index.ts';
import { notedEvents } from '../views/index.ts';
import { findPlace } from './place.ts';

/**
 * What open tasks are told stays. Answers how many events were hidden, and what a person should hear of the
 * files.
 */
export async function resetInterventions(cwd: string): Promise<{ hidden: number; told: string[] }> {
  const { mainDir } = await findPlace(cwd);
  const hidden = [...notedEvents(readNotes(mainDir).notes)].length;
  await appendProject(mainDir, { at: Date.now(), type: INTERVENTIONS_RESET });
  return { hidden, told: drawBehaviour(mainDir) };
}
