/** `ralph run --worktree`: the ordinary run, in the work tree of a loop. */
import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Problem } from '../../core/index.ts';
import { isTreeOf } from '../../repo/index.ts';
import { type Loop, readLoops, tellLoop } from '../../store/index.ts';
import { namedSession } from '../choose.ts';
import { loadSettings } from '../config.ts';
import { groundOf } from '../known-loops.ts';
import { findPlace, type Place } from '../place.ts';
import type { RunRequest } from '../plan.ts';
import { type RunOutcome, runLoop } from '../run.ts';
import { fromHere, whichList } from '../which-list.ts';
import { folderIn, isWhole, mainPlace } from './beside.ts';
import { takeBackLost } from './lost.ts';
import { type OpenedLoop, openLoop } from './make.ts';
import { beginsAt, goesOn, landsIn, loopCalled } from './origin.ts';
import { unmakeUnused } from './take-away.ts';

/** Every start: in a loop's work tree where one is asked for, where a loop's session is named, and where we stand in one. */
export async function startRun(request: RunRequest): Promise<RunOutcome> {
  const place = await findPlace(request.cwd);
  await takeBackLost(await mainPlace(place), (text) => request.audience.say(text));
  if (request.loop !== null) return runInLoop(request, { place, name: request.loop, anew: true });
  const ground = await groundMeant(place, request);
  if (ground === '.') return runLoop(request);
  const known = readLoops(place.mainDir).find(
    ({ worktree, standing }) => worktree === ground && standing !== 'removed',
  );
  return known === undefined ? runLoop(request) : runInLoop(request, { place, name: known.id, anew: false });
}

/** The work tree that is meant, as a session has it in its facts. */
async function groundMeant(place: Place, { session }: RunRequest): Promise<string> {
  if (session === null) return place.ground;
  const named = await namedSession(place, session).catch(() => null);
  return (named === null ? null : groundOf(named.dir)) ?? place.ground;
}

async function runInLoop(
  request: RunRequest,
  { place, name, anew }: { place: Place; name: string; anew: boolean },
): Promise<RunOutcome> {
  const { main, from, asked, settings } = await askedFrom(request, { place, name, anew });
  const list = await listToGive(main, from, { name, named: settings.tasks });
  const inputs = ['ralph.yml', '.ralph/ralph.toml', list?.path ?? null, settings.promptFile];
  const opened = await openLoop({
    main,
    from,
    name,
    anew,
    settings,
    inputs: inputs.filter((path): path is string => path !== null && !isAbsolute(path)),
    env: request.env,
    say: (text) => request.audience.say(text),
  });
  const { loop, cwd } = opened;
  const flags = {
    ...asked.flags,
    ...(list !== null && isAbsolute(list.path) ? moved({ main, from, loop }, list.path) : {}),
  };
  return { ...(await played({ ...asked, flags, cwd }, main, opened)), loop: loop.id };
}

/** The list of which a new work tree is given a copy; a loop that is there may have its own. */
async function listToGive(main: Place, from: Place, { name, named }: { name: string; named: string | null }) {
  const isThere = readLoops(main.mainDir).some(
    ({ id, standing, worktree }) => id === name && standing !== 'removed' && existsSync(worktree),
  );
  return whichList({ place: from, cwd: from.dir, named }).catch((error: unknown) => {
    if (isThere && error instanceof Problem) return null;
    throw error;
  });
}

interface Meant {
  /** Where the person stands. */
  place: Place;
  name: string;
  anew: boolean;
  lost?: readonly Loop[];
}

/**
 * What was typed, by names that mean the same in the loop's work tree; with the checkout that a new loop begins at, or
 * that the known one lands in. A work tree that is there has settings of its own.
 */
export async function askedFrom(request: RunRequest, { place, name, anew, lost }: Meant) {
  const main = await mainPlace(place);
  const asked = typedFrom(request, place, main);
  const found = loopCalled(main, name, lost);
  const known = found !== null && goesOn(found, anew) ? found : null;
  const from = known === null ? beginsAt(place, main) : await landsIn(main, known);
  const isThere = known !== null && isTreeOf(main.project, known.worktree) && isWhole(known);
  const home = isThere ? await findPlace(folderIn(main, known)) : from;
  const layers = { place: home, env: request.env, flags: asked.flags, session: null };
  return { main, from, asked, settings: (await loadSettings(layers)).settings };
}

function typedFrom(request: RunRequest, place: Place, main: Place): RunRequest {
  const { cwd } = request;
  const { tasks, promptFile } = request.flags;
  // In a work tree beside the main checkout the same relative name means the same file.
  const here = place.ground === '.' ? main : place;
  const flags = { ...request.flags };
  if (tasks !== undefined && tasks.trim() !== '') flags.tasks = fromHere(here, cwd, tasks);
  // It is only read, and at once.
  if (promptFile !== undefined) flags.promptFile = resolve(cwd, promptFile);
  return { ...request, flags };
}

/** A list elsewhere in the repository is the one in the loop's work tree. */
function moved(
  { main, from, loop }: { main: Place; from: Place; loop: Loop },
  path: string,
): { tasks?: string } {
  const below = [from, main]
    .map(({ project }) => relative(project.root, path))
    .find((one) => one !== '..' && !one.startsWith(`..${sep}`) && !isAbsolute(one));
  if (below === undefined) return {};
  return { tasks: relative(folderIn(main, loop), join(loop.worktree, below)) };
}

async function played(request: RunRequest, main: Place, { loop, made }: OpenedLoop): Promise<RunOutcome> {
  let told: Promise<void> | null = null;
  const opened: RunRequest['opened'] = async (house) => {
    const session = house.sessionId;
    if (loop.session !== session || loop.standing !== 'open')
      told ??= tellLoop(main.mainDir, Date.now(), { type: 'loop.session', loop: loop.id, session });
    // Before anything of its work is told there.
    await told;
    await request.opened?.(house);
  };
  let outcome: RunOutcome | null = null;
  try {
    outcome = await runLoop({ ...request, opened });
    return outcome;
  } finally {
    // A start that was refused, or had nothing to do, leaves nothing behind.
    const isUnused = made && told === null && (outcome?.sessionId ?? null) === null;
    if (isUnused && (await unmakeUnused(main, loop)))
      request.audience.say(
        `Loop ${loop.id} was not begun: its work tree and its branch are taken away again.`,
      );
  }
}
