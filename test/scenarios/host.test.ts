/** A machine that is short of disk or memory, seen through whole runs. */
import { expect, test } from 'vitest';
import { nextWords } from '../../src/views/index.ts';
import { crashedAfter, facts, honest, leave, makeWorld, run, statuses, type World } from './world.ts';

const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `t${index + 1}` }));
const HOST = { minFreeDiskMb: 500, minFreeMemoryMb: 300 };
const kinds = (world: World) => facts(world, 'host.seen').map(({ short }) => short.map(({ of }) => of));

/** Fills the machine in the middle of the first task; it is emptied when the run has slept `waits` times. */
function filling(fill: Partial<World['outside']['freeMb']>): World {
  return makeWorld({
    tasks: ids(2),
    play: (seen, w) => ({
      ...honest(seen, w),
      during: ({ outside }) => void (seen.task === 't1' && Object.assign(outside.freeMb, fill)),
    }),
  });
}

/** Frees the machine again at the n-th look from now; answers what people are told right before. */
function freesAfter(world: World, looks: number): () => string {
  const live = { runner: { pid: 1, host: 'h', startedAt: 0 } };
  let told = '';
  const { free } = world.house.host;
  let left = looks;
  world.house.host.free = async (folders) => {
    const { disk, memory } = world.outside.freeMb;
    if ((disk < 500 || memory < 300) && left-- === 0) {
      told = nextWords(world.house.state, world.outside.now, live);
      world.outside.freeMb = { disk: 9_000, memory: 9_000 };
    }
    return free(folders);
  };
  return () => told;
}

test.each([
  [
    'disk',
    { disk: 120 },
    /only 120 MB are free on the disk of .*, and 500 have to be \(host\.min_free_disk_mb\)/,
  ],
  [
    'memory',
    { memory: 80 },
    /only 80 MB of memory are available, and 300 have to be \(host\.min_free_memory_mb\)/,
  ],
])(
  'short of %s, no agent is started until there is room again; nothing is charged',
  async (of, fill, words) => {
    const world = filling(fill);
    const told = freesAfter(world, 8);
    const { exit, waits } = await run(world, { host: HOST, park: true });
    expect(exit.code).toBe(0);
    expect(waits.length).toBeGreaterThan(1);
    expect(new Set(waits)).toEqual(new Set([30_000]));
    expect(kinds(world)).toEqual([[of], []]);
    expect(told()).toMatch(words);
    expect(facts(world, 'task.charged')).toEqual([]);
    expect(facts(world, 'attempt.started')).toHaveLength(2);
    leave(world);
  },
);

test('with --no-wait the run stops with 5 and says what to free, and the next start goes on', async () => {
  const world = filling({ disk: 120 });
  const { exit } = await run(world, { host: HOST, park: false });
  expect([exit.code, exit.word]).toEqual([5, 'PROBLEM']);
  expect(exit.reason).toMatch(/^no agent was started: only 120 MB are free on the disk of /);
  expect(statuses(world)).toEqual({ t1: 'done', t2: 'todo' });
  world.outside.freeMb.disk = 9_000;
  expect((await run(world, { host: HOST, park: false })).exit.code).toBe(0);
  expect(facts(world, 'task.charged')).toEqual([]);
  leave(world);
});

test('what is short when an agent is at work does not end it', async () => {
  const world = filling({ disk: 120, memory: 80 });
  freesAfter(world, 3);
  expect((await run(world, { host: HOST, park: true })).exit.code).toBe(0);
  expect(facts(world, 'attempt.ended').map(({ stoppedFor }) => stoppedFor)).toEqual([null, null]);
  expect(kinds(world)).toEqual([['disk', 'memory'], []]);
  leave(world);
});

test('killed right after it saw that, a run looks again when it begins', async () => {
  const world = filling({ disk: 120 });
  await run(world, { host: HOST, park: false });
  const seen = world.records.find(({ facts: all }) => all.some(({ type }) => type === 'host.seen'))!;
  const crashed = crashedAfter(world, seen.seq);
  crashed.outside.freeMb.disk = 9_000;
  expect((await run(crashed, { host: HOST, park: false })).exit.code).toBe(0);
  leave(crashed);
  leave(world);
});

test('with 0 nobody looks', async () => {
  const world = makeWorld({ tasks: ids(1), play: honest });
  world.outside.freeMb = { disk: 0, memory: 0 };
  const { exit } = await run(world, { host: { minFreeDiskMb: 0, minFreeMemoryMb: 0 }, park: true });
  expect(exit.code).toBe(0);
  leave(world);
});

test('with memory for two of four agents, two work side by side, then as many as there is memory for', async () => {
  const atOnce: number[] = [];
  let working = 0;
  const world = makeWorld({
    tasks: ids(4),
    play: (seen, w) => ({
      ...honest(seen, w),
      during: async ({ outside }) => {
        working += 1;
        await Promise.resolve();
        atOnce.push(working);
        working -= 1;
        if (seen.task === 't2') outside.freeMb.memory = 9_000;
      },
    }),
  });
  world.outside.freeMb.memory = 700;
  const wide = { parallel: { executors: 4, reviewers: 4, questioners: 1 } };
  expect((await run(world, { host: HOST, park: true, ...wide })).exit.code).toBe(0);
  expect(facts(world, 'wave.started').map(({ items }) => items.length)).toEqual([2, 2]);
  expect(facts(world, 'host.seen').map(({ room }) => room)).toEqual([2, undefined]);
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(2);
  expect(facts(world, 'task.charged')).toEqual([]);
  leave(world);
});

test('memory that goes while the gates look before a wave narrows it; who did not start begins after the others', async () => {
  const world = makeWorld({ tasks: ids(3), play: honest });
  const { free } = world.house.host;
  let looks = 0;
  world.house.host.free = async (folders) => {
    // Looks at memory alone are those before agents start side by side: one at the opening, then one in front of each start.
    if (folders.length === 0) world.outside.freeMb.memory = ++looks === 3 ? 650 : 4_000;
    return free(folders);
  };
  const wide = { parallel: { executors: 3, reviewers: 3, questioners: 1 } };
  expect((await run(world, { host: HOST, park: true, ...wide })).exit.code).toBe(0);
  expect(facts(world, 'wave.started').map(({ items }) => items.length)).toEqual([3]);
  const order = world.records.flatMap((record) =>
    record.facts.flatMap((fact) =>
      fact.type === 'attempt.started' || fact.type === 'attempt.ended'
        ? [`${fact.type.slice(8)} ${fact.iteration}`]
        : [],
    ),
  );
  expect(order.indexOf('started 3')).toBeGreaterThan(order.indexOf('ended 2'));
  expect(Object.values(statuses(world))).toEqual(['done', 'done', 'done']);
  leave(world);
});
