import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Fact } from './event.ts';
import { TEAMS } from './role.ts';
import { needsOf, partFaults, splitDue } from './split.ts';
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
  policyOf,
  reportOf,
  started,
  taskOf,
  waved,
  waveEnded,
} from './test-facts.ts';

const next = (state: State) => decide(state, { now: NOON, live: new Set() });
const due = (state: State, id = 't1') => splitDue(state, state.tasks.get(id)!);
/** A session whose planner wrote its tasks, and where 900 s are the most an attempt gets. */
function planned(modes = TEAMS.full!, limits = {}): Fact[] {
  const { timeout } = policyOf();
  const read = listed(taskOf('t1'), taskOf('t2', { order: 1, dependsOn: ['t1'] })) as Fact & object;
  return [
    started({ team: 'full', modes: [...modes], timeout: { ...timeout, maxS: 900 }, limits }),
    { ...read, source: { kind: 'objective', path: null, dialect: 'ralph-v2', reviewed: false } } as Fact,
  ];
}
const late = (iteration: number, timeout: 'wall' | 'idle' = 'wall', task = 't1'): Fact[] => [
  waved(iteration, itemOn(task)),
  begun(iteration, itemOn(task)),
  ended(iteration, { report: reportOf({ ending: 'timed_out', timeout }) }),
  judged(iteration, itemOn(task), { findings: [{ kind: 'timed_out', detail: '' }] }),
  { type: 'task.charged', task, budget: 'evidence', iteration },
  waveEnded(iteration),
];
const parts = [taskOf('t1a'), taskOf('t1b', { dependsOn: ['t1a'] })];
const cut: Fact[] = [
  {
    type: 'tasks.read',
    source: { kind: 'objective', path: null, dialect: 'ralph-v2', reviewed: false },
    sha256: '',
    set: parts,
    gone: [],
    by: 'agent',
  },
  moved('t1', 'cancelled', 'engine', 'replaced_by: t1a, t1b'),
  { type: 'task.replaced', task: 't1', by: ['t1a', 't1b'] },
];

describe('a task is cut anew', () => {
  test('after it ran out of the most time there is: the planner is called about it', () => {
    expect(next(given(...planned(), ...late(1)))).toMatchObject({
      do: 'open',
      items: [{ item: { role: 'planner', mode: 'SPLIT_TASK', subject: 't1', task: 't1' } }],
    });
  });
  test('although there was no progress for as long as is allowed', () => {
    expect(next(given(...planned(TEAMS.full, { maxStuck: 1 }), ...late(1))).do).toBe('open');
  });
  test('and not after it went silent, died, or where nobody is hired for it', () => {
    expect(due(given(...planned(), ...late(1, 'idle')))).toBeNull();
    const died = judged(2, itemOn('t1'), { value: 'died', charged: false });
    const dead = [
      waved(2, itemOn('t1')),
      begun(2, itemOn('t1')),
      ended(2, { report: reportOf({ ending: 'died' }) }),
    ];
    expect(due(given(...planned(), ...late(1), ...dead, died))).toBeNull();
    expect(due(given(...planned(['implement', 'TASK_BREAKDOWN']), ...late(1)))).toBeNull();
  });
  test('and not once a person acted on it', () => {
    const unblocked: Fact = {
      type: 'task.unblocked',
      task: 't1',
      by: 'anna',
      reason: 'r',
      grant: null,
      auto: false,
    };
    const state = given(...planned(), ...late(1), unblocked);
    expect(due(state)).toBeNull();
    expect(next(state)).toMatchObject({ do: 'open', items: [{ item: { mode: 'implement', task: 't1' } }] });
  });
  test('and not where it comes from two cuts itself', () => {
    const state = given(...planned(), ...late(1), ...cut, ...late(2, 'wall', 't1a'));
    expect(due(state, 't1a')).toMatchObject({ why: 'timeout' });
    state.tasks.get('t1a')!.depth = 2;
    expect(due(state, 't1a')).toBeNull();
  });
});

describe('what took its place', () => {
  test('is waited for as a whole, and the cancelled one fails nobody', () => {
    const state = given(...planned(), ...late(1), ...cut);
    expect(needsOf(state, state.tasks.get('t2')!)).toEqual(['t1a', 't1b']);
    expect(next(state)).toMatchObject({ do: 'open', items: [{ item: { task: 't1a' } }] });
    expect(next(given(...planned(), ...late(1), ...cut, moved('t1b', 'failed')))).toMatchObject({
      do: 'record',
      facts: [{ task: 't2', to: 'failed', reason: 'dependency failed: t1b' }],
    });
  });
  test('knows how deep it is, and its first takes over what was left', () => {
    const { tasks, groundOwner } = given(...planned(), ...late(1), ...cut);
    expect([tasks.get('t1a')!.depth, tasks.get('t1b')!.depth]).toEqual([1, 1]);
    expect([tasks.get('t1a')!.attempts, tasks.get('t1b')!.attempts, tasks.get('t1')!.attempts]).toEqual([
      [1],
      [],
      [],
    ]);
    expect(groundOwner).toBe('t1a');
  });
  test('is waited for no more once a person opens the task again', () => {
    const state = given(...planned(), ...late(1), ...cut, moved('t1', 'todo', 'person'));
    expect(needsOf(state, state.tasks.get('t2')!)).toEqual(['t1']);
  });
  test('is two to four tasks that are new and do not wait for it', () => {
    const state = given(...planned(), ...late(1));
    const faults = (...ids: string[]) =>
      partFaults(
        state,
        state.tasks.get('t1')!,
        ids.map((id) => taskOf(id)),
      );
    expect(faults('t1a', 't1b')).toEqual([]);
    expect(faults()).toEqual([
      expect.stringContaining('at least two new tasks in its place, and none is there'),
    ]);
    expect(faults('t1a')).toEqual([expect.stringContaining('and one is there')]);
    expect(faults('a', 'b', 'c', 'd', 'e')).toEqual([expect.stringContaining('5 new tasks are too many')]);
    expect(faults('t1a', 'T2')).toEqual([expect.stringContaining('"t2" is a task already')]);
  });
});
