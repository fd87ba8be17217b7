/**
 * The work of each phase. A phase whose modes nobody hires is walked through; BATCHING picks the next
 * wave, or says why there is none.
 */
import { commandFor } from './command.ts';
import { owesAttempt, triedWords } from './correct.ts';
import { askedBeside, owedByPhase, plansAgain } from './cycle.ts';
import type { Fact } from './event.ts';
import { DEPENDENCY_FAILED } from './evolve-task.ts';
import { agentFor, isAvailable } from './fallback.ts';
import { deadRow, guard, held, isStuck, openQuestions, stuck, waitOrStop } from './guard.ts';
import { nextWaking } from './hat-work.ts';
import { fitting } from './host.ts';
import { landingStep, landingText } from './landing.ts';
import { iterationLimit } from './limits.ts';
import { nearest } from './nearest.ts';
import { PHASES, type Phase } from './phase.ts';
import { candidates, inScope, isExhausted, isReady, pickWave } from './pick.ts';
import { type Item, itemKey } from './role.ts';
import { questionId } from './settle.ts';
import { cutsAnew, needsOf, splitDue, standsFor } from './split.ts';
import { staleReport } from './stale.ts';
import { heldBy, hires, type State, type TaskState } from './state.ts';
import { type Step, stop } from './step.ts';
import { isTerminal, MARKERS } from './task.ts';
import { selfUnblocking } from './unblock.ts';

export function work(state: State, now: number): Step {
  if (state.phase === 'COMPLETE') return complete(state);
  if (state.phase === 'REPLANNING' && !state.replanning) return replan(state);
  if (PHASES[state.phase].inner) return batch(state, now);
  return sessionStep(state, now) ?? walkThrough(state, PHASES[state.phase].next);
}

/** What the phase owes the session as a whole; null: nothing any more. */
function sessionStep(state: State, now: number): Step | null {
  const owed = owedByPhase(state);
  switch (owed.owes) {
    case 'nothing':
      return null;
    case 'call':
      return callStep(state, owed.item, now);
    case 'pass':
      return { do: 'record', facts: passedOver(owed.item, owed.reason) };
    case 'approval':
      return { do: 'record', facts: [askApproval(state)] };
    case 'answer':
      return waitOrStop(state, [owed.question]);
    case 'carry':
      return {
        do: 'record',
        facts: [{ type: 'question.expired', id: owed.question.question.id, outcome: 'carry', text: '' }],
      };
    case 'stop':
      return held(state) ?? stop(owed.code, owed.reason);
  }
}

function callStep(state: State, item: Item, now: number): Step {
  const notBefore = state.items.get(itemKey(item))?.notBefore ?? 0;
  const stopped = guard(state, now, [item]);
  if (stopped) return stopped;
  if (notBefore > now) return { do: 'wait', until: notBefore, for: 'backoff' };
  const beside = askedBeside(state, item).filter(
    (one) =>
      (state.items.get(itemKey(one))?.notBefore ?? 0) <= now &&
      isAvailable(state, agentFor(state, one, now), now),
  );
  return opened(
    state,
    [item, ...beside].slice(0, Math.min(state.policy!.parallel.questioners, iterationsLeft(state))),
  );
}

function iterationsLeft(state: State): number {
  return iterationLimit(state) - (state.run?.used ?? 0);
}

function opened(state: State, items: Item[]): Step {
  return {
    do: 'open',
    wave: state.lastWave + 1,
    items: fitting(state, items).map((item, index) => ({ iteration: state.lastIteration + 1 + index, item })),
  };
}

function passedOver(item: Item, reason: string): Fact[] {
  const text = `The session goes on without ${item.role} ${item.mode}${item.subject === 'session' ? '' : ` (${item.subject})`}: ${reason}.`;
  return [
    { type: 'call.passed_over', item, reason },
    { type: 'notice.given', level: 'warning', text },
  ];
}

/** Nothing that agents noted down outlives the session before a person has said yes. */
function askApproval(state: State): Fact {
  const { staged } = state.cycleWork;
  const { approvalTimeoutS: seconds, onTimeout } = state.policy!.questions;
  const folder = `iterations/${state.cycle}`;
  const named = staged.map((path) => `- ${folder}/${path}`).join('\n');
  const many = staged.length === 1 ? 'One note' : `${staged.length} notes`;
  return {
    type: 'question.asked',
    question: {
      id: questionId(state),
      kind: 'approval',
      about: 'session',
      text: `${many} from this session can go into .docs/, where later sessions and people read them:\n${named}\nShall they?`,
      options: [
        { key: 'APPROVE', text: 'Put them into .docs/' },
        { key: 'SKIP', text: 'Leave them in the session' },
      ],
      default: null,
      hold: 'session',
      deadline: seconds === null ? null : state.lastAt + seconds * 1000,
      // Nothing is approved by silence.
      onTimeout: onTimeout === 'stop' || onTimeout === 're_ask' ? onTimeout : 'carry',
      askedBy: 'engine',
      iteration: null,
      askedAt: state.lastAt,
    },
  };
}

/** Enters the next phase that somebody is hired for; BATCHING and COMPLETE always stop the walk. */
function walkThrough(state: State, from: Phase): Step {
  const facts: Fact[] = [{ type: 'phase.entered', phase: from }];
  for (let phase = from; phase !== 'BATCHING' && phase !== 'COMPLETE'; ) {
    if (PHASES[phase].modes.some((mode) => hires(state, mode))) break;
    phase = PHASES[phase].next;
    facts.push({ type: 'phase.entered', phase });
  }
  return { do: 'record', facts };
}

function batch(state: State, now: number): Step {
  const doomed = dependencyFacts(state);
  if (doomed.length > 0) return { do: 'record', facts: doomed };
  const reported = staleStep(state, now);
  if (reported) return reported;
  const used = unblockStep(state) ?? exhaustedStep(state);
  if (used) return used;
  if (state.policy?.hats) return hatStep(state, now);
  const found = pickable(state);
  const ready = found.filter((candidate) => candidate.notBefore <= now);
  const items = (list: typeof found) => list.map(({ item }) => item);
  if (ready.length > 0) {
    const able = ready.filter(({ item }) => isAvailable(state, agentFor(state, item, now), now));
    return guard(state, now, items(ready)) ?? openWave(state, able);
  }
  if (found.length > 0) {
    const until = Math.min(...found.map((candidate) => candidate.notBefore));
    return guard(state, now, items(found)) ?? { do: 'wait', until, for: 'backoff' };
  }
  return nothingReady(state);
}

/** Topics in the place of the order of tasks. */
function hatStep(state: State, now: number): Step {
  const next = nextWaking(state);
  if (next === null) return nothingReady(state);
  if ('wake' in next) return callStep(state, next.wake, now);
  if ('publish' in next) return { do: 'record', facts: [next.publish] };
  return held(state) ?? stop(1, next.spent);
}

/** Without progress, only what a new means was chosen for is tried any more. */
function pickable(state: State): ReturnType<typeof candidates> {
  const found = candidates(state);
  const owed = isStuck(state) ? found.filter(({ task }) => owesAttempt(state, task)) : [];
  return owed.length > 0 ? owed : found;
}

function openWave(state: State, ready: ReturnType<typeof candidates>): Step {
  const { parallel } = state.policy!;
  const { item: first } = ready[0]!;
  const wide = first.mode === 'TASK_REVIEW' ? parallel.reviewers : parallel.executors;
  // Each cut is checked against the whole graph as the one before left it.
  const widest = cutsAnew(first) ? 1 : wide;
  return opened(state, pickWave(ready, Math.min(widest, iterationsLeft(state))));
}

/** Who looks at a task that nobody works on any more comes before new work. */
function staleStep(state: State, now: number): Step | null {
  const due = staleReport(state);
  if (due === null) return null;
  if (due.usedUp === null) return callStep(state, due.item, now);
  return { do: 'record', facts: passedOver(due.item, due.usedUp) };
}

/** Tasks whose dependency can never hold fail with it, uncharged. */
function dependencyFacts(state: State): Fact[] {
  const facts: Fact[] = [];
  for (const task of state.tasks.values()) {
    if (isTerminal(task.status) || task.status === 'doing') continue;
    const cause = needsOf(state, task).find((id) => {
      const status = state.tasks.get(id)?.status;
      return status === 'failed' || status === 'cancelled';
    });
    if (cause === undefined) continue;
    const reason = `${DEPENDENCY_FAILED}: ${cause}`;
    facts.push({ type: 'task.moved', task: task.def.id, to: 'failed', reason, by: 'engine' });
  }
  return facts;
}

/** A task that is out of attempts and gets others by itself is neither asked about nor failed. */
function unblockStep(state: State): Step | null {
  const freed = selfUnblocking(state);
  return freed.length === 0 ? null : (held(state) ?? deadRow(state) ?? { do: 'record', facts: freed });
}

/** A task without budget becomes a question, or fails for the cycle. Being stuck is said first. */
function exhaustedStep(state: State): Step | null {
  for (const task of state.tasks.values()) {
    if (isTerminal(task.status) || task.status === 'doing' || !inScope(state, task)) continue;
    if (heldBy(state, task.def.id)) continue;
    const why = isExhausted(state, task);
    if (why === null) continue;
    const stopped = held(state) ?? deadRow(state) ?? stuck(state);
    if (stopped) return stopped;
    // Being stuck will be said, once a correction that was chosen has had its attempt.
    if (isStuck(state)) return null;
    return { do: 'record', facts: [exhaustedFact(state, task, why)] };
  }
  return null;
}

function exhaustedFact(state: State, task: TaskState, why: string): Fact {
  const id = task.def.id;
  // A reviewer that says nothing says nothing about the task: people decide, the task never fails for it.
  const cause = splitDue(state, task);
  const failing =
    state.policy!.limits.onExhausted === 'fail' && task.status !== 'review' && cause?.why !== 'scope';
  if (failing) return { type: 'task.moved', task: id, to: 'failed', reason: why, by: 'engine' };
  const last = lastReason(state, id);
  const tried = triedWords(task);
  return {
    type: 'question.asked',
    question: {
      id: questionId(state),
      kind: 'blocker',
      about: id,
      text:
        cause?.why === 'scope'
          ? `${cause.words} (${why}.)`
          : `Task ${id} (${task.def.title}) is out of attempts: ${why}. ${tried === '' ? '' : `Corrections chosen: ${tried}. `}Last reason: ${last}`,
      options: [],
      default: null,
      hold: 'task',
      deadline: null,
      onTimeout: 'proceed',
      askedBy: 'engine',
      iteration: task.attempts.at(-1) ?? null,
      askedAt: state.lastAt,
    },
  };
}

/** Why its last run, the executor's or a reviewer's, brought the task no further. */
function lastReason(state: State, id: string): string {
  for (let iteration = state.lastIteration; iteration > 0; iteration--) {
    const attempt = state.attempts.get(iteration);
    if (attempt?.item.task === id && attempt.verdict) return attempt.verdict.reason;
  }
  return 'no verdict';
}

function nothingReady(state: State): Step {
  const scope = [...state.tasks.values()].filter((task) => inScope(state, task));
  if (state.tasks.size === 0) {
    return stop(5, 'there is no task: give an objective, or a task list with --tasks');
  }
  if (scope.length === 0) return noSuchTask(state);
  const open = scope.filter((task) => !isTerminal(task.status));
  if (open.length === 0) return walkThrough(state, 'SESSION_REVIEW');
  const asked = openQuestions(state).filter((question) => scopeHolds(scope, question.question.about));
  if (asked.length > 0) return waitOrStop(state, asked);
  const unlanded = scope.filter((task) => task.landed === 'failed');
  if (unlanded.length > 0) return stop(8, notLanded(unlanded));
  return stop(4, `no task can go on: ${open.map((task) => holdReason(state, task)).join('; ')}`);
}

/** `--task` names a task that is not there: never "done". */
function noSuchTask(state: State): Step {
  const only = state.policy?.onlyTask ?? '';
  const near = nearest(only, [...state.tasks.keys()]);
  return stop(5, `there is no task ${only}${near === null ? '' : `; did you mean ${near}?`}`);
}

function scopeHolds(scope: TaskState[], about: string): boolean {
  return (
    about === 'session' ||
    scope.some((task) => task.def.id === about || task.def.dependsOn.includes(about)) ||
    scope.length > 1
  );
}

/** One sentence: what this task waits for. */
export function holdReason(state: State, task: TaskState): string {
  const id = task.def.id;
  const question = heldBy(state, id);
  if (question) return `${id} waits for an answer to ${question.question.id}`;
  if (!isReady(state, task)) {
    return `${id} waits for ${openNeeds(state, task).join(', ')}`;
  }
  return `${id} is ${MARKERS[task.status]} ${task.status}`;
}

/** What it waits for that is not done and landed; what took another's place says so. */
function openNeeds(state: State, task: TaskState): string[] {
  const isOpen = (id: string) => {
    const dependency = state.tasks.get(id);
    return dependency?.status !== 'done' || dependency.landed !== 'landed';
  };
  return task.def.dependsOn.flatMap((id) => {
    const now = standsFor(state, id).filter(isOpen);
    return now.map((one) => (one === id ? id : `${one} (in the place of ${id})`));
  });
}

function notLanded(tasks: TaskState[]): string {
  return `not landed: ${tasks.map((task) => `${task.def.id} (${task.landingReason.split('\n')[0]})`).join('; ')}`;
}

/** COMPLETE: everything done and landed is 0; anything else waits for a person. */
function complete(state: State): Step {
  const tasks = [...state.tasks.values()].filter((task) => inScope(state, task));
  if (state.feedback.length > 0)
    return { do: 'record', facts: [{ type: 'phase.entered', phase: 'REPLANNING' }] };
  if (tasks.length === 0 && state.policy) return nothingReady(state);
  if (tasks.some((task) => !isTerminal(task.status))) {
    return { do: 'record', facts: [{ type: 'phase.entered', phase: 'BATCHING' }] };
  }
  const unlanded = tasks.filter((task) => task.status === 'done' && task.landed !== 'landed');
  if (unlanded.length > 0)
    return stop(8, `${notLanded(unlanded)}; \`${commandFor(state, 'ralph run')}\` tries again`);
  const failed = tasks.filter((task) => task.status === 'failed');
  const gaps = state.cycleWork.review?.value === 'Gaps Identified' ? state.cycleWork.review.gaps : null;
  if (failed.length === 0 && gaps !== null) return stop(8, gapsText(state, gaps));
  if (failed.length === 0) return landingStep(state) ?? stop(0, summary(state, tasks));
  const named = failed.map((task) => `${task.def.id} (${task.reason})`).join('; ');
  return stop(8, `failed: ${named}. \`${commandFor(state, 'ralph tasks reopen ID')}\` takes one up again`);
}

function gapsText(state: State, gaps: string[]): string {
  const named = gaps.slice(0, 3).join('; ');
  const more = gaps.length > 3 ? ` and ${gaps.length - 3} more` : '';
  return `the session review found gaps: ${named || 'see its text'}${more} (iterations/${state.cycle}/review.md); \`${commandFor(state, 'ralph feedback')}\` opens the next cycle`;
}

function summary(state: State, tasks: TaskState[]): string {
  const unread = (state.unread ?? []).join('; ');
  const path = state.source?.path ?? 'the list';
  const done = `${allOver(state, tasks)}${unread === '' ? '' : `; not read in ${path}: ${unread}`}`;
  const red = (state.policy?.gates ?? []).filter((gate) => gate.required && failedLast(state, gate));
  const all =
    red.length === 0 ? done : `${done}; red as before they began: ${red.map((gate) => gate.name).join(', ')}`;
  return state.landing === null ? all : `${all}. ${landingText(state.landing)}`;
}

/** What became of the tasks: a cancelled one is never said to be done. */
function allOver(state: State, tasks: TaskState[]): string {
  const only = state.policy?.onlyTask ?? null;
  const count = tasks.length;
  const cancelled = tasks.filter((task) => task.status === 'cancelled').length;
  const how = cancelled === count ? 'cancelled' : 'done';
  if (only !== null) return `task ${only} is ${how}`;
  if (cancelled > 0 && cancelled < count) return `${count - cancelled} done, ${cancelled} cancelled`;
  return count === 1 ? `the only task is ${how}` : `all ${count} tasks are ${how}`;
}

/** The gate failed when it was last run, and never passed after an attempt. */
function failedLast(state: State, gate: { name: string; run: string }): boolean {
  if (state.onceGreen.has(`${gate.name}\0${gate.run}`)) return false;
  return [...state.gates.values()].some((result) => result.gate === gate.name && result.outcome === 'failed');
}

/** Without a planner the feedback becomes the task `feedback` of the next cycle. */
function replan(state: State): Step {
  const cycle = state.cycle + 1;
  const begun: Fact[] = [{ type: 'cycle.started', cycle }];
  if (plansAgain(state)) return { do: 'record', facts: begun };
  const text = state.feedback.map((batch) => batch.text).join('\n\n');
  const id = state.tasks.has('feedback') ? `feedback-${cycle}` : 'feedback';
  const def = {
    id,
    title: 'Work through the feedback',
    description: text,
    acceptance: [],
    priority: 0,
    order: state.tasks.size,
    dependsOn: [],
    status: 'todo' as const,
    files: [],
    changes: 'expected' as const,
  };
  // With nobody to plan any more, no task is a file of the cycle.
  const source =
    state.source?.kind === 'file'
      ? state.source
      : { kind: 'objective' as const, path: null, dialect: 'objective', reviewed: false };
  return {
    do: 'record',
    facts: [
      ...begun,
      { type: 'tasks.read', source, sha256: state.sourceSha ?? '', set: [def], gone: [], by: 'engine' },
      { type: 'phase.entered', phase: 'BATCHING' },
    ],
  };
}
