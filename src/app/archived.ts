/** Sessions that were moved out of the way: what still lies in `.ralph/archive/`, for windows that find nothing. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isSessionId } from '../store/index.ts';
import type { Place } from './place.ts';

/** Where the record of this session was moved to, absolute; null: it was not archived. */
export function archivedFolder(mainDir: string, session: string): string | null {
  const parent = join(mainDir, '.ralph', 'archive');
  const folders = namesIn(parent).map((name) => join(parent, name, session));
  return folders.findLast((folder) => existsSync(join(folder, 'journal.jsonl'))) ?? null;
}

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
