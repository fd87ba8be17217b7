/** The webhook of several loops: each posts its own news, one takes the answers, and each goes to the loop that asked. */
import { createHmac } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeFolder } from '../../test/remove-folder.ts';
import type { Channel, OtherLoop } from '../engine/index.ts';
import { CONTEXT, QUESTION, type TestInbox, testInbox } from './test-inbox.ts';
import { webhookChannel } from './webhook.ts';

const SECRET = 'a shared key';

let folder: string;
let receiver: Server;
let posted: Record<string, unknown>[];
const channels: Channel[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-webhook-'));
  posted = [];
  receiver = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    posted.push(JSON.parse(body));
    response.writeHead(204).end();
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  for (const channel of channels.splice(0)) await channel.close();
  await new Promise((done) => receiver.close(done));
  removeFolder(folder);
});

interface TestLoop {
  inbox: TestInbox;
  channel: Channel;
  hears: boolean;
  standing: OtherLoop['standing'];
  session: string;
}

/** Loops of one project, of which the first listens. */
async function loops(...names: string[]): Promise<TestLoop[]> {
  const all: TestLoop[] = names.map((loop, n) => {
    const session = `261128-09000${n}`;
    const channel = webhookChannel({
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      secret: SECRET,
      answers: true,
      stateFile: join(folder, 'webhook-state.json'),
      warn: () => undefined,
      turnMs: 10,
    });
    channels.push(channel);
    const inbox = Object.assign(testInbox(), { context: { ...CONTEXT, loop, sessionId: session } });
    return { inbox, channel, hears: n === 0, standing: 'live', session };
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

/** Where the news of this loop says that answers are taken. */
async function address({ channel, inbox }: TestLoop): Promise<string> {
  await channel.show({ kind: 'question', question: QUESTION, repeat: false, context: inbox.context });
  return String(posted.at(-1)!.answer_url);
}

let count = 0;
async function say(url: string, words: Record<string, unknown>): Promise<[number, Record<string, unknown>]> {
  const body = JSON.stringify({ from: 'Ann', id: `word ${count++}`, ...words });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = `v1=${createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex')}`;
  const headers = { 'Ralph-Timestamp': timestamp, 'Ralph-Signature': signature };
  const answer = await fetch(url, { method: 'POST', headers, body });
  return [answer.status, (await answer.json()) as Record<string, unknown>];
}

test('the news of each loop names the one address, and an answer with its session goes to that loop', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  const url = await address(main);
  expect(await address(feature)).toBe(url);
  expect(await say(url, { question: 'q1', text: 'red', session: feature.session })).toMatchObject([202, {}]);
  expect(feature.inbox.said).toMatchObject([{ type: 'ANSWER', question: 'q1', text: 'red' }]);
  expect(await say(url, { type: 'STEER', text: 'use bar', loop: 'feature' })).toMatchObject([202, {}]);
  expect(await say(url, { type: 'STEER', text: 'use foo' })).toMatchObject([202, {}]);
  expect([feature.inbox.said.length, main.inbox.said.length]).toEqual([2, 1]);
});

test('without a session the only loop that asks is meant; where several do, nothing is guessed', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  const url = await address(main);
  const sessions = [main.session, feature.session];
  expect(await say(url, { question: 'q1', text: 'red' })).toMatchObject([409, { sessions }]);
  main.inbox.answered.set('q1', 'ann');
  expect(await say(url, { question: 'q1', text: 'red' })).toMatchObject([202, {}]);
  expect([main.inbox.said, feature.inbox.said]).toMatchObject([[], [{ text: 'red' }]]);
});

test('a loop that nobody knows, or that has ended, is said', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  feature.standing = 'ended';
  const url = await address(main);
  const [missing, why] = await say(url, { type: 'STEER', text: 'x', loop: 'featrue' });
  expect([missing, why.error]).toEqual([404, expect.stringContaining('Did you mean @feature?')]);
  expect((await say(url, { type: 'STEER', text: 'x', session: '261128-120000' }))[0]).toBe(404);
  expect((await say(url, { type: 'STEER', text: 'x', loop: 'feature' }))[0]).toBe(409);
  expect(feature.inbox.said).toEqual([]);
});

test('when another loop hears it listens, and remembers what was received before', async () => {
  const [main, feature] = (await loops('main', 'feature')) as [TestLoop, TestLoop];
  const word = { id: 'the same', type: 'STEER', text: 'use bar' };
  const before = await address(main);
  expect((await say(before, word))[0]).toBe(202);
  main.hears = false;
  await main.channel.close();
  feature.hears = true;
  const url = await vi.waitFor(
    async () => {
      const now = await address(feature);
      expect(now).not.toBe(before);
      return now;
    },
    { timeout: 10_000 },
  );
  expect((await say(url, word))[0]).toBe(409);
  expect((await say(url, { type: 'STEER', text: 'go on' }))[0]).toBe(202);
  expect([main.inbox.said.length, feature.inbox.said.length]).toEqual([1, 1]);
});
