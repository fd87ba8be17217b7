/** The times of cycles, of planning and of tasks, for `metadata.yaml` and `progress.md` of each cycle. */
import {
  type Fact,
  type JournalRecord,
  keepsWorks,
  type State,
  type TaskState,
  tasksOfCycle,
} from '../core/index.ts';
import {
  type CycleMetadata,
  type ProgressFacts,
  type ProgressLine,
  progressLine,
  progressRow,
  writeProgress,
} from '../dialects/index.ts';
import { type Story, stories } from '../views/index.ts';
import {
  isCycleOver,
  knowledgeSteps,
  type PlanningStep,
  planningSteps,
  stepStatus,
} from './mirror-planning.ts';

interface Cycle {
  cycle: number;
  startedAt: number;
  planningCompletedAt: number | null;
  completedAt: number | null;
  feedbacks: string[];
  /** Counts at its end; null while it runs. */
  ended: { done: number; total: number } | null;
  /** How far each step of planning and knowledge is, and since when. */
  planned: Map<string, { status: ProgressLine['status']; at: number }>;
  /** The review of the session found gaps. */
  gaps: boolean;
  /** How it stood when the next cycle was due; null before, and once that is drawn. */
  closing: ProgressFacts | null;
}

export interface CycleTimes {
  cycles: Map<number, Cycle>;
  /** When a task's status last changed. Epoch ms. */
  movedAt: Map<string, number>;
  feedbacks: string[];
  /** Cycles before this one are another tool's, whose files stay as it left them. */
  importedIn: number;
}

export function newCycleTimes(): CycleTimes {
  return { cycles: new Map(), movedAt: new Map(), feedbacks: [], importedIn: 1 };
}

/** Adds one record; the story has been told it already. */
export function tellCycle(times: CycleTimes, record: JournalRecord, { state }: Story): void {
  const { at } = record;
  for (const fact of record.facts) {
    switch (fact.type) {
      case 'session.created':
        open(times, 1, at);
        break;
      case 'cycle.started':
        endCycle(times, fact.cycle - 1, at, state);
        open(times, fact.cycle, at);
        break;
      case 'session.imported':
        times.importedIn = fact.cycle;
        current(times, state, at).startedAt = fact.startedAt ?? at;
        break;
      case 'task.moved':
        times.movedAt.set(fact.task, at);
        break;
      case 'feedback.received':
        times.feedbacks.push(fact.folder?.split('/').at(-1) ?? fact.id.slice(0, 'feedback-'.length + 8));
        break;
      default:
        tellPhase(current(times, state, at), fact, at);
    }
  }
  if (state.session !== null && keepsWorks(state)) tellPlanning(times, state, at);
}

/** The works of a cycle move with calls, not with tasks: what they come to is read from the state. */
function tellPlanning(times: CycleTimes, state: State, at: number): void {
  const cycle = current(times, state, at);
  for (const { marker, mode } of [...planningSteps(state, cycle.cycle), ...knowledgeSteps(state)]) {
    const status = stepStatus(state, mode);
    if (cycle.planned.get(marker)?.status !== status) cycle.planned.set(marker, { status, at });
  }
  cycle.gaps = state.cycleWork.review?.value === 'Gaps Identified';
  // The next record begins the next cycle, and with it its tasks and calls.
  if (state.phase === 'REPLANNING' && isCycleOver(state)) cycle.closing = progressFacts(times, state);
}

function open(times: CycleTimes, cycle: number, at: number): Cycle {
  const fresh: Cycle = {
    cycle,
    startedAt: at,
    planningCompletedAt: null,
    completedAt: null,
    feedbacks: times.feedbacks.splice(0),
    ended: null,
    planned: new Map(),
    gaps: false,
    closing: null,
  };
  times.cycles.set(cycle, fresh);
  return fresh;
}

function current(times: CycleTimes, state: State, at: number): Cycle {
  return times.cycles.get(state.cycle) ?? open(times, state.cycle, at);
}

function endCycle(times: CycleTimes, cycle: number, at: number, state: State): void {
  const ended = times.cycles.get(cycle);
  if (!ended) return;
  ended.completedAt ??= at;
  // The new cycle has taken over already what this one did not finish.
  const its = [...state.tasks.values()].filter((task) => task.cycle === cycle || task.cycle === state.cycle);
  ended.ended = stories(state, its);
}

function tellPhase(cycle: Cycle, fact: Fact, at: number): void {
  if (fact.type === 'phase.entered') {
    if (fact.phase === 'BATCHING') cycle.planningCompletedAt ??= at;
    // A task that was reopened opens its cycle again.
    const over = fact.phase === 'COMPLETE' || fact.phase === 'REPLANNING';
    cycle.completedAt = over ? (cycle.completedAt ?? at) : null;
  } else if (fact.type === 'abort.done') cycle.completedAt ??= at;
}

/** `iterations/<N>/metadata.yaml` of a cycle; `version` is the journal's number. */
export function cycleMetadata(times: CycleTimes, state: State, cycle: number): CycleMetadata | null {
  const told = times.cycles.get(cycle);
  if (!told || cycle < times.importedIn) return null;
  const isDone = ({ marker }: PlanningStep) => told.planned.get(marker)?.status === 'done';
  return {
    version: state.seq,
    cycle,
    startedAt: told.startedAt,
    planningCompletedAt: told.planningCompletedAt,
    completedAt: told.completedAt,
    planningTasks: Object.fromEntries(planningSteps(state, cycle).map((step) => [step.marker, isDone(step)])),
    tasksDefined: told.ended?.total ?? tasksOfCycle(state).length,
  };
}

/** What `iterations/<N>/progress.md` of the running cycle tells. */
function progressFacts(times: CycleTimes, state: State): ProgressFacts {
  const planned = times.cycles.get(state.cycle)?.planned;
  const line = ({ marker }: PlanningStep): ProgressLine => {
    const { status, at } = planned?.get(marker) ?? { status: 'todo' as const, at: null };
    return { id: marker, status, at };
  };
  return {
    cycle: state.cycle,
    planning: planningSteps(state, state.cycle).map(line),
    knowledge: knowledgeSteps(state).map(line),
    tasks: tasksOfCycle(state)
      .sort((a, b) => a.def.order - b.def.order)
      .map((task) => taskLine(times, state, task)),
    cycles: [...times.cycles.values()].map((cycle) => cycleRow(cycle, state)),
  };
}

function taskLine({ movedAt }: CycleTimes, state: State, task: TaskState): ProgressLine {
  const { id } = task.def;
  const last = state.attempts.get(task.attempts.at(-1) ?? 0);
  const at = task.status === 'doing' ? (last?.startedAt ?? null) : (movedAt.get(id) ?? null);
  const told = task.status === 'failed' || task.status === 'cancelled';
  return {
    id,
    status: task.status,
    at,
    ...(task.runs > 0 ? { attempt: task.runs } : {}),
    ...(told ? { note: task.reason } : {}),
  };
}

function cycleRow(cycle: Cycle, state: State): ProgressFacts['cycles'][number] {
  const { done, total } = cycle.ended ?? stories(state, tasksOfCycle(state));
  return {
    cycle: cycle.cycle,
    status: rowStatus(cycle, state, total > 0 && done === total),
    done,
    total,
    feedbacks: cycle.feedbacks,
  };
}

function rowStatus(cycle: Cycle, state: State, allDone: boolean): string {
  if (cycle.completedAt !== null) return allDone && !cycle.gaps ? 'Complete' : 'Incomplete';
  if (!keepsWorks(state)) return 'In progress';
  if (state.phase === 'REPLANNING') return 'Replanning';
  return state.phase === 'PLANNING' || state.phase === 'INITIALIZING' ? 'Planning' : 'In progress';
}

/**
 * Draws `progress.md` of the cycles that are over as they ended, once: the last steps of a cycle and the first
 * of the next may be one drawing. `drawOne` answers whether it could.
 */
export async function drawClosed(
  times: CycleTimes,
  drawOne: (cycle: number, text: (previous: string | null) => string) => Promise<boolean>,
): Promise<void> {
  for (const cycle of times.cycles.values()) {
    const { closing } = cycle;
    if (closing === null || cycle.ended === null) continue;
    if (await drawOne(cycle.cycle, (previous) => writeProgress(closing, previous))) cycle.closing = null;
  }
}

/** The tasks and the row of `progress.md` as they were last drawn. */
export interface DrawnProgress {
  lines: Map<string, string>;
  row: string;
}

/** The text of `progress.md`, drawn as a whole into what people made of it. */
export function drawProgress(
  times: CycleTimes,
  state: State,
  previous: string | null,
): { text: string; drawn: DrawnProgress } {
  const facts = progressFacts(times, state);
  const lines = new Map(facts.tasks.map((line) => [line.id, progressLine(line, facts.cycle)]));
  return {
    text: writeProgress(facts, previous),
    drawn: { lines, row: progressRow(facts.cycles.at(-1) ?? NO_CYCLE) },
  };
}

const NO_CYCLE = { cycle: 0, status: '', done: 0, total: 0, feedbacks: [] };

/**
 * The text with these tasks' lines brought up to date, for a file nobody touched: reading five thousand
 * lines to change one would be most of an iteration's overhead. null: draw it as a whole.
 */
export function patchProgress(
  { times, state, drawn }: { times: CycleTimes; state: State; drawn: DrawnProgress },
  text: string,
  tasks: ReadonlySet<string>,
): string | null {
  const cycle = times.cycles.get(state.cycle);
  if (!cycle) return null;
  let patched: string | null = text;
  for (const id of tasks) {
    const task = state.tasks.get(id);
    const old = drawn.lines.get(id);
    if (!task || old === undefined) return null;
    const line = progressLine(taskLine(times, state, task), state.cycle);
    patched = swapLine(patched, old, line);
    if (patched === null) return null;
    drawn.lines.set(id, line);
  }
  const row = progressRow(cycleRow(cycle, state));
  patched = swapLine(patched, drawn.row, row);
  drawn.row = row;
  return patched;
}

function swapLine(text: string, old: string, line: string): string | null {
  if (old === line) return text;
  const at = text.indexOf(`\n${old}\n`);
  return at === -1 ? null : `${text.slice(0, at + 1)}${line}${text.slice(at + 1 + old.length)}`;
}
