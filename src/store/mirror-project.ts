/**
 * The mirrors in `.ralph/`: interventions, the corrections that stand in the next prompts, metrics,
 * loops. Intervention events outlive their session, so each is first told to the project journal, once:
 * a session's events are numbered, and the journal knows how many of them it has.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { isTerminal, type State } from '../core/index.ts';
import { type InterventionEvent, writeInterventionsJson } from '../dialects/index.ts';
import { interventionJson, statusDetail, stories } from '../views/index.ts';
import type { Telling } from './mirror-rows.ts';
import { appendProject, type ProjectRecord, projectJournal } from './project.ts';

/** Events that `interventions/events.json` shows; older ones are in the project journal. */
const EVENTS_MOST = 500;
const FEEDBACK_CHARS = 16_000;

/** The project journal's record types about interventions. A reset hides what came before it. */
export const INTERVENTION_NOTED = 'intervention.noted';
export const INTERVENTIONS_RESET = 'interventions.reset';

export interface ProjectEvents {
  /** Tells the project journal what it does not know of this session. */
  note(telling: Telling): Promise<void>;
  /** The text of `interventions/events.json`; null where nothing was ever held against an attempt. */
  text(): string | null;
}

interface Known {
  /** Bytes of the project journal that were read. */
  read: number;
  events: InterventionEvent[];
  /** Events of our session that the journal has. */
  noted: number;
  any: boolean;
  /** The file's text; null: to be made again. */
  text: string | null;
}

/** The intervention events of a project, as one session adds to them. */
export function projectEvents(mainDir: string, sessionId: () => string): ProjectEvents {
  const file = projectJournal(mainDir);
  let known = nothing();

  /** Other loops and `--reset` write there too; what is new is read, nothing twice. */
  function refreshed(): Known {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < known.read) known = nothing();
    if (size === known.read) return known;
    const { text, bytes } = wholeLinesFrom(file, known.read, size);
    known.read += bytes;
    for (const line of text.split('\n')) learn(known, readProjectLine(line), sessionId());
    return known;
  }

  return {
    async note(telling) {
      const { story } = telling;
      let { noted } = refreshed();
      for (const told of story.findings.slice(noted)) {
        const { timestamp: _, ...event } = interventionJson(story, told);
        const news = { at: told.at, type: INTERVENTION_NOTED, session: sessionId(), n: noted, event };
        await appendProject(mainDir, news);
        noted += 1;
      }
    },
    text() {
      const now = refreshed();
      if (!now.any) return null;
      now.text ??= writeInterventionsJson(now.events);
      return now.text;
    },
  };
}

function nothing(): Known {
  return { read: 0, events: [], noted: 0, any: false, text: null };
}

function wholeLinesFrom(file: string, from: number, to: number): { text: string; bytes: number } {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(to - from);
    const length = readSync(handle, buffer, 0, buffer.length, from);
    const bytes = buffer.lastIndexOf(0x0a, length - 1) + 1;
    return { text: buffer.toString('utf8', 0, bytes), bytes };
  } finally {
    closeSync(handle);
  }
}

function readProjectLine(line: string): ProjectRecord | null {
  // Most lines are about other things; they need no parsing.
  if (!line.includes('"intervention')) return null;
  try {
    const record = JSON.parse(line) as ProjectRecord | null;
    return typeof record?.type === 'string' && typeof record.at === 'number' ? record : null;
  } catch {
    return null; // cut short by a crash, or edited
  }
}

function learn(known: Known, record: ProjectRecord | null, session: string): void {
  if (record?.type === INTERVENTIONS_RESET) known.events = [];
  else if (record?.type === INTERVENTION_NOTED) {
    if (record.session === session) known.noted += 1;
    const event = eventOf(record);
    if (event !== null) known.events.push(event);
    if (known.events.length > EVENTS_MOST) known.events.shift();
  } else return;
  known.any = true;
  known.text = null;
}

function eventOf({ at, event }: ProjectRecord): InterventionEvent | null {
  const told = event as Partial<ReturnType<typeof interventionJson>> | null | undefined;
  if (typeof told?.iteration !== 'number' || typeof told.event_type !== 'string') return null;
  return {
    iteration: told.iteration,
    eventType: told.event_type,
    at,
    severity: told.severity ?? 'info',
    details: told.details ?? {},
    remediationAttempted: told.remediation_attempted === true,
  };
}

/** `interventions/feedback.txt`: the corrections that open tasks carry, newest first, each once. */
export function feedbackText(state: State): string {
  const entries = [...state.tasks.values()]
    .filter((task) => !isTerminal(task.status))
    .flatMap(({ def, corrections }) => corrections.map((correction) => ({ ...correction, task: def.id })))
    .filter(({ intervention }) => intervention.sentence !== '')
    .sort((a, b) => b.iteration - a.iteration);
  if (entries.length === 0) return '';
  const seen = new Set<string>();
  const parts: string[] = ['## Previous Iteration Feedback (DO NOT IGNORE)'];
  let length = 0;
  for (const { iteration, task, intervention } of entries) {
    if (seen.has(intervention.sentence)) continue;
    seen.add(intervention.sentence);
    length += intervention.sentence.length;
    if (length > FEEDBACK_CHARS) break;
    parts.push(`Iteration ${iteration}, ${task}:\n${intervention.sentence}`);
  }
  return `${parts.join('\n\n')}\n`;
}

/** `metrics.json`: how often corrections were needed and helped, and where the time went. */
export function metricsText(state: State, { tallies }: Telling): string {
  const total = Object.values(tallies.byType).reduce((sum, n) => sum + n, 0);
  const iterations = state.attempts.size;
  const { done, total: wanted } = stories(state);
  return json({
    session_id: state.session?.id ?? '',
    total_interventions: total,
    interventions_by_type: sorted(tallies.byType),
    interventions_by_severity: tallies.bySeverity,
    intervention_rate_per_100_iterations: iterations === 0 ? 0 : rounded((100 * total) / iterations),
    avg_remediation_success_rate:
      tallies.followed === 0 ? null : rounded(tallies.remedied / tallies.followed),
    iterations,
    stories_complete: done,
    stories_total: wanted,
    stuck_iterations: state.stuckTotal,
    cost_usd: rounded(state.costUsd),
    input_tokens: state.tokens.input,
    output_tokens: state.tokens.output,
    stage_seconds: sorted(
      Object.fromEntries(
        Object.entries(tallies.stageMs).map(([stage, ms]) => [stage, Math.round(ms / 1000)]),
      ),
    ),
  });
}

/** `loops.json`: the loops of the project; one for now, the session of this work tree. */
export function loopsText(state: State, worktree: string): string {
  return json([
    {
      loop_id: 'primary',
      session_id: state.session?.id ?? '',
      primary: true,
      branch: state.lastMark?.branch ?? null,
      worktree,
      state: statusDetail(state),
      landed: state.run?.stopped?.code === 0,
    },
  ]);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function rounded(n: number): number {
  return Number(n.toFixed(4));
}

function sorted(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
