/** The task list with what the loop knows of each task, as data and as text. */
import {
  type Complexity,
  classOf,
  heldBy,
  holdReason,
  inScope,
  isTerminal,
  layerNumbers,
  MARKERS,
  needsOf,
  type State,
  type TaskState,
  type TaskStatus,
  timeoutS,
} from '../core/index.ts';
import { noTasksYet } from './phase-words.ts';
import { count, oneLine } from './words.ts';

export interface TaskJson {
  id: string;
  title: string;
  status: TaskStatus;
  marker: string;
  /** Charged tries since the budget last started. */
  attempts: number;
  /** All runs in this cycle. */
  runs: number;
  complexity: Complexity;
  /** What the next attempt gets, in seconds; null where no configuration is known. */
  timeout_s: number | null;
  depends_on: string[];
  /** Its layer in the graph of dependencies, from 1; null where tasks wait for each other. */
  layer: number | null;
  /** Lower goes first; tasks without one share 0. */
  priority: number;
  /** The criteria, as the list has them. */
  acceptance: string[];
  /** Present where the planner put others in its place. */
  replaced_by?: string[];
  /** Present while an open question is about the task. */
  held?: { question: string; kind: string; reason: string };
}

/** Tasks in the order of their file. */
export function tasksJson(state: State): TaskJson[] {
  const layer = layersOf(state);
  return inOrder(state).map((task) => taskJson(state, task, layer));
}

function layersOf(state: State): ReadonlyMap<string, number> {
  const graph = [...state.tasks.values()].map((task) => ({
    id: task.def.id,
    dependsOn: needsOf(state, task),
  }));
  return layerNumbers(graph);
}

/** `layer`: of every task, for who asks about many. */
export function taskJson(state: State, task: TaskState, layer = layersOf(state)): TaskJson {
  const question = heldBy(state, task.def.id)?.question;
  return {
    id: task.def.id,
    title: task.def.title,
    status: task.status,
    marker: MARKERS[task.status],
    attempts: task.charged,
    runs: task.runs,
    complexity: classOf(state.policy, task.def).level,
    timeout_s: state.policy ? timeoutS(state.policy, task, state.durations) : null,
    depends_on: task.def.dependsOn,
    layer: layer.get(task.def.id) ?? null,
    priority: task.def.priority,
    acceptance: task.def.acceptance,
    ...(task.replacedBy.length > 0 ? { replaced_by: task.replacedBy } : {}),
    ...(question
      ? { held: { question: question.id, kind: question.kind, reason: oneLine(question.text, 300) } }
      : {}),
  };
}

function inOrder(state: State): TaskState[] {
  return [...state.tasks.values()].sort((a, b) => a.def.order - b.def.order);
}

/** One line a task: marker, id, title, tries, and what it waits for. */
export function tasksText(state: State): string {
  const tasks = inOrder(state);
  const none = noTasksYet(state);
  if (none !== null) return none;
  if (tasks.length === 0)
    return 'There is no task yet: `ralph run "objective"`, or a list with --tasks FILE.';
  const width = Math.min(24, Math.max(...tasks.map((task) => task.def.id.length)));
  return tasks.map((task) => taskLine(state, task, width)).join('\n');
}

function taskLine(state: State, task: TaskState, width: number): string {
  const id = oneLine(task.def.id, 60).padEnd(width);
  const notes = [...tries(task), ...waiting(state, task)];
  const note = notes.length > 0 ? `  — ${notes.join(' · ')}` : '';
  return `${MARKERS[task.status]} ${id}  ${oneLine(task.def.title, 100)}${note}`;
}

function tries(task: TaskState): string[] {
  if (task.runs === 0) return [];
  const charged = task.charged > 0 ? `, ${task.charged} charged` : '';
  return [`${count(task.runs, 'run')}${charged}`];
}

/** Why nothing happens with the task right now; empty where it is simply its turn. */
function waiting(state: State, task: TaskState): string[] {
  if (task.status === 'done') return doneNote(task);
  if (isTerminal(task.status)) return task.reason === '' ? [] : [oneLine(task.reason)];
  if (!inScope(state, task)) return ['not in this run (--task)'];
  if (task.status === 'doing') return [];
  const reason = holdReason(state, task);
  const about = `${task.def.id} waits`;
  if (reason.startsWith(about)) return [`waits ${oneLine(reason.slice(about.length))}`];
  return task.status === 'review' ? ['waits for its review'] : [];
}

function doneNote(task: TaskState): string[] {
  if (task.landed === 'failed') return [`not committed: ${oneLine(task.landingReason)}`];
  return task.commit === null ? [] : [task.commit.slice(0, 7)];
}
