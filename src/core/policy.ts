/**
 * What the loop may do and how far, as one value. It stands in the journal with `run.started`, so
 * `decide` never reads configuration and a resumed journal means the same thing.
 */
import type { Mode } from './role.ts';

/** A command that yields evidence. `minTests` 0 means the number of tests is not checked. */
export interface GateDef {
  name: string;
  run: string;
  timeoutS: number;
  required: boolean;
  minTests: number;
  /** `no_regression`: failures that stood before the task began are told but accepted. */
  baseline: 'no_regression' | 'must_pass';
}

export type OnTimeout = 'proceed' | 'default' | 'carry' | 're_ask' | 'stop';

export interface Limits {
  /** null: computed from the tasks that are open at the start (law: 20 + 6 per task). */
  maxIterations: number | null;
  /** Waves without progress before exit 4; 0 is off. */
  maxStuck: number;
  maxTaskAttempts: number;
  onExhausted: 'ask' | 'fail';
  reviewCap: number;
  maxCycles: number;
  maxTimeS: number | null;
  maxCostUsd: number | null;
  maxCostUsdPerTask: number | null;
  maxCostUsdPerDay: number | null;
  maxTokens: number | null;
  idleTimeoutS: number;
  pauseGraceS: number;
  taskWipMinutes: number;
  cooldownS: number;
  /** Delay before the k-th try after a death, in seconds. */
  retryDelaysS: number[];
  maxSubagentRetries: number;
  maxCarryIterations: number;
}

/** How long one attempt may take: base × complexity × growth^timeouts, clamped. Seconds. */
export interface TimeoutPolicy {
  mode: 'speed' | 'balanced' | 'quality';
  baseS: number;
  minS: number;
  maxS: number;
  growth: number;
  failureScaling: boolean;
}

export interface InterventionPolicy {
  enabled: boolean;
  thresholdNoFiles: number;
  thresholdFalseCompletion: number;
  feedbackRotationDays: number;
  aggressive: boolean;
}

export interface QuestionPolicy {
  /** What a DECIDE or BLOCKED claim holds up. */
  hold: 'task' | 'session';
  onTimeout: OnTimeout;
  approvalTimeoutS: number | null;
  /** `human.interact`: how long the session waits; 0 is no limit; null: nobody can answer live. */
  interactTimeoutS: number | null;
  interactOnTimeout: OnTimeout;
}

export interface Policy {
  team: string;
  modes: Mode[];
  agent: string;
  model: string | null;
  fallback: string[];
  completionWord: string | null;
  gates: GateDef[];
  protect: string[];
  commit: 'auto' | 'agent' | 'engine' | 'none';
  limits: Limits;
  timeout: TimeoutPolicy;
  interventions: InterventionPolicy;
  questions: QuestionPolicy;
  parallel: { executors: number; reviewers: number; questioners: number };
  /** Whether the run waits for people, instead of stopping with the question's exit code. */
  wait: boolean;
  /** False after `--no-wait`: a provider's reset time is not waited for either. */
  park: boolean;
  /** Only this task is worked on (`--task`). */
  onlyTask: string | null;
  /** Topics that must have been published before the list can be done. */
  requiredTopics: string[];
}
