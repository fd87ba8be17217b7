import { expect, test } from 'vitest';
import type { Fact } from './event.ts';
import { evolve } from './evolve.ts';
import { type MarkerEdit, markerFacts } from './markers.ts';
import { emptyState, type State } from './state.ts';
import type { TaskStatus } from './task.ts';
import { policyOf } from './test-facts.ts';

const AT = 10_000;

function stateWith(statuses: Record<string, TaskStatus>): State {
  const state = emptyState();
  const set = Object.keys(statuses).map((id, order) => ({
    id,
    title: id,
    description: '',
    acceptance: [],
    priority: 0,
    order,
    dependsOn: [],
    status: 'todo' as const,
    files: [],
    changes: 'expected' as const,
  }));
  const source = { kind: 'file' as const, path: 'tasks.json', dialect: 'tasks-json', reviewed: false };
  add(state, 1, [
    { type: 'session.created', id: 's', objective: '', timezone: 'UTC', product: '', ground: '.' },
    {
      type: 'run.started',
      policy: policyOf({}),
      runner: { pid: 1, startTime: '', host: '', boot: '' },
      dirty: [],
      spentTodayUsd: 0,
      reopened: false,
      flags: {},
    },
    { type: 'tasks.read', source, sha256: '', set, gone: [], by: 'person' },
    ...Object.entries(statuses).map(
      ([task, to]): Fact => ({ type: 'task.moved', task, to, reason: '', by: 'engine' }),
    ),
  ]);
  return state;
}

function add(state: State, at: number, facts: Fact[]): void {
  evolve(state, { seq: state.seq + 1, at, facts });
}

const SIGNS = { todo: '[ ]', doing: '[/]', review: '[P]', done: '[x]', failed: '[F]', cancelled: '[C]' };
const marked = (id: string, to: TaskStatus): MarkerEdit => ({ id, to, sign: SIGNS[to], isStep: false });

function mark(state: State, ...edits: MarkerEdit[]) {
  const facts = markerFacts(state, { at: AT, edits });
  add(state, AT + 1, facts);
  const told = facts.flatMap((fact) => (fact.type === 'notice.given' ? [`${fact.level}: ${fact.text}`] : []));
  return { facts, told: told.join('\n') };
}

test('given nobody at work, when a person marks tasks, then they are done, cancelled and open again', () => {
  const state = stateWith({ a: 'todo', b: 'todo', c: 'done', d: 'failed' });
  const { told } = mark(
    state,
    marked('a', 'done'),
    marked('b', 'cancelled'),
    marked('c', 'todo'),
    marked('d', 'todo'),
  );
  expect([...state.tasks.values()].map(({ status }) => status)).toEqual([
    'done',
    'cancelled',
    'todo',
    'todo',
  ]);
  expect(told).toBe(
    'info: progress.md was marked by hand: a is done; b is cancelled; c is reopened; d is reopened.',
  );
});

test('given an edit that was taken in, when it is read again after a crash, then nothing follows', () => {
  const state = stateWith({ a: 'todo' });
  mark(state, marked('a', 'done'));
  state.tasks.get('a')!.status = 'todo';
  expect(mark(state, marked('a', 'done')).facts).toEqual([]);
});

test('given nobody at work, when a marker is no person’s to set, then it is told why and what can be', () => {
  const state = stateWith({ 'task-1': 'todo', 'task-2': 'review' });
  const { told } = mark(
    state,
    marked('task-1', 'doing'),
    marked('task-2', 'todo'),
    marked('task-3', 'done'),
    { id: 'plan-init', to: 'todo', sign: '[ ]', isStep: true },
    { id: 'task-1', to: 'unknown', sign: '[?]', isStep: false },
    { id: 'task-2', to: null, sign: null, isStep: false },
  );
  for (const words of [
    'task-1 is todo and cannot be marked [/] by hand',
    'task-2 is review and cannot be marked [ ] by hand',
    'there is no task task-3 in this cycle (did you mean task-1?)',
    '`ralph approve` or `ralph skip`',
    '[?] at task-1 is no marker',
    'the line of task-2 was taken out and is drawn again; to leave it out mark it [C]',
  ])
    expect(told).toContain(words);
  expect(state.tasks.get('task-1')!.status).toBe('todo');
});

test('given an agent at work, when markers change, then reopening counts, the rest waits for a named person', () => {
  const state = stateWith({ a: 'todo', b: 'done', c: 'todo' });
  add(state, AT - 5, [
    {
      type: 'wave.started',
      wave: 1,
      items: [{ iteration: 1, item: { role: 'executor', mode: 'implement', subject: 'c', task: 'c' } }],
    },
  ]);
  // What an agent's prompt may have asked it to mark is a hint, and no news.
  const { told, facts } = mark(state, marked('a', 'done'), marked('b', 'todo'), marked('c', 'review'));
  expect([...state.tasks.values()].map(({ status }) => status)).toEqual(['todo', 'todo', 'todo']);
  expect(told).toContain('b is reopened');
  expect(told).toContain(
    'a was marked [x] while an agent was running, so it is not taken; if you mean it: `ralph tasks done a`',
  );
  expect(facts.filter(({ type }) => type === 'message.received')).toHaveLength(2);
});
