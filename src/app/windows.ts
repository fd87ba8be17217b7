/** Opens a session for reading: its story, and who holds it now. Takes no lock and changes nothing. */
import { join } from 'node:path';
import { emptyState, evolve, type State } from '../core/index.ts';
import { readLock, scanJournal } from '../store/index.ts';
import { emptyStory, type LiveInfo, type Story, tell, unheard } from '../views/index.ts';
import { currentSession, type KnownSession, knownSessions } from './choose.ts';
import { findPlace } from './place.ts';

export interface Window {
  session: KnownSession;
  story: Story;
  live: LiveInfo;
}

export interface StateWindow {
  session: KnownSession;
  state: State;
  live: LiveInfo;
  /** Messages that changed nothing, for their senders. */
  unheard: ReturnType<typeof unheard>;
}

/** The state alone is enough for most windows; the story of a long session costs as much again. */
export async function openState(cwd: string, id?: string): Promise<StateWindow> {
  const session = await currentSession(await findPlace(cwd), id);
  const state = emptyState();
  const heard = emptyStory();
  scanJournal(join(session.dir, 'journal.jsonl'), (record) => {
    evolve(state, record);
    const messages = record.facts.filter(
      ({ type }) => type === 'message.received' || type === 'message.rejected',
    );
    if (messages.length > 0) tell(heard, { ...record, facts: messages });
  });
  return { session, state, live: await liveOf(session.dir), unheard: unheard(heard) };
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
