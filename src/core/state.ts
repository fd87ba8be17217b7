/**
 * What the journal adds up to. The state is owned by `evolve`, which may change it in place; everyone
 * else reads. It keeps what `decide`, the judge and the windows need, and lets go of transcripts.
 */
import type { AttemptState } from './attempt-state.ts';
import type { Complexity } from './complexity.ts';
import type { Shortage, TaskSource, TimeGrant } from './event.ts';
import type { Change, GateResult, Mark, ProviderErrorKind, SessionAssessment, Spent } from './evidence.ts';
import type { Finding, Intervention } from './finding.ts';
import type { LandingFact } from './landing.ts';
import type { Message } from './message.ts';
import type { Phase } from './phase.ts';
import type { Policy } from './policy.ts';
import type { Question } from './question.ts';
import type { Item } from './role.ts';
import type { ReviewFields, TaskDef, TaskStatus } from './task.ts';

export type { AttemptState } from './attempt-state.ts';

/** What an agent made of a task's own words: those that are gone, and those that are new. */
export interface Reworded {
  /** The last iteration that did. */
  iteration: number;
  before: string[];
  after: string[];
}

export interface TaskState {
  def: TaskDef;
  /** The cycle it is worked on in, or was last: with its id that is which task it is. */
  cycle: number;
  /** Opened again in a later cycle than its own, whose folder does not hold its definition yet. */
  carry: boolean;
  /** An agent changed its words, which is legal and told; null: they are a person's. `was`: theirs. */
  reworded: (Reworded & { was: TaskDef }) | null;
  status: TaskStatus;
  /** The status to go back to when an attempt ends without moving the task. */
  prior: TaskStatus;
  /** A review asked for changes; the next run is review-fix where that is hired. */
  rework: boolean;
  review: ReviewFields;
  /** When the status was last set, epoch ms; 0: as the list had it. */
  movedAt: number;
  /** Evidence rejections since the budget last started. */
  charged: number;
  /** Review rejections since the budget last started. */
  reviewRejections: number;
  /** Tries that led nowhere; the pick prefers tasks with few of them. */
  fruitless: number;
  /** Unfinished attempts in this cycle. */
  unfinished: number;
  /** Executor runs in this cycle, the charged and the uncharged. */
  runs: number;
  /** Attempts that ran out of their wall time; silence is no reason for more of it. */
  timeouts: number;
  /** Iterations of the executor's runs, in every cycle. */
  attempts: number[];
  /** Own changes count as proof from iterations after this one: the last review with issues, reopening or cycle. */
  sinceReview: number;
  landed: 'no' | 'landed' | 'failed';
  landingReason: string;
  commit: string | null;
  /**
   * Uncommitted paths of earlier attempts, set aside while another task is worked on; not cleared: they may
   * still lie in the work tree.
   */
  aside: { tree: string; changes: Change[]; cleared: boolean } | null;
  /** Paths of its work that could not be put back, told in its prompts; empty again once it is accepted. */
  conflicts: string[];
  /** Where the earlier text of paths that were not put back lies, relative to the session's folder. */
  kept: Record<string, string>;
  /** By path, the last attempt whose work there could not be put back: what it left is no part of the task now. */
  parted: [path: string, iteration: number][];
  /** Others landed since the gates accepted it: what would land now is not what they saw. */
  overtaken: boolean;
  reason: string;
  /**
   * The iteration whose own commit says in the task file that this task is over; null: none, or a person was
   * told and has the next word.
   */
  vouched: number | null;
  /** Corrections whose sentence stands in this task's prompts until it is accepted. */
  corrections: { iteration: number; at: number; agent: string; intervention: Intervention }[];
  /** Corrections after this iteration count as tried: the last iteration before a person acted on it. */
  ladderFrom: number;
  /** A question that the ladder ended in counts as unasked after this iteration: a start is an answer, too. */
  asksFrom: number;
  /** The agent that took the task over, until it is done; null: the policy's. */
  agent: string | null;
  costUsd: number;
  /** Spent since the task's budgets last started: what its own money cap is held against. */
  budgetUsd: number;
  /** Charged tries that its last unblocking allowed, instead of the limits; null: the limits rule. */
  tries: number | null;
  /** Time that an unblocking gave it, until it is done; null: none. */
  grant: TimeGrant | null;
  /** Every unblocking, oldest first. */
  unblocks: Unblocking[];
  /** How many cuts it comes from: 0 for a task of the breakdown or of a list. */
  depth: number;
  /** The tasks that took its place; empty where none did. */
  replacedBy: string[];
  /** Tree before this task's first attempt in the cycle: the baseline of its gates. */
  baseTree: string | null;
}

/** That somebody gave a task its attempts back. */
export interface Unblocking {
  /** The last iteration before it, of any task. */
  after: number;
  /** Epoch ms. */
  at: number;
  by: string;
  reason: string;
  grant: TimeGrant | null;
  auto: boolean;
  /** Charged tries it allowed; null: as many as the limits say. */
  attempts: number | null;
}

/** A correction that its agent has not had in a prompt yet. */
export interface Owed {
  agent: string;
  iteration: number;
  /** Epoch ms. */
  at: number;
  task: string | null;
  sentence: string;
  /** The iteration in whose prompt it stands; null: none yet. */
  toldIn: number | null;
}

export interface ItemState {
  /** Deaths since the item last ended. */
  died: number;
  /** Rejections charged to the item itself. */
  charged: number;
  /** Epoch ms before which it does not start. */
  notBefore: number;
  attempts: number;
}

export interface Parked {
  /** Epoch ms. */
  from: number;
  until: number;
  /** The last iteration that had begun when that was said. */
  since: number;
  reason: string;
  kind: ProviderErrorKind;
  /** The provider named the time. */
  told: boolean;
  /** How often in a row. */
  row: number;
}

export interface WaveState {
  wave: number;
  /** Iterations not started yet, with their items. */
  waiting: { iteration: number; item: Item }[];
  /** Iterations that were started. */
  started: number[];
  /** Its items run side by side, each in a work tree of its own. */
  beside: boolean;
  startHead: string | null;
  /** The gate that runs before its items start, and since when (epoch ms); null: none does. */
  baseline: { gate: string; at: number } | null;
}

export interface QuestionState {
  question: Question;
  state: 'open' | 'answered' | 'expired' | 'closed';
  answer: string | null;
  option: string | null;
  by: string | null;
  /** The way its answer took; null without one. */
  via: string | null;
  /** Its outcome stood in a prompt. */
  delivered: boolean;
  /** on_timeout stop happened; it stays open without a deadline. */
  stopped: boolean;
  /** An answer that came as a file while an agent ran: shown, and not taken. Absent: none did. */
  unconfirmed?: { text: string; from: string };
  /** By channel: whether it reached somebody there. */
  shown: Record<string, boolean>;
}

/** How far the work on the session as a whole has come in this cycle. */
export interface CycleState {
  /** Keys of items that were accepted. */
  done: string[];
  /** Keys of items that failed too often and can be done without. */
  passedOver: string[];
  /** What the last call of the questioner left: questions that wait for research, and how many it added. */
  questions: { open: number; fresh: number };
  review: SessionAssessment | null;
  /** Notes that wait for approval, by path relative to the cycle's folder. */
  staged: string[];
  /** The question about them; null: not asked yet. */
  approval: string | null;
  /** Those that a person named when they said yes; null: nobody named any, and yes means all. */
  approved: string[] | null;
  /** Notes of the cycle before that nobody has decided on, as they were staged there. */
  carried: string[];
}

export const newCycle = (carried: string[] = []): CycleState => ({
  done: [],
  passedOver: [],
  questions: { open: 0, fresh: 0 },
  review: null,
  staged: [],
  approval: null,
  approved: null,
  carried,
});

/** A topic that was published and has woken nobody yet. */
export interface QueuedTopic {
  topic: string;
  payload: string;
  /** The run that published it; 0: none did. */
  iteration: number;
  /** Who published it: a role, the loop, or a person. */
  role: string;
  /** The task it is about; null: none. */
  task: string | null;
}

/** What roles of one's own have told each other in this cycle. */
export interface HatsState {
  /** Oldest first. */
  queue: QueuedTopic[];
  /** Topics of runs that stand, each once. */
  told: string[];
  /** Tasks whose first topic was published. */
  begun: string[];
  /** By role, its runs since the limits last started. */
  activations: Record<string, number>;
  /** By what a run was woken by and the tree that it left, the first such run. */
  seen: Record<string, number>;
}

export const newHats = (): HatsState => ({ queue: [], told: [], begun: [], activations: {}, seen: {} });

export interface RunState extends Spent {
  startedAt: number;
  /** Agent runs that use up `max_iterations`. */
  used: number;
  openTasks: number;
  addedTasks: number;
  activeMs: number;
  tokens: number;
  /** Spent today beside what this run has: below 0 where part of that was spent before midnight. USD. */
  spentTodayUsd: number;
  flags: Record<string, unknown>;
  /** What the machine had too little of when it was last looked at. */
  short: Shortage[];
  /** Since when it had, epoch ms; null: it has enough. */
  shortSince: number | null;
  /** How many agents its memory is enough for at once; null: for as many as there may be. */
  room: number | null;
  stopped: { code: number; word: string; reason: string } | null;
}

export interface State extends Spent {
  seq: number;
  lastAt: number;
  session: { id: string; objective: string; timezone: string; createdAt: number; ground: string } | null;
  policy: Policy | null;
  dirty: Set<string>;
  phase: Phase;
  cycle: number;
  cycleWork: CycleState;
  /** In REPLANNING: the next cycle has begun. */
  replanning: boolean;
  run: RunState | null;
  runs: number;
  /** `at` is when it was said, `since` when it took hold. */
  paused: { at: number; since: number; text: string; by: string; lost?: string[] } | null;
  /** Commits that were lost from the branch and that a person had it go on without. */
  forgone: Set<string>;
  /** What a pause said, for the head of the resumed prompt. */
  resumeNote: string | null;
  /** The run ends at its next boundary; `text`: why, empty where nobody said. */
  stopAsked: { text: string } | null;
  /** `from`: the phase it was in, which `--reopen` goes back to; absent until the checklist is done. */
  aborted: { done: boolean; text: string; from?: { phase: Phase; replanning: boolean } } | null;
  source: TaskSource | null;
  sourceSha: string | null;
  /** What in the list may be meant as tasks and is read as none; absent: nothing is. */
  unread?: string[];
  tasks: Map<string, TaskState>;
  /** Finished tasks of earlier cycles whose id a later cycle gave to another task, oldest first. */
  replaced: TaskState[];
  items: Map<string, ItemState>;
  attempts: Map<number, AttemptState>;
  /** Iterations started and not settled. */
  open: Set<number>;
  lastIteration: number;
  wave: WaveState | null;
  lastWave: number;
  /** Waves of tasks in the running cycle, the open one included; calls on the session are none. */
  taskWaves: number;
  questions: Map<string, QuestionState>;
  /** Ids of questions that are open. */
  openQuestions: Set<string>;
  seenMessages: Set<string>;
  guidance: { message: Message; deliveries: number[] }[];
  /** When agents, gates and hooks were at work, epoch ms; `to` null: they are. See busy.ts. */
  busy: { from: number; to: number | null }[];
  topics: { topic: string; payload: string; iteration: number }[];
  publishedTopics: Set<string>;
  hats: HatsState;
  feedback: { id: string; text: string }[];
  stuck: number;
  /** Waves without progress through the whole session, for the summary. */
  stuckTotal: number;
  deadRow: number;
  deadUntil: number;
  idleRow: number;
  /** Agents that cannot work at all until the next start: login, billing. */
  down: Map<string, { kind: string; message: string }>;
  /** Agents whose provider said no and of which none has ended a run since; `until` may be past. */
  parked: Map<string, Parked>;
  /** Corrections for the next prompt of their agent, the newest last. */
  owed: Owed[];
  seenTrees: Set<string>;
  /** Latest result by `gate\0run\0tree`. */
  gates: Map<string, GateResult>;
  /** Gates (name\0run) that passed at least once after an attempt. */
  onceGreen: Set<string>;
  /** The task whose uncommitted work lies in the work tree. */
  groundOwner: string | null;
  lastMark: Mark | null;
  desk: Map<string, { sha256: string | null; at: number }>;
  /** Notices of the running session, newest last, at most 50. */
  notices: { at: number; level: string; text: string }[];
  /** What became of the loop's work as a whole; null: nothing yet since a run began or an agent worked. */
  landing: LandingFact | null;
  findings: { iteration: number; task: string | null; agent: string; finding: Finding }[];
  durationsMs: number;
  /** What the last accepted attempts of each class took, ms, the newest last, at most 50 each. */
  durations: Record<Complexity, number[]>;
  tokens: { input: number; output: number };
}

export function emptyState(): State {
  return {
    seq: 0,
    lastAt: 0,
    session: null,
    policy: null,
    dirty: new Set(),
    phase: 'INITIALIZING',
    cycle: 1,
    cycleWork: newCycle(),
    replanning: false,
    run: null,
    runs: 0,
    paused: null,
    forgone: new Set(),
    resumeNote: null,
    stopAsked: null,
    aborted: null,
    source: null,
    sourceSha: null,
    tasks: new Map(),
    replaced: [],
    items: new Map(),
    attempts: new Map(),
    open: new Set(),
    lastIteration: 0,
    wave: null,
    lastWave: 0,
    taskWaves: 0,
    questions: new Map(),
    openQuestions: new Set(),
    seenMessages: new Set(),
    guidance: [],
    busy: [],
    topics: [],
    publishedTopics: new Set(),
    hats: newHats(),
    feedback: [],
    stuck: 0,
    stuckTotal: 0,
    deadRow: 0,
    deadUntil: 0,
    idleRow: 0,
    down: new Map(),
    parked: new Map(),
    owed: [],
    seenTrees: new Set(),
    gates: new Map(),
    onceGreen: new Set(),
    groundOwner: null,
    lastMark: null,
    desk: new Map(),
    notices: [],
    landing: null,
    findings: [],
    durationsMs: 0,
    durations: { simple: [], medium: [], complex: [], ui_heavy: [] },
    tokens: { input: 0, output: 0 },
    costUsd: null,
    estimated: null,
  };
}

/** The tasks of the running cycle: those it took over, and its own. What earlier ones finished is none. */
export function tasksOfCycle({ tasks, cycle }: State): TaskState[] {
  return [...tasks.values()].filter((task) => task.cycle === cycle);
}

/** The key under which a gate's result on a tree is remembered. */
export function gateKey(gate: { name: string; run: string }, tree: string): string {
  return `${gate.name}\0${gate.run}\0${tree}`;
}

/** The open question that holds this task up, if there is one. */
export function heldBy(state: State, task: string): QuestionState | null {
  for (const id of state.openQuestions) {
    const held = state.questions.get(id)!;
    if (held.question.about === task) return held;
  }
  return null;
}

/** Whether this mode is hired in the running team. */
export function hires(state: State, mode: string): boolean {
  return state.policy?.modes.some((hired) => hired === mode) ?? false;
}
