/** The real clock. Timers are never longer than an hour, so that a clock that jumps is noticed. */
import type { Clock } from '../engine/index.ts';

const LONGEST_MS = 3_600_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  at(at, wake) {
    const timer = setTimeout(wake, Math.min(LONGEST_MS, Math.max(0, at - Date.now())));
    return () => clearTimeout(timer);
  },
};
