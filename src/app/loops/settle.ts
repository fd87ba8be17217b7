/**
 * Hires an agent for the conflict of a landing: an errand like any other run, in a session and a work tree of its own,
 * where the merge lies as a draft. What of it lands is decided where loops land.
 */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Settings } from '../../config/index.ts';
import {
  type Exit,
  type JournalRecord,
  noLiveUsage,
  openQuestions,
  Problem,
  type State,
  spendingLimit,
} from '../../core/index.ts';
import { type House, matchesAny, OWN_RULES } from '../../engine/index.ts';
import type { Settler, Settling, SettlingJob } from '../../fleet/index.ts';
import { commitOfWork, dropTree, heldApart, isTreeOf, nameCommit, readHead } from '../../repo/index.ts';
import { type Loop, sessionsFolder } from '../../store/index.ts';
import { readState, sessionsHere } from '../choose.ts';
import { withoutOwnSecrets } from '../environment.ts';
import { markedProcesses } from '../leftovers.ts';
import { findPlace, type Place } from '../place.ts';
import type { RunRequest } from '../plan.ts';
import { treesFolder } from '../pool.ts';
import { besideOf, folderIn, givenIn, mainPlace, oursIn } from './beside.ts';
import { capsOf, emptied, isUnderWay, type Purse } from './purse.ts';
import { buildTree } from './tree.ts';

/** Plays a run to its end. Given from above, where runs are, so that a run may land and a landing may run. */
export type Play = (request: RunRequest) => Promise<{ exit: Exit; state: State }>;

export interface SettlerCall {
  place: Place;
  loop: Loop;
  /** The loop's own session; null: it has none. */
  state: State | null;
  settings: Pick<Settings, 'merge' | 'worktree' | 'protect' | 'promptFile' | 'limits'>;
  /** Of the run that lands it, where that is not the loop's own. */
  purse: Purse | null;
  gates: Settler['gates'];
  env: NodeJS.ProcessEnv;
  say(text: string): void;
  signal: AbortSignal | undefined;
  play: Play;
}

/** null: nobody is to be hired. */
export function settlerOf(call: SettlerCall): Settler | null {
  const agent = call.settings.merge.resolve;
  if (agent === null) return null;
  const tasks = [...(call.state?.tasks.values() ?? [])];
  return {
    agent,
    intents: tasks.filter(({ status }) => status === 'done').map(({ def }) => def.title),
    gates: call.gates,
    isOrder: ordersOf(call),
    barred: barredBy(call),
    work: (job) => work(call, agent, job),
    done: async (keep) => dropSettling(await mainPlace(call.place), call.loop.id, { env: call.env, keep }),
  };
}

function barredBy({ state, purse }: SettlerCall): string | null {
  const own = isUnderWay(state) ? spendingLimit(state, noLiveUsage()) : null;
  return own ?? (purse === null ? null : emptied(purse));
}

/** The configuration, the task list, the words for agents, and whatever no attempt may change. */
function ordersOf({ place, state, settings }: SettlerCall): (path: string) => boolean {
  const { root } = place.project;
  const given = [state?.source?.path ?? null, settings.promptFile].filter((path) => path !== null);
  const patterns = [
    ...OWN_RULES,
    ...settings.protect,
    ...given.map((path) => relative(place.dir, resolve(place.dir, path))),
  ];
  return (path) => matchesAny(patterns, relative(place.dir, join(root, path)));
}

/**
 * Takes all work trees of that kind away that a loop has, and ends whatever is still at work in them. Answers where what
 * was made in them is kept; null: nothing was, or it is not wanted.
 */
export async function dropSettling(
  main: Place,
  loop: string,
  { env, keep }: { env: NodeJS.ProcessEnv; keep: boolean },
): Promise<string | null> {
  const folder = folderOf(main, loop, env);
  const names = await readdir(folder).catch(() => []);
  let kept: string | null = null;
  for (const name of names) {
    const root = join(folder, name);
    const isTree = isTreeOf(main.project, root);
    if (isTree) await endIn(await findPlace(folderIn(main, { worktree: root })));
    const made: Kept = isTree && keep ? await keepMade(main, root) : { where: null, stays: false };
    kept = made.where ?? kept;
    if (!made.stays) await dropTree(besideOf(main), root);
  }
  // What stays in it stays.
  if (names.length > 0) await rmdir(folder).catch(() => undefined);
  return kept;
}

/** What an agent left that nobody waits for any more, as a person settled the conflict meanwhile: kept, and cleared. */
export async function clearHired(
  place: Place,
  loop: string,
  { env, say }: Pick<SettlerCall, 'env' | 'say'>,
): Promise<void> {
  if (!existsSync(folderOf(place, loop, env))) return;
  const kept = await dropSettling(await mainPlace(place), loop, { env, keep: true });
  if (kept !== null)
    say(`Nobody needs what an agent was hired to make for loop ${loop} any more; it is kept: ${kept}.`);
}

/** `stays`: the work tree is all there is of it. */
interface Kept {
  where: string | null;
  stays: boolean;
}

/** All that was made in such a work tree, committed or not, under a name of ours. */
async function keepMade(main: Place, root: string): Promise<Kept> {
  const stays: Kept = { where: root, stays: true };
  const place = await findPlace(folderIn(main, { worktree: root }));
  const { gitDir, commonDir } = place.project;
  const beside = besideOf(main);
  const folders = { root, gitDir: gitDir!, commonDir: commonDir! };
  const { head } = await readHead(folders, withoutOwnSecrets(process.env));
  // What only a repository within it holds is in no commit of its.
  if (head === null || (await heldApart(beside, root)).length > 0) return stays;
  const session = (await sessionsHere(place)).at(-1)?.id ?? basename(root);
  const without = [...givenIn(gitDir), ...oursIn(main)];
  const message = `Uncommitted work of session ${session}`;
  const work = await commitOfWork(beside, root, { head, message, without }).catch(() => 'not kept' as const);
  if (work === 'not kept') return stays;
  if (work === null && isDraft(root, head)) return { where: null, stays: false };
  const ref = `refs/ralph/hired/${session}`;
  return (await nameCommit(beside, ref, work ?? head)) ? { where: ref, stays: false } : stays;
}

const folderOf = ({ mainDir }: Place, loop: string, env: NodeJS.ProcessEnv): string =>
  join(treesFolder(mainDir, env), 'conflicts', loop);

/** An agent may have outlived the process that started it. */
async function endIn(place: Place): Promise<void> {
  for (const { dir } of await sessionsHere(place)) {
    const { attempts, open } = readState(dir);
    await markedProcesses.endMarked([...open].flatMap((iteration) => attempts.get(iteration)?.marker ?? []));
  }
}

async function work(call: SettlerCall, agent: string, job: SettlingJob): Promise<Settling> {
  const main = await mainPlace(call.place);
  try {
    const root = await treeFor(call, main, job);
    if (root === null) return failed('began, and its work tree is gone');
    return await inTree(call, agent, { job, main, root });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return failed(`could not work: ${error.facts.what} ${error.facts.why}`);
  }
}

const failed = (why: string): Settling => ({
  kind: 'failed',
  why: why.replace(/[.\s]+$/, ''),
});

const shortOf = (draft: string): string => draft.slice(0, 7);
/** Nothing was committed there. */
const isDraft = (root: string, head: string): boolean => root.endsWith(`-${shortOf(head)}`);

/** Where it works; null: it was at work there, and it is gone. */
async function treeFor(
  { loop, settings, env }: SettlerCall,
  main: Place,
  { draft, session }: SettlingJob,
): Promise<string | null> {
  // Sessions are known by the path of their work tree: each draft has one of its own.
  const named = (folder: string) => join(folder, `${loop.id}-conflict-${shortOf(draft)}`);
  const folder = folderOf(main, loop.id, env);
  if (session !== null) {
    const root = named(folder);
    return isTreeOf(main.project, root) ? realpathSync(root) : null;
  }
  await dropSettling(main, loop.id, { env, keep: true });
  await mkdir(folder, { recursive: true });
  const root = named(realpathSync(folder));
  const inputs = ['ralph.yml', '.ralph/ralph.toml'];
  const how = { root, flags: ['-f', '--detach'], start: draft, id: loop.id, inputs };
  const why = await buildTree({ main, from: main, ...how, worktree: settings.worktree, env });
  if (why !== null)
    throw new Problem({ code: 'loop.not_made', what: 'No work tree could be made for it.', why, fix: '' });
  return root;
}

interface At {
  job: SettlingJob;
  main: Place;
  root: string;
}

/** The end of a run that a signal ended: it goes on the next time. */
const INTERRUPTED = new Set([130, 143]);

async function inTree(call: SettlerCall, agent: string, { job, main, root }: At): Promise<Settling> {
  const known = job.session === null ? null : readState(join(sessionsFolder(main.mainDir), job.session));
  const stopped = known?.run?.stopped ?? null;
  const isOver = known !== null && stopped !== null && !INTERRUPTED.has(stopped.code);
  const { exit, state } = isOver
    ? { exit: stopped, state: known }
    : await call.play(requestFor(call, agent, { job, main, root, known }));
  if (INTERRUPTED.has(exit.code)) return { kind: 'interrupted' };
  const { gitDir, commonDir } = (await findPlace(root)).project;
  const folders = { root, gitDir: gitDir!, commonDir: commonDir! };
  const { head } = await readHead(folders, withoutOwnSecrets(call.env));
  if (exit.code === 0 && head !== null) return { kind: 'done', tree: root, given: givenIn(gitDir), head };
  return failed(`did not: ${reasonOf(exit, state)}`);
}

/** What became of its attempt says more than that no other one is allowed. */
function reasonOf({ reason }: Exit, state: State): string {
  const last = [...state.attempts.values()].at(-1);
  const asked = openQuestions(state).at(-1);
  if (asked !== undefined) return `it asks: ${asked.question.text.split('\n')[0]}`;
  const { verdict = null, lost = null } = last ?? {};
  const uncommitted = [...state.tasks.values()].find(({ landed }) => landed === 'failed');
  return uncommitted?.landingReason ?? verdict?.reason ?? lost ?? reason;
}

function requestFor(
  call: SettlerCall,
  agent: string,
  { job, main, root, known }: At & { known: State | null },
): RunRequest {
  const { env, say, signal } = call;
  return {
    cwd: folderIn(main, { worktree: root }),
    env,
    flags: capsOf({ ...call, known }),
    objective: job.prompt,
    session: job.session,
    fresh: job.session === null,
    reopen: false,
    force: false,
    allowDetached: true,
    interactive: false,
    resume: false,
    audience: {
      record: (record) => passOn(record, `${agent}, hired for loop ${call.loop.id}`, say),
      event: () => undefined,
      say,
    },
    loop: null,
    errand: { agent },
    opened: async (house) => {
      heed(house, signal);
      await job.begun(house.sessionId);
    },
  };
}

/** What of the user's it touched: nobody looks into its session unasked. */
function passOn({ facts }: JournalRecord, who: string, say: (text: string) => void): void {
  for (const fact of facts)
    if (fact.type === 'notice.given' && fact.level === 'critical') say(`${who}: ${fact.text}`);
}

/** Who ends the landing ends the agent. */
function heed({ interrupt }: House, signal: AbortSignal | undefined): void {
  const end = () => {
    interrupt.signal ??= 'SIGINT';
    interrupt.wake();
  };
  if (signal?.aborted) end();
  else signal?.addEventListener('abort', end, { once: true });
}
