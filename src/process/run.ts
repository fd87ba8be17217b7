/**
 * One child process from its start to its last descendant's end:
 *
 *   spawn → running → [ended by a limit or by `stop`: SIGTERM, grace, SIGKILL] → exit → drain the pipes
 *         → end what was left behind → result
 *
 * The end is the child's exit, never the closing of its pipes: a process that was left behind may hold
 * them open for ever.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { awakeClock } from './awake.ts';
import { watchDeadlines } from './deadlines.ts';
import { keeper } from './kept.ts';
import type { RunningChild, RunOptions, RunResult } from './options.ts';
import { spawnCommand } from './program.ts';
import { startPump } from './pump.ts';
import { endAll, send, signalEach, waitGone } from './signals.ts';
import type { ProcessRow } from './table.ts';
import { platform } from './table.ts';
import { watchTree } from './tree.ts';

const GRACE_MS = 5000;
/** A descendant that is just ending, like the far end of a shell pipe, was not left behind. */
const SETTLE_MS = 250;
/** How long we wait for a killed child that hangs in the kernel. */
const GIVE_UP_MS = 10_000;
const MAX_WAITING_INPUT_BYTES = 16 * 1024 * 1024;

type Ending = RunResult['ending'];

/** Starts a child. Never throws: what keeps it from starting is told as `spawn_failed`. */
export function run(options: RunOptions): RunningChild {
  let child: ChildProcess;
  try {
    child = start(options);
  } catch (error) {
    return notStarted(Promise.resolve(spawnError(error, options)));
  }
  if (child.pid !== undefined) return supervise(child, child.pid, options);
  return notStarted(
    new Promise((resolve) => child.once('error', (error) => resolve(spawnError(error, options)))),
  );
}

function start(options: RunOptions): ChildProcess {
  const { marker } = options;
  const env = marker === undefined ? options.env : { ...options.env, [marker.name]: marker.value };
  const command = spawnCommand(options.command, env);
  return spawn(command.file, command.args, {
    cwd: options.cwd,
    env,
    shell: command.shell,
    // Its own group and session: one signal reaches the group, and no terminal can be asked for a password.
    detached: process.platform !== 'win32',
    windowsHide: true,
    windowsVerbatimArguments: command.verbatim,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
}

function spawnError(error: unknown, options: RunOptions): string {
  const text = error instanceof Error ? error.message : String(error);
  // The system says ENOENT for a missing folder too, and names the program: that sends people the wrong way.
  return isFolder(options.cwd) ? text : `${text}: there is no folder ${options.cwd}`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function notStarted(reason: Promise<string>): RunningChild {
  const nothing = keeper(0).read();
  const done = reason.then(
    (error): RunResult => ({
      ending: 'spawn_failed',
      exitCode: null,
      signal: null,
      pid: null,
      startTime: null,
      durationMs: 0,
      stdout: nothing,
      output: nothing,
      stderrTail: '',
      outputBytes: 0,
      leftBehind: [],
      error,
    }),
  );
  const nothingToDo = () => {};
  return {
    pid: null,
    stop: () => done.then(() => {}),
    write: () => false,
    endInput: nothingToDo,
    pauseClocks: nothingToDo,
    resumeClocks: nothingToDo,
    done,
  };
}

function supervise(child: ChildProcess, pid: number, options: RunOptions): RunningChild {
  const clock = awakeClock();
  const startTime = platform.one(pid)?.startTime ?? '';
  const tree = watchTree({ pid, startTime }, options.marker);
  const pump = startPump({ stdout: child.stdout!, stderr: child.stderr! }, options, { clock, fail });
  const exit = watchExit(child);
  const terminator = makeTerminator({ pid, tree, exit });
  let ending: Ending = 'exited';
  let failure: { error: unknown } | null = null;

  function end(why: Ending, graceMs: number): void {
    if (ending === 'exited' && !exit.isOver()) ending = why;
    terminator.end(graceMs);
  }

  /** A callback threw, which is a bug of the caller: no process may outlive it. */
  function fail(error: unknown): void {
    failure ??= { error };
    end('stopped', 0);
  }

  const grace = options.graceMs ?? GRACE_MS;
  const deadlines = watchDeadlines({
    limits: options,
    clock,
    lastOutput: pump.lastOutput,
    expire: (which) => end(which, grace),
    fail,
  });
  const told = Promise.resolve()
    .then(() => options.onSpawn?.(pid, startTime))
    .catch(fail);
  feed(child, options.input);

  async function finish(): Promise<RunResult> {
    const { exitCode, signal } = await exit.promise;
    const durationMs = Math.round(clock.elapsedMs());
    deadlines.stop();
    child.stdin?.destroy();
    await pump.drain();
    const { leftBehind, survivors } = await terminator.sweep(grace);
    tree.close();
    await pump.drain();
    const logError = await pump.close();
    await told;
    if (failure !== null) throw failure.error;
    const stuck = survivors.map((row) => `process ${row.pid} could not be ended: ${row.command}`);
    const error = [...(logError === null ? [] : [logError]), ...stuck].join('; ') || null;
    return { ending, exitCode, signal, pid, startTime, durationMs, ...pump.kept(), leftBehind, error };
  }

  const done = finish();
  return {
    pid,
    stop(graceMs = grace) {
      end('stopped', graceMs);
      return done.then(
        () => {},
        () => {},
      );
    },
    write: (text) => options.input === 'keep-open' && writeInput(child, text),
    endInput() {
      if (options.input === 'keep-open') child.stdin?.end();
    },
    pauseClocks: deadlines.pause,
    resumeClocks: deadlines.resume,
    done,
  };
}

function feed(child: ChildProcess, input: string | undefined): void {
  // EPIPE: the child does not want its input, or is gone. Its exit tells the rest.
  child.stdin?.on('error', () => {});
  if (input !== undefined && input !== 'keep-open') child.stdin?.end(input);
}

function writeInput(child: ChildProcess, text: string): boolean {
  const { stdin } = child;
  if (stdin === null || !stdin.writable || stdin.writableLength > MAX_WAITING_INPUT_BYTES) return false;
  stdin.write(text);
  return true;
}

interface Exit {
  promise: Promise<{ exitCode: number | null; signal: string | null }>;
  isOver(): boolean;
  /** Settles without an exit: the child is stuck in the kernel. */
  giveUp(): void;
}

function watchExit(child: ChildProcess): Exit {
  let isOver = false;
  let settle: (exitCode: number | null, signal: string | null) => void = () => {};
  const promise = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    settle = (exitCode, signal) => {
      isOver = true;
      resolve({ exitCode, signal });
    };
  });
  child.once('exit', (code, signal) => settle(code, signal));
  // After the spawn this is a signal that could not be sent; the exit still comes.
  child.on('error', () => {});
  return { promise, isOver: () => isOver, giveUp: () => settle(null, null) };
}

interface Terminator {
  /** SIGTERM to the tree now, SIGKILL after the grace; called again it can only be sooner. */
  end(graceMs: number): void;
  /** After the exit: ends what is left of the tree. */
  sweep(graceMs: number): Promise<{ leftBehind: RunResult['leftBehind']; survivors: ProcessRow[] }>;
}

function makeTerminator({
  pid,
  tree,
  exit,
}: {
  pid: number;
  tree: ReturnType<typeof watchTree>;
  exit: Exit;
}): Terminator {
  let killAt: number | null = null;
  let isSwept = false;
  let timer: NodeJS.Timeout | undefined;
  let hurry: () => void = () => {};
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });

  function signalTree(signal: 'SIGTERM' | 'SIGKILL'): void {
    const rows = tree.descendants();
    // The group first and at once, so that a parent does not start again what was ended. While the child
    // was not reaped its pid cannot be anybody else's.
    if (!exit.isOver()) send(process.platform === 'win32' ? pid : -pid, signal);
    signalEach(
      rows.filter((row) => exit.isOver() || row.pgid !== pid),
      signal,
    );
  }

  function kill(): void {
    hurry();
    if (exit.isOver()) return;
    signalTree('SIGKILL');
    timer = setTimeout(exit.giveUp, GIVE_UP_MS);
  }

  return {
    end(graceMs) {
      const at = performance.now() + graceMs;
      if (isSwept || (killAt !== null && at >= killAt)) return;
      if (killAt === null && graceMs > 0) signalTree('SIGTERM');
      killAt = at;
      clearTimeout(timer);
      if (graceMs > 0) timer = setTimeout(kill, graceMs);
      else kill();
    },
    async sweep(graceMs) {
      const leftBehind: RunResult['leftBehind'] = [];
      let survivors: ProcessRow[] = [];
      let rows = tree.descendants();
      if (rows.length > 0) {
        await waitGone(rows, SETTLE_MS, () => false);
        rows = tree.descendants();
      }
      // What is ended may have started others meanwhile: look again, at most five times.
      for (let round = 0; round < 5 && rows.length > 0 && survivors.length === 0; round++) {
        leftBehind.push(...rows.map((row) => ({ pid: row.pid, command: row.command })));
        const left = killAt === null ? graceMs : Math.max(0, killAt - performance.now());
        survivors = await endAll(rows, round === 0 ? left : 0, hurried);
        rows = tree.descendants();
      }
      isSwept = true;
      clearTimeout(timer);
      return { leftBehind, survivors };
    },
  };
}
