/**
 * The ladder of corrections. Findings, and what was tried on this task with this agent, give the cheapest
 * correction that is left: remind, insist, more time, diagnose, another agent, and last a question to a
 * person. What does not apply is skipped. Work that goes on, or that was accepted, is reminded and never
 * pushed up the ladder; a tripped circuit breaker goes on at another agent at once, where one is left.
 */
import { type Trip, tripped } from './breaker.ts';
import { nextAgent } from './fallback.ts';
import { FINDINGS, type Finding, type FindingKind, type InterventionKind } from './finding.ts';
import type { Judgement } from './judgement.ts';
import { timeoutS } from './limits.ts';
import { itemKey } from './role.ts';
import { cutsAnew, splitDue } from './split.ts';
import type { AttemptState, State, TaskState } from './state.ts';

/** The findings that ask for a correction; the others are told to people only. */
const CORRECTABLE: ReadonlySet<FindingKind> = new Set([
  'no_files_detected',
  'bookkeeping_only',
  'evidence_validation_failed',
  'evidence_missing',
  'false_completion_detected',
  'gate_failed',
  'gate_unavailable',
  'gate_empty',
  'gate_regressed',
  'protected_changed',
  'illegal_task_change',
  'role_violation',
  'forged_claim',
  'denied_gate',
  'permission_refused',
  'background_left',
  'extra_completion',
  'history_rewritten',
  'branch_moved',
  'oscillation',
  'no_verdict',
  'rubber_stamp',
  'timed_out',
  'unlisted_topic',
  'asked_and_notified',
  'prompt_echo',
  'uncommitted_inside',
]);

/** Of these, the ones an agent is told of although its work was accepted: how it reports, and what it leaves. */
const NEXT_TIME: ReadonlySet<FindingKind> = new Set([
  'evidence_validation_failed',
  'evidence_missing',
  'rubber_stamp',
  'role_violation',
  'forged_claim',
  'background_left',
  'extra_completion',
  'unlisted_topic',
  'asked_and_notified',
  'uncommitted_inside',
]);

/** A judged attempt, before the state knows its verdict. */
export interface Judged {
  attempt: AttemptState;
  judgement: Pick<Judgement, 'value' | 'findings' | 'charged'>;
  newTree: boolean;
  /** Epoch ms. */
  at: number;
}

export interface Correction {
  kind: InterventionKind;
  /** What it answers, the most severe first. */
  findings: Finding[];
  /** The agent that takes over; null where none does. */
  to: string | null;
  /** The circuit breaker that tripped, if it did. */
  trip: Trip | null;
  /** Seconds of this attempt and of the next, where running out of them gave more. */
  time: { beforeS: number; afterS: number } | null;
}

/** The correction for one judged attempt, or null where nothing needs correcting. */
export function correct(state: State, judged: Judged): Correction | null {
  const { attempt, judgement } = judged;
  const { value, findings } = judgement;
  const interventions = state.policy?.interventions;
  // Who died or asked did nothing wrong.
  if (!interventions?.enabled || value === 'died' || value === 'blocked') return null;
  const asked = value === 'accepted' ? NEXT_TIME : CORRECTABLE;
  const wanted = mostSevereFirst(findings.filter(({ kind }) => asked.has(kind)));
  if (wanted.length === 0) return null;
  const about = cutsAnew(attempt.item) ? undefined : attempt.item.task;
  const task = about === undefined ? undefined : state.tasks.get(about);
  const trip =
    value === 'accepted'
      ? null
      : tripped(state, { agent: attempt.agent, from: task?.ladderFrom ?? 0 }, findings);
  const rest = { findings: wanted, trip, time: task ? longer(state, task, judged) : null };
  if (value === 'accepted') return { kind: 'remind', to: null, ...rest };
  if (!task || !isFruitless(state, task, judged)) {
    return { kind: interventions.aggressive || trip ? 'insist' : 'remind', to: null, ...rest };
  }
  const to = attempt.item.role === 'executor' ? nextAgent(state, task, attempt.agent, judged.at) : null;
  const kind = rung(state, { task, judged, to, trip, longer: rest.time !== null });
  return { kind, to: kind === 'other_agent' ? to : null, ...rest };
}

/** A try that led nowhere: only those climb the ladder. */
function isFruitless(state: State, task: TaskState, { judgement, newTree }: Judged): boolean {
  if (judgement.value === 'rejected') return true;
  return !newTree || task.unfinished + 1 > (state.policy?.limits.maxTaskAttempts ?? 3);
}

interface Standing {
  task: TaskState;
  judged: Judged;
  to: string | null;
  trip: Trip | null;
  longer: boolean;
}

/** The cheapest step that is left to this item and agent. */
function rung(state: State, { task, judged, to, trip, longer }: Standing): InterventionKind {
  const { attempt } = judged;
  const tried = triedOn(state, task, attempt);
  const repeated = failsAlike(state, task, judged);
  if (trip && to !== null) return 'other_agent';
  // A tripped breaker passes over what is milder than another agent; once a person was asked and lets it go
  // on, what was passed over is what is left.
  if (!trip || tried.has('question')) {
    const { aggressive } = state.policy!.interventions;
    if (tried.size === 0 && !aggressive) return 'remind';
    if (!tried.has('insist')) return 'insist';
    if (longer && !tried.has('more_time')) return 'more_time';
    if (repeated && !tried.has('diagnose')) return 'diagnose';
    if (to !== null) return 'other_agent';
  }
  if (!tried.has('insist')) return 'insist';
  // There is something to diagnose in a gate, and nothing in a call that did nothing.
  const gated = judged.judgement.findings.some(({ gate }) => gate !== undefined);
  if (repeated && gated && !tried.has('diagnose')) return 'diagnose';
  // While it fails in ever new ways and has attempts left, it is told so; the same way again is for a person.
  return repeated || usesUp(state, task, judged) ? 'question' : 'insist';
}

/** What was tried on this task in this role with this agent, since a person last acted on it. */
function triedOn(state: State, task: TaskState, { agent, item }: AttemptState): Set<InterventionKind> {
  const tried = new Set<InterventionKind>();
  for (const entry of task.corrections) {
    const role = state.attempts.get(entry.iteration)?.item.role ?? item.role;
    if (entry.iteration > task.ladderFrom && entry.agent === agent && role === item.role)
      tried.add(entry.intervention.kind);
  }
  return tried;
}

/** Attempts in a row by one agent that failed in the same way, after which the way itself is looked at. */
const ALIKE = 3;

function failsAlike(state: State, task: TaskState, { attempt, judgement }: Judged): boolean {
  const wanted = failureSignature(judgement.findings);
  if (wanted === '' || attempt.item.role !== 'executor') return false;
  const earlier = task.attempts
    .filter((iteration) => iteration > task.ladderFrom && iteration < attempt.iteration)
    .flatMap((iteration) => state.attempts.get(iteration) ?? [])
    .filter(({ agent, verdict }) => agent === attempt.agent && verdict !== null && verdict.value !== 'died')
    .slice(1 - ALIKE);
  return (
    earlier.length === ALIKE - 1 &&
    earlier.every(({ verdict }) => failureSignature(verdict!.findings) === wanted)
  );
}

/** What a failure consists of: its findings, and of gates what they said. Empty where nothing weighs. */
export function failureSignature(findings: readonly Finding[]): string {
  const parts = findings
    .filter(({ kind }) => FINDINGS[kind].severity !== 'info')
    .map(({ kind, gate, detail }) => (gate === undefined ? kind : `${kind} ${gate} ${detail}`));
  return [...new Set(parts)].sort().join('\n');
}

/** This attempt was the last that the limits allow. */
function usesUp(state: State, task: TaskState, { attempt, judgement }: Judged): boolean {
  if (!judgement.charged) return false;
  const most = state.policy?.limits.maxTaskAttempts ?? 3;
  if (attempt.item.role === 'executor' || attempt.item.mode === 'hat')
    return task.charged + 1 >= (task.tries ?? most);
  return (state.items.get(itemKey(attempt.item))?.charged ?? 0) + 1 >= most;
}

/** More time follows from a timeout by itself; here it is put into numbers. */
function longer(state: State, task: TaskState, { attempt, judgement }: Judged): Correction['time'] {
  const late = judgement.findings.some(({ kind }) => kind === 'timed_out');
  if (!late || attempt.report?.timeout === 'idle' || !state.policy) return null;
  const beforeS = attempt.allowance.wallMs / 1000;
  const afterS = timeoutS(state.policy, { ...task, timeouts: task.timeouts + 1 }, state.durations);
  return afterS > beforeS ? { beforeS, afterS } : null;
}

const RANK = { critical: 0, warning: 1, info: 2 };

function mostSevereFirst(findings: Finding[]): Finding[] {
  return [...findings].sort((a, b) => RANK[FINDINGS[a.kind].severity] - RANK[FINDINGS[b.kind].severity]);
}

/** The ladder of this task ended in a question that was not asked yet. */
export function asksPerson(task: TaskState): boolean {
  const last = task.corrections.at(-1);
  return last?.intervention.kind === 'question' && last.iteration > task.asksFrom;
}

/** Corrections that change how the next attempt is made, not only what it is told. */
const MEANS: ReadonlySet<InterventionKind> = new Set(['more_time', 'diagnose', 'other_agent']);

/**
 * The last correction of this task changes the means, and no attempt that was judged has had it yet: a reason to
 * go on. A step is chosen once for a task and an agent, so it is such a reason once.
 */
export function owesAttempt(state: State, task: TaskState): boolean {
  if (splitDue(state, task) !== null) return true;
  const { corrections, attempts, ladderFrom } = task;
  const last = corrections.at(-1);
  if (!last || last.iteration <= ladderFrom || !MEANS.has(last.intervention.kind)) return false;
  return attempts.every((iteration) => {
    const value = iteration > last.iteration ? state.attempts.get(iteration)?.verdict?.value : undefined;
    return value === undefined || value === 'died';
  });
}

/** What was tried on this task since a person last acted on it, e.g. "remind (iteration 1), insist (iteration 2)". */
export function triedWords(task: TaskState): string {
  const tried = task.corrections.filter(({ iteration }) => iteration > task.ladderFrom);
  return stepsOf(tried.filter(({ intervention }) => intervention.kind !== 'question')).join(', ');
}

/** Each correction with its iteration; where another agent took over in between, as after a trip on another task, that. */
function stepsOf(corrections: TaskState['corrections']): string[] {
  return corrections.flatMap(({ iteration, agent, intervention }, n) => {
    const before = corrections[n - 1];
    const passed = before && before.agent !== agent && before.intervention.kind !== 'other_agent';
    const step = `${correctionName(intervention)} (iteration ${iteration})`;
    return passed ? [`taken over by ${agent}`, step] : [step];
  });
}

/** A correction's kind, and who takes over where somebody does: `remind`, `other_agent codex`. */
export function correctionName({ kind, agent }: { kind: InterventionKind; agent?: string }): string {
  return agent === undefined ? kind : `${kind} ${agent}`;
}

/** The newest correction of a task that is not finished, in words; empty where there is none. */
export function openCorrection(state: State): { task: string; words: string } | null {
  let newest: TaskState | null = null;
  for (const task of state.tasks.values()) {
    if (task.status === 'done' || task.status === 'cancelled' || task.corrections.length === 0) continue;
    const at = (one: TaskState | null) => one?.corrections.at(-1)?.iteration ?? 0;
    if (at(task) > at(newest)) newest = task;
  }
  const last = newest?.corrections.at(-1);
  if (!newest || !last) return null;
  const { intervention, iteration } = last;
  const counted = newest.corrections.filter((one) => one.iteration > newest.ladderFrom);
  const before = stepsOf(counted).slice(0, -1);
  const after = before.length === 0 ? '' : `, after ${before.join(', ')}`;
  return {
    task: newest.def.id,
    words: `${correctionName(intervention)} (iteration ${iteration}: ${intervention.findings.join(', ')})${after}`,
  };
}
