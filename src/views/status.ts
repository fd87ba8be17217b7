/** Where the session stands now: the window that answers "how far is it, and does it need me?" */
import {
  type AttemptState,
  type CostSource,
  commandFor,
  costSource,
  iterationLimit,
  keepsWorks,
  openQuestions,
  PHASES,
  type Phase,
  type State,
  spentWords,
  type TaskState,
  tasksOfCycle,
} from '../core/index.ts';
import { type QuestionJson, questionJson, questionText } from './inbox.ts';
import { type LiveInfo, nextWords } from './next.ts';
import { type OutageJson, outageLines, outagesNow } from './outages.ts';
import {
  categoryOf,
  liveCallWords,
  markedTasks,
  noTasksYet,
  phaseWords,
  roundOf,
  stagedNotes,
} from './phase-words.ts';
import { stories } from './story.ts';
import { count, duration, iso, oneLine, span, tally } from './words.ts';

export type StatusWord = 'completed' | 'in_progress' | 'awaiting_feedback' | 'blocked';
export type StatusDetail =
  | StatusWord
  | 'paused'
  | 'awaiting_approval'
  | 'aborted'
  /** A loop that is done and that a person must look at before it lands, or whose turn to land has not come. */
  | 'needs_review'
  | 'queued';

const WORD_OF: Record<StatusDetail, StatusWord> = {
  completed: 'completed',
  in_progress: 'in_progress',
  awaiting_feedback: 'awaiting_feedback',
  blocked: 'blocked',
  paused: 'in_progress',
  awaiting_approval: 'awaiting_feedback',
  aborted: 'blocked',
  needs_review: 'awaiting_feedback',
  queued: 'awaiting_feedback',
};

export interface LiveJson {
  iteration: number;
  task_id: string | null;
  role: string;
  mode: string;
  /** What a questioner asks about; null for every other call. */
  category: string | null;
  attempt: number;
  agent: string;
  pid: number | null;
  started_at: string | null;
  elapsed_s: number;
  /** The class its time was reckoned with; null for work on the session. */
  complexity: string | null;
  timeout_s: number;
  idle_timeout_s: number;
}

export interface StatusJson {
  status: StatusWord;
  status_detail: StatusDetail;
  session_id: string;
  /** The cycle: what is `iterations/<N>/` on disk. */
  iteration: number;
  current_state: Phase;
  current_wave: number;
  tasks_summary: { total: number; completed: number; failed: number; pending: number; cancelled: number };
  next_action: string;
  paused: boolean;
  phase: Phase;
  /** The phase in plain words; null in a team that only works off tasks. */
  phase_detail: string | null;
  /** The newest round of questions in this cycle; null where none was asked. */
  round: number | null;
  /** Notes that wait for a person's yes, relative to the session's folder. */
  staged: string[];
  /** What the review of the session says; null before it, and in a team without one. */
  session_review: { assessment: string; gaps: string[] } | null;
  /** How the last run ended; absent while one is going on, and after a crash. */
  exit?: { code: number; word: string; reason: string };
  /** Agents whose provider says no now. */
  outages: OutageJson[];
  open_questions: QuestionJson[];
  /** Agent runs of the session. */
  iterations: number;
  stuck_count: number;
  /** null: no agent reported a price. */
  cost_usd: number | null;
  /** `estimated`: part of it is tokens by the price table; `subscription`: all of it is paid by one; null: no price is known. */
  cost_source: CostSource;
  live: LiveJson[];
}

/** `now`: epoch ms; `live`: who holds the session, as its lock says. */
export function statusJson(state: State, now: number, live: LiveInfo): StatusJson {
  const detail = statusDetail(state);
  const exit = state.run?.stopped;
  return {
    status: WORD_OF[detail],
    status_detail: detail,
    session_id: state.session?.id ?? '',
    iteration: state.cycle,
    current_state: state.phase,
    current_wave: state.taskWaves,
    tasks_summary: tasksSummary(state, tasksOfCycle(state)),
    next_action: nextWords(state, now, live),
    paused: state.paused !== null,
    phase: state.phase,
    phase_detail: phaseWords(state),
    round: roundOf(state),
    staged: stagedNotes(state),
    session_review: sessionReview(state),
    ...(exit ? { exit: { code: exit.code, word: exit.word, reason: exit.reason } } : {}),
    outages: outagesNow(state, now),
    open_questions: openQuestions(state).map(questionJson),
    iterations: state.attempts.size,
    stuck_count: state.stuck,
    cost_usd: state.costUsd,
    cost_source: costSource(state),
    live: live.runner === null ? [] : liveAttempts(state).map((attempt) => liveJson(attempt, now)),
  };
}

function sessionReview({ cycleWork: { review } }: State): StatusJson['session_review'] {
  return review === null ? null : { assessment: review.value, gaps: review.gaps };
}

/** The word of seed 1's `metadata.yaml`, which knows no landing. */
export function metadataStatus(state: State): Exclude<StatusDetail, 'needs_review' | 'queued'> {
  const detail = statusDetail(state);
  return detail === 'needs_review' || detail === 'queued' ? 'awaiting_feedback' : detail;
}

/** The status of a session in one of nine words; `StatusJson.status` folds them into four. */
export function statusDetail(state: State): StatusDetail {
  if (state.aborted || state.landing?.type === 'loop.discarded') return 'aborted';
  if (state.paused) return 'paused';
  const holding = openQuestions(state).find(({ question }) => question.hold === 'session');
  if (holding) return holding.question.kind === 'approval' ? 'awaiting_approval' : 'blocked';
  switch (state.run?.stopped?.code) {
    case 0:
      return 'completed';
    case 8:
      if (state.landing?.type === 'loop.parked') return 'needs_review';
      if (state.landing?.type === 'loop.queued') return 'queued';
      // Said yes or no to since then: nobody is waited for.
      return isDecided(state) ? 'in_progress' : 'awaiting_feedback';
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 70:
      return 'blocked';
    default:
      return 'in_progress';
  }
}

function isDecided({ phase, cycleWork, items, questions }: State): boolean {
  if (phase !== 'KNOWLEDGE_APPROVAL' || items.has('librarian|PROMOTE|session')) return false;
  return questions.get(cycleWork.approval ?? '')?.state === 'answered';
}

/** Counts of these tasks; those of the whole session where none are given. */
export function tasksSummary(
  state: State,
  tasks: readonly TaskState[] = [...state.tasks.values()],
): StatusJson['tasks_summary'] {
  const summary = { total: tasks.length, completed: 0, failed: 0, pending: 0, cancelled: 0 };
  for (const { status } of tasks) {
    if (status === 'done') summary.completed += 1;
    else if (status === 'failed') summary.failed += 1;
    else if (status === 'cancelled') summary.cancelled += 1;
    else summary.pending += 1;
  }
  return summary;
}

function liveAttempts(state: State): AttemptState[] {
  // Those of a wave begin in any order.
  const open = [...state.open].sort((a, b) => a - b);
  return open.flatMap((iteration) => state.attempts.get(iteration) ?? []);
}

function liveJson(attempt: AttemptState, now: number): LiveJson {
  return {
    iteration: attempt.iteration,
    task_id: attempt.item.task ?? null,
    role: attempt.item.role,
    mode: attempt.item.mode,
    category: categoryOf(attempt.item),
    attempt: attempt.attempt,
    agent: attempt.agent,
    pid: attempt.pid,
    started_at: iso(attempt.startedAt),
    elapsed_s: Math.max(0, Math.floor(((attempt.endedAt ?? now) - attempt.startedAt) / 1000)),
    complexity: attempt.complexity,
    timeout_s: attempt.allowance.wallMs / 1000,
    idle_timeout_s: attempt.allowance.idleMs / 1000,
  };
}

/** The window as text, its most urgent lines last: questions, the last exit, what happens next. */
export function statusText(state: State, now: number, live: LiveInfo): string {
  if (!state.session) return 'There is no session here; `ralph run` starts one.';
  const lines = [
    headline(state, live),
    ...objective(state),
    ...phaseLines(state),
    tasksLine(state),
    ...taskLines(state),
    ...liveLines(state, now, live),
  ];
  lines.push(numbersLine(state), ...outageLines(state, now));
  if (state.paused)
    lines.push(
      `paused by ${oneLine(state.paused.by, 60)}: ${oneLine(state.paused.text) || 'no reason given'}`,
    );
  const open = openQuestions(state);
  if (open.length > 0) lines.push(count(open.length, 'open question'));
  for (const entry of open) lines.push(...questionText(entry, { state, now }).map((line) => `  ${line}`));
  for (const notice of state.notices.slice(-3)) lines.push(`${notice.level}: ${oneLine(notice.text, 300)}`);
  const exit = state.run?.stopped;
  const since = state.aborted && exit?.code !== 9 ? '; aborted since then' : '';
  if (exit) lines.push(`last exit: ${exit.code} ${exit.word} — ${oneLine(exit.reason, 300)}${since}`);
  lines.push(`next: ${nextWords(state, now, live)}`);
  return lines.join('\n');
}

function headline(state: State, live: LiveInfo): string {
  const runner = live.runner === null ? `no runner${silence(live)}` : `runner pid ${live.runner.pid}`;
  const words = statusDetail(state).replace('_', ' ');
  const walked = PHASES[state.phase].inner && !keepsWorks(state) ? '' : ` · cycle ${state.cycle}`;
  return `${state.session?.id} · ${words} · ${state.phase}${walked} · ${runner}`;
}

function silence({ silent }: LiveInfo): string {
  if (!silent) return '';
  return `, last seen ${new Date(silent.seenAt).toISOString()} on ${oneLine(silent.host, 60)}`;
}

function objective(state: State): string[] {
  const text = oneLine(state.session?.objective ?? '', 160);
  return text === '' ? [] : [`objective: ${text}`];
}

function phaseLines(state: State): string[] {
  const words = phaseWords(state);
  return words === null ? [] : [`phase: ${oneLine(words, 300)}`];
}

const MOST_TASKS = 12;

function taskLines(state: State): string[] {
  const shown = markedTasks(state, MOST_TASKS);
  const lines = shown.map(
    ({ task: { def }, marker }) => `  ${marker} ${oneLine(def.id, 60)}  ${oneLine(def.title, 80)}`,
  );
  const more = shown.length === 0 ? 0 : state.tasks.size - shown.length;
  return more > 0 ? [...lines, `  and ${more} more: \`${commandFor(state, 'ralph tasks')}\``] : lines;
}

function tasksLine(state: State): string {
  const none = noTasksYet(state);
  if (none !== null) return none;
  const { done, total } = stories(state);
  const { failed, cancelled } = tasksSummary(state);
  const held = openQuestions(state).filter(({ question }) => state.tasks.has(question.about)).length;
  const parts = [`tasks ${done}/${total} done`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (cancelled > 0) parts.push(`${cancelled} cancelled`);
  if (held > 0) parts.push(`${held} held`);
  return parts.join(' · ');
}

function liveLines(state: State, now: number, live: LiveInfo): string[] {
  return liveAttempts(state).map((attempt) => {
    const { iteration, item } = attempt;
    const { call, since } = liveCallWords(state, attempt);
    const title = oneLine(state.tasks.get(item.task ?? '')?.def.title ?? '', 60);
    const what = `iteration ${iteration} · ${call}${title === '' ? '' : ` “${title}”`}`;
    if (attempt.state === 'ended' && live.runner === null) return `${what} · ended, not judged yet`;
    if (live.runner === null) return `${what} · left open by a run that is gone`;
    const spent = duration((attempt.endedAt ?? now) - attempt.startedAt);
    const stage =
      attempt.state === 'ended'
        ? 'being judged'
        : `${spent} of ${span(attempt.allowance.wallMs)}${attempt.complexity === null ? '' : ` (${attempt.complexity})`}`;
    return `${what} · attempt ${attempt.attempt} · ${attempt.agent}${since} · ${stage}`;
  });
}

function numbersLine(state: State): string {
  const max = state.policy?.limits.maxStuck ?? 0;
  const used =
    state.run && state.policy ? `${state.run.used} of ${iterationLimit(state)} in this run` : 'none yet';
  const tokens = state.tokens.input + state.tokens.output;
  return [
    `iterations ${state.attempts.size} (${used})`,
    `stuck ${state.stuck}${max > 0 ? `/${max}` : ''}`,
    spentWords(state),
    `${tally(tokens)} tokens`,
  ].join(' · ');
}
