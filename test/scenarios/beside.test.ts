/** Agents side by side: each in a work tree of its own, brought home and landed one after another. */
import { afterEach, expect, test, vi } from 'vitest';
import { crew, QUICK } from './crew.ts';
import { QUALIFIED, reported } from './full-crew.ts';
import { checkResumed, snapshotOf } from './prefix.ts';
import {
  crashedAfter,
  DONE,
  facts,
  leave,
  makeWorld,
  PAIR,
  type Play,
  run,
  type Seen,
  send,
  type World,
  type WorldOptions,
} from './world.ts';

vi.setConfig({ testTimeout: 120_000 });

const THREE = { parallel: { executors: 3, reviewers: 3, questioners: 3 } };
const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) leave(world);
});

function side(options: WorldOptions): World {
  const world = makeWorld(options);
  worlds.push(world);
  return world;
}

const own: Play = ({ task }) => ({ write: { [`${task}.txt`]: task }, say: DONE });
const tasks = ['t1', 't2', 't3'].map((id) => ({ id }));
const statuses = ({ house }: World) =>
  [...house.state.tasks.values()].map(({ def, status, landed }) => `${def.id} ${status} ${landed}`);
const ALL_LANDED = ['t1', 't2', 't3'].map((id) => `${id} done landed`);
/** What the commit of a task changed. */
const committed = ({ outside }: World, id: string) => {
  const found = outside.commits.filter(({ message }) => message.includes(`Ralph-Task: ${id}`));
  return found.map(({ files, parent }) => {
    const before = outside.commits.find((commit) => commit.id === parent)?.files ?? {};
    return Object.keys(files).filter((path) => files[path] !== before[path]);
  });
};

test('given three ready tasks, each runs in a tree of its own and each lands as one commit of its files', async () => {
  const seen: Seen[] = [];
  const world = side({
    tasks,
    play: (call, at) => {
      seen.push({ ...call, files: { ...call.files } });
      return own(call, at);
    },
  });
  expect((await run(world, THREE)).exit.code).toBe(0);
  expect(facts(world, 'wave.started').map(({ items }) => items.length)).toEqual([3]);
  expect(seen.map(({ files }) => Object.keys(files))).toEqual([['README.md'], ['README.md'], ['README.md']]);
  expect(statuses(world)).toEqual(ALL_LANDED);
  for (const id of ['t1', 't2', 't3']) expect(committed(world, id)).toEqual([[`${id}.txt`]]);
});

test('given two that changed one file, the second is open again uncharged, its text kept and named', async () => {
  const prompts: string[] = [];
  const world = side({
    tasks,
    play: ({ task, prompt, files }) => {
      if (task === 't1') return { write: { 'one.txt': '1' }, say: DONE };
      prompts.push(prompt);
      return { write: { 'one.txt': `${files['one.txt'] ?? ''}${task}`, [`${task}.txt`]: task }, say: DONE };
    },
  });
  expect((await run(world, { ...THREE, limits: { maxTaskAttempts: 1 } })).exit.code).toBe(0);
  expect(statuses(world)).toEqual(ALL_LANDED);
  const verdicts = facts(world, 'verdict.reached').map(({ item, value }) => `${item.task} ${value}`);
  expect(verdicts.slice(0, 3)).toEqual(['t1 accepted', 't2 unfinished', 't3 unfinished']);
  expect(facts(world, 'task.charged')).toEqual([]);
  expect(facts(world, 'notice.given').some(({ text }) => text.includes('one.txt'))).toBe(true);
  expect(prompts.at(-1)).toContain('one.txt');
  expect(world.outside.files['one.txt']).toMatch(/^1t[23]t[23]$/);
});

test('given that two hold alone and not together, the gates say so before the second lands', async () => {
  const world = side({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: ({ task, files, attempt }) => ({
      write: { [`${task}.txt`]: files['t1.txt'] && attempt > 1 ? 'fits' : task },
      say: DONE,
    }),
    gate: (_, files) => {
      const clash = files['t1.txt'] === 't1' && files['t2.txt'] === 't2';
      return clash ? { code: 1, output: 'clash', failures: ['clash'] } : { code: 0, output: '1 passed' };
    },
  });
  const gates = [
    {
      name: 'test',
      run: 'npm test',
      timeoutS: 60,
      required: true,
      minTests: 0,
      baseline: 'no_regression' as const,
    },
  ];
  // With reviews both are accepted before either lands.
  const review: Play = (call, at) => (call.mode === 'TASK_REVIEW' ? QUALIFIED : at.play(call, at));
  const { play } = world;
  world.play = (call, at) => (call.mode === 'TASK_REVIEW' ? review(call, at) : play(call, at));
  expect((await run(world, { ...THREE, ...PAIR, gates })).exit.code).toBe(0);
  const moved = facts(world, 'task.moved').filter(({ to }) => to === 'todo');
  expect(moved.map(({ task, reason }) => `${task}: ${reason}`)).toEqual([
    expect.stringMatching(/^t[12]: it was accepted, but together with what landed since: .*clash/),
  ]);
  expect(statuses(world)).toEqual(['t1 done landed', 't2 done landed']);
});

test('given a pause, all of them stop, their work is kept and goes on where it was', async () => {
  const world = side({
    tasks,
    play: ({ task, attempt }) =>
      attempt === 1
        ? {
            write: { [`${task}.txt`]: 'half' },
            waitForStop: true,
            during: (at) => (task === 't3' ? send(at, { type: 'PAUSE' }) : undefined),
          }
        : { write: { [`${task}.more`]: task }, say: DONE },
  });
  expect((await run(world, THREE)).exit.code).toBe(7);
  expect(statuses(world)).toEqual(['t1 todo no', 't2 todo no', 't3 todo no']);
  send(world, { type: 'RESUME' });
  expect((await run(world, THREE)).exit.code).toBe(0);
  expect(statuses(world)).toEqual(ALL_LANDED);
  for (const id of ['t1', 't2', 't3']) expect(committed(world, id)).toEqual([[`${id}.txt`, `${id}.more`]]);
});

test('given a work tree that somebody removed while the runner was gone, the attempt is lost and runs again', async () => {
  const world = side({ tasks, play: own });
  await run(world, THREE);
  const begun = facts(world, 'attempt.spawned').length;
  expect(begun).toBe(3);
  const seq = world.records.findIndex(({ facts: [fact] }) => fact?.type === 'attempt.spawned') + 1;
  const copy = crashedAfter(world, seq);
  worlds.push(copy);
  copy.outside.beside = {};
  expect((await run(copy, THREE)).exit.code).toBe(0);
  expect(facts(copy, 'attempt.lost')[0]?.reason).toContain('work tree');
  expect(statuses(copy)).toEqual(ALL_LANDED);
});

/** Three build one file each, and the last two also the same one; all are reviewed. */
const clashing: Play = ({ task, mode, files }) => {
  if (mode === 'TASK_REVIEW') return QUALIFIED;
  const shared = files['shared.txt'] ?? '';
  const more = task === 't1' || shared.includes(task) ? {} : { 'shared.txt': `${shared}${task}` };
  return { write: { [`${task}.txt`]: task, ...more }, say: DONE };
};

test('every prefix of a session side by side resumes, with nothing lost or doubled', async () => {
  const over = { ...THREE, ...PAIR };
  const world = side({ tasks, play: clashing });
  expect((await run(world, over)).exit.code).toBe(0);
  const wanted = statuses(world);
  expect(wanted).toEqual(ALL_LANDED);
  for (let seq = 2; seq < world.records.length; seq++) {
    const copy = crashedAfter(world, seq);
    const before = snapshotOf(copy.house.state);
    const { exit } = await run(copy, over);
    expect([seq, exit.code, exit.reason]).toEqual([seq, 0, expect.any(String)]);
    checkResumed(copy, [exit.code], before);
    expect([seq, statuses(copy)]).toEqual([seq, wanted]);
    for (const id of ['t1', 't2', 't3']) expect([seq, id, committed(copy, id).length]).toEqual([seq, id, 1]);
    expect([seq, copy.outside.files['shared.txt']]).toEqual([seq, expect.stringMatching(/^t[23]t[23]$/)]);
    leave(copy);
  }
});

test('given the full team, tasks of a layer are built and reviewed side by side', async () => {
  const world = side({
    play: crew({
      TASK_REVIEW: () =>
        reported({
          verdict: 'Qualified',
          criteria_results: [{ criterion: 'it works', met: true, note: 'saw it' }],
        }),
    }),
  });
  const { exit } = await run(world, { ...QUICK, ...THREE });
  expect(exit.code).toBe(8);
  const waves = facts(world, 'wave.started').map(({ items }) => items.map(({ item }) => item.mode));
  expect(waves.filter((modes) => modes.length > 1).map((modes) => modes[0])).toEqual(
    expect.arrayContaining(['implement', 'TASK_REVIEW']),
  );
});
