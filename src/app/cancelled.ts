/**
 * Cancellations outlive the session they were spoken in: the mark in the list is no edit that would keep it
 * out of commits, and where a list has no sign for "cancelled", the newest session that worked on it says so.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fact, isTerminal } from '../core/index.ts';
import { readTaskList, type TaskMark, writeMarks } from '../dialects/index.ts';
import type { House } from '../engine/index.ts';
import { knownSessions, readState } from './choose.ts';
import type { Place } from './place.ts';

/** Sessions looked at, newest first; each that works on the list carries the cancellations on. */
const LOOK_BACK = 10;

/** What an earlier session's cancellations mean for the open tasks of a new session; none where the list says it. */
export async function cancelledBefore(place: Place, { sessionId, state }: House): Promise<Fact[]> {
  const path = state.source?.path ?? null;
  if (path === null || ![...state.tasks.values()].some(({ status }) => !isTerminal(status))) return [];
  const known = (await knownSessions(place)).filter(({ id }) => id !== sessionId).reverse();
  for (const { id, dir } of known.slice(0, LOOK_BACK)) {
    const journal = await readFile(join(dir, 'journal.jsonl'), 'utf8').catch(() => '');
    if (!journal.includes('"to":"cancelled"')) continue;
    const before = readState(dir);
    if (before.source?.path !== path || before.session?.ground !== state.session?.ground) continue;
    return [...before.tasks.values()].flatMap(({ def, status, reason }): Fact[] => {
      const task = state.tasks.get(def.id);
      // Where the list itself said it, whoever opened it there again has the last word.
      if (status !== 'cancelled' || def.status === 'cancelled' || !task) return [];
      if (isTerminal(task.status) || task.def.title !== def.title) return [];
      const why = reason.includes('(session ') ? reason : `${reason} (session ${id})`;
      return [{ type: 'task.moved', task: def.id, to: 'cancelled', reason: why, by: 'engine' }];
    });
  }
  return [];
}

/** True where the list differs from its last commit only by tasks that were cancelled, or opened after that. */
export function onlyCancelled(path: string, committed: string | null, now: string): boolean {
  if (committed === null) return false;
  const [was, is] = [readTaskList(path, committed), readTaskList(path, now)];
  if (was.kind !== 'list' || is.kind !== 'list') return false;
  const before = new Map(was.tasks.map(({ id, status }) => [id, status]));
  const marks = is.tasks.flatMap(({ id, status }): TaskMark[] => {
    const old = before.get(id);
    if (old === status || (old !== 'cancelled' && status !== 'cancelled')) return [];
    return [{ task: id, status }];
  });
  return marks.length > 0 && writeMarks(committed, marks, path) === now;
}
