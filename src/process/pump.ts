/** Moves a child's output to those who want it: lines, raw chunks, the log, and what is kept of it. */
import type { Readable } from 'node:stream';
import type { AwakeClock } from './awake.ts';
import { keeper } from './kept.ts';
import { lineSplitter } from './lines.ts';
import { openLog } from './logfile.ts';
import type { RunOptions, RunResult } from './options.ts';
import { sleep } from './signals.ts';

const KEEP_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 1024 * 1024;
/** After the child's exit its last bytes are in the pipe: quiet for this long means they were read. */
const QUIET_MS = 100;
const DRAIN_MS = 2000;
/** More than pipes and streams hold: what comes after so much was written by somebody else after the exit. */
const DRAIN_BYTES = 1024 * 1024;

type StreamName = 'stdout' | 'stderr';

/** A running pump. */
export interface Pump {
  /** When the last output came: on the awake clock, and in epoch ms. A child we hold back counts as talking. */
  lastOutput(): { awakeMs: number; epochMs: number };
  /** Settles when both pipes are at their end or quiet, at the latest after 2 s or 1 MiB. For use after the exit. */
  drain(): Promise<void>;
  /** Lets go of the pipes, gives out unfinished lines, closes the log; answers what the log misses. */
  close(): Promise<string | null>;
  kept(): Pick<RunResult, 'stdout' | 'output' | 'stderrTail' | 'outputBytes'>;
}

/** `fail` is told what a callback threw. */
export function startPump(
  streams: Record<StreamName, Readable>,
  options: RunOptions,
  { clock, fail }: { clock: AwakeClock; fail(error: unknown): void },
): Pump {
  const keepBytes = options.keepBytes ?? KEEP_BYTES;
  const kept = { stdout: keeper(keepBytes), stderr: keeper(keepBytes), both: keeper(keepBytes) };
  const names: StreamName[] = ['stdout', 'stderr'];
  const log = options.logPath === undefined ? null : openLog(options.logPath, goOn);
  const splitters = names.map((name) =>
    lineSplitter(options.maxLineBytes ?? MAX_LINE_BYTES, (line) =>
      guarded(() => options.onLine?.(line, name)),
    ),
  );
  const sieves = names.map((name) => options.keptThrough?.(name) ?? null);
  let last = { awakeMs: 0, epochMs: Date.now() };
  let isHeldBack = false;
  /** Set by the exit: at so many bytes the child's own output is all in. */
  let mostBytes = Number.POSITIVE_INFINITY;
  let open = names.length;
  /** Bytes of both, as they came. */
  let came = 0;

  function guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      fail(error);
    }
  }

  function touch(): void {
    last = { awakeMs: clock.elapsedMs(), epochMs: Date.now() };
  }

  function goOn(): void {
    if (!isHeldBack) return;
    isHeldBack = false;
    touch();
    if (came < mostBytes) for (const name of names) streams[name].resume();
  }

  function take(chunk: Buffer, name: StreamName): void {
    touch();
    came += chunk.length;
    const sieved = sieves[names.indexOf(name)]?.add(chunk) ?? chunk;
    if (options.onLine !== undefined) splitters[names.indexOf(name)]!.add(chunk);
    if (!keep(sieved, name)) isHeldBack = true;
    if (isHeldBack || came >= mostBytes) for (const each of names) streams[each].pause();
  }

  /** False: enough waits to be written. */
  function keep(bytes: Uint8Array, name: StreamName): boolean {
    if (bytes.length === 0) return true;
    kept[name].add(bytes);
    kept.both.add(bytes);
    guarded(() => options.onChunk?.(bytes, name));
    return log === null || log.write(bytes);
  }

  for (const name of names) {
    streams[name].on('data', (chunk: Buffer) => take(chunk, name));
    streams[name].once('close', () => {
      open -= 1;
    });
    // A read error ends the stream; the exit code tells what matters.
    streams[name].on('error', () => {});
  }

  return {
    lastOutput() {
      if (isHeldBack) touch();
      return last;
    },
    async drain() {
      const until = performance.now() + DRAIN_MS;
      mostBytes = Math.min(mostBytes, came + DRAIN_BYTES);
      let seen = came;
      let quietSince = performance.now();
      const isQuiet = () => performance.now() - quietSince >= QUIET_MS;
      while (open > 0 && seen < mostBytes && performance.now() < until && !isQuiet()) {
        await sleep(10);
        if (isHeldBack || came !== seen) quietSince = performance.now();
        seen = came;
      }
    },
    async close() {
      for (const name of names) streams[name].destroy();
      for (const splitter of splitters) splitter.end();
      for (const name of names) keep(sieves[names.indexOf(name)]?.end() ?? new Uint8Array(), name);
      return log === null ? null : log.close();
    },
    kept() {
      const output = kept.both.read();
      return {
        stdout: kept.stdout.read(),
        output,
        stderrTail: kept.stderr.read().tail,
        outputBytes: came,
      };
    },
  };
}
