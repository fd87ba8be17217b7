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
}

export type ClaimSource = 'outbox' | 'result' | 'tag' | 'status' | 'task_file' | 'none';

export interface PublishedTopic {
  topic: string;
  payload: string;
}

export interface Claim {
  kind: 'complete' | 'blocked' | 'decide' | 'failed' | 'none';
  via: ClaimSource;
  /** The reason of a blocker or the text of a decision; empty otherwise. */
  text: string;
  result: ResultObject | null;
  topics: PublishedTopic[];
  notes: string[];
  /** Files the agent says it wrote, from result objects and its own tool events. */
  files: string[];
  /** Things seen on the way that are findings rather than claims, e.g. `prompt_echo`. */
  marks: ClaimMark[];
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
