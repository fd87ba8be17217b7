/**
 * The story of a session: what the state lets go of, kept by iteration. It is told record by record
 * beside the state, in the same single pass.
 */
import {
  type AgentReport,
  type Change,
  type Claim,
  type CycleWorks,
  emptyState,
  evolve,
  type Fact,
  type Finding,
  type GateResult,
  type Intervention,
  type InterventionKind,
  type Item,
  type JournalRecord,
  keepsWorks,
  type Message,
  type MovedRef,
  type Receipt,
  reportOf,
  type State,
  type StopCause,
  type TaskState,
  type TaskStatus,
  type TimeReckoning,
  type Trespass,
  type Usage,
  type VerdictValue,
} from '../core/index.ts';
import type { LiveInfo } from './next.ts';
import { type OutageStory, outageOf } from './outages.ts';

export interface IterationStory {
  iteration: number;
  cycle: number;
  wave: number;
  item: Item;
  attempt: number;
  agent: string;
  model: string | null;
  /** Epoch ms. */
  startedAt: number;
  endedAt: number | null;
  /** As the runner measured it; null while it runs and where it was lost. */
  durationMs: number | null;
  wallMs: number;
  idleMs: number;
  /** What its time was computed from; null in journals that do not say. */
  time: TimeReckoning | null;
  claim: Claim | null;
  report: AgentReport | null;
  /** What it used, as far as that is known. */
  usage: Usage | null;
  changes: Change[];
  changeCount: number;
  commits: string[];
  /** What gates changed afterwards: paths of its task, and how many others. */
  rewritten: { paths: string[]; count: number; others: string[]; otherCount: number };
  trespass: Trespass[];
  /** What it left in its cycle's folder; null in teams that keep no works. */
  works: CycleWorks | null;
  /** The report it writes or reviews, relative to the session's folder; null without one. */
  reportFile: string | null;
  gates: { when: 'baseline' | 'after'; result: GateResult }[];
  verdict: { value: VerdictValue; reason: string; charged: boolean; findings: Finding[]; at: number } | null;
  /** What was claimed and what became of it; null where nothing was, and in older journals. */
  receipt: Receipt | null;
  interventions: Intervention[];
  /** Where the verdict moved its task. */
  moved: { to: TaskStatus; reason: string } | null;
  questions: string[];
  /** The engine's commit of this task's work. */
  commit: string | null;
  landing: { by: 'agent' | 'engine' | 'nobody'; paths: string[] } | { failed: string } | null;
  delivered: string[];
  reminded: string[];
  lost: string | null;
  stoppedFor: StopCause | null;
  /** Commands that bring back branches, tags and stashes that were gone when it ended. */
  removedRefs: string[];
  movedRefs: MovedRef[];
  /** What stood when its wave was closed; null while the wave is open. */
  closed: { stuck: number; storiesDone: number; storiesTotal: number } | null;
}

export interface TopicStory {
  at: number;
  iteration: number;
  role: string;
  topic: string;
  payload: string;
}

/** A finding or an applied correction, at the time it was written down. */
export interface FindingStory {
  at: number;
  iteration: number;
  task: string | null;
  agent: string;
  finding: Finding | null;
  /** Set for the correction itself, where it is an event of its own. */
  applied: Intervention | null;
  answered: boolean;
  /** The correction that answered it; null: none. */
  correction: InterventionKind | null;
}

export interface Story {
  state: State;
  iterations: Map<number, IterationStory>;
  topics: TopicStory[];
  findings: FindingStory[];
  /** What providers refused, the newest last, at most 200. */
  outages: OutageStory[];
  /** Messages and what became of them, the newest last, at most 200. */
  messages: {
    at: number;
    id: string;
    message: Message | null;
    action: string;
    /** Iterations whose agent it reached while it worked; absent: none. */
    live?: number[];
    /** Iterations whose prompt it stood in, also where that led nowhere; absent: none. */
    stood?: number[];
  }[];
  runs: { startedAt: number; stoppedAt: number | null; code: number | null; word: string; reason: string }[];
  /** Baseline gates that ran before their attempt began. */
  early: Map<number, GateResult[]>;
  /** The last iteration about each task. */
  last: Map<string, number>;
}

const MAX_MESSAGES = 200;

export function emptyStory(): Story {
  return {
    state: emptyState(),
    iterations: new Map(),
    topics: [],
    findings: [],
    outages: [],
    messages: [],
    runs: [],
    early: new Map(),
    last: new Map(),
  };
}

/** The story after these records, which come in order and from the first one. */
export function readStory(records: Iterable<JournalRecord>): Story {
  const story = emptyStory();
  for (const record of records) tell(story, record);
  return story;
}

/** Adds one record, in place; the state in it moves along. */
export function tell(story: Story, record: JournalRecord): Story {
  evolve(story.state, record);
  hearRecord(story.messages, record);
  for (const fact of record.facts) {
    tellFact(story, fact, record.at);
    const outage = outageOf(fact, record.at, story.state);
    if (outage !== null) story.outages = [...story.outages.slice(-199), outage];
  }
  return story;
}

function tellFact(story: Story, fact: Fact, at: number): void {
  switch (fact.type) {
    case 'run.started':
      story.runs.push({ startedAt: at, stoppedAt: null, code: null, word: '', reason: '' });
      return;
    case 'run.stopped': {
      const run = story.runs.at(-1);
      if (run) Object.assign(run, { stoppedAt: at, code: fact.code, word: fact.word, reason: fact.reason });
      return;
    }
    case 'attempt.started':
      story.iterations.set(fact.iteration, begun(story, fact, at));
      if (fact.item.task !== undefined) story.last.set(fact.item.task, fact.iteration);
      return;
    case 'gate.ran':
      return gate(story, fact);
    case 'topic.published': {
      const { iteration, role, topic, payload } = fact;
      story.topics.push({ at, iteration, role, topic, payload });
      return;
    }
    case 'wave.ended':
    case 'abort.done':
      return close(story);
    default:
      return tellAttempt(story, fact, at);
  }
}

/** Facts that belong to one iteration; all others say nothing the state does not hold. */
function tellAttempt(story: Story, fact: Fact, at: number): void {
  switch (fact.type) {
    case 'attempt.ended':
      return ended(story, fact, at);
    case 'attempt.lost': {
      const told = story.iterations.get(fact.iteration);
      if (!told) return;
      told.endedAt = at;
      told.lost = fact.reason;
      told.usage = fact.usage ?? null;
      told.changes = fact.changes;
      told.changeCount = fact.changeCount ?? fact.changes.length;
      told.removedRefs = fact.removedRefs ?? [];
      told.movedRefs = fact.movedRefs ?? [];
      return;
    }
    case 'ground.changed':
      return gatesChanged(story, fact);
    case 'verdict.reached':
      return judged(story, fact, at);
    case 'intervention.chosen':
      return corrected(story, fact, at);
    case 'guidance.reached': {
      const told = story.iterations.get(fact.iteration);
      if (told) told.delivered = [...new Set([...told.delivered, ...fact.messages, ...fact.questions])];
      return;
    }
    case 'question.asked': {
      const { id, iteration } = fact.question;
      if (iteration !== null) story.iterations.get(iteration)?.questions.push(id);
      return;
    }
    case 'task.moved': {
      const told = lastOf(story, fact.task);
      if (told?.verdict?.at === at) told.moved = { to: fact.to, reason: fact.reason };
      return;
    }
    case 'commit.landed': {
      const told = lastOf(story, fact.task);
      if (!told) return;
      told.landing = { by: fact.by, paths: fact.paths };
      // The agent's own commits already stand with the iteration that made them.
      if (fact.by === 'engine' && fact.commit !== '') told.commit = fact.commit;
      return;
    }
    case 'landing.failed': {
      const told = lastOf(story, fact.task);
      if (told) told.landing = { failed: fact.reason };
      return;
    }
    default:
      return;
  }
}

type Of<T extends Fact['type']> = Extract<Fact, { type: T }>;

function begun(story: Story, fact: Of<'attempt.started'>, at: number): IterationStory {
  const { state } = story;
  const early = story.early.get(fact.iteration) ?? [];
  story.early.delete(fact.iteration);
  const report = keepsWorks(state) ? reportOf(state, fact.item) : null;
  return {
    iteration: fact.iteration,
    cycle: state.cycle,
    wave: state.wave?.wave ?? state.lastWave,
    item: fact.item,
    attempt: fact.attempt,
    agent: fact.agent,
    model: fact.model,
    startedAt: at,
    endedAt: null,
    durationMs: null,
    wallMs: fact.allowance.wallMs,
    idleMs: fact.allowance.idleMs,
    time: fact.time ?? null,
    claim: null,
    report: null,
    usage: null,
    changes: [],
    changeCount: 0,
    commits: [],
    rewritten: { paths: [], count: 0, others: [], otherCount: 0 },
    trespass: [],
    works: null,
    reportFile: report === null ? null : `iterations/${state.cycle}/${report}`,
    removedRefs: [],
    movedRefs: [],
    gates: early.map((result) => ({ when: 'baseline' as const, result })),
    verdict: null,
    receipt: null,
    interventions: [],
    moved: null,
    questions: [],
    commit: null,
    landing: null,
    delivered: fact.delivered,
    reminded: fact.reminded,
    lost: null,
    stoppedFor: null,
    closed: null,
  };
}

function gate(story: Story, fact: Of<'gate.ran'>): void {
  const told = story.iterations.get(fact.iteration);
  if (told) told.gates.push({ when: fact.when, result: fact.result });
  else story.early.set(fact.iteration, [...(story.early.get(fact.iteration) ?? []), fact.result]);
}

function gatesChanged(story: Story, { iteration, rewritten, others }: Of<'ground.changed'>): void {
  const told = story.iterations.get(iteration ?? 0)?.rewritten;
  if (!told) return;
  const add = (to: string[], more: string[]) => to.push(...more.filter((path) => !to.includes(path)));
  add(
    told.paths,
    (rewritten?.changes ?? []).map(({ path }) => path),
  );
  told.count = Math.max(told.count, rewritten?.changeCount ?? 0);
  add(told.others, others?.paths ?? []);
  told.otherCount = Math.max(told.otherCount, others?.count ?? 0, told.others.length);
}

function ended(story: Story, fact: Of<'attempt.ended'>, at: number): void {
  const told = story.iterations.get(fact.iteration);
  if (!told) return;
  told.endedAt = at;
  told.durationMs = fact.durationMs;
  told.report = fact.report;
  told.usage = fact.report.usage;
  told.model = told.usage.model ?? told.model;
  told.claim = fact.claim;
  told.changes = fact.changes;
  told.changeCount = fact.changeCount;
  told.commits = fact.commits;
  told.trespass = fact.trespass;
  told.works = fact.works ?? null;
  told.removedRefs = fact.removedRefs ?? [];
  told.movedRefs = fact.movedRefs ?? [];
  told.stoppedFor = fact.stoppedFor;
}

function judged(story: Story, fact: Of<'verdict.reached'>, at: number): void {
  const { iteration, value, reason, charged, findings } = fact;
  const told = story.iterations.get(iteration);
  if (told)
    Object.assign(told, { verdict: { value, reason, charged, findings, at }, receipt: fact.receipt ?? null });
  const task = fact.item.task ?? null;
  const agent = told?.agent ?? '';
  for (const finding of findings) {
    story.findings.push({
      at,
      iteration,
      task,
      agent,
      finding,
      applied: null,
      answered: false,
      correction: null,
    });
  }
}

function corrected(story: Story, fact: Of<'intervention.chosen'>, at: number): void {
  const { iteration, agent, task, intervention } = fact;
  story.iterations.get(iteration)?.interventions.push(intervention);
  for (let i = story.findings.length - 1; i >= 0; i--) {
    const entry = story.findings[i]!;
    if (entry.iteration !== iteration) break;
    if (entry.finding && intervention.findings.includes(entry.finding.kind))
      Object.assign(entry, { answered: true, correction: intervention.kind });
  }
  if (intervention.kind !== 'insist' && intervention.aggressive !== true) return;
  story.findings.push({
    at,
    iteration,
    task,
    agent,
    finding: null,
    applied: intervention,
    answered: true,
    correction: intervention.kind,
  });
}

/** Adds what a record says of messages; the newest 200 are kept. */
export function hearRecord(
  messages: Story['messages'],
  { at, facts }: Pick<JournalRecord, 'at' | 'facts'>,
): void {
  for (const fact of facts) {
    if (fact.type === 'message.received') {
      messages.push({ at, id: fact.message.id, message: fact.message, action: fact.action });
    } else if (fact.type === 'message.rejected') {
      messages.push({ at, id: fact.id, message: null, action: `rejected: ${fact.reason}` });
    } else {
      if (fact.type === 'guidance.reached') reachAtWork(messages, fact);
      if (fact.type === 'attempt.started' && fact.delivered.length > 0) standIn(messages, fact);
      continue;
    }
    if (messages.length > MAX_MESSAGES) messages.shift();
  }
}

function standIn(messages: Story['messages'], fact: Extract<Fact, { type: 'attempt.started' }>): void {
  for (const message of messages)
    if (fact.delivered.includes(message.id)) message.stood = [...(message.stood ?? []), fact.iteration];
}

function reachAtWork(messages: Story['messages'], fact: Extract<Fact, { type: 'guidance.reached' }>): void {
  for (const message of messages)
    if (fact.messages.includes(message.id))
      message.live = [...new Set([...(message.live ?? []), fact.iteration])];
}

function lastOf(story: Story, task: string): IterationStory | undefined {
  return story.iterations.get(story.last.get(task) ?? 0);
}

/** The wave is over: its iterations keep the numbers that stand now. */
function close(story: Story): void {
  const { done, total } = stories(story.state);
  for (let iteration = story.state.lastIteration; iteration > 0; iteration--) {
    const told = story.iterations.get(iteration);
    if (!told) continue;
    if (told.closed) break;
    told.closed = { stuck: story.state.stuck, storiesDone: done, storiesTotal: total };
  }
}

/** Tasks done, of all that are wanted: a cancelled one is no longer part of the total. Default: of the session. */
export function stories(
  state: State,
  tasks: Iterable<TaskState> = state.tasks.values(),
): { done: number; total: number } {
  let done = 0;
  let total = 0;
  for (const { status } of tasks) {
    if (status === 'done') done += 1;
    if (status !== 'cancelled') total += 1;
  }
  return { done, total };
}

export type Outcome = VerdictValue | 'interrupted' | 'lost' | 'ended' | 'running' | 'left_open';

/** How an iteration came out, in one word. `ended`: not judged yet; `left_open`: no runner is alive that runs it. */
export function outcomeOf(told: IterationStory, live?: LiveInfo): Outcome {
  if (told.verdict) return told.verdict.value;
  if (told.lost !== null) return 'lost';
  if (told.report === null) return live?.runner === null ? 'left_open' : 'running';
  return told.report.ending === 'interrupted' ? 'interrupted' : 'ended';
}

/** The commit an iteration left: the engine's, else the last of the agent's own; null without one. */
export function commitOf(told: IterationStory): string | null {
  return told.commit ?? told.commits.at(-1) ?? null;
}
