/**
 * Names the next step from the state alone. Unfinished business comes first; guards stand only in
 * front of starting an agent; what is left is the work of the phase. The order of the checks below is
 * the law: each was put where it stands because a story ended wrongly without it.
 */

import { commandFor } from './command.ts';
import { agentFor, isAvailable } from './fallback.ts';
import { guard, openQuestions } from './guard.ts';
import { fitting } from './host.ts';
import { discardedExit } from './landing.ts';
import { pathWord } from './path-word.ts';
import { isWanted } from './pick.ts';
import type { QuestionState, State } from './state.ts';
import { type Step, stop } from './step.ts';
import { work } from './work.ts';

export interface Moment {
  /** Epoch ms. */
  now: number;
  /** Iterations whose process this very runner holds. */
  live: ReadonlySet<number>;
}

export function decide(state: State, moment: Moment): Step {
  return (
    lost(state, moment) ??
    aborted(state) ??
    unjudged(state) ??
    unfit(state) ??
    unlanded(state) ??
    openWave(state, moment) ??
    expired(state, moment) ??
    stopAsked(state) ??
    paused(state) ??
    work(state, moment.now)
  );
}

/** 1 An attempt that nobody holds was left by a crash. */
function lost(state: State, { live }: Moment): Step | null {
  const iterations = inOrder(state.open).filter(
    (iteration) => state.attempts.get(iteration)?.state === 'open' && !live.has(iteration),
  );
  return iterations.length > 0 ? { do: 'recover', iterations } : null;
}

/** Those of a wave begin side by side, and are seen to in the order they were picked. */
function inOrder(iterations: ReadonlySet<number>): number[] {
  return [...iterations].sort((a, b) => a - b);
}

/** 2 */
function aborted(state: State): Step | null {
  const discarded = discardedExit(state);
  if (discarded) return { do: 'stop', ...discarded };
  if (!state.aborted) return null;
  if (!state.aborted.done) return { do: 'abort' };
  if (state.feedback.length > 0) return null;
  return stop(
    9,
    state.aborted.text ||
      `aborted by a person; \`${commandFor(state, 'ralph run --reopen')}\` takes it up again`,
  );
}

/** 3 An attempt that ended before a pause is judged after it: only its gates are left to run. */
function unjudged(state: State): Step | null {
  if (state.paused) return null;
  for (const iteration of inOrder(state.open)) {
    const attempt = state.attempts.get(iteration);
    if (attempt?.state !== 'ended') continue;
    const before = attempt.ground === null ? null : bringHome(state, attempt.item.task ?? null);
    return before ?? { do: 'judge', iteration };
  }
  return null;
}

/**
 * What was made in a work tree beside the user's is judged in the user's own, on top of what landed meanwhile.
 * Work that is finished there lands before the next comes in.
 */
function bringHome(state: State, task: string | null): Step | null {
  const owner = state.tasks.get(state.groundOwner ?? '');
  const finished = owner?.status === 'done' && owner.landed === 'no' && owner.conflicts.length === 0;
  if (finished && owner.def.id !== task) return { do: 'land', task: owner.def.id };
  return prepareGround(state, task);
}

/**
 * 4 The verdict was of another content than what could be put back: the task is open again, uncharged, before
 * the half that came back is reviewed or lands.
 */
function unfit(state: State): Step | null {
  for (const { def, status, landed, conflicts } of state.tasks.values()) {
    if (conflicts.length === 0 || landed === 'landed') continue;
    if (status !== 'done' && status !== 'review') continue;
    const reason = `what was accepted could not be put back: ${listed(conflicts)} changed before it landed`;
    return { do: 'record', facts: [{ type: 'task.moved', task: def.id, to: 'todo', reason, by: 'engine' }] };
  }
  return null;
}

function listed(paths: string[]): string {
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return `${paths.slice(0, 5).map(pathWord).join(', ')}${more}`;
}

/** 4 */
function unlanded(state: State): Step | null {
  // A person is to look at the branch first.
  if (state.paused?.by === 'engine') return null;
  for (const task of state.tasks.values()) {
    if (task.status !== 'done' || task.landed !== 'no') continue;
    // Its gates run once more before it lands, and none begins in a pause.
    if (task.overtaken && state.paused) continue;
    // Its work may lie aside since an earlier try; another task's work never goes into its commit.
    return (task.aside && prepareGround(state, task.def.id)) || { do: 'land', task: task.def.id };
  }
  return null;
}

/** 5 An open wave is finished, started further, or closed with its unstarted items given back. */
function openWave(state: State, { now }: Moment): Step | null {
  const { wave } = state;
  if (!wave || (state.paused && wave.waiting.length > 0)) return null;
  const unsettled = wave.started.some((iteration) => state.open.has(iteration));
  if (unsettled) return null;
  const items = wave.waiting.map(({ item }) => item);
  const unwanted = items.some((item) => !isWanted(state, item));
  const waits = items.some((item) => !isAvailable(state, agentFor(state, item, now), now));
  if (items.length === 0 || unwanted || waits || state.stopAsked || guard(state, now, items))
    return { do: 'close' };
  // Work trees beside the user's are filled from it, so nobody's unfinished work stands there.
  const owner = wave.beside ? null : (wave.waiting[0]!.item.task ?? null);
  return (
    prepareGround(state, owner) ?? {
      do: 'run',
      iterations: fitting(state, wave.waiting).map((entry) => entry.iteration),
    }
  );
}

/** The work tree holds one task's uncommitted work at a time. */
function prepareGround(state: State, task: string | null): Step | null {
  const owner = state.groundOwner;
  if (owner !== null && owner !== task && state.tasks.has(owner)) return { do: 'set_aside', task: owner };
  if (task !== null && state.tasks.get(task)?.aside) return { do: 'take_up', task };
  return null;
}

/** 6 The mailbox was read before: an answer that came late but in time for us has won already. */
function expired(state: State, { now }: Moment): Step | null {
  if (state.paused) return null;
  const due = openQuestions(state).find((open) => isDue(state, open, now));
  return due === undefined ? null : { do: 'expire', question: due.question.id };
}

/** Whether what silence means is to be done now. */
export function isDue(state: State, open: QuestionState, now: number): boolean {
  const { deadline } = open.question;
  return (deadline !== null && deadline <= now) || unreachable(state, open);
}

/** Nobody sits at a terminal, and every channel gave up: what silence means need not be waited for. */
function unreachable(state: State, { question, shown, stopped }: QuestionState): boolean {
  const channels = state.policy?.questions.channels ?? [];
  if (question.interact !== true || stopped || question.onTimeout === 're_ask' || channels.length === 0)
    return false;
  return channels.every((channel) => shown[channel] === false);
}

/** 7 */
function stopAsked(state: State): Step | null {
  if (!state.stopAsked) return null;
  const { text } = state.stopAsked;
  return stop(
    7,
    `stopped by a person${text === '' ? '' : `: ${text}`}; \`${commandFor(state, 'ralph run')}\` goes on`,
  );
}

/** 8 */
function paused(state: State): Step | null {
  if (!state.paused) return null;
  if (state.policy?.wait && state.paused.by !== 'engine') return { do: 'wait', until: null, for: 'resume' };
  return stop(7, state.paused.text || `paused; \`${commandFor(state, 'ralph resume')}\` goes on`);
}
