/** The port to the works of a session's cycles: plans, tasks, questions, reports, reviews and notes. */
import type { CycleWorks, Item, TaskDef, TaskState } from '../core/index.ts';

/** A call whose works are read. `before`: as `marks` answered when it began. */
export interface CycleCall {
  item: Item;
  cycle: number;
  before: Readonly<Record<string, string>>;
  /** Ids of finished tasks that no other task may have in this cycle. */
  taken: ReadonlySet<string>;
  /** Ids of the tasks that earlier cycles, or this one, have finished: others may depend on them. */
  finished: ReadonlySet<string>;
  /** Where a task is cut anew: the files that are to take its place, and the graph that they stand in. */
  cut?: { paths: readonly string[]; around: readonly { id: string; dependsOn: string[] }[] };
}

/** What the executor's report says where the executor wrote none. */
export interface ReportFacts {
  task: TaskDef;
  cycle: number;
  attempt: number;
  /** Epoch ms. */
  at: number;
  files: string[];
  summary: string;
  gates: { name: string; outcome: string }[];
  /** Absent in a report that nobody has reviewed. */
  review?: { verdict: 'Qualified' | 'Failed'; feedback: string };
}

/** The works of a session's cycles, below `iterations/`. Paths are relative to the session's folder. */
export interface CycleFiles {
  /** The words of `<SESSION_ID>.instructions.md`, without its front matter; empty where there are none. */
  guardrails(): Promise<string>;
  /** sha256 by path of every work as it lies there now; contents are kept. Mirrors and feedback are none. */
  marks(): Promise<Record<string, string>>;
  /** Puts a work back to the content it had; null removes it. */
  put(path: string, sha256: string | null): Promise<void>;
  /** What a call left in its cycle's folder, held against what its mode owes. */
  read(call: CycleCall): Promise<CycleWorks>;
  /** Ids of the tasks that have a file in this cycle; case as the file's name has it. */
  defined(cycle: number): Promise<ReadonlySet<string>>;
  /** Puts back part 1 of a report that a reviewer changed; part 2 stays. True where that was needed. */
  keepPartOne(path: string, before: string): Promise<boolean>;
  /** Writes what is missing of a report: part 1 where there is none, part 2 where a review is given. */
  report(path: string, facts: ReportFacts): Promise<void>;
  /** Makes the folder of a cycle with the plan, these tasks and the notes nobody decided on; what is there stays. */
  begin(cycle: number, carried: Carried): Promise<void>;
  /** Copies approved notes of the cycle to where people read them; what lies there is never overwritten. */
  promote(cycle: number, staged: readonly string[], docs: DocsFolder): Promise<Promoted>;
  /** Writes a review of the session where none is. */
  review(cycle: number, tasks: readonly TaskState[]): Promise<void>;
}

/** What of a cycle goes on in the next one. */
export interface Carried {
  tasks: readonly TaskDef[];
  /** Paths of notes, relative to the folder of the cycle before. */
  notes: readonly string[];
  /** In how many later cycles a note is offered again. */
  most: number;
}

/** Where approved notes go. */
export interface DocsFolder {
  /** Absolute; `.docs` in the project. */
  dir: string;
  /** Absolute paths below it that the librarian made in this call: ours, and no conflict. */
  made: ReadonlySet<string>;
}

/** Paths relative to the folder of docs. */
export interface Promoted {
  written: string[];
  /** Notes that cannot be read, each with why: they stay where they are. */
  refused: string[];
  /** Something else lay there; the note lies beside it as `<name>.incoming.md`. */
  conflicts: string[];
}
