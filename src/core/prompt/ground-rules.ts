/** Duties as a prompt shows them, and the sentences that several roles share. */

export interface Duties {
  /** One sentence: who the agent is in this call. */
  who: string;
  /** Steps and bounds, in order, one sentence or two each. */
  rules: readonly string[];
  /** The files this call writes: how each is built, with an example. */
  formats?: readonly Format[];
}

/** How one kind of file is written. */
export interface Format {
  /** What it is, e.g. `A task file`. */
  title: string;
  /** What must hold for it, in sentences. */
  terms: string;
  /** A whole one, as its reader accepts it. */
  example: string;
}

/** What a call knows of itself when its duties are worded. Everything in it is safe to stand in a prompt. */
export interface Scene {
  /** The active task's id; null for work on the session. */
  task: string | null;
  attempt: number;
  /** Of a role of one's own; null for every other call. `woken`: by a topic. */
  hat: { name: string; woken: boolean } | null;
  /** Null outside a session whose roles write plans and reports: solo and pair. */
  cycle: SceneCycle | null;
}

export interface SceneCycle {
  number: number;
  session: string;
  /** Of the questions; empty: of all categories. */
  category: string;
  /** Of the questions, from 1. */
  round: number;
  report: string | null;
  /** Guidance made another task of the one that the call is about. */
  scopeChange: boolean;
}

export const ONE_TASK =
  'Do this one task and nothing else. Other tasks have their own calls: do not start them, and do not mark them in any file.';
export const EVIDENCE =
  'Completion is checked against what happened, not against what you say: the loop compares the repository before and after this call and runs the gates itself. A report without changed files, or with files that do not exist, is rejected.';
export const BOUNDS =
  'Leave protected files, the session folders and the fields of the task file that the loop owns as they are. Such edits are undone and count against the attempt.';
export const HONEST_TESTS =
  'Make the checks pass by doing the work. Do not delete, skip or weaken a test, a gate or its configuration to get there.';
export const FOREGROUND =
  'Nobody sits at the terminal of this call: a command that asks there is never answered. Run commands in the foreground, wait for them to end, and leave no process running behind you.';

/** For calls whose work is files in the folder of their cycle. */
export const ONE_MODE =
  'Do what this mode asks for and nothing else: every other step of the session has a call of its own, before or after this one.';
export const WORKS_CHECKED =
  'The loop reads the files you wrote before it believes your report. A file that is missing, empty or cannot be read sends the call back with the exact errors.';
export const ONLY_WORKS =
  'Write only what stands under "What you may write": no code, no tests, no configuration. You may read everything and run commands that change nothing.';
export const SEEN =
  'State only what you have seen, and say where: a file with its line, a command with what it printed, a page with its address. What you assume is called an assumption.';
