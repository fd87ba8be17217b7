/**
 * Loops that the project journal tells nothing of any more, because it was deleted or its lines were damaged. What
 * else is known of them says whose they are: the mark that we left in git's own folder of a work tree, and the
 * session that worked there. On that evidence they go back into the journal; a branch or a work tree without it may
 * be a person's, and is only named.
 */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Problem, type State, shellWord } from '../../core/index.ts';
import { ownIdentity } from '../../process/index.ts';
import { branchesAt, branchTips, holds, linkedTrees, mergeBase } from '../../repo/index.ts';
import {
  type Loop,
  type LoopNews,
  listSessions,
  loopsOf,
  type ProjectRecord,
  readLoops,
  readProject,
  takeLock,
  tellLoop,
} from '../../store/index.ts';
import { readState } from '../choose.ts';
import { groundOf } from '../known-loops.ts';
import type { Place } from '../place.ts';
import { treesFolder } from '../pool.ts';
import { besideOf, link, loopBranch, type Mark, makingLock, markIn, shortRef } from './beside.ts';

/** A loop of ours, and by what it was known. */
interface Known {
  loop: Loop;
  news: LoopNews[];
  by: string;
}

/** What looks like a loop's and cannot be told to be ours. */
export interface Stray {
  /** The name a loop of that branch would have. */
  id: string;
  /** Short. */
  branch: string;
  /** null: it is checked out nowhere. */
  worktree: string | null;
  why: string;
  next: string;
}

export interface Lost {
  known: Known[];
  strays: Stray[];
}

/** What the registry lacks; nothing is written. Without a sign of any loop this asks nobody. */
export async function lostLoops(main: Place): Promise<Lost> {
  const { commonDir } = main.project;
  if (commonDir === null) return { known: [], strays: [] };
  const below = loopBranch('');
  const tips =
    branchTips({ commonDir }) ?? Object.fromEntries(await branchesAt(besideOf(main), below.slice(0, -1)));
  const branches = Object.keys(tips).filter((ref) => ref.startsWith(below));
  const trees = linkedTrees(commonDir).map(({ root, branch, gitDir }) => {
    return { root: realOf(root), branch, mark: markIn(gitDir) };
  });
  if (branches.length === 0 && trees.every(({ mark }) => mark === null)) return { known: [], strays: [] };
  const registry = readLoops(main.mainDir);
  const isKnown = (root: string) => registry.some(({ worktree }) => worktree === root);
  const lostTrees = trees.filter(({ root, mark }) => mark !== null && !isKnown(root));
  const lostBranches = branches.filter((ref) => !registry.some(({ branch }) => branch === ref));
  if (lostBranches.length === 0 && lostTrees.length === 0) return { known: [], strays: [] };
  return judge(main, { registry, trees, lostTrees, lostBranches });
}

interface Tree {
  root: string;
  /** Full name; null: it is on none. */
  branch: string | null;
  /** null: it is none that we made. */
  mark: Mark | null;
}

interface Signs {
  registry: readonly Loop[];
  trees: readonly Tree[];
  lostTrees: readonly Tree[];
  lostBranches: readonly string[];
}

async function judge(main: Place, { registry, trees, lostTrees, lostBranches }: Signs): Promise<Lost> {
  const roots = new Set(lostTrees.map(({ root }) => root));
  const names = lostBranches.map(nameOf);
  const sessions = await loopSessions(
    main,
    (ground) => roots.has(ground) || names.some((name) => isPlaceOf(ground, name)),
  );
  const there = new Set(
    registry.filter(({ standing }) => standing !== 'removed').map(({ id }) => id.toLowerCase()),
  );
  const found: Lost = { known: [], strays: [] };
  const open = new Set(lostBranches);
  const take = async (id: string, evidence: Evidence): Promise<boolean> => {
    const known = there.has(id.toLowerCase()) ? null : await knownBy(main, id, evidence);
    if (known === null) return false;
    found.known.push(known);
    there.add(id.toLowerCase());
    open.delete(known.loop.branch);
    return true;
  };
  for (const tree of lostTrees) {
    const session = sessions.find(({ ground }) => ground === tree.root) ?? null;
    const id = tree.mark?.loop?.id ?? session?.work.loop;
    if (id !== undefined) await take(id, { tree, session });
  }
  for (const branch of [...open]) {
    const id = nameOf(branch);
    const session = sessions.find(({ work }) => work.loop === id) ?? null;
    const isOurs = session !== null && (await isBranchOf(main, branch, session));
    if (isOurs && (await take(id, { tree: null, session }))) continue;
    found.strays.push(stray(id, trees.find((tree) => tree.branch === branch)?.root ?? null));
  }
  return found;
}

const nameOf = (branch: string): string => branch.slice(loopBranch('').length);

/** Where a loop of that name works, or one that had it after another. */
function isPlaceOf(ground: string, name: string): boolean {
  const folder = basename(ground);
  return folder === name || folder.startsWith(`${name}-`);
}

/** It holds what its session made. Of what has landed any branch may do so that a person began since. */
async function isBranchOf(main: Place, branch: string, { state, work }: LoopSession): Promise<boolean> {
  const head = state.lastMark?.head ?? null;
  const beside = besideOf(main);
  if (head === null || !(await holds(beside, head, branch))) return false;
  const tip = (await branchesAt(beside, branch)).get(branch);
  const landed = state.landing?.type === 'loop.landed' ? state.landing.commit : null;
  return tip === head || tip === landed || !(await holds(beside, head, `refs/heads/${work.onto}`));
}

interface LoopSession {
  id: string;
  ground: string;
  state: State;
  work: NonNullable<NonNullable<State['policy']>['loop']>;
}

/** Sessions that worked in a loop of their own there, the newest first. Only those are read as a whole. */
async function loopSessions(main: Place, isMeant: (ground: string) => boolean): Promise<LoopSession[]> {
  const listed = (await listSessions(main.mainDir)).filter(({ hasJournal }) => hasJournal);
  return listed.reverse().flatMap(({ id, dir }) => {
    const ground = groundOf(dir);
    if (ground === null || ground === '.' || !isMeant(ground)) return [];
    const state = stateIn(dir);
    const work = state?.policy?.loop;
    return state === null || work === undefined ? [] : [{ id, ground, state, work }];
  });
}

function stateIn(dir: string): State | null {
  try {
    return readState(dir);
  } catch (error) {
    // A journal that is damaged itself is no evidence.
    if (error instanceof Problem) return null;
    throw error;
  }
}

interface Evidence {
  tree: Tree | null;
  session: LoopSession | null;
}

/** The loop as its evidence tells it; null where that is not enough. */
async function knownBy(main: Place, id: string, { tree, session }: Evidence): Promise<Known | null> {
  const branch = loopBranch(id);
  const work = session?.work.loop === id ? session.work : null;
  const onto = tree?.mark?.loop?.onto ?? (work === null ? null : `refs/heads/${work.onto}`);
  const worktree = tree?.root ?? session?.ground;
  const tip = (await branchesAt(besideOf(main), branch)).get(branch) ?? session?.state.lastMark?.head ?? null;
  if (onto === null || worktree === undefined || tip === null) return null;
  const base = tree?.mark?.loop?.base ?? (await mergeBase(besideOf(main), tip, onto));
  if (base === null) return null;
  const news: LoopNews[] = [{ type: 'loop.created', loop: id, branch, onto, base, worktree }];
  if (work !== null) news.push({ type: 'loop.session', loop: id, session: session!.id });
  news.push(...leftNews(main, id));
  // What the journal tells no more, the session may.
  if (work !== null && folded(news)?.standing === 'open') news.push(...landingNews(session!, { id, tip }));
  const loop = folded(news);
  if (loop === null) return null;
  const by = [
    ...(tree === null ? [] : ['its work tree']),
    ...(work === null ? [] : [`session ${session!.id}`]),
  ];
  return { loop, news, by: by.join(' and ') };
}

/** null: it would be no news of a loop. */
function folded(news: readonly LoopNews[]): Loop | null {
  return loopsOf(news.map((one) => ({ v: 1, at: Date.now(), ...one }) as ProjectRecord))[0] ?? null;
}

/** What still stands in the journal behind a first line that is lost. */
function leftNews({ mainDir }: Place, id: string): LoopNews[] {
  const { records } = readProject(mainDir, undefined, { compressed: true });
  const its = records.filter(({ type, loop }) => type.startsWith('loop.') && loop === id);
  const last = its.findLastIndex(({ type }) => type === 'loop.created' || type === 'loop.removed');
  return its.slice(last + 1) as unknown as LoopNews[];
}

function landingNews({ state }: LoopSession, { id, tip }: { id: string; tip: string }): LoopNews[] {
  const { landing } = state;
  switch (landing?.type) {
    case 'loop.landed':
      return [
        {
          type: 'loop.landed',
          loop: id,
          commit: landing.commit,
          ...(landing.unfinished && { unfinished: true as const }),
        },
      ];
    case 'loop.parked':
      return [{ type: 'loop.parked', loop: id, why: landing.why, files: landing.files, next: landing.next }];
    case 'loop.queued':
      return [{ type: 'loop.queued', loop: id, head: tip }];
    case 'loop.handed_over':
      return [{ type: 'loop.handed_over', loop: id, head: tip }];
    case 'loop.discarded':
      return [{ type: 'loop.discarded', loop: id, keptAs: landing.keptAs }];
    default:
      return [];
  }
}

function stray(id: string, worktree: string | null): Stray {
  const branch = `ralph/${id}`;
  return {
    id,
    branch,
    worktree,
    why: `branch ${branch} belongs to no loop that .ralph/journal.jsonl tells of, and nothing shows that Ralph made it`,
    next: `git log ${shellWord(branch)} shows its commits, git merge ${shellWord(branch)} brings them in; to have a loop of that name, rename it: git branch -m ${shellWord(branch)} ${shellWord(`${branch.replaceAll('/', '-')}-mine`)}`,
  };
}

export interface TakenBack {
  id: string;
  by: string;
}

/**
 * The loops that were lost go back into the journal, each under the lock of its name; one that somebody makes or finds
 * at this moment is left to them. Where the journal takes nothing they are named as strays.
 */
export async function takeBackLost(
  main: Place,
  say: (text: string) => void,
): Promise<{ back: TakenBack[]; strays: Stray[] }> {
  const { known, strays } = await lostLoops(main);
  const back: TakenBack[] = [];
  for (const one of known) {
    const outcome = await takeBack(main, one).catch((error: Error) => error);
    if (outcome === true) back.push({ id: one.loop.id, by: one.by });
    else if (outcome !== false) strays.push(unwritten(one, outcome));
  }
  if (back.length > 0) say(backWords(back));
  return { back, strays };
}

async function takeBack(main: Place, { loop, news }: Known): Promise<boolean> {
  const folder = join(treesFolder(main.mainDir, process.env), 'loops');
  await mkdir(folder, { recursive: true });
  const file = makingLock(folder, loop.id);
  const lock = await takeLock({ file, identity: ownIdentity(), sessionId: '', now: Date.now() });
  if (lock.kind !== 'taken') return false;
  try {
    const now = readLoops(main.mainDir).find(({ id }) => id === loop.id);
    if (now !== undefined && now.standing !== 'removed') return false;
    await tellLoop(main.mainDir, Date.now(), ...news);
    if (existsSync(loop.worktree)) await link(main, loop);
    return true;
  } finally {
    await lock.release();
  }
}

function unwritten({ loop, by }: Known, error: Error): Stray {
  const words = error instanceof Problem ? `${error.facts.what} ${error.facts.why}` : error.message;
  return {
    id: loop.id,
    branch: shortRef(loop.branch),
    worktree: loop.worktree,
    why: `it is a loop of ours by ${by}, and could not be written to .ralph/journal.jsonl: ${words.replace(/\.$/, '')}`,
    next: 'ralph loops',
  };
}

function backWords(back: readonly TakenBack[]): string {
  const [is, it] = back.length === 1 ? ['', 'it was'] : ['s', 'they were'];
  const named = back.map(({ id, by }) => `${id} (by ${by})`);
  return `Nothing in .ralph/journal.jsonl told of loop${is} ${named.join(', ')} any more: deleted or damaged lines. By that evidence ${it} taken back.`;
}

/** As the journal of loops has it: links resolved. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
