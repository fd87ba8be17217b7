/**
 * Whether the tasks of one list fit together: ids that are unique also where case does not count,
 * dependencies that exist, and no cycle. The first fault is told with the shortest explanation.
 */
import { nearest } from '../core/index.ts';

/** One task as the graph sees it. */
export interface GraphTask {
  id: string;
  dependsOn: readonly string[];
}

export interface GraphFault {
  code: 'tasks.duplicate' | 'tasks.unknown_dependency' | 'tasks.cycle';
  what: string;
  why: string;
  fix: string;
  line: number;
}

/**
 * The first fault of the list, or null. Duplicates first: with them nothing else can be said.
 * `lineOf` gives the line of the task at an index, for a fault only.
 */
export function graphFault(
  tasks: readonly GraphTask[],
  lineOf: (index: number) => number,
): GraphFault | null {
  const indexOf = new Map<string, number>();
  for (let i = 0; i < tasks.length; i++) indexOf.set(tasks[i]!.id, i);
  const unique = indexOf.size === tasks.length && (isOneCase(tasks) || isUniqueFolded(tasks));
  return unique ? dependencyFault(tasks, indexOf, lineOf) : duplicateFault(tasks, lineOf);
}

const NO_SMALL = /^[\0-\x60\x7b-\x7f]*$/;
const NO_CAPITAL = /^[\0-\x40\x5b-\x7f]*$/;

/** Ids like `US-0001`, or like `us-0001`, of which none can differ from another by case alone. */
function isOneCase(tasks: readonly GraphTask[]): boolean {
  return tasks.every(({ id }) => NO_SMALL.test(id)) || tasks.every(({ id }) => NO_CAPITAL.test(id));
}

function isUniqueFolded(tasks: readonly GraphTask[]): boolean {
  return new Set(tasks.map(({ id }) => id.toLowerCase())).size === tasks.length;
}

function duplicateFault(tasks: readonly GraphTask[], lineOf: (index: number) => number): GraphFault | null {
  const indexOf = new Map<string, number>();
  for (let i = 0; i < tasks.length; i++) {
    const id = tasks[i]!.id.toLowerCase();
    const first = indexOf.get(id);
    if (first !== undefined) return duplicate(tasks[i]!.id, [lineOf(first), lineOf(i)]);
    indexOf.set(id, i);
  }
  return null;
}

function duplicate(id: string, [first, line]: [number, number]): GraphFault {
  return {
    code: 'tasks.duplicate',
    what: `the id "${id}" stands twice, first in line ${first}`,
    why: 'an id names one task; case is ignored because ids become file names',
    fix: 'give one of the two another id',
    line,
  };
}

/** No id stands twice. */
function dependencyFault(
  tasks: readonly GraphTask[],
  indexOf: ReadonlyMap<string, number>,
  lineOf: (index: number) => number,
): GraphFault | null {
  const find = (id: string) => indexOf.get(id) ?? -1;
  // Most lists name what comes before; such a list has no cycle, whatever its length.
  let inOrder = true;
  for (let i = 0; i < tasks.length; i++) {
    for (const dependency of tasks[i]!.dependsOn) {
      const at = find(dependency);
      if (at === -1) return unknownDependency(tasks, tasks[i]!.id, { dependency, line: lineOf(i) });
      if (at >= i) inOrder = false;
    }
  }
  if (inOrder) return null;
  const path = shortestCycle(tasks.map(({ dependsOn }) => dependsOn.map(find)));
  if (path === null) return null;
  const names = [...path, path[0]!].map((index) => tasks[index]!.id);
  return {
    code: 'tasks.cycle',
    what: `these tasks wait for each other: ${names.join(' → ')}`,
    why: 'none of them could ever start',
    fix: 'remove one of these dependencies',
    line: lineOf(path[0]!),
  };
}

function unknownDependency(
  tasks: readonly GraphTask[],
  task: string,
  { dependency, line }: { dependency: string; line: number },
): GraphFault {
  // Nobody means the task itself.
  const others = tasks.map(({ id }) => id).filter((id) => id !== task);
  const near = nearest(dependency, others);
  return {
    code: 'tasks.unknown_dependency',
    what: `"${task}" depends on "${dependency}", which is no task of this list`,
    why: 'a dependency that does not exist can never be done',
    fix: near === null ? 'name an existing task or drop the dependency' : `did you mean "${near}"?`,
    line,
  };
}

/** One shortest cycle among the first 500 tasks that can be on one, or null where there is none. */
function shortestCycle(edges: readonly number[][]): number[] | null {
  const left = cyclic(edges);
  const starts = [...left.keys()].filter((index) => left[index]);
  if (starts.length === 0) return null;
  let path = anyCycle(starts[0]!, edges, left);
  for (const start of starts.slice(0, 500)) {
    if (path.length === 1) break;
    path = shortestBack(start, edges, path.length) ?? path;
  }
  return path;
}

/** Which tasks lie on a cycle or behind one: those that never become ready. */
function cyclic(edges: readonly number[][]): boolean[] {
  const waiting = edges.map((row) => row.length);
  const dependents: number[][] = edges.map(() => []);
  for (let i = 0; i < edges.length; i++) for (const dependency of edges[i]!) dependents[dependency]!.push(i);
  const ready: number[] = [];
  for (let i = 0; i < edges.length; i++) if (waiting[i] === 0) ready.push(i);
  for (let index = ready.pop(); index !== undefined; index = ready.pop()) {
    for (const next of dependents[index]!) {
      waiting[next]! -= 1;
      if (waiting[next] === 0) ready.push(next);
    }
  }
  return waiting.map((count) => count > 0);
}

/** Every task left waits for another one left, so following them must come round. */
function anyCycle(start: number, edges: readonly number[][], left: readonly boolean[]): number[] {
  const path: number[] = [];
  const seen = new Map<number, number>();
  let index = start;
  while (!seen.has(index)) {
    seen.set(index, path.length);
    path.push(index);
    index = edges[index]!.find((next) => left[next])!;
  }
  return path.slice(seen.get(index));
}

/** The shortest way from a task back to itself, if it is shorter than `limit`. */
function shortestBack(start: number, edges: readonly number[][], limit: number): number[] | null {
  const cameFrom = new Map<number, number>();
  let front = [start];
  for (let length = 1; length < limit && front.length > 0; length++) {
    const next: number[] = [];
    for (const index of front) {
      for (const dependency of edges[index]!) {
        if (dependency === start) return trail(start, index, cameFrom);
        if (cameFrom.has(dependency)) continue;
        cameFrom.set(dependency, index);
        next.push(dependency);
      }
    }
    front = next;
  }
  return null;
}

function trail(start: number, last: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const path = [last];
  while (path[0] !== start) path.unshift(cameFrom.get(path[0]!)!);
  return path;
}
