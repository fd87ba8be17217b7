/** A work tree of ours beside the main checkout: made, prepared as `worktree` says, and marked as whole. */
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { addTree, excludeLocally, type NewTree, SHARED, uncommitted } from '../../repo/index.ts';
import type { Place } from '../place.ts';
import { AGENTS_OWN, setUp } from '../pool.ts';
import { besideOf, folderIn, type MarkedLoop, markMade } from './beside.ts';
import { printsOf } from './given-files.ts';

interface TreeCall extends Pick<NewTree, 'root' | 'flags' | 'start'> {
  main: Place;
  /** The checkout whose untracked files it is given. */
  from: Place;
  /** The loop it is for. */
  id: string;
  /** Where it is that loop's own: what it is known by. */
  known?: MarkedLoop;
  /** Untracked files of that checkout that it is given beside those of `worktree.copy`. */
  inputs: readonly string[];
  worktree: Settings['worktree'];
  env: NodeJS.ProcessEnv;
}

/** Answers why git could not make it, or null; throws where it cannot be prepared. */
export async function buildTree(call: TreeCall): Promise<string | null> {
  const { main, from, root, flags, start, id, inputs, worktree, env } = call;
  const given = [...AGENTS_OWN, ...worktree.copy, ...inputs];
  const why = await addTree(besideOf(from), { root, flags, start, copy: given });
  if (why !== null) return why;
  const cwd = folderIn(main, { worktree: root });
  await hideLinks(main, cwd);
  // The project's folder is known by it, also where nothing else of it is committed.
  await mkdir(join(cwd, '.ralph'), { recursive: true });
  await setUp(worktree.run, {
    cwd,
    env,
    id,
    dir: join(dirname(root), '.set-up'),
    without: 'leave --worktree away',
  });
  const left = await uncommitted(besideOf(main), root, { untracked: true });
  const prints = await printsOf(cwd, [...AGENTS_OWN, ...worktree.copy]);
  await markMade({ worktree: root }, { given: left, prints, ...(call.known && { loop: call.known }) });
  return null;
}

/** A link is no folder, so a rule that ignores folders of that name does not hide it. */
async function hideLinks({ project, dir }: Place, cwd: string): Promise<void> {
  const below = relative(project.root, dir);
  const links: string[] = [];
  for (const name of SHARED) {
    const stat = await lstat(join(cwd, name)).catch(() => null);
    if (stat?.isSymbolicLink() === true) links.push(`/${join(below, name).replaceAll('\\', '/')}`);
  }
  if (project.commonDir !== null && links.length > 0) await excludeLocally(project.commonDir, links);
}
