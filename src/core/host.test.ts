/** Given what the machine has left, when decide, then as many agents side by side as it has memory for. */
import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Fact } from './event.ts';
import { narrowWords, roomIn } from './host.ts';
import type { Item } from './role.ts';
import type { State } from './state.ts';
import { given, itemOn, listed, NOON, started, taskOf } from './test-facts.ts';

const wide = started({ parallel: { executors: 4, reviewers: 4, questioners: 1 } });
const four = listed(...['t1', 't2', 't3', 't4'].map((id) => taskOf(id)));
const room = (agents: number | null): Fact =>
  agents === null ? { type: 'host.seen', short: [] } : { type: 'host.seen', short: [], room: agents };
const next = (state: State) => decide(state, { now: NOON, live: new Set() });
const wave = (...items: Item[]): Fact => ({
  type: 'wave.started',
  wave: 1,
  items: items.map((item, index) => ({ iteration: index + 1, item })),
});
const opened = (state: State) => {
  const step = next(state);
  return step.do === 'open' ? step.items.map(({ item }) => item.task) : step;
};

describe('given four ready tasks that may run side by side', () => {
  test.each([
    ['nothing is known of memory', [], ['t1', 't2', 't3', 't4']],
    ['there is memory for two', [room(2)], ['t1', 't2']],
    ['there is memory for one', [room(1)], ['t1']],
    ['there is memory for all again', [room(2), room(null)], ['t1', 't2', 't3', 't4']],
  ])('when %s, then the wave is as wide as that', (_, facts, tasks) => {
    expect(opened(given(wide, four, ...facts))).toEqual(tasks);
  });

  test('when memory goes after the wave was opened, then those it is enough for start and the rest waits in it', () => {
    const items = ['t1', 't2', 't3', 't4'].map((id) => itemOn(id));
    expect(next(given(wide, four, wave(...items), room(3)))).toEqual({ do: 'run', iterations: [1, 2, 3] });
    expect(next(given(wide, four, wave(...items)))).toEqual({ do: 'run', iterations: [1, 2, 3, 4] });
  });

  test('when too little is left for one, then nobody is started at all', () => {
    const short = [{ of: 'memory' as const, path: null, freeMb: 200, leastMb: 300 }];
    expect(next(given(wide, four, { type: 'host.seen', short, room: 1 }))).toMatchObject({
      do: 'wait',
      for: 'host',
    });
  });

  test('another run looks for itself', () => {
    expect(
      opened(given(wide, four, room(1), { type: 'run.stopped', code: 7, word: 'STOPPED', reason: '' }, wide)),
    ).toHaveLength(4);
  });
});

test.each([
  [5_000, null],
  [1_199, 3],
  [650, 2],
  [300, 1],
  [10, 1],
])('with %d MB and 300 MB for each agent there is room for %s', (memoryMb, agents) => {
  expect(roomIn(given(wide), memoryMb)).toBe(agents);
});

test('without a bound, or where agents run one by one, nobody counts', () => {
  expect(roomIn(given(started()), 310)).toBeNull();
  const unbounded = started({
    parallel: { executors: 4, reviewers: 4, questioners: 1 },
    host: { minFreeDiskMb: 1, minFreeMemoryMb: 0 },
  });
  expect(roomIn(given(unbounded), 10)).toBeNull();
});

test('people are told why fewer work side by side', () => {
  expect(narrowWords(given(wide, room(2)))).toBe(
    'memory is enough for 2 agents at once, with 300 MB for each (host.min_free_memory_mb)',
  );
  expect(narrowWords(given(wide, room(null)))).toBe('');
});
