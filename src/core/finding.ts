/**
 * What the judge can hold against an attempt, and the corrections the loop can choose. The names and
 * severities are those of the intervention events that other tools read.
 */

import type { FalseClaim } from './receipt/index.ts';

export const FINDING_KINDS = [
  'no_files_detected',
  'bookkeeping_only',
  'evidence_validation_failed',
  'evidence_missing',
  'false_completion_detected',
  'gate_failed',
  'gate_unavailable',
  'gate_empty',
  'gate_regressed',
  'gate_red_before',
  'protected_changed',
  'role_violation',
  'illegal_task_change',
  'forged_claim',
  'rubber_stamp',
  'asked_and_notified',
  'oscillation',
  'denied_gate',
  'permission_refused',
  'background_left',
  'prompt_echo',
  'unlisted_topic',
  'extra_completion',
  'idle_run',
  'timed_out',
  'undelivered_steer',
  'no_verdict',
  'history_rewritten',
  'branch_changed',
  'branch_moved',
  'tests_dropped',
  'uncommitted_inside',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

export type Severity = 'info' | 'warning' | 'critical';

export interface Finding {
  kind: FindingKind;
  /** One sentence a person and an agent can act on: names files, commands, numbers. */
  detail: string;
  /** The gate it is about, by name. */
  gate?: string;
  /** What false claims were about; absent in journals of older versions, where it was files. */
  about?: FalseClaim[];
}

interface FindingRow {
  eventType: string;
  severity: Severity;
}

const own = (kind: string, severity: Severity): FindingRow => ({ eventType: kind, severity });

export const FINDINGS: Record<FindingKind, FindingRow> = {
  no_files_detected: own('no_files_detected', 'critical'),
  bookkeeping_only: { eventType: 'no_files_detected', severity: 'warning' },
  evidence_validation_failed: own('evidence_validation_failed', 'warning'),
  evidence_missing: { eventType: 'evidence_validation_failed', severity: 'info' },
  false_completion_detected: own('false_completion_detected', 'critical'),
  gate_failed: own('gate_failed', 'warning'),
  gate_unavailable: own('gate_unavailable', 'warning'),
  gate_empty: own('gate_empty', 'warning'),
  gate_regressed: own('gate_regressed', 'warning'),
  gate_red_before: own('gate_red_before', 'warning'),
  protected_changed: own('protected_changed', 'critical'),
  role_violation: own('role_violation', 'warning'),
  illegal_task_change: own('illegal_task_change', 'critical'),
  forged_claim: own('forged_claim', 'critical'),
  rubber_stamp: own('rubber_stamp', 'warning'),
  asked_and_notified: own('asked_and_notified', 'info'),
  oscillation: own('oscillation', 'warning'),
  denied_gate: own('denied_gate', 'critical'),
  permission_refused: own('permission_refused', 'warning'),
  background_left: own('background_left', 'info'),
  prompt_echo: own('prompt_echo', 'warning'),
  unlisted_topic: own('unlisted_topic', 'info'),
  extra_completion: own('extra_completion', 'info'),
  idle_run: own('idle_run', 'critical'),
  timed_out: own('timed_out', 'warning'),
  undelivered_steer: own('undelivered_steer', 'info'),
  no_verdict: own('no_verdict', 'warning'),
  history_rewritten: own('history_rewritten', 'critical'),
  branch_changed: own('branch_changed', 'warning'),
  branch_moved: own('branch_moved', 'critical'),
  tests_dropped: own('tests_dropped', 'warning'),
  uncommitted_inside: { eventType: 'evidence_validation_failed', severity: 'warning' },
};

export const VERDICT_VALUES = ['accepted', 'unfinished', 'rejected', 'blocked', 'died'] as const;
export type VerdictValue = (typeof VERDICT_VALUES)[number];

export type InterventionKind = 'remind' | 'insist' | 'more_time' | 'diagnose' | 'other_agent' | 'question';

export interface Intervention {
  kind: InterventionKind;
  /** The findings it answers. */
  findings: FindingKind[];
  /** What stands in the next prompts, one line for each finding. */
  sentence: string;
  /** `other_agent`: who takes the task over. */
  agent?: string;
  /** `other_agent`: what the agent that did not manage is told in its own next prompt. */
  relieved?: string;
  /** The agent's circuit breaker has tripped. */
  aggressive?: boolean;
}
