/** Photos and files that a person sends: fetched into `attachments/` of the session, under a harmless name. */
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { basename, extname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Telegram } from './telegram-api.ts';
import type { Attachment } from './telegram-hear.ts';

/** What the Bot API hands to bots at most. */
export const FILE_BYTES = 20 * 1024 * 1024;
const FETCH_MS = 60_000;

/** `path`: relative to the session's folder. `lasting`: trying again would not help. */
export type Fetched = { ok: true; path: string } | { ok: false; why: string; lasting: boolean };

export interface FetchRequest {
  telegram: Telegram;
  attachment: Attachment;
  sessionDir: string;
  /** Of the update: the same file fetched again lands in the same place. */
  update: number;
  signal: AbortSignal;
}

/** Fetches one file; never rejects. */
export async function fetchAttachment(request: FetchRequest): Promise<Fetched> {
  const { telegram, attachment, signal } = request;
  if ((attachment.bytes ?? 0) > FILE_BYTES) return tooLarge();
  const found = await telegram.ask('getFile', { file_id: attachment.fileId }, { signal });
  if (!found.ok) {
    if (/too big/i.test(found.why)) return tooLarge();
    return { ok: false, why: found.why, lasting: found.code === 400 };
  }
  const { file_path: remote, file_size: bytes } = found.result;
  if ((bytes ?? 0) > FILE_BYTES) return tooLarge();
  // A server with its own disk names a path there, which is not ours to read.
  if (typeof remote !== 'string' || !/^[\w][\w./-]*$/.test(remote) || remote.includes('..'))
    return { ok: false, why: 'the server does not hand it out', lasting: true };
  const name = `${request.update}-${safeName(attachment.name ?? basename(remote))}`;
  try {
    await download(request, remote, name);
    return { ok: true, path: `attachments/${name}` };
  } catch (error) {
    if (error instanceof TooLarge) return tooLarge();
    // The words of a network error may hold the address, and the address holds the token.
    const code = (error as { code?: unknown }).code;
    return { ok: false, why: typeof code === 'string' ? code : 'the connection failed', lasting: false };
  }
}

class TooLarge extends Error {}

function tooLarge(): Fetched {
  return { ok: false, why: 'it is larger than 20 MB, which bots are not given', lasting: true };
}

/** Letters, digits, dots and dashes of any script; no hidden file, no path, no reserved name. */
export function safeName(name: string): string {
  const plain = basename(name.replaceAll('\\', '/'))
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .replace(/^[._]+|[._]+$/g, '');
  const ending = extname(plain).slice(0, 16);
  // Of a name in bytes: file systems count them.
  let stem = plain.slice(0, plain.length - extname(plain).length) || 'file';
  while (Buffer.byteLength(stem) > 120) stem = [...stem].slice(0, -1).join('');
  return `${stem}${ending}`;
}

async function download(
  { telegram, sessionDir, signal }: FetchRequest,
  remote: string,
  name: string,
): Promise<void> {
  const folder = join(sessionDir, 'attachments');
  await mkdir(folder, { recursive: true });
  const half = join(folder, `.${name}.tmp`);
  const end = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]);
  try {
    const response = await got(telegram, remote, end);
    let bytes = 0;
    const bound = new Transform({
      transform(chunk: Buffer, _, next) {
        bytes += chunk.length;
        next(bytes > FILE_BYTES ? new TooLarge() : null, chunk);
      },
    });
    await pipeline(response, bound, createWriteStream(half, { mode: 0o600 }), { signal: end });
    await rename(half, join(folder, name));
  } finally {
    await rm(half, { force: true });
  }
}

function got({ fileUrl, agent }: Telegram, remote: string, signal: AbortSignal): Promise<IncomingMessage> {
  const url = new URL(fileUrl(remote));
  return new Promise((done, failed) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    const asked = get(url, { signal, ...(agent === undefined ? {} : { agent }) }, (response) => {
      if (response.statusCode === 200) {
        done(response);
        return;
      }
      response.resume();
      failed(Object.assign(new Error('refused'), { code: `the server answered ${response.statusCode}` }));
    });
    asked.once('error', failed);
  });
}
