/**
 * A loop's work tree: found, or made at the main checkout's HEAD. The project journal is told before git is asked, so
 * that a start that was killed in between leaves a loop that the next start makes whole.
 */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { Problem } from '../../core/index.ts';
import { ownIdentity } from '../../process/index.ts';
import { branchesAt, dropTree, heldApart, isTreeOf, readHead, uncommitted } from '../../repo/index.ts';
import { type Loop, readLoops, takeLock, tellLoop } from '../../store/index.ts';
import { goneWords } from '../../views/index.ts';
import { withoutOwnSecrets } from '../environment.ts';
import type { Place } from '../place.ts';
import { treesFolder } from '../pool.ts';
import { besideOf, folderIn, isWhole, link, loopBranch, shortRef } from './beside.ts';
import { keepGiven, unkeptFiles } from './given-files.ts';
import { branchOf, requireIdle } from './intact.ts';
import { lostLoops } from './lost.ts';
import { loopWords, requireLoopName } from './name.ts';
import * as problem from './problems.ts';
import { keepAll, takeAway, unmake } from './take-away.ts';
import { buildTree } from './tree.ts';

export interface LoopRequest {
  /** The main checkout. */
  main: Place;
  /** Empty: a new loop under a word of ours. */
  name: string;
  /** The name of a loop that is over means a new one; else that loop is gone on with. */
  anew: boolean;
  settings: Settings;
  /** Untracked files of the main checkout, relative to the project's folder, that the loop is to work with. */
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
  const start = await startOf(request);
  if (request.name !== '') {
    const opened = await underLock(request, start, request.name);
    if (opened === 'held') throw problem.beingMade(request.name);
    return opened;
  }
  const taken = new Set([...readLoops(request.main.mainDir).map(({ id }) => id), ...start.branches]);
  for (const word of loopWords(taken)) {
    const opened = await underLock(request, start, word);
    if (opened !== 'held') return opened;
  }
  throw new Error('there are always more words');
}

interface Start {
  head: string;
  /** Full name. */
  onto: string;
  /** Branches below `ralph/`, without it. */
  branches: string[];
}

/** Where a loop begins and what it is to land on. */
async function startOf({ main, settings }: Pick<LoopRequest, 'main' | 'settings'>): Promise<Start> {
  const { root, gitDir, commonDir } = main.project;
  if (gitDir === null || commonDir === null || !settings.git) throw problem.noGit(main.dir, settings.git);
  const { head, branch } = await readHead({ root, gitDir, commonDir }, withoutOwnSecrets(process.env));
  // Linked work trees find the main checkout by that name.
  if (basename(commonDir) !== '.git') throw problem.separateGit(root, commonDir);
  if (head === null) throw problem.noCommit(main.dir);
  if (branch === null) throw problem.detached(root);
  const names = [...(await branchesAt(besideOf(main), loopBranch('').slice(0, -1))).keys()];
  return {
    head,
    onto: `refs/heads/${branch}`,
    branches: names.map((ref) => ref.slice(loopBranch('').length)),
  };
}

async function underLock(request: LoopRequest, start: Start, name: string): Promise<OpenedLoop | 'held'> {
  const folder = join(treesFolder(request.main.mainDir, request.env), 'loops');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}.lock`);
  const lock = await takeLock({ file, identity: ownIdentity(), sessionId: '', now: Date.now() });
  if (lock.kind !== 'taken') return 'held';
  try {
    return await findOrMake(request, start, { name, folder: realpathSync(folder) });
  } finally {
    await lock.release();
  }
}

interface Named {
  name: string;
  /** Where loops' work trees lie, links resolved. */
  folder: string;
}

async function findOrMake(request: LoopRequest, start: Start, named: Named): Promise<OpenedLoop> {
  const { main } = request;
  const known = knownAs(main, named.name);
  if (known === null) return make(request, start, named);
  if (!isOver(known) || !request.anew) return goOn(request, known);
  await requireIdle(main, known);
  const kept = await keepAll(main, known);
  const files = await keepGiven(main, known);
  const gone = await unkeptFiles(main, known);
  await takeAway(main, known);
  if (gone.length > 0) request.say(`With the former loop ${known.id} went ${goneWords(gone)}.`);
  if (files !== null)
    request.say(
      `Files that the former loop ${known.id} was given had been changed in it; they are kept in ${files}.`,
    );
  if (kept !== null)
    request.say(`The former loop ${known.id} had more than what landed; it is kept as ${kept}.`);
  return make(request, without(start, known), named);
}

/** null: there is none of this name. `lost`: those that the journal is yet to be told of again. */
function knownAs(main: Place, name: string, lost: readonly Loop[] = []): Loop | null {
  const all = [...readLoops(main.mainDir), ...lost].filter(({ standing }) => standing !== 'removed');
  const twin = all.find(({ id }) => id !== name && id.toLowerCase() === name.toLowerCase());
  if (twin !== undefined) throw problem.onlyCase(name, twin.id);
  return all.find(({ id }) => id === name) ?? null;
}

/** Its work has landed or was given up: the next one of its name is another. */
const isOver = ({ standing }: Loop): boolean => standing === 'landed' || standing === 'discarded';

function without(start: Start, { id }: Loop): Start {
  return { ...start, branches: start.branches.filter((one) => one !== id) };
}

export interface Foreseen {
  /** The loop that would be gone on with; null: a new one. */
  known: Loop | null;
  onto: string;
  head: string;
}

/** What `openLoop` would find; throws what it would throw before it makes anything. */
export async function foresee(request: Pick<LoopRequest, 'main' | 'name' | 'settings'>): Promise<Foreseen> {
  const { main, name } = request;
  if (name !== '') requireLoopName(name);
  const start = await startOf(request);
  const lost = (await lostLoops(main)).known.map(({ loop }) => loop);
  const found = name === '' ? null : knownAs(main, name, lost);
  const known = found === null || isOver(found) ? null : found;
  if (known !== null) await branchOf(main, known);
  else if (name !== '') requireFreeBranch(found === null ? start : without(start, found), name);
  return { known, onto: start.onto, head: start.head };
}

function requireFreeBranch({ branches }: Start, name: string): void {
  const taken = branches.find((one) => one === '' || one === name || one.startsWith(`${name}/`));
  if (taken !== undefined) throw problem.branchTaken(name, taken);
}

async function make(request: LoopRequest, start: Start, { name, folder }: Named): Promise<OpenedLoop> {
  const { main, say } = request;
  requireFreeBranch(start, name);
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
    `Loop ${name}: a work tree of its own on branch ralph/${name}, begun at ${onto} (${start.head.slice(0, 7)}).`,
  );
  const behind = await uncommitted(besideOf(main), main.project.root, { untracked: false });
  if (behind.length > 0) say(notInIt(behind, onto));
  return { loop, cwd: folderIn(main, loop), made: true };
}

function notInIt(paths: string[], onto: string): string {
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return `Uncommitted here, and so not in the loop: ${paths.slice(0, 5).join(', ')}${more}. It has what ${onto} has committed.`;
}

/** Makes the work tree, on its branch as it stands at `tip`, or on a new one. */
async function build(request: LoopRequest, loop: Loop, tip: string | null): Promise<void> {
  const { main, inputs, env, say } = request;
  const { worktree } = request.settings;
  const branch = shortRef(loop.branch);
  const how =
    tip === null
      ? { flags: ['-f', '--no-track', '-b', branch], start: loop.base }
      : { flags: ['-f'], start: branch };
  try {
    const known = { id: loop.id, onto: loop.onto, base: loop.base };
    const of = { id: loop.id, known };
    const why = await buildTree({ main, root: loop.worktree, ...how, ...of, inputs, worktree, env });
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
    // Git forgets what it keeps of a work tree when it makes it again.
    const apart = await heldApart(besideOf(main), loop.worktree);
    if (apart.length > 0) throw problem.heldApart(loop, apart);
    await dropTree(besideOf(main), loop.worktree);
    try {
      await build(request, loop, tip);
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
