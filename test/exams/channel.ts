/**
 * The exam every channel sits. Its own tests say how a person is reached through it and how they speak
 * (`Sitting`); the exam shows them every kind of news, lets them answer, and takes the other side away. A
 * question may be skipped only with a written reason.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../src/core/index.ts';
import type { Channel, ChannelInbox, News, NewsContext, Spoken } from '../../src/engine/index.ts';
import { removeFolder } from '../remove-folder.ts';

/** The other side of a channel: one person, and what carries their words. */
export interface Person {
  /** Everything that was shown to them so far, as one text. */
  seen(): Promise<string>;
  /** They answer the question that was shown last, in words. */
  answer(text: string): Promise<void>;
  /** They choose an option of it by its key. */
  choose(key: string): Promise<void>;
  /** They say something that answers nothing. */
  guide(text: string): Promise<void>;
  /** What carries words is gone from now on. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** What not every channel can be asked. */
export type ExamQuestion = 'words back' | 'every kind is shown' | 'away';

export interface Sitting {
  name: string;
  /** `folder` is the candidate's own, removed afterwards. Short waits between retries. */
  make(folder: string): Promise<{ channel: Channel; person: Person; said: string[] }>;
  /** Words that its configuration holds and that nobody may see. */
  secrets: string[];
  skips: Partial<Record<ExamQuestion, string>>;
}

const CONTEXT: NewsContext = {
  sessionId: '261128-090000',
  loop: 'main',
  iteration: 3,
  role: 'executor',
  task: 'a',
};

const QUESTION: Question = {
  id: 'q1',
  kind: 'decision',
  about: 'a',
  text: 'Which colour, <b>really</b> & "now"?',
  options: [
    { key: 'A', text: 'red' },
    { key: 'B', text: 'blue' },
  ],
  default: 'blue',
  hold: 'session',
  deadline: null,
  onTimeout: 'default',
  askedBy: 'executor',
  iteration: 3,
  askedAt: Date.UTC(2026, 10, 28, 9, 0),
};

const question: News = { kind: 'question', question: QUESTION, repeat: false, context: CONTEXT };

/** One of each kind, with a word that has to be seen; null: it is for whoever wrote, and nobody did. */
const EVERY_KIND: [News, string | null][] = [
  [question, 'Which colour, <b>really</b> & "now"?'],
  [{ kind: 'notice', level: 'info', text: 'something small', context: CONTEXT }, 'something small'],
  [{ kind: 'notice', level: 'critical', text: 'something large', context: CONTEXT }, 'something large'],
  [{ kind: 'progress', text: 'half of it', context: CONTEXT }, 'half of it'],
  [{ kind: 'paused', text: 'lunch', by: 'ann@desk', context: CONTEXT }, 'lunch'],
  [{ kind: 'resumed', text: 'back again', by: 'ann@desk', context: CONTEXT }, 'back again'],
  [
    {
      kind: 'delivered',
      message: {
        id: 'm',
        type: 'STEER',
        target: 'ALL',
        text: 'x',
        from: 'ann',
        createdAt: 0,
        confirmed: true,
      },
      iteration: 4,
      live: false,
      context: CONTEXT,
    },
    null,
  ],
  [{ kind: 'handled', id: 'm', refused: true, text: 'it is stale', context: CONTEXT }, null],
  [
    { kind: 'over', question: QUESTION, how: 'expired', text: 'nobody spoke', by: null, context: CONTEXT },
    'nobody spoke',
  ],
  [
    { kind: 'ended', exit: { code: 0, word: 'COMPLETE', reason: 'all is done' }, context: CONTEXT },
    'all is done',
  ],
];

const patiently = { timeout: 30_000 };

export function channelExam({ name, make, secrets, skips }: Sitting): void {
  describe(`${name}: the exam of every channel`, () => {
    let folder: string;
    let seat: Awaited<ReturnType<Sitting['make']>>;
    let spoken: Spoken[];
    let state: 'open' | 'answered';

    const inbox = (): ChannelInbox => ({
      send(one) {
        spoken.push(one);
        return Promise.resolve(`signal.${spoken.length}.yaml`);
      },
      open: () => (state === 'open' ? [QUESTION] : []),
      question: (id) =>
        id === 'q1' ? { question: QUESTION, state, by: state === 'open' ? null : 'telegram:7 (Bob)' } : null,
      view: (window) => Promise.resolve(`the ${window}`),
      restart: () => Promise.resolve(),
      hears: () => true,
      others: () => Promise.resolve([]),
      sessionDir: folder,
      context: CONTEXT,
    });

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'ralph-exam-'));
      spoken = [];
      state = 'open';
      seat = await make(folder);
    });
    afterEach(async () => {
      await seat.channel.close();
      await seat.person.close();
      removeFolder(folder);
    });

    async function said(count: number): Promise<Spoken[]> {
      const end = Date.now() + 10_000;
      while (spoken.length < count) {
        if (Date.now() > end) throw new Error(`${count} words were expected, ${spoken.length} came`);
        await sleep(5);
      }
      return spoken;
    }

    it('a question is seen, in its own words', patiently, async () => {
      await seat.channel.open(inbox());
      expect(await seat.channel.show(question)).toBe(true);
      const seen = await seat.person.seen();
      for (const word of [QUESTION.text, 'q1']) expect(seen).toContain(word);
    });

    it.skipIf(skips['every kind is shown'] !== undefined)(
      'every kind of news is seen',
      patiently,
      async () => {
        await seat.channel.open(inbox());
        for (const [news] of EVERY_KIND) expect(await seat.channel.show(news)).toBe(true);
        const seen = await seat.person.seen();
        for (const { text } of QUESTION.options) expect(seen).toContain(text);
        for (const [, word] of EVERY_KIND) if (word !== null) expect(seen).toContain(word);
      },
    );

    it('no kind of news breaks it, and none is refused by throwing', patiently, async () => {
      await seat.channel.open(inbox());
      for (const [news] of EVERY_KIND) expect(typeof (await seat.channel.show(news))).toBe('boolean');
    });

    const mute = skips['words back'];
    it.skipIf(mute !== undefined)(
      'an answer in words names its question and who said it',
      patiently,
      async () => {
        await seat.channel.open(inbox());
        await seat.channel.show(question);
        await seat.person.answer('green, please');
        const [answer] = await said(1);
        expect(answer).toMatchObject({ type: 'ANSWER', question: 'q1', text: 'green, please' });
        expect(answer!.from).not.toBe('');
      },
    );

    it.skipIf(mute !== undefined)('a chosen option arrives by its key', patiently, async () => {
      await seat.channel.open(inbox());
      await seat.channel.show(question);
      await seat.person.choose('B');
      expect((await said(1))[0]).toMatchObject({ type: 'ANSWER', question: 'q1', option: 'B' });
    });

    it.skipIf(mute !== undefined)('words that answer nothing are guidance', patiently, async () => {
      await seat.channel.open(inbox());
      await seat.person.guide('use the bar library <promise>COMPLETE</promise>');
      expect((await said(1))[0]).toMatchObject({
        type: 'STEER',
        text: 'use the bar library <promise>COMPLETE</promise>',
      });
    });

    it.skipIf(mute !== undefined)(
      'an answer that comes after another one does not arrive as an answer',
      patiently,
      async () => {
        await seat.channel.open(inbox());
        await seat.channel.show(question);
        state = 'answered';
        await seat.person.answer('too late');
        await seat.person.guide('and this arrives');
        expect(await said(1)).toMatchObject([{ text: 'and this arrives' }]);
      },
    );

    it.skipIf(skips.away !== undefined)(
      'where nobody is reached, the answer is false and the reason is told',
      patiently,
      async () => {
        await seat.channel.open(inbox());
        await seat.person.leave();
        expect(await seat.channel.show(question)).toBe(false);
        expect(seat.said.length).toBeGreaterThan(0);
      },
    );

    it('it opens although nobody is there, and closes within five seconds', patiently, async () => {
      await seat.person.leave();
      await seat.channel.open(inbox());
      const showing = seat.channel.show(question);
      const began = Date.now();
      await seat.channel.close();
      expect(Date.now() - began).toBeLessThan(5000);
      expect(typeof (await showing)).toBe('boolean');
      await seat.channel.close();
    });

    it('nothing it says holds a secret of its configuration', patiently, async () => {
      await seat.channel.open(inbox());
      await seat.channel.show(question);
      await seat.person.leave();
      await seat.channel.show(question);
      for (const secret of secrets) expect(seat.said.join('\n')).not.toContain(secret);
    });
  });
}
