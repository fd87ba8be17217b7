/**
 * One agent run as a child process: starts it, feeds its lines to a reader, and turns the end of the
 * process plus what the stream told into the report. The same for every agent; only the command line,
 * the way of the prompt and the reader differ.
 */
import type { AgentError, AgentReport } from '../core/index.ts';
import type { AgentCall, AgentEvent, AgentHandle } from '../engine/index.ts';
import { type RunResult, run } from '../process/index.ts';
import { complaintIn, withFix } from './provider-error.ts';
import { cleanLines } from './sieve.ts';
import type { StreamReader, Told } from './stream.ts';
import { type Input, type LiveInput, startTalk, type Talk } from './talk.ts';

/** The environment variable that marks every process of an attempt. */
const MARKER_NAME = 'RALPH_MARKER';

/** How to start one agent program, and how to read it. */
export interface ChildPlan {
  command: string[];
  env: Record<string, string>;
  /** Text for stdin, which is closed after it; absent: stdin is at its end at once. */
  input?: string;
  /** The agent can be talked to: `input` is the first message, and stdin stays open for more. */
  live?: LiveInput;
  /** The agent is led through a protocol: whoever reads its stream writes to it as well, the prompt too. */
  converse?(input: Input): Talk;
  reader: StreamReader;
  /** It is given up, with this error, where it has not answered after so long. */
  answer?: { withinMs: number; isThere(): boolean; missing: AgentError };
  /** How long an agent that closed its stream may take to leave; default 20 s, 60 s when busy. */
  leaveMs?: { yes: number; busy: number };
}

/** JSON events may carry whole files; what is longer is cut and counted as an unknown event. */
export const LINE_BYTES = 16 * 1024 * 1024;
const GRACE_MS = 5000;
/** A command in the background may be a test run that still ends; more often it is a forgotten server. */
const LEAVE_MS = { yes: 20_000, busy: 60_000 };
/** How long an agent that was asked to end its turn may take to do so and leave. */
const CANCEL_MS = 2000;
/** Events are for windows: a long text is shown by its beginning. */
const SHOWN = 4000;

function shown(event: AgentEvent): AgentEvent {
  return event.kind === 'text' && event.text.length > SHOWN
    ? { kind: 'text', text: `${event.text.slice(0, SHOWN)}…` }
    : event;
}

/** Starts the program. The handle's `done` settles with a report whatever happens. */
export function startChild(call: AgentCall, plan: ChildPlan): AgentHandle {
  const { reader, leaveMs = LEAVE_MS } = plan;
  let gaveUp: AgentError | null = null;
  let asked = false;
  let leaving: NodeJS.Timeout | undefined;
  let left: string[] = [];
  let talk: Talk | null = null;
  const { redactor } = call;
  const clean = { stdout: redactor && cleanLines(redactor), stderr: redactor && cleanLines(redactor) };

  /** Stopping the agent makes it clean up, so what it left running is noted before. */
  function showTheDoor(): void {
    left = reader.told().background.map(({ what }) => what);
    void child.stop(GRACE_MS);
  }

  function watchTheEnd(): void {
    clearTimeout(leaving);
    const state = reader.leaving();
    if (state === 'no') {
      talk?.goOn();
      return;
    }
    talk?.hush({ failed: reader.told().error !== null, busy: state === 'busy' });
    leaving = setTimeout(showTheDoor, leaveMs[state]);
  }

  function readLine(line: string, stream: 'stdout' | 'stderr'): void {
    if (stream === 'stdout') talk?.heard(line);
    // Readers cut what they tell: half a secret would not be known as one.
    const said = clean[stream]?.line(line) ?? line;
    const events = stream === 'stdout' ? reader.line(said) : reader.complaint?.(said);
    if (events === undefined) return;
    for (const event of events) call.event(shown(event));
    giveUp(reader.hopeless());
    watchTheEnd();
  }

  function giveUp(error: AgentError | null): void {
    if (gaveUp !== null || error === null) return;
    gaveUp = error;
    void child.stop(GRACE_MS);
  }

  const child = run({
    command: call.wrap?.(plan.command) ?? plan.command,
    cwd: call.cwd,
    env: plan.env,
    ...inputOf(plan),
    wallMs: call.allowance.wallMs,
    idleMs: call.allowance.idleMs,
    marker: { name: MARKER_NAME, value: call.marker },
    graceMs: GRACE_MS,
    maxLineBytes: LINE_BYTES,
    logPath: call.logPath,
    ...(call.redactor === undefined ? {} : { keptThrough: (stream) => clean[stream]!.sieve }),
    onSpawn: (pid, startTime) => call.spawned(pid, startTime),
    onLine: readLine,
    onChunk: (bytes, stream) => {
      if (stream === 'stdout') reader.chunk?.(bytes);
    },
    beforeIdle: (sinceMs) =>
      reader.told().closed === true ? Promise.resolve(false) : call.groundMoved(sinceMs),
  });
  if (plan.converse !== undefined) talk = plan.converse(child);
  else if (plan.live !== undefined) talk = startTalk(child, plan.live, plan.input ?? '');
  const { answer } = plan;
  const overdue =
    answer && setTimeout(() => giveUp(answer.isThere() ? null : answer.missing), answer.withinMs);
  const done = child.done.then(
    (result) =>
      reportOf({
        ...{ result, told: reader.told(), gaveUp, asked, left },
        ...{ program: plan.command[0] ?? '', prompt: call.prompt },
      }),
    (error: unknown) => brokenReport(reader.told(), error),
  );
  return {
    ...(talk === null ? {} : { send: talk.send }),
    async stop(graceMs) {
      asked = true;
      // One that ends its own turn cleans up behind its tools; one that does not is ended all the same.
      if (graceMs > 0 && talk?.cancel?.() === true) await atMost(child.done, Math.min(graceMs, CANCEL_MS));
      await child.stop(graceMs);
    },
    pauseClocks: child.pauseClocks,
    resumeClocks: child.resumeClocks,
    done: done.finally(() => {
      clearTimeout(leaving);
      clearTimeout(overdue);
      talk?.over();
    }),
  };
}

function atMost(done: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([done.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}

function inputOf({ input, live, converse }: ChildPlan): { input?: string } {
  if ((live ?? converse) !== undefined) return { input: 'keep-open' };
  return input === undefined ? {} : { input };
}

interface Ending {
  result: RunResult;
  told: Told;
  gaveUp: AgentError | null;
  /** A person or the engine asked for the stop, not this room. */
  asked: boolean;
  /** Commands in the background for whose sake the agent did not leave. */
  left: string[];
  program: string;
  prompt: string;
}

/** How the run counts: what the stream said of itself goes before the exit code. */
function endingOf({ result, told, gaveUp, asked }: Ending): Pick<AgentReport, 'ending' | 'timeout'> {
  const { ending } = result;
  if (gaveUp !== null) return { ending: 'died', timeout: null };
  if (asked && (ending === 'stopped' || told.cancelled === true))
    return { ending: 'interrupted', timeout: null };
  if (told.error !== null || (told.trouble !== null && told.closed !== true)) {
    return { ending: 'died', timeout: null };
  }
  // It closed its stream and only failed to leave, by itself or because of what it left running.
  if (told.closed === true && ending !== 'exited') return { ending: 'ended', timeout: null };
  if (ending === 'wall' || ending === 'idle') return { ending: 'timed_out', timeout: ending };
  const well = ending === 'exited' && result.exitCode === 0 && told.closed !== false;
  return { ending: well ? 'ended' : 'died', timeout: null };
}

function reportOf(facts: Ending): AgentReport {
  const { result, told, gaveUp, left } = facts;
  const { ending, timeout } = endingOf(facts);
  const cause = gaveUp ?? told.error ?? told.trouble;
  return {
    ending,
    timeout,
    exitCode: result.exitCode,
    signal: result.signal,
    error: ending === 'died' ? (cause ?? crashOf(facts)) : null,
    ...wordsOf(told),
    outputBytes: result.outputBytes,
    leftBehind: [...new Set([...result.leftBehind.map((row) => row.command), ...left])].slice(0, 100),
  };
}

type Words = Pick<
  AgentReport,
  | 'finalMessage'
  | 'toolCalls'
  | 'toolFiles'
  | 'commands'
  | 'usage'
  | 'sessionId'
  | 'unknownEvents'
  | 'unknownKinds'
  | 'version'
  | 'toolClaimed'
>;

function wordsOf(told: Told): Words {
  const { finalMessage, toolCalls, toolFiles, commands, usage, sessionId, unknownEvents } = told;
  const { unknownKinds, version } = told;
  return {
    ...{ finalMessage, toolCalls, toolFiles, commands, usage, sessionId, unknownEvents },
    ...(unknownKinds === undefined ? {} : { unknownKinds: [...unknownKinds] }),
    ...(version === undefined ? {} : { version }),
    ...(told.toolClaimed ? { toolClaimed: true as const } : {}),
  };
}

const SPAWN_WORDS: [RegExp, (program: string) => string][] = [
  [
    /ENOENT/,
    (program) =>
      `The agent's program ${program} or its working folder was not found. Install it, or correct its path.`,
  ],
  [/EACCES/, (program) => `The agent's program ${program} may not be executed. Make it executable.`],
  [
    /E2BIG/,
    () =>
      'The prompt is too big for a command line argument. Set the agent to `prompt: stdin` or `prompt: file`.',
  ],
];

const STDERR_LINES = 5;
const LOGIN = 'Log in to this agent, or give it a key that is valid, then run again.';

/** A death without a word from the stream: told from the spawn error, the exit code and stderr. */
function crashOf({ result, told, program, prompt }: Ending): AgentError {
  const crash = (message: string): AgentError => ({ kind: 'crash', message, resetsAt: null });
  if (result.ending === 'spawn_failed') {
    const error = result.error ?? 'unknown reason';
    const known = SPAWN_WORDS.find(([pattern]) => pattern.test(error))?.[1];
    return crash(known?.(program) ?? `The agent could not be started: ${error}`);
  }
  const lines = result.stderrTail.trim().split('\n').slice(-STDERR_LINES);
  const stderr = lines.join('\n').slice(-1000);
  const how =
    result.signal !== null
      ? `was ended by ${result.signal}`
      : result.exitCode === 0 && told.closed === false
        ? 'ended without its closing event, so its work may be cut off'
        : `ended with exit code ${result.exitCode}`;
  const message = `The agent ${how}${stderr === '' ? '.' : `: ${stderr}`}`;
  // Ended by itself: a limit or a login may be why, also where the stream of such an agent would have told it.
  const complaint = result.ending === 'exited' ? complaintIn(lines, { prompt, now: Date.now() }) : null;
  return complaint === null
    ? crash(message)
    : { ...complaint, message: withFix(complaint.kind, message, LOGIN) };
}

/** A callback failed, e.g. the journal refused: the run is over and nothing is known of its end. */
function brokenReport(told: Told, error: unknown): AgentReport {
  return {
    ending: 'died',
    timeout: null,
    exitCode: null,
    signal: null,
    error: { kind: 'crash', message: `The run broke off: ${String(error)}`, resetsAt: null },
    ...wordsOf(told),
    outputBytes: 0,
    leftBehind: [],
  };
}
