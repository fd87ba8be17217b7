/** Small builders for the law's own tests: facts with everything that does not matter filled in. */
import { NO_CLAIM } from './claim.ts';
import { DEFAULT_CLASSES } from './complexity.ts';
import type { Fact } from './event.ts';
import type { AgentReport, Mark } from './evidence.ts';
import { evolve } from './evolve.ts';
import type { Evidence } from './judgement.ts';
import type { Message } from './message.ts';
import type { Limits, Policy } from './policy.ts';
import type { Question } from './question.ts';
import type { Item } from './role.ts';
import { emptyState, type State } from './state.ts';
import type { TaskDef } from './task.ts';

/** The hour at which every test begins. Epoch ms. */
export const NOON = Date.UTC(2026, 0, 1, 12, 0, 0);

export const LIMITS: Limits = {
  maxIterations: null,
  maxStuck: 3,
  maxTaskAttempts: 3,
  onExhausted: 'ask',
  reviewCap: 5,
  maxCycles: 5,
  maxTimeS: null,
  maxCostUsd: null,
  maxCostUsdPerTask: null,
  maxCostUsdPerDay: null,
  maxTokens: null,
  idleTimeoutS: 600,
  pauseGraceS: 60,
  taskWipMinutes: 120,
  cooldownS: 0,
  retryDelaysS: [0, 30, 60, 60],
  maxSubagentRetries: 4,
  maxCarryIterations: 2,
};

export type PolicyChange = Partial<Omit<Policy, 'limits'>> & { limits?: Partial<Limits> };

/** A solo policy that stops instead of waiting for people. */
export function policyOf({ limits, ...rest }: PolicyChange = {}): Policy {
  return {
    team: 'solo',
    modes: ['implement'],
    agent: 'played',
    model: null,
    fallback: [],
    completionWord: null,
    gates: [],
    protect: [],
    commit: 'auto',
    limits: { ...LIMITS, ...limits },
    timeout: {
      mode: 'balanced',
      baseS: 900,
      minS: 60,
      maxS: 3600,
      growth: 1.5,
      failureScaling: true,
      complexityScaling: true,
      classes: DEFAULT_CLASSES,
      learn: false,
    },
    interventions: {
      enabled: true,
      thresholdNoFiles: 3,
      thresholdFalseCompletion: 2,
      feedbackRotationDays: 30,
      aggressive: false,
    },
    questions: {
      hold: 'session',
      onTimeout: 'proceed',
      approvalTimeoutS: null,
      interactTimeoutS: null,
      interactOnTimeout: 'proceed',
      channels: [],
    },
    unblock: { auto: false, maxAutoAttempts: 1 },
    parallel: { executors: 1, reviewers: 1, questioners: 1 },
    host: { minFreeDiskMb: 500, minFreeMemoryMb: 300 },
    wait: false,
    park: true,
    onlyTask: null,
    requiredTopics: [],
    ...rest,
  };
}

export const PAIR_MODES: Pick<Policy, 'team' | 'modes'> = {
  team: 'pair',
  modes: ['implement', 'review-fix', 'TASK_REVIEW'],
};

export function taskOf(id: string, over: Partial<TaskDef> = {}): TaskDef {
  const base = { title: `Make ${id}`, description: '', acceptance: [], priority: 0, order: 0 };
  return { ...base, id, dependsOn: [], status: 'todo', files: [], changes: 'expected', ...over };
}

export function started(change: PolicyChange = {}): Fact {
  const runner = { pid: 1, startTime: '1', host: 'h', boot: 'b' };
  return {
    type: 'run.started',
    policy: policyOf(change),
    runner,
    dirty: [],
    spentTodayUsd: 0,
    reopened: false,
    flags: {},
  };
}

export function listed(...set: TaskDef[]): Fact {
  const source = { kind: 'file' as const, path: 'tasks.json', dialect: 'tasks.json', reviewed: false };
  return { type: 'tasks.read', source, sha256: 'list', set, gone: [], by: 'person' };
}

export const markOf = (tree: string, head = 'c1'): Mark => ({ head, branch: 'main', tree });

export function itemOn(task: string, mode: Item['mode'] = 'implement'): Item {
  return { role: mode === 'TASK_REVIEW' ? 'reviewer' : 'executor', mode, subject: task, task };
}

export const waved = (iteration: number, item: Item, wave = iteration): Fact => ({
  type: 'wave.started',
  wave,
  items: [{ iteration, item }],
});

export const begun = (iteration: number, item: Item, delivered: string[] = []): Fact => ({
  type: 'attempt.started',
  iteration,
  item,
  attempt: 1,
  agent: 'played',
  model: null,
  allowance: { wallMs: 900_000, idleMs: 600_000 },
  before: markOf('tree-0'),
  marker: `m${iteration}`,
  tokenHash: '',
  prompt: { path: 'p', sha256: 'p' },
  taskFile: null,
  delivered,
  reminded: [],
});

export function reportOf(over: Partial<AgentReport> = {}): AgentReport {
  return {
    ending: 'ended',
    timeout: null,
    exitCode: 0,
    signal: null,
    error: null,
    finalMessage: '',
    toolCalls: 3,
    toolFiles: [],
    commands: [],
    outputBytes: 1,
    usage: { inputTokens: 10, outputTokens: 5, costUsd: 0, model: null },
    sessionId: null,
    leftBehind: [],
    unknownEvents: 0,
    ...over,
  };
}

type Ended = Extract<Fact, { type: 'attempt.ended' }>;
export const ended = (iteration: number, over: Partial<Ended> = {}): Fact => ({
  type: 'attempt.ended',
  iteration,
  report: reportOf(),
  claim: NO_CLAIM,
  after: markOf(`tree-${iteration}`),
  changes: [],
  changeCount: 0,
  more: null,
  commits: [],
  rewrote: false,
  trespass: [],
  marked: [],
  durationMs: 1_000,
  stoppedFor: null,
  review: null,
  bookkeeping: false,
  ...over,
});

type Reached = Extract<Fact, { type: 'verdict.reached' }>;
export const judged = (iteration: number, item: Item, over: Partial<Reached> = {}): Fact => ({
  type: 'verdict.reached',
  iteration,
  item,
  value: 'rejected',
  findings: [],
  charged: true,
  tree: `tree-${iteration}`,
  newTree: false,
  reason: 'no claim and no change',
  parks: false,
  down: null,
  ...over,
});

type WaveEnded = Extract<Fact, { type: 'wave.ended' }>;
export const waveEnded = (wave: number, over: Partial<WaveEnded> = {}): Fact => ({
  type: 'wave.ended',
  wave,
  progress: false,
  neutral: false,
  dead: false,
  started: 1,
  returned: [],
  ...over,
});

/** One whole fruitless try: opened, run, judged and closed. */
export function tried(iteration: number, task: string, over: Partial<Reached> = {}): Fact[] {
  const item = itemOn(task);
  const died = over.value === 'died';
  return [
    waved(iteration, item),
    begun(iteration, item),
    ended(iteration, died ? { report: reportOf({ ending: 'died' }) } : {}),
    judged(iteration, item, over),
    ...(over.charged === false || died
      ? []
      : [{ type: 'task.charged' as const, task, budget: 'evidence' as const, iteration }]),
    waveEnded(iteration, died ? { neutral: true, dead: true } : {}),
  ];
}

export const moved = (task: string, to: TaskDef['status'], by = 'engine', reason = ''): Fact => ({
  type: 'task.moved',
  task,
  to,
  reason,
  by,
});

export const asked = (id: string, over: Partial<Question> = {}): Fact => ({
  type: 'question.asked',
  question: {
    id,
    kind: 'decision',
    about: 't1',
    text: 'left or right?',
    options: [],
    default: null,
    hold: 'task',
    deadline: null,
    onTimeout: 'proceed',
    askedBy: 'played',
    iteration: null,
    askedAt: NOON,
    ...over,
  },
});

export function messageOf(type: Message['type'], over: Partial<Message> = {}): Message {
  const base = { id: `${type}.yaml`, target: 'ALL', text: '', from: 'anna@desk', createdAt: NOON };
  return { ...base, type, confirmed: true, ...over };
}

/** The state of a session in BATCHING after these facts, each in a record of its own, all at one moment. */
export function given(...facts: Fact[]): State {
  const created: Fact = {
    type: 'session.created',
    id: 's',
    objective: 'Build it',
    timezone: 'UTC',
    product: 'test',
    ground: '.',
  };
  const state = emptyState();
  const batching: Fact = { type: 'phase.entered', phase: 'BATCHING' };
  for (const fact of [created, batching, ...facts])
    evolve(state, { seq: state.seq + 1, at: NOON, facts: [fact] });
  return state;
}

/** Continues a state with more facts, at the given moment. */
export function further(state: State, facts: Fact[], at = NOON): State {
  for (const fact of facts) evolve(state, { seq: state.seq + 1, at, facts: [fact] });
  return state;
}

/** Evidence of a plain accepted attempt; a test changes what it is about. */
export function evidenceOf(over: Partial<Evidence> = {}): Evidence {
  const change = { path: 'a.txt', before: null, after: 'x' };
  return {
    mode: 'implement',
    task: 't1',
    report: reportOf(),
    claim: { ...NO_CLAIM, kind: 'complete', via: 'tag', files: ['a.txt'] },
    stoppedFor: null,
    needsNoChange: false,
    changed: [change],
    bookkeeping: false,
    standing: [change],
    earlier: null,
    gates: [],
    receipt: null,
    trespass: [],
    marked: [],
    review: null,
    hasCriteria: false,
    newTree: true,
    oscillates: false,
    inner: [],
    hat: null,
    historyRewritten: false,
    branchChanged: null,
    undeliveredSteer: false,
    asked: false,
    deniedGate: null,
    refused: [],
    idleRow: 0,
    works: null,
    conflicts: [],
    ...over,
  };
}
