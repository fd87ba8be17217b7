import { describe, expect, test } from 'vitest';
import type { Fact } from './event.ts';
import { goneFacts, landedTasks, unheardOf } from './gone.ts';
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

  test('given no attempt that took it off, when its work is gone, then a person is to hear of it before anything is undone', () => {
    const state = given(...one);
    expect(unheardOf(state, landedTasks(state)).map(({ def }) => def.id)).toEqual(['t1']);
    const item = itemOn('t2');
    const rewound = given(...one, waved(2, item), begun(2, item), ended(2, { rewrote: true }));
    expect(unheardOf(rewound, landedTasks(rewound))).toEqual([]);
  });

  const paused: Fact = { type: 'session.paused', at: 0, text: 'c1 is lost', by: 'engine', lost: ['c1'] };
  const resumed = (by: string): Fact => ({ type: 'session.resumed', at: 1, text: '', by });

  test('given a person who had the session go on without it, then the task is open again, and told once', () => {
    const state = given(...one, paused, resumed('anna@desk'));
    expect(unheardOf(state, landedTasks(state))).toEqual([]);
    const facts = goneFacts(state, landedTasks(state));
    expect(facts[0]).toMatchObject({
      type: 'task.moved',
      to: 'todo',
      reason: expect.stringContaining('resumed without it'),
    });
    expect(given(...one, paused, resumed('anna@desk'), ...facts).tasks.get('t1')).toMatchObject({
      status: 'todo',
      commit: null,
    });
  });

  test('given that the branch has it again, then nobody went on without it', () => {
    const state = given(...one, paused, resumed('engine'));
    expect(unheardOf(state, landedTasks(state)).map(({ def }) => def.id)).toEqual(['t1']);
  });

  test('given that all of it still stands in the work tree, then that counts as its work; else only new work does', () => {
    const state = given(...one, paused, resumed('anna@desk'));
    const landed = landedTasks(state);
    const afterwards = (facts: Fact[]) =>
      given(...one, paused, resumed('anna@desk'), ...facts).tasks.get('t1')!;
    expect(afterwards(goneFacts(state, landed, new Set(landed))).sinceReview).toBe(0);
    expect(afterwards(goneFacts(state, landed)).sinceReview).toBe(1);
  });
});
