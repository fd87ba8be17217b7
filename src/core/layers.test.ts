import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Layered, layerNumbers, layers } from './layers.ts';

const task = (id: string, ...dependsOn: string[]): Layered => ({ id, dependsOn });

describe('layers', () => {
  test('a task stands one layer above the highest that it depends on', () => {
    const tasks = [task('d', 'b', 'c'), task('b', 'a'), task('a'), task('c', 'b'), task('e')];
    expect(layers(tasks)).toEqual([['a', 'e'], ['b'], ['c'], ['d']]);
  });

  test('each layer is in natural order', () => {
    expect(layers([task('t10'), task('t2'), task('t1')])).toEqual([['t1', 't2', 't10']]);
  });

  test('a dependency that stands twice, or that is no task, changes nothing', () => {
    expect(layers([task('a'), task('b', 'a', 'a', 'gone')])).toEqual([['a'], ['b']]);
  });

  test('tasks that wait for each other, and what waits for them, stand in no layer', () => {
    const tasks = [task('a'), task('b', 'c'), task('c', 'b'), task('d', 'c'), task('e', 'e'), task('f', 'a')];
    expect(layers(tasks)).toEqual([['a'], ['f']]);
    expect([...layerNumbers(tasks)]).toEqual([
      ['a', 1],
      ['f', 2],
    ]);
  });

  test('no tasks have no layers', () => {
    expect(layers([])).toEqual([]);
  });

  test('without a cycle every task stands once, above all it needs, and no higher than its longest path', () => {
    fc.assert(
      fc.property(acyclic, (tasks) => {
        const number = layerNumbers(tasks);
        expect([...number.keys()].toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
        for (const { id, dependsOn } of tasks) {
          const below = dependsOn.map((other) => number.get(other)!);
          expect(number.get(id)).toBe(1 + Math.max(0, ...below));
        }
      }),
    );
  });

  test('the order in which the tasks are given changes nothing', () => {
    fc.assert(
      fc.property(acyclic, fc.infiniteStream(fc.nat()), (tasks, keys) => {
        const shuffled = tasks
          .map((one) => ({ one, key: keys.next().value as number }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ one }) => one);
        expect(layers(shuffled)).toEqual(layers(tasks));
      }),
    );
  });
});

/** Tasks of which each depends on earlier ones only. */
const acyclic = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { maxLength: 30 })
  .map((rows) => rows.map((row, i) => task(`t${i}`, ...(i === 0 ? [] : row.map((n) => `t${n % i}`)))));
