/**
 * The loops of a project as people know them: each work tree with its newest session, by name. Read from the
 * session folders anew each time, because loops come and go beside each other.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type JournalRecord, nearest, Problem } from '../core/index.ts';
import { isHeld, type ListedSession, type Loop, listSessions, readLock, readLoops } from '../store/index.ts';
import { loopName } from './loop-name.ts';

export interface KnownLoop {
  name: string;
  sessionId: string;
  /** The session's folder, absolute. */
  dir: string;
  /** The work tree's root as it stands in facts. */
  ground: string;
  /** A runner has it now. */
  live: boolean;
}

/** So many sessions are looked through, the newest first. */
const MOST_SESSIONS = 200;

/** One of each loop, and of each other work tree that is still there: the session that runs, else its newest. */
export async function knownLoops(mainDir: string): Promise<KnownLoop[]> {
  const sessions = (await listSessions(mainDir)).filter(({ hasJournal }) => hasJournal);
  const registry = readLoops(mainDir);
  const byGround = new Map<string, KnownLoop>();
  for (const session of sessions.slice(-MOST_SESSIONS)) {
    const loop = await knownLoop(session, registry);
    if (loop === null || !isThere(loop, registry)) continue;
    if (loop.live || byGround.get(loop.ground)?.live !== true) byGround.set(loop.ground, loop);
  }
  return [...byGround.values()];
}

/** The loop of this name, or of this session; null: none that can be gone to. */
export async function loopNamed(mainDir: string, name: string): Promise<KnownLoop | null> {
  const wanted = name.toLowerCase();
  const loops = await knownLoops(mainDir);
  const found = loops.filter((loop) => loop.name.toLowerCase() === wanted || loop.sessionId === wanted);
  if (found.length > 1) throw ambiguous(wanted, found);
  return found[0] ?? null;
}

/** Names what there is. */
export async function noLoopCalled(mainDir: string, name: string): Promise<Problem> {
  const wanted = name.toLowerCase();
  const loops = await knownLoops(mainDir);
  const near = nearest(
    wanted,
    loops.map((loop) => loop.name),
  );
  const known = loops.map((loop) => `@${loop.name}${loop.live ? ' (runs now)' : ''}`);
  return new Problem({
    code: 'loop.unknown',
    what: `There is no loop called @${wanted}.${near === null ? '' : ` Did you mean @${near}?`}`,
    why: known.length === 0 ? 'No loop has run here yet.' : `The loops of this project: ${known.join(', ')}.`,
    fix: 'Name one of them, or a session of `ralph sessions`.',
  });
}

function ambiguous(name: string, found: KnownLoop[]): Problem {
  return new Problem({
    code: 'loop.ambiguous',
    what: `${found.length} loops are called @${name}.`,
    why: found.map((loop) => `${loop.sessionId} works in ${loop.ground}`).join('; '),
    fix: `Name the session: --session ${found[0]!.sessionId}.`,
  });
}

async function knownLoop({ id, dir }: ListedSession, registry: readonly Loop[]): Promise<KnownLoop | null> {
  const ground = groundOf(dir);
  if (ground === null) return null;
  const holder = await readLock(join(dir, 'lock')).catch(() => null);
  const live = holder !== null && isHeld(holder);
  return { name: loopName(ground, registry), sessionId: id, dir, ground, live };
}

function isThere({ ground, live }: KnownLoop, registry: readonly Loop[]): boolean {
  if (live || ground === '.') return true;
  const known = registry.findLast(({ worktree }) => worktree === ground);
  // A loop whose work tree was deleted is one still: it is made again when it goes on.
  if (known === undefined) return existsSync(ground);
  return known.standing !== 'discarded' && known.standing !== 'removed';
}

const CHUNK_BYTES = 64 * 1024;

/** Where a session works, from the first record of its journal; null where that says nothing. */
export function groundOf(sessionDir: string): string | null {
  try {
    const { facts } = JSON.parse(firstLine(join(sessionDir, 'journal.jsonl'))) as JournalRecord;
    const created = facts.find((fact) => fact.type === 'session.created');
    return created?.type === 'session.created' ? (created.ground ?? '.') : null;
  } catch {
    return null;
  }
}

function firstLine(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const parts: Buffer[] = [];
    for (;;) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const bytes = readSync(descriptor, chunk, 0, CHUNK_BYTES, null);
      const end = chunk.subarray(0, bytes).indexOf(0x0a);
      parts.push(chunk.subarray(0, end === -1 ? bytes : end));
      if (end !== -1 || bytes === 0) return Buffer.concat(parts).toString('utf8');
    }
  } finally {
    closeSync(descriptor);
  }
}
