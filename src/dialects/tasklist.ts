/**
 * A task list is a file of the user's that says which changes are wanted. Several file formats say
 * it; a dialect reads one of them into the same tasks and marks outcomes in it without touching any
 * byte but the marked field's. Unreadable, empty and complete are three different answers.
 */
import type { ProblemFacts, ReviewFields, TaskDef, TaskStatus } from '../core/index.ts';
import type { ListChoice } from './story-place.ts';

/** What a task file says. `list` may be complete (every task done); it is never empty. */
export type TaskListReading =
  | {
      kind: 'list';
      /** In file order, at least one. */
      tasks: TaskDef[];
      /** True where the list carries review fields. */
      reviewed: boolean;
      /** Commands the list itself demands as gates (`verifyCommands`). */
      gates: string[];
      project: string;
      description: string;
      /** Sentences with a line number: read, but worth a person's look. */
      warnings: string[];
      /** Those of the warnings that only name what is left out on purpose: examples, criteria, notes. */
      leftOut?: string[];
      /** Those of the warnings that name what somebody may have meant as tasks and that is read as none. */
      unread?: string[];
      /** Tasks that the file marks as blocked, with the reason it gives; absent where there are none. */
      blocked?: { task: string; reason: string }[];
    }
  /** `why`: what stands there instead of tasks; `fix`: what a task looks like in this format. */
  | { kind: 'empty'; why: string; fix: string }
  /** `choices`: several lists in the file could be meant; a reading that names one of them is needed. */
  | { kind: 'unreadable'; problem: ProblemFacts; choices?: ListChoice[] };

/** Sets one task's outcome fields; everything else in the file keeps its bytes. */
export interface TaskMark {
  /** The task's id as the reading gave it. */
  task: string;
  status: TaskStatus;
  /** The done field of JSON and YAML lists; absent: true exactly when `status` is done. */
  passes?: boolean;
  /** Review fields of lists that have them; absent leaves them alone. */
  review?: ReviewFields;
}

/** One file format of task lists. None of its functions throws on any text. */
export interface TaskDialect {
  name: string;
  /** Whether this format is spoken in the file; path first, then content. */
  detects(path: string, text: string): boolean;
  /** `path` is only used to name the place of problems; `list` names one of several lists in the file. */
  read(text: string, path: string, list?: string): TaskListReading;
  /** Unknown tasks and unreadable texts are left as they are. Idempotent. */
  writeMarks(text: string, marks: TaskMark[]): string;
  compare(input: TaskFileComparison): TaskFileVerdict;
}

/** An attempt's edit of the task file: the text when it began and the text when it ended. */
export interface TaskFileComparison {
  before: string;
  after: string;
  /** The mode the agent ran in, e.g. `implement` or `TASK_REVIEW`. */
  mode: string;
  /** The id of the task it was given; empty where it had none. */
  active: string;
  path?: string;
  /** Reviews after which a review with issues approves; 5 unless said. */
  reviewCap?: number;
}

/** What of an agent's edit stands (law, section 3 "Illegal edits"). */
export interface TaskFileVerdict {
  /** The reading of `restored`. */
  reading: TaskListReading;
  /** Tasks that are new or whose definition changed by a legal edit, as they now read. */
  legal: TaskDef[];
  /** The active task where the agent moved it forward: a claim, undone in `restored`. */
  marked: string[];
  /** A reviewer's own verdict on the active task, written into the file. */
  review?: { verdict: 'Qualified' | 'Failed'; feedback: string };
  violations: { detail: string }[];
  /** The text to write back: legal text edits and new open tasks kept, everything else as before. */
  restored: string;
}

/** Where a task list is looked for when none is named, in this order (surface, section 1). */
export const defaultTaskFiles: readonly string[] = [
  'ralph/tasks.json',
  'prd.json',
  '.ralph/prd.json',
  'scripts/ralph/prd.json',
  '.ralph/PRD.md',
  'PRD.md',
  'fix_plan.md',
  '.ralph/fix_plan.md',
  'IMPLEMENTATION_PLAN.md',
  'tasks.yaml',
];
