/**
 * What becomes of a loop's work once it is done: at the end of its run, at the end of a run in the main checkout for
 * loops that waited and whose process is gone, and by `ralph loops merge`. `land` is about branches of loops: a run
 * in a work tree that is no loop's has its work on the branch that is checked out there, and nothing is moved.
 */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Flags, Settings } from '../../config/index.ts';
import {
  type GateDef,
  type LandedWork,
  type LandingFact,
  type LandingHire,
  landedTasks,
  landedWork,
  landingText,
  Problem,
  redAsBefore,
  type State,
  TO_DO,
  unfinishedOf,
} from '../../core/index.ts';
import { handOver, type Landing, landLoop } from '../../fleet/index.ts';
import { isAlive, ownIdentity } from '../../process/index.ts';
import { gitDirOf } from '../../repo/index.ts';
import { type Loop, readLoops, readProject, sessionsFolder, sha256 } from '../../store/index.ts';
import { readState } from '../choose.ts';
import { loadSettings } from '../config.ts';
import { excludedPaths } from '../dirt.ts';
import { agentEnvironment } from '../environment.ts';
import { processGates } from '../gates.ts';
import { markedProcesses } from '../leftovers.ts';
import { lockProblem } from '../open.ts';
import { findPlace, type Place } from '../place.ts';
import { redactorHere } from '../secrets.ts';
import { spentBy } from '../spending.ts';
import { movedOf } from './astray.ts';
import { givenIn } from './beside.ts';
import { aliveProblem, loopHere, ownTree, requireTree } from './intact.ts';
import { landingFact } from './landing-words.ts';
import { noteLanding } from './note.ts';
import { limitsOf, type Purse, payFrom } from './purse.ts';
import { clearHired, type Play, type SettlerCall, settlerOf } from './settle.ts';

/** Who asks, and how it may be told and stopped. */
interface Asking {
  env: NodeJS.ProcessEnv;
  say(text: string): void;
  /** False: nothing is waited for. */
  wait: boolean;
  signal?: AbortSignal;
  /** Plays the run of an agent that is hired for a conflict. */
  play: Play;
  /** What the run may still spend that lands loops beside its own; absent: the loop's own limits bind alone. */
  purse?: Purse;
  /** A person asks for this landing by the loop's name. */
  asked?: boolean;
}

/** What is known of the work that lands. */
interface Work {
  /** The loop's work tree, or the main checkout where that is gone. */
  place: Place;
  loop: Loop;
  state: State | null;
  gates: readonly GateDef[];
  /** The commit on which those gates passed. */
  passedOn: string | null;
  overlook: readonly string[];
  settings: SettlerCall['settings'];
}

/** Lands the work of one loop as `land` says, or tells why not. */
export async function landOne(work: Work, asking: Asking, how: Settings['land']): Promise<LandingFact> {
  const { loop, place, state } = work;
  const unfinished = state === null ? null : unfinishedOf(state);
  // What a landing that was killed left at work: nobody hears it, and it must not do its work twice at once.
  const gates = work.gates.map(({ name }) => gateMarker(place, loop, name));
  await markedProcesses.endMarked([commandMarker(place, loop), ...gates]);
  if (how === 'branch') return landingFact(loop, { kind: 'on_branch' }, { unfinished });
  const landing =
    typeof how === 'object'
      ? await handOverTo(how.command, { place, loop, asking })
      : await land(work, asking);
  if (landing.kind !== 'queued') await clearHired(place, loop.id, asking);
  return landingFact(loop, landing, {
    hired: how === 'merge' ? hiredFor(place, loop) : null,
    unfinished,
  });
}

async function handOverTo(
  command: string,
  { place, loop, asking }: { place: Place; loop: Loop; asking: Asking },
): Promise<Landing> {
  return handOver({
    ...whereOf(place),
    loop: loop.id,
    command,
    marker: commandMarker(place, loop),
    env: await agentEnvironment(sessionDirOf(place, loop), asking.env),
    signal: asking.signal,
    redactor: redactorHere(),
  });
}

function whereOf({ project, mainDir, dir }: Place) {
  return { mainDir, below: relative(project.root, dir), commonDir: project.commonDir! };
}

const sessionDirOf = ({ mainDir }: Place, { session }: Loop): string =>
  session === null ? join(mainDir, '.ralph') : join(sessionsFolder(mainDir), session);

async function land(work: Work, asking: Asking): Promise<Landing> {
  const { env, say, wait, signal, play, asked = false, purse = null } = asking;
  const { place, loop, state, gates, passedOn, overlook, settings } = work;
  const required = gates.filter((gate) => gate.required);
  const given = await agentEnvironment(sessionDirOf(place, loop), env);
  const where = whereOf(place);
  const { below } = where;
  return landLoop({
    ...where,
    env,
    loop: loop.id,
    wait,
    say,
    signal,
    lastHead: state?.lastMark?.head ?? null,
    work: state === null ? [] : workThatLanded(state),
    isDone: state === null || unfinishedOf(state) === null,
    title: state?.session?.objective ?? '',
    trailers: loop.session === null ? [] : [`Ralph-Session: ${loop.session}`],
    // Uncommitted files that the work tree was given are nobody's work.
    overlook: [...overlook, ...givenIn(gitDirOf(loop.worktree))],
    gates: {
      required: required.map(({ name }) => name),
      passedOn,
      run: (name, tree) => {
        const cwd = tree === undefined ? place.dir : join(tree, below);
        const at = { place, cwd, loop, state, given, say, signal };
        return runGate(required.find((gate) => gate.name === name)!, at);
      },
    },
    asked,
    moved: () => movedOf(place, state),
    settler: settlerOf({ place, loop, state, settings, purse, gates: required, env, say, signal, play }),
  });
}

/** A task that changed more files than the journal holds is known by its commit alone. */
function workThatLanded(state: State): LandedWork[] {
  const made = new Map([...state.attempts].map(([iteration, { changes }]) => [iteration, changes]));
  const isCut = (iteration: number) => (state.attempts.get(iteration)?.more ?? null) !== null;
  return landedTasks(state)
    .filter((task) => state.tasks.get(task.def.id) === task)
    .map((task) => {
      const work = landedWork(state, task, made);
      return task.attempts.some(isCut) ? { ...work, left: new Map() } : work;
    });
}

/** Who was hired for the conflict of this landing; null: nobody was. */
function hiredFor({ mainDir }: Place, { id }: Loop): LandingHire | null {
  const hired = readLoops(mainDir).find((loop) => loop.id === id)?.hired ?? null;
  if (hired === null) return null;
  const { agent, session, settled } = hired;
  const { records } = readProject(mainDir);
  const dir = session === null ? null : join(sessionsFolder(mainDir), session);
  const state = dir !== null && existsSync(join(dir, 'journal.jsonl')) ? readState(dir) : null;
  return {
    agent,
    session,
    settled: settled !== null,
    spent: spentBy(records, session ?? ''),
    ...(state && {
      tokens: state.tokens.input + state.tokens.output,
      activeMs: state.run?.activeMs ?? 0,
    }),
  };
}

interface GateAt {
  place: Place;
  cwd: string;
  loop: Loop;
  state: State | null;
  given: Record<string, string>;
  say(text: string): void;
  signal: AbortSignal | undefined;
}

function gateMarker({ mainDir }: Place, { id }: Loop, gate: string): string {
  return `${id}-landing-${sha256(`${mainDir}\0${gate}`).slice(0, 16)}`;
}

const commandMarker = ({ mainDir }: Place, { id }: Loop): string =>
  `${id}-land-${sha256(mainDir).slice(0, 16)}`;

/** null: it holds, or it was stopped; else the end of what it said. */
async function runGate(
  def: GateDef,
  { place, cwd, loop, state, given, say, signal }: GateAt,
): Promise<string | null> {
  // An aborted signal tells nobody any more.
  if (signal?.aborted) return null;
  const marker = gateMarker(place, loop, def.name);
  const running = processGates(redactorHere()).run(def, { ground: { cwd }, env: given, marker });
  const stop = () => void running.stop();
  signal?.addEventListener('abort', stop, { once: true });
  const result = await running.done;
  signal?.removeEventListener('abort', stop);
  if (result === null || result.outcome === 'passed') return null;
  const { outputText, ...after } = result;
  if (state === null || !redAsBefore(state, def, { ...after, tree: '', output: null })) return outputText;
  say(`Gate ${def.name} is red as before loop ${loop.id} began, which holds nothing up.`);
  return null;
}

/** After a run in the main checkout: loops that waited for it and whose own process is gone. */
export function landWaiting(place: Place, asking: Omit<Asking, 'wait'>): Promise<void> {
  return landEach(place, asking, ({ standing }) => standing === 'queued');
}

/** Before a run in the main checkout: a landing that was killed there may have entered half of its files. */
export async function landBrokenOff(
  place: Place,
  { flags, ...asking }: Omit<Asking, 'wait' | 'purse'> & { flags: Flags },
): Promise<void> {
  const isMeant = ({ standing, landing }: Loop) => standing === 'queued' && landing !== null;
  if (place.ground !== '.' || !readLoops(place.mainDir).some(isMeant)) return;
  const { settings } = await loadSettings({ place, env: asking.env, flags, session: null });
  await landEach(place, { ...asking, purse: { left: limitsOf(settings) } }, isMeant);
}

async function landEach(
  place: Place,
  asking: Omit<Asking, 'wait'>,
  isMeant: (loop: Loop) => boolean,
): Promise<void> {
  if (place.ground !== '.' || place.project.commonDir === null) return;
  for (const { id } of readLoops(place.mainDir)) {
    // Each landing takes its time, and somebody may go on with the next loop meanwhile.
    const loop = readLoops(place.mainDir).find((one) => one.id === id);
    if (asking.signal?.aborted) return;
    if (loop === undefined || !isMeant(loop) || isWaitedFor(loop)) continue;
    await landWaited(place, loop, asking).catch((error: unknown) => {
      // Its configuration may be broken, which is no fault of the run that looks back.
      if (!(error instanceof Problem)) throw error;
      const { what, why, fix } = error.facts;
      asking.say(`Loop ${id} waits on, as it could not be landed: ${what} ${why} ${TO_DO}${fix}`);
    });
  }
}

async function landWaited(place: Place, loop: Loop, asking: Omit<Asking, 'wait'>): Promise<void> {
  requireTree(place, loop);
  const work = await workOf(place, loop, asking.env);
  // What a person stopped lands when a person says so.
  if (work.state?.aborted || work.state?.paused) return;
  const tree = await lockTree(work);
  if (tree !== null && tree.kind !== 'taken') return;
  try {
    const before = hiredFor(work.place, loop);
    const landing = await landOne(work, { ...asking, wait: false }, 'merge');
    if (asking.purse !== undefined) payFrom(asking.purse, landing, before);
    asking.say(landingText(landing));
    await noteLanding({ main: place, loop, say: asking.say }, landing);
  } finally {
    await tree?.release();
  }
}

function isWaitedFor({ queued }: Loop): boolean {
  const by = queued?.by ?? null;
  const here = ownIdentity();
  return by !== null && by.host === here.host && by.pid !== here.pid && isAlive(by.pid, by.startTime);
}

export interface MergeRequest extends Asking {
  cwd: string;
  /** The loop, by its name. */
  name: string;
}

/** `ralph loops merge`: lands a loop now, whatever `land` says. */
export async function mergeLoop({ cwd, name, ...asking }: MergeRequest): Promise<LandingFact> {
  const here = await findPlace(cwd);
  const { main, loop } = await loopHere(cwd, name, asking.say);
  if (loop.standing === 'discarded')
    throw new Problem({
      code: 'loop.discarded',
      what: `Loop ${name} was discarded.`,
      why: 'Its branch and its work tree are no loop of this project any more.',
      fix: 'See `ralph loops`.',
    });
  requireTree(main, loop);
  const work = await workOf(here, loop, asking.env);
  const tree = await lockTree(work);
  if (tree?.kind === 'held') throw aliveProblem(loop, tree.heldBy);
  if (tree?.kind === 'foreign') throw lockProblem(tree.heldBy, tree.lastSeenAt);
  try {
    const landing = await landOne(work, { ...asking, asked: true }, 'merge');
    await noteLanding({ main, loop, say: asking.say }, landing);
    return landing;
  } finally {
    await tree?.release();
  }
}

/** Nobody works in its work tree while it lands. */
const lockTree = ({ place, loop }: Work) =>
  ownTree(join(loop.worktree, relative(place.project.root, place.dir)));

/** What its own session and configuration say of a loop that nobody runs. */
async function workOf(here: Place, loop: Loop, env: NodeJS.ProcessEnv): Promise<Work> {
  const there = join(loop.worktree, relative(here.project.root, here.dir));
  const place = await findPlace(existsSync(there) ? there : here.mainDir);
  const dir = sessionDirOf(place, loop);
  const state = existsSync(join(dir, 'journal.jsonl')) ? readState(dir) : null;
  const session = loop.session === null ? null : { id: loop.session };
  const { settings } = await loadSettings({ place, env, flags: state?.run?.flags ?? {}, session });
  const names = new Set(settings.gates.map((gate) => gate.name));
  // Commands that a task list brought along as gates stand in no configuration.
  const listed = (state?.policy?.gates ?? []).filter(
    (gate) => /^verify-\d+$/.test(gate.name) && !names.has(gate.name),
  );
  const overlook = [...(state?.dirty ?? []), ...excludedPaths(place, null), ...listOf(place, state)];
  return { place, loop, state, gates: [...settings.gates, ...listed], passedOn: null, overlook, settings };
}

function listOf(place: Place, state: State | null): string[] {
  const path = state?.source?.path ?? null;
  return path === null ? [] : [relative(place.project.root, join(place.dir, path))];
}
