/** How facts about tasks, their landing and their leftovers change the state. */
import type { Fact } from './event.ts';
import type { Change } from './evidence.ts';
import { handOver, needsOf } from './split.ts';
import type { State, TaskState } from './state.ts';
import { isTerminal, type TaskDef, type TaskStatus } from './task.ts';

type TaskFact = Extract<
  Fact,
  {
    type:
      | 'tasks.read'
      | 'task.moved'
      | 'task.replaced'
      | 'task.unblocked'
      | 'task.charged'
      | 'review.recorded'
      | 'commit.landed'
      | 'landing.failed'
      | 'leftovers.set_aside'
      | 'leftovers.cleared'
      | 'leftovers.taken_up'
      | 'feedback.received';
  }
>;

export function evolveTask(state: State, fact: TaskFact, at: number): void {
  switch (fact.type) {
    case 'tasks.read':
      return readTasks(state, fact);
    case 'task.moved':
      return moveTask(state, fact.task, fact.to, fact.reason, fact.by, fact.stands);
    case 'task.replaced': {
      const task = state.tasks.get(fact.task);
      if (task) handOver(state, task, fact.by);
      return;
    }
    case 'task.unblocked':
      return unblockTask(state, fact, at);
    case 'task.charged': {
      const task = state.tasks.get(fact.task);
      if (task && fact.budget === 'evidence') task.charged += 1;
      if (task && fact.budget === 'review') task.reviewRejections += 1;
      return;
    }
    case 'review.recorded': {
      const task = state.tasks.get(fact.task);
      if (!task) return;
      const failed = fact.verdict === 'Failed';
      task.review = {
        status: failed ? 'changes_requested' : 'approved',
        count: fact.count,
        feedback: fact.feedback,
      };
      task.rework = failed;
      if (failed) task.sinceReview = fact.iteration;
      return;
    }
    case 'commit.landed': {
      const task = state.tasks.get(fact.task);
      if (task) {
        task.landed = 'landed';
        task.commit = fact.commit === '' ? null : fact.commit;
        task.overtaken = false;
      }
      if (fact.by === 'engine') overtake(state, fact.task);
      if (fact.by === 'engine' && state.lastMark) state.lastMark = { ...state.lastMark, head: fact.commit };
      if (state.groundOwner === fact.task) state.groundOwner = null;
      return;
    }
    case 'landing.failed': {
      const task = state.tasks.get(fact.task);
      if (task) {
        task.landed = 'failed';
        task.landingReason = fact.reason;
      }
      return;
    }
    case 'leftovers.set_aside': {
      const task = state.tasks.get(fact.task);
      if (task) task.aside = { tree: fact.tree, changes: fact.changes, cleared: false };
      if (state.groundOwner === fact.task) state.groundOwner = null;
      return;
    }
    case 'leftovers.cleared': {
      const aside = state.tasks.get(fact.task)?.aside;
      if (aside) aside.cleared = true;
      return;
    }
    case 'leftovers.taken_up':
      return takeUp(state, fact);
    case 'feedback.received':
      state.feedback.push({ id: fact.id, text: fact.text });
      return;
  }
}

/** Work that was accepted and has not landed yet will land on top of this. */
function overtake({ tasks }: State, landed: string): void {
  for (const task of tasks.values()) {
    const accepted = task.status === 'review' || task.status === 'done';
    if (task.def.id !== landed && accepted && task.landed !== 'landed') task.overtaken = true;
  }
}

function takeUp(state: State, fact: Extract<TaskFact, { type: 'leftovers.taken_up' }>): void {
  const task = state.tasks.get(fact.task);
  if (!task) return;
  if (!fact.beside) {
    task.aside = null;
    state.groundOwner = fact.task;
  } else if (task.aside) task.aside.changes = asTakenUp(task.aside.changes, fact);
  task.conflicts = [...new Set([...task.conflicts, ...fact.conflicts])];
  task.kept = { ...task.kept, ...fact.kept };
  const last = task.attempts.at(-1) ?? 0;
  for (const path of fact.conflicts) task.parted.push([path, last]);
  if (fact.merged) state.attempts.get(last)?.rewritten.push({ changes: fact.merged, more: null });
  // What is to be reviewed is not what lies there now: only new work proves anything.
  if (fact.conflicts.length > 0 && task.status === 'review') task.sinceReview = state.lastIteration;
}

/** What is still to be brought home of work that was put on top of what others landed. */
function asTakenUp(
  changes: Change[],
  { conflicts, merged = [] }: { conflicts: string[]; merged?: Change[] },
): Change[] {
  const gone = new Set([...conflicts, ...merged.map(({ path }) => path)]);
  return [...changes.filter(({ path }) => !gone.has(path)), ...merged];
}

function unblockTask(state: State, fact: Extract<TaskFact, { type: 'task.unblocked' }>, at: number): void {
  const task = state.tasks.get(fact.task);
  if (!task) return;
  const { by, reason, grant, auto, attempts = null } = fact;
  const { ladderFrom, agent } = task;
  restartBudgets(state, task);
  // What the loop gives by itself is for the correction that was chosen, not for the first one again. Where
  // the ladder was at its end, more time begins it anew.
  const atEnd = task.corrections.at(-1)?.intervention.kind === 'question';
  if (auto && !atEnd) Object.assign(task, { ladderFrom, agent });
  task.tries = attempts;
  task.grant = grant ?? task.grant;
  task.unblocks.push({ after: state.lastIteration, at, by, reason, grant, auto, attempts });
}

function readTasks(state: State, fact: Extract<TaskFact, { type: 'tasks.read' }>): void {
  state.source = fact.source;
  state.sourceSha = fact.sha256;
  // An agent's edit is read without a look at what is odd in the rest of the file.
  if (fact.by !== 'agent' && fact.unread !== undefined) state.unread = fact.unread;
  else if (fact.by !== 'agent') delete state.unread;
  for (const def of fact.set) {
    const known = state.tasks.get(def.id);
    if (known && isGivenAnew(state, known, fact)) {
      state.replaced.push(known);
      addTask(state, def);
    } else if (known) {
      const over = known.def.status === 'done' || known.def.status === 'cancelled';
      const reopened = over && def.status === 'todo' && known.status === known.def.status;
      const ended = isTerminal(def.status) && def.status !== known.def.status && !isTerminal(known.status);
      known.reworded = rewordedBy(state, known, { def, by: fact.by });
      known.def = def;
      if (fact.by === 'agent') known.carry = false;
      // Only a person re-opens a finished task; the engine's own marks never come back as news.
      if (reopened && fact.by !== 'agent') moveTask(state, def.id, 'todo', '', fact.by);
      // The mark of an agent's own commit that comes back (`git restore`) is that agent's claim, whoever wrote
      // it: the person is told, and marking it once more is their word.
      if (ended && fact.by === 'person' && known.vouched !== null) known.vouched = null;
      else if (ended && fact.by === 'person') moveTask(state, def.id, def.status, 'marked by hand', 'person');
    } else {
      addTask(state, def);
    }
  }
  for (const id of fact.gone) {
    closeQuestions(state, id);
    state.tasks.delete(id);
  }
}

function addTask(state: State, def: TaskDef): void {
  state.tasks.set(def.id, newTask(def, state.cycle));
  if (state.run && !isTerminal(def.status)) state.run.addedTasks += 1;
}

/** A planner of a later cycle may use the ids of finished tasks anew, once their work has landed. */
function isGivenAnew(
  state: State,
  known: TaskState,
  fact: Extract<TaskFact, { type: 'tasks.read' }>,
): boolean {
  return fact.by !== 'person' && fact.source.dialect === 'ralph-v2' && isFree(state, known);
}

/** Whether the id of this task may be another task's in the running cycle. */
export function isFree(state: State, { status, cycle, landed }: TaskState): boolean {
  return (status === 'done' || status === 'cancelled') && landed === 'landed' && cycle < state.cycle;
}

/** A person who changes the task has seen its words; the engine's own marks change none. */
function rewordedBy(
  state: State,
  { def: old, reworded }: TaskState,
  { def, by }: { def: TaskDef; by: string },
): TaskState['reworded'] {
  if (by !== 'agent') return sameWords(old, def) ? reworded : null;
  const was = reworded?.was ?? old;
  if (sameWords(was, def)) return null;
  if (sameWords(old, def)) return reworded;
  const [before, after] = [wordsOf(was), wordsOf(def)];
  return {
    iteration: state.lastIteration,
    was,
    before: before.filter((line) => !after.includes(line)),
    after: after.filter((line) => !before.includes(line)),
  };
}

function wordsOf({ title, description, acceptance }: TaskDef): string[] {
  return [title, description, ...acceptance].filter((line) => line.trim() !== '');
}

function sameWords(one: TaskDef, other: TaskDef): boolean {
  return wordsOf(one).join('\n') === wordsOf(other).join('\n');
}

function newTask(def: TaskDef, cycle: number): TaskState {
  const status: TaskStatus = def.status === 'doing' ? 'todo' : def.status;
  const review = def.review ?? { status: null, count: 0, feedback: '' };
  return {
    def,
    cycle,
    carry: false,
    reworded: null,
    status,
    prior: status,
    rework: review.status === 'changes_requested',
    review: { ...review },
    movedAt: 0,
    charged: 0,
    reviewRejections: 0,
    fruitless: 0,
    unfinished: 0,
    runs: 0,
    timeouts: 0,
    attempts: [],
    sinceReview: 0,
    // What was finished before this session is not ours to land.
    landed: isTerminal(status) ? 'landed' : 'no',
    landingReason: '',
    commit: null,
    aside: null,
    conflicts: [],
    overtaken: false,
    kept: {},
    parted: [],
    reason: '',
    vouched: null,
    corrections: [],
    ladderFrom: 0,
    asksFrom: 0,
    agent: null,
    costUsd: 0,
    budgetUsd: 0,
    tries: null,
    grant: null,
    unblocks: [],
    depth: 0,
    replacedBy: [],
    baseTree: null,
  };
}

/** The one place where a status changes, whoever asked for it. */
export function moveTask(
  state: State,
  id: string,
  to: TaskStatus,
  reason: string,
  by: string,
  /** What it left before still counts as its work. */
  stands = false,
): void {
  const task = state.tasks.get(id);
  if (!task) return;
  const { status: was, sinceReview } = task;
  task.status = to;
  if (to !== 'doing') task.prior = to;
  task.reason = reason;
  task.movedAt = state.lastAt;
  if (to === 'review' || to === 'done') acceptTask(task);
  if (to === 'done') {
    task.grant = null;
    task.tries = null;
    task.agent = null;
  }
  if (to === 'done') task.landed = by === 'person' ? 'landed' : 'no';
  if (to === 'cancelled' || to === 'failed') task.landed = 'landed';
  if (to === 'todo' && isTerminal(was)) reopenTask(state, task, was);
  else if (by === 'person') restartBudgets(state, task);
  if (isTerminal(to)) closeQuestions(state, id);
  if (stands) task.sinceReview = sinceReview;
}

/** A question about a task that is over asks nothing any more. */
function closeQuestions(state: State, id: string): void {
  for (const open of state.openQuestions) {
    const asked = state.questions.get(open)!;
    if (asked.question.about !== id) continue;
    state.openQuestions.delete(open);
    asked.state = 'closed';
    asked.delivered = true;
  }
}

function acceptTask(task: TaskState): void {
  task.charged = 0;
  task.conflicts = [];
  task.vouched = null;
  task.corrections = [];
  task.rework = false;
  task.fruitless = 0;
}

function reopenTask(state: State, task: TaskState, was: TaskStatus): void {
  task.carry ||= task.cycle < state.cycle;
  task.cycle = state.cycle;
  task.landed = 'no';
  task.commit = null;
  // It stands for itself again.
  task.replacedBy = [];
  // What was accepted once is what a person was not content with: only new work proves anything.
  if (was === 'done') task.sinceReview = state.lastIteration;
  restartBudgets(state, task);
  for (const other of state.tasks.values()) {
    if (other.status === 'failed' && other.reason.startsWith(DEPENDENCY_FAILED)) {
      if (needsOf(state, other).includes(task.def.id)) moveTask(state, other.def.id, 'todo', '', 'engine');
    }
  }
}

/** The reason a task carries that failed only because one it depends on did. */
export const DEPENDENCY_FAILED = 'dependency failed';

/**
 * An answer, a clearing, an unblock or a reopening gives a task its budgets back, and begins its ladder anew with
 * the agent of the policy.
 */
export function restartBudgets(state: State, task: TaskState): void {
  task.charged = 0;
  task.reviewRejections = 0;
  task.unfinished = 0;
  task.fruitless = 0;
  task.budgetUsd = 0;
  task.tries = null;
  task.agent = null;
  task.ladderFrom = state.lastIteration;
  task.asksFrom = state.lastIteration;
  state.stuck = 0;
  for (const [key, item] of state.items) {
    if (!key.endsWith(`|${task.def.id}`)) continue;
    item.charged = 0;
    item.died = 0;
    item.notBefore = 0;
  }
}
