/** A clock that jumps: summer time, a laptop that slept, a machine whose time was set right. */
import { expect, test } from 'vitest';
import { DONE, facts, honest, leave, makeWorld, run, send, statuses, type World } from './world.ts';

const HOUR = 3_600_000;
const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `t${index + 1}` }));

/** The clock jumps while the second task's agent works. */
function jumping(byMs: number): World {
  return makeWorld({
    tasks: ids(3),
    play: (seen, world) => {
      if (seen.task === 't2') world.outside.now += byMs;
      return honest(seen, world);
    },
  });
}

test.each([2 * HOUR, -2 * HOUR])(
  'by %d ms during an attempt: everything is done, nothing is charged',
  async (jump) => {
    const world = jumping(jump);
    const { exit } = await run(world, { limits: { maxTimeS: 24 * 3600 } });
    expect(exit.code).toBe(0);
    expect(statuses(world)).toEqual({ t1: 'done', t2: 'done', t3: 'done' });
    expect(facts(world, 'task.charged')).toEqual([]);
    expect(facts(world, 'attempt.ended').every((fact) => fact.durationMs >= 0)).toBe(true);
    leave(world);
  },
);

test('backwards: working time never shrinks, so a time limit still binds', async () => {
  const world = jumping(-2 * HOUR);
  await run(world);
  expect(world.house.state.run?.activeMs).toBeGreaterThanOrEqual(0);
  leave(world);
});

test('backwards over a question with a deadline: it stays open, and an answer still counts', async () => {
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) =>
      seen.prompt.includes('blue')
        ? honest(seen, w)
        : { emit: [{ topic: 'human.interact', payload: 'Which colour?' }], say: DONE },
  });
  expect((await run(world)).exit.code).toBe(3);
  world.outside.now -= 2 * HOUR;
  expect((await run(world)).exit.code).toBe(3);
  send(world, { type: 'ANSWER', text: 'blue' });
  expect((await run(world)).exit.code).toBe(0);
  expect(facts(world, 'question.asked').length).toBe(1);
  leave(world);
});
