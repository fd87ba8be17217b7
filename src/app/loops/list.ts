/** `ralph loops`: every loop of the project, the main checkout's own first. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, type State, shellWord } from '../../core/index.ts';
import { type BrokenOff, brokenOff } from '../../fleet/index.ts';
import { type BranchStanding, branchStandings, branchTips, isTreeOf, readHead } from '../../repo/index.ts';
import {
  followLoops,
  isWholeRecord,
  type Loop,
  readLock,
  readLoops,
  readProject,
  sessionsFolder,
} from '../../store/index.ts';
import {
  type BranchCommits,
  type HalfEntered,
  type LiveInfo,
  type LoopFacts,
  type LoopJson,
  loopJson,
  loopsText,
  strayJson,
} from '../../views/index.ts';
import { sessionsHere } from '../choose.ts';
import { withoutOwnSecrets } from '../environment.ts';
import { MAIN_LOOP } from '../loop-name.ts';
import { findPlace, type Place } from '../place.ts';
import { primaryLock } from '../primary.ts';
import { foldOf, liveOf } from '../windows.ts';
import { movedByHired } from './astray.ts';
import { besideOf, mainPlace, shortRef } from './beside.ts';
import { afterLanding, lastHead } from './intact.ts';
import { takeBackLost } from './lost.ts';

/** `lost`: what the project journal should have told of loops and did not, a sentence each. */
export async function listLoops(cwd: string): Promise<{ data: LoopJson[]; text: string; lost: string[] }> {
  const main = await mainPlace(await findPlace(cwd));
  const lost = damageWords(main);
  const { back, strays } = await takeBackLost(main, (text) => lost.push(text));
  const by = new Map(back.map((one) => [one.id, one.by]));
  const rows = (await loopRows(main)).map((row) => {
    const evidence = by.get(row.loop_id);
    return evidence === undefined ? row : { ...row, taken_back: evidence };
  });
  const data = [...rows, ...strays.map(strayJson)];
  return { data, text: loopsText(data, Date.now()), lost };
}

/** The same for who only looks in passing. */
export async function loopsHere(cwd: string): Promise<LoopJson[]> {
  return loopRows(await mainPlace(await findPlace(cwd)));
}

/** Landings that were killed while their files were entered, and nobody at them now. */
export async function landingsBrokenOff({ mainDir, project }: Place): Promise<BrokenOff[]> {
  const { commonDir } = project;
  return commonDir === null ? [] : brokenOff({ mainDir, commonDir, env: process.env });
}

/** The same for a window, with what completes each. */
export async function brokenLandings(cwd: string): Promise<(BrokenOff & { next: string })[]> {
  const broken = await landingsBrokenOff(await mainPlace(await findPlace(cwd)));
  return broken.map((one) => ({ ...one, next: `ralph loops merge ${one.loop}` }));
}

const withoutLoop = ({ checkout, files }: BrokenOff): HalfEntered => ({ checkout, files });

function damageWords(main: Place): string[] {
  const { bad } = readProject(main.mainDir, isWholeRecord, { compressed: true });
  if (bad.length === 0) return [];
  const places = bad.slice(0, 5).map(({ place }) => `.ralph/${place}`);
  return [
    `Cannot be read, and may have told of loops: ${places.join(', ')}${bad.length > 5 ? ` and ${bad.length - 5} more` : ''}.`,
  ];
}

/** Those whose work tree is there, or ought to be, and how their branches stand. */
export async function loopRows(main: Place): Promise<LoopJson[]> {
  const loops = readLoops(main.mainDir).filter(isStanding);
  const branch = await branchOfMain(main);
  const refs = await branchStandings(besideOf(main), [
    ...(branch === null ? [] : [{ ref: `refs/heads/${branch}`, onto: null }]),
    ...loops.map(({ branch: ref, onto }) => ({ ref, onto })),
  ]);
  const tips = branchTips(main.project);
  const stillAt = (ref: string, commit: string) => tips === null || tips[ref] === commit;
  const broken = await landingsBrokenOff(main);
  const look = async (loop: Loop) => {
    const standing = refs.get(loop.branch);
    const later = loop.standing === 'landed' && standing?.unmerged ? await afterLanding(main, loop) : [];
    const damage = damageOf(main, loop, standing !== undefined);
    const halfEntered = broken.filter((one) => one.loop === loop.id).map(withoutLoop);
    const moved = { stillAt, movedByHired: movedByHired(main, loop) };
    return { damage, later: later.length, ...moved, halfEntered, ...commitsOf(standing) };
  };
  const own = { ...commitsOf(refs.get(`refs/heads/${branch}`)), stillAt };
  return rows(main, { loops, branch, own, look });
}

/**
 * The same as the journals tell it, without a git process, again and again; `own`: a session that is being written,
 * or none.
 */
export function loopsToDraw(main: Place): (own: State | null) => Promise<LoopJson[]> {
  const registry = followLoops(main.mainDir);
  const none = commitsOf(undefined);
  return async (writing) => {
    const look = async () => ({ damage: null, later: 0, ...none });
    const loops = registry().filter(isStanding);
    return rows(main, { loops, branch: await branchOfMain(main), own: none, look, writing });
  };
}

const isStanding = ({ standing }: Loop): boolean => standing !== 'removed';

const commitsOf = (standing: BranchStanding | undefined): BranchCommits => ({
  unmerged: standing?.unmerged ?? null,
  unpushed: standing?.unpushed ?? null,
});

type Seen = BranchCommits & Pick<LoopFacts, 'stillAt' | 'halfEntered' | 'movedByHired'>;

interface Rows {
  loops: readonly Loop[];
  /** The branch of the main checkout; null: none. */
  branch: string | null;
  own: Seen;
  look(loop: Loop): Promise<Seen & Pick<LoopFacts, 'damage' | 'later'>>;
  writing?: State | null;
}

async function rows(main: Place, { loops, branch, own, look, writing = null }: Rows): Promise<LoopJson[]> {
  const holder = await readLock(primaryLock(main.mainDir)).catch(() => null);
  const isGone = holder === null || holder.alive === false;
  // A run that has just ended hears nobody any more, and is about to say so.
  const isLeaving = writing?.session?.id === holder?.sessionId && (writing?.run?.stopped ?? null) !== null;
  const primary = isGone || isLeaving ? null : holder.sessionId;
  const beside = await Promise.all(
    loops.map(async (loop) => {
      const { broken, ...found } = await sessionOf(main, loop.session, writing);
      const { damage, ...seen } = await look(loop);
      const refs = { branch: shortRef(loop.branch), onto: shortRef(loop.onto) };
      const facts = { ...loop, ...refs, ...seen, damage: damage ?? broken };
      return loopJson({ loop: facts, ...found, primary: primary !== null && primary === loop.session });
    }),
  );
  // null: nothing was ever run in the main checkout itself. The one that is being written there needs no search.
  const isMains = writing?.session?.ground === '.';
  const session = isMains ? writing!.session!.id : ((await sessionsHere(main)).at(-1)?.id ?? null);
  if (session === null) return beside;
  const { broken, ...found } = await sessionOf(main, session, writing);
  const where = {
    id: MAIN_LOOP,
    session,
    branch,
    onto: null,
    worktree: main.project.root,
    parked: null,
    hired: null,
    damage: broken,
    later: 0,
  };
  const loop = { ...where, ...own, standing: 'open' as const };
  return [loopJson({ loop, ...found, primary: primary === session }), ...beside];
}

async function branchOfMain({ project }: Place): Promise<string | null> {
  const { root, gitDir, commonDir } = project;
  if (gitDir === null || commonDir === null) return null;
  return (await readHead({ root, gitDir, commonDir }, withoutOwnSecrets(process.env))).branch;
}

/** `broken`: its journal cannot be read; nothing but that is known of it then. */
async function sessionOf(main: Place, id: string | null, writing: State | null) {
  const dir = id === null ? null : join(sessionsFolder(main.mainDir), id);
  const none = { state: null, live: { runner: null } as LiveInfo, broken: null };
  if (dir === null || !existsSync(join(dir, 'journal.jsonl'))) return none;
  try {
    const state = writing?.session?.id === id ? writing : foldOf(dir);
    return { state, live: await liveOf(dir), broken: null };
  } catch (error) {
    if (!(error instanceof Problem && error.facts.code.startsWith('journal.'))) throw error;
    return { ...none, broken: error.facts.what.replace(/\.$/, '') };
  }
}

function damageOf(main: Place, loop: Loop, hasBranch: boolean): string | null {
  if (!hasBranch) {
    const last = lastHead(main, loop);
    const back = last === null ? '' : ` (git branch ${shortRef(loop.branch)} ${last} brings it back)`;
    return `its branch is gone${back}`;
  }
  if (isTreeOf(main.project, loop.worktree)) return null;
  const isThere = existsSync(loop.worktree) && readdirSync(loop.worktree).length > 0;
  return isThere
    ? `its work tree does not lead to this repository any more (git -C ${shellWord(main.dir)} worktree repair)`
    : 'its work tree is gone';
}
