/** What one judgement looks at, and what comes of it. */
import type { Claim } from './claim.ts';
import type { StopCause, Trespass } from './event.ts';
import type { AgentReport, Change, CycleWorks, GateResult, InnerWork } from './evidence.ts';
import type { Finding, VerdictValue } from './finding.ts';
import type { GateDef } from './policy.ts';
import type { Receipt } from './receipt/index.ts';
import type { Mode } from './role.ts';

/** Everything one judgement looks at; the engine gathers it, the judge only reads. */
export interface Evidence {
  mode: Mode;
  task: string | null;
  report: AgentReport;
  claim: Claim;
  stoppedFor: StopCause | null;
  /** The task's definition says that finishing it needs no change. */
  needsNoChange: boolean;
  /** It asked people with `human.interact`, and silence had not answered the attempt before that did no more. */
  asked: boolean;
  /** Changes by this attempt, without bookkeeping paths. */
  changed: Change[];
  /** Task file, notes or logs were changed by this attempt. */
  bookkeeping: boolean;
  /** What this task's attempts left uncommitted in repositories inside the ground: no snapshot holds it. */
  inner: InnerWork[];
  /** Changes by this task's own attempts in the cycle that still stand. */
  standing: Change[];
  /** Where this attempt changed nothing and others of the task did: which, and what of theirs stands. */
  earlier: EarlierWork | null;
  gates: { def: GateDef; after: GateResult; baseline: GateResult | null; onceGreen: boolean }[];
  /** What was claimed, and what became of it; null when nothing was. */
  receipt: Receipt | null;
  trespass: Trespass[];
  marked: string[];
  review: { verdict: 'Qualified' | 'Failed'; feedback: string } | null;
  hasCriteria: boolean;
  newTree: boolean;
  /** The tree equals the one two attempts ago and differs from the last. */
  oscillates: boolean;
  historyRewritten: boolean;
  /** Another branch is checked out than at the start: `main to other`; null when it is the same. */
  branchChanged: string | null;
  undeliveredSteer: boolean;
  /** A command that the task's gates need and that was denied to the agent. */
  deniedGate: string | null;
  /** What it asked permission for and did not get, each with why. */
  refused: string[];
  idleRow: number;
  /** What it left in its cycle's folder; null in teams that write nothing there. */
  works: CycleWorks | null;
  /** Paths that others landed a change of meanwhile, which this attempt's does not fit. */
  conflicts: string[];
  /** Of a run of one's own role; null for every other. */
  hat: HatEvidence | null;
}

export interface HatEvidence {
  /** Topics it published within its bounds, without what is spoken to the loop. */
  told: string[];
  /** What is published in its place where it published nothing; null: nothing is. */
  preset: string | null;
  /** Of all those, the ones that wake a role. */
  heard: string[];
  /** Required topics that no run before it published. */
  missing: string[];
}

/** What stands of a task although its last attempt changed nothing. */
export interface EarlierWork {
  /** Ordinals of the attempts that made it, oldest first. */
  attempts: number[];
  paths: string[];
}

export interface Judgement {
  value: VerdictValue;
  findings: Finding[];
  charged: boolean;
  /** One sentence: why this value. */
  reason: string;
  /** For reviews: what the reviewer found. */
  review: { verdict: 'Qualified' | 'Failed'; feedback: string } | null;
}

export function verdict(value: VerdictValue, findings: Finding[], reason: string): Judgement {
  return { value, findings, charged: value === 'rejected', reason, review: null };
}
