/**
 * Pairing and trying out, from the command line. Who sends the code that was shown at the computer has the
 * computer before them: that chat, and that person in it, is heard from then on.
 *
 * Nothing that waits for a run is taken from it: updates are looked at and not confirmed, but for those of
 * strangers that stand in the way.
 */
import { randomInt } from 'node:crypto';
import type { Update } from 'grammy/types';
import type { PairedChat } from './telegram.ts';
import { type Answer, type Bot, openTelegram, type Telegram, type TelegramAccess } from './telegram-api.ts';
import { hear } from './telegram-hear.ts';
import { pause, WAITS, type Waits } from './telegram-send.ts';
import { openTelegramState, type TelegramState } from './telegram-state.ts';
import { COMMANDS } from './telegram-words.ts';

/** Without what is read wrongly (I, O, 0, 1); a character is 5 bits. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CODE_CHARACTERS = 10;
/** Wrong codes, whoever sent them, until a new one has to be made. */
const TRIES = 5;
const BATCH = 100;

/** A code of 50 bits for one pairing. */
export function pairingCode(): string {
  const letters = Array.from({ length: CODE_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return `${letters.slice(0, 5).join('')}-${letters.slice(5).join('')}`;
}

export interface PairRequest {
  access: TelegramAccess;
  code: string;
  /** `.ralph/telegram-state.json`, absolute. */
  stateFile: string;
  /** Chats that are heard already. */
  paired: PairedChat[];
  allowedUsers: number[];
  /** Epoch ms after which the code is worth nothing. */
  until: number;
  signal: AbortSignal;
  waits?: Partial<Waits>;
}

/** `crowded`: so much waits for a run that what is new cannot be seen. */
export type Pairing =
  | { kind: 'paired'; chat: PairedChat; welcome(): Promise<void> }
  | { kind: 'expired' | 'tries' | 'crowded' | 'ended' }
  | { kind: 'refused'; why: string };

/** Waits for somebody to send the code. */
export async function pairChat(request: PairRequest): Promise<Pairing> {
  const { access, until, signal, paired } = request;
  const waits: Waits = { ...WAITS, ...request.waits };
  const telegram = await openTelegram(access);
  const chats = paired.map(({ chat }) => chat);
  const { state } = openTelegramState(request.stateFile, { bot: telegram.botId, chats });
  const seen = new Set<number>();
  const tries = { left: TRIES };
  for (let call = 0; Date.now() < until && !signal.aborted; call++) {
    const began = Date.now();
    // The first look is at what waits already: it cannot hold the code, and is nobody's try.
    const timeout = call === 0 ? 0 : Math.min(waits.pollS, Math.ceil((until - began) / 1000));
    const answer = await ask(telegram, state, timeout, signal);
    if (signal.aborted) break;
    if (!answer.ok) {
      if (answer.code === 401 || answer.code === 404 || answer.code === 409)
        return { kind: 'refused', why: answer.why };
      await pause(waits.backoffMs.first, signal);
      continue;
    }
    const fresh = answer.result.filter(({ update_id }) => !seen.has(update_id));
    for (const { update_id } of fresh) seen.add(update_id);
    const found = call === 0 ? null : await look(request, { telegram, state, fresh, tries });
    if (found !== null) return found;
    if (tries.left === 0) return { kind: 'tries' };
    if (answer.result.length >= BATCH && !passStrangers(request, state, answer.result))
      return { kind: 'crowded' };
    if (Date.now() - began < waits.idleMs) await pause(waits.idleMs, signal);
  }
  return { kind: signal.aborted ? 'ended' : 'expired' };
}

function ask(
  telegram: Telegram,
  state: TelegramState,
  timeout: number,
  signal: AbortSignal,
): Promise<Answer<Update[]>> {
  const offset = state.offset(Date.now());
  return telegram.ask(
    'getUpdates',
    {
      timeout,
      limit: BATCH,
      allowed_updates: ['message', 'edited_message', 'callback_query'],
      ...(offset === undefined ? {} : { offset }),
    },
    { signal, timeoutMs: (timeout + 10) * 1000 },
  );
}

interface Look {
  telegram: Telegram;
  state: TelegramState;
  fresh: Update[];
  tries: { left: number };
}

async function look({ code }: PairRequest, { telegram, state, fresh, tries }: Look): Promise<Pairing | null> {
  for (const update of fresh) {
    const heard = hear(update);
    if (heard?.kind !== 'message') continue;
    const tried = codeIn(heard.text);
    if (tried === null) continue;
    const { chat, user, name } = heard;
    const say = (text: string) => telegram.ask('sendMessage', { chat_id: chat, text });
    // The code is not guidance for the next run.
    state.skip(update.update_id);
    if (tried === plain(code)) {
      const welcome = async () => {
        await say(
          'This chat is paired with Ralph now: questions come here, and what you write here is read. /help tells what can be said.',
        );
        await telegram.ask('setMyCommands', {
          commands: COMMANDS.map(([command, description]) => ({ command, description })),
        });
      };
      return { kind: 'paired', chat: { chat, user, name }, welcome };
    }
    tries.left--;
    await say('That is not the code that stands at the computer.');
    if (tries.left === 0) return null;
  }
  return null;
}

const plain = (code: string): string => code.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** What is meant as a code: behind `/start`, or one word of a code's length. */
function codeIn(text: string): string | null {
  const started = /^\/start(?:@\w+)?\s+(\S.*)$/.exec(text.trim())?.[1];
  const word = started ?? (/^[A-Za-z0-9]{5}[-\s]?[A-Za-z0-9]{5}$/.test(text.trim()) ? text : null);
  return word === null ? null : plain(word);
}

/** Confirms what strangers wrote, as far as nothing of people who are heard stands before it. */
function passStrangers(
  { paired, allowedUsers }: PairRequest,
  state: TelegramState,
  batch: Update[],
): boolean {
  const first = batch.findIndex((update) => {
    const heard = hear(update);
    return (
      heard !== null && (allowedUsers.includes(heard.user) || paired.some(({ user }) => user === heard.user))
    );
  });
  const strangers = first === -1 ? batch : batch.slice(0, first);
  const last = strangers.at(-1);
  if (last === undefined) return false;
  state.passed(last.update_id, Date.now());
  return true;
}

/** Asks the bot its name: whether the token is good and the server is reached. */
export async function askBot(access: TelegramAccess): Promise<Answer<Bot>> {
  return (await openTelegram(access)).getMe();
}

/** Sends one line to each chat; `why`: null where it arrived. */
export async function sendTest(
  access: TelegramAccess,
  chats: number[],
  text: string,
): Promise<{ chat: number; why: string | null }[]> {
  const telegram = await openTelegram(access);
  const sent: { chat: number; why: string | null }[] = [];
  for (const chat of chats) {
    const answer = await telegram.ask('sendMessage', { chat_id: chat, text });
    sent.push({ chat, why: answer.ok ? null : answer.why });
  }
  return sent;
}
