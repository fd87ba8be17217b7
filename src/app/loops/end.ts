/** `ralph loops discard` and `prune`: a loop is given up, or its work tree is not needed any more. Nothing is lost. */
import { Problem, pathWords } from '../../core/index.ts';
import { heldApart, holds, isTreeOf, type NamedCommit, uncommitted } from '../../repo/index.ts';
import { drawLoops, type Loop, readLoops, tellLoop } from '../../store/index.ts';
import { count } from '../../views/index.ts';
import { findPlace, type Place } from '../place.ts';
import { besideOf, givenIn, loopWork, mainPlace, shortRef } from './beside.ts';
import { editedGiven, keepGiven, unkeptFiles } from './given-files.ts';
import { afterLanding, branchOf, loopHere, requireFree } from './intact.ts';
import { loopsToDraw } from './list.ts';
import { takeBackLost } from './lost.ts';
import { noteLanding } from './note.ts';
import { apartWords, commitWords } from './problems.ts';
import { keepAll, takeAway, withoutRuns } from './take-away.ts';

export interface Discarded {
  loop_id: string;
  /** The name of ours that its work has now; null: it had none. */
  kept_as: string | null;
  /** Names of what its branch held no more, and of commits that were made in its work tree and on no branch. */
  kept_besides: string[];
  /** Where files lie that it was given and that were changed in it; null: none were. */
  kept_files: string | null;
  /** What git ignores went with its work tree, relative to that; a folder as one. */
  ignored_gone: string[];
}

/** Keeps all of it under a name of ours, then takes its work tree and branch away. */
export async function discardLoop(
  cwd: string,
  name: string,
  say: (text: string) => void,
): Promise<Discarded> {
  const { main, loop } = await loopHere(cwd, name, say);
  const discarded = await withoutRuns(main, loop, () => discard(main, loop, say));
  await redrawLoops(main);
  return discarded;
}

async function discard(main: Place, loop: Loop, say: (text: string) => void): Promise<Discarded> {
  await branchOf(main, loop).catch((error: unknown) => {
    // A work tree that was moved away still needs its branch.
    if (error instanceof Problem && error.facts.code === 'loop.moved') throw error;
  });
  const { as: keptAs, besides } = await keepAll(main, loop);
  const files = await keepGiven(main, loop);
  const gone = await unkeptFiles(main, loop);
  await tellLoop(main.mainDir, Date.now(), { type: 'loop.discarded', loop: loop.id, keptAs });
  await takeAway(main, loop);
  await noteLanding({ main, loop, say }, { type: 'loop.discarded', ...loopWork(loop), keptAs });
  return { loop_id: loop.id, kept_as: keptAs, kept_besides: besides, kept_files: files, ignored_gone: gone };
}

interface Pruned {
  removed: string[];
  kept: { loop: string; why: string }[];
  /** What git ignores went with the work trees of these. */
  ignored_gone: { loop: string; files: string[] }[];
}

/** Takes away what has landed or was given up, where nothing else lies there; `name`: of that loop only. */
export async function pruneLoops(
  cwd: string,
  name: string | undefined,
  say: (text: string) => void,
): Promise<Pruned> {
  const main = await mainPlace(await findPlace(cwd));
  if (name === undefined) await takeBackLost(main, say);
  const only = name === undefined ? null : (await loopHere(cwd, name, say)).loop.id;
  const pruned: Pruned = { removed: [], kept: [], ignored_gone: [] };
  for (const loop of readLoops(main.mainDir)) {
    if (loop.standing === 'removed' || (only !== null && loop.id !== only)) continue;
    const gone =
      whyNotOver(loop) ??
      (await withoutRuns(main, loop, () => prune(main, loop)).catch((error: Error) => error.message));
    if (typeof gone === 'string') {
      pruned.kept.push({ loop: loop.id, why: gone });
      continue;
    }
    pruned.removed.push(loop.id);
    if (gone.length > 0) pruned.ignored_gone.push({ loop: loop.id, files: gone });
  }
  if (pruned.removed.length > 0) await redrawLoops(main);
  return pruned;
}

/** What git ignored there and went with it; a string: why it stays. */
async function prune(main: Place, loop: Loop): Promise<string | string[]> {
  const why = await whyKept(main, loop);
  if (why !== null) return why;
  const files = await unkeptFiles(main, loop);
  await takeAway(main, loop);
  return files;
}

/** Nobody may run here for long, and `.ralph/loops.json` would name what is gone. */
async function redrawLoops(main: Place): Promise<void> {
  drawLoops(main.mainDir, await loopsToDraw(main)(null));
}

function whyNotOver(loop: Loop): string | null {
  if (loop.standing === 'open' && loop.landed !== null) return 'it is not done';
  if (loop.standing !== 'landed' && loop.standing !== 'discarded') return 'its work has not landed';
  return null;
}

async function whyKept(main: Place, loop: Loop): Promise<string | null> {
  const tip = await branchOf(main, loop);
  requireFree(main, loop);
  if (loop.standing === 'landed' && tip !== null && !(await holds(besideOf(main), tip, loop.onto)))
    return notHeld(loop, await afterLanding(main, loop));
  const apart = await heldApart(besideOf(main), loop.worktree);
  if (apart.length > 0)
    return `${apartWords(apart)}: ${apart.length === 1 ? 'a repository of its own' : 'repositories of their own'} with what is nowhere else; \`ralph loops discard ${loop.id}\` says what to do`;
  if (!isTreeOf(main.project, loop.worktree)) return null;
  const given = new Set(givenIn((await findPlace(loop.worktree)).project.gitDir));
  const left = await uncommitted(besideOf(main), loop.worktree, { untracked: true });
  const own = left.filter((path) => !given.has(path));
  const edited = await editedGiven(main, loop);
  if (own.length === 0 && edited.length > 0)
    return `${pathWords(edited, 3)} in its work tree ${edited.length === 1 ? 'was' : 'were'} changed since it was given; \`ralph loops discard ${loop.id}\` keeps a copy`;
  return own.length === 0
    ? null
    : `${pathWords(own, 3)} in its work tree ${own.length === 1 ? 'is' : 'are'} in no commit`;
}

function notHeld({ id, onto }: Loop, after: readonly NamedCommit[]): string {
  if (after.length > 0)
    return `${count(after.length, 'commit')} on its branch came after its landing: ${commitWords(after)}; \`ralph loops merge ${id}\` lands ${after.length === 1 ? 'it' : 'them'}`;
  return `${shortRef(onto)} does not hold what it landed any more; \`ralph loops merge ${id}\` brings it back, \`ralph loops discard ${id}\` puts it aside`;
}
