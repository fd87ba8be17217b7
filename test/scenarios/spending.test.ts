/** The cap of the day over all loops of the project, seen through whole runs. */
import { expect, test } from 'vitest';
import { spentSince } from '../../src/core/index.ts';
import { crashedAfter, facts, honest, leave, makeWorld, run, statuses } from './world.ts';

const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `t${index + 1}` }));
const CAP = { limits: { maxCostUsdPerDay: 5 } };

test('what another loop spends while an agent works here stops it inside its attempt, uncharged', async () => {
  const world = makeWorld({
    tasks: ids(1),
    play: () => ({
      write: { 'half.txt': 'x' },
      costUsd: 1,
      waitForStop: true,
      during: ({ outside }) => void outside.othersSpent.push({ at: outside.now, usd: 6 }),
    }),
  });
  const { exit } = await run(world, CAP);
  expect([exit.code, exit.reason]).toEqual([
    1,
    '$7.00 of $5 are spent today by all loops of the project (limits.max_cost_usd_per_day)',
  ]);
  expect(facts(world, 'attempt.ended').map(({ stoppedFor }) => stoppedFor)).toEqual(['limit']);
  expect(facts(world, 'task.charged')).toEqual([]);
  leave(world);
});

test("no agent is started once others have used the day up; a run's own spending counts once", async () => {
  const world = makeWorld({
    tasks: ids(4),
    play: (seen, w) => ({
      ...honest(seen, w),
      costUsd: 1,
      during: ({ outside }) =>
        void (seen.task === 't2' && outside.othersSpent.push({ at: outside.now, usd: 2 })),
    }),
  });
  const { exit } = await run(world, CAP);
  expect(exit.code).toBe(1);
  expect(statuses(world)).toEqual({ t1: 'done', t2: 'done', t3: 'done', t4: 'todo' });
  expect(facts(world, 'spend.seen')).toEqual([{ type: 'spend.seen', usd: 3 }]);
  leave(world);
});

test('at midnight the day begins anew, for this run and for the others', async () => {
  const world = makeWorld({
    tasks: ids(3),
    // It is 22:00 when the run begins, and each attempt takes an hour and a half.
    play: (seen, w) => ({ ...honest(seen, w), costUsd: 2, tookMs: 5_400_000 }),
  });
  world.outside.othersSpent.push({ at: world.outside.now, usd: 2.5 });
  expect((await run(world, CAP)).exit.code).toBe(0);
  expect(world.house.state.run!.costUsd).toBe(6);
  expect(world.house.state.run!.spentTodayUsd).toBe(-2);
  leave(world);
});

test('killed right after it learned of it, a run stops for the same reason', async () => {
  const world = makeWorld({ tasks: ids(2), play: (seen, w) => ({ ...honest(seen, w), costUsd: 3 }) });
  world.outside.othersSpent.push({ at: world.outside.now, usd: 3 });
  expect((await run(world, CAP)).exit.code).toBe(1);
  const seen = world.records.find(({ facts: all }) => all.some(({ type }) => type === 'spend.seen'))!;
  const crashed = crashedAfter(world, seen.seq);
  const { exit } = await run(crashed, CAP);
  expect([exit.code, exit.reason]).toEqual([
    1,
    '$6.00 of $5 are spent today by all loops of the project (limits.max_cost_usd_per_day)',
  ]);
  leave(crashed);
  leave(world);
});

test('what a killed attempt had used counts once, however often the run is taken up again', async () => {
  const world = makeWorld({ tasks: ids(1), play: (seen, w) => ({ ...honest(seen, w), costUsd: 1 }) });
  expect((await run(world)).exit.code).toBe(0);
  const begun = world.records.find(({ facts: all }) => all.some(({ type }) => type === 'attempt.spawned'))!;
  const crashed = crashedAfter(world, begun.seq);
  crashed.outside.printedBills[1] = {
    inputTokens: 9,
    outputTokens: 1,
    costUsd: 2,
    model: 'm',
    partial: true,
  };
  expect((await run(crashed)).exit.code).toBe(0);
  expect(facts(crashed, 'attempt.lost').map(({ usage }) => usage?.costUsd)).toEqual([2]);
  expect(crashed.house.state.costUsd).toBe(3);
  expect(crashed.house.state.tasks.get('t1')!.budgetUsd).toBe(3);
  const again = crashedAfter(crashed, crashed.records.at(-1)!.seq - 1);
  await run(again);
  expect(again.house.state.costUsd).toBe(3);
  for (const each of [again, crashed, world]) leave(each);
});

test('bills of long ago count for the day they came in, also when their reports are let go', async () => {
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) => (seen.attempt < 4 ? { costUsd: 1 } : { ...honest(seen, w), costUsd: 1 }),
  });
  const many = { limits: { maxCostUsdPerDay: 50, maxStuck: 0, maxTaskAttempts: 9 } };
  await run(world, many);
  const ended = facts(world, 'attempt.ended').length;
  expect(ended).toBeGreaterThan(2);
  const { state, clock } = world.house;
  expect(spentSince(state, clock.now() - 86_400_000)).toBe(ended);
  leave(world);
});
