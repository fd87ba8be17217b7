/** The webhook against real servers on this machine: what goes out, what comes in, what is refused. */
import { createHmac } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Channel, News } from '../engine/index.ts';
import { CONTEXT, QUESTION, type TestInbox, testInbox } from './test-inbox.ts';
import { type WebhookOptions, webhookChannel } from './webhook.ts';
import { signatureOf } from './webhook-sign.ts';

const SECRET = 'a shared key';
const ASKS: News = { kind: 'question', question: QUESTION, repeat: false, context: CONTEXT };

interface Got {
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let dir: string;
let server: Server;
let got: Got[];
/** How the receiver answers the next posts; then 204. */
let replies: { status: number; headers?: Record<string, string> }[];
let port: number;
let channel: Channel | null;
let warned: string[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-webhook-'));
  [got, replies, warned, channel] = [[], [], [], null];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      got.push({ url: request.url ?? '', headers: request.headers, body });
      const { status, headers } = replies.shift() ?? { status: 204 };
      response.writeHead(status, headers).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as { port: number }).port;
});
afterEach(async () => {
  await channel?.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(dir, { recursive: true, force: true });
});

function webhook(over: Partial<WebhookOptions> = {}): Channel {
  channel = webhookChannel({
    url: `http://127.0.0.1:${port}/hook?key=hidden-key`,
    secret: SECRET,
    answers: false,
    stateFile: join(dir, '.ralph', 'webhook-state.json'),
    warn: (text) => warned.push(text),
    delaysMs: [1, 2, 4],
    ...over,
  });
  return channel;
}

const signedAs = (secret: string, timestamp: string, body: string) =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

describe('out', () => {
  test('news is one signed post, and the signature is over the timestamp, a dot and the body', async () => {
    const hook = webhook();
    await hook.open(testInbox());
    expect(await hook.show(ASKS)).toBe(true);
    const [{ url, headers, body }] = got as [Got];
    expect(url).toBe('/hook?key=hidden-key');
    expect(headers['content-type']).toBe('application/json');
    expect(headers['ralph-signature']).toBe(signedAs(SECRET, String(headers['ralph-timestamp']), body));
    expect(Math.abs(Date.now() / 1000 - Number(headers['ralph-timestamp']))).toBeLessThan(60);
    const sent = JSON.parse(body);
    expect(sent).toMatchObject({
      version: 1,
      id: headers['ralph-id'],
      kind: 'question',
      session: '261128-090000',
      loop: 'main',
      iteration: 3,
      role: 'executor',
      task: 'a',
      text: 'Which colour?',
      repeat: false,
      question: {
        id: 'q1',
        options: QUESTION.options,
        default: 'blue',
        deadline: '2026-11-28T09:05:00.000Z',
        on_timeout: 'default',
      },
    });
    expect(sent).not.toHaveProperty('answer_url');
  });

  test('every kind of news has words, and the same shape around them', async () => {
    const message = {
      id: 'm1',
      type: 'STEER' as const,
      target: 'ALL',
      text: 'use bar',
      from: 'ann',
      createdAt: 0,
      confirmed: true,
    };
    const news: News[] = [
      { kind: 'over', question: QUESTION, how: 'answered', text: 'blue', by: 'ann', context: CONTEXT },
      { kind: 'notice', level: 'critical', text: 'stuck', context: CONTEXT },
      { kind: 'progress', text: 'half way', context: CONTEXT },
      { kind: 'delivered', message, iteration: 4, live: true, context: CONTEXT },
      { kind: 'handled', id: 'm1', refused: true, text: 'stale', context: CONTEXT },
      { kind: 'paused', text: 'lunch', by: 'ann', context: CONTEXT },
      { kind: 'resumed', text: 'back', by: 'ann', context: CONTEXT },
      { kind: 'ended', exit: { code: 0, word: 'COMPLETE', reason: 'all is done' }, context: CONTEXT },
    ];
    const hook = webhook({ secret: null });
    await hook.open(testInbox());
    for (const one of news) expect(await hook.show(one)).toBe(true);
    const bodies = got.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ kind, text }) => [kind, text])).toEqual([
      ['over', 'blue'],
      ['notice', 'stuck'],
      ['progress', 'half way'],
      ['delivered', 'use bar'],
      ['handled', 'stale'],
      ['paused', 'lunch'],
      ['resumed', 'back'],
      ['ended', 'all is done'],
    ]);
    expect(bodies[7].exit).toEqual({ code: 0, word: 'COMPLETE', reason: 'all is done' });
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(8);
    expect(got.every(({ headers }) => headers['ralph-signature'] === undefined)).toBe(true);
  });

  test('the first try and three more, under one id; then it is given up with one warning', async () => {
    replies = Array.from({ length: 9 }, () => ({ status: 503 }));
    const hook = webhook();
    expect(await hook.show(ASKS)).toBe(false);
    expect(got).toHaveLength(4);
    expect(new Set(got.map(({ headers }) => headers['ralph-id'])).size).toBe(1);
    expect(await hook.show(ASKS)).toBe(false);
    expect(warned).toEqual(['The webhook at 127.0.0.1 did not get the news: it answered 503, 4 times.']);
    replies = [];
    expect(await hook.show(ASKS)).toBe(true);
  });

  test('nobody listens: told without the address, which is a key', async () => {
    const hook = webhook({ url: 'http://127.0.0.1:9/hidden-key' });
    expect(await hook.show(ASKS)).toBe(false);
    expect(warned.join()).toMatch(/could not be reached \(ECONNREFUSED\), 4 times/);
    expect(warned.join()).not.toContain('hidden-key');
  });

  test('Retry-After is waited for', async () => {
    replies = [{ status: 429, headers: { 'retry-after': '1' } }];
    const from = Date.now();
    expect(await webhook().show(ASKS)).toBe(true);
    expect(Date.now() - from).toBeGreaterThanOrEqual(990);
  });

  test('a long Retry-After does not hold the end up', async () => {
    replies = [{ status: 503, headers: { 'retry-after': '86400' } }];
    const hook = webhook();
    const shown = hook.show(ASKS);
    while (got.length === 0) await new Promise((done) => setTimeout(done, 5));
    await hook.close();
    expect(await shown).toBe(false);
    expect(got).toHaveLength(1);
  });

  test('a receiver that says nothing is left', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const { port: at } = silent.address() as { port: number };
    const hook = webhook({ url: `http://127.0.0.1:${at}/`, timeoutMs: 30 });
    expect(await hook.show(ASKS)).toBe(false);
    expect(warned[0]).toContain('it did not answer in time, 4 times');
    silent.closeAllConnections();
    silent.close();
  });

  test.each([301, 302, 307, 308])('a redirect (%i) is not followed', async (status) => {
    replies = [{ status, headers: { location: `http://127.0.0.1:${port}/elsewhere` } }];
    expect(await webhook().show(ASKS)).toBe(false);
    expect(got).toHaveLength(1);
    expect(warned[0]).toContain('redirects are not followed');
  });

  test.each([400, 401, 404, 410])('what refuses for good (%i) is not tried again', async (status) => {
    replies = [{ status }];
    expect(await webhook().show(ASKS)).toBe(false);
    expect(got).toHaveLength(1);
  });

  test('a public name that leads to a private or metadata address is not connected to', async () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '::1',
      '::ffff:127.0.0.1',
      'fe80::1',
    ]) {
      const lookup = leadsTo([address]);
      const hook = webhook({ url: `http://hooks.example.org:${port}/`, lookup });
      expect([address, await hook.show(ASKS)]).toEqual([address, false]);
    }
    expect(got).toEqual([]);
    expect(warned[0]).toContain('is not a public address');
  });

  test('localhost means this machine and nothing else', async () => {
    const here = webhook({ url: `http://localhost:${port}/`, lookup: leadsTo(['127.0.0.1']) });
    expect(await here.show(ASKS)).toBe(true);
    const away = webhook({ url: `http://localhost:${port}/`, lookup: leadsTo(['192.0.43.8']) });
    expect(await away.show(ASKS)).toBe(false);
  });

  test.each([
    'http://169.254.169.254/latest',
    'http://[fd00:ec2::254]/',
    'http://0xa9fea9fe/',
    'http://0.0.0.0/',
  ])('%s is refused before anything is sent', async (url) => {
    await expect(webhook({ url }).open(testInbox())).rejects.toThrow('cannot be used');
    expect(await webhook({ url }).show(ASKS)).toBe(false);
  });
});

/** A look-up that answers these addresses, in both of its forms. */
function leadsTo(addresses: string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_host, options, done) =>
    options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family);
}

describe('in', () => {
  let inbox: TestInbox;
  let url: string;
  let now: number;
  beforeEach(async () => {
    inbox = testInbox();
    now = Date.now();
    url = await opened();
  });

  async function opened(): Promise<string> {
    const hook = webhook({ answers: true, now: () => now });
    await hook.open(inbox);
    got = [];
    await hook.show(ASKS);
    return JSON.parse(got[0]!.body).answer_url;
  }

  interface Say {
    secret?: string;
    at?: number;
    timestamp?: string;
    signature?: string;
    method?: string;
    path?: string;
  }
  async function say(body: unknown, over: Say = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const timestamp = over.timestamp ?? String(Math.floor((over.at ?? now) / 1000));
    const headers = {
      'content-type': 'application/json',
      'ralph-timestamp': timestamp,
      'ralph-signature': over.signature ?? signedAs(over.secret ?? SECRET, timestamp, text),
    };
    const method = over.method ?? 'POST';
    const answer = await fetch(over.path ? new URL(over.path, url) : url, {
      method,
      headers,
      ...(method === 'GET' ? {} : { body: text }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  test('an answer by words or by option, a word to the work: each becomes a message of a named person', async () => {
    expect(await say({ question: 'q1', option: 'b', from: 'Ann' })).toEqual({
      status: 202,
      body: { message: 'signal.1.yaml' },
    });
    expect(
      (await say({ type: 'STEER', text: 'use bar', from: 'Ben', target: 'executor', urgent: true })).status,
    ).toBe(202);
    expect((await say({ type: 'PAUSE', from: 'Ben' })).status).toBe(202);
    expect(inbox.said).toEqual([
      { type: 'ANSWER', question: 'q1', option: 'b', text: '', from: 'webhook (Ann)' },
      { type: 'STEER', text: 'use bar', from: 'webhook (Ben)', target: 'executor', urgent: true },
      { type: 'PAUSE', text: '', from: 'webhook (Ben)' },
    ]);
  });

  test('without the right signature, or with an old one, nothing is told and nothing is taken', async () => {
    const word = { question: 'q9', text: 'blue', from: 'Ann' };
    for (const over of [
      { secret: 'another key' },
      { signature: 'v1=' },
      { signature: '' },
      { at: now - 301_000 },
      { at: now + 301_000 },
      { timestamp: 'now' },
      { timestamp: '1e9' },
    ]) {
      expect(await say(word, over)).toEqual({ status: 401, body: { error: 'unauthorized' } });
    }
    expect((await fetch(url, { method: 'POST', body: JSON.stringify(word) })).status).toBe(401);
    expect(inbox.said).toEqual([]);
  });

  test('the same post a second time is refused, also by a later runner, and also with the clock ahead', async () => {
    const word = { type: 'INFO', text: 'tabs', from: 'Ann' };
    const at = now + 240_000;
    expect((await say(word, { at })).status).toBe(202);
    expect((await say(word, { at })).status).toBe(409);
    await channel!.close();
    now += 500_000;
    url = await opened();
    expect(await say(word, { at })).toEqual({ status: 409, body: { error: 'this was received before' } });
    now += 100_000;
    expect((await say(word, { at })).status).toBe(401);
    expect(inbox.said).toHaveLength(1);
  });

  test('two at the same moment are one', async () => {
    const word = { type: 'ABORT', from: 'Ann' };
    const statuses = (await Promise.all([say(word), say(word), say(word)])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([202, 409, 409]);
    expect(inbox.said).toHaveLength(1);
  });

  test('a sender that tries again under its own id is heard once', async () => {
    const word = { id: 'form-17', type: 'INFO', text: 'tabs', from: 'Ann' };
    expect((await say(word)).status).toBe(202);
    now += 2_000;
    expect((await say(word)).status).toBe(409);
    expect((await say({ ...word, id: 'form-18' })).status).toBe(202);
  });

  test('the memory is a private file; a damaged one lets nothing in that was signed before', async () => {
    const word = { type: 'INFO', text: 'tabs', from: 'Ann' };
    expect((await say(word)).status).toBe(202);
    const file = join(dir, '.ralph/webhook-state.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(SECRET);
    await channel!.close();
    writeFileSync(file, '{"seen": [');
    const before = now;
    now += 2_000;
    url = await opened();
    expect((await say(word, { at: before })).status).toBe(401);
    expect((await say(word, { at: now + 1_000 })).status).toBe(202);
  });

  test('an unknown question is 404, one already answered 409 with who did', async () => {
    expect(await say({ question: 'q7', text: 'x', from: 'Ann' })).toEqual({
      status: 404,
      body: { error: 'there is no such question', open: ['q1'] },
    });
    expect(await say({ question: 'q1', option: 'C', from: 'Ann' })).toMatchObject({
      status: 400,
      body: { options: ['A', 'B'] },
    });
    expect((await say({ question: 'q1', text: 'blue', from: 'Ann' })).status).toBe(202);
    expect(await say({ question: 'q1', text: 'red', from: 'Ben' })).toEqual({
      status: 409,
      body: { error: 'already answered by webhook (Ann)', state: 'answered', by: 'webhook (Ann)' },
    });
  });

  test.each([
    ['no JSON', 'hm', 'no JSON'],
    ['a list', [], 'no JSON object'],
    ['nobody', { type: 'INFO', text: 'x' }, 'from is missing'],
    ['nothing', { from: 'Ann' }, 'question is missing'],
    ['an empty answer', { question: 'q1', text: ' ', from: 'Ann' }, 'text or option'],
    ['an empty STEER', { type: 'STEER', from: 'Ann' }, 'needs text'],
    ['a type that is not sayable', { type: 'TASK', text: 'x', from: 'Ann' }, 'STEER, INFO'],
    ['both', { question: 'q1', type: 'INFO', text: 'x', from: 'Ann' }, 'together'],
    ['a number', { question: 1, text: 'x', from: 'Ann' }, 'question is no text'],
    ['a strange key', { type: 'INFO', text: 'x', from: 'Ann', confirmed: true }, 'confirmed is no key'],
  ])('%s is refused with the reason', async (_name, body, words) => {
    const refused = await say(body);
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(words)]);
    expect(inbox.said).toEqual([]);
  });

  test('our own post sent back to us says nothing', async () => {
    const [{ headers, body }] = got as [Got];
    const sent = {
      timestamp: String(headers['ralph-timestamp']),
      signature: String(headers['ralph-signature']),
    };
    expect((await say(body, sent)).status).toBe(400);
  });

  test('a name is one short line', async () => {
    await say({ type: 'PAUSE', from: `Ann\u001b[31m\nOK\u202e${'x'.repeat(200)}` });
    expect(inbox.said[0]!.from).toMatch(/^webhook \(Ann OKx+…\)$/);
    expect(inbox.said[0]!.from.length).toBeLessThan(100);
  });

  test('too large, wrong path, wrong method', async () => {
    const large = { type: 'INFO', text: 'x'.repeat(70_000), from: 'Ann' };
    expect(
      await say(large).then(
        ({ status }) => status,
        () => 413,
      ),
    ).toBe(413);
    expect((await say({}, { path: '/other' })).status).toBe(404);
    expect((await say({}, { method: 'GET' })).status).toBe(405);
    expect(inbox.said).toEqual([]);
  });

  test('a full disk is told, and the same may be sent again', async () => {
    const word = { type: 'INFO', text: 'tabs', from: 'Ann' };
    inbox.full = true;
    expect((await say(word)).status).toBe(503);
    inbox.full = false;
    expect((await say(word)).status).toBe(202);
  });

  test('a runner that died before it replied: the same post again is the same message', async () => {
    const word = { type: 'INFO', text: 'tabs', from: 'Ann' };
    const { body } = await say(word);
    await channel!.close();
    rmSync(join(dir, '.ralph'), { recursive: true });
    url = await opened();
    expect(await say(word)).toEqual({ status: 202, body });
    expect(inbox.said).toHaveLength(1);
  });

  test('what cannot be remembered is still taken', async () => {
    chmodSync(dir, 0o500);
    expect((await say({ type: 'INFO', text: 'tabs', from: 'Ann' })).status).toBe(202);
    chmodSync(dir, 0o700);
  });

  test('after the end nobody listens', async () => {
    await channel!.close();
    await expect(fetch(url)).rejects.toThrow();
  });
});

test('answers without a secret, at a foreign address or at a taken port are a problem', async () => {
  await expect(webhook({ answers: true, secret: null }).open(testInbox())).rejects.toThrow('has no secret');
  for (const listen of ['0.0.0.0:0', '192.168.1.2:80', '127.0.0.1', 'example.org:80', '127.0.0.1:99999'])
    await expect(webhook({ answers: true, listen }).open(testInbox())).rejects.toThrow('cannot be taken at');
  await expect(webhook({ answers: true, listen: `127.0.0.1:${port}` }).open(testInbox())).rejects.toThrow(
    'cannot be taken at',
  );
});

test('the receiver is told the address that the person gave', async () => {
  const hook = webhook({ answers: true, answerUrl: 'https://ralph.example.org/answer' });
  await hook.open(testInbox());
  await hook.show(ASKS);
  expect(JSON.parse(got[0]!.body).answer_url).toBe('https://ralph.example.org/answer');
});

test('the signature of the guide is what the program makes', () => {
  expect(signatureOf('secret', '1700000000', '{}')).toBe(signedAs('secret', '1700000000', '{}'));
});
