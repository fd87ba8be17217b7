/**
 * Everything that can be true of a session: the closed union of facts. `evolve` folds them into the
 * state; windows are drawn from them; nothing else is remembered.
 */
import type { Claim } from './claim.ts';
import type { Complexity } from './complexity.ts';
import type {
  AgentReport,
  Change,
  CycleWorks,
  GateResult,
  InnerWork,
  Mark,
  ProviderErrorKind,
  SessionAssessment,
  Usage,
  WorkRef,
} from './evidence.ts';
import type { Finding, Intervention, VerdictValue } from './finding.ts';
import type { LandingFact } from './landing.ts';
import type { Message } from './message.ts';
import type { Phase } from './phase.ts';
import type { Policy, TimeoutPolicy } from './policy.ts';
import type { Question } from './question.ts';
import type { Receipt } from './receipt/index.ts';
import type { Item } from './role.ts';
import type { TaskDef, TaskStatus } from './task.ts';

export interface Runner {
  pid: number;
  /** The process's start time as the process table gives it. */
  startTime: string;
  host: string;
  boot: string;
}

export interface Allowance {
  wallMs: number;
  idleMs: number;
}

/** Time that one task was given by an unblocking, beside what its class and its timeouts give it. */
export interface TimeGrant {
  /** The wall limit itself, in seconds, in place of the formula and its bounds; null: the formula rules. */
  timeoutS: number | null;
  /** A factor in the formula, within its bounds; 1 changes nothing. */
  multiplier: number;
}

/** The seconds of one attempt with everything they come from (law.md, section 6). */
export interface TimeReckoning {
  mode: TimeoutPolicy['mode'];
  /** Seconds of the mode. */
  baseS: number;
  /** null for work on the session. */
  complexity: Complexity | null;
  /** Continues "ui_heavy because …"; empty for work on the session. */
  because: string;
  /** The factor of the class; 1 where classes scale nothing. */
  multiplier: number;
  /** What nine of ten accepted attempts of the class took; null while fewer than five are known. */
  p90S: number | null;
  /** How many accepted attempts of the class are known. */
  samples: number;
  /** `p90S` stands in the place of mode × class. */
  learned: boolean;
  /** The factor a person gave this task; 1 for none. */
  granted: number;
  /** The limit a person gave this task, in place of all of this; null: none. */
  grantedS: number | null;
  /** 1 where timeouts give no more time. */
  growth: number;
  /** Attempts of this task that ran out of time before. */
  timeouts: number;
  minS: number;
  maxS: number;
  /** The formula before its bounds, whole. */
  computedS: number;
  /** What the attempt gets. */
  timeoutS: number;
}

/** A work tree of the engine's own, in which one attempt runs beside others. */
export interface SideGround {
  /** Opaque name by which it is found again after a crash. */
  id: string;
  /** The tree of the user's work tree that it was filled with, before earlier work of the task was put on top. */
  base: string;
}

/** Where the tasks come from. `objective`: no list, the objective itself is the task. */
export interface TaskSource {
  kind: 'file' | 'objective';
  /** Relative to the project folder. */
  path: string | null;
  dialect: string;
  /** True where stories carry review fields. */
  reviewed: boolean;
}

export type Fact =
  // the session and its runs
  | {
      type: 'session.created';
      id: string;
      objective: string;
      timezone: string;
      product: string;
      ground: string;
      /** What accepted attempts of each class took in earlier sessions of the project; absent where none did. */
      durations?: Record<Complexity, number[]>;
    }
  | {
      type: 'run.started';
      policy: Policy;
      runner: Runner;
      /** Paths that were dirty at the start and are nobody's attempt: never committed, never counted. */
      dirty: string[];
      /** Spent today by every loop of the project, before this run. USD. */
      spentTodayUsd: number;
      /** `--reopen`: tasks that an abort failed go back to todo. */
      reopened: boolean;
      /** The flags as they were given; `ralph resume` repeats them. */
      flags: Record<string, unknown>;
    }
  /** The session was another tool's; what its files said stands in the facts beside this one. */
  | {
      type: 'session.imported';
      /** Keys of the calls of its running cycle that are over. */
      done: string[];
      review: SessionAssessment | null;
      /** Attempts at its tasks that left a report, by task. */
      runs: Record<string, number>;
      /** Cycles before this one are as they were left. */
      cycle: number;
      /** When the session, and its running cycle, began; epoch ms, null where nobody knows. */
      createdAt: number | null;
      startedAt: number | null;
      /** What was read otherwise than it stands in the files, and what not at all. */
      notes: string[];
    }
  | { type: 'run.stopped'; code: number; word: string; reason: string }
  /** Spent today (local time) by every loop of the project, with what this run has spent so far. USD. */
  | { type: 'spend.seen'; usd: number }
  /** What the machine has too little of for another agent; empty: enough of everything again. */
  | {
      type: 'host.seen';
      short: Shortage[];
      /** How many agents its memory is enough for at once; absent: for as many as there may be side by side. */
      room?: number;
    }
  | { type: 'lock.taken_over'; from: Runner }
  | { type: 'journal.repaired'; bytes: number; keptAs: string }
  | { type: 'phase.entered'; phase: Phase }
  | { type: 'cycle.started'; cycle: number }
  /** Work on the session that failed too often and can be done without. */
  | { type: 'call.passed_over'; item: Item; reason: string }
  // tasks
  | {
      type: 'tasks.read';
      source: TaskSource;
      sha256: string;
      set: TaskDef[];
      gone: string[];
      by: string;
      /** What in the file may be meant as tasks and is read as none; absent: nothing is. */
      unread?: string[];
    }
  | {
      type: 'task.moved';
      task: string;
      to: TaskStatus;
      reason: string;
      by: string;
      /** Its commit is lost, and all of its work still stands in the work tree: that counts. Absent else. */
      stands?: true;
    }
  /** The planner put other tasks in the place of one that is cancelled: what waits for it waits for all of them. */
  | { type: 'task.replaced'; task: string; by: string[] }
  | {
      type: 'task.unblocked';
      task: string;
      by: string;
      reason: string;
      /** Time that was granted with it; null: none. */
      grant: TimeGrant | null;
      /** The loop did it by itself (`unblock.auto`). */
      auto: boolean;
      /** Charged tries until it counts as out of attempts again; absent: as the limits say. */
      attempts?: number;
    }
  | { type: 'task.charged'; task: string; budget: 'evidence' | 'review'; iteration: number }
  | {
      type: 'review.recorded';
      task: string;
      iteration: number;
      verdict: 'Qualified' | 'Failed';
      feedback: string;
      count: number;
    }
  // waves and attempts
  | { type: 'wave.started'; wave: number; items: { iteration: number; item: Item }[] }
  | {
      type: 'wave.ended';
      wave: number;
      progress: boolean;
      neutral: boolean;
      dead: boolean;
      /** How many of its items were started. */
      started: number;
      returned: number[];
    }
  | {
      type: 'attempt.started';
      iteration: number;
      item: Item;
      attempt: number;
      agent: string;
      model: string | null;
      allowance: Allowance;
      /** Why it is this long; absent in journals of versions that did not say. */
      time?: TimeReckoning;
      before: Mark;
      /** The work tree beside the user's where it runs; absent: in the user's own. */
      ground?: SideGround;
      /** Value of the environment marker every descendant of this attempt carries. */
      marker: string;
      /** sha256 of the run token; the token itself is never written down. */
      tokenHash: string;
      prompt: WorkRef;
      /** Hash of the task file when the attempt began; null without one. */
      taskFile: WorkRef | null;
      /** Message ids and answered questions whose text stands in this prompt. */
      delivered: string[];
      /** Intervention sentences that stand in this prompt. */
      reminded: string[];
      /** The iteration in whose agent session it goes on; absent: in a fresh one. */
      resumes?: number;
      /**
       * sha256 by path of the files outside of every commit that tell git what to hide and what to run. Absent
       * in journals of versions that did not look.
       */
      rules?: Record<string, string>;
      /** Repositories inside the ground with uncommitted content: print by path. Absent where there is none. */
      inner?: Record<string, string>;
      /** sha256 by path of the session's works, as one work; absent in teams that write none. */
      session?: WorkRef;
    }
  | { type: 'attempt.spawned'; iteration: number; pid: number; startTime: string }
  | {
      type: 'attempt.ended';
      iteration: number;
      report: AgentReport;
      claim: Claim;
      after: Mark;
      /** before → after of this attempt, without bookkeeping paths; at most 1,000, the rest in `more`. */
      changes: Change[];
      changeCount: number;
      more: WorkRef | null;
      /** Commits that appeared on the branch during the attempt, oldest first. */
      commits: string[];
      /** The branch no longer contains the commit the attempt started from; that one is kept by name. */
      rewrote: boolean;
      /** What the attempt did to files that only the engine or a person may change. */
      trespass: Trespass[];
      /** Legal forward edits the agent made in the task file: tasks it marked. */
      marked: string[];
      /** Tasks that HEAD's task file says are over by commits of this attempt. Absent where there are none. */
      committedMarks?: string[];
      durationMs: number;
      /** Why we ended it, where we did; null when it ended by itself or by its own clocks. */
      stoppedFor: StopCause | null;
      /** A reviewer's own edit of the story's review fields in the task file. */
      review: { verdict: 'Qualified' | 'Failed'; feedback: string } | null;
      /** The task file, notes or logs changed. */
      bookkeeping: boolean;
      /**
       * before → after of the loop's notes and logs: no evidence, but landed where git tracks them; at most
       * 1,000. Absent in journals of versions that did not say, and where there is none.
       */
      noted?: Change[];
      /** Commands that bring back branches, tags and stashes that were gone at its end; absent where none was. */
      removedRefs?: string[];
      movedRefs?: MovedRef[];
      /** What its task's attempts left uncommitted in repositories inside the ground; absent where nothing. */
      inner?: InnerWork[];
      /** What it asked permission for and did not get, each with why, at most 20; absent where nothing. */
      refused?: string[];
      /** Absent in teams that write no works of the session. */
      works?: CycleWorks;
    }
  | {
      type: 'attempt.lost';
      iteration: number;
      reason: string;
      ended: string[];
      after: Mark | null;
      /** At most 1,000, the rest in `more`. */
      changes: Change[];
      /** Absent in journals of versions that knew no `more`: as many as `changes`. */
      changeCount?: number;
      more?: WorkRef | null;
      noted?: Change[];
      removedRefs?: string[];
      movedRefs?: MovedRef[];
      inner?: InnerWork[];
      committedMarks?: string[];
      /** What it had used when it was cut off, as far as its output tells. Absent: nothing is known. */
      usage?: Usage;
    }
  /** A gate begins to run before the first attempt at a task: it tells what fails without the task's work. */
  | { type: 'baseline.started'; iteration: number; gate: string }
  | { type: 'gate.ran'; iteration: number; when: 'baseline' | 'after'; result: GateResult }
  | {
      type: 'verdict.reached';
      iteration: number;
      item: Item;
      value: VerdictValue;
      findings: Finding[];
      charged: boolean;
      /** The tree the judgement was made on. */
      tree: string;
      /** The tree was not seen before in this session. */
      newTree: boolean;
      reason: string;
      /** The death is a provider limit that is waited for, not a death in the row. */
      parks: boolean;
      /** The agent cannot work until a person acts: login, billing. */
      down: { kind: string; message: string } | null;
      /** What was claimed and what became of it; absent where nothing was, and in older journals. */
      receipt?: Receipt;
    }
  | {
      type: 'intervention.chosen';
      iteration: number;
      agent: string;
      task: string | null;
      intervention: Intervention;
    }
  // the ground
  | {
      type: 'commit.landed';
      task: string;
      commit: string;
      paths: string[];
      by: 'agent' | 'engine' | 'nobody';
    }
  | { type: 'landing.failed'; task: string; reason: string }
  // what became of a loop's work as a whole
  | LandingFact
  | { type: 'leftovers.set_aside'; task: string; tree: string; changes: Change[] }
  /** What was set aside is out of the work tree. */
  | { type: 'leftovers.cleared'; task: string }
  | {
      type: 'leftovers.taken_up';
      task: string;
      conflicts: string[];
      /** How many paths came back; absent in older journals. */
      count?: number;
      /**
       * Where the earlier text of each conflict lies, relative to the session's folder; one that the attempt had
       * deleted is missing. Absent in journals of versions that kept none.
       */
      kept?: Record<string, string>;
      /** Files that others had changed as well: what a merge of both made of them. Absent where there are none. */
      merged?: Change[];
      /** In the work tree of an attempt beside others; the work still counts as set aside. */
      beside?: true;
    }
  /** Paths that a person turned out to have changed: from now on like those that were dirty at the start. */
  | { type: 'dirt.found'; paths: string[]; reason: string }
  | {
      type: 'ground.changed';
      mark: Mark;
      by: string;
      /** `gates`: after which attempt they ran; absent in journals of versions that did not say. */
      iteration?: number;
      /** Paths of the attempt's task that a gate rewrote: they belong to the task as they are now. */
      rewritten?: { changes: Change[]; changeCount: number; more: WorkRef | null };
      /** Other paths that were changed meanwhile, the first of them by name: nobody commits them. */
      others?: { count: number; paths: string[] };
    }
  // people
  | { type: 'message.received'; message: Message; action: string }
  | { type: 'message.rejected'; id: string; reason: string }
  /** `lost`: commits that the branch held and holds no more, for pauses over that: to resume is to go on without. */
  | { type: 'session.paused'; at: number; text: string; by: string; lost?: string[] }
  | { type: 'session.resumed'; at: number; text: string; by: string }
  /** `text`: why, in the words of who asked; absent where none were given, and in older journals. */
  | { type: 'stop.asked'; by: string; text?: string }
  | { type: 'abort.asked'; by: string; text: string }
  | { type: 'abort.done'; tasks: string[] }
  | { type: 'question.asked'; question: Question }
  | {
      type: 'question.answered';
      id: string;
      text: string;
      option: string | null;
      by: string;
      via: string;
      /** Of what waits for approval only these, as they are staged; absent: all of it. */
      only?: string[];
    }
  | {
      type: 'question.expired';
      id: string;
      outcome: 'proceed' | 'default' | 're_ask' | 'stop' | 'carry';
      text: string;
    }
  | { type: 'question.closed'; id: string; why: string }
  /** A channel showed it to somebody, or gave up after its retries (`reached` false). */
  | { type: 'question.shown'; id: string; channel: string; reached: boolean }
  /**
   * Messages and answers reached an agent while it ran: `live` as input that it took in, `tool` as what it asked for.
   * They need not stand in its role's next prompt.
   */
  | {
      type: 'guidance.reached';
      iteration: number;
      messages: string[];
      questions: string[];
      how: 'live' | 'tool';
    }
  | { type: 'desk.written'; file: 'blocked.txt' | 'decide.txt'; sha256: string | null; at: number }
  // topics, provider, notices
  /** `folder`: where it lies, relative to the session's; absent where it came as a message, and in older journals. */
  | { type: 'feedback.received'; id: string; text: string; folder?: string }
  | {
      type: 'topic.published';
      /** 0: outside of any run, by a person or the loop. */
      iteration: number;
      role: string;
      topic: string;
      payload: string;
      /** The task it is about; absent: that of its run. */
      task?: string;
    }
  | {
      type: 'provider.parked';
      agent: string;
      until: number;
      reason: string;
      /** Absent in older journals: a limit. */
      kind?: ProviderErrorKind;
      /** How often in a row, without an ended run between; absent in older journals: once more than before. */
      row?: number;
      /** The provider named the time; absent in older journals: it did. */
      told?: boolean;
    }
  | { type: 'notice.given'; level: 'info' | 'warning' | 'critical'; text: string };

/** The machine has less of something than has to be free before an agent starts. */
export interface Shortage {
  of: 'disk' | 'memory';
  /** A folder on the disk; null for memory. */
  path: string | null;
  freeMb: number;
  leastMb: number;
}

/** `steer`: an urgent word for an agent that cannot be talked to; its next run goes on in the same session. */
export type StopCause = 'pause' | 'abort' | 'signal' | 'limit' | 'steer';

/** A branch, other than its own, that an attempt or somebody beside it moved while it worked. */
export interface MovedRef {
  /** Full name. */
  ref: string;
  from: string;
  to: string;
  /** To a commit that was made in the attempt; false: to one that does not hold what the branch held. */
  its: boolean;
}

/** A forbidden edit, already undone: what it was and which finding it becomes. */
export interface Trespass {
  path: string;
  what: 'protected_changed' | 'illegal_task_change' | 'role_violation' | 'branch_moved';
  detail: string;
  /** Where the agent's version was kept, relative to the session. */
  keptAs: string | null;
  /** It was there before, in another form; absent: it was not, or in journals of older versions. */
  replaced?: true;
}

export type FactType = Fact['type'];
