/**
 * The webhook: each piece of news goes out as one signed post, and where it takes answers, signed words come
 * in at an address of this machine. The exact shapes and the rule for addresses stand in docs/guides/webhook.md.
 */
import { randomUUID } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { Problem } from '../core/index.ts';
import type { Channel, ChannelInbox, News } from '../engine/index.ts';
import { refusedHost } from './webhook-address.ts';
import { type Answers, loopback, openAnswers } from './webhook-answers.ts';
import { bodyOf } from './webhook-body.ts';
import { post } from './webhook-post.ts';
import { listenerOf, openSeen } from './webhook-seen.ts';
import { HEADERS, signatureOf } from './webhook-sign.ts';

export interface WebhookOptions {
  /** http or https. Often a key by itself: never shown. */
  url: string;
  /** Signs what goes out and comes in; null: unsigned, and nothing can come in. Never shown. */
  secret: string | null;
  answers: boolean;
  /** Where answers are taken on this machine. Default: 127.0.0.1:0, any free port. */
  listen?: string | undefined;
  /** What the receiver is told as the address of answers. Default, or null: that on this machine. */
  answerUrl?: string | null | undefined;
  /** Absolute path of the memory of what came in; 0600. */
  stateFile: string;
  warn(text: string): void;
  /** Epoch ms. Default: the system's. */
  now?(): number;
  /** Default: the system's. */
  lookup?: LookupFunction;
  /** Waits before the second, third and fourth try. Milliseconds. */
  delaysMs?: readonly number[];
  /** Bound of one try. Milliseconds. Default: 10 s. */
  timeoutMs?: number;
  /** Between two looks whether this loop is to listen now. Milliseconds. Default: 1 s. */
  turnMs?: number;
}

/** A channel to whatever program listens at the address. */
export function webhookChannel(options: WebhookOptions): Channel {
  const { secret, warn, now = Date.now } = options;
  const url = new URL(options.url);
  const ended = new AbortController();
  let answers: Answers | null = null;
  let down = false;
  let watch: NodeJS.Timeout | undefined;
  let turning: Promise<void> = Promise.resolve();

  async function listen(inbox: ChannelInbox): Promise<void> {
    if (secret === null) throw secretMissing();
    const seen = await openSeen(options.stateFile, now);
    answers = await openAnswers({ listen: options.listen ?? '127.0.0.1:0', secret, inbox, seen, now });
    await seen.listening(answers.url).catch(() => undefined);
  }

  /** Listens while this loop is the one that hears, and stops when it is not. */
  async function turn(inbox: ChannelInbox, told: { why: string | null }): Promise<void> {
    if (ended.signal.aborted || inbox.hears() === (answers !== null)) return;
    if (answers !== null) {
      await answers.close();
      answers = null;
      return;
    }
    await listen(inbox).catch((error: Error) => {
      if (told.why !== error.message) warn(`The webhook takes no answers yet: ${error.message}`);
      told.why = error.message;
    });
  }

  const headers = (id: string, body: string) => {
    const timestamp = String(Math.floor(now() / 1000));
    const signed = secret === null ? {} : { [HEADERS.signature]: signatureOf(secret, timestamp, body) };
    return {
      'content-type': 'application/json',
      'user-agent': 'ralph-webhook',
      [HEADERS.id]: id,
      [HEADERS.timestamp]: timestamp,
      ...signed,
    };
  };

  const answerAddress = async () =>
    options.answerUrl ?? answers?.url ?? (await listenerOf(options.stateFile));

  return {
    name: 'webhook',
    answers: options.answers,
    async open(inbox: ChannelInbox) {
      const refused = refusedHost(url);
      if (refused !== null) throw unusable(refused);
      if (!options.answers) return;
      if (secret === null) throw secretMissing();
      // Only at the start a wrong address is a reason not to use the webhook at all.
      if (inbox.hears()) await listen(inbox);
      else loopback(options.listen ?? '127.0.0.1:0');
      const told = { why: null };
      watch = setInterval(() => {
        turning = turning.then(() => turn(inbox, told));
      }, options.turnMs ?? 1_000);
      watch.unref();
    },
    async show(news: News) {
      const id = randomUUID();
      const answerUrl = options.answers ? await answerAddress() : null;
      const body = JSON.stringify(bodyOf(news, { id, at: now(), answerUrl }));
      const posted = await post({
        url,
        body,
        headers: () => headers(id, body),
        signal: ended.signal,
        lookup: options.lookup,
        delaysMs: options.delaysMs ?? [1_000, 2_000, 4_000],
        timeoutMs: options.timeoutMs ?? 10_000,
      });
      if (!posted.ok && !down) warn(`The webhook at ${url.hostname} did not get the news: ${posted.why}.`);
      down = !posted.ok;
      return posted.ok;
    },
    async close() {
      ended.abort();
      clearInterval(watch);
      await turning;
      await answers?.close();
      answers = null;
    },
  };
}

function unusable(why: string): Problem {
  return new Problem({
    code: 'webhook.address',
    what: `channels.webhook.url cannot be used: ${why}.`,
    why: 'Such an address never leads to a program that was meant.',
    fix: 'Give a public address, or one of this machine or of your private network.',
  });
}

function secretMissing(): Problem {
  return new Problem({
    code: 'webhook.secret',
    what: 'channels.webhook takes answers and has no secret, so anybody who reaches the port could answer for you.',
    why: 'Only a signature tells who speaks.',
    fix: 'Add channels.webhook.secret, or set channels.webhook.answers to false.',
  });
}
