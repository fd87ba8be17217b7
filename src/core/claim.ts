/**
 * What an agent says. A claim is never believed by itself: the judge holds it against the evidence.
 */

export interface ClaimedEvidence {
  criterion: string;
  kind: string;
  value: string;
  exitCode?: number;
}

/** The result object of one call, read tolerantly; every field an agent left out is empty. */
export interface ResultObject {
  status: 'completed' | 'failed' | 'blocked' | 'paused';
  mode: string | null;
  taskId: string | null;
  summary: string;
  filesModified: string[];
  blockers: string[];
  question: string | null;
  evidence: ClaimedEvidence[];
  verdict: 'Qualified' | 'Failed' | null;
  /** Per-criterion results; empty in a rubber stamp. */
  criteriaResults: { criterion: string; met: boolean; note: string }[];
  feedback: string;
  successCriteriaMet: boolean | null;
  /** What it made of guidance that changed its work; absent where it names none. */
  steerResponse?: SteerResponse;
  /** What its role adds; absent where it names none of that. */
  details?: ResultDetails;
  /** A sentence for each field of `details` that could not be read; absent where there is none. */
  warnings?: string[];
}

/** The fields of one role. What an agent left out, or wrote in another shape, is not there. */
export type ResultDetails =
  | PlannerDetails
  | QuestionerDetails
  | ExecutorDetails
  | ReviewerDetails
  | LibrarianDetails;

export interface PlannerDetails {
  role: 'planner';
  artifactsCreated?: string[];
  artifactsUpdated?: string[];
  tasksDefined?: number;
  nextAction?: string;
}

export interface QuestionerDetails {
  role: 'questioner';
  category?: string;
  cycle?: number;
  questionsGenerated?: number;
  questionsAnswered?: number;
  newQuestionsEmerged?: number;
  filesUpdated?: string[];
}

export interface ExecutorDetails {
  role: 'executor';
  attemptNumber?: number;
  reportPath?: string;
  criteriaBreakdown?: CriteriaBreakdown;
  feedbackAddressed?: string[];
  discoveredTasks?: string[];
}

export interface CriteriaBreakdown {
  total: number;
  met: number;
  notMet: number;
}

export interface ReviewerDetails {
  role: 'reviewer';
  /** Of the whole session; a review of one task has a verdict. */
  assessment?: 'Complete' | 'Gaps Identified';
  gaps?: string[];
}

export interface LibrarianDetails {
  role: 'librarian';
  itemsStaged?: number;
  files?: string[];
  promoted?: string[];
  conflicts?: string[];
}

/** Begun again, taken up on the way, or another task altogether. */
export type SteerResponse = 'restart' | 'adjust' | 'scope_change';

export type ClaimSource = 'outbox' | 'result' | 'tag' | 'status' | 'task_file' | 'none';

export interface PublishedTopic {
  topic: string;
  payload: string;
}

/** A file an agent says it wrote. */
export interface ClaimedFile {
  /** As the agent wrote it. */
  path: string;
  /** `10-40`, `12`; null where it names none. */
  lines: string | null;
  /** `named`: it is only said to be there. */
  deed: 'changed' | 'removed' | 'moved' | 'named';
  via: 'outbox' | 'result' | 'prose';
  /** It may be no file at all: it counts when it is true, and is no lie when it is not. */
  unsure: boolean;
}

/** A command an agent says it ran. */
export interface ClaimedCommand {
  command: string;
  /** The exit code it names; null: none. */
  exitCode: number | null;
  via: ClaimedFile['via'];
}

/** A commit that prose names. */
export interface ClaimedCommit {
  /** In small letters. */
  commit: string;
  /** It is no plain claim: it counts when it is true, and is no lie when it is not. */
  unsure: boolean;
}

/** What result objects and prose say was done. At most 100 files, 40 commands and 20 commits. */
export interface Told {
  files: ClaimedFile[];
  commands: ClaimedCommand[];
  /** Those of prose; absent where it names none, and in journals of older versions. */
  commits?: ClaimedCommit[];
}

export interface Claim {
  kind: 'complete' | 'blocked' | 'decide' | 'failed' | 'none';
  via: ClaimSource;
  /** The reason of a blocker or the text of a decision; empty otherwise. */
  text: string;
  result: ResultObject | null;
  topics: PublishedTopic[];
  notes: string[];
  /** Files that result objects name. */
  files: string[];
  /** Everything it says was done; absent where it says nothing, and in journals of older versions. */
  told?: Told;
  /** Why what looked like a claim was none; absent where there is a claim, and where nothing looked like one. */
  ignored?: IgnoredClaim;
  /** Things seen on the way that are findings rather than claims, e.g. `prompt_echo`. */
  marks: ClaimMark[];
}

/**
 * `placeholder`: `words` leaves open what the agent means, as instructions do. `tool`: it stood in the output of a
 * tool, `words` is empty.
 */
export interface IgnoredClaim {
  why: 'placeholder' | 'tool';
  words: string;
}

export type ClaimMark =
  | 'prompt_echo'
  | 'empty_reason'
  | 'forged_claim'
  | 'asked_and_notified'
  | 'unlisted_topic'
  | 'extra_completion';

export const NO_CLAIM: Claim = {
  kind: 'none',
  via: 'none',
  text: '',
  result: null,
  topics: [],
  notes: [],
  files: [],
  marks: [],
};
