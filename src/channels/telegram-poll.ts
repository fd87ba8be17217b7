/**
 * Listening: one long call after the other, as long as the channel is open. Whatever happens to the server
 * or the network, it is asked more and more seldom, and said once.
 */
import type { Update } from 'grammy/types';
import type { Answer, Telegram } from './telegram-api.ts';
import { pause, type Waits } from './telegram-send.ts';
import type { TelegramState } from './telegram-state.ts';

/** Only one program may read a bot; whoever holds the lease does. Made by `app`, which knows the lock. */
export interface PollerLease {
  /** null: it is ours now. Else who holds it, in words. */
  take(): Promise<string | null>;
  /** False once somebody else took it over. */
  held(): boolean;
  /** Who holds it now, in words; null: nobody. */
  holder(): Promise<string | null>;
  release(): Promise<void>;
}

export interface Polling {
  telegram: Telegram;
  state: TelegramState;
  lease: PollerLease | null;
  /** Whether this loop is to hear at all; another of the project does while it is not. */
  hears(): boolean;
  waits: Waits;
  now(): number;
  /** Ends it. What was received is handled to its end. */
  signal: AbortSignal;
  say(text: string): void;
  /** Settles once the update needs nothing more. Rejects where it has to come again. */
  handle(update: Update): Promise<void>;
}

const UPDATES = ['message', 'edited_message', 'callback_query'] as const;

/** Polls until the signal; never rejects. */
export async function poll(polling: Polling): Promise<void> {
  const { lease, waits, signal, hears, state } = polling;
  const trouble = newTrouble(polling);
  const standsIn = newStandIn(polling);
  let reading = false;
  while (!signal.aborted) {
    if (!hears() && !(await standsIn())) {
      if (reading) await lease?.release().catch(() => undefined);
      reading = false;
      await pause(waits.besideMs, signal);
      continue;
    }
    const ours = lease === null || lease.held();
    const holder = ours ? null : await lease.take().catch(() => 'nobody knows whom');
    if (holder !== null) {
      trouble.tell(
        'lease',
        `Telegram: this bot is read by ${holder}; what you write in the chat goes there until that ends. Messages are sent from here all the same.`,
      );
      await pause(waits.conflictMs, signal);
      continue;
    }
    if (signal.aborted) break;
    // Who heard before knows what was handled.
    if (!reading || !ours) state.refresh();
    reading = true;
    await pause(await round(polling, trouble), signal);
  }
}

/**
 * The loop that is to hear may not know this bot: another configuration, a terminal without the token. Where nobody has
 * read it for a while, one of the others does, until it ends.
 */
function newStandIn({ lease, waits }: Polling): () => Promise<boolean> {
  let unreadSince: number | null = null;
  let standing = false;
  return async () => {
    if (lease === null) return false;
    if (standing && lease.held()) return true;
    const holder = await lease.holder().catch(() => 'nobody knows whom');
    unreadSince = holder === null ? (unreadSince ?? Date.now()) : null;
    standing = unreadSince !== null && Date.now() - unreadSince >= waits.unreadMs;
    return standing;
  };
}

type Trouble = ReturnType<typeof newTrouble>;

/** One call and what it brought; answers how long to wait before the next, ms. */
async function round(
  { telegram, state, waits, now, signal, handle }: Polling,
  trouble: Trouble,
): Promise<number> {
  const began = Date.now();
  const offset = state.offset(now());
  const answer = await telegram.ask(
    'getUpdates',
    {
      timeout: waits.pollS,
      limit: 100,
      allowed_updates: UPDATES,
      ...(offset === undefined ? {} : { offset }),
    },
    { signal, timeoutMs: (waits.pollS + 10) * 1000 },
  );
  if (signal.aborted && !answer.ok) return 0;
  if (!answer.ok) return trouble.refused(answer);
  trouble.over();
  const updates = Array.isArray(answer.result)
    ? answer.result.filter((one) => Number.isSafeInteger(one?.update_id))
    : [];
  const fresh = freshOf(updates, state);
  for (const update of fresh) {
    try {
      await handle(update);
      trouble.heard();
    } catch (error) {
      // Neither marked as handled nor confirmed: it comes again, and those behind it wait for their turn.
      return trouble.lost(error);
    }
  }
  // What was handled or skipped before must not be handed out at every call.
  const last = Math.max(...updates.map(({ update_id }) => update_id));
  try {
    if (Number.isSafeInteger(last)) state.passed(last, now());
  } catch {
    // They are known as handled; a disk that takes no more only makes them come again.
  }
  return fresh.length === 0 && Date.now() - began < waits.idleMs ? waits.idleMs : 0;
}

/** Each update once, in the order of their numbers, whatever order they came in. */
function freshOf(updates: Update[], state: TelegramState): Update[] {
  const byNumber = new Map<number, Update>();
  for (const update of updates)
    if (!state.wasHandled(update.update_id)) byNumber.set(update.update_id, update);
  return [...byNumber.values()].sort((a, b) => a.update_id - b.update_id);
}

/** Failures since the last success: what was said of them, and how long to wait. */
function newTrouble({ waits, say, telegram }: Polling) {
  let failures = 0;
  let losses = 0;
  let conflicts = 0;
  const told = new Set<string>();
  const tell = (about: string, text: string) => {
    if (told.has(about)) return;
    told.add(about);
    say(text);
  };
  const backoff = (times: number) =>
    Math.min(waits.backoffMs.first * 2 ** Math.min(times - 1, 20), waits.backoffMs.most);
  return {
    tell,
    over(): void {
      if (told.has('reach')) say('Telegram is reached again.');
      failures = 0;
      conflicts = 0;
      told.clear();
    },
    heard(): void {
      losses = 0;
    },
    refused({ code, why, retryAfterS }: Extract<Answer<unknown>, { ok: false }>): number {
      if (code === 409) {
        const reason = /webhook/i.test(why)
          ? 'a webhook is set for it, which takes everything that is written there; remove it (deleteWebhook)'
          : 'another program reads this bot at the same time; end it, or give each its own bot';
        conflicts++;
        // The call of a run that was killed may still lie at the server; that passes in a moment.
        if (conflicts > 1)
          tell('conflict', `Telegram: nothing is heard, because ${reason}. Messages are sent all the same.`);
        return Math.min(backoff(conflicts + 1), waits.conflictMs);
      }
      if (code === 401 || code === 404) {
        tell(
          'token',
          'Telegram does not know this bot token; get it anew from @BotFather, then start again.',
        );
        return waits.backoffMs.most;
      }
      if (retryAfterS !== null) return Math.min(retryAfterS * 1000, waits.backoffMs.most);
      failures++;
      // A single miss is the weather; what lasts is told once.
      if (failures === 3)
        tell(
          'reach',
          `Telegram is not reached (${why}); it is tried again, ever more seldom. The run goes on.`,
        );
      return backoff(failures);
    },
    lost(error: unknown): number {
      losses++;
      const why = telegram.redact(error instanceof Error ? error.message : String(error)).slice(0, 300);
      if (losses === 1)
        say(`Telegram: what was written could not be put into the mailbox and is tried again: ${why}`);
      return backoff(losses);
    },
  };
}
