/** Transcripts: the raw output of an iteration, whole or as it grows. */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
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
  const { session, state } = await openState(request.cwd, request.session);
  const wanted = request.iteration === null ? state.lastIteration : Number(request.iteration);
  if (!Number.isInteger(wanted) || wanted < 1 || !state.attempts.has(wanted))
    throw unknown(request, state.lastIteration);
  const path = join(session.dir, logName(wanted));
  if (!state.open.has(wanted) && !existsSync(path)) throw missing(path);
  let at = await pass(path, 0, request.json ? wanted : null);
  while (request.follow && stillOpen((await openState(request.cwd, session.id)).state.open, wanted)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    at = await pass(path, at, request.json ? wanted : null);
  }
  await pass(path, at, request.json ? wanted : null);
}

function stillOpen(open: ReadonlySet<number>, iteration: number): boolean {
  return open.has(iteration);
}

/** Copies what is new to stdout; answers the position reached. JSON: one object a line of the transcript. */
async function pass(path: string, from: number, jsonFor: number | null): Promise<number> {
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  if (size <= from) return from;
  for await (const chunk of createReadStream(path, { start: from, end: size - 1 })) {
    const text = (chunk as Buffer).toString('utf8');
    process.stdout.write(jsonFor === null ? text : `${JSON.stringify({ iteration: jsonFor, text })}\n`);
  }
  return size;
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
