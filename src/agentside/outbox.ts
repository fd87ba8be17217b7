/**
 * The outbox of the running attempt, from the writer's side. One line is one write to a file that was
 * opened for appending, so that parallel tool calls of one agent never mix their lines.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { Complaint } from './say.ts';

/** Largest payload, in bytes of UTF-8. The reader refuses longer ones. */
export const MAX_PAYLOAD_BYTES = 65_536;

/** Where and as whom an attempt speaks. */
export interface Voice {
  outbox: string;
  token: string;
  /** Topics this role may publish; null is no bound. */
  publishes: string[] | null;
}

/** Finds the attempt in the environment, or says that there is none. */
export function voiceFrom(env: NodeJS.ProcessEnv): Voice | Complaint {
  const outbox = env.RALPH_OUTBOX ?? '';
  const token = env.RALPH_RUN_TOKEN ?? '';
  if (outbox === '' || token === '') {
    const missing = [outbox === '' ? 'RALPH_OUTBOX' : '', token === '' ? 'RALPH_RUN_TOKEN' : ''];
    return {
      what: 'This is not inside an attempt, so there is nobody to speak to.',
      why: `${missing.filter((name) => name !== '').join(' and ')} not set: the loop gives it to the agents it starts.`,
      fix: 'From outside, answer an open question with `ralph answer TEXT`; guidance belongs into the task.',
    };
  }
  return { outbox, token, publishes: listed(env.RALPH_PUBLISHES) };
}

function listed(names: string | undefined): string[] | null {
  if (names === undefined) return null;
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * Appends one line with the live token. Answers null once it is written, else what went wrong. A missing
 * file is made, a missing folder is a problem: an outbox there is one that nobody reads.
 */
export function append(voice: Voice, topic: string, payload: unknown): Complaint | null {
  // The record of a refusal holds the payload in an envelope of its own.
  const bytes = topic === 'ralph.unlisted' ? 0 : sizeOf(payload);
  if (bytes > MAX_PAYLOAD_BYTES) return tooLong(bytes);
  const line = `${JSON.stringify({ topic, payload, token: voice.token, ts: new Date().toISOString() })}\n`;
  let file: number | null = null;
  try {
    file = openSync(voice.outbox, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    const bytes = Buffer.from(`${endsTorn(file) ? '\n' : ''}${line}`, 'utf8');
    const written = writeSync(file, bytes, 0, bytes.length);
    return written === bytes.length
      ? null
      : unwritable(voice.outbox, `only ${written} of ${bytes.length} bytes were written`);
  } catch (error) {
    return unwritable(voice.outbox, error instanceof Error ? error.message : String(error));
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Bytes of UTF-8, as the reader counts a payload that is not a text: as JSON. */
function sizeOf(payload: unknown): number {
  return Buffer.byteLength(typeof payload === 'string' ? payload : (JSON.stringify(payload) ?? ''));
}

function tooLong(bytes: number): Complaint {
  return {
    what: 'That is too long, and nothing of it was written.',
    why: `It has ${bytes} bytes; at most ${MAX_PAYLOAD_BYTES} are carried.`,
    fix: 'Say it in a few sentences, or write it to a file in the repository and name the path.',
  };
}

/** True when somebody's line was left without its end; ours would be lost together with it. */
function endsTorn(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

function unwritable(outbox: string, why: string): Complaint {
  return {
    what: `The outbox ${outbox} could not be written, and nothing was published.`,
    why,
    fix: 'Say it in the last message of this call instead: the loop reads that too.',
  };
}
