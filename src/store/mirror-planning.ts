/**
 * How far the planning and the knowledge of a cycle are, step by step, for the markers of its `progress.md`.
 * Several calls may share one marker: it is done when all of them are done or were passed over.
 */
import {
  itemKey,
  MODES,
  type Mode,
  type Phase,
  questionsOf,
  type State,
  type TaskStatus,
} from '../core/index.ts';

export interface PlanningStep {
  marker: string;
  mode: Mode;
}

const FIRST: readonly PlanningStep[] = [
  { marker: 'plan-init', mode: 'INITIALIZE' },
  { marker: 'plan-brainstorm', mode: 'brainstorm' },
  { marker: 'plan-research', mode: 'research' },
  { marker: 'plan-breakdown', mode: 'TASK_BREAKDOWN' },
];
const LATER: readonly PlanningStep[] = [
  { marker: 'plan-rebrainstorm', mode: 'feedback-analysis' },
  { marker: 'plan-reresearch', mode: 'research' },
  { marker: 'plan-update', mode: 'UPDATE' },
  { marker: 'plan-rebreakdown', mode: 'REBREAKDOWN' },
];
const KNOWLEDGE: readonly PlanningStep[] = [
  { marker: 'plan-knowledge-extraction', mode: 'STAGE' },
  { marker: 'plan-knowledge-approval', mode: 'PROMOTE' },
];

/** The steps of planning that somebody is hired for. */
export function planningSteps(state: State, cycle: number): PlanningStep[] {
  return hired(state, cycle === 1 ? FIRST : LATER);
}

export function knowledgeSteps(state: State): PlanningStep[] {
  return hired(state, KNOWLEDGE);
}

function hired(state: State, steps: readonly PlanningStep[]): PlanningStep[] {
  return steps.filter(({ mode }) => state.policy?.modes.includes(mode) ?? false);
}

/** How far the running cycle is with a step; cancelled: the cycle goes on, or is over, without it. */
export function stepStatus(state: State, mode: Mode): TaskStatus {
  const { done, passedOver } = state.cycleWork;
  if (liveModes(state).has(mode)) return 'doing';
  const of = (keys: readonly string[]) => keys.filter((key) => key.split('|')[1] === mode);
  const finished = of(done).length;
  const over = finished + of(passedOver).length;
  if (isSettled(state, mode)) return finished > 0 ? 'done' : 'cancelled';
  return over > 0 ? 'doing' : 'todo';
}

function liveModes(state: State): Set<Mode> {
  return new Set([...state.open].flatMap((iteration) => state.attempts.get(iteration)?.item.mode ?? []));
}

/** No call of this mode is owed any more in this cycle, as far as what came after it tells. */
function isSettled(state: State, mode: Mode): boolean {
  if (isPast(state, mode)) return true;
  if (state.phase !== 'PLANNING' || (mode !== 'brainstorm' && mode !== 'research')) {
    const key = itemKey({ role: MODES[mode].role, mode, subject: 'session' });
    return state.cycleWork.done.includes(key) || state.cycleWork.passedOver.includes(key);
  }
  const begun = begunCalls(state);
  if (begun.some((call) => call.mode === 'TASK_BREAKDOWN')) return true;
  const last = (of: Mode) =>
    Math.max(0, ...begun.filter((call) => call.mode === of).map(({ round }) => round));
  // A research that began has all questions of its round before it.
  if (mode === 'brainstorm') return last('research') > 0 && last('research') >= last('brainstorm');
  if (last('research') < last('brainstorm')) return false;
  const newest = begun.filter((call) => call.mode === 'research' && call.round === last('research'));
  return newest.length > 0 && newest.every(({ over }) => over);
}

interface Begun {
  mode: Mode;
  round: number;
  over: boolean;
}

/** The calls of this cycle that were started, are about to be, or need not be. */
function begunCalls({ items, cycleWork, wave }: State): Begun[] {
  const { done, passedOver } = cycleWork;
  const waiting = (wave?.waiting ?? []).map(({ item }) => itemKey(item));
  return [...new Set([...items.keys(), ...done, ...passedOver, ...waiting])].map((key) => {
    const [role = '', mode = '', subject = ''] = key.split('|');
    const item = { role, mode: mode as Mode, subject };
    return {
      mode: item.mode,
      round: questionsOf(item).round,
      over: done.includes(key) || passedOver.includes(key),
    };
  });
}

const PLACE: Record<Phase, number> = {
  INITIALIZING: 0,
  PLANNING: 1,
  REPLANNING: 1,
  BATCHING: 2,
  EXECUTING_BATCH: 2,
  REVIEWING_BATCH: 2,
  SESSION_REVIEW: 3,
  KNOWLEDGE_EXTRACTION: 4,
  KNOWLEDGE_APPROVAL: 5,
  COMPLETE: 6,
};

const PLACE_OF: Partial<Record<Mode, number>> = { INITIALIZE: 0, STAGE: 4, PROMOTE: 5 };

/** The phase that makes this call lies behind. */
function isPast(state: State, mode: Mode): boolean {
  return isCycleOver(state) || PLACE[state.phase] > (PLACE_OF[mode] ?? PLACE.PLANNING);
}

/** The next cycle is due and has not begun. */
export function isCycleOver({ phase, replanning }: State): boolean {
  return phase === 'COMPLETE' || (phase === 'REPLANNING' && !replanning);
}
