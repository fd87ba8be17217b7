/**
 * What became of a loop's work once it was done. A loop works on a branch of its own, and its session is complete
 * only when that work is where it belongs: the landing is a step of the law like any other, and what came of it is a
 * fact of the session.
 */
import type { Fact } from './event.ts';
import type { Spent } from './evidence.ts';
import { inScope } from './pick.ts';
import { spentWords, sumOf } from './spend.ts';
import type { State } from './state.ts';
import { type Exit, exitOf, type Step, stop, TO_DO } from './step.ts';

/** A loop, its own branch, and the branch its work is to land on; branches as people name them. */
export interface LoopWork {
  loop: string;
  branch: string;
  onto: string;
}

/** An agent that was hired for the lines that a loop and its integration branch both changed. */
export interface LandingHire {
  agent: string;
  /** Its own session; null: it never began. */
  session: string | null;
  /** What it made passed everything. */
  settled: boolean;
  spent: Spent;
  /** Absent in older journals, as the next one. */
  tokens?: number;
  activeMs?: number;
}

/** How many of a loop's tasks are done. */
export interface HowFar {
  done: number;
  total: number;
}

export type LandingFact = LoopWork & {
  /** Absent: nobody was hired. */
  hired?: LandingHire;
  /** A person had it land before it was done; absent: it was. */
  unfinished?: HowFar;
} & (
    | {
        type: 'loop.landed';
        /** The commit of `onto` that holds the work. */
        commit: string;
        /** By a merge, as `onto` had moved on. */
        merged: boolean;
      }
    /** A person must look; nothing was moved and nothing is gone. `files`: what it is about. */
    | { type: 'loop.parked'; why: string; files: string[]; next: string }
    /** Done, and what is in the way ends by itself. */
    | { type: 'loop.queued'; why: string; next: string }
    /** `land: branch`: it is done, and stays where it is. */
    | { type: 'loop.stayed' }
    /** `land: { command }`: a command of the user's took it over. */
    | { type: 'loop.handed_over' }
    /** A person gave the loop up. `keptAs`: a name of ours for what was nowhere else; null: there was nothing. */
    | { type: 'loop.discarded'; keptAs: string | null }
  );

/** null: nothing is left to do. */
export function unfinishedOf(state: State): HowFar | null {
  const meant = [...state.tasks.values()].filter(
    (task) => inScope(state, task) && task.status !== 'cancelled',
  );
  const done = meant.filter(({ status }) => status === 'done').length;
  return done === meant.length ? null : { done, total: meant.length };
}

/** Who is hired is paid by the run that lands: what was not told of that session before counts against its limits. */
export function payHire({ run, landing }: Pick<State, 'run' | 'landing'>, { hired }: LandingFact): void {
  if (!run || hired === undefined) return;
  const { spent, tokens, activeMs } = newSpend(hired, landing?.hired ?? null);
  Object.assign(run, sumOf(run, spent));
  run.tokens += tokens;
  run.activeMs += activeMs;
}

/** What was not known yet of what an agent spent that was hired. */
export function newSpend(
  hired: LandingHire,
  before: LandingHire | null,
): { spent: Spent; tokens: number; activeMs: number } {
  const told = before?.session === hired.session ? before : null;
  const { costUsd, estimated, byPlanUsd = 0 } = hired.spent;
  const part = (now: number, then: number) => Math.max(0, now - then);
  return {
    spent: {
      costUsd: costUsd === null ? null : part(costUsd, told?.spent.costUsd ?? 0),
      estimated: estimated && { ...estimated, usd: part(estimated.usd, told?.spent.estimated?.usd ?? 0) },
      byPlanUsd: part(byPlanUsd, told?.spent.byPlanUsd ?? 0),
    },
    tokens: part(hired.tokens ?? 0, told?.tokens ?? 0),
    activeMs: part(hired.activeMs ?? 0, told?.activeMs ?? 0),
  };
}

/** True for a fact that tells what became of a loop's work as a whole. */
export function isLandingFact(fact: Fact): fact is LandingFact {
  return fact.type.startsWith('loop.');
}

/** What a session that is done owes the branch it works for; null: nothing any more, or it is no loop's. */
export function landingStep({ policy, landing }: State): Step | null {
  if (landing === null) return policy?.loop === undefined ? null : { do: 'bring_in' };
  return isAwaited(landing) ? stop(8, landingText(landing)) : null;
}

/** Done and not where it belongs: somebody, or something, is waited for. */
export function isAwaited({ type }: LandingFact): boolean {
  return type === 'loop.parked' || type === 'loop.queued';
}

/** All is done and its work is where it belongs: there is nothing left that a stop, a pause or an abort could keep. */
export function isHome(state: State): boolean {
  const { landing, feedback } = state;
  if (landing === null || landing.unfinished !== undefined || feedback.length > 0) return false;
  if (isAwaited(landing) || landing.type === 'loop.discarded') return false;
  return unfinishedOf(state) === null;
}

/** Given up by a person: that is the last word, and nothing of the session goes on. */
export function discardedExit({ landing }: State): Exit | null {
  return landing?.type === 'loop.discarded' ? exitOf(9, landingText(landing)) : null;
}

/** One sentence for a person, without its stop. */
export function landingText(landing: LandingFact): string {
  const { loop, branch, onto } = landing;
  switch (landing.type) {
    case 'loop.landed':
      return `Loop ${loop} landed on ${onto}${landing.merged ? ' by a merge' : ''}${settledWords(landing)}: ${landing.commit.slice(0, 12)}${restWords(landing)}`;
    case 'loop.stayed':
      return `Loop ${loop} ${howFar(landing)} and stays on its branch ${branch}, as land: branch says; \`ralph loops merge ${loop}\` lands it on ${onto}`;
    case 'loop.handed_over':
      return `Loop ${loop} ${howFar(landing)}, and land.command took ${branch} over`;
    case 'loop.queued':
      return `Loop ${loop} ${howFar(landing)} and waits to land on ${onto}: ${landing.why}. ${TO_DO}${unended(landing.next)}`;
    case 'loop.parked':
      return `Loop ${loop} ${howFar(landing)} and did not land on ${onto}: ${landing.why}${spendWords(landing)}. ${TO_DO}${unended(landing.next)}`;
    case 'loop.discarded':
      return `Loop ${loop} was discarded by a person; ${landing.keptAs === null ? 'it had no work of its own' : `its work is kept as ${landing.keptAs}`}`;
  }
}

function howFar({ unfinished }: LandingFact): string {
  return unfinished === undefined ? 'is done' : `has ${doneWords(unfinished)} done`;
}

function restWords({ loop, unfinished }: LandingFact): string {
  if (unfinished === undefined) return '';
  return `, with ${doneWords(unfinished)} done; \`ralph run --worktree ${loop}\` goes on with the rest`;
}

const doneWords = ({ done, total }: HowFar): string => `${done} of ${total} task${total === 1 ? '' : 's'}`;

function settledWords(landing: LandingFact): string {
  const { hired } = landing;
  return hired?.settled === true ? `, its conflict settled by ${hired.agent}${spendWords(landing)}` : '';
}

function spendWords({ hired }: LandingFact): string {
  return (hired?.spent.costUsd ?? null) === null ? '' : ` (${spentWords(hired!.spent)} were spent on that)`;
}

const unended = (text: string): string => text.replace(/\.$/, '');
