/** The last part of a run: its loop's work lands, loops that waited for it land, and what is left over is told. */
import { existsSync } from 'node:fs';
import type { Settings } from '../../config/index.ts';
import type { Exit, GateDef, LandingFact, State } from '../../core/index.ts';
import type { Landings } from '../../engine/index.ts';
import { type Unlanded, unlanded } from '../../fleet/index.ts';
import { openIntegration, readHead } from '../../repo/index.ts';
import { type Loop, readLoops, tellLoop } from '../../store/index.ts';
import { withoutOwnSecrets } from '../environment.ts';
import type { Place } from '../place.ts';
import { loopAt, mainPlace } from './beside.ts';
import { givenList, markList } from './given-list.ts';
import { aliveProblem, ownTree } from './intact.ts';
import { landOne, landWaiting } from './land.ts';
import { exitAfter } from './landing-words.ts';
import { takeBackLost } from './lost.ts';
import { noteLanding } from './note.ts';
import { landsIn } from './origin.ts';
import { limitsOf, purseOf } from './purse.ts';
import type { Play } from './settle.ts';

export interface Ended {
  exit: Exit;
  state: State;
  place: Place;
  landing?: LandingFact;
  unlanded?: Unlanded;
}

export interface EndCall {
  settings: Settings;
  gates: readonly GateDef[];
  /** Paths that are nobody's work, from the top of the work tree. */
  excluded: readonly string[];
  env: NodeJS.ProcessEnv;
  say(text: string): void;
  /** Plays another run, of an agent that is hired for a conflict. */
  play: Play;
}

/** How a run brings the work of its loop in; null where its work tree is no loop's. */
export function landingsOf(place: Place, call: EndCall): Landings | null {
  if (!call.settings.git || loopAt(place) === null) return null;
  return {
    async bringIn(state, { passedOn, signal }) {
      const landing = await bring({ place, state, passedOn, signal }, call);
      if (landing === null) throw new Error(`the loop of ${place.dir} is gone from the project's journal`);
      if (landing.type === 'loop.queued' && signal.aborted) await takeBack(place, state);
      return landing;
    },
  };
}

/** What its session broke off itself lands with the session, and by nobody else's hand meanwhile. */
async function takeBack({ mainDir }: Place, { session, policy }: State): Promise<void> {
  const loop = policy?.loop?.loop;
  if (session !== null && loop !== undefined)
    await tellLoop(mainDir, Date.now(), { type: 'loop.session', loop, session: session.id });
}

interface Bringing {
  place: Place;
  state: State;
  /** The commit whose content its gates passed on; null: they run first. */
  passedOn: string | null;
  signal?: AbortSignal;
}

async function bring(
  { place, state, passedOn, signal }: Bringing,
  { settings, gates, excluded, env, say, play }: EndCall,
): Promise<LandingFact | null> {
  const loop = loopAt(place) ?? (await takenBackAt(place, say));
  if (loop === null) return null;
  const overlook = [...state.dirty, ...excluded];
  const asking = { env, say, play, wait: settings.wait !== false, ...(signal && { signal }) };
  const work = { place, loop, state, gates, passedOn, overlook, settings };
  const landing = await landOne(work, asking, settings.land);
  if (landing.type === 'loop.landed') await markGiven(place, state, loop);
  return landing;
}

/** The journal may have been lost while the run worked. */
async function takenBackAt(place: Place, say: (text: string) => void): Promise<Loop | null> {
  await takeBackLost(await mainPlace(place), say);
  return loopAt(place);
}

/** A run that found nothing to do in the work tree of a loop whose work is done lands that work. */
export async function landIdle<T extends Ended>(
  ended: T,
  { ending, ...call }: EndCall & { ending: AbortSignal },
): Promise<T> {
  const { place, state, exit } = ended;
  const loop = call.settings.git && exit.code === 0 ? loopAt(place) : null;
  if (loop === null || !isOwed(loop)) return ended;
  // A landing that is under way must not lose its gates to this one.
  const tree = await ownTree(place.dir);
  if (tree !== null && tree.kind !== 'taken') throw aliveProblem(loop, tree.heldBy);
  const bringing = bring({ place, state, passedOn: null, signal: ending }, call);
  const landing = await bringing.finally(() => tree?.release());
  if (landing === null) return ended;
  await noteLanding({ main: await mainPlace(place), loop, say: call.say }, landing);
  return { ...ended, landing, exit: exitAfter(exit, landing) };
}

function isOwed({ session, standing }: NonNullable<ReturnType<typeof loopAt>>): boolean {
  if (standing === 'open') return session !== null;
  return standing !== 'landed' && standing !== 'handed_over';
}

/** The list that the loop was given a copy of says now what is done as well. */
async function markGiven(place: Place, state: State, loop: Loop): Promise<void> {
  const path = await givenList(place, state);
  if (path !== null) await markList(await landsIn(await mainPlace(place), loop), path, state);
}

/** A limit, a refusal, a person's stop, a signal or a defect ended it: nothing more is begun for anybody after that. */
const CUT_SHORT: ReadonlySet<number> = new Set([1, 5, 7, 9, 70, 130, 143]);

/** When the work tree is free again. `ending`: aborted where the process is told to end meanwhile. */
export async function lookBack<T extends Ended>(
  ended: T,
  { settings, env, say, play, ending }: EndCall & { ending: AbortSignal },
): Promise<T> {
  // Somebody may have taken its work tree away.
  const isThere = existsSync(ended.place.project.root);
  const place = isThere ? ended.place : await mainPlace(ended.place);
  const { root, gitDir, commonDir } = place.project;
  if (!settings.git || gitDir === null || commonDir === null) return ended;
  if (!CUT_SHORT.has(ended.exit.code)) {
    const purse = ended.state.run === null ? { left: limitsOf(settings) } : purseOf(ended.state);
    await landWaiting(ended.place, { env, say, play, signal: ending, purse });
  }
  await takeBackLost(await mainPlace(ended.place), say);
  const git = openIntegration({ commonDir, cwd: root, env });
  const { branch } = isThere
    ? await readHead({ root, gitDir, commonDir }, withoutOwnSecrets(env))
    : { branch: ended.state.policy?.loop?.branch ?? null };
  // What this run moved: its own branch, or the one that its loop landed on.
  const moved = ended.landing?.type === 'loop.landed' ? ended.landing.onto : branch;
  return { ...ended, unlanded: await unlanded(git, readLoops(ended.place.mainDir), moved) };
}
