/**
 * Everything one prompt can be made of, as plain values. The engine gathers them; nothing here is read
 * from a clock, a disk or the journal. What is left out is simply not in the prompt.
 */
import type { Allowance } from '../event.ts';
import type { GateDef } from '../policy.ts';
import type { Option } from '../question.ts';
import type { Mode, RoleName } from '../role.ts';
import type { TaskDef, TaskStatus } from '../task.ts';

/** Guidance from a person. `at` is shown as it is, e.g. `2026-02-08 14:30`. */
export interface PromptGuidance {
  id: string;
  /** `note` is background (INFO), `steer` changes the work. */
  kind: 'steer' | 'note';
  from: string;
  at: string;
  text: string;
}

/** A correction or a hint from an earlier iteration; newest first. */
export interface PromptFeedback {
  iteration: number;
  /** Task id, or null for the session. */
  task: string | null;
  sentence: string;
}

export interface PromptAnswer {
  question: string;
  /** What could be chosen, and what the asker would do by itself: its next call has not seen the question. */
  options?: readonly Option[] | undefined;
  default?: string | null | undefined;
  /** Empty: nobody answered in time. */
  answer: string;
  /** null: nobody; the answer is then the default of the asker. */
  by: string | null;
}

export interface PromptEvent {
  topic: string;
  payload: string;
  role: string;
  iteration: number;
}

/** How a role of one's own hands its work on. */
export interface PromptHat {
  /** Its name for people. */
  title: string | null;
  /** Which role each topic wakes that it may publish. */
  listeners: { topic: string; role: string }[];
  /** Published for it where it publishes nothing. */
  preset: string | null;
  /** Topics that were never published and without which nothing is complete. */
  missing: string[];
}

/** Uncommitted work of earlier attempts at this task. */
export interface PromptLeftovers {
  /** Paths that stand in the work tree now. */
  present: string[];
  /** Paths that could not be put back, and the file with their earlier text; null: it had been deleted. */
  conflicts: { path: string; file: string | null }[];
  /** How the earlier attempt ended, e.g. `iteration 7 ran out of time`. */
  why: string;
}

export interface PromptKnowledge {
  /** Curated patterns, e.g. the head of progress.txt. */
  patterns?: string;
  memories?: string;
  /** The product's requirements; read-only to the agent. */
  prd?: string;
  /** Subject lines, newest first. */
  commits?: string[];
}

export interface PromptSkills {
  /** A person can be asked and told while the agent works. */
  robot?: boolean;
  /** The notes and task commands are there. */
  tools?: boolean;
  /** False: no memories stand in prompts, and none are asked for. */
  memories?: boolean;
  /** Skills that are loaded on demand. */
  others?: { name: string; about: string }[];
}

/** The session's folders and what lies in them for this call. Paths are as the agent reaches them. */
export interface PromptSession {
  dir: string;
  /** `iterations/<N>`. */
  cycleDir: string;
  /** N. */
  cycle: number;
  /** Of the questions this call is about; left out or empty: all of them. */
  category?: string | undefined;
  /** Of the questions, from 1. */
  round?: number | undefined;
  /** The report this call writes, or adds its part to. */
  reportPath?: string | undefined;
  /** Works of earlier calls, by what they are, e.g. `plan`. */
  inputs: { name: string; path: string }[];
  /** Folders of feedback. */
  feedback: string[];
  /** Notes that were approved, or that were carried here from an earlier cycle. */
  staged?: string[] | undefined;
  /** Where guidance made another task of the one this call is about: the words of its executor. */
  scopeChange?: string | undefined;
  /** The exact errors of the previous try. */
  faults?: string[] | undefined;
  /** What the session's owner wrote down for it. */
  guardrails?: string | undefined;
}

export interface PromptInput {
  objective: string;
  role: RoleName;
  mode: Mode;
  iteration: number;
  /** Ordinal of the attempt at this item, from 1. */
  attempt: number;
  allowance: Allowance;
  /** The active task; null for work on the whole session. */
  task: TaskDef | null;
  /** The role's own instructions from the configuration, beside the built-in duties. */
  instructions?: string | undefined;
  /** The other tasks, shown as an index. */
  index?: { id: string; title: string; status: TaskStatus }[] | undefined;
  /** The task file, relative to the ground; null for a bare objective. */
  taskFile?: string | null | undefined;
  guidance?: PromptGuidance[] | undefined;
  feedback?: PromptFeedback[] | undefined;
  answers?: PromptAnswer[] | undefined;
  events?: PromptEvent[] | undefined;
  leftovers?: PromptLeftovers | null | undefined;
  /** Of a call of one's own role; left out for every other. */
  hat?: PromptHat | undefined;
  /** What the last review of this task found. */
  lastReviewFeedback?: string | undefined;
  /** The executor's last report or summary, for a reviewer or a fixer. */
  lastReport?: string | undefined;
  /** Paths changed by this task's attempts so far, for a reviewer. */
  changedPaths?: string[] | undefined;
  /** Further inputs by name, e.g. the report path. */
  inputs?: Record<string, string> | undefined;
  /** Absent in teams that write no plan and no reports. */
  session?: PromptSession | undefined;
  knowledge?: PromptKnowledge | undefined;
  skills?: PromptSkills | undefined;
  /** Nobody can speak to this agent while it works: it has to look for itself. */
  looksForSignals?: boolean | undefined;
  gates?: GateDef[] | undefined;
  /** Paths or patterns that only the engine and people may change. */
  protect?: string[] | undefined;
  /** Topics this role may publish; null or left out is no bound. */
  publishes?: string[] | null | undefined;
  /** Who commits: told to the agent. `agent`: it must; `none`: nobody; else the engine does what it left. */
  commit?: 'auto' | 'agent' | 'engine' | 'none' | undefined;
  completionWord?: string | null | undefined;
  outboxPath?: string | undefined;
  /** The message of the pause this attempt was resumed from. */
  pausedMessage?: string | undefined;
}
