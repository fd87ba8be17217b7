/**
 * What becomes of an update: who is heard, what they mean, and what is said back. Words go into the mailbox;
 * looking (status, tasks …) is answered here.
 */

import type { Update } from 'grammy/types';
import type { ChannelInbox, Spoken } from '../engine/index.ts';
import { oneLine } from '../views/index.ts';
import {
  type Addressed,
  endedThere,
  liesThere,
  loopOfName,
  loopOfSession,
  nothingRuns,
  ownLoop,
} from './address.ts';
import type { Telegram } from './telegram-api.ts';
import {
  confirmAbort,
  isWindow,
  type Pressed,
  pressedOn,
  START_AGAIN,
  sessionOf,
  tooOld,
} from './telegram-commands.ts';
import { FILE_BYTES, fetchAttachment } from './telegram-files.ts';
import { type Heard, hear, meantBy } from './telegram-hear.ts';
import { tooLate } from './telegram-late.ts';
import { pause, type Sender, type Waits } from './telegram-send.ts';
import { questionInWords, type ShownQuestions } from './telegram-shown.ts';
import type { ShownQuestion, TelegramState } from './telegram-state.ts';
import { newStrangers } from './telegram-strangers.ts';
import { helpText, isQuestionText, plainWords, type Words, windowWords } from './telegram-words.ts';

export interface ConversationParts {
  telegram: Telegram;
  state: TelegramState;
  shown: ShownQuestions;
  sender: Sender;
  inbox: ChannelInbox;
  waits: Waits;
  /** Epoch ms. */
  now(): number;
  say(text: string): void;
  /** Whether this person is heard in this chat. */
  allowed(user: number, chat: number): boolean;
  /** Ends what is still to be said. */
  signal: AbortSignal;
}

export interface Conversation {
  /** Settles once the update needs nothing more; rejects when it could not be put into the mailbox. */
  handle(update: Update): Promise<void>;
  /** Settles once everything that was to be said back is said. */
  settled(): Promise<void>;
}

/** Bytes of a text that the mailbox takes. */
const SPOKEN_BYTES = 64 * 1024;
/** A reply may be quicker than the loop that asked writes down what its message shows, ms between looks. */
const SHOWN_LOOKS_MS = [100, 300, 600, 1000];
/** Replies that may wait to be sent; a server that is away must not fill the memory. */
const WAITING_REPLIES = 200;

type Message = Extract<Heard, { kind: 'message' }>;
type Press = Extract<Heard, { kind: 'press' }>;
type Draft = Omit<Spoken, 'from' | 'key'>;
type Asked = Pick<ShownQuestion, 'session' | 'question'>;

export function openConversation(parts: ConversationParts): Conversation {
  const { telegram, state, shown, sender, inbox, now, say, allowed, signal } = parts;
  const openedAt = now();
  const strangers = newStrangers({
    now,
    say,
    reply: (chat, text) => later(() => sender.send(chat, plainWords(text))),
  });
  let replies: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let username: string | null = null;

  /** What is said back waits for its turn, and nothing waits for it. */
  function later(call: () => Promise<unknown>): void {
    if (waiting >= WAITING_REPLIES) return;
    waiting++;
    replies = replies.then(() => (signal.aborted ? undefined : call())).catch(() => undefined);
    replies = replies.finally(() => {
      waiting--;
    });
  }

  const done = (heard: { update: number }) => state.handled(heard.update, now());
  const reply = ({ chat, message }: Heard, words: string | Words) =>
    later(() =>
      sender.send(chat, typeof words === 'string' ? plainWords(words) : words, { replyTo: message }),
    );
  const react = ({ chat, message }: Heard) =>
    later(() =>
      telegram.ask(
        'setMessageReaction',
        { chat_id: chat, message_id: message, reaction: [{ type: 'emoji', emoji: '👀' }] },
        { signal },
      ),
    );
  const toast = ({ callback }: Press, text: string, loud = false) =>
    later(() =>
      telegram.ask(
        'answerCallbackQuery',
        { callback_query_id: callback, text: oneLine(text, 190), show_alert: loud },
        { signal },
      ),
    );
  const personOf = ({ user, name }: Heard) => `telegram:${user} (${name})`;

  /** Steps 1 and 2 of the order that telegram.ts tells. */
  async function speak(heard: Heard, to: Addressed, draft: Draft): Promise<void> {
    const key = `telegram-${telegram.botId}-${heard.update}`;
    const id = await to.inbox.send({ ...draft, from: personOf(heard), key });
    const guidance = draft.type === 'STEER' || draft.type === 'INFO';
    state.handled(heard.update, now(), { id, chat: heard.chat, message: heard.message, guidance });
    if (to.standing !== 'live') reply(heard, liesThere(to));
  }

  async function handleMessage(heard: Message): Promise<void> {
    const meant = meantBy(heard.text.trim());
    if (meant.command === null) {
      const asked = await askedBy(heard);
      if (asked === 'forgotten') {
        done(heard);
        return reply(heard, `${forgotten()} Nothing was answered.`);
      }
      if (asked !== null) return handleAnswer(heard, asked);
    } else if (meant.command.bot !== null && !(await isThisBot(meant.command.bot))) return done(heard);
    const to = meant.loop === null ? ownLoop(inbox) : await loopOfName(inbox, meant.loop);
    if ('unknown' in to) {
      done(heard);
      return reply(heard, to.unknown);
    }
    if (meant.command !== null)
      return handleCommand(heard, to, { name: meant.command.name, rest: meant.rest });
    return guide(heard, to, meant.loop === null ? heard.text : meant.rest);
  }

  /** The question whose message this replies to; null: it replies to none. */
  async function askedBy({ chat, replyTo }: Message): Promise<Asked | 'forgotten' | null> {
    if (replyTo === null) return null;
    const asks = replyTo.fromUser === telegram.botId && isQuestionText(replyTo.text);
    for (const wait of [...(asks ? SHOWN_LOOKS_MS : []), null]) {
      const found = shown.questionOf(chat, replyTo.message);
      if (found !== null) return found;
      if (wait !== null) await pause(wait, signal);
    }
    return asks ? ((await questionInWords(inbox, replyTo.text)) ?? 'forgotten') : null;
  }

  function forgotten(): string {
    const open = inbox.open().map(({ id }) => id);
    return open.length === 0
      ? 'That message is of an earlier question, and none is open now.'
      : `Which question that message showed is not known any more; reply to the newest message of ${open.join(' or ')}.`;
  }

  async function handleAnswer(heard: Message, { session, question: id }: Asked): Promise<void> {
    const to = await loopOfSession(inbox, session);
    const found = to?.inbox.question(id) ?? null;
    if (to === null || found?.state !== 'open') {
      done(heard);
      return reply(heard, tooLate(id, found));
    }
    const sent = await withFile(heard, { to, text: heard.text.trim() }, (text, files) => ({
      type: 'ANSWER',
      text,
      question: id,
      ...files,
    }));
    if (sent && to.standing === 'live') reply(heard, `Your answer to ${id} is on its way.`);
  }

  async function guide(heard: Message, to: Addressed, text: string): Promise<void> {
    if (to.standing === 'ended') {
      done(heard);
      return reply(heard, endedThere(to));
    }
    const sent = await withFile(heard, { to, text: text.trim() }, (words, files) => ({
      type: 'STEER',
      text: words,
      ...files,
    }));
    if (!sent) return;
    react(heard);
    const open = to.inbox.open().map(({ id }) => id);
    if (open.length > 0)
      reply(heard, `Taken as guidance. To answer ${open.join(' or ')}, reply to the message that asks.`);
  }

  /** Puts words with what is attached to them into the mailbox. False: nothing was sent, and why is said. */
  async function withFile(
    heard: Message,
    { to, text }: { to: Addressed; text: string },
    draft: (text: string, files: { files?: string[] }) => Draft,
  ): Promise<boolean> {
    const refuse = (why: string) => {
      done(heard);
      reply(heard, why);
      return false;
    };
    if (Buffer.byteLength(text) > SPOKEN_BYTES)
      return refuse(
        `That is ${Math.ceil(Buffer.byteLength(text) / 1024)} KB; at most 64 KB are read. Send it as a file, with a few words.`,
      );
    if (heard.file === null)
      return text === ''
        ? refuse('Only words, photos and files are read here.')
        : speak(heard, to, draft(text, {})).then(() => true);
    const fetched = await fetchPatiently(heard, to.inbox.sessionDir);
    if (!fetched.ok)
      return refuse(
        `The file could not be fetched: ${fetched.why}. Nothing of this message was taken; send it again${fetched.lasting ? ` (at most ${FILE_BYTES >> 20} MB)` : ''}.`,
      );
    const words = text === '' ? `See the attached file ${fetched.path}.` : text;
    await speak(heard, to, draft(words, { files: [fetched.path] }));
    return true;
  }

  async function fetchPatiently(
    { file, update }: Message,
    sessionDir: string,
  ): Promise<Awaited<ReturnType<typeof fetchAttachment>>> {
    const request = { telegram, attachment: file!, sessionDir, update, signal };
    for (const wait of [...parts.waits.retriesMs, null]) {
      const fetched = await fetchAttachment(request);
      if (fetched.ok || fetched.lasting || wait === null || signal.aborted) return fetched;
      await pause(wait, signal);
    }
    throw new Error('unreachable');
  }

  async function handleCommand(
    heard: Message,
    to: Addressed,
    { name, rest }: { name: string; rest: string },
  ): Promise<void> {
    const refuse = (why: string | Words) => {
      done(heard);
      return reply(heard, why);
    };
    if (isWindow(name)) {
      done(heard);
      const text = await to.inbox
        .view(name)
        .catch((error: unknown) => `could not be read: ${oneLine(String(error))}`);
      return reply(heard, windowWords(telegram.redact(text)));
    }
    if (START_AGAIN.has(name) && heard.at + 999 < openedAt) return refuse(tooOld(name));
    if (START_AGAIN.has(name) && to.standing !== 'live') return refuse(nothingRuns(to, name));
    switch (name) {
      case 'pause':
        return speak(heard, to, { type: 'PAUSE', text: rest });
      case 'resume':
        return speak(heard, to, { type: 'RESUME', text: rest });
      case 'stop':
        return speak(heard, to, { type: 'HALT', text: rest });
      case 'restart':
        // It may end this process, so that nothing after it is sure to happen.
        done(heard);
        return to.inbox.restart(personOf(heard)).then(
          () => reply(heard, 'It stops at the next boundary and starts again.'),
          () =>
            reply(
              heard,
              'A restart could not be asked for, because the mailbox takes nothing now. Send it again.',
            ),
        );
      case 'abort':
        return refuse(confirmAbort(to.inbox.context.sessionId, rest));
      default: {
        const known = name === 'help' || name === 'start';
        const live = (await inbox.others()).filter(({ standing }) => standing === 'live');
        const loops = [inbox, ...live].map(({ context }) => context.loop);
        return refuse(
          `${known ? '' : `There is no command /${oneLine(name, 40)}; nothing was done.\n\n`}${helpText(loops)}`,
        );
      }
    }
  }

  /** In a group, a command may be another bot's. */
  async function isThisBot(bot: string): Promise<boolean> {
    if (username === null) {
      const answer = await telegram.getMe(signal);
      // Not known whose it is: it comes again.
      if (!answer.ok) throw new Error(`the bot's name is not known (${answer.why})`);
      username = answer.result.username;
    }
    return username.toLowerCase() === bot.toLowerCase();
  }

  async function handlePress(heard: Press): Promise<void> {
    const to = (await loopOfSession(inbox, sessionOf(heard))) ?? ownLoop(inbox);
    const pressed = pressedOn(heard, {
      context: to.inbox.context,
      known: to.inbox.question,
      shown: shown.questionOf(heard.chat, heard.message),
      now: now(),
    });
    if (pressed.kind !== 'speak') {
      done(heard);
      toast(heard, pressed.toast, pressed.kind === 'late');
      if (pressed.instead !== undefined) replace(heard, pressed.instead);
      return;
    }
    await speak(heard, to, pressed.draft);
    toast(heard, pressed.toast);
    if (pressed.instead !== undefined) replace(heard, pressed.instead);
  }

  const replace = ({ chat, message }: Press, html: NonNullable<Pressed['instead']>) =>
    later(() => sender.edit(chat, message, html));

  async function handle(update: Update): Promise<void> {
    const heard = heardIn(update);
    if (heard === null) return state.handled(update.update_id, now());
    if (!allowed(heard.user, heard.chat)) {
      done(heard);
      if (heard.kind === 'press') toast(heard, 'This bot does not know you.', true);
      else strangers.met(heard);
      return;
    }
    switch (heard.kind) {
      case 'message':
        return handleMessage(heard);
      case 'press':
        return handlePress(heard);
      case 'edit':
        done(heard);
        return reply(
          heard,
          'What you change afterwards is not read; what counts is what you first sent. Send it anew.',
        );
      default: {
        const never: never = heard;
        throw new Error(`unknown update ${JSON.stringify(never)}`);
      }
    }
  }

  /** An update that breaks its reader must not come again for ever. */
  function heardIn(update: Update): Heard | null {
    try {
      return hear(update);
    } catch {
      say(`Telegram: update ${update.update_id} could not be read and is passed over.`);
      return null;
    }
  }

  return { handle, settled: () => replies.then(() => undefined) };
}
