/**
 * Folds facts into the state. No decision is taken here: a fact says what happened, and this file
 * says what that means for what we know.
 */

import { keepBusy } from './busy.ts';
import { COMPLEXITIES } from './complexity.ts';
import type { Fact } from './event.ts';
import { evolveAttempt } from './evolve-attempt.ts';
import { hearTopic } from './evolve-hats.ts';
import { evolvePeople } from './evolve-people.ts';
import { evolveTask, restartBudgets } from './evolve-task.ts';
import { choiceFor } from './fallback.ts';
import type { JournalRecord } from './journal.ts';
import { isHome, isLandingFact, type LandingFact, payHire } from './landing.ts';
import { rememberDuration } from './limits.ts';
import { forgive, park } from './outage.ts';
import { PHASES, type Phase } from './phase.ts';
import { attemptsUsed } from './pick.ts';
import type { Policy } from './policy.ts';
import { itemKey, MODES, type Mode } from './role.ts';
import { seeSpending } from './spend.ts';
import { newCycle, newHats, type RunState, type State } from './state.ts';
import { isTerminal } from './task.ts';

/** Idle gaps longer than this are waiting, not work; they count against no time limit. */
const OVERHEAD_MS = 10_000;
/** Exits after which starting again is a person's word to try again. */
const TRY_AGAIN = new Set([1, 4, 6]);

/** Applies one record in place and returns the same state. */
export function evolve(state: State, record: Pick<JournalRecord, 'seq' | 'at' | 'facts'>): State {
  passTime(state, record);
  keepBusy(state, record);
  state.seq = record.seq;
  state.lastAt = record.at;
  for (const fact of record.facts) {
    if (isLandingFact(fact)) tellLanding(state, fact);
    else evolveFact(state, fact, record.at);
  }
  return state;
}

function tellLanding(state: State, fact: LandingFact): void {
  payHire(state, fact);
  state.landing = fact;
  if (!isHome(state)) return;
  // A person's word that came while it landed was too late for that.
  state.aborted = null;
  state.stopAsked = null;
  if (state.paused?.by !== 'engine') state.paused = null;
}

function passTime(state: State, record: Pick<JournalRecord, 'at' | 'facts'>): void {
  if (!state.run || record.facts.some((fact) => fact.type === 'run.started')) return;
  const gap = Math.max(0, record.at - state.lastAt);
  const works = state.open.size > 0 && !state.paused && !state.run.stopped;
  state.run.activeMs += works ? gap : Math.min(gap, OVERHEAD_MS);
}

function evolveFact(state: State, fact: Exclude<Fact, LandingFact>, at: number): void {
  switch (fact.type) {
    case 'session.created':
      return createSession(state, fact, at);
    case 'run.started':
    case 'run.stopped':
    case 'spend.seen':
    case 'host.seen':
    case 'provider.parked':
      return evolveRun(state, fact, at);
    case 'session.imported':
      return importSession(state, fact);
    case 'lock.taken_over':
    case 'journal.repaired':
      return;
    case 'phase.entered':
      return enterPhase(state, fact.phase);
    case 'cycle.started':
      return startCycle(state, fact.cycle);
    case 'call.passed_over':
      return passOver(state, itemKey(fact.item));
    case 'notice.given':
      return giveNotice(state, fact, at);
    case 'topic.published':
      return publish(state, fact);
    case 'tasks.read':
    case 'task.moved':
    case 'task.replaced':
    case 'task.unblocked':
    case 'task.charged':
    case 'review.recorded':
    case 'commit.landed':
    case 'landing.failed':
    case 'leftovers.set_aside':
    case 'leftovers.cleared':
    case 'leftovers.taken_up':
    case 'feedback.received':
      return evolveTask(state, fact, at);
    case 'wave.started':
    case 'wave.ended':
    case 'attempt.started':
    case 'attempt.spawned':
    case 'attempt.ended':
    case 'attempt.lost':
    case 'baseline.started':
    case 'gate.ran':
    case 'verdict.reached':
    case 'intervention.chosen':
    case 'ground.changed':
    case 'dirt.found':
      return evolveAttempt(state, fact, at);
    case 'message.received':
    case 'message.rejected':
    case 'session.paused':
    case 'session.resumed':
    case 'stop.asked':
    case 'abort.asked':
    case 'abort.done':
    case 'question.asked':
    case 'question.answered':
    case 'question.expired':
    case 'question.closed':
    case 'question.shown':
    case 'guidance.reached':
    case 'desk.written':
      return evolvePeople(state, fact, at);
    default:
      return exhausted(fact);
  }
}

/** The run, and what money, the machine and providers allow it. */
type RunFact = Extract<
  Fact,
  { type: 'run.started' | 'run.stopped' | 'spend.seen' | 'host.seen' | 'provider.parked' }
>;

function evolveRun(state: State, fact: RunFact, at: number): void {
  if (fact.type === 'run.started') startRun(state, fact, at);
  else if (fact.type === 'run.stopped') stopRun(state, fact);
  else if (fact.type === 'spend.seen') seeSpending(state, fact.usd);
  else if (fact.type === 'provider.parked') park(state, fact, at);
  else if (state.run) {
    if (fact.short.length === 0) state.run.shortSince = null;
    else state.run.shortSince ??= at;
    state.run.short = fact.short;
    state.run.room = fact.room ?? null;
  }
}

function passOver(state: State, item: string): void {
  state.cycleWork.passedOver.push(item);
  state.stuck = 0;
}

function stopRun(state: State, { code, word, reason }: Extract<Fact, { type: 'run.stopped' }>): void {
  if (state.run) state.run.stopped = { code, word, reason };
  state.stopAsked = null;
  if (state.wave) state.wave.baseline = null;
}

function publish(state: State, fact: Extract<Fact, { type: 'topic.published' }>): void {
  const { topic, payload, iteration } = fact;
  state.topics.push({ topic, payload, iteration });
  state.publishedTopics.add(topic);
  hearTopic(state, fact);
}

function createSession(state: State, fact: Extract<Fact, { type: 'session.created' }>, at: number): void {
  state.session = {
    id: fact.id,
    objective: fact.objective,
    timezone: fact.timezone,
    createdAt: at,
    ground: fact.ground ?? '.',
  };
  for (const level of COMPLEXITIES)
    for (const ms of fact.durations?.[level] ?? []) rememberDuration(state.durations, level, ms);
}

function giveNotice(
  state: State,
  { level, text }: Extract<Fact, { type: 'notice.given' }>,
  at: number,
): void {
  state.notices = [...state.notices.slice(-49), { at, level, text }];
}

function importSession(state: State, fact: Extract<Fact, { type: 'session.imported' }>): void {
  if (state.session && fact.createdAt !== null) state.session.createdAt = fact.createdAt;
  state.cycleWork.done = [...fact.done];
  state.cycleWork.review = fact.review;
  for (const [id, runs] of Object.entries(fact.runs)) {
    const task = state.tasks.get(id);
    if (task) task.runs = runs;
  }
}

function startRun(state: State, fact: Extract<Fact, { type: 'run.started' }>, at: number): void {
  const stopped = state.run?.stopped ?? null;
  const afterCrash = state.run !== null && stopped === null;
  giveBack(state, fact.policy);
  state.policy = fact.policy;
  // A landing is tried again at every start; a loop that was given up is not begun again by the way.
  if (state.landing?.type !== 'loop.discarded' || fact.reopened) state.landing = null;
  state.dirty = new Set(fact.dirty);
  state.runs += 1;
  state.down.clear();
  state.idleRow = 0;
  state.stopAsked = null;
  if (state.wave) state.wave.baseline = null;
  const fresh: RunState = {
    startedAt: at,
    used: 0,
    openTasks: 0,
    addedTasks: 0,
    activeMs: 0,
    costUsd: null,
    estimated: null,
    tokens: 0,
    spentTodayUsd: fact.spentTodayUsd,
    flags: fact.flags ?? {},
    short: [],
    shortSince: null,
    room: null,
    stopped: null,
  };
  for (const task of state.tasks.values()) if (!isTerminal(task.status)) fresh.openTasks += 1;
  // After a crash the limits go on; after any stop they restart.
  state.run = afterCrash
    ? { ...state.run!, flags: fact.flags ?? {}, short: [], shortSince: null, room: null, stopped: null }
    : fresh;
  if (!afterCrash) state.hats.activations = {};
  if (stopped && TRY_AGAIN.has(stopped.code)) tryAgain(state);
  // What was approved and could not be promoted is tried again at every start.
  if (stopped?.code === 8 && state.items.delete(PROMOTING)) state.stuck = 0;
  if (fact.reopened && state.aborted) reopen(state);
  for (const task of state.tasks.values()) if (task.landed === 'failed') task.landed = 'no';
  // A question whose silence stopped a run has stopped that one only.
  if (stopped) for (const asked of state.questions.values()) asked.stopped = false;
}

/** A task stays with the agent that took it over, unless the person who starts has chosen others. */
function giveBack(state: State, policy: Policy): void {
  const { agent, fallback = [] } = choiceFor(policy, 'executor');
  const before = state.policy && choiceFor(state.policy, 'executor').agent;
  for (const task of state.tasks.values()) {
    const chosen = task.agent === agent || fallback.includes(task.agent ?? '');
    if (before !== agent || !chosen) task.agent = null;
  }
}

const PROMOTING = itemKey({ role: MODES.PROMOTE.role, mode: 'PROMOTE', subject: 'session' });

function tryAgain(state: State): void {
  state.stuck = 0;
  state.deadRow = 0;
  state.deadUntil = 0;
  forgive(state);
  const held = new Set([...state.openQuestions].map((id) => state.questions.get(id)!.question.about));
  for (const task of state.tasks.values()) {
    // What is out of attempts is for a person, whether or not the question was put before the run stopped.
    if (held.has(task.def.id) || attemptsUsed(state.policy!.limits, task) !== null) continue;
    task.charged = 0;
    task.reviewRejections = 0;
    task.unfinished = 0;
    task.budgetUsd = 0;
    // What was tried on it stays tried: the ladder goes on where it stands.
    task.asksFrom = state.lastIteration;
  }
  for (const item of state.items.values()) {
    item.charged = 0;
    item.died = 0;
    item.notBefore = 0;
  }
}

function enterPhase(state: State, phase: Phase): void {
  // The steps between picking, executing and reviewing are one piece of work.
  if (!(PHASES[state.phase].inner && PHASES[phase].inner)) state.stuck = 0;
  state.phase = phase;
  state.replanning = false;
  renew(state);
}

/** A phase that is entered again, because tasks came back, is worked on again. */
function renew({ phase, cycleWork }: State): void {
  const again = (...modes: Mode[]) => {
    const keys = modes.map((mode) => itemKey({ role: MODES[mode].role, mode, subject: 'session' }));
    cycleWork.done = cycleWork.done.filter((key) => !keys.includes(key));
    cycleWork.passedOver = cycleWork.passedOver.filter((key) => !keys.includes(key));
  };
  if (phase === 'SESSION_REVIEW') {
    again('SESSION_REVIEW');
    cycleWork.review = null;
  }
  if (phase === 'KNOWLEDGE_EXTRACTION') {
    again('STAGE', 'PROMOTE');
    Object.assign(cycleWork, { staged: [], approval: null, approved: null });
  }
}

/** Unfinished and failed tasks are carried into the new cycle with fresh budgets; done ones stay. */
function startCycle(state: State, cycle: number): void {
  state.cycle = cycle;
  state.cycleWork = newCycle(undecided(state));
  state.hats = { ...newHats(), activations: state.hats.activations };
  state.replanning = state.phase === 'REPLANNING';
  // Ordinals and budgets count in the cycle.
  state.items.clear();
  state.taskWaves = 0;
  state.feedback = [];
  state.aborted = null;
  state.stuck = 0;
  for (const task of state.tasks.values()) {
    if (task.status === 'done' || task.status === 'cancelled') continue;
    Object.assign(task, { status: 'todo', prior: 'todo', reason: '', landed: 'no', runs: 0 });
    task.agent = null;
    Object.assign(task, { cycle, carry: false });
    // Its files stay its own and land with it; as proof only work of the new cycle counts.
    Object.assign(task, { sinceReview: state.lastIteration, baseTree: null });
    restartBudgets(state, task);
  }
}

/** Staged notes that were not asked about, or about which nobody said a word. */
function undecided({ cycleWork, questions }: State): string[] {
  const asked = cycleWork.approval === null ? undefined : questions.get(cycleWork.approval);
  return asked?.state === 'answered' ? [] : cycleWork.staged;
}

function reopen(state: State): void {
  const from = state.aborted?.from;
  state.aborted = null;
  // Planning, reviewing and asking go on where they were; tasks are picked anew.
  if (from !== undefined) {
    state.phase = PHASES[from.phase].inner ? 'BATCHING' : from.phase;
    state.replanning = from.replanning;
  }
  for (const task of state.tasks.values()) {
    if (task.status !== 'failed' || task.reason !== ABORTED_REASON) continue;
    task.status = 'todo';
    task.prior = 'todo';
    task.reason = '';
    restartBudgets(state, task);
  }
}

/** The reason every in-progress task of an aborted session carries. */
export const ABORTED_REASON = 'Aborted by signal';

/** Marks a switch that the compiler has proved complete. */
export function exhausted(value: never): never {
  throw new Error(`unknown fact ${JSON.stringify(value)}`);
}
