/** Ending processes by name, where a name is a pid with its start time. */
import type { ProcessRow } from './table.ts';
import { isAlive } from './table.ts';

/** How long a process may take to vanish after SIGKILL before it counts as a survivor. */
const AFTER_KILL_MS = 2000;

/**
 * SIGTERM, then SIGKILL for what is left after the grace; the start time is checked before each
 * signal. Answers the processes that still run 2 s after SIGKILL: somebody else's, or stuck in the kernel.
 * `hurry` cuts the grace short when it settles.
 */
export async function endAll(
  rows: ProcessRow[],
  graceMs: number,
  hurry?: Promise<unknown>,
): Promise<ProcessRow[]> {
  let isHurried = false;
  void hurry?.then(() => {
    isHurried = true;
  });
  let left = rows.filter((row) => isAlive(row.pid, row.startTime));
  if (graceMs > 0) {
    signalEach(left, 'SIGTERM');
    left = await waitGone(left, graceMs, () => isHurried);
  }
  signalEach(left, 'SIGKILL');
  return waitGone(left, AFTER_KILL_MS, () => false);
}

/** Sends the signal to each process that is still the one it was. */
export function signalEach(rows: ProcessRow[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const row of rows) {
    if (row.pid > 1 && row.pid !== process.pid && isAlive(row.pid, row.startTime)) send(row.pid, signal);
  }
}

/** Sends a signal; a process or group that is gone or not ours is no error. Negative: a group. */
export function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH: it ended by itself. EPERM: it belongs to somebody else and will be told as a survivor.
  }
}

/** Waits until all are gone, `ms` have passed or `enough()`; answers those that are left. */
export async function waitGone(rows: ProcessRow[], ms: number, enough: () => boolean): Promise<ProcessRow[]> {
  const until = performance.now() + ms;
  let pause = 10;
  let left = rows.filter((row) => isAlive(row.pid, row.startTime));
  while (left.length > 0 && performance.now() < until && !enough()) {
    await sleep(Math.min(pause, Math.max(1, until - performance.now())));
    pause = Math.min(pause * 2, 100);
    left = left.filter((row) => isAlive(row.pid, row.startTime));
  }
  return left;
}

/** Settles after `ms`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
