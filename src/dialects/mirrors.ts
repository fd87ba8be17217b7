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

/** An event in the field names of seed 2. */
function interventionRecord(event: InterventionEvent): Record<string, unknown> {
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
