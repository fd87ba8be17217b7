/**
 * Telegram as a channel: it shows news to the people who are heard, and carries what they say into the
 * mailbox. It decides nothing about the loop.
 *
 * Nothing is lost and nothing is doubled, because of the order of three steps: 1. the word is put into the
 * mailbox, under a key made of the update's number; 2. the number is written into the state file; 3. the next
 * `getUpdates` lets Telegram forget it. Killed before 1 or within it: the update comes again, as if for the
 * first time. Between 1 and 2: it comes again, and the key finds the message that lies there. Between 2 and
 * 3: it comes again and is passed over. Any other order loses a word in one of the gaps.
 */

import type { Channel, ChannelInbox, News } from '../engine/index.ts';
import { oneLine } from '../views/index.ts';
import { openTelegram, type Telegram } from './telegram-api.ts';
import { type Conversation, openConversation } from './telegram-conversation.ts';
import { type PollerLease, poll } from './telegram-poll.ts';
import { openSender, pause, type Sender, WAITS, type Waits } from './telegram-send.ts';
import { openShown, type ShownQuestions } from './telegram-shown.ts';
import {
  openTelegramState,
  type ShownQuestion,
  type SpokenMessage,
  type TelegramState,
} from './telegram-state.ts';
import { newsWords, outcome, overPart, plainWords, questionWords, type Words } from './telegram-words.ts';

/** A chat that was paired by `ralph bot onboard`. */
export interface PairedChat {
  chat: number;
  /** Who paired it; in a group nobody else is heard. */
  user: number;
  name: string;
}

export interface TelegramOptions {
  /** Secret: never shown, logged or written anywhere. */
  token: string;
  /** `https://api.telegram.org`, or a server of one's own. */
  apiUrl: string;
  /** User ids that are heard beside the paired chats; their private chats are told the news. */
  allowedUsers: number[];
  paired?: PairedChat[];
  /** `.ralph/telegram-state.json`, absolute. */
  stateFile: string;
  /** Epoch ms. */
  now(): number;
  /** A sentence for whoever watches the run. Holds no token. */
  say(text: string): void;
  /** null: nobody else reads this bot. */
  lease?: PollerLease | null;
  /** Where proxies are named. */
  env?: NodeJS.ProcessEnv;
  waits?: Partial<Waits>;
}

/** What `close` leaves to what is being handled, ms. */
const CLOSING_MS = 3000;

interface Open {
  inbox: ChannelInbox;
  telegram: Telegram;
  state: TelegramState;
  shown: ShownQuestions;
  sender: Sender;
  conversation: Conversation;
  polling: Promise<void>;
  remember(shown: ShownQuestion): void;
  /** Ends what is being sent. */
  signal: AbortSignal;
}

export function telegramChannel(options: TelegramOptions): Channel {
  const { now, say, lease = null } = options;
  const waits: Waits = { ...WAITS, ...options.waits };
  const chats = chatsOf(options);
  const listening = new AbortController();
  const sending = new AbortController();
  let open: Open | null = null;

  return {
    name: 'telegram',
    answers: true,
    async open(inbox) {
      const telegram = await openTelegram(options);
      if (chats.length === 0)
        say(
          'Telegram: nobody is paired and nobody is in RObot.telegram.allowed_users, so nobody is told anything and nobody is heard. `ralph bot onboard` pairs your chat.',
        );
      const { state, fresh } = openTelegramState(options.stateFile, { bot: telegram.botId, chats });
      if (fresh !== null)
        say(`${options.stateFile} is begun anew: ${fresh}. Reply to new messages, not to old ones.`);
      const sender = openSender({ telegram, waits, signal: sending.signal, failed: onceEach(say) });
      const shown = openShown(inbox.sessionDir, { bot: telegram.botId, earlier: state.earlier });
      const conversation = openConversation({
        ...{ telegram, state, shown, sender, inbox, now, say, waits },
        allowed: (user, chat) => isHeard(options, user, chat),
        signal: sending.signal,
      });
      // With nobody to hear, strangers still get their sentence.
      const { signal } = listening;
      const { hears } = inbox;
      const { handle } = conversation;
      const polling = poll({ telegram, state, lease, hears, waits, now, signal, say, handle });
      open = {
        inbox,
        telegram,
        state,
        shown,
        sender,
        conversation,
        polling,
        remember: remembering(shown, options),
        signal: sending.signal,
      };
    },
    async show(news) {
      if (open === null || chats.length === 0) return false;
      return show(open, chats, news);
    },
    async close() {
      listening.abort();
      if (open === null) return;
      const { polling, conversation } = open;
      open = null;
      const done = polling.then(conversation.settled);
      await Promise.race([done, new Promise((end) => setTimeout(end, CLOSING_MS).unref())]);
      sending.abort();
      await lease?.release().catch(() => undefined);
    },
  };
}

/** It has arrived by then, so a disk that takes no more costs only this: after the run a reply to it is not understood. */
function remembering(questions: ShownQuestions, { say }: TelegramOptions): Open['remember'] {
  let told = false;
  return (shown) => {
    try {
      questions.shown(shown);
    } catch {
      if (!told)
        say(`Telegram: what was asked cannot be remembered in ${questions.file}; answer during this run.`);
      told = true;
    }
  };
}

/** Whom the news goes to: paired chats, and the private chats of allowed users, which have their numbers. */
function chatsOf({ paired = [], allowedUsers }: TelegramOptions): number[] {
  return [...new Set([...paired.map(({ chat }) => chat), ...allowedUsers])];
}

function isHeard({ paired = [], allowedUsers }: TelegramOptions, user: number, chat: number): boolean {
  return allowedUsers.includes(user) || paired.some((one) => one.chat === chat && one.user === user);
}

/** A chat that is not reached is said once until another reason comes. */
function onceEach(say: (text: string) => void): (chat: number, why: string) => void {
  const told = new Map<number, string>();
  return (chat, why) => {
    if (told.get(chat) === why) return;
    told.set(chat, why);
    const blocked = /chat not found|bot was blocked|can't initiate/i.test(why);
    const fix = blocked ? ' Its owner has to open the bot and press Start.' : '';
    say(`Telegram: chat ${chat} was not reached: ${oneLine(why)}.${fix}`);
  };
}

async function show(open: Open, chats: number[], news: News): Promise<boolean> {
  const { sender } = open;
  switch (news.kind) {
    case 'question':
      return showQuestion(open, chats, news);
    case 'over':
      return showOver(open, chats, news);
    case 'delivered':
      return tick(open, news);
    case 'handled':
      return showHandled(open, news);
    default: {
      const words = newsWords(news);
      return toAll(chats, (chat) => sender.send(chat, words));
    }
  }
}

/** True when one of them was reached; they are called one after the other. */
async function toAll(chats: number[], send: (chat: number) => Promise<boolean>): Promise<boolean> {
  let reached = false;
  for (const chat of chats) reached = (await send(chat)) || reached;
  return reached;
}

function showQuestion(
  { sender, shown, remember }: Open,
  chats: number[],
  { question, repeat, context }: Extract<News, { kind: 'question' }>,
): Promise<boolean> {
  // A runner may have been killed before its journal knew that this had arrived.
  const again = repeat || shown.messagesOf(context.sessionId, question.id).length > 0;
  const words = questionWords(question, context, again);
  return toAll(chats, (chat) =>
    sender.send(chat, words, {
      sent: (message, last) =>
        remember({ chat, message, session: context.sessionId, question: question.id, last }),
    }),
  );
}

/** Edits every copy, so that its buttons go; silence is worth a message of its own. */
async function showOver(
  { sender, shown }: Open,
  chats: number[],
  news: Extract<News, { kind: 'over' }>,
): Promise<boolean> {
  const copies = shown.messagesOf(news.context.sessionId, news.question.id).filter(({ last }) => last);
  const html = overPart(news);
  let reached = copies.length === 0;
  for (const { chat, message } of copies) reached = (await sender.edit(chat, message, html)) || reached;
  if (news.how !== 'expired') return reached;
  const words: Words = plainWords(`${news.question.id}: ${outcome(news)}`, false);
  return toAll(chats, (chat) => {
    const replyTo = copies.findLast((one) => one.chat === chat)?.message;
    return sender.send(chat, words, replyTo === undefined ? {} : { replyTo });
  });
}

/** How long another loop may take to write down what it put into our mailbox, ms between looks. */
const SPOKEN_LOOKS_MS = [100, 400];

/** The message in the chat that this one was; null: it was said elsewhere. */
async function spokenAs({ state, inbox, signal }: Open, id: string): Promise<SpokenMessage | null> {
  for (const wait of [...SPOKEN_LOOKS_MS, null]) {
    const hears = inbox.hears();
    if (!hears) state.refresh();
    const spoken = state.spokenAs(id);
    if (spoken !== null || hears || wait === null) return spoken;
    await pause(wait, signal);
  }
  return null;
}

/** Where the chat takes no reactions, a line says it. Words from elsewhere have no tick here. */
async function tick(open: Open, news: Extract<News, { kind: 'delivered' }>): Promise<boolean> {
  const { telegram, sender, signal } = open;
  const spoken = await spokenAs(open, news.message.id);
  if (spoken === null || !spoken.guidance) return true;
  const { chat, message } = spoken;
  const reacted = await telegram.ask(
    'setMessageReaction',
    { chat_id: chat, message_id: message, reaction: [{ type: 'emoji', emoji: '👍' }] },
    { signal },
  );
  if (reacted.ok || signal.aborted) return reacted.ok;
  const how = news.live
    ? `Reached the agent while it runs (iteration ${news.iteration}).`
    : `Delivered in the prompt of iteration ${news.iteration}.`;
  return sender.send(chat, plainWords(how), { replyTo: message });
}

/** What other news tells everybody needs no line to the one who did it. */
const TOLD_ANYWAY: ReadonlySet<string> = new Set(['answered', 'paused', 'resumed']);

/** A refusal is told to who said it; of guidance that was taken in, the tick tells enough. */
async function showHandled(open: Open, news: Extract<News, { kind: 'handled' }>): Promise<boolean> {
  const { sender } = open;
  const spoken = await spokenAs(open, news.id);
  if (spoken === null) return true;
  if (!news.refused && (spoken.guidance || TOLD_ANYWAY.has(news.text))) return true;
  const text = news.refused ? `Not taken: ${news.text}` : sentence(news.text);
  return sender.send(spoken.chat, plainWords(oneLine(text, 1000)), { replyTo: spoken.message });
}

function sentence(text: string): string {
  const line = text.trim();
  return `${line.slice(0, 1).toUpperCase()}${line.slice(1)}${/[.!?]$/.test(line) ? '' : '.'}`;
}
