/** Where a session of several roles stands, in plain words: its phase, its calls, its round of questions. */
import {
  type AttemptState,
  type Item,
  keepsWorks,
  MARKERS,
  openQuestions,
  type QuestionState,
  questionsOf,
  type State,
  type TaskState,
} from '../core/index.ts';
import { count, iso, oneLine, some } from './words.ts';

/** A call in short: mode and task; of a questioner the category and, from the second on, the round. */
export function callName(item: Item): string {
  if (item.role !== 'questioner') {
    return item.subject === 'session' && item.task === undefined
      ? item.mode
      : `${item.mode} ${oneLine(item.subject, 60)}`;
  }
  const { category, round } = questionsOf(item);
  return `${item.mode}${category === '' ? '' : ` ${category}`}${round > 1 ? ` round ${round}` : ''}`;
}

/** The call with who makes it, where there is more than one role; since when, UTC. */
export function liveCallWords(
  state: State,
  { item, startedAt }: AttemptState,
): { call: string; since: string } {
  if (!keepsWorks(state)) return { call: callName(item), since: '' };
  return {
    call: `${item.role} ${callName(item)}`,
    since: ` · since ${iso(startedAt)?.slice(11, 16) ?? '?'} UTC`,
  };
}

/** Tasks with their markers, where several roles work on them; of many those that are not over first. */
export function markedTasks(state: State, most: number): { task: TaskState; marker: string }[] {
  if (!keepsWorks(state)) return [];
  const all = [...state.tasks.values()].sort((a, b) => a.def.order - b.def.order);
  const open = all.filter(({ status }) => status !== 'done' && status !== 'cancelled');
  const over = all.filter((task) => !open.includes(task)).reverse();
  const shown = new Set([...open, ...over].slice(0, most));
  return all.filter((task) => shown.has(task)).map((task) => ({ task, marker: MARKERS[task.status] }));
}

/** The category of a questioner's call; null for every other. */
export function categoryOf(item: Item): string | null {
  return item.role === 'questioner' ? questionsOf(item).category || null : null;
}

/** The newest round of questions of this cycle; null where none was asked. */
export function roundOf(state: State): number | null {
  const rounds = [...state.items.keys()].flatMap((key) => {
    const [role = '', mode = '', subject = ''] = key.split('|');
    return role === 'questioner' ? [questionsOf({ role, mode: mode as Item['mode'], subject }).round] : [];
  });
  return rounds.length === 0 ? null : Math.max(...rounds);
}

/** One sentence on the phase; null in a team that only works off tasks. */
export function phaseWords(state: State): string | null {
  if (!keepsWorks(state)) return null;
  switch (state.phase) {
    case 'INITIALIZING':
      return 'the plan is written';
    case 'PLANNING':
      return `planning: ${planningWords(state)}`;
    case 'REPLANNING':
      return `replanning from feedback: ${planningWords(state)}`;
    case 'BATCHING':
      return 'the next wave of tasks is chosen';
    case 'EXECUTING_BATCH':
      return `wave ${state.taskWaves}: tasks are worked on`;
    case 'REVIEWING_BATCH':
      return `wave ${state.taskWaves}: finished tasks are reviewed`;
    case 'SESSION_REVIEW':
      return 'the session as a whole is reviewed';
    case 'KNOWLEDGE_EXTRACTION':
      return 'what was learned is noted down';
    case 'KNOWLEDGE_APPROVAL':
      return approvalWords(state);
    case 'COMPLETE':
      return reviewWords(state) ?? 'the cycle is over';
  }
}

function planningWords(state: State): string {
  const last = state.attempts.get(state.lastIteration)?.item;
  const round = roundOf(state);
  const rounds =
    round === null ? '' : ` (round ${round} of at most ${state.policy?.limits.maxCycles ?? round})`;
  const { open } = state.cycleWork.questions;
  const left = open === 0 ? '' : `, ${count(open, 'question')} open`;
  switch (last?.mode) {
    case 'brainstorm':
      return `questions are asked, by category${rounds}${left}`;
    case 'feedback-analysis':
      return `the feedback is turned into questions${left}`;
    case 'research':
      return `questions are researched${state.phase === 'PLANNING' ? rounds : ''}${left}`;
    case 'UPDATE':
      return 'the plan is brought up to date';
    case 'TASK_BREAKDOWN':
    case 'REBREAKDOWN':
      return 'the plan is broken down into tasks';
    default:
      return state.phase === 'PLANNING' ? 'the plan becomes questions, then tasks' : 'the feedback is read';
  }
}

function approvalWords(state: State): string {
  const { staged } = state.cycleWork;
  if (openQuestions(state).some(({ question }) => isApproval(question)))
    return `${staged.length === 1 ? 'one note waits' : `${staged.length} notes wait`} for your word`;
  return 'what was approved goes into .docs/';
}

function reviewWords({ cycleWork: { review } }: State): string | null {
  if (review === null) return null;
  if (review.value === 'Complete') return 'the session review says Complete';
  return `the session review found ${count(review.gaps.length, 'gap')}: ${some(review.gaps, 3)}`;
}

/** The engine asks for a yes to notes; what an agent wants approved is a question like any other. */
export function isApproval({ kind, askedBy }: QuestionState['question']): boolean {
  return kind === 'approval' && askedBy === 'engine';
}

/** Notes of this cycle that go into .docs/ once a person says so, relative to the session's folder. */
export function stagedNotes({ cycle, cycleWork, phase }: State): string[] {
  return phase === 'KNOWLEDGE_APPROVAL' ? cycleWork.staged.map((path) => `iterations/${cycle}/${path}`) : [];
}

/** Said in place of a list, as long as nobody has broken the plan down; null where there are tasks. */
export function noTasksYet(state: State): string | null {
  if (state.tasks.size > 0 || !keepsWorks(state)) return null;
  const planning = ['INITIALIZING', 'PLANNING', 'REPLANNING'].includes(state.phase);
  return planning ? 'no tasks yet: planning' : null;
}
