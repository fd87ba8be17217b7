/**
 * A task list that no commit has: a loop works on a copy of it. What the loop has done is marked in both, in the one it
 * was copied from once it has landed, and in a copy that is made anew because the first is gone.
 */
import { existsSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { State } from '../../core/index.ts';
import { isIgnored } from '../../repo/index.ts';
import { openTaskList } from '../../store/index.ts';
import type { Place } from '../place.ts';
import { besideOf, givenIn } from './beside.ts';

/** Of the session that works at this place, as a path in the project's folder; null: its list is no copy. */
export async function givenList(place: Place, { source }: State): Promise<string | null> {
  const path = source?.path ?? null;
  if (path === null) return null;
  const { root, gitDir } = place.project;
  const below = relative(root, resolve(place.dir, path));
  if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) return null;
  const isCopy = givenIn(gitDir).includes(below) || (await isIgnored(besideOf(place), root, below));
  return isCopy ? path : null;
}

export async function markList({ project, dir }: Place, path: string, { tasks }: State): Promise<void> {
  if (!existsSync(resolve(dir, path))) return;
  const list = await openTaskList({ projectDir: dir, groundRoot: project.root, path });
  await list.mark([...tasks.values()]);
}
