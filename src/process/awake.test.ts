import { expect, test } from 'vitest';
import { awakeClock } from './awake.ts';
import { watchDeadlines } from './deadlines.ts';

test('the night in which the machine slept is not counted', () => {
  let now = 1000;
  const clock = awakeClock(() => now);
  now += 5000;
  expect(clock.elapsedMs()).toBe(5000);
  now += 8 * 3_600_000;
  expect(clock.elapsedMs()).toBe(5000);
  now += 60_000;
  expect(clock.elapsedMs()).toBe(65_000);
});

test('time that goes backwards is not counted', () => {
  let now = 1000;
  const clock = awakeClock(() => now);
  now = 0;
  expect(clock.elapsedMs()).toBe(0);
  now = 10;
  expect(clock.elapsedMs()).toBe(10);
});

test('a limit is not reached by sleep, and is reached by time awake', async () => {
  let sleptMs = 0;
  const clock = awakeClock(() => performance.now() + sleptMs);
  let reached: string | null = null;
  const { stop } = watchDeadlines({
    limits: { wallMs: 400, idleMs: 300 },
    clock,
    lastOutput: () => ({ awakeMs: 0, epochMs: Date.now() }),
    expire: (which) => {
      reached = which;
    },
    fail: () => {},
  });
  sleptMs = 3_600_000;
  clock.elapsedMs();
  expect(reached).toBeNull();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(reached).toBe('idle');
  stop();
});
