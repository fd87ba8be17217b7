/** Whether a loop's branch and work tree are as we left them: people delete, move and switch both. */
import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { nearest, Problem, thereAre } from '../../core/index.ts';
import { ownIdentity } from '../../process/index.ts';
import {
  branchesAt,
  checkouts,
  commitsBeyond,
  gitDirOf,
  heldTree,
  isTreeOf,
  listTrees,
  type NamedCommit,
  readHead,
} from '../../repo/index.ts';
import {
  isHeld,
  type LockAnswer,
  type Loop,
  readLock,
  readLoops,
  sessionsFolder,
  takeLock,
  treeLock,
} from '../../store/index.ts';
import { liveRun } from '../checks/place.ts';
import { readState } from '../choose.ts';
import { withoutOwnSecrets } from '../environment.ts';
import { formerProblem, registered } from '../former-loop.ts';
import { findPlace, type Place } from '../place.ts';
import { besideOf, folderIn, mainPlace, makingLock, markIn } from './beside.ts';
import { takeBackLost } from './lost.ts';
import * as problem from './problems.ts';

/** The loop of this name; a Problem that names what there is. */
export async function loopHere(
  cwd: string,
  name: string,
  say: (text: string) => void,
): Promise<{ main: Place; loop: Loop }> {
  const main = await mainPlace(await findPlace(cwd));
  const { strays } = await takeBackLost(main, say);
  const all = readLoops(main.mainDir);
  const loops = all.filter(({ standing }) => standing !== 'removed');
  const loop = all.find(({ id }) => id === name.replace(/^@/, ''));
  if (loop !== undefined && loop.standing !== 'removed') return { main, loop };
  const ids = loops.map(({ id }) => id);
  if (loop !== undefined) throw formerProblem(main.mainDir, registered(main.mainDir, loop), ids);
  const stray = strays.find(({ id }) => id === name.replace(/^@/, ''));
  if (stray !== undefined) throw problem.stray(stray);
  const near = nearest(name, ids);
  throw new Problem({
    code: 'loop.unknown',
    what: `There is no loop called ${name === '' ? '""' : name}.${near === null ? '' : ` Did you mean ${near}?`}`,
    why: ids.length === 0 ? 'No loop has a work tree of its own here.' : thereAre(ids),
    fix: 'See `ralph loops`.',
  });
}

/**
 * Where its branch stands; null: it is gone, and no session ever worked on it. Throws a Problem for what only a
 * person can set right.
 */
export async function branchOf(main: Place, loop: Loop): Promise<string | null> {
  const beside = besideOf(main);
  const tip = (await branchesAt(beside, loop.branch)).get(loop.branch) ?? null;
  if (isTreeOf(main.project, loop.worktree)) {
    await onItsBranch(loop, tip, main);
    return tip;
  }
  const elsewhere = (await listTrees(beside)).find(
    ({ branch, root }) => branch === loop.branch && root !== loop.worktree && existsSync(root),
  );
  if (elsewhere !== undefined) {
    // One that we made was moved; any other is a checkout of a person's.
    const isOurs = markIn(gitDirOf(elsewhere.root)) !== null;
    throw isOurs ? problem.moved(loop, elsewhere.root) : problem.branchInUse(loop, elsewhere.root);
  }
  requireTree(main, loop);
  if (tip === null && loop.session !== null) throw problem.branchGone(loop, lastHead(main, loop));
  return tip;
}

/** Throws a Problem where something else lies at its place: nobody told us that it may go. */
export function requireTree(main: Place, loop: Loop): void {
  const { worktree } = loop;
  if (isTreeOf(main.project, worktree)) return;
  const there = lstatSync(worktree, { throwIfNoEntry: false });
  if (there === undefined) return;
  // A start that was killed may have made nothing but the file that leads to the repository.
  const isFile = (entry: Dirent) => entry.name === '.git' && entry.isFile();
  if (!there.isDirectory() || readdirSync(worktree, { withFileTypes: true }).some((entry) => !isFile(entry)))
    throw problem.noTree(loop, main.dir);
}

/** Throws a Problem where somebody had git hold its work tree, or works on its branch elsewhere: neither may go then. */
export function requireFree({ project }: Place, loop: Loop): void {
  requireUnheld(project.commonDir!, loop);
  const elsewhere = checkouts(project.commonDir!, loop.branch).find(
    ({ root }) => realpathSync(root) !== loop.worktree,
  );
  if (elsewhere !== undefined) throw problem.branchInUse(loop, elsewhere.root);
}

export function requireUnheld(commonDir: string, loop: Loop): void {
  const reason = heldTree(commonDir, loop.worktree);
  if (reason !== null) throw problem.treeHeld(loop, reason);
}

async function onItsBranch(loop: Loop, tip: string | null, main: Place): Promise<void> {
  const { root, gitDir, commonDir } = (await findPlace(loop.worktree)).project;
  const { branch } = await readHead(
    { root, gitDir: gitDir!, commonDir: commonDir! },
    withoutOwnSecrets(process.env),
  );
  // Nobody can switch to a branch that is gone.
  if (tip === null) throw problem.branchGone(loop, lastHead(main, loop));
  if (branch === null || `refs/heads/${branch}` !== loop.branch) throw problem.otherBranch(loop, branch);
}

/** Commits that somebody made on the branch of a loop after its work had landed, the newest first. */
export async function afterLanding(main: Place, loop: Loop): Promise<NamedCommit[]> {
  const beside = besideOf(main);
  const tips = await branchesAt(beside, loop.branch);
  const onto = (await branchesAt(beside, loop.onto)).get(loop.onto);
  const tip = tips.get(loop.branch);
  if (loop.standing !== 'landed' || tip === undefined) return [];
  // What was set back or rewritten since it landed is no commit of after the landing.
  const landed = [loop.landed, loop.base, onto].filter((commit) => commit != null);
  return commitsBeyond(beside, tip, landed);
}

/** Throws a Problem where its branch holds commits of after its landing: another loop of its name would take their place. */
export async function requireAllLanded(main: Place, loop: Loop): Promise<void> {
  const commits = await afterLanding(main, loop);
  if (commits.length > 0) throw problem.madeAfterLanding(loop, commits);
}

/** The last commit that a session saw on it. */
export function lastHead({ mainDir }: Place, { session, head }: Loop): string | null {
  if (session === null) return head;
  return readState(join(sessionsFolder(mainDir), session)).lastMark?.head ?? head;
}

/** Throws a Problem where a run works in it, where it lands, and where another start is making it. */
export async function requireIdle(main: Place, loop: Loop): Promise<void> {
  const maker = await readLock(makingLock(dirname(loop.worktree), loop.id)).catch(() => null);
  if (maker !== null && isHeld(maker) && maker.pid !== process.pid) throw problem.beingMade(loop.id);
  if (!isTreeOf(main.project, loop.worktree)) return;
  const holder = await liveRun(await findPlace(folderIn(main, loop)));
  if (holder !== null) throw aliveProblem(loop, holder);
}

/** Whoever has its work tree now brings its work in. */
export function isLanding({ standing, queued }: Loop, holder: { pid: number }): boolean {
  return standing === 'queued' && queued?.by?.pid === holder.pid;
}

export function aliveProblem(loop: Loop, holder: { pid: number }): Problem {
  if (isLanding(loop, holder))
    return new Problem({
      code: 'loop.landing',
      what: `Loop ${loop.id} is landing (pid ${holder.pid}).`,
      why: 'It waits for its turn, or its gates run; nobody else may work in its work tree meanwhile.',
      fix: 'Wait for its end, then look at `ralph loops`.',
    });
  return new Problem({
    code: 'loop.alive',
    what: `A run works in loop ${loop.id} (pid ${holder.pid}).`,
    why: 'What it does now would be lost.',
    fix: `ralph loops stop ${loop.id}, wait for its end, then run this again.`,
  });
}

/** Keeps runs out of a project folder of its work tree; null: none ever worked there, so there is nobody to keep out. */
export async function ownTree(folder: string): Promise<LockAnswer | null> {
  if (!existsSync(join(folder, '.ralph'))) return null;
  return takeLock({ file: treeLock(folder), identity: ownIdentity(), sessionId: '', now: Date.now() });
}
