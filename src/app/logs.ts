/** Transcripts: the raw output of an iteration, whole or as it grows. */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { Problem, type RedactingStream, type State } from '../core/index.ts';
import { logName, sessionsFolder } from '../store/index.ts';
import { nextWords } from '../views/index.ts';
import { findPlace } from './place.ts';
import { redactorHere } from './secrets.ts';
import { openState, type StateWindow } from './windows.ts';

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
  const { session, state, live } = await settled(request);
  if (session.note !== undefined) process.stderr.write(`${session.note}\n`);
  const newest = newestStarted(state);
  const wanted = request.iteration === null ? newest : Number(request.iteration);
  if (!Number.isInteger(wanted) || !state.attempts.has(wanted)) throw unknown(request, { state, live });
  const path = await logOf(request.cwd, session, wanted);
  const starting = live.runner !== null && state.open.has(wanted);
  if (!starting && !existsSync(path)) throw missing(path);
  const tail: Tail = {
    path,
    at: 0,
    decoder: new StringDecoder('utf8'),
    redacting: redactorHere().stream(),
    jsonFor: request.json ? wanted : null,
  };
  await pass(tail);
  while (request.follow && stillOpen((await openState(request.cwd, session.id)).state.open, wanted)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    await pass(tail);
  }
  await pass(tail);
  print(tail, tail.redacting.add(tail.decoder.end()) + tail.redacting.end());
}

export interface FollowRequest {
  cwd: string;
  session: string;
  json: boolean;
}

/** The newest transcript and each that follows it, one after the other, until the run ends. It changes nothing. */
export async function followRun({ cwd, session: named, json }: FollowRequest): Promise<void> {
  const { session } = await openState(cwd, named);
  if (session.note !== undefined) process.stderr.write(`${session.note}\n`);
  for (let shown = 0; ; ) {
    const { state, live } = await openState(cwd, session.id);
    const next = shown === 0 ? newestStarted(state) : nextStarted(state, shown);
    if (next > 0) {
      process.stderr.write(`iteration ${next}\n`);
      await showLog({ cwd, session: session.id, iteration: String(next), follow: true, json });
      shown = next;
    } else if (live.runner === null) {
      process.stderr.write(`Nobody works in session ${session.id} now; \`ralph loops\` says what is next.\n`);
      return;
    } else await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** 0: none yet. */
function nextStarted({ attempts }: State, after: number): number {
  return [...attempts.keys()].filter((iteration) => iteration > after).sort((a, b) => a - b)[0] ?? 0;
}

/** An archived session may have left its logs where they were. */
async function logOf(cwd: string, { id, dir }: StateWindow['session'], iteration: number): Promise<string> {
  const path = join(dir, logName(iteration));
  const left = join(sessionsFolder((await findPlace(cwd)).mainDir), id, logName(iteration));
  return !existsSync(path) && existsSync(left) ? left : path;
}

/** The session, once what is asked for has started; who only looks does not wait for that. */
async function settled(request: LogRequest): Promise<StateWindow> {
  let seen = await openState(request.cwd, request.session);
  if (request.follow && isComing(request, seen))
    process.stderr.write(`waiting: ${nextWords(seen.state, Date.now(), seen.live)}\n`);
  while (request.follow && isComing(request, seen)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    seen = await openState(request.cwd, seen.session.id);
  }
  return seen;
}

/** An iteration that is announced and has not started: its gates may run first. The first one counts as announced. */
function isComing({ iteration }: LogRequest, { state, live }: Pick<StateWindow, 'state' | 'live'>): boolean {
  if (live.runner === null) return false;
  const announced = (state.wave?.waiting ?? []).map((entry) => entry.iteration);
  if (state.attempts.size === 0 && announced.length === 0) announced.push(1);
  return iteration === null
    ? announced.length > 0 && state.open.size === 0
    : announced.includes(Number(iteration));
}

/** 0: none. */
function newestStarted({ attempts, lastIteration }: State): number {
  let last = lastIteration;
  while (last > 0 && !attempts.has(last)) last -= 1;
  return last;
}

function stillOpen(open: ReadonlySet<number>, iteration: number): boolean {
  return open.has(iteration);
}

/**
 * How far a transcript is copied. The decoder keeps the first bytes of a character whose rest is to come, and the
 * redactor the first ones of what may be a secret: logs of earlier versions were written as they came.
 */
interface Tail {
  path: string;
  at: number;
  decoder: StringDecoder;
  redacting: RedactingStream;
  jsonFor: number | null;
}

/** Copies what is new to stdout. */
async function pass(tail: Tail): Promise<void> {
  const size = (await stat(tail.path).catch(() => null))?.size ?? 0;
  if (size <= tail.at) return;
  for await (const chunk of createReadStream(tail.path, { start: tail.at, end: size - 1 }))
    print(tail, tail.redacting.add(tail.decoder.write(chunk as Buffer)));
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

function unknown(request: LogRequest, { state, live }: Pick<StateWindow, 'state' | 'live'>): Problem {
  const last = newestStarted(state);
  const next = live.runner === null ? '' : ` Now: ${nextWords(state, Date.now(), live)}.`;
  const coming = isComing(request, { state, live });
  const none = last === 0 ? 'No iteration has started yet.' : `There is no iteration ${request.iteration}.`;
  return new Problem({
    code: 'logs.unknown',
    what: coming && last > 0 ? `Iteration ${request.iteration} has not started yet.` : none,
    why: `${last === 0 ? 'The session has not started an agent.' : `Iterations 1 to ${last} have started.`}${next}`,
    fix: coming ? '`ralph logs -f` waits for it.' : 'See `ralph status`, or name another one.',
  });
}
