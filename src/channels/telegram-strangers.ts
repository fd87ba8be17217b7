/** People whom nobody let in: one polite sentence now and then, and not a word of theirs goes further. */
import type { Where } from './telegram-hear.ts';

const AGAIN_MS = 3_600_000;
/** Sentences an hour to all strangers together: a crowd must not use up what the server lets us send. */
const HOURLY = 20;

export interface Strangers {
  met(who: Where): void;
}

export interface StrangersParts {
  now(): number;
  say(text: string): void;
  reply(chat: number, text: string): void;
}

export function newStrangers({ now, say, reply }: StrangersParts): Strangers {
  // Chat → when it was last answered; at most HOURLY are in it.
  const answered = new Map<number, number>();
  return {
    met({ chat, user, name }) {
      for (const [known, at] of answered) if (now() - at >= AGAIN_MS) answered.delete(known);
      if (answered.has(chat) || answered.size >= HOURLY) return;
      answered.set(chat, now());
      say(
        `Telegram: ${name} (user ${user}) is not paired and not in RObot.telegram.allowed_users; what they write is not read.`,
      );
      reply(chat, 'Hello. This bot belongs to somebody else and cannot read what you write, sorry.');
    },
  };
}
