/**
 * What happened, as the loop itself saw it: trees, changed paths, gate results, and how the agent's
 * process ended.
 */
import type { TaskDef } from './task.ts';

/** Where the ground stood. `tree` names the content of every path that git does not ignore. */
export interface Mark {
  /** Commit id; null before the first commit. */
  head: string | null;
  /** Branch name; null when detached. */
  branch: string | null;
  tree: string;
}

/** One path's content before and after, as blob ids; null is absence. Paths are relative to the ground. */
export interface Change {
  path: string;
  before: string | null;
  after: string | null;
}

/** A repository inside the ground that holds content no commit of its own has. */
export interface InnerRepository {
  /** Relative to the ground. */
  path: string;
  /** The ground's repository has it as a submodule: a commit in it can be landed. */
  submodule: boolean;
  /** What is not committed, relative to it; at most 1,000. */
  files: string[];
  /** Equal prints are equal content. */
  print: string;
}

/** What a task's attempts left uncommitted in such a repository. */
export type InnerWork = Omit<InnerRepository, 'print'>;

/** A named piece of content in the session's store. */
export interface WorkRef {
  path: string;
  sha256: string;
}

/** What a call of planning, review or knowledge left in its cycle's folder. */
export interface CycleWorks {
  /** What it wrote there, by path relative to the session's folder. */
  written: WorkRef[];
  /** The exact errors that keep its result invalid, for the next try; empty where it can stand. */
  faults: string[];
  /** As its task files define them; absent where the mode defines none. */
  tasks?: TaskDef[];
  /** Questions that wait for research, and how many of them this call added; absent where it asks none. */
  questions?: { open: number; fresh: number };
  /** What review.md says; absent where the mode writes none. */
  review?: SessionAssessment;
  /** Notes that wait for approval, by path relative to the cycle's folder; absent where the mode stages none. */
  staged?: string[];
}

/** What the review of a whole session found. */
export interface SessionAssessment {
  value: 'Complete' | 'Gaps Identified';
  gaps: string[];
}

export interface GateResult {
  gate: string;
  /** The command, so that a gate whose command changed is another gate. */
  run: string;
  tree: string;
  outcome: 'passed' | 'failed' | 'unavailable' | 'empty' | 'timed_out';
  exitCode: number | null;
  durationMs: number;
  /** Number of tests the runner says it executed; null when the output does not tell. */
  tests: number | null;
  /** Names of failing tests or failing lines, normalised: equal lists are the same failure. */
  failures: string[];
  /** First and last lines of the output, bounded. */
  excerpt: string;
  output: WorkRef | null;
}

export type ProviderErrorKind =
  | 'limit'
  | 'overload'
  | 'auth'
  | 'billing'
  | 'network'
  | 'prompt_too_long'
  | 'crash';

export interface AgentError {
  kind: ProviderErrorKind;
  message: string;
  /** Epoch ms; null when the provider did not say. */
  resetsAt: number | null;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** null: the agent does not report money, and the price table does not name its model. */
  costUsd: number | null;
  /** Absent: the agent told all of it. */
  costFrom?: Estimated;
  /** A subscription pays: the money is what it would have cost without one. Absent: nobody said so. */
  byPlan?: true;
  model: string | null;
  /** Read out of what it had printed when it was cut off: at least so much. Absent: seen to its end. */
  partial?: true;
}

/** How much of a sum is tokens times list price, and the date of the newest price table it was reckoned with. */
export interface Estimated {
  usd: number;
  priceTable: string;
}

/** Money so far. */
export interface Spent {
  /** null until a price is known. */
  costUsd: number | null;
  /** What of it was reckoned; null: nothing. */
  estimated: Estimated | null;
  /** What of it a subscription pays; absent: nothing. USD. */
  byPlanUsd?: number;
}

export interface RunCommand {
  /** At most 2,000 characters: what is longer is cut. */
  command: string;
  /** null: nobody knows how it ended. */
  exitCode: number | null;
  denied: boolean;
  /** Another tool than the agent's shell may have run it, or more: `command` is what it was given, or empty. */
  unseen?: true;
}

/** How one agent run ended and what its own stream told, without any belief in its words. */
export interface AgentReport {
  ending: 'ended' | 'died' | 'timed_out' | 'interrupted';
  /** Which clock ran out, where one did. */
  timeout: 'wall' | 'idle' | null;
  exitCode: number | null;
  signal: string | null;
  error: AgentError | null;
  /** The final assistant message only, bounded. */
  finalMessage: string;
  /** Tool calls seen; null when this agent does not declare tool events. */
  toolCalls: number | null;
  toolFiles: string[];
  commands: RunCommand[];
  outputBytes: number;
  usage: Usage;
  sessionId: string | null;
  /** Command lines of processes that were still running when the agent ended, and were ended. */
  leftBehind: string[];
  unknownEvents: number;
  /** Their kinds, the first 20; absent: none came, or nobody noted them. */
  unknownKinds?: string[];
  /** Its own version, where its stream tells it. */
  version?: string;
  /** Output of a tool held a signal of completion; absent where none did. */
  toolClaimed?: true;
}
