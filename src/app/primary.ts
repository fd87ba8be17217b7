/**
 * The locks of loops. Each work tree has one, because git's index is shared: who holds it runs there. The project has
 * one more, and who holds that is the primary: the loop that hears people for all loops. The primary's is a lease: any
 * loop takes it when it is free or its owner is dead, and gives it back at its end, so while a loop lives, one hears.
 */
import { join } from 'node:path';
import { ownIdentity } from '../process/index.ts';
import { ensureProjectFolder, type HeldLock, takeLock } from '../store/index.ts';

/** How long the others may go unheard after a primary died, ms. */
const EVERY_MS = 2_000;

/** One primary in the project, wherever it works. */
export function primaryLock(mainDir: string): string {
  return join(mainDir, '.ralph', 'loop.lock');
}

export interface Primary {
  /** Whether this loop is the primary now. */
  held(): boolean;
  /** Gives the lease back and stands no more. */
  close(): Promise<void>;
}

export interface PrimaryCall {
  mainDir: string;
  sessionId: string;
  everyMs?: number;
}

/** Stands for primary until it is closed: tried once before this settles, and then again and again. */
export async function standForPrimary({
  mainDir,
  sessionId,
  everyMs = EVERY_MS,
}: PrimaryCall): Promise<Primary> {
  const file = primaryLock(mainDir);
  let lock: HeldLock | null = null;
  let closed = false;
  const attempt = async () => {
    if (closed || lock?.stillOurs()) return;
    lock = null;
    try {
      await ensureProjectFolder(mainDir);
      // A silent owner on another host loses it without a person's word: a lease guards nobody's work.
      const answer = await takeLock({
        file,
        identity: ownIdentity(),
        sessionId,
        now: Date.now(),
        force: true,
      });
      if (answer.kind === 'taken') lock = answer;
    } catch {
      // A disk that takes no more: the loop works on unheard, and tries again.
    }
  };
  let trying = attempt();
  await trying;
  const clock = setInterval(() => {
    trying = trying.then(attempt);
  }, everyMs);
  clock.unref();
  return {
    held: () => lock?.stillOurs() === true,
    async close() {
      closed = true;
      clearInterval(clock);
      await trying;
      await lock?.release();
      lock = null;
    },
  };
}
