/**
 * What the loop may do and how far, as one value. It stands in the journal with `run.started`, so
 * `decide` never reads configuration and a resumed journal means the same thing.
 */
import type { ComplexityClasses } from './complexity.ts';
import type { Hat } from './hats.ts';
import type { LoopWork } from './landing.ts';
import type { PermissionPolicy } from './permission.ts';
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

/**
 * How long one attempt may take: mode × class × grant × growth^timeouts, within bounds. Seconds. What may be
 * absent is absent in journals of versions that gave every task the time of its mode.
 */
export interface TimeoutPolicy {
  mode: 'speed' | 'balanced' | 'quality';
  baseS: number;
  minS: number;
  maxS: number;
  growth: number;
  failureScaling: boolean;
  /** Whether a task's class scales its time. */
  complexityScaling?: boolean;
  classes?: ComplexityClasses;
  /** Whether what accepted attempts of a class took takes the place of mode × class. */
  learn?: boolean;
}

export interface InterventionPolicy {
  enabled: boolean;
  thresholdNoFiles: number;
  thresholdFalseCompletion: number;
  feedbackRotationDays: number;
  aggressive: boolean;
}

/** What the loop does by itself about blocked tasks. */
export interface UnblockPolicy {
  /** Blocked tasks are tried again without a person, where more time or another agent can help. */
  auto: boolean;
  /** Most such unblockings of one task in the whole session. */
  maxAutoAttempts: number;
}

export interface QuestionPolicy {
  /** What a DECIDE or BLOCKED claim holds up. */
  hold: 'task' | 'session';
  onTimeout: OnTimeout;
  approvalTimeoutS: number | null;
  /** `human.interact`: how long the session waits; 0 is no limit; null: nobody can answer live. */
  interactTimeoutS: number | null;
  interactOnTimeout: OnTimeout;
  /**
   * Channels one of which must reach somebody for `human.interact` to be waited for; empty where a person sits at
   * the terminal. Absent in journals of versions without channels.
   */
  channels?: string[];
}

/** Who plays a role, where it is not the agent that works. */
export interface RolePolicy {
  /** null: the policy's. */
  agent: string | null;
  /** null: the policy's for its agent, the agent's own for another. */
  model: string | null;
  /** null: the policy's. */
  fallback: string[] | null;
}

/** A role of one's own, as far as topics and prompts go; who plays it stands in `roles`. */
export type HatPolicy = Pick<
  Hat,
  'name' | 'title' | 'triggers' | 'publishes' | 'defaultPublishes' | 'instructions' | 'maxActivations'
>;

/** Roles of one's own: topics take the place of the order of tasks. */
export interface HatsPolicy {
  roles: HatPolicy[];
  /** Gets what nobody listens for, and tasks that no topic is left for. */
  defaultRole: string;
}

export interface Policy {
  team: string;
  modes: Mode[];
  agent: string;
  model: string | null;
  fallback: string[];
  /** By role, for those with an agent, a model or a fallback of their own. Absent in older journals. */
  roles?: Record<string, RolePolicy>;
  /** Absent where no role is one's own, and in older journals. */
  hats?: HatsPolicy;
  completionWord: string | null;
  gates: GateDef[];
  protect: string[];
  commit: 'auto' | 'agent' | 'engine' | 'none';
  limits: Limits;
  timeout: TimeoutPolicy;
  interventions: InterventionPolicy;
  questions: QuestionPolicy;
  /** Absent where everything is allowed, and in older journals. */
  permissions?: PermissionPolicy;
  /** Absent in journals from before it was carried out. */
  unblock?: UnblockPolicy;
  parallel: { executors: number; reviewers: number; questioners: number };
  /** Whether the run waits for people, instead of stopping with the question's exit code. */
  wait: boolean;
  /** False after `--no-wait`: a provider's reset time is not waited for either. */
  park: boolean;
  /** MB that have to be free before an agent starts, 0: whatever is there. Absent in older journals: that, too. */
  host?: { minFreeDiskMb: number; minFreeMemoryMb: number };
  /** The loop in whose work tree it runs. Absent in any other work tree, and in older journals. */
  loop?: LoopWork;
  /** Only this task is worked on (`--task`). */
  onlyTask: string | null;
  /** Topics that must have been published before the list can be done. */
  requiredTopics: string[];
}
