import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Fact } from './event.ts';
import type { State } from './state.ts';
import {
  begun,
  ended,
  given,
  itemOn,
  judged,
  listed,
  moved,
  NOON,
  PAIR_MODES,
  started,
  taskOf,
  tried,
  waved,
} from './test-facts.ts';

const next = (state: State) => decide(state, { now: NOON, live: new Set() });
const one = [started(), listed(taskOf('t1'), taskOf('t2', { order: 1 }))];

describe('accepted work that could not be put back', () => {
  const accepted = [...one, ...tried(1, 't1', { value: 'accepted' }), moved('t1', 'done')];
  const failed: Fact = { type: 'landing.failed', task: 't1', reason: 'a hook said no' };
  const aside: Fact = {
    type: 'leftovers.set_aside',
    task: 't1',
    tree: 'x',
    changes: [{ path: 'a', before: null, after: 'b' }],
  };
  const takenUp = (conflicts: string[]): Fact => ({ type: 'leftovers.taken_up', task: 't1', conflicts });

  test('given a conflict, when decide, then the task is open again and nothing lands', () => {
    const state = given(...accepted, failed, aside, started(), takenUp(['a']));
    const step = next(state);
    expect(step).toMatchObject({
      do: 'record',
      facts: [{ type: 'task.moved', task: 't1', to: 'todo', by: 'engine' }],
    });
    const facts = step.do === 'record' ? step.facts : [];
    const after = given(...accepted, failed, aside, started(), takenUp(['a']), ...facts);
    expect(after.tasks.get('t1')).toMatchObject({ charged: 0, conflicts: ['a'], sinceReview: 1 });
    expect(next(after).do).toBe('open');
  });

  test('given none, when decide, then it lands', () => {
    const state = given(...accepted, failed, aside, started(), takenUp([]));
    expect(next(state)).toEqual({ do: 'land', task: 't1' });
  });

  test('given a conflict before its review, when decide, then it is open again and its review does not start', () => {
    const review = { role: 'reviewer', mode: 'TASK_REVIEW', subject: 't1', task: 't1' } as const;
    const facts = [
      started(PAIR_MODES),
      listed(taskOf('t1')),
      ...tried(1, 't1', { value: 'accepted' }),
      moved('t1', 'review'),
      aside,
      waved(2, review),
      takenUp(['a']),
    ];
    const step = next(given(...facts));
    expect(step).toMatchObject({ do: 'record', facts: [{ task: 't1', to: 'todo' }] });
    const after = given(...facts, ...(step.do === 'record' ? step.facts : []));
    expect(next(after).do).toBe('close');
    expect(after.tasks.get('t1')!.sinceReview).toBe(2);
  });
});

describe('a mark that an agent committed', () => {
  const item = itemOn('t1');
  const marks = { committedMarks: ['t1', 't2'] };
  const claimed = [...one, waved(1, item), begun(1, item), ended(1, marks), judged(1, item)];
  const read = (...ids: string[]): Fact => ({
    ...(listed(...ids.map((id) => taskOf(id, { status: 'done' }))) as Extract<Fact, { type: 'tasks.read' }>),
    by: 'person',
  });

  test('given that it comes back, when it is read, then the task stays open', () => {
    const state = given(...claimed, read('t1', 't2'));
    expect([...state.tasks.values()].map(({ status }) => status)).toEqual(['todo', 'todo']);
    expect(next(state).do).not.toBe('stop');
  });

  test('given that a person was told and marks it again, then it is their word', () => {
    const opened = { ...(listed(taskOf('t1')) as Extract<Fact, { type: 'tasks.read' }>), by: 'engine' };
    const state = given(...claimed, read('t1'), opened, read('t1'));
    expect(state.tasks.get('t1')!.status).toBe('done');
  });
});
