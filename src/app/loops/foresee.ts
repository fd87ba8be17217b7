/** `ralph run --dry-run --worktree`: what would be done with the loop, and where the rest is planned. */
import { isTreeOf } from '../../repo/index.ts';
import type { Loop } from '../../store/index.ts';
import { findPlace } from '../place.ts';
import type { RunRequest } from '../plan.ts';
import { folderIn, loopBranch, mainPlace, shortRef } from './beside.ts';
import { lostLoops } from './lost.ts';
import { type Foreseen, foresee } from './make.ts';
import type { Start } from './origin.ts';
import { askedFrom } from './run.ts';

interface Ahead {
  /** The same run, planned where its list and its session are to be found now. */
  request: RunRequest;
  /** Its work tree is there. */
  made: boolean;
  json: Record<string, unknown>;
  text: string;
}

/** Throws the Problem that a start would throw. */
export async function loopAhead(request: RunRequest, name: string): Promise<Ahead> {
  const place = await findPlace(request.cwd);
  const lost = (await lostLoops(await mainPlace(place))).known.map(({ loop }) => loop);
  const { main, from, asked, settings } = await askedFrom(request, { place, name, anew: true, lost });
  const seen = await foresee({ main, from, name, settings }, lost);
  const { known } = seen;
  const made = known !== null && isTreeOf(main.project, known.worktree);
  const json = {
    loop_id: name === '' ? null : name,
    made,
    branch: name === '' ? null : shortRef(known?.branch ?? loopBranch(name)),
    worktree: made ? known.worktree : null,
    onto: shortRef(seen.known === null ? seen.start.onto : seen.known.onto),
  };
  const there = made ? folderIn(main, known) : from.dir;
  const text = seen.known === null ? newWords(name, seen.start) : knownWords(seen.known, made);
  return { request: plannedAt({ ...asked, cwd: there, loop: null }, known, made), made, json, text };
}

function plannedAt(there: RunRequest, known: Foreseen['known'], made: boolean): RunRequest {
  if (made) return there;
  const session = known?.session ?? null;
  return session === null ? { ...there, fresh: true } : { ...there, session };
}

function knownWords({ id, branch, worktree }: Loop, made: boolean): string {
  return made
    ? `${id}, gone on with on branch ${shortRef(branch)} in ${worktree}`
    : `${id}, its work tree made again from branch ${shortRef(branch)}`;
}

function newWords(name: string, { head, onto }: Start): string {
  const what = name === '' ? 'a new one under a word of ours' : `${name}, a new one on branch ralph/${name}`;
  return `${what}, begun at ${shortRef(onto)} (${head.slice(0, 7)})`;
}
