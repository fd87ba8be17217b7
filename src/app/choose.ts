/** Which session a command is about: the one that is named, or the one that is open here. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { emptyState, evolve, isTerminal, Problem, type State, shellWord } from '../core/index.ts';
import {
  isHeld,
  isSessionId,
  type ListedSession,
  listSessions,
  readLock,
  scanJournal,
  sessionsFolder,
} from '../store/index.ts';
import { archivedFolder, archivedSessions } from './archived.ts';
import { type FormerLoop, formerLoop, formerNote, formerProblem } from './former-loop.ts';
import { groundOf, loopNamed, noLoopCalled } from './known-loops.ts';
import type { Place } from './place.ts';

/** How the journal's last record ended, read from the file's tail. */
interface Ending {
  /** null: no `run.stopped` at the end; the run crashed or is alive. */
  code: number | null;
}

const TAIL_BYTES = 64 * 1024;

export interface KnownSession extends ListedSession {
  ending: Ending;
  /** What a person should know who looks at it: that it was archived, or that its loop is no more. */
  note?: string;
}

/** Every session of this project, oldest first, with how it ended. */
export async function knownSessions(place: Place): Promise<KnownSession[]> {
  const found = (await listSessions(place.mainDir)).filter((session) => session.hasJournal);
  return Promise.all(found.map(async (session) => ({ ...session, ending: await endingOf(session.dir) })));
}

/** Those of this work tree. One without a first record may be anybody's; it counts while no runner has it. */
export async function sessionsHere(place: Place): Promise<KnownSession[]> {
  const known = await knownSessions(place);
  const here = await Promise.all(
    known.map(async ({ dir }) => {
      const ground = groundOf(dir);
      return ground === null ? !(await hasRunner(dir)) : ground === place.ground;
    }),
  );
  return known.filter((_, index) => here[index]);
}

async function hasRunner(dir: string): Promise<boolean> {
  const holder = await readLock(join(dir, 'lock'));
  return holder !== null && isHeld(holder);
}

async function endingOf(dir: string): Promise<Ending> {
  const file = await open(join(dir, 'journal.jsonl'), 'r');
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const last = buffer.toString('utf8').trimEnd().split('\n').at(-1) ?? '';
    const stopped = /"type":"run\.stopped","code":(\d+)/.exec(last);
    return { code: stopped === null ? null : Number(stopped[1]) };
  } finally {
    await file.close();
  }
}

/** Folds one session's journal for reading; a torn tail is passed by. */
export function readState(dir: string): State {
  const state = emptyState();
  scanJournal(join(dir, 'journal.jsonl'), (record) => evolve(state, record));
  return state;
}

/** True for a session that a plain `ralph run` would go on with. */
export function isOpen(state: State): boolean {
  const stopped = state.run?.stopped ?? null;
  if (stopped?.code !== 0) return true;
  return state.feedback.length > 0 || [...state.tasks.values()].some((task) => !isTerminal(task.status));
}

/** `@loop` is the session of that loop, `@session` the session itself; a loop that is no more is one that was. */
async function meant({ mainDir }: Place, name: string): Promise<string | FormerLoop> {
  const id = name.replace(/^@/, '');
  if (id === name || isSessionId(id)) return id;
  const loop = await loopNamed(mainDir, id);
  if (loop !== null && (loop.live || loop.ground === '.' || existsSync(loop.ground))) return loop.sessionId;
  const found = (await formerLoop(mainDir, id.toLowerCase())) ?? loop?.sessionId;
  if (found === undefined) throw await noLoopCalled(mainDir, id);
  return found;
}

/** To look at it only: also one whose record was archived, or whose loop is no more, with a note that says so. */
export async function seenSession(place: Place, name: string): Promise<KnownSession> {
  const found = await meant(place, name);
  const id = typeof found === 'string' ? found : found.session;
  const there = (await knownSessions(place)).find((session) => session.id === id);
  const dir = there?.dir ?? (id === null ? null : archivedFolder(place.mainDir, id));
  if (id === null || dir === null) return namedSession(place, name);
  const away = there === undefined ? `Session ${id} was archived; this is ${relative(place.dir, dir)}.` : '';
  const note = [typeof found === 'string' ? '' : formerNote(found), away].filter(Boolean).join(' ');
  return { id, dir, hasJournal: true, ending: await endingOf(dir), ...(note === '' ? {} : { note }) };
}

/** The named session, or a Problem that names what there is. */
export async function namedSession(place: Place, name: string): Promise<KnownSession> {
  const all = await knownSessions(place);
  const one = await meant(place, name);
  if (typeof one !== 'string' && !one.goesOn) throw formerProblem(place.mainDir, one);
  const id = typeof one === 'string' ? one : one.session!;
  const found = all.find((session) => session.id === id);
  if (found) return found;
  const newest = all
    .slice(-5)
    .map((session) => session.id)
    .join(', ');
  const away = archivedSessions(place).find((folder) => folder.endsWith(id));
  throw new Problem({
    code: 'session.unknown',
    what: `There is no session ${id}.`,
    why: away
      ? `It was archived as ${away}.`
      : isSessionId(id)
        ? `This project has ${newest || 'no session yet'}.`
        : 'A session is named like 260208-143000.',
    fix: away
      ? `\`ralph status ${id}\` shows it. To go on with it, copy it back: ${copyBack(place, away)}.`
      : 'See `ralph sessions`.',
  });
}

function copyBack({ dir, mainDir }: Place, folder: string): string {
  return `\`cp -r ${shellWord(folder)} ${shellWord(relative(dir, sessionsFolder(mainDir)))}/\``;
}

/** A folder of this name that has no journal; null: there is none. */
export async function foreignSession(place: Place, id: string): Promise<ListedSession | null> {
  return (await listSessions(place.mainDir)).find((one) => one.id === id && !one.hasJournal) ?? null;
}

/** The newest session here that another tool left, by its id; null: there is none. */
export async function newestForeign(place: Place): Promise<string | null> {
  const left = (await listSessions(place.mainDir)).filter(
    ({ dir, hasJournal }) => !hasJournal && existsSync(join(dir, 'iterations')),
  );
  return left.at(-1)?.id ?? null;
}

/** The session that windows and messages mean when none is named: the newest of this work tree. */
export async function currentSession(place: Place, id?: string): Promise<KnownSession> {
  if (id !== undefined) return namedSession(place, id);
  const all = await knownSessions(place);
  const open = all.filter((session) => session.ending.code !== 0 && session.ending.code !== 9);
  const here = ({ dir }: KnownSession) => all.length === 1 || (groundOf(dir) ?? '.') === place.ground;
  const found = open.findLast(here) ?? all.findLast(here) ?? open.at(-1) ?? all.at(-1);
  if (found) return found;
  const archived = archivedSessions(place);
  throw new Problem({
    code: 'session.none',
    what: archived.length === 0 ? 'There is no session here yet.' : 'There is no session here any more.',
    why:
      archived.length === 0
        ? `Nothing was run in ${place.dir}.`
        : `What was run here was archived: ${archived.slice(-3).join(', ')}${archived.length > 3 ? ` and ${archived.length - 3} more` : ''}.`,
    fix: `${archived.length === 0 ? '' : `To look at one, copy it back: ${copyBack(place, archived.at(-1)!)}. `}Start a new one with \`ralph run\`.`,
  });
}
