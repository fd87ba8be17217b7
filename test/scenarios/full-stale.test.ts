/** Marks "in progress" that somebody else set, and behind which nobody is at work any more. */
import { expect, test } from 'vitest';
import { crew, QUICK, result } from './crew.ts';
import { DONE, facts, leave, makeWorld, type Play, run, statuses, type World } from './world.ts';

const HOUR = 3_600_000;
const REPORT = 'iterations/1/reports/task-2-report.md';
const halfway = { ...QUICK, limits: { ...QUICK.limits, maxIterations: 4 } };

/** Stops after the first task; then task-2 is marked as in progress since so long. */
async function marked(hours: number | null, play: Play = crew()): Promise<World> {
  const world = makeWorld({ play });
  expect((await run(world, halfway)).exit.code).toBe(1);
  world.outside.now += 10 * HOUR;
  const { now } = world.outside;
  const since = hours === null ? null : now - hours * HOUR;
  const edit = { id: 'task-2', sign: '[/]', to: 'doing' as const, isStep: false, since };
  world.outside.progress = {
    path: 'iterations/1/progress.md',
    at: now,
    text: '',
    words: false,
    edits: [edit],
  };
  return world;
}

const modes = (world: World) =>
  facts(world, 'attempt.started').map(({ item }) => `${item.mode} ${item.subject}`);
const told = (world: World) => facts(world, 'notice.given').map(({ text }) => text);

test('older than task_wip_minutes: the task fails, told, and the reviewer reports how far it came', async () => {
  const late = { status: 'completed', verdict: 'Failed', feedback: 'begin with the parser' };
  const world = await marked(3, crew({ TIMEOUT_FAIL: () => result(late) }));
  await run(world, QUICK);
  expect(modes(world)[4]).toBe('TIMEOUT_FAIL task-2');
  expect(modes(world).filter((mode) => mode.endsWith('task-2'))).toEqual(['TIMEOUT_FAIL task-2']);
  expect(statuses(world)).toMatchObject({ 'task-1': 'done', 'task-2': 'failed', 'task-3': 'failed' });
  expect(world.house.state.tasks.get('task-2')?.reason).toMatch(
    /^in progress since 2026-01-02T05:.*longer than 120 minutes \(limits.task_wip_minutes\), and nothing works on it$/,
  );
  expect(told(world).join()).toContain('`ralph tasks reopen task-2` takes it up again');
  expect(world.outside.session[REPORT]).toContain('PART 2 Failed begin with the parser');
  leave(world);
});

test('where no reviewer is hired for that, or none can, the report is written all the same', async () => {
  const silent = await marked(3, crew({ TIMEOUT_FAIL: () => ({ say: DONE }) }));
  await run(silent, { ...QUICK, limits: { ...QUICK.limits, maxStuck: 0 } });
  expect(modes(silent).filter((mode) => mode.startsWith('TIMEOUT_FAIL'))).toHaveLength(3);
  expect(silent.outside.session[REPORT]).toContain('Nobody reported on this task');
  leave(silent);

  const hired = QUICK.modes!.filter((mode) => mode !== 'TIMEOUT_FAIL');
  const world = await marked(3);
  await run(world, { ...QUICK, modes: hired });
  expect(modes(world).some((mode) => mode.startsWith('TIMEOUT_FAIL'))).toBe(false);
  expect(world.outside.session[REPORT]).toContain('PART 2 Failed');
  leave(world);
});

test.each([1, null])(
  'younger (%s hours), or of unknown age: it goes back to what it was and is worked on',
  async (age) => {
    const world = await marked(age);
    await run(world, QUICK);
    expect(statuses(world)).toEqual({ 'task-1': 'done', 'task-2': 'done', 'task-3': 'done' });
    expect(told(world).join()).toContain('task-2 is todo and cannot be marked [/] by hand');
    leave(world);
  },
);

test('the age that counts is the one that was configured', async () => {
  const world = await marked(1);
  await run(world, { ...halfway, limits: { ...QUICK.limits, taskWipMinutes: 30 } });
  expect(statuses(world)['task-2']).toBe('failed');
  leave(world);
});
