/** Opens a session for reading: its story, and who holds it now. Takes no lock and changes nothing. */

import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { State } from '../core/index.ts';
import { foldSession, isHeld, readLock, scanJournal } from '../store/index.ts';
import { emptyStory, type LiveInfo, type MessageStory, type Story, tell } from '../views/index.ts';
import { heardSession } from './across.ts';
import { currentSession, type KnownSession, knownSessions, namedSession, seenSession } from './choose.ts';
import { findPlace } from './place.ts';

/** The built file this code stands in has a name made of its content; run from its sources it has none. */
const BUILD = /-[\w-]{8}\.js$/.test(import.meta.url) ? basename(fileURLToPath(import.meta.url)) : null;

export interface Window {
  session: KnownSession;
  story: Story;
  live: LiveInfo;
}

export interface StateWindow {
  session: KnownSession;
  state: State;
  live: LiveInfo;
  /** The newest messages, oldest first. */
  messages: readonly MessageStory[];
}

/** The state alone is enough for most windows; the story of a long session costs as much again. */
export async function openState(cwd: string, id?: string): Promise<StateWindow> {
  return stateOf(await seen(cwd, id));
}

/** The same of a session that something is to be said to: one that nobody goes on with is none. */
export async function openToChange(cwd: string, id?: string): Promise<StateWindow> {
  const place = await findPlace(cwd);
  return stateOf(await (id === undefined ? heardSession(place) : namedSession(place, id)));
}

async function stateOf(session: KnownSession): Promise<StateWindow> {
  const { state, messages } = foldSession(session.dir, BUILD);
  return { session, state, live: await liveOf(session.dir), messages };
}

export async function openWindow(cwd: string, id?: string): Promise<Window> {
  const session = await seen(cwd, id);
  const story = emptyStory();
  scanJournal(join(session.dir, 'journal.jsonl'), (record) => {
    tell(story, record);
  });
  return { session, story, live: await liveOf(session.dir) };
}

async function seen(cwd: string, id: string | undefined): Promise<KnownSession> {
  const place = await findPlace(cwd);
  return id === undefined ? currentSession(place) : seenSession(place, id);
}

export async function liveOf(dir: string): Promise<LiveInfo> {
  const holder = await readLock(join(dir, 'lock'));
  if (holder === null || holder.alive === false) return { runner: null };
  if (isHeld(holder)) return { runner: { pid: holder.pid, host: holder.host, startedAt: holder.startedAt } };
  return { runner: null, silent: { host: holder.host, seenAt: holder.lastSeenAt } };
}

/** The state of one session, for reading. */
export function foldOf(dir: string): State {
  return foldSession(dir, BUILD).state;
}

/** Every session with its state, newest first. */
export async function allSessions(cwd: string): Promise<{ state: State; live: LiveInfo }[]> {
  const known = await knownSessions(await findPlace(cwd));
  return Promise.all(
    known.reverse().map(async ({ dir }) => ({ state: foldOf(dir), live: await liveOf(dir) })),
  );
}
