/** Small mirrors that tools of other loops read: ralph-gold's interventions, ralph-orchestrator's events. */
import type { Severity } from '../core/index.ts';
import { utc } from './summary.ts';

/** One event of `interventions/events.json`. */
export interface InterventionEvent {
  iteration: number;
  eventType: string;
  /** Epoch ms. */
  at: number;
  severity: Severity;
  details: Record<string, unknown>;
  remediationAttempted: boolean;
}

/** One agent of `interventions/profile.json`. */
export interface AgentProfile {
  agentId: string;
  totalIterations: number;
  noFilesCount: number;
  falseCompletionCount: number;
  avgFilesPerIteration: number;
  avgEvidenceCount: number;
  /** Epoch ms; null: never. */
  lastReinforcement: number | null;
  thresholdExceeded: boolean;
  history: InterventionEvent[];
}

/** An event in the field names of seed 2. */
export function interventionRecord(event: InterventionEvent): Record<string, unknown> {
  return {
    iteration: event.iteration,
    event_type: event.eventType,
    timestamp: utc(event.at),
    severity: event.severity,
    details: event.details,
    remediation_attempted: event.remediationAttempted,
  };
}

/** The text of `interventions/events.json`, oldest event first. */
export function writeInterventionsJson(events: readonly InterventionEvent[]): string {
  return json({ $schema: 'ralph_gold.interventions.v1', events: events.map(interventionRecord) });
}

/** The text of `interventions/profile.json`; a lone agent's fields also stand at the top, as in seed 2. */
export function writeProfileJson(profiles: readonly AgentProfile[]): string {
  const agents = Object.fromEntries(profiles.map((profile) => [profile.agentId, profileRecord(profile)]));
  const lone = profiles.length === 1 ? profileRecord(profiles[0]!) : {};
  return json({ $schema: 'ralph_gold.profile.v1', ...lone, agents });
}

function profileRecord(profile: AgentProfile): Record<string, unknown> {
  return {
    agent_id: profile.agentId,
    total_iterations: profile.totalIterations,
    no_files_count: profile.noFilesCount,
    false_completion_count: profile.falseCompletionCount,
    avg_files_per_iteration: profile.avgFilesPerIteration,
    avg_evidence_count: profile.avgEvidenceCount,
    last_reinforcement: profile.lastReinforcement === null ? null : utc(profile.lastReinforcement),
    intervention_threshold_exceeded: profile.thresholdExceeded,
    intervention_history: profile.history.map(interventionRecord),
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A published topic as `events.jsonl` carries it. */
export interface TopicEvent {
  topic: string;
  payload: string;
  /** Epoch ms. */
  at: number;
  iteration: number;
  role: string;
}

/** One line of `events.jsonl`, with its newline. */
export function writeEventsLine({ topic, payload, at, iteration, role }: TopicEvent): string {
  return `${JSON.stringify({ topic, payload, ts: utc(at), iteration, role })}\n`;
}
