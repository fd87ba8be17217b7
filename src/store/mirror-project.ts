/**
 * The mirrors in `.ralph/`: interventions, profiles of agents, the corrections that stand in the next prompts,
 * metrics, loops. What is known of agents outlives their session, so each judged iteration is first noted in
 * the project journal, once: a session's notes are numbered, and the journal knows how many of them it has.
 */
import { join } from 'node:path';
import { type State, standingFeedback } from '../core/index.ts';
import { type InterventionEvent, writeInterventionsJson } from '../dialects/index.ts';
import { type IterationNote, profileFile, stories } from '../views/index.ts';
import { wholeMirror } from './mirror-file.ts';
import type { Telling } from './mirror-rows.ts';
import { INTERVENTIONS_RESET, ITERATION_NOTED, readNote } from './notes.ts';
import { appendProject, type ProjectRecord, readProjectLine } from './project.ts';
import { projectText } from './project-tail.ts';

const DAY_MS = 86_400_000;
/** Events that `interventions/events.json` shows at most; all of them are in the project journal. */
const EVENTS_MOST = 500;
const FEEDBACK_CHARS = 16_000;

export interface ProjectNotes {
  /** Tells the project journal what it does not know of this session. */
  note(telling: Telling): Promise<void>;
  /**
   * The text of `interventions/events.json`: what was held against attempts in the last `days` before `now` (epoch
   * ms). null where nothing ever was.
   */
  events(age: { now: number; days: number }): string | null;
  /** The text of `interventions/profile.json`; null where no attempt was ever judged. */
  profiles(): string | null;
}

interface Known {
  notes: IterationNote[];
  /** Notes of our session that the journal has. */
  noted: number;
  reset: boolean;
  /** Texts made of them, and how old the oldest event in it is (epoch ms); null: to be made again. */
  events: { text: string; oldest: number } | null;
  profiles: string | null;
}

/** What a project knows of its agents, as one session adds to it. */
export function projectNotes(mainDir: string, sessionId: () => string): ProjectNotes {
  const tail = projectText(mainDir, { compressed: true });
  let known: Known | null = null;

  function refreshed(): Known {
    const { text, anew } = tail();
    if (known === null || anew) known = nothing();
    learnAll(known, text);
    return known;
  }

  function learnAll(into: Known, text: string): void {
    // Most lines are about other things; they need no parsing.
    for (const line of text.split('\n'))
      if (RELEVANT.test(line)) learn(into, readProjectLine(line), sessionId());
  }

  return {
    async note(telling) {
      const { noted } = refreshed();
      const news = telling.notes.filter(({ n }) => n >= noted);
      if (news.length > 0) {
        const session = sessionId();
        await appendProject(
          mainDir,
          ...news.map(({ n, note: { at, session: _, ...note } }) => ({
            at,
            type: ITERATION_NOTED,
            session,
            n,
            ...note,
          })),
        );
      }
      telling.notes = [];
    },
    events({ now, days }) {
      const { notes, reset, ...state } = refreshed();
      if (!reset && notes.every(({ events }) => events.length === 0)) return null;
      const cut = now - days * DAY_MS;
      const fits = state.events !== null && state.events.oldest >= cut;
      if (fits) return state.events!.text;
      const young = notes.filter(({ at }) => at >= cut).flatMap(eventsOf);
      const shown = young.slice(-EVENTS_MOST);
      const oldest = shown.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
      known!.events = { text: writeInterventionsJson(shown), oldest };
      return known!.events.text;
    },
    profiles() {
      const now = refreshed();
      if (now.notes.length === 0 && !now.reset) return null;
      now.profiles ??= json(profileFile(now.notes));
      return now.profiles;
    },
  };
}

const RELEVANT = /"type":"(?:iteration\.noted|interventions\.reset)"/;

function nothing(): Known {
  return { notes: [], noted: 0, reset: false, events: null, profiles: null };
}

function learn(known: Known, record: ProjectRecord | null, session: string): void {
  if (record?.type === INTERVENTIONS_RESET) {
    known.notes = [];
    known.reset = true;
  } else {
    const note = record === null ? null : readNote(record);
    if (note === null) return;
    if (note.session === session) {
      const n = Number.isSafeInteger(record?.n) ? (record!.n as number) : known.noted;
      // Told twice, when another loop closed the journal in that instant.
      if (n < known.noted) return;
      known.noted = n + 1;
    }
    known.notes.push(note);
  }
  known.events = null;
  known.profiles = null;
}

function eventsOf({ iteration, at, events }: IterationNote): InterventionEvent[] {
  return events.map((event) => ({
    iteration,
    eventType: event.event_type,
    at,
    severity: event.severity,
    details: event.details,
    remediationAttempted: event.remediation_attempted,
  }));
}

/** `interventions/feedback.txt`: what stands in the next prompts, newest first, each sentence once. */
export function feedbackText(state: State): string {
  const lines = standingFeedback(state);
  if (lines.length === 0) return '';
  const parts: string[] = [];
  let [length, left] = [0, 0];
  for (const { iteration, task, sentence } of lines) {
    length += sentence.length;
    if (parts.length > 0 && length > FEEDBACK_CHARS) left += 1;
    else parts.push(`Iteration ${iteration}, ${task ?? 'session'}:\n${sentence}`);
  }
  if (left > 0) parts.push(`… shortened: ${left} older ${left === 1 ? 'point is' : 'points are'} left out`);
  return `## Previous Iteration Feedback (DO NOT IGNORE)\n\n${parts.join('\n\n')}\n`;
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
    cost_usd: state.costUsd === null ? null : rounded(state.costUsd),
    input_tokens: state.tokens.input,
    output_tokens: state.tokens.output,
    stage_seconds: sorted(
      Object.fromEntries(
        Object.entries(tallies.stageMs).map(([stage, ms]) => [stage, Math.round(ms / 1000)]),
      ),
    ),
  });
}

/** A loop as `loops.json` shows it: the names that other programs rely on. */
export interface LoopRow {
  loop_id: string;
  session_id: string | null;
  primary: boolean;
  branch: string | null;
  onto: string | null;
  worktree: string | null;
  state: string;
  landed: boolean;
}

/** `loops.json`: the loops of the project, the main checkout's own first. Other names of a row stay out of it. */
export function loopsText(rows: readonly LoopRow[]): string {
  return json(
    rows.map(({ loop_id, session_id, primary, branch, onto, worktree, state, landed }) => {
      return { loop_id, session_id, primary, branch, onto, worktree, state, landed };
    }),
  );
}

/** Draws it at once and without a session, as when a loop's work tree was taken away. */
export function drawLoops(mainDir: string, rows: readonly LoopRow[]): void {
  wholeMirror(join(mainDir, '.ralph', 'loops.json')).draw(loopsText(rows));
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
