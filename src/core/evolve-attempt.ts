/** How waves, attempts, gates and verdicts change the state. */
import type { Fact } from './event.ts';
import { countActivation, settleHat } from './evolve-hats.ts';
import { takeOver } from './fallback.ts';
import { rememberDuration } from './limits.ts';
import { recover } from './outage.ts';
import { PHASES } from './phase.ts';
import { carriesOut, itemKey, MODES } from './role.ts';
import { spend } from './spend.ts';
import { type AttemptState, gateKey, type ItemState, type State } from './state.ts';
import { isTerminal } from './task.ts';

type AttemptFact = Extract<
  Fact,
  {
    type:
      | 'wave.started'
      | 'wave.ended'
      | 'attempt.started'
      | 'attempt.spawned'
      | 'attempt.ended'
      | 'attempt.lost'
      | 'baseline.started'
      | 'gate.ran'
      | 'verdict.reached'
      | 'intervention.chosen'
      | 'ground.changed'
      | 'dirt.found';
  }
>;
type Of<T extends AttemptFact['type']> = Extract<AttemptFact, { type: T }>;

export function evolveAttempt(state: State, fact: AttemptFact, at: number): void {
  switch (fact.type) {
    case 'wave.started':
      state.wave = {
        wave: fact.wave,
        waiting: [...fact.items],
        started: [],
        beside: fact.items.length > 1,
        startHead: state.lastMark?.head ?? null,
        baseline: null,
      };
      state.lastWave = fact.wave;
      if (fact.items.some(({ item }) => item.task !== undefined)) state.taskWaves += 1;
      if (PHASES[state.phase].inner) {
        const reviewing = fact.items.some(({ item }) => item.mode === 'TASK_REVIEW');
        state.phase = reviewing ? 'REVIEWING_BATCH' : 'EXECUTING_BATCH';
      }
      for (const { iteration } of fact.items) state.lastIteration = Math.max(state.lastIteration, iteration);
      return;
    case 'wave.ended':
      return endWave(state, fact, at);
    case 'attempt.started':
      return startAttempt(state, fact, at);
    case 'attempt.spawned': {
      const attempt = state.attempts.get(fact.iteration);
      if (!attempt) return;
      attempt.pid = fact.pid;
      attempt.pidStart = fact.startTime;
      return;
    }
    case 'attempt.ended':
      return endAttempt(state, fact, at);
    case 'attempt.lost':
      return loseAttempt(state, fact, at);
    case 'baseline.started':
      if (state.wave) state.wave.baseline = { gate: fact.gate, at };
      return;
    case 'gate.ran': {
      const { result } = fact;
      const key = gateKey({ name: result.gate, run: result.run }, result.tree);
      // A tree's first failures stay its old ones: a later run may fail over what no tree shows.
      if (result.outcome !== 'failed' || state.gates.get(key)?.outcome !== 'failed')
        state.gates.set(key, { ...result, excerpt: '' });
      if (fact.when === 'baseline') {
        if (state.wave) state.wave.baseline = null;
        return;
      }
      state.attempts.get(fact.iteration)?.gates.push(result);
      if (result.outcome === 'passed') state.onceGreen.add(`${result.gate}\0${result.run}`);
      return;
    }
    case 'verdict.reached':
      return reachVerdict(state, fact, at);
    case 'intervention.chosen':
      return chooseIntervention(state, fact, at);
    case 'ground.changed':
      state.lastMark = fact.mark;
      state.seenTrees.add(fact.mark.tree);
      if (fact.rewritten) {
        const { changes, more } = fact.rewritten;
        const attempt = state.attempts.get(fact.iteration ?? 0);
        attempt?.rewritten.push({ changes, more: more?.sha256 ?? null });
      }
      return;
    case 'dirt.found':
      for (const path of fact.paths) state.dirty.add(path);
      return;
  }
}

function endWave(state: State, fact: Of<'wave.ended'>, at: number): void {
  const ended = state.wave?.started.some((iteration) => {
    const value = state.attempts.get(iteration)?.verdict?.value;
    return value !== undefined && value !== 'died';
  });
  state.wave = null;
  if (PHASES[state.phase].inner) state.phase = 'BATCHING';
  if (fact.progress) state.stuck = 0;
  else if (!fact.neutral) {
    state.stuck += 1;
    state.stuckTotal += 1;
  }
  const started = fact.started > 0;
  if (fact.dead) {
    state.deadRow += 1;
    const delays = state.policy?.limits.retryDelaysS ?? [0];
    const delay = delays[Math.min(state.deadRow, delays.length) - 1] ?? 0;
    state.deadUntil = at + delay * 1000;
  } else if (ended) {
    state.deadRow = 0;
    state.deadUntil = 0;
  }
  const cooldown = (state.policy?.limits.cooldownS ?? 0) * 1000;
  if (cooldown > 0 && started) state.deadUntil = Math.max(state.deadUntil, at + cooldown);
}

function startAttempt(state: State, fact: Of<'attempt.started'>, at: number): void {
  // What it makes has to land as well.
  state.landing = null;
  const waiting = state.wave?.waiting.findIndex((entry) => entry.iteration === fact.iteration) ?? -1;
  if (state.wave && waiting >= 0) {
    state.wave.waiting.splice(waiting, 1);
    state.wave.started.push(fact.iteration);
    state.wave.baseline = null;
  }
  state.open.add(fact.iteration);
  state.lastIteration = Math.max(state.lastIteration, fact.iteration);
  state.seenTrees.add(fact.before.tree);
  // Where it runs beside others, the user's work tree is what its own was filled from.
  state.lastMark = fact.ground === undefined ? fact.before : { ...fact.before, tree: fact.ground.base };
  state.attempts.set(fact.iteration, newAttempt(state, fact, at));
  itemOf(state, itemKey(fact.item)).attempts += 1;
  for (const id of fact.delivered) {
    const question = state.questions.get(id);
    if (question) question.delivered = true;
    for (const entry of state.guidance) if (entry.message.id === id) entry.deliveries.push(fact.iteration);
  }
  for (const owed of state.owed) if (owed.agent === fact.agent) owed.toldIn ??= fact.iteration;
  state.resumeNote = null;
  const task = fact.item.task === undefined ? undefined : state.tasks.get(fact.item.task);
  // Reviewers and planners read the executor's last report.
  if (!task || !carriesOut(fact.item)) return;
  letGo(state, task.attempts);
  task.baseTree ??= fact.before.tree;
  if (task.status !== 'doing') task.prior = task.status;
  task.status = 'doing';
  task.runs += 1;
  task.attempts.push(fact.iteration);
  if (fact.ground === undefined) state.groundOwner = task.def.id;
}

/** Transcripts and gate output of settled attempts are in the journal; the state keeps what it needs. */
function letGo(state: State, iterations: number[]): void {
  for (const iteration of iterations.slice(-2)) {
    const attempt = state.attempts.get(iteration);
    if (attempt?.state !== 'settled') continue;
    attempt.report = null;
    attempt.claim = null;
    attempt.gates = [];
  }
}

function newAttempt(state: State, fact: Of<'attempt.started'>, at: number): AttemptState {
  return {
    iteration: fact.iteration,
    wave: state.wave?.wave ?? state.lastWave,
    item: fact.item,
    attempt: fact.attempt,
    agent: fact.agent,
    startedAt: at,
    endedAt: null,
    before: fact.before,
    after: null,
    ground: fact.ground ?? null,
    allowance: fact.allowance,
    complexity: fact.time?.complexity ?? null,
    durationMs: 0,
    marker: fact.marker,
    tokenHash: fact.tokenHash,
    session: fact.session?.sha256 ?? null,
    works: null,
    taskFile: fact.taskFile?.sha256 ?? null,
    promptSha: fact.prompt.sha256,
    rules: fact.rules ?? null,
    pid: null,
    pidStart: null,
    state: 'open',
    stoppedFor: null,
    report: null,
    usage: null,
    claim: null,
    changes: [],
    delivered: fact.delivered,
    changeCount: 0,
    more: null,
    rewritten: [],
    commits: [],
    rewrote: false,
    marked: [],
    committedMarks: [],
    bookkeeping: false,
    noted: [],
    review: null,
    innerBefore: fact.inner ?? {},
    inner: [],
    refused: [],
    trespass: [],
    movedRefs: [],
    gates: [],
    verdict: null,
    lost: null,
  };
}

function endAttempt(state: State, fact: Of<'attempt.ended'>, at: number): void {
  const attempt = state.attempts.get(fact.iteration);
  if (!attempt) return;
  attempt.endedAt = at;
  attempt.after = fact.after;
  attempt.report = fact.report;
  attempt.claim = fact.claim;
  attempt.changes = fact.changes;
  attempt.changeCount = fact.changeCount;
  attempt.more = fact.more?.sha256 ?? null;
  attempt.commits = fact.commits;
  attempt.rewrote = fact.rewrote;
  attempt.marked = fact.marked;
  vouch(state, attempt, fact.committedMarks);
  attempt.bookkeeping = fact.bookkeeping;
  attempt.noted = fact.noted ?? [];
  attempt.review = fact.review;
  attempt.inner = fact.inner ?? [];
  attempt.refused = fact.refused ?? [];
  attempt.works = fact.works ?? null;
  attempt.trespass = fact.trespass;
  attempt.movedRefs = fact.movedRefs ?? [];
  attempt.stoppedFor = fact.stoppedFor;
  attempt.durationMs = fact.durationMs;
  attempt.state = 'ended';
  // What the session stands on does not move to a branch that lost commits.
  if (attempt.ground === null)
    state.lastMark = fact.rewrote ? { ...fact.after, head: attempt.before.head } : fact.after;
  spend(state, attempt, fact.report.usage);
  state.durationsMs += fact.durationMs;
  const judged = fact.report.ending !== 'interrupted' || fact.stoppedFor === 'limit';
  if (fact.report.ending !== 'died' && judged) {
    if (state.run) state.run.used += 1;
    countActivation(state, attempt);
  }
  if (judged) return;
  settle(state, attempt);
  undeliver(state, attempt);
}

/** What stood in the prompt of an attempt that led nowhere by itself has reached nobody: it comes again. */
function undeliver(state: State, attempt: AttemptState): void {
  for (const owed of state.owed) if (owed.toldIn === attempt.iteration) owed.toldIn = null;
  const ids = new Set(attempt.delivered);
  for (const entry of state.guidance) {
    if (!ids.has(entry.message.id)) continue;
    entry.deliveries = entry.deliveries.filter((iteration) => iteration !== attempt.iteration);
  }
  for (const id of ids) {
    const question = state.questions.get(id);
    if (question && question.state !== 'closed') question.delivered = false;
  }
}

function loseAttempt(state: State, fact: Of<'attempt.lost'>, at: number): void {
  const attempt = state.attempts.get(fact.iteration);
  if (!attempt) return;
  attempt.lost = fact.reason;
  if (fact.usage !== undefined) spend(state, attempt, fact.usage);
  attempt.inner = fact.inner ?? [];
  attempt.endedAt = at;
  attempt.after = fact.after;
  attempt.changes = fact.changes;
  attempt.changeCount = fact.changeCount ?? fact.changes.length;
  attempt.more = fact.more?.sha256 ?? null;
  attempt.noted = fact.noted ?? [];
  attempt.movedRefs = fact.movedRefs ?? [];
  if (fact.after && attempt.ground === null) state.lastMark = fact.after;
  vouch(state, attempt, fact.committedMarks);
  settle(state, attempt);
  undeliver(state, attempt);
}

/** What an agent commits into the task file is its claim, also when it is read again later. */
function vouch(state: State, attempt: AttemptState, marks: string[] = []): void {
  attempt.committedMarks = marks;
  for (const id of marks) {
    const task = state.tasks.get(id);
    if (task && !isTerminal(task.status)) task.vouched = attempt.iteration;
  }
}

/** The attempt is over; unless a verdict moves it, its task shows the marker it had before. */
function settle(state: State, attempt: AttemptState): void {
  attempt.state = 'settled';
  state.open.delete(attempt.iteration);
  const task = attempt.item.task === undefined ? undefined : state.tasks.get(attempt.item.task);
  if (task?.status === 'doing') task.status = task.prior;
}

function reachVerdict(state: State, fact: Of<'verdict.reached'>, at: number): void {
  const attempt = state.attempts.get(fact.iteration);
  if (!attempt) return;
  settle(state, attempt);
  attempt.verdict = {
    value: fact.value,
    findings: fact.findings,
    charged: fact.charged,
    reason: fact.reason,
    newTree: fact.newTree,
    parked: fact.parks,
  };
  const task = fact.item.task ?? null;
  for (const finding of fact.findings) {
    state.findings.push({ iteration: fact.iteration, task, agent: attempt.agent, finding });
  }
  const item = itemOf(state, itemKey(fact.item));
  const died = fact.value === 'died';
  if (died) undeliver(state, attempt);
  if (died && !fact.parks && !fact.down) {
    item.died += 1;
    const delays = state.policy?.limits.retryDelaysS ?? [0];
    item.notBefore = at + (delays[Math.min(item.died, delays.length) - 1] ?? 0) * 1000;
  } else if (!died) {
    item.died = 0;
    item.notBefore = 0;
    recover(state, attempt);
    state.owed = state.owed.filter(({ toldIn }) => toldIn !== fact.iteration);
  }
  state.idleRow = fact.findings.some((finding) => finding.kind === 'idle_run') ? state.idleRow + 1 : 0;
  if (fact.down) state.down.set(attempt.agent, fact.down);
  // Without a task there is only the item itself to charge.
  if (fact.charged && (MODES[fact.item.mode]?.charges === 'item' || fact.item.task === undefined))
    item.charged += 1;
  if (fact.value === 'accepted') item.charged = 0;
  const isReport = fact.item.mode === 'TIMEOUT_FAIL';
  if (fact.item.mode === 'hat') settleHat(state, attempt, fact.tree);
  else if (fact.value === 'accepted' && (fact.item.task === undefined || isReport))
    finishCall(state, attempt);
  countTry(state, fact, attempt);
  state.seenTrees.add(fact.tree);
  if (attempt.after) state.seenTrees.add(attempt.after.tree);
}

/** Work on the session is done: what it left is what the phases that follow go by. */
function finishCall(state: State, { item, works }: AttemptState): void {
  const { cycleWork } = state;
  if (!cycleWork.done.includes(itemKey(item))) cycleWork.done.push(itemKey(item));
  if (works?.questions) cycleWork.questions = works.questions;
  if (works?.review) cycleWork.review = works.review;
  if (works?.staged) cycleWork.staged = works.staged;
}

function countTry(state: State, fact: Of<'verdict.reached'>, attempt: AttemptState): void {
  const task = fact.item.task === undefined ? undefined : state.tasks.get(fact.item.task);
  // What a planner makes of a task is no try at it.
  if (!task || fact.item.mode === 'SPLIT_TASK' || fact.item.mode === 'TIMEOUT_FAIL') return;
  const limit = state.policy?.limits.maxTaskAttempts ?? 3;
  const timedOut = fact.findings.some((finding) => finding.kind === 'timed_out');
  if (timedOut && attempt.report?.timeout !== 'idle') task.timeouts += 1;
  const executed = fact.value === 'accepted' && carriesOut(fact.item);
  if (executed) task.overtaken = false;
  if (executed && attempt.complexity)
    rememberDuration(state.durations, attempt.complexity, attempt.durationMs);
  if (fact.value === 'unfinished') {
    task.unfinished += 1;
    if (!fact.newTree || task.unfinished > limit) task.fruitless += 1;
  }
  if (fact.value === 'rejected' || (fact.value === 'died' && !fact.parks && !fact.down)) task.fruitless += 1;
}

/** How many corrections wait for their agent's next prompt at most; a prompt has room for fewer. */
const OWED_MOST = 50;

/** It stands in its task's prompts until that is accepted, and in the next prompt of its agent. */
function chooseIntervention(state: State, fact: Of<'intervention.chosen'>, at: number): void {
  const { iteration, agent, intervention } = fact;
  const task = fact.task === null ? undefined : state.tasks.get(fact.task);
  // What was accepted has no next attempt to be corrected.
  const over = state.attempts.get(iteration)?.verdict?.value === 'accepted';
  if (task && !over) task.corrections.push({ iteration, at, agent, intervention });
  const to = intervention.agent;
  if (task && to !== undefined)
    takeOver(state, task, { from: agent, to, all: intervention.aggressive === true });
  const sentence = intervention.relieved ?? intervention.sentence;
  if (sentence === '') return;
  state.owed = [
    ...state.owed.slice(1 - OWED_MOST),
    { agent, iteration, at, task: fact.task, sentence, toldIn: null },
  ];
}

/** The item's counters, made on first sight. */
export function itemOf(state: State, key: string): ItemState {
  let item = state.items.get(key);
  if (!item) {
    item = { died: 0, charged: 0, notBefore: 0, attempts: 0 };
    state.items.set(key, item);
  }
  return item;
}
