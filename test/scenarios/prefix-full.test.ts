/** The five-role session, killed after any record: started again it ends where it would have ended. */
import { expect, test, vi } from 'vitest';
import type { Policy } from '../../src/core/index.ts';
import { tasksOfCycle } from '../../src/core/index.ts';
import { crew, QUICK, result, taskText } from './crew.ts';
import { checkResumed, snapshotOf } from './prefix.ts';
import { crashedAfter, DONE, facts, leave, makeWorld, policy, run, send, type World } from './world.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Approves what is asked for, gives feedback once, and goes on until all is done. */
async function playOut(world: World, over: Partial<Policy> = {}): Promise<number[]> {
  const codes: number[] = [];
  for (let start = 0; start < 8; start++) {
    const { exit } = await run(world, { ...QUICK, ...over });
    codes.push(exit.code);
    const { state } = world.house;
    if (state.openQuestions.size > 0) send(world, { type: 'APPROVE', id: `approve-${state.cycle}.yaml` });
    else if (exit.code === 0 && state.cycle === 2) return codes;
    else if (exit.code === 0) world.outside.feedback = [{ id: 'feedback-1', text: 'one more' }];
  }
  return codes;
}

function ending(world: World) {
  const { outside } = world;
  const { state } = world.house;
  return {
    cycle: state.cycle,
    phase: state.phase,
    tasks: [...state.tasks.values()].map(({ def, status, landed }) => `${def.id} ${status} ${landed}`),
    // A run that was lost has its number, so the report of the next one has a higher one.
    works: [...new Set(Object.keys(outside.session).map((path) => path.replace(/-r\d+\.md$/, '.md')))].sort(),
    commits: outside.commits.filter(({ message }) => message.includes('Ralph-Task')).length,
  };
}

test('given a later cycle that uses the ids of finished tasks anew, every prefix of it resumes', async () => {
  const anew = {
    session: {
      'tasks/task-1.md': taskText('task-1', ['task-2']),
      'tasks/task-4.md': taskText('task-4', ['task-1']),
    },
    say: DONE,
  };
  const world = makeWorld({
    play: crew({
      REBREAKDOWN: () => anew,
      implement: ({ task }, { house }) => ({
        write: { [`${task}.txt`]: `cycle ${house.state.cycle}` },
        say: DONE,
      }),
    }),
  });
  expect((await playOut(world)).at(-1)).toBe(0);
  const wanted = ending(world);
  expect(wanted.tasks).toEqual(['task-1', 'task-2', 'task-3', 'task-4'].map((id) => `${id} done landed`));
  expect(wanted.commits).toBe(5);
  expect(world.house.state.replaced.map(({ def, cycle }) => `${def.id} of ${cycle}`)).toEqual([
    'task-1 of 1',
  ]);
  expect(tasksOfCycle(world.house.state).map(({ def }) => def.id)).toEqual(['task-1', 'task-4']);
  const begun = world.records.findIndex(({ facts: all }) => all.some(({ type }) => type === 'cycle.started'));
  for (let seq = begun + 1; seq < world.records.length; seq++) {
    const copy = crashedAfter(world, seq);
    const before = snapshotOf(copy.house.state);
    const codes = await playOut(copy);
    checkResumed(copy, codes, before);
    expect([seq, ending(copy)]).toEqual([seq, wanted]);
    leave(copy);
  }
  leave(world);
});

test('a finished task of an earlier cycle that a person opens again is worked off in this one', async () => {
  const world = makeWorld({
    play: crew({
      implement: ({ task }, { records }) => ({ write: { [`${task}.txt`]: `${records.length}` }, say: DONE }),
    }),
  });
  expect((await playOut(world)).at(-1)).toBe(0);
  send(world, { type: 'TASK', op: 'reopen', task: 'task-2', id: 'again.yaml' });
  for (let start = 0; start < 3 && (await run(world, QUICK)).exit.code !== 0; start++)
    send(world, { type: 'APPROVE', id: `again-${start}.yaml` });
  expect(world.outside.session['iterations/2/tasks/task-2.md']).toContain('task-2');
  expect(tasksOfCycle(world.house.state).map(({ def, status }) => `${def.id} ${status}`)).toEqual([
    'task-2 done',
    'task-4 done',
  ]);
  leave(world);
});

test.each<[string, Partial<Policy>]>([
  ['one by one', {}],
  ['side by side', { parallel: { executors: 3, reviewers: 3, questioners: 3 } }],
])('every prefix of two cycles, %s, resumes with nothing lost or doubled', async (_, over) => {
  const world = makeWorld({ play: crew() });
  expect(await playOut(world, over)).toEqual([8, 0, 8, 0]);
  const wanted = ending(world);
  expect(wanted.tasks).toEqual(['task-1', 'task-2', 'task-3', 'task-4'].map((id) => `${id} done landed`));
  for (let seq = 2; seq < world.records.length; seq++) {
    const copy = crashedAfter(world, seq);
    const before = snapshotOf(copy.house.state);
    const codes = await playOut(copy, over);
    expect([seq, codes.at(-1)]).toEqual([seq, 0]);
    checkResumed(copy, codes, before);
    expect([seq, ending(copy)]).toEqual([seq, wanted]);
    leave(copy);
  }
  expect(facts(world, 'cycle.started')).toHaveLength(1);
  leave(world);
});

test('every prefix of a session in which tasks are cut anew resumes, and no task is cut twice', async () => {
  const most = { ...QUICK, timeout: { ...policy().timeout, maxS: 60 } };
  const world = makeWorld({
    play: crew({
      implement: ({ task }) => {
        if (task === 'task-1') return { write: { 'half.txt': 'half' }, timeOut: true };
        if (task === 'task-2') return result({ status: 'blocked', blockers: ['STEER scope change: B'] });
        return { write: { [`${task}.txt`]: 'x' }, say: DONE };
      },
      SPLIT_TASK: ({ task, attempt }) => {
        // The first call is sent back.
        const ids = task === 'task-2' ? ['a'] : attempt === 1 ? [] : ['a', 'b'];
        const session = Object.fromEntries(
          ids.map((id) => [`tasks/${task}${id}.md`, taskText(`${task}${id}`)]),
        );
        return { session, say: DONE };
      },
      STAGE: () => ({ say: DONE }),
    }),
  });
  expect((await run(world, most)).exit.code).toBe(0);
  const wanted = ending(world);
  expect(wanted.tasks).toEqual([
    'task-1 cancelled landed',
    'task-2 cancelled landed',
    'task-3 done landed',
    'task-2a done landed',
    'task-1a done landed',
    'task-1b done landed',
  ]);
  for (let seq = 2; seq < world.records.length; seq++) {
    const copy = crashedAfter(world, seq);
    const before = snapshotOf(copy.house.state);
    const codes: number[] = [];
    for (let start = 0; start < 4 && codes.at(-1) !== 0; start++)
      codes.push((await run(copy, most)).exit.code);
    expect([seq, codes.at(-1)]).toEqual([seq, 0]);
    checkResumed(copy, codes, before);
    const { tasks, ...rest } = ending(copy);
    expect([seq, [...tasks].sort(), rest]).toEqual([
      seq,
      [...wanted.tasks].sort(),
      { ...rest, commits: wanted.commits, cycle: wanted.cycle, phase: wanted.phase },
    ]);
    expect(copy.outside.files['half.txt']).toBe('half');
    leave(copy);
  }
  leave(world);
});
