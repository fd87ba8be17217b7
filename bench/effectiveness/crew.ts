/**
 * Runs shared out to worker processes. A worker lives for all of its runs: starting one costs as much as ten
 * iterations. Runs are taken in the order they were asked for, so that the long ones, asked for first, leave no
 * core idle at the end.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { Outcome } from './outcome.ts';
import { type PureRun, playPure } from './pure.ts';
import { playReal, type RealRun } from './real.ts';

/** A run on disk, or one in memory. */
export type Job = { real: RealRun } | { pure: PureRun };

export interface Crew {
  /** Rejects when the worker that plays the run ends. */
  play(job: Job): Promise<Outcome>;
  /** Lets the workers go. */
  close(): void;
}

interface Waiting {
  job: Job;
  resolve: (outcome: Outcome) => void;
  reject: (error: Error) => void;
}

/** `program` calls `serve` when it is started with `--work`. */
export function openCrew(program: string, size: number): Crew {
  const queue: Waiting[] = [];
  const busy = new Map<ChildProcess, Waiting>();
  const workers = Array.from({ length: size }, () => {
    const worker = fork(program, ['--work'], { serialization: 'advanced' });
    worker.on('message', (message) => {
      const played = busy.get(worker);
      busy.delete(worker);
      hand();
      played?.resolve(message as Outcome);
    });
    worker.on('exit', (code, signal) => {
      workers.splice(workers.indexOf(worker), 1);
      const told = `a worker ended with ${code ?? signal}`;
      busy.get(worker)?.reject(new Error(`${told} in the run ${JSON.stringify(busy.get(worker)!.job)}`));
      if (workers.length === 0) for (const { reject } of queue) reject(new Error(told));
    });
    return worker;
  });

  function hand(): void {
    for (const worker of workers) {
      if (busy.has(worker)) continue;
      const next = queue.shift();
      if (next === undefined) return;
      busy.set(worker, next);
      worker.send(next.job);
    }
  }

  return {
    play: (job) =>
      new Promise((resolve, reject) => {
        queue.push({ job, resolve, reject });
        hand();
      }),
    close() {
      for (const worker of workers) worker.disconnect();
    },
  };
}

/** A worker: plays what it is sent, until it is let go. */
export function serve(): void {
  process.on('message', async (message) => {
    const job = message as Job;
    const outcome = 'real' in job ? await playReal(job.real) : await playPure(job.pure);
    // Whoever asked may have been ended meanwhile; the run has cleaned up behind itself.
    if (process.connected) process.send!(outcome);
  });
}
