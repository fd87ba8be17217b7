/** What a call is told of the session's folders: where it stands, which works it reads, what it has to mend. */
import {
  cutsAnew,
  type Item,
  itemKey,
  MODES,
  naturalOrder,
  type PromptSession,
  questionsOf,
  reportPath,
  type State,
  splitDue,
} from '../core/index.ts';
import type { House } from './house.ts';

interface SessionCall {
  item: Item;
  ordinal: number;
  /** Paths of the session's works, relative to its folder, in any order. */
  works: readonly string[];
}

export function sessionInput(house: House, { item, ordinal, works }: SessionCall): PromptSession {
  const { state, sessionDir } = house;
  const { cycle, cycleWork } = state;
  const folder = `iterations/${cycle}`;
  const at = (path: string) => `${sessionDir}/${path}`;
  const report = reportName(state, item, ordinal);
  const { category, round } = questionsOf(item);
  const faults = lastFaults(state, item);
  const task = cutsAnew(item) ? state.tasks.get(item.subject) : undefined;
  const cause = task === undefined ? null : splitDue(state, task);
  const carried = works.filter((path) => path.startsWith(`${folder}/knowledge/`)).sort(naturalOrder);
  const staged =
    item.mode === 'PROMOTE'
      ? (cycleWork.approved ?? cycleWork.staged).map((path) => `${folder}/${path}`)
      : carried;
  const inputs = works.filter((path) => reads(item, path, folder)).sort(naturalOrder);
  return {
    dir: sessionDir,
    cycleDir: at(folder),
    cycle,
    inputs: inputs.map((path) => ({ name: nameOf(path.slice(folder.length + 1)), path: at(path) })),
    feedback: cycle > 1 && MODES[item.mode].role !== 'executor' ? [at(`${folder}/feedbacks`)] : [],
    ...(item.role === 'questioner' ? { category, round } : {}),
    ...(report === null ? {} : { reportPath: at(`${folder}/${report}`) }),
    ...(item.role === 'librarian' && staged.length > 0 ? { staged: staged.map(at) } : {}),
    ...(cause?.why === 'scope' ? { scopeChange: cause.words } : {}),
    ...(faults.length === 0 ? {} : { faults }),
  };
}

/** The executor writes a report of each attempt; the reviewer adds to the last one. */
function reportName(state: State, item: Item, ordinal: number): string | null {
  const { task, role } = item;
  if (task === undefined || cutsAnew(item)) return null;
  return reportPath(task, role === 'reviewer' ? Math.max(1, state.tasks.get(task)?.runs ?? 1) : ordinal);
}

/** Which works of the cycle a call reads: a task's own, or what the phases before it made. */
function reads({ role, mode, task }: Item, path: string, folder: string): boolean {
  if (!path.startsWith(`${folder}/`)) return false;
  const own = path.slice(folder.length + 1);
  if (own === 'plan.md') return mode !== 'INITIALIZE';
  if (task !== undefined && own.startsWith(`reports/`)) return own.startsWith(`reports/${task}-report`);
  // Who cuts a task anew has to know the others.
  if (task !== undefined && mode !== 'SPLIT_TASK') return own === `tasks/${task}.md`;
  if (own.startsWith('questions/')) return role === 'planner' || role === 'questioner';
  if (own.startsWith('tasks/')) return role !== 'questioner';
  return role === 'reviewer' || role === 'librarian';
}

function nameOf(path: string): string {
  return path.replace(/\.md$/, '').replace(/^(\w+)s\//, '$1 ');
}

/** Why the last try of this call was returned, word for word. */
function lastFaults(state: State, item: Item): string[] {
  const key = itemKey(item);
  if ((state.items.get(key)?.attempts ?? 0) === 0) return [];
  for (let iteration = state.lastIteration; iteration > 0; iteration--) {
    const attempt = state.attempts.get(iteration);
    if (attempt?.verdict == null || itemKey(attempt.item) !== key) continue;
    return attempt.verdict.value === 'rejected' ? (attempt.works?.faults ?? []) : [];
  }
  return [];
}
