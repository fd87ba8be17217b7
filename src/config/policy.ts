/**
 * Settings and the facts of this start become the policy that stands in the journal: which team is
 * hired, which gates prove the work, how long an attempt may take, whether the run waits for people.
 */
import {
  allowsAll,
  type GateDef,
  isOwn,
  type LoopWork,
  type Mode,
  type Policy,
  TEAMS,
} from '../core/index.ts';
import type { Settings } from './settings.ts';

/** What only the start of a run can know. */
export interface StartFacts {
  /** The task list has review fields. */
  reviewedList: boolean;
  /** Command lines the task list brings along (`verifyCommands`). */
  listGates: string[];
  /** A person sits at this terminal. */
  interactive: boolean;
  /** The channels of this run; `answers`: a person can answer through it. */
  channels: readonly { name: string; answers: boolean }[];
  /** The agent that was chosen, never `auto`. */
  agent: string;
  /** The loop whose work tree it is; absent: it is none's. */
  loop?: LoopWork;
}

/** The complete policy of a run. The same settings and facts always give the same policy. */
export function toPolicy(settings: Settings, facts: StartFacts): Policy {
  const hats = hatsPolicy(settings);
  const { team, modes } = hire(settings, facts.reviewedList, hats.hats !== undefined);
  const plans = modes.includes('TASK_BREAKDOWN');
  const { onExhausted, ...limits } = settings.limits;
  const { live: _live, ...interventions } = settings.interventions;
  const answerable = facts.interactive || facts.channels.some(({ answers }) => answers);
  return {
    team,
    modes,
    agent: facts.agent,
    model: settings.model,
    fallback: settings.fallback,
    ...rolePolicies(settings),
    ...hats,
    completionWord: settings.completionWord,
    gates: [...settings.gates, ...listGates(settings.gates, facts.listGates)],
    protect: settings.protect,
    commit: settings.git ? settings.commit : 'none',
    limits: { ...limits, onExhausted: onExhausted ?? (plans ? 'fail' : 'ask') },
    timeout: timeoutPolicy(settings),
    interventions,
    questions: {
      ...settings.questions,
      interactTimeoutS: answerable ? (settings.robot.timeoutS ?? 0) : null,
      interactOnTimeout: settings.robot.onTimeout,
      channels: facts.interactive ? [] : facts.channels.map(({ name }) => name),
    },
    ...(allowsAll(settings.permissions) ? {} : { permissions: settings.permissions }),
    unblock: { auto: settings.unblock.auto, maxAutoAttempts: settings.unblock.maxAutoAttempts },
    parallel: sideBySide(settings, plans),
    wait: settings.wait ?? answerable,
    park: settings.wait !== false,
    host: settings.host,
    ...(facts.loop && { loop: facts.loop }),
    onlyTask: settings.onlyTask,
    requiredTopics: settings.requiredTopics,
  };
}

/** The roles that others play. */
function rolePolicies({ roles }: Settings): Pick<Policy, 'roles'> {
  const changed = Object.entries(roles).flatMap(([name, { agent, model, fallback }]) => {
    if ((agent ?? model ?? fallback) === null) return [];
    return [[name, { agent, model, fallback: fallback === null ? null : [...fallback] }] as const];
  });
  return changed.length === 0 ? {} : { roles: Object.fromEntries(changed) };
}

/** One's own roles, as topics and prompts go by them. */
function hatsPolicy({ roles, defaultRole }: Settings): Pick<Policy, 'hats'> {
  const own = Object.entries(roles).filter(([name, { triggers }]) => isOwn({ name, triggers }));
  if (own.length === 0 || defaultRole === null) return {};
  const listed = own.map(([name, role]) => ({
    name,
    title: role.title,
    triggers: role.triggers,
    publishes: role.publishes,
    defaultPublishes: role.defaultPublishes,
    instructions: role.instructions,
    maxActivations: role.maxActivations,
  }));
  return { hats: { roles: listed, defaultRole } };
}

/**
 * Who is hired. `auto`: pair for a list with review fields, else solo. `--skip-review` makes a pair a
 * solo; a larger team keeps its other modes and only loses the review of single tasks. Roles of one's own take
 * the place of who works on tasks and reviews them.
 */
function hire(settings: Settings, reviewedList: boolean, hats: boolean): { team: string; modes: Mode[] } {
  const wanted = settings.team === 'auto' ? (reviewedList ? 'pair' : 'solo') : settings.team;
  const team = wanted === 'pair' && settings.skipReview ? 'solo' : wanted;
  const modes = settings.teams[team] ?? TEAMS[team] ?? TEAMS.solo!;
  const dropped = (mode: Mode): boolean => mode === 'TASK_REVIEW' || mode === 'review-fix';
  const hired = modes.filter((mode) => !(settings.skipReview && dropped(mode)));
  return {
    team,
    modes: hats ? [...hired.filter((mode) => !dropped(mode) && mode !== 'implement'), 'hat'] : hired,
  };
}

/** The list's own commands as required gates `verify-1`, `verify-2` …; a taken name is passed over. */
function listGates(configured: GateDef[], commands: string[]): GateDef[] {
  const taken = new Set(configured.map(({ name }) => name));
  let n = 0;
  return commands.map((run) => {
    do n++;
    while (taken.has(`verify-${n}`));
    return {
      name: `verify-${n}`,
      run,
      timeoutS: 600,
      required: true,
      minTests: 0,
      baseline: 'no_regression',
    };
  });
}

/** Without adaptive timeouts an attempt gets the seconds of its mode, which then no bound may cut. */
function timeoutPolicy({ mode, modes, adaptiveTimeout }: Settings): Policy['timeout'] {
  const { enabled, minS, maxS, growth, complexity } = adaptiveTimeout;
  const { uiHeavy, ...others } = complexity;
  const baseS = modes[mode];
  return {
    mode,
    baseS,
    minS: enabled ? minS : Math.min(minS, baseS),
    maxS: enabled ? maxS : Math.max(maxS, baseS),
    growth,
    failureScaling: enabled && adaptiveTimeout.failureScaling,
    complexityScaling: enabled && adaptiveTimeout.complexityScaling,
    classes: { ...others, ui_heavy: uiHeavy },
    learn: enabled && adaptiveTimeout.learn,
  };
}

/**
 * A team that plans works side by side, others where the command line asks for it. Each needs a work tree of its
 * own, and the engine's commits bring together what they made.
 */
function sideBySide({ parallel, git, commit }: Settings, plans: boolean): Policy['parallel'] {
  const can = git && parallel.worktrees && commit === 'auto';
  if (!can || !(plans || parallel.asked)) return { executors: 1, reviewers: 1, questioners: 1 };
  return { executors: parallel.executors, reviewers: parallel.reviewers, questioners: parallel.questioners };
}
