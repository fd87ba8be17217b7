/**
 * A loop that cannot be gone to any more, as its work tree is gone or its session was archived: what became of it, where
 * its record lies, and what a person can do next.
 */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { landingText, Problem, type State, shellWord, TO_DO, thereAre } from '../core/index.ts';
import { foldSession, type Loop, listSessions, readLoops, sessionsFolder } from '../store/index.ts';
import { archivedFolder } from './archived.ts';
import { groundOf } from './known-loops.ts';
import { loopName } from './loop-name.ts';

export interface FormerLoop {
  name: string;
  /** null: it never had one. */
  session: string | null;
  /** The folder of its record, which may lie in the archive; null: there is none any more. */
  dir: string | null;
  /** A sentence. */
  became: string;
  /** What can be done about it: words and a command. */
  next: string;
  /** Its session can be gone on with, so words for it are heard then. */
  goesOn: boolean;
}

/** The loop that had this name last, in small letters; null: none ever had. */
export async function formerLoop(mainDir: string, name: string): Promise<FormerLoop | null> {
  const registry = readLoops(mainDir);
  const loop = registry.findLast(({ id, session }) => id.toLowerCase() === name || session === name);
  return loop === undefined ? lostTree(mainDir, name, registry) : registered(mainDir, loop);
}

/** Of a loop that the registry knows. */
export function registered(mainDir: string, loop: Loop): FormerLoop {
  const { id, session, standing } = loop;
  const { dir, archived } = recordOf(mainDir, session);
  const known = { name: id, session, dir };
  const anew = `\`ralph run --worktree ${id}\` begins a new loop`;
  if (standing === 'removed' || standing === 'discarded')
    return { ...known, became: takenAway(loop, dir), next: anew, goesOn: false };
  const isOver = standing === 'landed';
  const goOn = `\`ralph run --worktree ${id}\` makes it again from branch ${short(loop.branch)} and goes on`;
  const became = !existsSync(loop.worktree)
    ? `The work tree of loop ${id} is gone`
    : session === null
      ? `Loop ${id} was begun and has no session yet`
      : `Loop ${id} ${isOver ? `has landed on ${short(loop.onto)}` : 'is there'}, and its session is not among the others any more`;
  const next = isOver ? `\`ralph loops prune ${id}\` takes away what is left of it; ${anew}` : goOn;
  return { ...known, became, next, goesOn: dir !== null && !archived };
}

/** Its own session knows best, where that can still be read. */
function takenAway({ id, landed, onto, session }: Loop, dir: string | null): string {
  const { landing = null } = dir === null ? {} : stateIn(dir);
  if (landing?.type === 'loop.discarded') return landingText(landing);
  if (landed !== null) return `Loop ${id} landed on ${short(onto)} and was pruned`;
  return session === null
    ? `Loop ${id} was taken away again before anything was done in it`
    : `Loop ${id} was given up and taken away`;
}

function stateIn(dir: string): Partial<State> {
  try {
    return foldSession(dir, null).state;
  } catch {
    // A damaged journal is told by the window that reads it.
    return {};
  }
}

/** A work tree that a person made, and that no registry knows. */
async function lostTree(
  mainDir: string,
  name: string,
  registry: readonly Loop[],
): Promise<FormerLoop | null> {
  for (const { id, dir, hasJournal } of (await listSessions(mainDir)).reverse()) {
    const ground = hasJournal ? groundOf(dir) : null;
    if (ground === null || ground === '.' || existsSync(ground)) continue;
    if (loopName(ground, registry).toLowerCase() !== name) continue;
    const next = `\`git worktree add ${shellWord(ground)} BRANCH\` makes it again`;
    return { name, session: id, dir, became: `The work tree ${ground} is gone`, next, goesOn: true };
  }
  return null;
}

function recordOf(mainDir: string, session: string | null): { dir: string | null; archived: boolean } {
  if (session === null) return { dir: null, archived: false };
  const dir = join(sessionsFolder(mainDir), session);
  if (existsSync(join(dir, 'journal.jsonl'))) return { dir, archived: false };
  const away = archivedFolder(mainDir, session);
  return { dir: away, archived: away !== null };
}

/** Beside what a window reads of it. */
export function formerNote({ became, next }: FormerLoop): string {
  return `${became}. ${TO_DO}${next}.`;
}

/** Where nobody would hear what is said to it, or nothing of it can be read. */
export function formerProblem(
  mainDir: string,
  { name, session, dir, became, next }: FormerLoop,
  others: readonly string[] = [],
): Problem {
  const record =
    session === null
      ? 'No session of it was ever begun.'
      : dir === null
        ? `Its session ${session} is neither among the sessions nor in .ralph/archive any more.`
        : `Nobody works in it, and its session ${session} is over; its record is ${relative(mainDir, dir)}.`;
  return new Problem({
    code: 'loop.gone',
    what: `${became}.`,
    why: others.length === 0 ? record : `${record} ${thereAre(others)}`,
    fix: `${dir === null ? '' : `\`ralph status @${name}\` shows what is left of it. `}${next}.`,
  });
}

const short = (ref: string): string => ref.replace(/^refs\/heads\//, '');
