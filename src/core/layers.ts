/**
 * The layers of a task graph: a task stands one layer above the highest task it depends on. What stands in
 * one layer does not wait for each other, so the number of layers is the least number of waves. Computed each
 * time from the tasks as they are now, never read from a file.
 */
import { naturalOrder } from './task.ts';

/** One task as layering sees it. */
export interface Layered {
  id: string;
  dependsOn: readonly string[];
}

/**
 * The ids by layer, the first layer first, each in natural order. A dependency that is no task of the list
 * holds nothing up here; tasks that wait for each other, and what waits for them, stand in no layer.
 */
export function layers(tasks: readonly Layered[]): string[][] {
  const known = new Map(tasks.map((task) => [task.id, task]));
  const waiting = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const { id, dependsOn } of known.values()) {
    const needs = new Set(dependsOn.filter((other) => known.has(other)));
    waiting.set(id, needs.size);
    for (const other of needs) {
      const row = dependents.get(other);
      if (row) row.push(id);
      else dependents.set(other, [id]);
    }
  }
  const found: string[][] = [];
  let layer = [...known.keys()].filter((id) => waiting.get(id) === 0);
  while (layer.length > 0) {
    found.push(layer.sort(naturalOrder));
    const next: string[] = [];
    for (const id of layer) {
      for (const dependent of dependents.get(id) ?? []) {
        const left = waiting.get(dependent)! - 1;
        waiting.set(dependent, left);
        // The last of its dependencies is its highest.
        if (left === 0) next.push(dependent);
      }
    }
    layer = next;
  }
  return found;
}

/** The number of each task's layer, from 1; tasks that stand in none are left out. */
export function layerNumbers(tasks: readonly Layered[]): Map<string, number> {
  return new Map(layers(tasks).flatMap((ids, i) => ids.map((id) => [id, i + 1] as const)));
}
