/**
 * How a blocked task may come on again, read from how its attempts really ended: time for one that only
 * ran out of it, a mended gate for one that always failed at the same, another agent for one that was
 * lied about. Where the history says nothing of that kind, a person has to look.
 */

import type { BlockedTask } from './blocked.ts';
import { commandFor } from './command.ts';
import type { TimeGrant } from './event.ts';
import type { FindingKind, VerdictValue } from './finding.ts';
import { taskCostReached, timeoutS } from './limits.ts';
import { shellWord } from './shell-word.ts';
import { type AttemptState, hires, type State, type TaskState } from './state.ts';

export const STRATEGIES = ['increase_timeout', 'split', 'fix_gate', 'other_agent', 'manual_review'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface Suggestion {
  strategy: Strategy;
  /** One sentence: what in the history speaks for it. */
  reason: string;
  /** What to type, line by line. */
  commands: string[];
}

/** One attempt at a task, as far as it says why the task is blocked. */
export interface Try {
  iteration: number;
  agent: string;
  outcome: VerdictValue | 'lost' | 'interrupted';
  timedOut: 'wall' | 'idle' | null;
  findings: FindingKind[];
  /** Gates that did not hold, by name. */
  gates: string[];
  reason: string;
  /** Seconds it was given. */
  allowanceS: number;
  /** Epoch ms. */
  endedAt: number | null;
}

/** The executor's finished attempts at a task, in every cycle, oldest first. */
export function triesOf(state: State, task: TaskState): Try[] {
  return task.attempts.flatMap((iteration) => {
    const attempt = state.attempts.get(iteration);
    return attempt && attempt.state === 'settled' ? [tryOf(attempt)] : [];
  });
}

const GATES: ReadonlySet<FindingKind> = new Set([
  'gate_failed',
  'gate_unavailable',
  'gate_empty',
  'gate_regressed',
]);
const NO_WORK: ReadonlySet<FindingKind> = new Set([
  'no_files_detected',
  'bookkeeping_only',
  'evidence_validation_failed',
  'false_completion_detected',
]);

function tryOf({ iteration, agent, verdict, lost, allowance, endedAt }: AttemptState): Try {
  const findings = verdict?.findings ?? [];
  const late = findings.find(({ kind }) => kind === 'timed_out');
  const gates = findings.flatMap(({ kind, gate }) => (gate !== undefined && GATES.has(kind) ? [gate] : []));
  return {
    iteration,
    agent,
    outcome: verdict?.value ?? (lost === null ? 'interrupted' : 'lost'),
    timedOut: late === undefined ? null : late.detail.includes('idle') ? 'idle' : 'wall',
    findings: findings.map(({ kind }) => kind),
    gates: [...new Set(gates)],
    reason: verdict?.reason ?? lost ?? '',
    allowanceS: allowance.wallMs / 1000,
    endedAt,
  };
}

/** The tries that speak: judged ones, since the last unblocking where there are any. */
function speaking(state: State, task: TaskState): Try[] {
  const judged = triesOf(state, task).filter(
    ({ outcome }) => outcome !== 'lost' && outcome !== 'interrupted',
  );
  const since = task.unblocks.at(-1)?.after ?? 0;
  const later = judged.filter(({ iteration }) => iteration > since);
  return later.length > 0 ? later : judged;
}

/** The strategy for one blocked task. `others`: agents that could take over, the best first. */
export function suggest(state: State, blocked: BlockedTask, others: readonly string[]): Suggestion {
  const { task } = blocked;
  const tries = speaking(state, task);
  const suggestion =
    forPeople(state, blocked, tries) ??
    moreTime(state, task, tries) ??
    mendGate(task, tries) ??
    otherAgent(task, tries, others) ??
    look(task, historyWords(tries));
  return { ...suggestion, commands: suggestion.commands.map((command) => commandFor(state, command)) };
}

/** What no counter can mend. */
function forPeople(
  state: State,
  { task, question, kind, why }: BlockedTask,
  tries: Try[],
): Suggestion | null {
  const id = shellWord(task.def.id);
  if (state.aborted) {
    return {
      strategy: 'manual_review',
      reason: 'The session was aborted.',
      commands: ['ralph run --reopen'],
    };
  }
  if (question && question.askedBy !== 'engine') {
    const first = question.options[0]?.key;
    const answer =
      question.kind === 'blocker'
        ? `ralph unblock ${id} --reason "what you changed"`
        : first === undefined
          ? `ralph answer ${question.id} "your answer"`
          : `ralph answer ${question.id} --option ${shellWord(first)}`;
    const asks = question.kind === 'blocker' ? 'met something that' : `asks for a ${question.kind}:`;
    const reason = `Its agent ${asks} only a person can settle (${question.id}).`;
    return { strategy: 'manual_review', reason, commands: [answer, 'ralph run'] };
  }
  if (tries.length === 0)
    return look(task, kind === 'failed' ? 'No attempt here was judged.' : `It is ${why}.`);
  if (task.status === 'review') return look(task, `The work is there and its review does not end: ${why}.`);
  if (state.policy && taskCostReached(state.policy, task)) {
    const cap = `$${state.policy.limits.maxCostUsdPerTask}`;
    return look(task, `It has used up its own money: ${cap} (limits.max_cost_usd_per_task).`);
  }
  if (tries.every(({ outcome }) => outcome === 'accepted'))
    return look(task, 'Its work held every time, and every review asked for changes.');
  const odd = ODD.find(({ finding }) => tries.some(({ findings }) => findings.includes(finding)));
  return odd ? look(task, odd.reason) : null;
}

const ODD: { finding: FindingKind; reason: string }[] = [
  { finding: 'oscillation', reason: 'Attempts undo each other: its criteria may contradict.' },
  { finding: 'denied_gate', reason: 'The agent was not allowed to run a gate: `ralph doctor` tells which.' },
];

function moreTime(state: State, task: TaskState, tries: Try[]): Suggestion | null {
  if (tries.length === 0 || tries.some(({ timedOut }) => timedOut === null)) return null;
  const id = shellWord(task.def.id);
  const all = ['Its attempt', 'Both its attempts'][tries.length - 1] ?? `All its ${tries.length} attempts`;
  const times = `${all} ran out of time`;
  if (tries.at(-1)!.timedOut === 'idle') {
    const silent = `${state.policy?.limits.idleTimeoutS ?? 0} s`;
    return look(
      task,
      `It went silent, last for ${silent} (limits.idle_timeout): more time alone does not help.`,
    );
  }
  const most = largest(tries);
  const grant = moreTimeGrant(state, task);
  if (grant === null) {
    const where = hires(state, 'SPLIT_TASK') ? '' : ' Put smaller tasks into the list in its place.';
    const reason = `${times}, ${most} s of at most ${state.policy?.timeout.maxS ?? most} s.${where}`;
    return {
      strategy: 'split',
      reason,
      commands: [`ralph tasks cancel ${id} --reason "split"`, 'ralph run'],
    };
  }
  const flag =
    grant.timeoutS === null ? `--timeout-multiplier ${grant.multiplier}` : `--timeout ${grant.timeoutS}`;
  const next = state.policy ? timeoutS(state.policy, { ...task, grant }, state.durations) : null;
  const reason = `${times}, the longest after ${most} s; nothing else was held against ${tries.length === 1 ? 'it' : 'them'}.`;
  const commands = [`ralph unblock ${id} ${flag}`, 'ralph run'];
  return {
    strategy: 'increase_timeout',
    reason: next === null ? reason : `${reason} The next would get ${next} s.`,
    commands,
  };
}

/**
 * The time that would help a task whose last attempts ran out of it: twice the formula's, or twice the longest
 * where that is no more. Null: the longest was the largest allowance already.
 */
export function moreTimeGrant(state: State, task: TaskState): TimeGrant | null {
  const { policy } = state;
  const most = largest(speaking(state, task).filter(({ timedOut }) => timedOut === 'wall'));
  if (!policy || most >= policy.timeout.maxS) return null;
  const grant = { timeoutS: null, multiplier: 2 * (task.grant?.multiplier ?? 1) };
  if (timeoutS(policy, { ...task, grant }, state.durations) > most) return grant;
  return { timeoutS: Math.min(policy.timeout.maxS, Math.ceil(2 * most)), multiplier: 1 };
}

function largest(tries: Try[]): number {
  return Math.max(0, ...tries.map(({ allowanceS }) => allowanceS));
}

function mendGate(task: TaskState, tries: Try[]): Suggestion | null {
  const [first] = tries;
  const gate = first?.gates.find((name) => tries.every(({ gates }) => gates.includes(name)));
  if (gate === undefined) return null;
  const missing = tries.some(({ findings }) => findings.includes('gate_unavailable'));
  const times = tries.length === 1 ? '' : ` in each of ${tries.length} attempts`;
  const reason = `The gate "${gate}" ${missing ? 'could not run' : 'did not pass'}${times}: mend it, or what it asks for.`;
  const id = shellWord(task.def.id);
  const see = missing ? 'ralph doctor' : `ralph why ${id}`;
  return {
    strategy: 'fix_gate',
    reason,
    commands: [see, `ralph unblock ${id} --reason "gate mended"`, 'ralph run'],
  };
}

function otherAgent(task: TaskState, tries: Try[], others: readonly string[]): Suggestion | null {
  const idle = tries.filter(({ findings }) => findings.some((kind) => NO_WORK.has(kind)));
  if (idle.length === 0 || idle.length < tries.length) return null;
  const agents = [...new Set(tries.map(({ agent }) => agent))];
  const times = tries.length === 1 ? 'once' : `${tries.length} times`;
  const reason = `${agents.join(' and ')} ended ${times} without the work`;
  const next = others.find((name) => !agents.includes(name));
  if (next === undefined) {
    const known = others.some((name) => !agents.slice(0, 1).includes(name));
    return look(
      task,
      `${reason}, and no other agent ${known ? 'is left that has not tried' : 'is installed'}.`,
    );
  }
  const id = shellWord(task.def.id);
  return {
    strategy: 'other_agent',
    reason: `${reason}; ${next} has not tried.`,
    commands: [`ralph unblock ${id}`, `ralph run --task ${id} --agent ${shellWord(next)}`],
  };
}

function look(task: TaskState, reason: string): Suggestion {
  const id = shellWord(task.def.id);
  return {
    strategy: 'manual_review',
    reason,
    commands: [`ralph why ${id}`, `ralph unblock ${id} --reason "what you changed"`, 'ralph run'],
  };
}

function historyWords(tries: Try[]): string {
  const ways = new Map<string, number>();
  for (const one of tries) ways.set(tryWords(one), (ways.get(tryWords(one)) ?? 0) + 1);
  const told = [...ways].map(([way, times]) => (times === 1 ? way : `${way} (${times} times)`)).join(', ');
  if (tries.length === 1) return `Its one attempt ended in a way that no setting mends: ${told}.`;
  if (ways.size === 1) return `Its attempts all ended in one way, and no setting mends it: ${told}.`;
  return `Its attempts ended in more than one way, or in none that a setting mends: ${told}.`;
}

/** How one attempt ended, in a few words that are the product's own. */
export function tryWords({ timedOut, allowanceS, gates, findings, outcome }: Try): string {
  if (outcome === 'accepted') return 'accepted';
  if (timedOut !== null) return timedOut === 'idle' ? 'went silent' : `ran out of its ${allowanceS} s`;
  if (outcome === 'died') return 'died';
  if (gates.length > 0) return `gate ${gates.join(' and ')} did not pass`;
  if (findings.includes('false_completion_detected')) return 'claimed without the work';
  if (findings.some((kind) => NO_WORK.has(kind))) return 'changed no files';
  const other = findings.find((kind) => kind !== 'evidence_missing');
  return other === undefined ? outcome : `${outcome}: ${other}`;
}
