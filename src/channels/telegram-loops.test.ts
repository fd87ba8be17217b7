/** One bot for several loops: each tells its own news, one of them hears, and every word reaches the loop it is for. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeFolder } from '../../test/remove-folder.ts';
import { type TelegramStandin, TOKEN, telegramStandin } from '../../test/standins/telegram.ts';
import type { Channel, News, NewsContext, OtherLoop } from '../engine/index.ts';
import { telegramChannel } from './telegram.ts';
import type { PollerLease } from './telegram-poll.ts';
import { CONTEXT, QUESTION, type TestInbox, testInbox } from './test-inbox.ts';

const ANN = 1;
const WAITS = {
  retriesMs: [5, 10, 20],
  patienceMs: 2000,
  pollS: 5,
  backoffMs: { first: 5, most: 40 },
  conflictMs: 30,
  idleMs: 20,
  besideMs: 10,
  unreadMs: 100,
};

let server: TelegramStandin;
let folder: string;
const channels: Channel[] = [];
beforeEach(async () => {
  server = await telegramStandin();
  folder = mkdtempSync(join(tmpdir(), 'ralph-telegram-'));
});
afterEach(async () => {
  for (const channel of channels.splice(0)) await channel.close();
  await server.close();
  removeFolder(folder);
});

interface TestLoop {
  inbox: TestInbox;
  channel: Channel;
  /** Which loop hears may change. */
  hears: boolean;
  standing: OtherLoop['standing'];
  context: NewsContext;
}

/** One reader at a time, as of processes beside each other. */
function leases(): () => PollerLease {
  let reader: PollerLease | null = null;
  return () => {
    const lease: PollerLease = {
      take() {
        reader ??= lease;
        return Promise.resolve(reader === lease ? null : 'another');
      },
      held: () => reader === lease,
      holder: () => Promise.resolve(reader === null ? null : 'somebody'),
      release() {
        if (reader === lease) reader = null;
        return Promise.resolve();
      },
    };
    return lease;
  };
}

/** Loops of one project, in which the first hears. */
async function loops(...names: string[]): Promise<TestLoop[]> {
  const lease = leases();
  const all: TestLoop[] = names.map((name, n) => {
    const context = { ...CONTEXT, loop: name, sessionId: `261128-09000${n}` };
    const sessionDir = join(folder, context.sessionId);
    mkdirSync(sessionDir);
    const channel = telegramChannel({
      token: TOKEN,
      apiUrl: server.url,
      allowedUsers: [ANN],
      stateFile: join(folder, 'telegram-state.json'),
      now: Date.now,
      say: () => undefined,
      waits: WAITS,
      lease: lease(),
    });
    channels.push(channel);
    const inbox = Object.assign(testInbox(), { context, sessionDir });
    return { inbox, channel, hears: n === 0, standing: 'live', context };
  });
  for (const loop of all) {
    Object.assign(loop.inbox, {
      hears: () => loop.hears,
      others: () =>
        Promise.resolve(
          all.filter((one) => one !== loop).map((one) => ({ ...one.inbox, standing: one.standing })),
        ),
    });
    await loop.channel.open(loop.inbox);
  }
  return all;
}

const ask = ({ context }: TestLoop): News => ({
  kind: 'question',
  question: QUESTION,
  repeat: false,
  context,
});
const said = (loop: TestLoop, n = 1) =>
  vi.waitFor(
    () => {
      expect(loop.inbox.said.length).toBeGreaterThanOrEqual(n);
      return loop.inbox.said;
    },
    { timeout: 10_000 },
  );
const told = (text: string) =>
  vi.waitFor(
    () => {
      const found = server.sentTo(ANN).find((one) => one.text.includes(text));
      expect(
        found,
        `"${text}" in ${JSON.stringify(server.sentTo(ANN).map((one) => one.text))}`,
      ).toBeDefined();
      return found!;
    },
    { timeout: 10_000 },
  );

test('a reply and a press on the question of another loop are answers to that loop', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  for (const loop of [main, feature]) await loop.channel.show(ask(loop));
  const of = (name: string) => server.sentTo(ANN).find(({ text }) => text.includes(`[loop ${name} ·`))!;
  server.write('green', { replyTo: of('feature').message_id });
  expect(await said(feature)).toMatchObject([{ type: 'ANSWER', question: 'q1', text: 'green' }]);
  await told('Your answer to q1 is on its way');
  server.press(of('main'), 'A) red');
  expect(await said(main)).toMatchObject([{ type: 'ANSWER', question: 'q1', option: 'A' }]);
  server.press(of('feature'), 'B) blue');
  await vi.waitFor(() =>
    expect(server.calls.filter(({ method }) => method === 'answerCallbackQuery')).toMatchObject([
      { params: { text: 'A) red' } },
      { params: { text: expect.stringContaining('was answered before you') } },
    ]),
  );
  expect([main.inbox.said.length, feature.inbox.said.length]).toEqual([1, 1]);
});

test('a name in front, or behind a command, chooses the loop; without one it is the one that hears', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  feature.inbox.view = () => Promise.resolve('the status of the feature');
  server.write('@feature use JWT');
  server.write('/stop @feature enough of that');
  server.write('@feature /pause');
  server.write('use bar');
  expect(await said(feature, 3)).toMatchObject([
    { type: 'STEER', text: 'use JWT' },
    { type: 'HALT', text: 'enough of that' },
    { type: 'PAUSE', text: '' },
  ]);
  expect(await said(main)).toMatchObject([{ type: 'STEER', text: 'use bar' }]);
  server.write('/status @Feature');
  await told('the status of the feature');
  server.write('/abort @feature');
  const asked = await told(`Abort session ${feature.context.sessionId}`);
  server.press(asked, 'Abort for good');
  expect((await said(feature, 4))[3]).toMatchObject({ type: 'ABORT' });
  server.write('/help');
  await told('These run now: @main, @feature');
});

test('an unknown name is told with the nearest one and those that run, and its words go nowhere', async () => {
  const [main, feature] = (await loops('main', 'feature', 'docs')) as [TestLoop, TestLoop];
  server.write('@featrue use JWT');
  const { text } = await told('There is no loop "featrue"');
  expect(text).toContain('Did you mean @feature?');
  expect(text).toContain('@main, @feature, @docs');
  expect([...main.inbox.said, ...feature.inbox.said]).toEqual([]);
});

test('words for a loop that does not run lie in its mailbox, and none go to one that has ended', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  feature.standing = 'waits';
  await feature.channel.show(ask(feature));
  server.write('@feature use JWT');
  await told('Loop @feature does not run now: your words lie in its mailbox');
  server.write('green', { replyTo: server.sentTo(ANN)[0]!.message_id });
  expect(await said(feature, 2)).toMatchObject([{ type: 'STEER' }, { type: 'ANSWER', text: 'green' }]);
  server.write('/stop @feature');
  await told('so /stop did nothing');
  feature.standing = 'ended';
  server.write('@feature more');
  await told('has ended its work');
  expect([main.inbox.said.length, feature.inbox.said.length]).toEqual([0, 2]);
});

test('a reply to a question whose loop was killed before it knew its message is understood by the words there', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  for (const loop of [main, feature]) await loop.channel.show(ask(loop));
  for (const { context } of [main, feature]) rmSync(join(folder, context.sessionId, 'telegram.json'));
  await main.channel.close();
  main.hears = false;
  feature.hears = true;
  main.standing = 'waits';
  const of = (name: string) => server.sentTo(ANN).find(({ text }) => text.includes(`[loop ${name} ·`))!;
  server.write('green', { replyTo: of('main').message_id });
  expect(await said(main)).toMatchObject([{ type: 'ANSWER', question: 'q1', text: 'green' }]);
  await told('Loop @main does not run now: your words lie in its mailbox');
  // Answered, it is open no more, and nobody else asks in these words.
  server.write('red', { replyTo: of('main').message_id });
  await told('Nothing was answered.');
  expect([main.inbox.said.length, feature.inbox.said.length]).toEqual([1, 0]);
});

test('who hears next goes on where the one before stopped: nothing twice, nothing lost', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  server.write('one');
  await said(main);
  main.hears = false;
  server.forgetful = true;
  await main.channel.close();
  server.write('two');
  await sleep(100);
  expect(feature.inbox.said).toEqual([]);
  feature.hears = true;
  expect(await said(feature)).toMatchObject([{ text: 'two' }]);
  server.write('three');
  expect((await said(feature, 2)).map(({ text }) => text)).toEqual(['two', 'three']);
  expect(main.inbox.said).toHaveLength(1);
});

test('a bot that the loop that hears does not know is read by another one, which routes as well', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  // It lives and hears, and has no such channel.
  await main.channel.close();
  server.write('@main use bar');
  server.write('use JWT');
  expect(await said(feature)).toMatchObject([{ text: 'use JWT' }]);
  expect(await said(main)).toMatchObject([{ text: 'use bar' }]);
});

test('guidance that another loop heard gets its tick from the loop it is for', async () => {
  const [, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  const written = server.write('@feature use JWT');
  await said(feature);
  await feature.channel.show({
    kind: 'delivered',
    message: {
      id: 'signal.1.yaml',
      type: 'STEER',
      target: 'ALL',
      text: 'use JWT',
      from: 'telegram:1 (Ann)',
      createdAt: 0,
      confirmed: true,
    },
    iteration: 4,
    live: false,
    context: feature.context,
  });
  expect(written.reactions).toContain('👍');
});
