import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Fact } from './event.ts';
import type { State } from './state.ts';
import {
  asked,
  begun,
  ended,
  given,
  itemOn,
  judged,
  listed,
  moved,
  NOON,
  PAIR_MODES,
  policyOf,
  started,
  taskOf,
  tried,
  waved,
  waveEnded,
} from './test-facts.ts';

const next = (state: State, live: number[] = []) => decide(state, { now: NOON, live: new Set(live) });
const one = [started(), listed(taskOf('t1'), taskOf('t2', { order: 1 }))];
const open = [...one, waved(1, itemOn('t1')), begun(1, itemOn('t1'))];
const abort: Fact = { type: 'abort.asked', by: 'anna', text: 'wrong way' };
const pause: Fact = { type: 'session.paused', at: NOON, text: 'lunch', by: 'anna' };
const halt: Fact = { type: 'stop.asked', by: 'anna' };
const due = asked('q1', { deadline: NOON - 1 });

describe('the order of decide: each rank against its neighbour', () => {
  test('an attempt nobody holds is recovered, even before an abort', () => {
    expect(next(given(...open, abort))).toEqual({ do: 'recover', iterations: [1] });
  });
  test('an attempt this runner holds is not recovered', () => {
    expect(next(given(...open), [1]).do).not.toBe('recover');
  });
  test('an abort comes before judging', () => {
    expect(next(given(...open, ended(1), abort)).do).toBe('abort');
  });
  test('a done abort stops with 9', () => {
    const state = given(...open, ended(1), abort, { type: 'abort.done', tasks: ['t1'] });
    expect(next(state)).toMatchObject({ do: 'stop', code: 9, reason: 'wrong way' });
  });
  test('feedback opens an aborted session again', () => {
    const state = given(
      ...one,
      abort,
      { type: 'abort.done', tasks: [] },
      {
        type: 'feedback.received',
        id: 'f',
        text: 'again',
      },
    );
    expect(next(state)).toMatchObject({
      do: 'record',
      facts: [{ type: 'phase.entered', phase: 'REPLANNING' }],
    });
  });
  test('judging comes before landing', () => {
    expect(next(given(...open, ended(1), moved('t2', 'done')))).toEqual({ do: 'judge', iteration: 1 });
  });
  test('a pause keeps an ended attempt for later', () => {
    expect(next(given(...open, ended(1), pause))).toMatchObject({ do: 'stop', code: 7 });
  });
  test('landing comes before closing the wave', () => {
    const state = given(
      ...open,
      ended(1),
      judged(1, itemOn('t1'), { value: 'accepted' }),
      moved('t1', 'done'),
    );
    expect(next(state)).toEqual({ do: 'land', task: 't1' });
  });
  test('landing goes on in a pause', () => {
    expect(next(given(...one, moved('t1', 'done'), pause))).toEqual({ do: 'land', task: 't1' });
  });
  test('a failed landing is not tried again in the same run', () => {
    const failed: Fact = { type: 'landing.failed', task: 't1', reason: 'hook' };
    expect(next(given(...one, moved('t1', 'done'), failed)).do).toBe('open');
    expect(next(given(...one, moved('t1', 'done'), failed, started()))).toEqual({ do: 'land', task: 't1' });
  });
  test('an open wave comes before a deadline', () => {
    expect(next(given(...one, waved(1, itemOn('t2')), due))).toEqual({ do: 'run', iterations: [1] });
  });
  test('an open wave stays open in a pause', () => {
    expect(next(given(...one, waved(1, itemOn('t1')), pause))).toMatchObject({ do: 'stop', code: 7 });
  });
  test('an open wave is given back when a stop is asked', () => {
    expect(next(given(...one, waved(1, itemOn('t1')), halt))).toEqual({ do: 'close' });
  });
  test('an open wave is given back when a guard says no', () => {
    const held = asked('q1', { hold: 'session', about: 'session' });
    expect(next(given(...one, waved(1, itemOn('t1')), held))).toEqual({ do: 'close' });
  });
  test('an open wave is given back when its task was taken away', () => {
    expect(next(given(...one, waved(1, itemOn('t1')), moved('t1', 'cancelled', 'person')))).toEqual({
      do: 'close',
    });
  });
  test('a wave whose items are all settled is closed', () => {
    expect(next(given(...open, ended(1), judged(1, itemOn('t1'))))).toEqual({ do: 'close' });
  });
  test('a deadline comes before a stop', () => {
    expect(next(given(...one, due, halt))).toEqual({ do: 'expire', question: 'q1' });
  });
  describe('a question that channels were to show', () => {
    const channels = ['telegram', 'webhook'];
    const waits = started({ wait: true, questions: { ...policyOf().questions, channels } });
    const question = asked('q1', { deadline: NOON + 60_000, interact: true });
    const failed = (channel: string): Fact => ({ type: 'question.shown', id: 'q1', channel, reached: false });
    const reached = (channel: string): Fact => ({ type: 'question.shown', id: 'q1', channel, reached: true });
    const first = [waits, listed(taskOf('t1')), question];
    test('is not waited for once all of them gave up', () => {
      const state = given(...first, failed('telegram'), failed('webhook'));
      expect(next(state)).toEqual({ do: 'expire', question: 'q1' });
    });
    test('is waited for while one of them tries', () => {
      expect(next(given(...first, failed('telegram'))).do).toBe('wait');
    });
    test('is waited for where one of them reached somebody, also if its repeat fails', () => {
      const state = given(...first, reached('telegram'), failed('webhook'), failed('telegram'));
      expect(next(state).do).toBe('wait');
    });
    test('that a person at the desk must answer is waited for', () => {
      const blocker = asked('q1', { kind: 'blocker', deadline: null });
      const state = given(waits, listed(taskOf('t1')), blocker, failed('telegram'), failed('webhook'));
      expect(next(state).do).toBe('wait');
    });
  });
  test('a deadline does not pass in a pause', () => {
    expect(next(given(...one, due, pause))).toMatchObject({ do: 'stop', code: 7, reason: 'lunch' });
  });
  test.each([
    ['without a word', undefined, 'stopped by a person; `ralph run` goes on'],
    ['with a reason', 'enough for tonight', 'stopped by a person: enough for tonight; `ralph run` goes on'],
  ])('a stop %s stops, and says so', (_, text, reason) => {
    const asks: Fact = { type: 'stop.asked', by: 'anna', ...(text === undefined ? {} : { text }) };
    expect(next(given(...one, asks))).toMatchObject({ do: 'stop', code: 7, reason });
  });
  test('a stop comes before a pause', () => {
    expect(next(given(started({ wait: true }), listed(taskOf('t1')), pause, halt))).toMatchObject({
      do: 'stop',
      code: 7,
      reason: expect.stringMatching(/stopped by a person/),
    });
  });
  test('a pause comes before work: it waits where the run waits for people', () => {
    expect(next(given(started({ wait: true }), listed(taskOf('t1')), pause))).toEqual({
      do: 'wait',
      until: null,
      for: 'resume',
    });
  });
  test('else there is work', () => {
    expect(next(given(...one))).toEqual({
      do: 'open',
      wave: 1,
      items: [{ iteration: 1, item: itemOn('t1') }],
    });
  });
});

describe('the ground holds one task at a time', () => {
  const rejected = [...one, ...tried(1, 't1')];
  test('turning to another task sets the work of the first aside', () => {
    expect(next(given(...rejected, waved(2, itemOn('t2'))))).toEqual({ do: 'set_aside', task: 't1' });
  });
  test('turning back takes it up', () => {
    const aside: Fact = { type: 'leftovers.set_aside', task: 't1', tree: 't', changes: [] };
    expect(next(given(...rejected, aside, waved(2, itemOn('t1'))))).toEqual({ do: 'take_up', task: 't1' });
  });
  test('a done task whose work lies aside is taken up before it lands', () => {
    const aside: Fact = { type: 'leftovers.set_aside', task: 't1', tree: 't', changes: [] };
    expect(next(given(...rejected, aside, moved('t1', 'done')))).toEqual({ do: 'take_up', task: 't1' });
  });
});

describe('guards stand in front of starting an agent, in this order', () => {
  const hold = asked('q1', { hold: 'session', about: 'session' });
  const dead = (count: number) =>
    Array.from({ length: count }, (_, i) => tried(i + 1, 't1', { value: 'died', reason: 'crash' })).flat();
  const retries = (limits: object = {}) => [
    started({ limits: { retryDelaysS: [0, 30, 60, 60], maxIterations: 9, ...limits } }),
    listed(taskOf('t1'), taskOf('t2', { order: 1 })),
  ];
  test('a question that holds the session comes before a row of deaths', () => {
    expect(next(given(...retries(), ...dead(5), hold))).toMatchObject({ do: 'stop', code: 3 });
  });
  test('a row of 1 + max_subagent_retries deaths is an agent failure', () => {
    expect(next(given(...retries(), ...dead(5)))).toMatchObject({ do: 'stop', code: 6 });
    expect(next(given(...retries(), ...dead(4)))).toMatchObject({ do: 'wait', for: 'backoff' });
  });
  test.each([
    [1, 0],
    [2, 30],
    [3, 60],
    [4, 60],
  ])('after %i dead waves nothing starts for %i s', (count, seconds) => {
    const state = given(...retries(), ...dead(count));
    expect(state.deadUntil).toBe(NOON + seconds * 1000);
  });
  test('a row of deaths comes before being stuck', () => {
    const waves = [1, 2, 3].map((wave) => waveEnded(wave));
    expect(next(given(...retries(), ...waves, ...dead(5)))).toMatchObject({ code: 6 });
  });
  test('being stuck comes before a limit', () => {
    const stuck = [...tried(1, 't1'), ...tried(2, 't1'), ...tried(3, 't2')];
    expect(next(given(...retries({ maxIterations: 3 }), ...stuck))).toMatchObject({ do: 'stop', code: 4 });
    expect(next(given(...retries({ maxIterations: 3, maxStuck: 0 }), ...stuck))).toMatchObject({ code: 1 });
  });
  test('a limit comes before a parked provider', () => {
    const parked: Fact = { type: 'provider.parked', agent: 'played', until: NOON + 9_000, reason: '5h' };
    const limits = { maxIterations: 1 };
    expect(next(given(...retries(limits), ...tried(1, 't1'), parked))).toMatchObject({ code: 1 });
    expect(next(given(...retries(), ...tried(1, 't1'), parked))).toEqual({
      do: 'wait',
      until: NOON + 9_000,
      for: 'provider',
    });
  });
  test('a parked provider is not waited for with --no-wait', () => {
    const parked: Fact = { type: 'provider.parked', agent: 'played', until: NOON + 9_000, reason: '5h' };
    expect(next(given(started({ park: false }), listed(taskOf('t1')), parked))).toMatchObject({ code: 6 });
  });
  test('an agent that cannot work until a person acts is an agent failure at once', () => {
    const down = { kind: 'auth', message: 'log in' };
    expect(next(given(...retries(), ...tried(1, 't1', { value: 'died', down })))).toMatchObject({ code: 6 });
  });
  test('finishing needs no guard: a list done on the last iteration is complete', () => {
    const landed: Fact = { type: 'commit.landed', task: 't1', commit: 'c', paths: [], by: 'engine' };
    const all = [started({ limits: { maxIterations: 1 } }), listed(taskOf('t1')), ...tried(1, 't1')];
    const state = given(...all, moved('t1', 'done'), landed, { type: 'phase.entered', phase: 'COMPLETE' });
    expect(next(state)).toMatchObject({ do: 'stop', code: 0 });
  });
});

describe('BATCHING says why nothing goes on', () => {
  test('no task at all is a problem, never done', () => {
    expect(next(given(started(), { type: 'phase.entered', phase: 'BATCHING' }))).toMatchObject({ code: 5 });
    expect(next(given(started(), { type: 'phase.entered', phase: 'COMPLETE' }))).toMatchObject({ code: 5 });
  });
  test.each([
    ['blocker', 2],
    ['decision', 3],
    ['clarification', 3],
    ['credential', 3],
    ['permission', 3],
    ['approval', 8],
  ] as const)('only a %s left stops with %i', (kind, code) => {
    expect(next(given(started(), listed(taskOf('t1')), asked('q1', { kind })))).toMatchObject({ code });
  });
  test('of several open questions the blocker names the exit', () => {
    const state = given(
      started(),
      listed(taskOf('t1'), taskOf('t2')),
      asked('q1', { kind: 'approval' }),
      asked('q2', { kind: 'decision' }),
      asked('q3', { kind: 'blocker', about: 't2' }),
    );
    expect(next(state)).toMatchObject({ code: 2, reason: expect.stringMatching(/^q3 .*2 more/) });
  });
  test('with people to wait for, it waits until the first deadline', () => {
    const state = given(started({ wait: true }), listed(taskOf('t1')), asked('q1', { deadline: NOON + 5 }));
    expect(next(state)).toEqual({ do: 'wait', until: NOON + 5, for: 'answer' });
  });
  test('tasks that wait for one another are a deadlock that names them', () => {
    const state = given(
      started(),
      listed(taskOf('a', { dependsOn: ['b'] }), taskOf('b', { dependsOn: ['a'] })),
    );
    expect(next(state)).toMatchObject({
      code: 4,
      reason: expect.stringMatching(/a waits for b; b waits for a/),
    });
  });
  test('a dependency that failed fails its dependents at once, uncharged', () => {
    const state = given(
      started(),
      listed(taskOf('a'), taskOf('b', { dependsOn: ['a'] })),
      moved('a', 'failed', 'engine', 'gone'),
    );
    expect(next(state)).toEqual({
      do: 'record',
      facts: [moved('b', 'failed', 'engine', 'dependency failed: a')],
    });
  });
  test('an unlanded dependency is waited for', () => {
    const state = given(
      started(),
      listed(taskOf('a'), taskOf('b', { dependsOn: ['a'] })),
      moved('a', 'done'),
      { type: 'landing.failed', task: 'a', reason: 'hook says no' },
    );
    expect(next(state)).toMatchObject({
      code: 8,
      reason: expect.stringMatching(/not landed: a \(hook says no\)/),
    });
  });
  test('being stuck is said before a task becomes a question', () => {
    const three = [...tried(1, 't1'), ...tried(2, 't1'), ...tried(3, 't1')];
    expect(next(given(started(), listed(taskOf('t1')), ...three))).toMatchObject({ do: 'stop', code: 4 });
    const patient = started({ limits: { maxStuck: 0 } });
    const step = next(given(patient, listed(taskOf('t1')), ...three));
    expect(step).toMatchObject({ do: 'record', facts: [{ type: 'question.asked' }] });
  });
  test('out of attempts with on_exhausted fail, the task fails for the cycle', () => {
    const policy = started({ limits: { maxStuck: 0, onExhausted: 'fail' } });
    const three = [...tried(1, 't1'), ...tried(2, 't1'), ...tried(3, 't1')];
    expect(next(given(policy, listed(taskOf('t1')), ...three))).toMatchObject({
      facts: [{ type: 'task.moved', task: 't1', to: 'failed' }],
    });
  });
  test('the back-off of an item is waited for when nothing else is ready', () => {
    const policy = started({ limits: { retryDelaysS: [40] } });
    expect(next(given(policy, listed(taskOf('t1')), ...tried(1, 't1', { value: 'died' })))).toEqual({
      do: 'wait',
      until: NOON + 40_000,
      for: 'backoff',
    });
  });
});

describe('the pick', () => {
  const pick = (...facts: Fact[]) => {
    const step = next(given(...facts));
    return step.do === 'open' ? step.items.map(({ item }) => `${item.mode} ${item.task}`) : step;
  };
  test('fewest fruitless tries first', () => {
    expect(pick(...one, ...tried(1, 't1'))).toEqual(['implement t2']);
  });
  test('among equals: rework, then reviews, then new work', () => {
    const list = listed(taskOf('new'), taskOf('review', { order: 1 }), taskOf('fix', { order: 2 }));
    const failed: Fact = {
      type: 'review.recorded',
      task: 'fix',
      iteration: 1,
      verdict: 'Failed',
      feedback: 'x',
      count: 1,
    };
    const pair = [started(PAIR_MODES), list, moved('review', 'review')];
    expect(pick(...pair, failed)).toEqual(['review-fix fix']);
    expect(pick(...pair)).toEqual(['TASK_REVIEW review']);
    expect(pick(started(PAIR_MODES), list)).toEqual(['implement new']);
  });
  test('then priority, then the order of the list, then natural order', () => {
    const by = (...tasks: Parameters<typeof listed>) => pick(started(), listed(...tasks));
    expect(by(taskOf('a', { priority: 2 }), taskOf('b', { priority: 1, order: 1 }))).toEqual(['implement b']);
    expect(by(taskOf('b', { order: 1 }), taskOf('c', { order: 0 }))).toEqual(['implement c']);
    expect(by(taskOf('task-10'), taskOf('task-2'))).toEqual(['implement task-2']);
  });
  test('a wave holds items of one kind, none sharing a file, no wider than allowed', () => {
    const wide = started({ parallel: { executors: 3, reviewers: 3, questioners: 3 } });
    const list = listed(
      taskOf('a', { files: ['x.ts'] }),
      taskOf('b', { order: 1, files: ['x.ts'] }),
      taskOf('c', { order: 2 }),
      taskOf('d', { order: 3, sequential: true }),
      taskOf('e', { order: 4 }),
      taskOf('f', { order: 5 }),
    );
    expect(pick(wide, list)).toEqual(['implement a', 'implement c', 'implement e']);
  });
  test('a wave is no wider than the iterations that are left', () => {
    const wide = started({
      parallel: { executors: 3, reviewers: 3, questioners: 3 },
      limits: { maxIterations: 2 },
    });
    expect(
      pick(wide, listed(taskOf('a'), taskOf('b', { order: 1 }), taskOf('c', { order: 2 }))),
    ).toHaveLength(2);
  });
  test('a parked provider limit is no fruitless try', () => {
    const state = given(...one, ...tried(1, 't1', { value: 'died', parks: true }));
    expect(state.tasks.get('t1')!.fruitless).toBe(0);
  });
});
