import { describe, expect, test } from 'vitest';
import type { Fact } from './event.ts';
import { goneFacts, landedTasks } from './gone.ts';
import { begun, ended, given, itemOn, listed, moved, started, taskOf, tried, waved } from './test-facts.ts';

const landed: Fact = { type: 'commit.landed', task: 't1', commit: 'c1', paths: ['a'], by: 'engine' };
const one = [
  started(),
  listed(taskOf('t1'), taskOf('t2', { order: 1 })),
  ...tried(1, 't1', { value: 'accepted' }),
  moved('t1', 'done'),
  landed,
];

describe('work that the branch does not hold any more', () => {
  test('given a landed task, its commit has to be there; one without a commit has nothing to be missed', () => {
    expect(landedTasks(given(...one)).map(({ def }) => def.id)).toEqual(['t1']);
    expect(landedTasks(given(...one.slice(0, -1), { ...landed, commit: '' } as Fact))).toEqual([]);
  });

  test('given an attempt that took commits off, when its work is gone, then the task is open again, uncharged', () => {
    const item = itemOn('t2');
    const state = given(...one, waved(2, item), begun(2, item), ended(2, { rewrote: true }));
    const facts = goneFacts(state, landedTasks(state));
    expect(facts[0]).toMatchObject({ type: 'task.moved', task: 't1', to: 'todo', by: 'engine' });
    expect(facts.map(({ type }) => type)).toEqual(['task.moved', 'notice.given']);
    const after = given(...one, ...facts).tasks.get('t1')!;
    expect(after).toMatchObject({ status: 'todo', landed: 'no', commit: null, charged: 0 });
  });

  test('given no attempt that took it off, when its work is gone, then a person is told once and it stays done', () => {
    const state = given(...one);
    const facts = goneFacts(state, landedTasks(state));
    expect(facts.map(({ type }) => type)).toEqual(['notice.given']);
    const told = given(...one, ...facts);
    expect(goneFacts(told, landedTasks(told))).toEqual([]);
  });
});
