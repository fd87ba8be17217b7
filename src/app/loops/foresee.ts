/** `ralph run --dry-run --worktree`: what would be done with the loop, and where the rest is planned. */
import { isTreeOf } from '../../repo/index.ts';
import { findPlace, type Place } from '../place.ts';
import type { RunRequest } from '../plan.ts';
import { folderIn, loopBranch, shortRef } from './beside.ts';
import { type Foreseen, foresee } from './make.ts';
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
  const { main, asked, settings } = await askedFrom(request, await findPlace(request.cwd));
  const seen = await foresee({ main, name, settings });
  const { known } = seen;
  const made = known !== null && isTreeOf(main.project, known.worktree);
  const json = {
    loop_id: name === '' ? null : name,
    made,
    branch: name === '' ? null : shortRef(known?.branch ?? loopBranch(name)),
    worktree: made ? known.worktree : null,
    onto: shortRef(known?.onto ?? seen.onto),
  };
  return { request: plannedAt(asked, main, { ...seen, made }), made, json, text: wordsOf(name, made, seen) };
}

function plannedAt(
  asked: RunRequest,
  main: Place,
  { known, made }: Foreseen & { made: boolean },
): RunRequest {
  if (known !== null && made) return { ...asked, cwd: folderIn(main, known), loop: null };
  const here = { ...asked, cwd: main.dir, loop: null };
  const session = known?.session ?? null;
  return session === null ? { ...here, fresh: true } : { ...here, session };
}

function wordsOf(name: string, made: boolean, { known, onto, head }: Foreseen): string {
  if (known !== null && made)
    return `${known.id}, gone on with on branch ${shortRef(known.branch)} in ${known.worktree}`;
  if (known !== null) return `${known.id}, its work tree made again from branch ${shortRef(known.branch)}`;
  const what = name === '' ? 'a new one under a word of ours' : `${name}, a new one on branch ralph/${name}`;
  return `${what}, begun at ${shortRef(onto)} (${head.slice(0, 7)})`;
}
