/** Which paths are nobody's attempt: what a person left uncommitted, and what stays out of snapshots. */
import { join, relative, resolve } from 'node:path';
import type { TaskList } from '../engine/index.ts';
import type { RepoGround } from '../repo/index.ts';
import type { Place } from './place.ts';
import type { Plan } from './plan.ts';

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

/** What is dirty now: all of it, and the part that is neither our input nor our own leftovers. */
export async function dirtOf(
  ground: RepoGround,
  plan: Plan,
  list: TaskList | null,
): Promise<{ all: string[]; strange: string[] }> {
  const state = plan.session?.state ?? null;
  // An attempt that a crash cut off is not told from a person's edit yet; what was dirty before stays so.
  if (state && state.open.size > 0) return { all: [...state.dirty], strange: [] };
  if (!ground.hasGit) return { all: [], strange: [] };
  const dirty = await ground.dirty();
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
  const all = dirty.filter((path) => !ours.has(path));
  return { all, strange: state === null ? all.filter((path) => !inputs.has(path)) : [] };
}
