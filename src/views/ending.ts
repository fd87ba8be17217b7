/** The numbers of the summary that ends a run, and what to do next. */
import {
  blockage,
  type CostSource,
  commandFor,
  costSource,
  type Exit,
  iterationLimit,
  type Reworded,
  type State,
  type Suggestion,
  suggest,
} from '../core/index.ts';
import { type FalseClaimJson, falseClaims } from './false-claims.ts';
import { type MovedJson, movedBranches } from './moved.ts';
import { advice } from './next.ts';
import { type RefusedJson, refusedIn } from './outages.ts';
import { doneReworded, rewordedWords } from './reworded.ts';
import { stories } from './story.ts';
import { count, oneLine } from './words.ts';

export interface EndSummary {
  exit: Exit | null;
  session_id: string;
  /** Agent runs of this run. */
  iterations: number;
  /** Those of them that do not count toward the limit: they died or were broken off. */
  uncounted_iterations: number;
  /** How many may count. */
  max_iterations: number;
  /** From the start of this run to its last fact. */
  duration_ms: number;
  stories_complete: number;
  stories_total: number;
  /** duration ÷ iterations; null without an iteration. */
  avg_ms: number | null;
  /** Through the whole session. */
  stuck_iterations: number;
  /** Of this run; null: no agent reported a price. */
  cost_usd: number | null;
  /** `estimated`: part of it is tokens by the price table; `subscription`: all of it is paid by one; null: no price is known. */
  cost_source: CostSource;
  tokens: number;
  /** Relative to the session folder; `ralph/logs` in the work tree leads to the same file. */
  log: string;
  next: string;
  /** Done by words that an agent changed itself; absent where there are none. */
  reworded?: ({ task_id: string } & Reworded)[];
  /** What providers refused in this run, by agent; absent where there was nothing. */
  refused?: RefusedJson[];
  /** Other branches that were moved in this run, absent where none was. */
  moved_branches?: MovedJson[];
  /** Done tasks whose accepted attempt claimed what is not so. */
  false_claims: FalseClaimJson[];
  /** What may help each blocked task; absent where suggestions are switched off (`unblock.auto_suggest`). */
  blocked?: ({ task_id: string } & Suggestion)[];
}

/** `others`: agents that could take over from one that failed; null: no suggestions are wanted. */
export function endSummary(state: State, others: readonly string[] | null = null): EndSummary {
  const { run } = state;
  const { done, total } = stories(state);
  const iterations = iterationsOfRun(state);
  const reworded = doneReworded(state);
  const refused = refusedIn(state);
  const moved = run === null ? [] : movedBranches(state, run.startedAt);
  const duration = run ? Math.max(0, state.lastAt - run.startedAt) : 0;
  return {
    exit: run?.stopped ?? null,
    session_id: state.session?.id ?? '',
    iterations,
    uncounted_iterations: Math.max(0, iterations - (run?.used ?? iterations)),
    max_iterations: iterationLimit(state),
    duration_ms: duration,
    stories_complete: done,
    stories_total: total,
    avg_ms: iterations === 0 ? null : duration / iterations,
    stuck_iterations: state.stuckTotal,
    cost_usd: run?.costUsd ?? null,
    cost_source: run ? costSource(run) : null,
    tokens: run?.tokens ?? 0,
    log: 'logs/summary.csv',
    next: run?.stopped ? advice(run.stopped.code, state) : `\`${commandFor(state, 'ralph run')}\` goes on`,
    false_claims: falseClaims(state),
    ...(reworded.length === 0 ? {} : { reworded }),
    ...(refused.length === 0 ? {} : { refused }),
    ...(moved.length === 0 ? {} : { moved_branches: moved }),
    ...(others === null
      ? {}
      : {
          blocked: blockage(state).blocked.map((one) => ({
            task_id: one.task.def.id,
            ...suggest(state, one, others),
          })),
        }),
  };
}

/** Lines of the summary for tasks that are done by words of an agent's. `ralph`: a command as it means the session. */
export function rewordedLines({ reworded = [] }: EndSummary, ralph: (command: string) => string): string[] {
  const shown = reworded
    .slice(0, MOST_SHOWN)
    .map(
      (one) =>
        `${oneLine(one.task_id, 60)} was accepted by words that the agent changed: ${rewordedWords(one)}; \`${ralph(`ralph tasks reopen ${oneLine(one.task_id, 60)}`)}\` if that is not what you want`,
    );
  const more = reworded.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more tasks like that: \`${ralph('ralph why ID')}\``] : shown;
}

/** Lines of the summary for the blocked tasks, the first few in full. */
export function blockedLines({ blocked = [] }: EndSummary, ralph: (command: string) => string): string[] {
  if (blocked.length === 0) return [];
  const shown = blocked
    .slice(0, MOST_SHOWN)
    .flatMap(({ task_id, strategy, reason, commands }) => [
      `  ${oneLine(task_id, 60)}: ${strategy}. ${oneLine(reason, 240)}`,
      `    ${commands.join(' && ')}`,
    ]);
  const more = blocked.length > MOST_SHOWN ? `and ${blocked.length - MOST_SHOWN} more; ` : '';
  return [
    '',
    `${count(blocked.length, 'task')} blocked; what may help:`,
    ...shown,
    `  ${more}\`${ralph('ralph blocked --suggest')}\` tells it with every attempt`,
  ];
}

const MOST_SHOWN = 3;

function iterationsOfRun(state: State): number {
  const from = state.run?.startedAt ?? Number.POSITIVE_INFINITY;
  let count = 0;
  for (const attempt of state.attempts.values()) if (attempt.startedAt >= from) count += 1;
  return count;
}
