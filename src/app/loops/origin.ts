/**
 * Where a loop comes from: the checkout of a person's that it begins at. Its branch is the one that the loop lands on,
 * and what no commit has, such as the task list, is given to the loop from there.
 */
import { join, relative } from 'node:path';
import { openIntegration, readHead, unfinishedOperation } from '../../repo/index.ts';
import { type Loop, readLoops } from '../../store/index.ts';
import { withoutOwnSecrets } from '../environment.ts';
import { findPlace, type Place } from '../place.ts';
import { loopAt } from './beside.ts';
import * as problem from './problems.ts';

/** The checkout that a person means who stands in `place`: a loop's work tree is none to begin another one at. */
export function beginsAt(place: Place, main: Place): Place {
  return place.ground === '.' || loopAt(place) !== null ? main : place;
}

/** The checkout that has the branch which a known loop lands on; the main one where none has it. */
export async function landsIn(main: Place, { onto }: Pick<Loop, 'onto'>): Promise<Place> {
  const { root, commonDir } = main.project;
  if (commonDir === null) return main;
  const env = withoutOwnSecrets(process.env);
  const places = openIntegration({ commonDir, cwd: root, env }).checkouts(onto);
  if (places.length === 0 || places.some((place) => place.root === root)) return main;
  return findPlace(join(places[0]!.root, relative(root, main.dir))).catch(() => main);
}

/** The loop of this name; null: there is none. `lost`: those that the journal is yet to be told of again. */
export function loopCalled(main: Place, name: string, lost: readonly Loop[] = []): Loop | null {
  if (name === '') return null;
  const all = [...readLoops(main.mainDir), ...lost].filter(({ standing }) => standing !== 'removed');
  const twin = all.find(({ id }) => id !== name && id.toLowerCase() === name.toLowerCase());
  if (twin !== undefined) throw problem.onlyCase(name, twin.id);
  return all.find(({ id }) => id === name) ?? null;
}

/** `anew`: the name of a loop whose work has landed or was given up means another one. */
export function goesOn({ standing }: Loop, anew: boolean): boolean {
  return !anew || (standing !== 'landed' && standing !== 'discarded');
}

export interface Start {
  head: string;
  /** Full name. */
  onto: string;
}

/** Where a new loop begins and what it is to land on. */
export async function startAt({ project, dir }: Place): Promise<Start> {
  const { root, gitDir, commonDir } = project;
  if (gitDir === null || commonDir === null) throw problem.noGit(dir, true);
  const { head, branch } = await readHead({ root, gitDir, commonDir }, withoutOwnSecrets(process.env));
  if (head === null) throw problem.noCommit(dir);
  if (branch === null) throw problem.detached(root, unfinishedOperation(gitDir));
  return { head, onto: `refs/heads/${branch}` };
}
