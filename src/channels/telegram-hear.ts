/**
 * What an update of Telegram is: who says what, where. Nothing is decided here. Updates come from a server
 * that may be anybody's, so only what has the right form counts; the rest is nothing.
 */

import type { Update } from 'grammy/types';
import { oneLine } from '../views/index.ts';

/** A photo, a document or a recording that came with a message. */
export interface Attachment {
  fileId: string;
  /** As the sender names it; null: without a name. */
  name: string | null;
  /** null: not told. */
  bytes: number | null;
}

export interface Where {
  update: number;
  chat: number;
  /** The chat's own number is the person's only here. */
  isPrivate: boolean;
  message: number;
  user: number;
  /** For people; chosen by the person, so it proves nothing. */
  name: string;
  /** Epoch ms of the message, whole seconds. */
  at: number;
}

export type Heard =
  | (Where & {
      kind: 'message';
      /** Empty where only a file came. */
      text: string;
      /** The message it replies to, and the words that stand there; null: none. */
      replyTo: { message: number; fromUser: number | null; text: string } | null;
      file: Attachment | null;
      /** There is something in it that is neither words nor a file: a sticker, a place, a poll. */
      other: boolean;
    })
  | (Where & { kind: 'edit' })
  | (Where & { kind: 'press'; callback: string; data: string });

/** null: nothing that a person says to us. */
export function hear(update: Update): Heard | null {
  const { message, edited_message: edited, callback_query: press } = update;
  if (press !== undefined) {
    const where = whereOf(update.update_id, press.message, press.from);
    if (where === null || typeof press.data !== 'string') return null;
    return { ...where, kind: 'press', callback: String(press.id), data: press.data };
  }
  if (edited !== undefined) {
    const where = whereOf(update.update_id, edited, edited.from);
    return where === null ? null : { ...where, kind: 'edit' };
  }
  const where = message === undefined ? null : whereOf(update.update_id, message, message.from);
  if (message === undefined || where === null) return null;
  const text = [message.text, message.caption].find((one) => typeof one === 'string') ?? '';
  const file = attachmentOf(message);
  const other = OTHER.some((key) => key in message);
  // Somebody joined, a title changed: the chat's own news.
  if (text === '' && file === null && !other) return null;
  return { ...where, kind: 'message', text, replyTo: repliedTo(message.reply_to_message), file, other };
}

const OTHER = ['sticker', 'location', 'contact', 'poll', 'venue', 'dice', 'story'];

type Message = NonNullable<Update['message']>;

function whereOf(
  update: number,
  message: { message_id: number; chat: { id: number; type: string }; date: number } | undefined,
  from: { id: number; is_bot: boolean; first_name: string; last_name?: string } | undefined,
): Where | null {
  const numbers = [update, message?.message_id, message?.chat?.id, from?.id];
  if (message === undefined || from === undefined || !numbers.every(Number.isSafeInteger)) return null;
  // Bots, and people who speak as a group: nobody is named by that.
  if (from.is_bot) return null;
  const name = [from.first_name, from.last_name].filter((one) => typeof one === 'string').join(' ');
  return {
    update,
    chat: message.chat.id,
    isPrivate: message.chat.type === 'private',
    message: message.message_id,
    user: from.id,
    name: nameLike(name),
    at: Number.isFinite(message.date) ? message.date * 1000 : 0,
  };
}

/** A name that stands in other people's windows: one line, no brackets that would end it, no writing from the right over what follows. */
function nameLike(name: string): string {
  return oneLine(name.replace(/[()<>]+/g, ' '), 40) || 'somebody';
}

function repliedTo(message: Message['reply_to_message']): Extract<Heard, { kind: 'message' }>['replyTo'] {
  if (!Number.isSafeInteger(message?.message_id)) return null;
  return { message: message!.message_id, fromUser: message!.from?.id ?? null, text: message!.text ?? '' };
}

function attachmentOf(message: Message): Attachment | null {
  const photo = message.photo?.at(-1);
  const found: { file_id: string; file_size?: number; file_name?: string } | undefined =
    message.document ?? photo ?? message.video ?? message.audio ?? message.voice ?? message.video_note;
  if (typeof found?.file_id !== 'string') return null;
  const bytes = typeof found.file_size === 'number' ? found.file_size : null;
  return { fileId: found.file_id, name: typeof found.file_name === 'string' ? found.file_name : null, bytes };
}

/** What a text is: a command or words, and the loop that is named in it. */
export interface Meant {
  /** As it was written behind the `@`; null: no loop is named. */
  loop: string | null;
  /** null: words. `bot`: the one it is for, where it says so. */
  command: { name: string; bot: string | null } | null;
  /** The words, or what stands behind the command. */
  rest: string;
}

/** `/usr/bin is missing` and `@types/node is old` are plain words. `@a /status` is `/status @a`. */
export function meantBy(text: string): Meant {
  const { loop, rest } = named(text);
  const command = /^\/([a-z_]\w{0,31})(?:@(\w+))?(?:\s+([\s\S]*))?$/i.exec(rest);
  if (command === null) return { loop, command: null, rest };
  const behind = loop === null ? named((command[3] ?? '').trim()) : { loop, rest: (command[3] ?? '').trim() };
  return { ...behind, command: { name: command[1]!.toLowerCase(), bot: command[2] ?? null } };
}

function named(text: string): { loop: string | null; rest: string } {
  const found = /^@([\w-]+):?(?:\s+([\s\S]*))?$/.exec(text);
  return found === null ? { loop: null, rest: text } : { loop: found[1]!, rest: (found[2] ?? '').trim() };
}
