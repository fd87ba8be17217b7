/**
 * Chooses the cheapest correction not yet tried for what was found: first a reminder, then an
 * insistent one. The later steps of the ladder come with the room that can carry them out.
 */
import { FINDINGS, type Finding, type FindingKind, type InterventionKind } from './finding.ts';
import type { State } from './state.ts';

/** The findings that ask for a correction; the others are told to people only. */
const CORRECTABLE: ReadonlySet<FindingKind> = new Set([
  'no_files_detected',
  'bookkeeping_only',
  'evidence_validation_failed',
  'evidence_missing',
  'false_completion_detected',
  'gate_failed',
  'gate_unavailable',
  'gate_empty',
  'gate_regressed',
  'protected_changed',
  'illegal_task_change',
  'role_violation',
  'forged_claim',
  'denied_gate',
  'background_left',
  'extra_completion',
  'history_rewritten',
  'oscillation',
  'no_verdict',
  'rubber_stamp',
  'timed_out',
  'unlisted_topic',
  'asked_and_notified',
]);

export interface Correction {
  kind: InterventionKind;
  findings: Finding[];
}

/** The correction for one judged attempt, or null where nothing needs correcting. */
export function correct(state: State, task: string | null, findings: Finding[]): Correction | null {
  const interventions = state.policy?.interventions;
  if (!interventions?.enabled) return null;
  const wanted = findings.filter((finding) => CORRECTABLE.has(finding.kind));
  if (wanted.length === 0) return null;
  const fruitless = task === null ? 0 : (state.tasks.get(task)?.fruitless ?? 0);
  const kind = interventions.aggressive || fruitless >= 1 ? 'insist' : 'remind';
  return { kind, findings: mostSevereFirst(wanted) };
}

const RANK = { critical: 0, warning: 1, info: 2 };

function mostSevereFirst(findings: Finding[]): Finding[] {
  return [...findings].sort((a, b) => RANK[FINDINGS[a.kind].severity] - RANK[FINDINGS[b.kind].severity]);
}
