/**
 * One post of a webhook: the first try and three more. A redirect is not followed, because what is signed
 * was meant for one address; what was refused for good is not tried again.
 */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { AddressRefused, guardedLookup, refusedHost } from './webhook-address.ts';

export interface Post {
  url: URL;
  body: string;
  /** Made anew for each try, since each has its own time. */
  headers(): Record<string, string>;
  signal: AbortSignal;
  /** Default: that of the system. */
  lookup?: LookupFunction | undefined;
  /** Waits before the second, third and fourth try. Milliseconds. */
  delaysMs: readonly number[];
  /** Bound of one try. Milliseconds. */
  timeoutMs: number;
}

/** `ok` null: it arrived. Otherwise why not, without the address, which often is a key. */
export type Posted = { ok: true } | { ok: false; why: string };

/** Longest wait that a receiver can ask for. Milliseconds. */
const MAX_RETRY_AFTER_MS = 60_000;
/** So much of an answer is read; nothing in it is used. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

type Tried =
  | { kind: 'arrived' }
  | { kind: 'refused'; why: string }
  | { kind: 'failed'; why: string; retryAfterMs: number };

/** Never rejects. */
export async function post(call: Post): Promise<Posted> {
  const refused = refusedHost(call.url);
  if (refused !== null) return { ok: false, why: refused };
  for (let n = 0; ; n++) {
    const tried = await tryOnce(call);
    if (tried.kind === 'arrived') return { ok: true };
    if (tried.kind === 'refused') return { ok: false, why: tried.why };
    const delay = call.delaysMs[n];
    if (delay === undefined) return { ok: false, why: `${tried.why}, ${n + 1} times` };
    const wait = Math.max(delay, Math.min(tried.retryAfterMs, MAX_RETRY_AFTER_MS));
    try {
      await sleep(wait, undefined, { signal: call.signal });
    } catch {
      return { ok: false, why: `${tried.why}, and the run ended before it was tried again` };
    }
  }
}

function tryOnce({ url, body, headers, signal, lookup, timeoutMs }: Post): Promise<Tried> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  return new Promise((done) => {
    const failed = (error: Error) => {
      if (error instanceof AddressRefused) return done({ kind: 'refused', why: error.message });
      const why = bound.aborted && !signal.aborted ? 'it did not answer in time' : reason(error);
      done({ kind: 'failed', why, retryAfterMs: 0 });
    };
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const call = send(url, {
      method: 'POST',
      headers: { ...headers(), 'content-length': String(Buffer.byteLength(body)) },
      lookup: guardedLookup(lookup),
      agent: false,
      signal: bound,
    });
    call.on('error', failed);
    call.on('response', (answer) => {
      let read = 0;
      answer.on('data', (part: Buffer) => {
        read += part.length;
        if (read > MAX_ANSWER_BYTES) answer.destroy();
      });
      // What it did with the post stands in its first line; a body that breaks off changes nothing.
      answer.on('error', () => undefined);
      done(meaning(answer.statusCode ?? 0, answer.headers['retry-after']));
    });
    call.end(body);
  });
}

/** The system's word for it; its message would hold the address. */
function reason(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined ? 'it could not be reached' : `it could not be reached (${code})`;
}

function meaning(status: number, retryAfter: string | undefined): Tried {
  if (status >= 200 && status < 300) return { kind: 'arrived' };
  const why = `it answered ${status}`;
  if (status >= 300 && status < 400) return { kind: 'refused', why: `${why}; redirects are not followed` };
  const passing = status >= 500 || status === 408 || status === 425 || status === 429;
  return passing ? { kind: 'failed', why, retryAfterMs: retryAfterMs(retryAfter) } : { kind: 'refused', why };
}

/** Seconds or a date; 0 where there is none, or nothing that can be read. */
function retryAfterMs(value: string | undefined): number {
  if (value === undefined) return 0;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}
