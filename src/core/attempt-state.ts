/** What is known of one run of an agent, from its start to its verdict and what gates made of its work later. */
import type { Claim } from './claim.ts';
import type { Complexity } from './complexity.ts';
import type { Allowance, MovedRef, SideGround, StopCause, Trespass } from './event.ts';
import type { AgentReport, Change, CycleWorks, GateResult, InnerWork, Mark, Usage } from './evidence.ts';
import type { Finding, VerdictValue } from './finding.ts';
import type { Item } from './role.ts';

export interface AttemptState {
  iteration: number;
  wave: number;
  item: Item;
  attempt: number;
  agent: string;
  startedAt: number;
  endedAt: number | null;
  before: Mark;
  after: Mark | null;
  /** The work tree beside the user's where it ran; null: in the user's own. */
  ground: SideGround | null;
  allowance: Allowance;
  /** The class its task had when it began; null for work on the session and in old journals. */
  complexity: Complexity | null;
  durationMs: number;
  marker: string;
  tokenHash: string;
  /** The session's works when it began, as one work; null in teams that write none. */
  session: string | null;
  /** What it left in its cycle's folder. */
  works: CycleWorks | null;
  taskFile: string | null;
  promptSha: string;
  /** What git's own rules were when it began; null where nobody looked. */
  rules: Record<string, string> | null;
  pid: number | null;
  pidStart: string | null;
  state: 'open' | 'ended' | 'settled';
  stoppedFor: StopCause | null;
  /** Dropped once the attempt is settled and another of its item has begun. */
  report: AgentReport | null;
  /** What it used, as far as that is known; null: nothing is. */
  usage: Usage | null;
  claim: Claim | null;
  changes: Change[];
  /** Messages and answers whose text stood in its prompt. */
  delivered: string[];
  changeCount: number;
  more: string | null;
  commits: string[];
  rewrote: boolean;
  marked: string[];
  /** Tasks that HEAD's task file says are over by its commits. */
  committedMarks: string[];
  bookkeeping: boolean;
  /** What gates made of its task's paths afterwards, in their order. */
  rewritten: { changes: Change[]; more: string | null }[];
  /** Its changes to the loop's notes and logs. */
  noted: Change[];
  /** Uncommitted content of repositories inside the ground: prints when it began, and what its task left there. */
  innerBefore: Record<string, string>;
  inner: InnerWork[];
  /** What it asked permission for and did not get, each with why. */
  refused: string[];
  trespass: Trespass[];
  /** Other branches that did not go forward by themselves meanwhile. */
  movedRefs: MovedRef[];
  review: { verdict: 'Qualified' | 'Failed'; feedback: string } | null;
  gates: GateResult[];
  verdict: {
    value: VerdictValue;
    findings: Finding[];
    charged: boolean;
    reason: string;
    newTree: boolean;
    /** A provider limit that is waited for. */
    parked: boolean;
  } | null;
  lost: string | null;
}
