/**
 * A loop's work tree: found, or made at the HEAD of a person's checkout. The project journal is told before git is asked,
 * so that a start that was killed in between leaves a loop that the next start makes whole.
 */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { Problem, pathWords } from '../../core/index.ts';
import { ownIdentity } from '../../process/index.ts';
import { branchesAt, dropTree, heldApart, isTreeOf, uncommitted } from '../../repo/index.ts';
import { type Loop, readLoops, sessionsFolder, takeLock, tellLoop } from '../../store/index.ts';
import { goneWords } from '../../views/index.ts';
import { readState } from '../choose.ts';
import { findPlace, type Place } from '../place.ts';
import { treesFolder } from '../pool.ts';
import { besideOf, folderIn, isWhole, link, loopBranch, makingLock, shortRef } from './beside.ts';
import { keepGiven, unkeptFiles } from './given-files.ts';
import { givenList, markList } from './given-list.ts';
import { branchOf, requireAllLanded, requireUnheld } from './intact.ts';
import { loopWords, requireLoopName } from './name.ts';
import { goesOn, loopCalled, type Start, startAt } from './origin.ts';
import * as problem from './problems.ts';
import { keepAll, takeAway, unmake, withoutRuns } from './take-away.ts';
import { buildTree } from './tree.ts';

export interface LoopRequest {
  /** The main checkout. */
  main: Place;
  /** The checkout that a new loop begins at, and whose untracked files a work tree is given. */
  from: Place;
  /** Empty: a new loop under a word of ours. */
  name: string;
  /** The name of a loop that is over means a new one; else that loop is gone on with. */
  anew: boolean;
  settings: Settings;
  /** Untracked files of that checkout, relative to the project's folder, that the loop is to work with. */
  inputs: string[];
  env: NodeJS.ProcessEnv;
  say(text: string): void;
}

export interface OpenedLoop {
  loop: Loop;
  /** The project's folder in its work tree. */
  cwd: string;
  /** It was made by this call. */
  made: boolean;
}

/** Finds or makes it; throws a Problem, and then nothing is left of it. */
export async function openLoop(request: LoopRequest): Promise<OpenedLoop> {
  if (request.name !== '') requireLoopName(request.name);
  requireRepository(request);
  if (request.name !== '') {
    const opened = await underLock(request, request.name);
    if (opened === 'held') throw problem.beingMade(request.name);
    return opened;
  }
  const ids = readLoops(request.main.mainDir).map(({ id }) => id);
  for (const word of loopWords(new Set([...ids, ...(await branchesTaken(request.main))]))) {
    const opened = await underLock(request, word);
    if (opened !== 'held') return opened;
  }
  throw new Error('there are always more words');
}

function requireRepository({ main, settings }: Pick<LoopRequest, 'main' | 'settings'>): void {
  const { root, commonDir } = main.project;
  if (commonDir === null || !settings.git) throw problem.noGit(main.dir, settings.git);
  // Linked work trees find the main checkout by that name.
  if (basename(commonDir) !== '.git') throw problem.separateGit(root, commonDir);
}

/** Branches below `ralph/`, without it. */
async function branchesTaken(main: Place): Promise<string[]> {
  const names = [...(await branchesAt(besideOf(main), loopBranch('').slice(0, -1))).keys()];
  return names.map((ref) => ref.slice(loopBranch('').length));
}

async function underLock(request: LoopRequest, name: string): Promise<OpenedLoop | 'held'> {
  const folder = join(treesFolder(request.main.mainDir, request.env), 'loops');
  await mkdir(folder, { recursive: true });
  const file = makingLock(folder, name);
  const lock = await takeLock({ file, identity: ownIdentity(), sessionId: '', now: Date.now() });
  if (lock.kind !== 'taken') return 'held';
  try {
    return await findOrMake(request, { name, folder: realpathSync(folder) });
  } finally {
    await lock.release();
  }
}

interface Named {
  name: string;
  /** Where loops' work trees lie, links resolved. */
  folder: string;
}

async function findOrMake(request: LoopRequest, named: Named): Promise<OpenedLoop> {
  const { main, from, anew } = request;
  const known = loopCalled(main, named.name);
  if (known !== null && goesOn(known, anew)) return goOn(request, known);
  const start = await startAt(from);
  if (known === null) return make(request, start, named);
  await requireAllLanded(main, known);
  const { as, besides, files, gone } = await withoutRuns(main, known, async () => {
    const kept = { ...(await keepAll(main, known)), files: await keepGiven(main, known) };
    const gone = await unkeptFiles(main, known);
    await takeAway(main, known);
    return { ...kept, gone };
  });
  if (gone.length > 0) request.say(`With the former loop ${known.id} went ${goneWords(gone)}.`);
  if (files !== null)
    request.say(
      `Files that the former loop ${known.id} was given had been changed in it; they are kept in ${files}.`,
    );
  const kept = [...(as === null ? [] : [as]), ...besides];
  if (kept.length > 0)
    request.say(`The former loop ${known.id} had more than what landed; it is kept as ${kept.join(', ')}.`);
  return make(request, start, named);
}

/** The loop that would be gone on with, or where a new one would begin. */
export type Foreseen = { known: Loop } | { known: null; start: Start };

/** What `openLoop` would find; throws what it would throw before it makes anything. */
export async function foresee(
  request: Pick<LoopRequest, 'main' | 'from' | 'name' | 'settings'>,
  lost: readonly Loop[],
): Promise<Foreseen> {
  const { main, from, name } = request;
  if (name !== '') requireLoopName(name);
  requireRepository(request);
  const known = loopCalled(main, name, lost);
  if (known !== null && goesOn(known, true)) {
    await branchOf(main, known);
    return { known };
  }
  const start = await startAt(from);
  if (known !== null) await requireAllLanded(main, known);
  if (name !== '') await requireFreeBranch(main, name, known);
  return { known: null, start };
}

/** `former`: its branch goes before. */
async function requireFreeBranch(main: Place, name: string, former: Loop | null): Promise<void> {
  const branches = (await branchesTaken(main)).filter((one) => one !== former?.id);
  const taken = branches.find((one) => one === '' || one === name || one.startsWith(`${name}/`));
  if (taken !== undefined) throw problem.branchTaken(name, taken);
}

async function make(request: LoopRequest, start: Start, { name, folder }: Named): Promise<OpenedLoop> {
  const { main, from, say } = request;
  await requireFreeBranch(main, name, null);
  const again = readLoops(main.mainDir).some(({ id }) => id === name);
  // Sessions are known by the path of their work tree: another loop of that name had another one.
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const worktree = join(folder, again || existsSync(join(folder, name)) ? `${name}-${stamp}` : name);
  const at = { branch: loopBranch(name), onto: start.onto, base: start.head, worktree };
  await tellLoop(main.mainDir, Date.now(), { type: 'loop.created', loop: name, ...at });
  const loop = readLoops(main.mainDir).find(({ id }) => id === name)!;
  try {
    await build(request, loop, null);
  } catch (error) {
    await unmake(main, loop);
    throw error;
  }
  const onto = shortRef(start.onto);
  say(
    `Loop ${name}: a work tree of its own on branch ralph/${name}, begun at ${onto} (${start.head.slice(0, 7)})${placeWords(from)}.`,
  );
  const behind = await uncommitted(besideOf(from), from.project.root, { untracked: false });
  if (behind.length > 0) say(notInIt(behind, onto));
  return { loop, cwd: folderIn(main, loop), made: true };
}

/** A checkout that is not the main one is named: it is the one where its work lands. */
const placeWords = ({ ground }: Place): string =>
  ground === '.' ? '' : `, where you stand, and lands there`;

function notInIt(paths: string[], onto: string): string {
  return `Uncommitted here, and so not in the loop: ${pathWords(paths)}. It has what ${onto} has committed.`;
}

/** Makes the work tree, on its branch as it stands at `tip`, or on a new one. */
async function build(request: LoopRequest, loop: Loop, tip: string | null): Promise<void> {
  const { main, from, inputs, env, say } = request;
  const { worktree } = request.settings;
  const branch = shortRef(loop.branch);
  const how =
    tip === null
      ? { flags: ['-f', '--no-track', '-b', branch], start: loop.base }
      : { flags: ['-f'], start: branch };
  try {
    const known = { id: loop.id, onto: loop.onto, base: loop.base };
    const of = { id: loop.id, known };
    const why = await buildTree({ main, from, root: loop.worktree, ...how, ...of, inputs, worktree, env });
    if (why !== null) throw problem.notMade(loop.id, why);
  } catch (error) {
    throw error instanceof Problem ? error : problem.notMade(loop.id, (error as Error).message);
  }
  if (!(await link(main, loop)))
    say(`.ralph/worktrees/${loop.id} is there already and no link of ours, so it does not lead to the loop.`);
}

/** Goes on in a loop that is known; its work tree may be gone, or half made by a start that was killed. */
async function goOn(request: LoopRequest, loop: Loop): Promise<OpenedLoop> {
  const { main, say } = request;
  if (isTreeOf(main.project, loop.worktree) && !isWhole(loop) && loop.session === null)
    await dropTree(besideOf(main), loop.worktree);
  const tip = await branchOf(main, loop);
  if (!isTreeOf(main.project, loop.worktree)) {
    requireUnheld(main.project.commonDir!, loop);
    // Git forgets what it keeps of a work tree when it makes it again.
    const apart = await heldApart(besideOf(main), loop.worktree);
    if (apart.length > 0) throw problem.heldApart(loop, apart);
    await dropTree(besideOf(main), loop.worktree);
    try {
      await build(request, loop, tip);
      await markCopy(main, loop);
    } catch (error) {
      await dropTree(besideOf(main), loop.worktree);
      throw error;
    }
    say(
      loop.session === null
        ? `Loop ${loop.id} was begun and never made; it is now, on branch ${shortRef(loop.branch)}.`
        : `The work tree of loop ${loop.id} was gone; it was made again from branch ${shortRef(loop.branch)}. What was not committed in it is lost.`,
    );
  } else await link(main, loop);
  return { loop, cwd: folderIn(main, loop), made: false };
}

/** A list that it was given anew knows nothing of what the loop has done. */
async function markCopy(main: Place, loop: Loop): Promise<void> {
  if (loop.session === null) return;
  const state = readState(join(sessionsFolder(main.mainDir), loop.session));
  const place = await findPlace(folderIn(main, loop));
  const path = await givenList(place, state);
  if (path !== null) await markList(place, path, state);
}
