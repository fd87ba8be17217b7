import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Fact } from './event.ts';
import type { Change } from './evidence.ts';
import { leftThere, netChanges } from './ownership.ts';
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
  started,
  taskOf,
  waved,
  waveEnded,
} from './test-facts.ts';

const next = (state: State) => decide(state, { now: NOON, live: new Set() });
const one = [started(), listed(taskOf('a'), taskOf('b', { order: 1 }))];
const change = (before: string | null, after: string | null): Change => ({ path: 'p', before, after });

/** A whole attempt that was rejected and made these changes. */
const failed = (iteration: number, task: string, ...changes: Change[]): Fact[] => [
  waved(iteration, itemOn(task)),
  begun(iteration, itemOn(task)),
  ended(iteration, { changes, changeCount: changes.length }),
  judged(iteration, itemOn(task)),
  waveEnded(iteration),
];
const aside = (task: string, ...changes: Change[]): Fact[] => [
  { type: 'leftovers.set_aside', task, tree: 't', changes },
  { type: 'leftovers.cleared', task },
];
const takenUp = (task: string, ...conflicts: string[]): Fact => ({
  type: 'leftovers.taken_up',
  task,
  conflicts,
  count: 1,
});
const landed = (task: string): Fact[] => [
  moved(task, 'done'),
  { type: 'commit.landed', task, commit: 'c2', paths: ['p'], by: 'engine' },
];

const madeIn = (state: State) =>
  new Map([...state.attempts.values()].map(({ iteration, changes }) => [iteration, changes]));
const at = (state: State, path = 'p') => [...(leftThere(state, madeIn(state)).get(path) ?? [])];
const net = (state: State, task: string) => netChanges(state.tasks.get(task)!, madeIn(state), 0);

describe('two tasks whose unfinished work overlaps in a file', () => {
  const a = change('base', 'a');
  const b = change('base', 'b');
  const both = [...one, ...failed(1, 'a', a), ...aside('a', a), ...failed(2, 'b', b)];

  test('given one at work after the other, when decide, then one is set aside before the other is taken up', () => {
    const turned = [...both, waved(3, itemOn('a'))];
    expect(next(given(...turned))).toEqual({ do: 'set_aside', task: 'b' });
    expect(next(given(...turned, ...aside('b', b)))).toEqual({ do: 'take_up', task: 'a' });
    const back = given(...turned, ...aside('b', b), takenUp('a'));
    expect(next(back)).toEqual({ do: 'run', iterations: [3] });
    expect(back.groundOwner).toBe('a');
  });

  test('what stands there is the work of the one that holds the tree, not of the newest attempt', () => {
    expect(at(given(...both))).toEqual(['b']);
    const back = given(...both, ...aside('b', b), takenUp('a'));
    expect(at(back)).toEqual(['a']);
    expect(net(back, 'a')).toEqual([a]);
  });

  test('while both lie aside it is what stood there before them, or what a killed runner had begun to put back', () => {
    expect(new Set(at(given(...both, ...aside('b', b))))).toEqual(new Set(['base', 'b', 'a']));
    const uncleared = given(...both, { type: 'leftovers.set_aside', task: 'b', tree: 't', changes: [b] });
    expect(at(uncleared)).toContain('b');
  });

  test('a deletion is work like any other', () => {
    const gone = change('base', null);
    const state = given(...one, ...failed(1, 'a', gone), ...aside('a', gone), ...failed(2, 'b', b));
    expect(at(state)).toEqual(['b']);
    const back = given(
      ...one,
      ...failed(1, 'a', gone),
      ...aside('a', gone),
      ...failed(2, 'b', b),
      ...aside('b', b),
      takenUp('a'),
    );
    expect(at(back)).toEqual([null]);
  });

  test('what landed is a commit’s, and a person who brings back what stood there before is not overlooked', () => {
    const state = given(...one, ...failed(1, 'a', a), ...aside('a', a), ...failed(2, 'b', b), ...landed('b'));
    expect(at(state)).toEqual([]);
  });

  describe('given that the work of one could not be put back, since the other landed', () => {
    const parted = [
      ...one,
      ...failed(1, 'a', a),
      ...aside('a', a),
      ...failed(2, 'b', b),
      ...landed('b'),
      waved(3, itemOn('a')),
      takenUp('a', 'p'),
    ];

    test('it is no part of its task any more, and proves nothing', () => {
      expect(net(given(...parted), 'a')).toEqual([]);
    });

    test('what a later attempt makes of the file is', () => {
      const again = change('b', 'ab');
      const facts = [...parted, ...failed(3, 'a', again)];
      expect(net(given(...facts), 'a')).toEqual([again]);
      expect(at(given(...facts))).toEqual(['ab']);
      expect(net(given(...facts, ...aside('a', again), takenUp('a')), 'a')).toEqual([again]);
    });
  });

  test('where nothing is committed, the work of a done task stands below that of the next', () => {
    const onTop = change('a', 'ab');
    const done: Fact[] = [
      moved('a', 'done'),
      { type: 'commit.landed', task: 'a', commit: '', paths: [], by: 'nobody' },
    ];
    const facts = [...one, ...failed(1, 'a', a), ...done, ...failed(2, 'b', onTop)];
    expect(at(given(...facts))).toEqual(['ab']);
    expect(at(given(...facts, ...aside('b', onTop)))).toContain('a');
  });

  test('the work of a task that is no longer in the list is told from a person’s', () => {
    const gone: Fact = {
      ...(listed(taskOf('b')) as Extract<Fact, { type: 'tasks.read' }>),
      gone: ['a'],
    };
    expect(at(given(...one, ...failed(1, 'a', a), gone))).toEqual(['a']);
  });
});
