/**
 * Carries news to every channel of a run, each at its own pace, and writes down which questions reached somebody.
 * What people say comes back through the mailbox; here nothing is decided.
 */
import type { JournalRecord, State } from '../core/index.ts';
import { append, type House } from './house.ts';
import { contextOf, type LoopName, newsOf, questionNews } from './news.ts';
import type { Channel, ChannelInbox, News } from './ports-channel.ts';

export interface Messenger {
  /** Opens the channels. A channel that cannot be used is told and left out. */
  open(): Promise<void>;
  /**
   * Tells again what was open when the channels were opened and still is: for when the mailbox was read, because
   * nobody is asked again what they have answered.
   */
  repeat(): void;
  /** Told each record, right after it is durable. */
  tell(record: JournalRecord, state: State): void;
  /** What an agent told of itself; nobody waits for it. */
  progress(iteration: number, text: string): void;
  /** What is on its way still goes out, for ten seconds at most; then the channels are closed. */
  close(): Promise<void>;
}

export interface MessengerCall {
  house: House;
  channels: readonly Channel[];
  inbox: ChannelInbox;
  where: LoopName;
  /** A sentence for whoever watches the run. */
  say(text: string): void;
}

/** A night's news may come faster than a channel takes it; of more than this many, the oldest that can be spared is left out. */
const MOST_WAITING = 200;
const SPARED: ReadonlySet<News['kind']> = new Set(['notice', 'progress', 'handled', 'delivered']);
const LAST_WORDS_MS = 10_000;

export function openMessenger({ house, channels, inbox, where, say }: MessengerCall): Messenger {
  const lines = channels.map((channel) => lineOf(channel));
  let former: string[] = [];
  const all = (news: News[]) => {
    for (const one of news) for (const line of lines) line.put(one);
  };
  return {
    async open() {
      former = [...house.state.openQuestions];
      await Promise.all(lines.map((line) => line.open()));
    },
    repeat() {
      for (const id of former) {
        for (const line of lines) {
          const repeat = house.state.questions.get(id)?.shown[line.name] === true;
          const news = questionNews(house.state, where, id, repeat);
          if (news !== null) line.put(news);
        }
      }
    },
    tell: (record, state) => all(newsOf(record, state, where)),
    progress: (iteration, text) =>
      all([{ kind: 'progress', text, context: contextOf(house.state, where, iteration) }]),
    close: async () => {
      await Promise.all(lines.map((line) => line.close()));
    },
  };

  function lineOf(channel: Channel) {
    const waiting: News[] = [];
    let opened = false;
    let usable = true;
    let closing = false;
    let work: Promise<void> = Promise.resolve();
    const run = () => {
      work = work.then(async () => {
        for (let news = next(); news !== undefined; news = next()) await one(news);
      });
    };
    // Somebody waits for the answer to a question; where the channel is slow, the rest can wait for it.
    const next = (): News | undefined => {
      const question = waiting.findIndex(({ kind }) => kind === 'question');
      return question === -1 ? waiting.shift() : waiting.splice(question, 1)[0];
    };
    const one = async (news: News) => {
      // A question that was answered while it waited here is old news.
      if (news.kind === 'question' && !house.state.openQuestions.has(news.question.id)) return;
      // A channel owes a value; one that breaks all the same takes neither the run nor the next news with it.
      const reached = usable && (await channel.show(news).catch(() => false));
      if (news.kind === 'question' && !closing) await noted(news.question.id, reached);
    };
    const noted = async (id: string, reached: boolean) => {
      await append(house, (state) =>
        state.questions.get(id)?.shown[channel.name] === reached
          ? []
          : [{ type: 'question.shown', id, channel: channel.name, reached }],
      ).catch(() => undefined); // a journal that takes no more ends the run by itself
      house.interrupt.wake();
    };
    return {
      name: channel.name,
      async open() {
        try {
          await channel.open(inbox);
        } catch (error) {
          usable = false;
          say(`${channel.name} cannot be used in this run: ${(error as Error).message}`);
        }
        opened = true;
        run();
      },
      put(news: News) {
        if (closing) return;
        const first = waiting.findIndex((old) => SPARED.has(old.kind));
        if (waiting.length >= MOST_WAITING && first !== -1) waiting.splice(first, 1);
        waiting.push(news);
        if (opened) run();
      },
      async close() {
        let clock: NodeJS.Timeout | undefined;
        const late = new Promise<void>((resolve) => {
          clock = setTimeout(resolve, LAST_WORDS_MS);
        });
        await Promise.race([work, late]);
        clearTimeout(clock);
        closing = true;
        waiting.length = 0;
        // The session is closed after the channels, whatever becomes of them.
        if (usable) await channel.close().catch(() => undefined);
      },
    };
  }
}
