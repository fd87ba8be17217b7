/** Which paths are nobody's attempt: what a person left uncommitted, and what stays out of snapshots. */
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Mark } from '../core/index.ts';
import type { TaskList } from '../engine/index.ts';
import { committedText, type RepoGround } from '../repo/index.ts';
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
  const ours = new Set<string>();
  for (const known of [state, ...plan.others.map((other) => other.state)])
    for (const attempt of known?.attempts.values() ?? [])
      for (const { path } of attempt.changes) ours.add(path);
  const prefix = relative(plan.place.project.root, plan.place.dir);
  const inputs = new Set(
    ['ralph.yml', 'ralph/prd.md', 'ralph/progress.txt'].map((path) => join(prefix, path)),
  );
  if (list?.groundPath) inputs.add(list.groundPath);
  if (plan.settings.promptFile !== null) {
    inputs.add(relative(plan.place.project.root, resolve(plan.place.dir, plan.settings.promptFile)));
  }
  const ignoreFile = join(prefix, '.gitignore');
  if (dirty.includes(ignoreFile) && (await onlyInitChanged(ground.root, ignoreFile))) inputs.add(ignoreFile);
  const all = dirty.filter((path) => !ours.has(path));
  return { all, strange: state === null ? all.filter((path) => !inputs.has(path)) : [], mark };
}

/** The lines that `ralph init` adds are no work of anybody: a first run need not wait for their commit. */
async function onlyInitChanged(root: string, path: string): Promise<boolean> {
  const now = await readFile(join(root, path), 'utf8').catch(() => null);
  if (now === null) return false;
  const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
  return isOnlyOurs(await committedText(root, path, env), now);
}
