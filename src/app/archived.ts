/** Sessions that were moved out of the way: what still lies in `.ralph/archive/`, for windows that find nothing. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isSessionId } from '../store/index.ts';
import type { Place } from './place.ts';

/** Folders of archived sessions, relative to the project folder, newest archive last; at most 100. */
export function archivedSessions({ dir, mainDir }: Place): string[] {
  const parent = join(mainDir, '.ralph', 'archive');
  return namesIn(parent)
    .flatMap((name) => namesIn(join(parent, name)).map((id) => join(parent, name, id)))
    .filter((folder) => isSessionId(folder.split(/[\\/]/).at(-1)!))
    .filter((folder) => existsSync(join(folder, 'journal.jsonl')))
    .slice(-100)
    .map((folder) => relative(dir, folder) || folder);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
