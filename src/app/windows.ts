/** Opens a session for reading: its story, and who holds it now. Takes no lock and changes nothing. */
import { join } from 'node:path';
import { emptyState, evolve, type State } from '../core/index.ts';
import { readLock, scanJournal } from '../store/index.ts';
import { emptyStory, type LiveInfo, type Story, tell } from '../views/index.ts';
import { currentSession, type KnownSession, knownSessions } from './choose.ts';
import { findPlace } from './place.ts';

export interface Window {
  session: KnownSession;
  story: Story;
  live: LiveInfo;
}

/** The state alone is enough for most windows; the story costs a little more. */
export async function openState(
  cwd: string,
  id?: string,
): Promise<{ session: KnownSession; state: State; live: LiveInfo }> {
  const session = await currentSession(await findPlace(cwd), id);
  return { session, state: stateOf(session.dir), live: await liveOf(session.dir) };
}

export async function openWindow(cwd: string, id?: string): Promise<Window> {
  const session = await currentSession(await findPlace(cwd), id);
  const story = emptyStory();
  scanJournal(join(session.dir, 'journal.jsonl'), (record) => {
    tell(story, record);
  });
  return { session, story, live: await liveOf(session.dir) };
}

function stateOf(dir: string): State {
  const state = emptyState();
  scanJournal(join(dir, 'journal.jsonl'), (record) => {
    evolve(state, record);
  });
  return state;
}

async function liveOf(dir: string): Promise<LiveInfo> {
  const holder = await readLock(join(dir, 'lock'));
  const runner = holder === null || holder.alive === false ? null : holder;
  return { runner: runner && { pid: runner.pid, host: runner.host, startedAt: runner.startedAt } };
}

/** Every session with its state, newest first. */
export async function allSessions(cwd: string): Promise<{ state: State; live: LiveInfo }[]> {
  const known = await knownSessions(await findPlace(cwd));
  return Promise.all(
    known.reverse().map(async ({ dir }) => ({ state: stateOf(dir), live: await liveOf(dir) })),
  );
}
