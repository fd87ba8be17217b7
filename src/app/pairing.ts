/**
 * Which chats are paired with a project, and who reads its bot. Pairing outlives sessions, so it stands in
 * the project journal; the lease is one lock a bot in the user's own folder, because a bot may serve several
 * projects and Telegram hands each update to one reader only.
 */
import { join } from 'node:path';
import type { PairedChat, PollerLease } from '../channels/index.ts';
import { ownIdentity } from '../process/index.ts';
import {
  appendProject,
  type HeldLock,
  isHeld,
  type LockHolder,
  type ProjectRecord,
  readLock,
  readProject,
  sha256,
  stateFolder,
  takeLock,
} from '../store/index.ts';

/** Chats that were paired with this project and not taken back, the last first. */
export function pairedChats(mainDir: string): PairedChat[] {
  const chats = new Map<number, PairedChat>();
  for (const record of readProject(mainDir, isPairing, { compressed: true }).records) {
    const { chat, user, name } = record as ProjectRecord & PairedChat;
    chats.delete(chat);
    if (record.type === 'chat.paired')
      chats.set(chat, { chat, user, name: typeof name === 'string' && name !== '' ? name : `user ${user}` });
  }
  return [...chats.values()].reverse();
}

function isPairing({ type, chat, user }: ProjectRecord): boolean {
  if (type === 'chat.unpaired') return Number.isSafeInteger(chat);
  return type === 'chat.paired' && Number.isSafeInteger(chat) && Number.isSafeInteger(user);
}

export async function recordPaired(mainDir: string, { chat, user, name }: PairedChat): Promise<void> {
  await appendProject(mainDir, { at: Date.now(), type: 'chat.paired', chat, user, name });
}

export async function recordUnpaired(mainDir: string, chat: number): Promise<void> {
  await appendProject(mainDir, { at: Date.now(), type: 'chat.unpaired', chat });
}

/** Named by a hash: the token stands in no file. */
function leaseFile(token: string, env: NodeJS.ProcessEnv): string {
  return join(stateFolder(env), 'telegram', `${sha256(token).slice(0, 24)}.lock`);
}

/** The lease of the one who reads this bot, not taken yet. */
export function pollerLease(token: string, env: NodeJS.ProcessEnv, sessionId = ''): PollerLease {
  const file = leaseFile(token, env);
  let lock: HeldLock | null = null;
  // Without a place for the lock Telegram's own refusal of a second reader has to do.
  let lockless = false;
  return {
    async take() {
      try {
        const answer = await takeLock({
          file,
          identity: ownIdentity(),
          sessionId,
          now: Date.now(),
          force: true,
        });
        if (answer.kind !== 'taken') return holderWords(answer.heldBy);
        lock = answer;
      } catch {
        lockless = true;
      }
      return null;
    },
    held: () => lockless || lock?.stillOurs() === true,
    holder: () => pollerHolder(token, env),
    async release() {
      await lock?.release();
      lock = null;
    },
  };
}

/** Who reads this bot on this machine, in words; null: nobody. */
export async function pollerHolder(token: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const reading = await readLock(leaseFile(token, env)).catch(() => null);
  return reading === null || !isHeld(reading) ? null : holderWords(reading);
}

function holderWords({ pid, host, sessionId }: LockHolder): string {
  const session = sessionId === '' ? '' : `, session ${sessionId}`;
  return `another ralph (pid ${pid} on ${host}${session})`;
}
