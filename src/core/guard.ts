/**
 * What may keep an agent from being started, in the order it is asked: a question that holds the
 * session, a row of deaths, no progress, a limit, a provider that asks to wait, a machine that is short of
 * disk or memory.
 */
import { openCorrection, owesAttempt } from './correct.ts';
import { agentFor, choiceOf, isAvailable } from './fallback.ts';
import { short } from './host.ts';
import { limitReached } from './limits.ts';
import { isSpent } from './outage.ts';
import { candidates } from './pick.ts';
import { QUESTION_EXIT } from './question.ts';
import type { Item } from './role.ts';
import type { QuestionState, State } from './state.ts';
import { type Step, stop } from './step.ts';

/** null: an agent may start now with one of these items. Otherwise the step to take instead. */
export function guard(state: State, now: number, items: readonly Item[]): Step | null {
  return (
    held(state) ??
    down(state, items) ??
    deaths(state, now) ??
    stuck(state) ??
    limit(state) ??
    park(state, now, items) ??
    short(state, now)
  );
}

/** A question that holds the session comes before everything else that could be said. */
export function held(state: State): Step | null {
  const holding = openQuestions(state).filter((open) => open.question.hold === 'session');
  return holding.length === 0 ? null : waitOrStop(state, holding);
}

/** Every open question, the one that decides the exit code first. */
export function openQuestions(state: State): QuestionState[] {
  const open = [...state.openQuestions].map((id) => state.questions.get(id)!);
  return open.sort((a, b) => QUESTION_EXIT[a.question.kind] - QUESTION_EXIT[b.question.kind]);
}

/** A person is needed: wait where the run waits for people, else stop with the question's own code. */
export function waitOrStop(state: State, questions: QuestionState[]): Step {
  const deadlines = questions.flatMap((open) =>
    open.question.deadline === null ? [] : [open.question.deadline],
  );
  const until = deadlines.length > 0 ? Math.min(...deadlines) : null;
  const stopped = questions.some((open) => open.stopped);
  if (!stopped && state.policy?.wait) return { do: 'wait', until, for: 'answer' };
  const first = questions[0]!.question;
  const more = questions.length > 1 ? ` (and ${questions.length - 1} more)` : '';
  return stop(QUESTION_EXIT[first.kind], `${first.id} about ${first.about}: ${oneLine(first.text)}${more}`);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** Nobody is left for any of the work: each waits for a person, or was told no as often as is allowed. */
function down(state: State, items: readonly Item[]): Step | null {
  const out = (agent: string) => state.down.has(agent) || isSpent(state, agent);
  if (!items.every((item) => choiceOf(state, item).every(out))) return null;
  const agents = [...new Set(items.flatMap((item) => choiceOf(state, item)))];
  const named = agents.length > 1 || (state.policy?.fallback.length ?? 0) > 0;
  return stop(6, agents.map((agent) => whyOut(state, agent, named)).join('; '));
}

function whyOut(state: State, agent: string, named: boolean): string {
  const found = state.down.get(agent);
  if (found) return `the agent${named ? ` ${agent}` : ''} cannot work (${found.kind}): ${found.message}`;
  const { row, kind, reason } = state.parked.get(agent)!;
  return `${row} runs${named ? ` of ${agent}` : ''} in a row died: ${kind}: ${oneLine(reason)}`;
}

function deaths(state: State, now: number): Step | null {
  if (state.idleRow >= 2) {
    return stop(
      6,
      'the agent ended twice in a row with tiny output, no tool call and no change: check its login, model and limits',
    );
  }
  const row = deadRow(state);
  if (row) return row;
  if (state.deadUntil > now) return { do: 'wait', until: state.deadUntil, for: 'backoff' };
  return null;
}

/** Every try in a row died: the agent or its provider is down, whatever the tasks are. */
export function deadRow(state: State): Step | null {
  const allowed = 1 + (state.policy?.limits.maxSubagentRetries ?? 4);
  return state.deadRow >= allowed
    ? stop(6, `${state.deadRow} runs in a row died: ${lastDeath(state)}`)
    : null;
}

function lastDeath(state: State): string {
  for (let iteration = state.lastIteration; iteration > 0; iteration--) {
    const reason = state.attempts.get(iteration)?.verdict?.reason;
    if (reason) return reason;
  }
  return 'the agent ended without a result';
}

/** There was no progress for as long as is allowed; 0 switches it off. */
export function isStuck(state: State): boolean {
  const max = state.policy?.limits.maxStuck ?? 3;
  return max !== 0 && state.stuck >= max;
}

/** No progress, and no correction that changes the means is left to be given its attempt. */
export function stuck(state: State): Step | null {
  if (!isStuck(state) || candidates(state).some(({ task }) => owesAttempt(state, task))) return null;
  const max = state.policy?.limits.maxStuck ?? 3;
  const open = openCorrection(state);
  const tried = open === null ? '' : `; open correction of ${open.task}: ${open.words}`;
  return stop(4, `no progress in ${state.stuck} iterations in a row (--max-stuck ${max})${tried}`);
}

function limit(state: State): Step | null {
  const reason = limitReached(state);
  return reason === null ? null : stop(1, reason);
}

/** All that could work wait. A short retry is no wait for a provider, so `--no-wait` is not about it. */
function park(state: State, now: number, items: readonly Item[]): Step | null {
  if (items.some((item) => isAvailable(state, agentFor(state, item, now), now))) return null;
  const waits = items.flatMap((item) => state.parked.get(agentFor(state, item, now)) ?? []);
  if (waits.length === 0) return null;
  const first = waits.reduce((a, b) => (b.until < a.until ? b : a));
  const limited = first.kind === 'limit';
  if (!limited || state.policy?.park)
    return { do: 'wait', until: first.until, for: limited ? 'provider' : 'backoff' };
  const until = new Date(first.until).toISOString();
  const lasts = first.told ? `lasts until ${until}` : `has no known end; it could be tried again at ${until}`;
  return stop(6, `the provider's limit ${lasts}: ${oneLine(first.reason)}`);
}
