/** Moves finished sessions out of the way; nothing is deleted, and a live run is never touched. */
import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Problem } from '../core/index.ts';
import { type Loop, type LoopStanding, readLock, readLoops } from '../store/index.ts';
import { isOpen, knownSessions, readState } from './choose.ts';
import { findPlace } from './place.ts';

/** How a loop stands that nobody goes on with. */
const OVER: ReadonlySet<LoopStanding> = new Set(['landed', 'discarded', 'removed']);

export interface ArchiveRequest {
  cwd: string;
  label: string;
  includeLogs: boolean;
}

export interface Archived {
  folder: string | null;
  moved: string[];
  kept: { session: string; why: string }[];
  text: string;
}

export async function archive({ cwd, label, includeLogs }: ArchiveRequest): Promise<Archived> {
  if (!/^[\w.-]+$/.test(label) || /^\.+$/.test(label)) {
    throw new Problem({
      code: 'archive.label',
      what: `${JSON.stringify(label)} cannot name a folder.`,
      why: 'The archive folder is <date>-<label>.',
      fix: 'Use letters, digits, dots and dashes.',
    });
  }
  const place = await findPlace(cwd);
  const moved: string[] = [];
  const kept: Archived['kept'] = [];
  let folder: string | null = null;
  const loops = readLoops(place.mainDir);
  for (const session of await knownSessions(place)) {
    const why = neededBy(loops, session.id) ?? (await whyKept(session.dir));
    if (why !== null) {
      kept.push({ session: session.id, why });
      continue;
    }
    folder ??= await freeFolder(join(place.mainDir, '.ralph', 'archive'), label);
    await moveSession(session.dir, join(folder, session.id), includeLogs);
    moved.push(session.id);
  }
  const where = folder === null ? null : relative(place.dir, folder) || folder;
  const lines = [moved.length === 0 ? 'Nothing to archive.' : `Moved to ${where}: ${moved.join(', ')}`];
  for (const { session, why } of kept) lines.push(`Left: ${session}, ${why}`);
  return { folder: where, moved, kept, text: lines.join('\n') };
}

/** Landing, merging and giving up read the session of the loop, and that of an agent hired for its conflict. */
function neededBy(loops: readonly Loop[], session: string): string | null {
  const loop = loops.find(
    ({ standing, ...of }) => !OVER.has(standing) && (of.session === session || of.hired?.session === session),
  );
  if (loop === undefined) return null;
  return `loop ${loop.id} needs it until its work has landed (\`ralph loops merge ${loop.id}\`) or is given up (\`ralph loops discard ${loop.id}\`)`;
}

async function whyKept(dir: string): Promise<string | null> {
  const holder = await readLock(join(dir, 'lock'));
  if (holder !== null && holder.alive !== false) return `a run is alive in it (pid ${holder.pid})`;
  const state = readState(dir);
  const code = state.run?.stopped?.code;
  if (code === 9 || state.aborted?.done) return null;
  return isOpen(state) ? 'it is not finished' : null;
}

/** `<date>-<label>`, with `-2`, `-3` … where that is taken. */
async function freeFolder(parent: string, label: string): Promise<string> {
  await mkdir(parent, { recursive: true });
  const taken = new Set(await readdir(parent));
  const base = `${new Date().toISOString().slice(0, 10)}-${label}`;
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base}-${n}`;
  const folder = join(parent, name);
  await mkdir(folder);
  return folder;
}

/** Without `--include-logs` the logs stay where they were, in the session's old folder. */
async function moveSession(from: string, to: string, includeLogs: boolean): Promise<void> {
  if (includeLogs) return move(from, to);
  await mkdir(to);
  for (const name of await readdir(from)) if (name !== 'logs') await move(join(from, name), join(to, name));
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await cp(from, to, { recursive: true, errorOnExist: true, preserveTimestamps: true });
    await stat(to);
    await rm(from, { recursive: true });
  }
}
