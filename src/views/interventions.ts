/** Findings and corrections as the intervention events that other tools read. */
import { FINDINGS, type Severity } from '../core/index.ts';
import type { FindingStory, IterationStory, Story } from './story.ts';
import { newest } from './topics.ts';
import { iso, oneLine } from './words.ts';

/** One element of `interventions/events.json` (schema `ralph_gold.interventions.v1`). */
export interface InterventionJson {
  iteration: number;
  event_type: string;
  timestamp: string | null;
  severity: Severity;
  details: {
    task_id: string | null;
    agent: string;
    /** null: ended by a signal, or unknown. */
    agent_return_code: number | null;
    exit_signal_claimed: boolean;
    files_written: number;
    evidence_count: number;
    /** The finding's own name, where several share an event type. */
    finding: string | null;
    detail: string;
  };
  remediation_attempted: boolean;
}

export interface InterventionQuery {
  last?: number;
  /** An event type or a finding's own name. */
  type?: string;
}

export function interventionsJson(story: Story, { last, type }: InterventionQuery = {}): InterventionJson[] {
  const all = story.findings.map((told) => interventionJson(story, told));
  const wanted =
    type === undefined
      ? all
      : all.filter((event) => event.event_type === type || event.details.finding === type);
  return [...newest(wanted, last)];
}

export function interventionJson(story: Story, told: FindingStory): InterventionJson {
  const { finding, applied } = told;
  const row = finding
    ? FINDINGS[finding.kind]
    : { eventType: 'agent_reinforced', severity: 'warning' as const };
  return {
    iteration: told.iteration,
    event_type: row.eventType,
    timestamp: iso(told.at),
    severity: row.severity,
    details: {
      task_id: told.task,
      agent: told.agent,
      ...seen(story.iterations.get(told.iteration)),
      finding: finding?.kind ?? null,
      detail: finding?.detail ?? applied?.sentence ?? '',
    },
    remediation_attempted: told.answered,
  };
}

function seen(told: IterationStory | undefined) {
  return {
    agent_return_code: told?.report?.exitCode ?? null,
    exit_signal_claimed: told?.claim?.kind === 'complete',
    files_written: told?.changeCount ?? 0,
    evidence_count: told?.claim?.result?.evidence.length ?? 0,
  };
}

export function interventionsText(story: Story, query: InterventionQuery = {}): string {
  const events = interventionsJson(story, query);
  if (events.length === 0) return 'Nothing was held against any iteration.';
  return events
    .map(({ iteration, event_type, severity, details, remediation_attempted }) => {
      const task = details.task_id === null ? '' : ` · ${oneLine(details.task_id, 60)}`;
      const done = remediation_attempted ? ' · corrected in the next prompt' : '';
      return `iteration ${iteration}${task} · ${event_type} (${severity})${done} — ${oneLine(details.detail, 300)}`;
    })
    .join('\n');
}
