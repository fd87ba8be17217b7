/** The last part of a run: its loop's work lands, loops that waited for it land, and what is left over is told. */
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Settings } from '../../config/index.ts';
import type { Exit, GateDef, State } from '../../core/index.ts';
import type { House } from '../../engine/index.ts';
import { type Unlanded, unlanded } from '../../fleet/index.ts';
import { openIntegration, readHead } from '../../repo/index.ts';
import { readLoops } from '../../store/index.ts';
import { withoutOwnSecrets } from '../environment.ts';
import type { Place } from '../place.ts';
import { openList } from '../plan.ts';
import { givenIn, mainPlace } from './beside.ts';
import { landAtEnd, landWaiting } from './land.ts';
import { exitAfter, type LoopLanding } from './landing-words.ts';

export interface Landable {
  exit: Exit;
  state: State;
  place: Place;
  landing?: LoopLanding;
  unlanded?: Unlanded;
}

export interface EndCall {
  settings: Settings;
  gates: readonly GateDef[];
  /** Paths that are nobody's work, from the top of the work tree. */
  excluded: readonly string[];
  env: NodeJS.ProcessEnv;
  say(text: string): void;
  /** null: there was nothing to do. */
  house: House | null;
}

/** While the work tree is still ours. A run that did all of it has succeeded only when its work is where it belongs. */
export async function landRun<T extends Landable>(ended: T, call: EndCall): Promise<T> {
  const { exit, state, place } = ended;
  if (exit.code !== 0 || !call.settings.git) return ended;
  const overlook = [...state.dirty, ...call.excluded];
  const landing = await landAtEnd({ ...call, place, state, overlook });
  if (landing === null) return ended;
  if (landing.landing.kind === 'landed') await markGiven(ended);
  const signal = call.house?.interrupt.signal ?? null;
  return { ...ended, landing, exit: exitAfter(exit, landing, signal) };
}

/** A list that no commit has was worked off as a copy: the one in the main checkout says now what is done as well. */
async function markGiven({ place, state }: Landable): Promise<void> {
  const path = state.source?.path ?? null;
  const given = givenIn(place.project.gitDir);
  if (path === null || !given.includes(relative(place.project.root, resolve(place.dir, path)))) return;
  const main = await mainPlace(place);
  if (!existsSync(resolve(main.dir, path))) return;
  await (await openList(main, path)).mark([...state.tasks.values()]);
}

/** When the work tree is free again. */
export async function lookBack<T extends Landable>(
  ended: T,
  { settings, env, say }: Pick<EndCall, 'settings' | 'env' | 'say'>,
): Promise<T> {
  const { root, gitDir, commonDir } = ended.place.project;
  if (!settings.git || gitDir === null || commonDir === null) return ended;
  await landWaiting(ended.place, { env, say });
  const git = openIntegration({ commonDir, cwd: root, env });
  const { branch } = await readHead({ root, gitDir, commonDir }, withoutOwnSecrets(env));
  return { ...ended, unlanded: await unlanded(git, readLoops(ended.place.mainDir), branch) };
}
