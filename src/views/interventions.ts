/** Findings and corrections as the intervention events that other tools read. */
import { FINDINGS, type Intervention, type InterventionKind, type Severity } from '../core/index.ts';
import { evidenceCount } from './receipt.ts';
import { becameOf, type Sequel, TOLD_WORDS } from './sequel.ts';
import type { FindingStory, IterationStory, Story } from './story.ts';
import { iso, oneLine } from './words.ts';

/** One element of `interventions/events.json` (schema `ralph_gold.interventions.v1`). */
export interface InterventionJson {
  /** The session of the iteration. */
  session_id: string;
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
    /** The correction that was chosen; null: none. Absent in events of older versions. */
    correction?: InterventionKind | null;
  };
  remediation_attempted: boolean;
}

/** How often each type and each severity stands among the events, for a person who reads hundreds of them. */
export function interventionCounts(events: readonly InterventionJson[]): string {
  const types = new Map<string, number>();
  for (const { event_type } of events) types.set(event_type, (types.get(event_type) ?? 0) + 1);
  return [...types]
    .sort((a, b) => b[1] - a[1])
    .map(([type, n]) => `${type} ${n}`)
    .join(' · ');
}

/** Every event type and every finding's own name, for which events can be asked. */
export function interventionTypes(): string[] {
  const rows = Object.entries(FINDINGS).flatMap(([kind, { eventType }]) => [kind, eventType]);
  return [...new Set([...rows, 'agent_reinforced', 'mid_stream_prompt_injected'])].sort();
}

export interface InterventionQuery {
  last?: number;
  /** An event type or a finding's own name. */
  type?: string;
}

/** The events of one session, oldest first, from its journal. */
export function sessionEvents(story: Story): InterventionJson[] {
  return story.findings.map((told) => interventionJson(story, told));
}

/** The events that a query asks for, oldest first; taken from the others as they come. */
export function* interventionsOf(
  events: Iterable<InterventionJson>,
  { last, type }: InterventionQuery = {},
): Generator<InterventionJson> {
  if (last !== undefined && last < 1) return;
  const most = last === undefined ? null : Math.floor(last);
  const newest: InterventionJson[] = [];
  for (const event of events) {
    if (type !== undefined && event.event_type !== type && event.details.finding !== type) continue;
    if (most === null) yield event;
    else if (newest.push(event) >= 2 * most) newest.splice(0, newest.length - most);
  }
  if (most !== null) yield* newest.slice(-most);
}

/** The same as a list. */
export function interventionsJson(
  events: Iterable<InterventionJson>,
  query: InterventionQuery = {},
): InterventionJson[] {
  return [...interventionsOf(events, query)];
}

export function interventionJson(story: Story, told: FindingStory): InterventionJson {
  const { finding, applied } = told;
  const row = finding ? FINDINGS[finding.kind] : reinforcedRow(applied);
  return {
    session_id: story.state.session?.id ?? '',
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
      correction: told.correction,
    },
    remediation_attempted: told.answered,
  };
}

/** The event of a correction that is one of its own; critical once the agent's circuit breaker has tripped. */
export function reinforcedRow(applied: Intervention | null): { eventType: string; severity: Severity } {
  return { eventType: 'agent_reinforced', severity: applied?.aggressive ? 'critical' : 'warning' };
}

function seen(told: IterationStory | undefined) {
  return {
    agent_return_code: told?.report?.exitCode ?? null,
    exit_signal_claimed: told?.claim?.kind === 'complete',
    files_written: told?.changeCount ?? 0,
    evidence_count: told === undefined ? 0 : evidenceCount(told),
  };
}

/** The events as a person reads them, one a line. `sequel`: of all attempts these events may be of. */
export function interventionsText(events: readonly InterventionJson[], sequel: Sequel): string {
  if (events.length === 0) return 'Nothing was held against any iteration.';
  const several = new Set(events.map(({ session_id }) => session_id)).size > 1;
  return events
    .map((event) => {
      const { session_id, iteration, event_type, severity, details, remediation_attempted } = event;
      const session = several ? `${oneLine(session_id, 40)} · ` : '';
      const task = details.task_id === null ? '' : ` · ${oneLine(details.task_id, 60)}`;
      const done = remediation_attempted ? ` · ${answerWords(event, sequel)}` : '';
      return `${session}iteration ${iteration}${task} · ${event_type} (${severity})${done} — ${oneLine(details.detail, 300)}`;
    })
    .join('\n');
}

/** What was done about an event, by the correction that was chosen. */
function answerWords({ session_id: session, iteration, details }: InterventionJson, sequel: Sequel): string {
  const { correction, agent, task_id: task } = details;
  if (correction === 'question') return 'left to a question to a person';
  if (correction === 'other_agent') return 'given to another agent';
  return TOLD_WORDS[becameOf(sequel, { session, iteration, agent, task })];
}
