/**
 * The way in of a webhook: a small server on this machine's own address that takes signed answers and words
 * to the work. Who cannot sign learns nothing; who can is told what became of it.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Problem } from '../core/index.ts';
import type { ChannelInbox, LoopInbox } from '../engine/index.ts';
import { type Addressed, endedThere, loopOfName, loopOfSession, ownLoop } from './address.ts';
import type { Seen } from './webhook-seen.ts';
import { HEADERS, isSigned, WINDOW_MS } from './webhook-sign.ts';
import { readWord, type Word } from './webhook-word.ts';

export interface AnswersOptions {
  /** Host and port; port 0 takes a free one. */
  listen: string;
  /** Signs what comes in. Never shown. */
  secret: string;
  inbox: ChannelInbox;
  seen: Seen;
  now(): number;
}

export interface Answers {
  /** The address on this machine, with its path. */
  url: string;
  /** Takes nothing more; what is being taken in is finished, for three seconds at most. */
  close(): Promise<void>;
}

/** Largest body. Bytes. */
const MAX_BODY_BYTES = 64 * 1024;
const PATH = '/answer';
const REQUEST_MS = 10_000;
const CLOSE_MS = 3_000;

/** Opens the server. Throws a Problem where the address is not of this machine, or is taken. */
export async function openAnswers(options: AnswersOptions): Promise<Answers> {
  const { host, port } = loopback(options.listen);
  const open = new Set<Promise<void>>();
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    (request, response) => {
      const done = handle(request, response, options).catch(() => reply(response, 500, { error: 'failed' }));
      open.add(done);
      void done.finally(() => open.delete(done));
    },
  );
  server.maxConnections = 32;
  const bound = await begin(server, host, port);
  server.unref();
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}${PATH}`,
    async close() {
      const closed = new Promise((done) => server.close(done));
      await Promise.race([
        Promise.allSettled(open),
        new Promise((done) => setTimeout(done, CLOSE_MS).unref()),
      ]);
      server.closeAllConnections();
      await closed;
    },
  };
}

/** `host:port` of this machine; what others are to reach stands behind a proxy or tunnel of the person's. */
export function loopback(listen: string): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(listen.trim()) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(digits ?? -1);
  const own = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  if (own && port >= 0 && port <= 65_535) return { host: host === 'localhost' ? '127.0.0.1' : host, port };
  throw new Problem({
    code: 'webhook.listen',
    what: `Answers cannot be taken at "${listen.slice(0, 80)}", which is no host:port of this machine itself.`,
    why: 'Nothing else is listened at.',
    fix: 'Set channels.webhook.listen to 127.0.0.1:0 (any free port) or 127.0.0.1:PORT, and channels.webhook.answer_url to the address at which your proxy or tunnel is reached.',
  });
}

async function begin(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      failed(
        new Problem({
          code: 'webhook.listen',
          what: `Answers cannot be taken at ${host}:${port}${error.code === 'EADDRINUSE' ? ', where another program listens' : ''}.`,
          why: `The system says ${error.code}.`,
          fix: 'Set channels.webhook.listen to another port, or to 127.0.0.1:0 for any free one.',
        }),
      ),
    );
    server.listen(port, host, done);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: AnswersOptions,
): Promise<void> {
  request.on('error', () => undefined);
  if ((request.url ?? '').split('?')[0] !== PATH) return reply(response, 404, { error: 'not found' });
  if (request.method !== 'POST') return reply(response, 405, { error: 'POST only' });
  const body = await readBody(request);
  if (body === 'broken') return;
  if (body === 'large')
    return reply(response, 413, { error: `the body is larger than ${MAX_BODY_BYTES} bytes` });
  const { secret, seen, now } = options;
  const timestamp = header(request, HEADERS.timestamp);
  const signature = header(request, HEADERS.signature);
  const signed = isSigned({ timestamp, signature, body }, secret, now());
  if (!signed || Number(timestamp) * 1000 < seen.since)
    return reply(response, 401, { error: 'unauthorized' });
  const word = readWord(body.toString('utf8'));
  if ('wrong' in word) return reply(response, 400, { error: word.wrong });
  await takeIn(response, word, { ...options, signature: signature! });
}

function header({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

async function readBody(request: IncomingMessage): Promise<Buffer | 'large' | 'broken'> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > MAX_BODY_BYTES) return 'large';
      parts.push(part);
    }
  } catch {
    return 'broken';
  }
  return Buffer.concat(parts);
}

/**
 * First into the mailbox, then into the memory, then the reply: a crash in between loses nothing, and who got no
 * reply may send the same again, which is then the message that lies there already.
 */
async function takeIn(
  response: ServerResponse,
  word: Word,
  { inbox: own, seen, now, signature }: AnswersOptions & { signature: string },
): Promise<void> {
  const { id, spoken } = word;
  const keys = [signature, ...(id === null ? [] : [`id:${id}`])];
  if (keys.some((key) => seen.has(key))) return reply(response, 409, { error: 'this was received before' });
  const to = await addressee(own, word);
  if ('status' in to) return reply(response, to.status, to.body);
  const { inbox } = to;
  const refused = spoken.question === undefined ? null : unanswerable(inbox, spoken.question, spoken.option);
  if (refused !== null) return reply(response, refused.status, refused.body);
  if (!seen.free) return reply(response, 429, { error: 'too much was said in the last minutes' });
  // A timestamp may lie ahead by the window and counts for the window after that.
  for (const key of keys) seen.mark(key, now() + 2 * WINDOW_MS);
  let message: string;
  try {
    const key = `webhook-${createHash('sha256').update(keys.at(-1)!).digest('hex').slice(0, 40)}`;
    message = await inbox.send({ ...spoken, key });
  } catch {
    for (const key of keys) seen.unmark(key);
    return reply(response, 503, { error: 'it could not be taken in; send it again' });
  }
  await seen.save().catch(() => undefined);
  reply(response, 202, { message });
}

interface Refusal {
  status: number;
  body: Record<string, unknown>;
}

/** The loop that is named, else the one that asks the question, else the one that listens. */
async function addressee(
  inbox: ChannelInbox,
  { session, loop, spoken: { question } }: Word,
): Promise<Addressed | Refusal> {
  if (session !== null) {
    const found = await loopOfSession(inbox, session);
    return found === null ? { status: 404, body: { error: 'no loop has that session' } } : unlessEnded(found);
  }
  if (loop !== null) {
    const found = await loopOfName(inbox, loop);
    return 'unknown' in found ? { status: 404, body: { error: found.unknown } } : unlessEnded(found);
  }
  if (question === undefined) return ownLoop(inbox);
  const asking = (await inbox.others()).filter((other) => asks(other, question));
  const here = asks(inbox, question);
  if (asking.length + Number(here) > 1) {
    const sessions = [...(here ? [inbox] : []), ...asking].map(({ context }) => context.sessionId);
    return { status: 409, body: { error: 'several loops ask a question of this id; add session', sessions } };
  }
  const [only] = asking;
  return only === undefined ? ownLoop(inbox) : { inbox: only, own: false, standing: only.standing };
}

function unlessEnded(found: Addressed): Addressed | Refusal {
  return found.standing === 'ended' ? { status: 409, body: { error: endedThere(found) } } : found;
}

const asks = (inbox: LoopInbox, id: string): boolean => inbox.question(id)?.state === 'open';

function unanswerable(inbox: LoopInbox, id: string, option: string | undefined): Refusal | null {
  const known = inbox.question(id);
  if (known === null) {
    const open = inbox.open().map((question) => question.id);
    return { status: 404, body: { error: 'there is no such question', open } };
  }
  if (known.state !== 'open') {
    const error =
      known.state === 'answered' ? `already answered by ${known.by ?? 'somebody'}` : `already ${known.state}`;
    return { status: 409, body: { error, state: known.state, by: known.by } };
  }
  const keys = known.question.options.map(({ key }) => key);
  if (option === undefined || keys.some((key) => key.toLowerCase() === option.trim().toLowerCase()))
    return null;
  return { status: 400, body: { error: 'the question has no such option', options: keys } };
}

function reply(response: ServerResponse, status: number, body: Record<string, unknown>): void {
  if (response.headersSent || response.destroyed) return;
  // What was not read of a body that is too large would be taken for the next request.
  const close = status === 413 ? { connection: 'close' } : {};
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...close });
  response.end(`${JSON.stringify(body)}\n`);
}
