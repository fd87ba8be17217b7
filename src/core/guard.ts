/**
 * What may keep an agent from being started, in the order it is asked: a question that holds the
 * session, a row of deaths, no progress, a limit, a provider that asks to wait.
 */
import { openCorrection, owesAttempt } from './correct.ts';
import { limitReached } from './limits.ts';
import { candidates } from './pick.ts';
import { QUESTION_EXIT } from './question.ts';
import type { QuestionState, State } from './state.ts';
import { type Step, stop } from './step.ts';

/** null: one of these agents may start now. Otherwise the step to take instead. */
export function guard(state: State, now: number, agents: readonly string[]): Step | null {
  return (
    held(state) ??
    down(state, agents) ??
    deaths(state, now) ??
    stuck(state) ??
    limit(state) ??
    park(state, now, agents)
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

/** Every agent that there is work for cannot work until a person acts. */
function down(state: State, agents: readonly string[]): Step | null {
  const found = agents.map((agent) => state.down.get(agent));
  const [first] = found;
  if (first === undefined || found.includes(undefined)) return null;
  const which = state.policy?.fallback.length ? ` ${agents[0]}` : '';
  return stop(6, `the agent${which} cannot work (${first.kind}): ${first.message}`);
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

/** Every agent that there is work for, and that is not down, is told to wait by its provider. */
function park(state: State, now: number, agents: readonly string[]): Step | null {
  const left = agents.filter((agent) => !state.down.has(agent));
  const waits = left.flatMap((agent) => state.parked.get(agent) ?? []).filter(({ until }) => until > now);
  if (waits.length < left.length || waits.length === 0) return null;
  const first = waits.reduce((a, b) => (b.until < a.until ? b : a));
  if (state.policy?.park) return { do: 'wait', until: first.until, for: 'provider' };
  return stop(
    6,
    `the provider's limit lasts until ${new Date(first.until).toISOString()}: ${oneLine(first.reason)}`,
  );
}
