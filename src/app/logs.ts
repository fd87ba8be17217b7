/** Transcripts: the raw output of an iteration, whole or as it grows. */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { Problem } from '../core/index.ts';
import { logName } from '../store/index.ts';
import { openState } from './windows.ts';

export interface LogRequest {
  cwd: string;
  /** null: the newest. */
  iteration: string | null;
  follow: boolean;
  json: boolean;
  session?: string;
}

const LOOK_EVERY_MS = 300;

export async function showLog(request: LogRequest): Promise<void> {
  const { session, state, live } = await openState(request.cwd, request.session);
  const wanted = request.iteration === null ? state.lastIteration : Number(request.iteration);
  if (!Number.isInteger(wanted) || wanted < 1 || !state.attempts.has(wanted))
    throw unknown(request, state.lastIteration);
  const path = join(session.dir, logName(wanted));
  const starting = live.runner !== null && state.open.has(wanted);
  if (!starting && !existsSync(path)) throw missing(path);
  const tail: Tail = {
    path,
    at: 0,
    decoder: new StringDecoder('utf8'),
    jsonFor: request.json ? wanted : null,
  };
  await pass(tail);
  while (request.follow && stillOpen((await openState(request.cwd, session.id)).state.open, wanted)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    await pass(tail);
  }
  await pass(tail);
  print(tail, tail.decoder.end());
}

function stillOpen(open: ReadonlySet<number>, iteration: number): boolean {
  return open.has(iteration);
}

/** How far a transcript is copied. The decoder keeps the first bytes of a character whose rest is to come. */
interface Tail {
  path: string;
  at: number;
  decoder: StringDecoder;
  jsonFor: number | null;
}

/** Copies what is new to stdout. */
async function pass(tail: Tail): Promise<void> {
  const size = (await stat(tail.path).catch(() => null))?.size ?? 0;
  if (size <= tail.at) return;
  for await (const chunk of createReadStream(tail.path, { start: tail.at, end: size - 1 }))
    print(tail, tail.decoder.write(chunk as Buffer));
  tail.at = size;
}

/** JSON: one object for each piece that was read. */
function print({ jsonFor }: Tail, text: string): void {
  if (text === '') return;
  process.stdout.write(jsonFor === null ? text : `${JSON.stringify({ iteration: jsonFor, text })}\n`);
}

function missing(path: string): Problem {
  return new Problem({
    code: 'logs.missing',
    what: `The transcript ${path} is not there.`,
    why: 'It was moved or deleted after the run.',
    fix: 'The journal still tells what happened: `ralph why N`.',
  });
}

function unknown(request: LogRequest, last: number): Problem {
  return new Problem({
    code: 'logs.unknown',
    what:
      request.iteration === null
        ? 'No iteration has run yet.'
        : `There is no iteration ${request.iteration}.`,
    why: last === 0 ? 'The session has not started an agent.' : `Iterations 1 to ${last} have run.`,
    fix: 'See `ralph status`, or name another one.',
  });
}
