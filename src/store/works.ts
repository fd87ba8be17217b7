/**
 * Works: what agents and gates produce, kept by content. A fact names a work by path and hash; the
 * hash finds it here for ever, whatever later happens to the file of that path.
 */
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { WorkRef } from '../core/index.ts';
import type { Works } from '../engine/index.ts';
import { sha256 } from './chain.ts';
import { atomicWrite, createWhole, errorCode, padded, syncFolder } from './disk.ts';

const HASH = /^[0-9a-f]{64}$/;
const PLAIN_NAME = /^[A-Za-z0-9][\w.@+-]*$/;

/** `logs/iteration-<NNN>.log`, relative to the session. */
export function logName(iteration: number): string {
  return `logs/iteration-${padded(iteration)}.log`;
}

/** `logs/iteration-<NNN>.prompt.md`, relative to the session. */
export function promptName(iteration: number): string {
  return `logs/iteration-${padded(iteration)}.prompt.md`;
}

/** `attempts/<NNN>`, relative to the session. */
export function attemptFolder(iteration: number): string {
  return `attempts/${padded(iteration)}`;
}

/** The works of one session. Writes throw `StoreFull` when the disk takes no more. */
export function openWorks(sessionDir: string): Works {
  const place = (hash: string) => join(sessionDir, 'works', hash.slice(0, 2), hash);

  async function put(path: string, content: string | Uint8Array): Promise<WorkRef> {
    const bytes = Buffer.from(content as string);
    const hash = sha256(bytes);
    const file = place(hash);
    if (sizeOf(file) !== bytes.length) await keep(file, bytes);
    return { path, sha256: hash };
  }

  return {
    put,
    get: (hash) => readVerified(place, hash),
    async attemptFile(iteration, name, content, { durable } = { durable: true }) {
      if (!PLAIN_NAME.test(name)) throw new Error(`not a plain file name: ${JSON.stringify(name)}`);
      const path = `${attemptFolder(iteration)}/${name}`;
      await atomicWrite(join(sessionDir, path), content, { within: sessionDir, durable });
      return path;
    },
    async outboxPath(iteration) {
      const folder = join(sessionDir, attemptFolder(iteration));
      mkdirSync(folder, { recursive: true });
      const file = join(folder, 'outbox.jsonl');
      closeSync(openSync(file, 'a'));
      return file;
    },
    logPath(iteration) {
      mkdirSync(join(sessionDir, 'logs'), { recursive: true });
      return join(sessionDir, logName(iteration));
    },
    async lastSign(iteration) {
      const files = [logName(iteration), `${attemptFolder(iteration)}/outbox.jsonl`];
      return Math.max(0, ...files.map((file) => modifiedAt(join(sessionDir, file))));
    },
    async writePrompt(iteration, text) {
      // The prompt that counts is the one in the store; this is the copy that people and agents open.
      const copy = join(sessionDir, promptName(iteration));
      await atomicWrite(copy, text, { within: sessionDir, durable: false });
      return put(promptName(iteration), text);
    },
  };
}

function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

// A copy of the wrong size is damage (a cut copy from elsewhere): it is replaced, not trusted.
async function keep(file: string, bytes: Uint8Array): Promise<void> {
  if (await created(file, bytes)) return syncFolder(join(file, '..'));
  if (sizeOf(file) !== bytes.length) await atomicWrite(file, bytes);
}

/** Its folder, one of 256, mostly is there already. */
async function created(file: string, bytes: Uint8Array): Promise<boolean> {
  try {
    return await createWhole(file, bytes);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(file), { recursive: true });
    return createWhole(file, bytes);
  }
}

async function readVerified(place: (hash: string) => string, hash: string): Promise<Uint8Array | null> {
  if (!HASH.test(hash)) return null;
  try {
    const bytes = readFileSync(place(hash));
    return sha256(bytes) === hash ? bytes : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
