/**
 * Takes a loop's work tree and branch away. Whatever is nowhere else is first kept under a name of ours: commits that
 * the integration branch does not hold, and what stands uncommitted in the work tree.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  branchesAt,
  commitOfWork,
  dropBranch,
  dropTree,
  gitDirOf,
  heldApart,
  holds,
  isTreeOf,
  nameCommit,
  strandedIn,
} from '../../repo/index.ts';
import { type Loop, readLoops, sessionsFolder, tellLoop } from '../../store/index.ts';
import { readState } from '../choose.ts';
import { lockProblem } from '../open.ts';
import type { Place } from '../place.ts';
import { besideOf, folderIn, givenIn, loopWork, oursIn, unlink } from './beside.ts';
import { aliveProblem, lastHead, ownTree, requireFree, requireIdle, requireTree } from './intact.ts';
import { noteLanding } from './note.ts';
import * as problem from './problems.ts';
import { dropSettling } from './settle.ts';

/** The names that its work has now. */
export interface KeptWork {
  /** Its branch with what stood uncommitted; null: there is nothing more of that than has landed. */
  as: string | null;
  /** What its branch held once and holds no more, and commits that were made in its work tree and on no branch. */
  besides: string[];
}

/** Keeps runs out of its work tree meanwhile; throws a Problem where one works there. */
export async function withoutRuns<T>(main: Place, loop: Loop, work: () => Promise<T>): Promise<T> {
  await requireIdle(main, loop);
  const lock = isTreeOf(main.project, loop.worktree) ? await ownTree(folderIn(main, loop)) : null;
  if (lock?.kind === 'held') throw aliveProblem(loop, lock.heldBy);
  if (lock?.kind === 'foreign') throw lockProblem(lock.heldBy, lock.lastSeenAt);
  try {
    return await work();
  } finally {
    await lock?.release();
  }
}

/** Keeps what is nowhere else. Throws a Problem where a person holds the work tree or the branch. */
export async function keepAll(main: Place, loop: Loop): Promise<KeptWork> {
  requireTree(main, loop);
  requireFree(main, loop);
  const apart = await heldApart(besideOf(main), loop.worktree);
  if (apart.length > 0) throw problem.heldApart(loop, apart);
  const tip = (await branchesAt(besideOf(main), loop.branch)).get(loop.branch) ?? lastHead(main, loop);
  const lost = tip === null ? null : await keepLost(main, loop, tip);
  const as = tip === null ? null : await keepBranch(main, loop, tip);
  const besides = await keepStranded(main, loop);
  return lost === null || as === null ? { as: as ?? lost, besides } : { as, besides: [lost, ...besides] };
}

async function keepStranded(main: Place, loop: Loop): Promise<string[]> {
  if (!isTreeOf(main.project, loop.worktree)) return [];
  const kept: string[] = [];
  for (const commit of await strandedIn(besideOf(main), loop.worktree)) {
    const ref = await freeName(main, loop.id);
    if (!(await nameCommit(besideOf(main), ref, commit))) throw problem.notKept(loop, ref);
    kept.push(ref);
  }
  return kept;
}

async function keepBranch(main: Place, loop: Loop, tip: string): Promise<string | null> {
  const beside = besideOf(main);
  const work = isTreeOf(main.project, loop.worktree)
    ? await commitOfWork(beside, loop.worktree, {
        head: tip,
        message: `Uncommitted work of loop ${loop.id}`,
        without: notItsWork(main, loop),
      })
    : null;
  const onto = (await branchesAt(beside, loop.onto)).get(loop.onto);
  if (work === null && (await isHeld(main, tip, [onto, loop.base]))) return null;
  const ref = await freeName(main, loop.id);
  if (!(await nameCommit(beside, ref, work ?? tip))) throw problem.notKept(loop, ref);
  return ref;
}

/** A branch that was set back holds no more what its session last saw; where nothing else does, that is kept, too. */
async function keepLost(main: Place, loop: Loop, tip: string): Promise<string | null> {
  const last = lastHead(main, loop);
  const onto = (await branchesAt(besideOf(main), loop.onto)).get(loop.onto);
  if (last === null || (await isHeld(main, last, [tip, onto, loop.base]))) return null;
  const ref = await freeName(main, loop.id);
  if (!(await nameCommit(besideOf(main), ref, last))) throw problem.notKept(loop, ref);
  return ref;
}

/** Somebody may have committed there after all was kept. */
async function keepLate(main: Place, { id, onto, base }: Loop, tip: string): Promise<void> {
  const beside = besideOf(main);
  const kept = await branchesAt(beside, 'refs/ralph/discarded');
  const its = [...kept].filter(([ref]) => ref.startsWith(`refs/ralph/discarded/${id}`));
  const target = (await branchesAt(beside, onto)).get(onto);
  if (await isHeld(main, tip, [target, base, ...its.map(([, commit]) => commit)])) return;
  await nameCommit(beside, await freeName(main, id), tip);
}

async function isHeld(main: Place, tip: string, by: (string | undefined)[]): Promise<boolean> {
  for (const commit of by)
    if (commit !== undefined && (await holds(besideOf(main), tip, commit))) return true;
  return false;
}

/** Relative to the work tree's root. */
function notItsWork(main: Place, loop: Loop): string[] {
  return [...givenIn(gitDirOf(loop.worktree)), ...oursIn(main)];
}

async function freeName(main: Place, id: string): Promise<string> {
  const taken = await branchesAt(besideOf(main), 'refs/ralph/discarded');
  const base = `refs/ralph/discarded/${id}`;
  for (let n = 1; ; n++) {
    const ref = n === 1 ? base : `${base}-${n}`;
    if (![...taken.keys()].some((one) => one === ref || one.startsWith(`${ref}/`))) return ref;
  }
}

/** The branch goes where it still stands at `tip`; the registry is told. */
export async function takeAway(main: Place, loop: Loop): Promise<void> {
  const beside = besideOf(main);
  const tip = (await branchesAt(beside, loop.branch)).get(loop.branch);
  if (tip !== undefined) await keepLate(main, loop, tip);
  await dropTree(beside, loop.worktree);
  await dropSettling(main, loop.id, { env: process.env, keep: true });
  if (tip !== undefined && !(await dropBranch(beside, loop.branch, tip))) throw problem.branchStays(loop);
  await unlink(main, loop.id);
  await tellLanded(main, loop);
  await tellLoop(main.mainDir, Date.now(), { type: 'loop.removed', loop: loop.id });
}

/** A run that was killed right after its landing did not come to tell its session, and nobody runs there any more. */
async function tellLanded(main: Place, loop: Loop): Promise<void> {
  const { session, landed, head } = loop;
  if (loop.standing !== 'landed' || session === null || landed === null) return;
  const dir = join(sessionsFolder(main.mainDir), session);
  if (!existsSync(join(dir, 'journal.jsonl')) || readState(dir).landing?.type === 'loop.landed') return;
  const landing = {
    type: 'loop.landed' as const,
    ...loopWork(loop),
    commit: landed,
    merged: landed !== head,
  };
  await noteLanding({ main, loop, say: () => undefined }, landing);
}

/** The same where this start made it, unless another start has found it meanwhile, or works in it now; true: it is gone. */
export async function unmakeUnused(main: Place, { id }: Loop): Promise<boolean> {
  const loop = readLoops(main.mainDir).find((one) => one.id === id);
  if (loop === undefined) return false;
  const lock = await ownTree(folderIn(main, loop));
  if (lock !== null && lock.kind !== 'taken') return false;
  try {
    const now = readLoops(main.mainDir).find((one) => one.id === id);
    const isUnused = now?.session === null && now.standing === 'open';
    if (isUnused) await unmake(main, now);
    return isUnused;
  } finally {
    await lock?.release();
  }
}

/** Takes away a loop in which nothing was ever done. Its branch goes only where it stands at its beginning. */
export async function unmake(main: Place, loop: Loop): Promise<void> {
  const beside = besideOf(main);
  await dropTree(beside, loop.worktree);
  await dropBranch(beside, loop.branch, loop.base);
  await unlink(main, loop.id);
  await tellLoop(main.mainDir, Date.now(), { type: 'loop.removed', loop: loop.id });
}
