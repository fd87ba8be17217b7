/** Tasks that are cut anew: too big for the time there is, or made another task by guidance. */
import { describe, expect, test } from 'vitest';
import type { Policy } from '../../src/core/index.ts';
import { holdReason } from '../../src/core/work.ts';
import { crew, QUICK, result, taskText } from './crew.ts';
import {
  DONE,
  facts,
  leave,
  makeWorld,
  type Play,
  policy,
  run,
  send,
  statuses,
  type World,
} from './world.ts';

const modes = (world: World) =>
  facts(world, 'attempt.started').map(
    ({ item }) => `${item.mode}${item.subject === 'session' ? '' : ` ${item.subject}`}`,
  );
const reasons = (world: World) =>
  facts(world, 'verdict.reached').map(({ value, reason }) => `${value}: ${reason}`);

/** `task-1` runs out of time, whatever it is given; everybody else does the job. */
const tooBig =
  (...ids: string[]): Play =>
  ({ task }) =>
    ids.includes(task)
      ? { write: { [`${task}.txt`]: 'half' }, timeOut: true }
      : { write: { [`${task}.txt`]: `made ${task}` }, say: DONE };

const time = (over: Partial<Policy['timeout']>) => ({ timeout: { ...policy().timeout, ...over } });
/** Every attempt has the most time there is. */
const AT_MOST = { ...QUICK, ...time({ maxS: 60 }) };

describe('a task that is too big', () => {
  test('is cut into smaller ones, and what waited for it waits for all of them', async () => {
    const world = makeWorld({ play: crew({ implement: tooBig('task-1') }) });
    await run(world, AT_MOST);
    expect(modes(world).slice(2)).toEqual([
      'implement task-1',
      'implement task-2',
      'TASK_REVIEW task-2',
      'SPLIT_TASK task-1',
      'implement task-1a',
      'TASK_REVIEW task-1a',
      'implement task-1b',
      'TASK_REVIEW task-1b',
      'implement task-3',
      'TASK_REVIEW task-3',
      'SESSION_REVIEW',
      'STAGE',
    ]);
    expect(statuses(world)).toMatchObject({ 'task-1': 'cancelled', 'task-1a': 'done', 'task-3': 'done' });
    const { replacedBy, reason } = world.house.state.tasks.get('task-1')!;
    expect(replacedBy).toEqual(['task-1a', 'task-1b']);
    expect(reason).toBe('replaced_by: task-1a, task-1b; it ran out of the most time it could have, 60 s');
    send(world, { type: 'APPROVE' });
    expect((await run(world, AT_MOST)).exit).toMatchObject({ code: 0, reason: '4 done, 1 cancelled' });
    leave(world);
  });

  test('leaves its work to the first of them, which lands it', async () => {
    const world = makeWorld({ play: crew({ implement: tooBig('task-1') }) });
    await run(world, AT_MOST);
    const [landed] = facts(world, 'commit.landed').filter(({ task }) => task === 'task-1a');
    expect(landed?.paths.sort()).toEqual(['task-1.txt', 'task-1a.txt']);
    expect(world.outside.files['task-1.txt']).toBe('half');
    leave(world);
  });

  test('is not cut while an attempt with more time is left to it', async () => {
    const world = makeWorld({ play: crew({ implement: tooBig('task-1') }) });
    await run(world, { ...QUICK, ...time({ baseS: 60, maxS: 100 }) });
    const tries = facts(world, 'attempt.started').filter(({ item }) => item.subject === 'task-1');
    expect(tries.map(({ item, allowance }) => `${item.mode} ${allowance.wallMs / 1000}`)).toEqual([
      'implement 60',
      'implement 90',
      'implement 100',
      'SPLIT_TASK 60',
    ]);
    leave(world);
  });

  test('that died is never cut', async () => {
    const world = makeWorld({
      play: crew({
        implement: ({ task }) => (task === 'task-1' ? { die: true } : { write: { [task]: 'x' }, say: DONE }),
      }),
    });
    await run(world, AT_MOST);
    expect(modes(world)).not.toContain('SPLIT_TASK task-1');
    leave(world);
  });

  test('is cut twice at most; then its attempts are used up as anybody’s', async () => {
    const world = makeWorld({ play: crew({ implement: tooBig('task-1', 'task-1a', 'task-1aa') }) });
    await run(world, { ...AT_MOST, limits: { ...QUICK.limits, maxStuck: 0 } });
    expect(modes(world).filter((mode) => mode.startsWith('SPLIT'))).toEqual([
      'SPLIT_TASK task-1',
      'SPLIT_TASK task-1a',
    ]);
    expect(statuses(world)).toMatchObject({
      'task-1aa': 'failed',
      'task-1ab': 'failed',
      'task-1b': 'failed',
      'task-3': 'failed',
    });
    expect(world.house.state.tasks.get('task-1aa')).toMatchObject({
      reason: '3 attempts were rejected',
      depth: 2,
    });
    leave(world);
  });

  test('goes back to the planner with the exact errors, twice, and then its attempts are used up', async () => {
    const wrong: Record<string, string>[] = [
      {},
      { 'tasks/task-1a.md': taskText('task-1a', ['task-1']), 'tasks/task-1b.md': taskText('task-1b') },
      { 'tasks/task-1a.md': taskText('task-1a'), 'tasks/TASK-2.md': taskText('TASK-2') },
    ];
    let calls = 0;
    const world = makeWorld({
      play: crew({
        implement: tooBig('task-1'),
        SPLIT_TASK: () => ({ session: wrong[calls++]!, say: DONE }),
      }),
    });
    await run(world, AT_MOST);
    expect(reasons(world).filter((reason) => /new tasks|whose place|already/.test(reason))).toEqual([
      'rejected: task-1 needs at least two new tasks in its place, and none is there; write tasks/task-1a.md, tasks/task-1b.md',
      'rejected: task-1a depends on task-1, whose place it takes; name what task-1 depends on, or another new task',
      'rejected: tasks/TASK-2.md: "task-2" is a task already, as case does not count; give it another name',
    ]);
    expect(world.prompts.at(-1)).not.toContain('task-1 needs at least two');
    expect(world.house.state.tasks.get('task-1')).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('the planner could not put others in its place'),
      charged: 1,
    });
    leave(world);
  });

  test('is no planner’s where the list is a person’s own', async () => {
    const world = makeWorld({
      tasks: [{ id: 'task-1' }],
      play: crew({ implement: tooBig('task-1'), STAGE: () => ({ say: DONE }) }),
    });
    await run(world, { ...AT_MOST, limits: { ...QUICK.limits, maxStuck: 0 } });
    expect(modes(world)).not.toContain('SPLIT_TASK task-1');
    expect(statuses(world)).toEqual({ 'task-1': 'failed' });
    leave(world);
  });

  test('keeps its file and those of others, whatever the planner makes of them', async () => {
    const world = makeWorld({
      play: crew({
        implement: tooBig('task-1'),
        SPLIT_TASK: () => ({
          session: {
            'tasks/task-1.md': 'smaller',
            'tasks/task-1a.md': taskText('task-1a'),
            'tasks/task-1b.md': taskText('task-1b'),
          },
          say: DONE,
        }),
      }),
    });
    await run(world, AT_MOST);
    expect(world.outside.session['iterations/1/tasks/task-1.md']).toBe(taskText('task-1'));
    expect(statuses(world)).toMatchObject({ 'task-1': 'cancelled', 'task-1b': 'done' });
    leave(world);
  });
});

describe('a change of scope', () => {
  const CHANGED = { status: 'blocked', blockers: ['STEER scope change: Postgres, not SQLite'] };
  const steered: Play = ({ task }) =>
    task === 'task-1' ? result(CHANGED) : { write: { [`${task}.txt`]: 'x' }, say: DONE };

  test('makes the planner put another task in its place, uncharged, and nobody is asked', async () => {
    const world = makeWorld({
      play: crew({
        implement: steered,
        SPLIT_TASK: () => ({ session: { 'tasks/task-1a.md': taskText('task-1a') }, say: DONE }),
      }),
    });
    const { exit } = await run(world, QUICK);
    expect(exit.code).toBe(8);
    expect(facts(world, 'question.asked').map(({ question }) => question.kind)).toEqual(['approval']);
    expect(facts(world, 'task.charged')).toEqual([]);
    expect(statuses(world)).toEqual({
      'task-1': 'cancelled',
      'task-2': 'done',
      'task-3': 'done',
      'task-1a': 'done',
    });
    expect(world.house.state.tasks.get('task-1')?.reason).toBe(
      'replaced_by: task-1a; STEER scope change: Postgres, not SQLite',
    );
    const prompt = world.prompts.find((text) => text.includes('mode: SPLIT_TASK'));
    expect(prompt).toContain('Postgres, not SQLite');
    expect(prompt).toContain('Guidance made another task');
    leave(world);
  });

  test('is a question about that task where no planner is hired', async () => {
    const hired = QUICK.modes!.filter((mode) => mode !== 'SPLIT_TASK');
    const world = makeWorld({ play: crew({ implement: steered }) });
    const { exit } = await run(world, { ...QUICK, modes: hired });
    expect(exit.code).toBe(2);
    expect(facts(world, 'question.asked')[0]?.question).toMatchObject({
      about: 'task-1',
      hold: 'task',
      text: 'STEER scope change: Postgres, not SQLite',
    });
    expect(facts(world, 'task.charged')).toEqual([]);
    leave(world);
  });

  test('is a question where the planner cannot do it, and the task goes on once it is answered', async () => {
    let answered = false;
    const world = makeWorld({
      play: crew({
        implement: (seen, here) =>
          answered ? { write: { [seen.task]: 'x' }, say: DONE } : steered(seen, here),
        SPLIT_TASK: () => ({ say: DONE }),
      }),
    });
    const { exit } = await run(world, QUICK);
    expect([exit.code, exit.reason]).toEqual([2, expect.stringContaining('Postgres, not SQLite')]);
    answered = true;
    send(world, { type: 'ANSWER', question: 'q1', text: 'stay with SQLite' });
    await run(world, QUICK);
    expect(statuses(world)).toEqual({ 'task-1': 'done', 'task-2': 'done', 'task-3': 'done' });
    leave(world);
  });
});

test('a deadlock names what holds each task, also behind tasks that took the place of another', async () => {
  const world = makeWorld({
    play: crew({
      implement: tooBig('task-1'),
      SPLIT_TASK: () => ({
        session: { 'tasks/task-1a.md': taskText('task-1a'), 'tasks/task-1b.md': taskText('task-1b') },
        say: DONE,
      }),
    }),
    commitFails: (task) => (task === 'task-1b' ? 'hook says no' : null),
  });
  const { exit } = await run(world, AT_MOST);
  expect([exit.code, exit.reason]).toEqual([8, 'not landed: task-1b (hook says no)']);
  const { state } = world.house;
  expect(holdReason(state, state.tasks.get('task-3')!)).toBe(
    'task-3 waits for task-1b (in the place of task-1)',
  );
  leave(world);
});
