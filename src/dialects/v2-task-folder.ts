/**
 * The tasks of a cycle: all files of its folder `tasks/` together. What keeps the planner's breakdown
 * from being worked on is told in full, so that one more call can put all of it right.
 */
import { naturalOrder, type TaskDef } from '../core/index.ts';
import { graphFault } from './task-graph.ts';
import { readTaskFile, type TaskFile, type TaskFileReading } from './v2-task.ts';

export interface TaskFolderReading {
  /** In natural order of their ids; of two with one id the first. */
  tasks: TaskDef[];
  /** Sentences for the planner; with one of them nothing should run. */
  faults: string[];
  warnings: string[];
}

/** A task that is defined elsewhere and that these may depend on. */
export interface TaskAround {
  id: string;
  dependsOn: string[];
}

/** Reads the files of a folder of tasks. `around`: the rest of their graph. Never throws. */
export function readTaskFolder(
  files: readonly TaskFile[],
  around: readonly TaskAround[] = [],
): TaskFolderReading {
  const faults: string[] = [];
  const warnings: string[] = [];
  const byId = new Map<string, { reading: TaskFileReading; path: string }>();
  const sorted = [...files].sort((a, b) => naturalOrder(a.path, b.path));
  for (const { path, text } of sorted) {
    const name = path.replace(/^.*[\\/]/, '');
    if (name.startsWith('.') || !/\.(?:md|markdown)$/i.test(name)) continue;
    if (/^(?:readme|index)\.\w+$/i.test(name)) {
      warnings.push(`${path} is no task`);
      continue;
    }
    const reading = readTaskFile(path, text);
    const key = reading.def.id.toLowerCase();
    const first = byId.get(key);
    if (first !== undefined) {
      const same = first.reading.def.id;
      faults.push(
        `${path} and ${first.path} are both "${same}", as case does not count; give one another name`,
      );
      continue;
    }
    byId.set(key, { reading, path });
    faults.push(...reading.faults);
    warnings.push(...reading.warnings);
  }
  const tasks = [...byId.values()].map(({ reading }) => reading.def);
  tasks.sort((a, b) => naturalOrder(a.id, b.id));
  for (const [order, task] of tasks.entries()) task.order = order;
  if (tasks.length === 0) faults.push('there is no task; write at least one file tasks/<id>.md');
  faults.push(
    ...graphFaults(
      tasks,
      around.filter(({ id }) => !byId.has(id.toLowerCase())),
    ),
  );
  return { tasks, faults, warnings };
}

/** Every unknown and every self-dependency, and one shortest cycle of the others. */
function graphFaults(tasks: readonly TaskDef[], around: readonly TaskAround[]): string[] {
  const faults: string[] = [];
  const all = [...tasks, ...around];
  const spelled = new Map(all.map(({ id }) => [id.toLowerCase(), id]));
  const bare = all.map(({ id }) => ({ id, dependsOn: [] as string[] }));
  for (const [at, task] of tasks.entries()) {
    task.dependsOn = [...new Set(task.dependsOn.map((id) => spelled.get(id.toLowerCase()) ?? id))];
    for (const id of task.dependsOn) {
      if (id === task.id) {
        faults.push(`"${task.id}" depends on itself; remove that dependency`);
      } else if (spelled.get(id.toLowerCase()) !== id) {
        bare[at]!.dependsOn = [id];
        faults.push(worded(graphFault(bare, () => 0)));
        bare[at]!.dependsOn = [];
      }
    }
  }
  const known = all.map(({ id, dependsOn }) => ({
    id,
    dependsOn: dependsOn.filter((other) => other !== id && spelled.get(other.toLowerCase()) === other),
  }));
  const cycle = graphFault(known, () => 0);
  if (cycle !== null) faults.push(worded(cycle));
  return faults;
}

function worded(fault: ReturnType<typeof graphFault>): string {
  return fault === null ? '' : `${fault.what}; ${fault.fix}`;
}
