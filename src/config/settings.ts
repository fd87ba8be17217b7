/**
 * The configuration as the rest of the house reads it: names in the house's spelling, defaults and
 * aliases resolved, nothing left to interpret. What the journal keeps of it is the policy (policy.ts).
 */
import type {
  ComplexityClass,
  GateDef,
  InterventionPolicy,
  Limits,
  Mode,
  OnTimeout,
  TimeoutPolicy,
} from '../core/index.ts';
import { parseDuration } from './duration.ts';
import type { Flags } from './layers.ts';
import { defaultRoleOf, type RoleSpec, toRoles } from './roles.ts';
import type { Config } from './schema.ts';

/** An agent of the user's own: surface.md section 3. */
export interface AgentSpec {
  command: string[];
  /** How the prompt reaches it. */
  prompt: 'stdin' | 'arg' | 'file';
  /** `text`, a known agent's stream such as `claude-json`, or `acp`. */
  output: string;
}

export type Permission = 'allow' | 'ask' | 'deny';

/** Everything the configuration says. Units stand in the names; null is "not set" or "no limit". */
/** What agents are shut into. */
export type Sandbox =
  | 'none'
  | 'bwrap'
  | { command: string[] }
  | { bwrap: { network: boolean; env?: string[] | undefined; write: string[] } };

export interface Settings {
  /** `auto`: the first installed. */
  agent: string;
  model: string | null;
  /** `auto`: by the task list. */
  team: string;
  /** null: looked for in the usual places. */
  tasks: string | null;
  promptFile: string | null;
  onlyTask: string | null;
  mode: TimeoutPolicy['mode'];
  completionWord: string | null;
  gates: GateDef[];
  protect: string[];
  commit: 'auto' | 'agent' | 'engine' | 'none';
  /** `onExhausted` null: by the team. */
  limits: Omit<Limits, 'onExhausted'> & { onExhausted: Limits['onExhausted'] | null };
  /** `asked`: the command line said how many, so that every team follows. */
  parallel: { executors: number; reviewers: number; questioners: number; asked: boolean; worktrees: boolean };
  interventions: InterventionPolicy & { live: boolean };
  adaptiveTimeout: {
    enabled: boolean;
    complexityScaling: boolean;
    failureScaling: boolean;
    maxS: number;
    minS: number;
    growth: number;
    learn: boolean;
    complexity: {
      simple: ComplexityClass;
      medium: ComplexityClass;
      complex: ComplexityClass;
      uiHeavy: ComplexityClass;
    };
  };
  /** Seconds of a simple attempt. */
  modes: Record<TimeoutPolicy['mode'], number>;
  unblock: { autoSuggest: boolean; auto: boolean; maxAutoAttempts: number };
  questions: { hold: 'task' | 'session'; onTimeout: OnTimeout; approvalTimeoutS: number | null };
  agents: Record<string, AgentSpec>;
  fallback: string[];
  /** The user's own teams. */
  teams: Record<string, Mode[]>;
  roles: Record<string, RoleSpec>;
  /** The role that gets ready tasks; null without own roles. */
  defaultRole: string | null;
  requiredTopics: string[];
  robot: {
    enabled: boolean;
    /** 0 has no limit; null only while disabled. */
    timeoutS: number | null;
    onTimeout: OnTimeout;
    /** Secret: never shown, logged or journalled. */
    botToken: string | null;
    apiUrl: string;
    allowedUsers: number[];
  };
  channels: {
    /** `secret` is never shown, logged or journalled. */
    webhook: {
      url: string;
      secret: string | null;
      answers: boolean;
      /** Where answers are taken on this machine, `host:port`. */
      listen: string;
      /** What the receiver is told; null: the address on this machine. */
      answerUrl: string | null;
    } | null;
    desktop: boolean;
  };
  permissions: { default: Permission; rules: { match: string; policy: Permission }[] };
  sandbox: Sandbox;
  /** 0: whatever is there. */
  host: { minFreeDiskMb: number; minFreeMemoryMb: number };
  /** While a run is at work the machine does not fall asleep. */
  keepAwake: boolean;
  worktree: { copy: string[]; run: string[] };
  land: 'merge' | 'branch' | { command: string };
  /** Who settles conflicts of a landing; null: a person. */
  merge: { resolve: string | null };
  memories: { enabled: boolean; budgetTokens: number };
  skills: { dirs: string[] };
  trackSessions: boolean;
  /** `--wait` / `--no-wait`; null: by who can answer. */
  wait: boolean | null;
  skipReview: boolean;
  allowDirty: boolean;
  /** False after `--no-git`. */
  git: boolean;
}

/** Turns the checked file shape and the flags into settings. `isSet`: somebody wrote this key. */
export function toSettings(config: Config, flags: Flags, isSet: (key: string) => boolean): Settings {
  return {
    agent: config.agent,
    model: config.model,
    team: config.team,
    tasks: config.tasks,
    promptFile: flags.promptFile ?? null,
    onlyTask: flags.task ?? null,
    mode: config.mode,
    completionWord: config.completion_word,
    gates: config.gates.map(toGate),
    protect: config.protect,
    commit: config.commit,
    limits: toLimits(config, isSet('limits.on_exhausted')),
    parallel: toParallel(config, flags.parallel !== undefined),
    interventions: toInterventions(config),
    adaptiveTimeout: toAdaptive(config),
    modes: config.modes,
    unblock: {
      autoSuggest: config.unblock.auto_suggest,
      auto: config.unblock.auto,
      maxAutoAttempts: config.unblock.max_auto_unblock_attempts,
    },
    questions: {
      hold: config.questions.hold,
      onTimeout: config.questions.on_timeout,
      approvalTimeoutS: config.questions.approval_timeout_seconds,
    },
    agents: config.agents,
    fallback: config.fallback,
    teams: mapValues(config.teams, ({ modes }) => [...new Set(modes)]),
    roles: withoutFlagged(toRoles(config), flags),
    defaultRole: defaultRoleOf(config),
    requiredTopics: config.required_topics,
    robot: {
      enabled: config.RObot.enabled,
      timeoutS: config.RObot.timeout_seconds ?? null,
      onTimeout: config.RObot.on_timeout,
      botToken: config.RObot.telegram.bot_token ?? null,
      apiUrl: config.RObot.telegram.api_url,
      allowedUsers: config.RObot.telegram.allowed_users,
    },
    channels: toChannels(config),
    permissions: config.permissions,
    sandbox: config.sandbox,
    host: toHost(config),
    keepAwake: config.host.keep_awake,
    worktree: config.worktree,
    land: config.land,
    merge: config.merge,
    memories: { enabled: config.memories.enabled, budgetTokens: config.memories.budget_tokens },
    skills: config.skills,
    trackSessions: config.track_sessions,
    wait: flags.wait === true ? true : flags.noWait === true ? false : null,
    skipReview: flags.skipReview ?? false,
    allowDirty: flags.allowDirty ?? false,
    git: flags.noGit !== true,
  };
}

function toChannels({ channels: { webhook, desktop } }: Config): Settings['channels'] {
  if (webhook === undefined) return { webhook: null, desktop };
  const { url, secret, answers, listen, answer_url: answerUrl } = webhook;
  return {
    webhook: { url, secret: secret ?? null, answers, listen, answerUrl: answerUrl ?? null },
    desktop,
  };
}

function toHost({ host }: Config): Settings['host'] {
  return { minFreeDiskMb: host.min_free_disk_mb, minFreeMemoryMb: host.min_free_memory_mb };
}

function mapValues<In, Out>(record: Record<string, In>, turn: (value: In) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, turn(value)]));
}

function toGate(gate: Config['gates'][number]): GateDef {
  return {
    name: gate.name,
    run: gate.run,
    timeoutS: gate.timeout_s,
    required: gate.required,
    minTests: gate.min_tests,
    baseline: gate.baseline,
  };
}

function toLimits({ limits }: Config, exhaustedSet: boolean): Settings['limits'] {
  return {
    maxIterations: limits.max_iterations,
    maxStuck: limits.max_stuck,
    maxTaskAttempts: limits.max_task_attempts,
    onExhausted: exhaustedSet ? limits.on_exhausted : null,
    reviewCap: limits.review_cap,
    maxCycles: limits.max_cycles,
    maxTimeS: limits.max_time === null ? null : parseDuration(limits.max_time),
    maxCostUsd: limits.max_cost_usd,
    maxCostUsdPerTask: limits.max_cost_usd_per_task,
    maxCostUsdPerDay: limits.max_cost_usd_per_day,
    maxTokens: limits.max_tokens,
    idleTimeoutS: limits.idle_timeout,
    pauseGraceS: limits.pause_grace,
    taskWipMinutes: limits.task_wip_minutes,
    cooldownS: limits.cooldown_delay_seconds,
    retryDelaysS: limits.retry_delays_s,
    maxSubagentRetries: limits.max_subagent_retries,
    maxCarryIterations: limits.max_carry_iterations,
  };
}

function toParallel({ parallel }: Config, asked: boolean): Settings['parallel'] {
  const least = (wanted: number): number => Math.max(1, wanted);
  return {
    executors: least(parallel.max_parallel_executors),
    reviewers: least(parallel.max_parallel_reviewers),
    questioners: least(parallel.max_parallel_questioners),
    asked,
    worktrees: parallel.worktrees,
  };
}

function toInterventions({ interventions }: Config): Settings['interventions'] {
  return {
    enabled: interventions.enabled,
    thresholdNoFiles: interventions.threshold_no_files,
    thresholdFalseCompletion: interventions.threshold_false_completion,
    feedbackRotationDays: interventions.feedback_rotation_days,
    aggressive: interventions.aggressive_mode,
    live: interventions.live,
  };
}

function toAdaptive({ adaptive_timeout: adaptive }: Config): Settings['adaptiveTimeout'] {
  const { ui_heavy: uiHeavy, ...others } = adaptive.complexity;
  return {
    enabled: adaptive.enabled,
    complexityScaling: adaptive.complexity_scaling,
    failureScaling: adaptive.failure_scaling,
    maxS: adaptive.max_timeout,
    minS: adaptive.min_timeout,
    growth: adaptive.timeout_multiplier_per_failure,
    learn: adaptive.learn,
    complexity: { ...others, uiHeavy },
  };
}

/** `--agent` and `--model` are about who works: nearer to the person than what a file says of the executor. */
function withoutFlagged(roles: Record<string, RoleSpec>, { agent, model }: Flags): Record<string, RoleSpec> {
  const { executor } = roles;
  if (executor === undefined || (agent ?? model) === undefined) return roles;
  const own = agent === undefined ? { model: model ?? null } : { agent: null, model: null };
  return { ...roles, executor: { ...executor, ...own } };
}
