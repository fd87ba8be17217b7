/**
 * Sending: the first try and its retries, the patience that the server asks for, and plain text where it
 * does not take our HTML.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Telegram } from './telegram-api.ts';
import { plainOf } from './telegram-text.ts';
import { keyboard, type Words } from './telegram-words.ts';

/** How long to wait for what; tests wait less. */
export interface Waits {
  /** Between a failed send and its retries, ms. */
  retriesMs: readonly number[];
  /** The longest `retry_after` that a send waits for, ms; a longer one fails it. */
  patienceMs: number;
  /** How long one `getUpdates` may lie at the server, s. */
  pollS: number;
  /** After failed polls: doubled each time, ms. */
  backoffMs: { first: number; most: number };
  /** While another program reads this bot, ms. */
  conflictMs: number;
  /** Between two looks whether this loop is to hear now, ms. */
  besideMs: number;
  /** How long nobody may have read the bot before a loop that is not to hear does, ms. */
  unreadMs: number;
  /** After an empty or known answer that came at once, ms: a server that does not hold the call. */
  idleMs: number;
}

/** As law and documents say. */
export const WAITS: Waits = {
  retriesMs: [1000, 2000, 4000],
  patienceMs: 60_000,
  pollS: 25,
  backoffMs: { first: 1000, most: 60_000 },
  conflictMs: 30_000,
  besideMs: 500,
  unreadMs: 10_000,
  idleMs: 1000,
};

/** Sleeps, or wakes at once when all is to end. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

export interface SendOptions {
  /** A message of the same chat that it answers to. */
  replyTo?: number;
  /** Told after each part that arrived. */
  sent?(message: number, last: boolean): void;
}

export interface Sender {
  /** Sends all parts; false when one did not arrive. Never rejects. */
  send(chat: number, words: Words, options?: SendOptions): Promise<boolean>;
  /** Puts another text in the place of a message, without buttons. True also where it stands there already. */
  edit(chat: number, message: number, html: string): Promise<boolean>;
}

export interface SenderParts {
  telegram: Telegram;
  waits: Waits;
  signal: AbortSignal;
  /** Told why a chat was not reached. */
  failed(chat: number, why: string): void;
}

export function openSender({ telegram, waits, signal, failed }: SenderParts): Sender {
  // Epoch ms. Asking again sooner than the server said makes it angrier.
  let quietUntil = 0;

  async function tried<T>(chat: number, call: () => Promise<Answer<T>>): Promise<Answer<T>> {
    for (let retry = 0; ; retry++) {
      const rest = quietUntil - Date.now();
      if (rest > waits.patienceMs) {
        const until = new Date(quietUntil).toISOString().slice(0, 16).replace('T', ' ');
        const why = `it wants silence until ${until} UTC`;
        failed(chat, why);
        return refusal(429, why);
      }
      if (rest > 0) await pause(rest, signal);
      const answer = await call();
      if (answer.ok || !mayPass(answer.code)) return answer;
      if (answer.retryAfterS !== null) quietUntil = Date.now() + answer.retryAfterS * 1000;
      const wait = waits.retriesMs[retry];
      if (wait === undefined || signal.aborted) {
        failed(chat, answer.why);
        return answer;
      }
      if (answer.retryAfterS === null) await pause(wait, signal);
    }
  }

  async function sendPart(
    chat: number,
    html: string,
    more: Record<string, unknown>,
  ): Promise<Answer<{ message_id: number }>> {
    const once = (text: object) =>
      telegram.ask('sendMessage', { chat_id: chat, ...text, ...more } as never, { signal });
    const answer = await tried(chat, () => once({ text: html, parse_mode: 'HTML' }));
    if (answer.ok || !unparsed(answer)) return answer;
    return tried(chat, () => once({ text: plainOf(html) }));
  }

  return {
    async send(chat, { parts, buttons, silent }, { replyTo, sent } = {}) {
      const shown = parts.filter((part) => plainOf(part).trim() !== '');
      for (const [n, part] of shown.entries()) {
        const last = n === shown.length - 1;
        const answer = await sendPart(chat, part, {
          disable_notification: silent,
          link_preview_options: { is_disabled: true },
          ...(replyTo === undefined || n > 0
            ? {}
            : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } }),
          ...(last && buttons.length > 0 ? { reply_markup: keyboard(buttons) } : {}),
        });
        if (!answer.ok) {
          if (!mayPass(answer.code)) failed(chat, answer.why);
          return false;
        }
        sent?.(answer.result.message_id, last);
      }
      return true;
    },
    async edit(chat, message, html) {
      const once = (text: object) => () =>
        telegram.ask(
          'editMessageText',
          {
            chat_id: chat,
            message_id: message,
            link_preview_options: { is_disabled: true },
            ...text,
          } as never,
          { signal },
        );
      const answer = await tried(chat, once({ text: html, parse_mode: 'HTML' }));
      if (answer.ok || /not modified/i.test(answer.why)) return true;
      return unparsed(answer) && (await tried(chat, once({ text: plainOf(html) }))).ok;
    },
  };
}

function refusal(code: number, why: string): Answer<never> {
  return { ok: false, code, why, retryAfterS: null };
}

/** Not reached, too busy, or broken for now: trying again may help. */
function mayPass(code: number | null): boolean {
  return code === null || code === 429 || code >= 500;
}

function unparsed(answer: Extract<Answer<unknown>, { ok: false }>): boolean {
  return answer.code === 400 && /parse entities/i.test(answer.why);
}
