/**
 * What happened, as the loop itself saw it: trees, changed paths, gate results, and how the agent's
 * process ended.
 */

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
  /** null: the agent does not report money. */
  costUsd: number | null;
  model: string | null;
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
  /** Output of a tool held a signal of completion; absent where none did. */
  toolClaimed?: true;
}
