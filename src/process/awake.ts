/**
 * Time as a child process lives it: monotonic, and without the hours in which the machine slept. A
 * laptop that was closed over night must not find its agent timed out in the morning.
 */

/** A step between two readings above this is a sleep, not slowness. Readings are seconds apart. */
export const SLEEP_GAP_MS = 60_000;

/** Milliseconds awake since the clock was made. Read it at least every few seconds. */
export interface AwakeClock {
  elapsedMs(): number;
}

/** `monotonicMs` may or may not count a sleep, which differs by platform: both give the same result. */
export function awakeClock(monotonicMs: () => number = () => performance.now()): AwakeClock {
  let last = monotonicMs();
  let elapsed = 0;
  return {
    elapsedMs() {
      const now = monotonicMs();
      const step = now - last;
      last = now;
      if (step > 0 && step <= SLEEP_GAP_MS) elapsed += step;
      return elapsed;
    },
  };
}
