/** Which paths are nobody's attempt: what a person left uncommitted, and what stays out of snapshots. */
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { InnerRepository, Left, Mark } from '../core/index.ts';
import { leftBy, type TaskList } from '../engine/index.ts';
import { committedText, type Dirty, type RepoGround } from '../repo/index.ts';
import { openWorks } from '../store/index.ts';
import { onlyCancelled } from './cancelled.ts';
import { knownSessions, readState } from './choose.ts';
import { givenIn } from './loops/beside.ts';
import type { Place } from './place.ts';
import type { Plan } from './plan.ts';
import { isOnlyOurs } from './setup/ignore-lines.ts';

export function excludedPaths(place: Place, list: TaskList | null): string[] {
  const prefix = relative(place.project.root, place.dir);
  const own = ['ralph/progress.txt', 'ralph/blocked.txt', 'ralph/decide.txt', 'ralph/logs'].map((path) =>
    join(prefix, path),
  );
  return list?.groundPath ? [list.groundPath, ...own] : own;
}

export function deskPatterns(place: Place): string[] {
  const prefix = relative(place.project.root, place.dir);
  return ['ralph/blocked.txt', 'ralph/decide.txt', 'ralph/logs'].map((path) => `/${join(prefix, path)}`);
}

export interface Dirt {
  /** Everything that is not as HEAD has it, without our own leftovers. */
  all: string[];
  /** The part of it that is no input of ours either: it keeps a new session from starting. */
  strange: string[];
  /** What stood there when it was looked at; null where nobody looked. */
  mark: Mark | null;
}

/** What is dirty now, from one snapshot, which then serves as the first attempt's beginning. */
export async function dirtOf(
  ground: RepoGround,
  plan: Pick<Plan, 'place' | 'settings' | 'session' | 'others'>,
  list: TaskList | null,
): Promise<Dirt> {
  const state = plan.session?.state ?? null;
  // An attempt that a crash cut off is not told from a person's edit yet; what was dirty before stays so.
  if (state && state.open.size > 0) return { all: [...state.dirty], strange: [], mark: null };
  if (!ground.hasGit) return { all: [], strange: [], mark: null };
  const { dirty, mark } = await ground.standing();
  const sessions = plan.session === null ? plan.others : [...plan.others, plan.session];
  const left =
    dirty.length === 0
      ? []
      : await Promise.all(sessions.map(({ dir, state }) => leftBy(openWorks(dir), state)));
  const prefix = relative(plan.place.project.root, plan.place.dir);
  const inputs = new Set(
    ['ralph.yml', '.ralph/ralph.toml', 'ralph/prd.md', 'ralph/progress.txt'].map((path) =>
      join(prefix, path),
    ),
  );
  for (const path of givenIn(plan.place.project.gitDir)) inputs.add(path);
  if (list?.groundPath) inputs.add(list.groundPath);
  if (plan.settings.promptFile !== null) {
    inputs.add(relative(plan.place.project.root, resolve(plan.place.dir, plan.settings.promptFile)));
  }
  const ignoreFile = join(prefix, '.gitignore');
  if (dirty.some(({ path }) => path === ignoreFile) && (await onlyInitChanged(ground.root, ignoreFile)))
    inputs.add(ignoreFile);
  const marked = await cancelledIn(ground.root, list, dirty);
  const all = pathsOf(dirty.filter((found) => found !== marked && !left.some((by) => isOurs(by, found))));
  // A session that goes on has its attempts' own work there, and what is not in any snapshot is no path of ours.
  const inner = state === null ? await ground.inner() : [];
  const strange = state === null ? [...all.filter((path) => !inputs.has(path)), ...inner.map(innerDirt)] : [];
  if (strange.length === 0) return { all, strange, mark };
  // What ended sessions left of their notes is no reason to refuse; reading them all is only worth it here.
  const notes = await notedBy(plan.place);
  const noted = new Set(pathsOf(dirty.filter((found) => isOurs(notes, found))));
  const foreign = (path: string) => !noted.has(path);
  return { all: all.filter(foreign), strange: strange.filter(foreign), mark };
}

/** The notes and logs that the attempts of any session here left. */
async function notedBy(place: Place): Promise<Left> {
  const left: Left = new Map();
  for (const { dir } of await knownSessions(place)) {
    for (const { noted } of readState(dir).attempts.values()) {
      for (const { path, after } of noted) left.set(path, new Set([after]));
    }
  }
  return left;
}

function isOurs(left: Left, { path, now }: Dirty): boolean {
  // Where only the index differs, as after a `git add` of the agent, nothing of a person's lies in the file.
  return now === undefined ? left.has(path) : left.get(path)?.has(now) === true;
}

/** The file's name, as if it were the repository's own: that is where it has to be committed. */
function innerDirt({ path, files }: InnerRepository): string {
  const more = files.length > 1 ? ` and ${files.length - 1} more` : '';
  return `${path}/${files[0]}${more} (uncommitted in the repository ${path})`;
}

const pathsOf = (dirty: Dirty[]): string[] => dirty.map(({ path }) => path);

/** The list, where nothing but marks of cancelled tasks keeps it from being as HEAD has it. */
async function cancelledIn(root: string, list: TaskList | null, dirty: Dirty[]): Promise<Dirty | null> {
  const found = dirty.find(({ path }) => path === list?.groundPath);
  if (found === undefined) return null;
  const now = await readFile(join(root, found.path), 'utf8').catch(() => null);
  if (now === null) return null;
  return onlyCancelled(list?.source.path ?? found.path, await committedText(root, found.path, ownEnv()), now)
    ? found
    : null;
}

function ownEnv(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
}

/** The lines that `ralph init` adds are no work of anybody: a first run need not wait for their commit. */
async function onlyInitChanged(root: string, path: string): Promise<boolean> {
  const now = await readFile(join(root, path), 'utf8').catch(() => null);
  if (now === null) return false;
  return isOnlyOurs(await committedText(root, path, ownEnv()), now);
}
