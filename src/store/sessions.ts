/**
 * Session folders: `.ralph-sessions/<yyMMdd>-<HHmmss>/` in the main checkout, named by the local time
 * they were made. The folder of all sessions, and `.ralph/`, keep themselves out of git.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createWhole, errorCode } from './disk.ts';
import { readStamp, stampOf, wallTime } from './zone.ts';

const FOLDERS = ['signals/inputs', 'signals/processed', 'signals/rejected', 'logs', 'attempts', 'works'];

/** Where the sessions of a main checkout lie. */
export function sessionsFolder(mainRoot: string): string {
  return join(mainRoot, '.ralph-sessions');
}

/**
 * True for `<yyMMdd>-<HHmmss>` with a real date and time. Old sessions with eight-digit dates count too;
 * new ones are never named so.
 */
export function isSessionId(text: string): boolean {
  const match = /^(\d{6}|\d{8})-(\d{6})$/.exec(text);
  return match !== null && readStamp(match[1]!, match[2]!) !== null;
}

export interface SessionFolder {
  id: string;
  /** Absolute when the root was. */
  dir: string;
}

export interface NewSession {
  mainRoot: string;
  /** Epoch ms. */
  now: number;
  timezone: string;
  /** `track_sessions`: leave the sessions visible to git. */
  track?: boolean;
}

/** Makes the folder of a new session. A second that is taken gives way to the next one. */
export async function createSession({ mainRoot, now, timezone, track }: NewSession): Promise<SessionFolder> {
  const all = sessionsFolder(mainRoot);
  await mkdir(all, { recursive: true });
  if (track !== true) await createWhole(join(all, '.gitignore'), '*\n');
  for (let at = now; ; at += 1000) {
    const id = stampOf(wallTime(at, timezone));
    const dir = join(all, id);
    if (!(await makeFolder(dir))) continue;
    for (const folder of FOLDERS) await mkdir(join(dir, folder), { recursive: true });
    return { id, dir };
  }
}

async function makeFolder(dir: string): Promise<boolean> {
  try {
    await mkdir(dir);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

export interface ListedSession extends SessionFolder {
  /** False for a folder that another tool made: it is imported once. */
  hasJournal: boolean;
}

/** The sessions of a main checkout, oldest first. Other files and folders there are passed by. */
export async function listSessions(mainRoot: string): Promise<ListedSession[]> {
  const all = sessionsFolder(mainRoot);
  const entries = await readdir(all, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const ids = entries
    .filter((entry) => entry.isDirectory() && isSessionId(entry.name))
    .map(({ name }) => name);
  const long = (id: string) => (id.length === 13 ? `20${id}` : id);
  ids.sort((a, b) => (long(a) < long(b) ? -1 : 1));
  return Promise.all(
    ids.map(async (id) => {
      const dir = join(all, id);
      const journal = await stat(join(dir, 'journal.jsonl')).catch(() => null);
      return { id, dir, hasJournal: journal?.isFile() === true };
    }),
  );
}

// What a project wants to share of `.ralph/`: its configuration and its task files. This file hides
// itself too, so that a first run leaves a clean tree clean.
const PROJECT_IGNORE = `*
!ralph.toml
!prd.json
!PRD.md
!fix_plan.md
!tasks.json
!tasks.yaml
`;

/** Makes `.ralph/` with the ignore file that hides all but task files and ralph.toml; answers its path. */
export async function ensureProjectFolder(mainRoot: string): Promise<string> {
  const folder = join(mainRoot, '.ralph');
  const ignore = join(folder, '.gitignore');
  // Asked at every drawing of a mirror; a look is a hundredth of the making.
  if (existsSync(ignore)) return folder;
  await mkdir(folder, { recursive: true });
  await createWhole(ignore, PROJECT_IGNORE);
  return folder;
}
