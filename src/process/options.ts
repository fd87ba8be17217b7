/**
 * What it takes to run one child process, and what is known when it is over. This room knows nothing
 * of the product: a command goes in, lines and one result come out, and no process stays behind.
 */
import type { KeptOutput } from './kept.ts';

/** One child process to be. Times are milliseconds; a null limit is no limit. */
export interface RunOptions {
  /** Argument list, or one line for the platform's shell. */
  command: string[] | { shell: string };
  cwd: string;
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  /** Written to stdin, which is then ended. Absent: stdin is at its end at once. `keep-open`: see `write`. */
  input?: string | 'keep-open';
  /** Running time after which the tree is ended. Time the machine slept does not count. */
  wallMs: number | null;
  /** Silence on both streams after which the tree is ended. */
  idleMs: number | null;
  /** Put into the environment; at the end every process that carries it is ended: one value, one child. */
  marker?: { name: string; value: string };
  /** From SIGTERM to SIGKILL; default 5000. */
  graceMs?: number;
  /** Told once the process exists. If it throws, the tree is ended and `done` rejects with its error. */
  onSpawn?(pid: number, startTime: string): void | Promise<void>;
  /** One line without its end; at most `maxLineBytes` of it, then a mark with what was dropped. Must not throw. */
  onLine?(line: string, stream: 'stdout' | 'stderr'): void;
  /** Bytes as they come, through `keptThrough`; valid during the call only. Must not throw. */
  onChunk?(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
  /** Both streams are appended to this file; a slow disk slows the child instead of filling memory. */
  logPath?: string;
  /** What each of the two streams goes through before it is logged and before its ends are kept; absent: nothing. */
  keptThrough?(stream: 'stdout' | 'stderr'): LogSieve;
  /** Bytes kept of the head and of the tail, each; default 64 KiB. */
  keepBytes?: number;
  /** Default 1 MiB. */
  maxLineBytes?: number;
  /**
   * Asked before an idle end, with the time of the last output in epoch ms. True: there are other
   * signs of life, and the idle clock starts again.
   */
  beforeIdle?(sinceMs: number): Promise<boolean>;
}

/** What is written and kept in place of what came. */
export interface LogSieve {
  /** The bytes are valid during the call only. */
  add(bytes: Uint8Array): Uint8Array;
  /** What was held back. */
  end(): Uint8Array;
}

/** How one child process ended. */
export interface RunResult {
  /** `wall`, `idle`, `stopped`: we ended it, whatever its exit code says. */
  ending: 'exited' | 'wall' | 'idle' | 'stopped' | 'spawn_failed';
  exitCode: number | null;
  signal: string | null;
  pid: number | null;
  startTime: string | null;
  /** Monotonic; gaps over 60 s in which the machine slept are left out. */
  durationMs: number;
  stdout: KeptOutput;
  /** Both streams in the order in which they arrived. */
  output: KeptOutput;
  /** The last `keepBytes` of stderr. */
  stderrTail: string;
  outputBytes: number;
  /** Processes that outlived the child and were ended. */
  leftBehind: { pid: number; command: string }[];
  /** Why the spawn failed, that the log could not be written, or which process could not be ended. */
  error: string | null;
}

/** A child process that was started, or that failed to start: then `done` says so. */
export interface RunningChild {
  /** null: the spawn failed. */
  pid: number | null;
  /** Ends the whole tree; settles when it is gone. A second call can only shorten the grace. */
  stop(graceMs?: number): Promise<void>;
  /** Writes to a kept-open stdin. False: it is closed, or 16 MiB already wait there; nothing was written. */
  write(text: string): boolean;
  /** Ends a kept-open stdin. */
  endInput(): void;
  /** Stands the wall and the idle clock still until `resumeClocks`, e.g. while the child waits for a person. */
  pauseClocks(): void;
  resumeClocks(): void;
  /** Settles when the child and everything it left behind are gone. Rejects only if a callback threw. */
  done: Promise<RunResult>;
}
