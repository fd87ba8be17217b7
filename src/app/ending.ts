/** What a run prints when it is over: seed block, then what to do next. */
import { relative } from 'node:path';
import { type Exit, type State, spentWords } from '../core/index.ts';
import { endSummary as endBlock } from '../dialects/index.ts';
import {
  afterDefect,
  blockedLines,
  endSummary,
  falseClaimLines,
  refusedLines,
  rewordedLines,
  undeliveredLines,
} from '../views/index.ts';
import type { Place } from './place.ts';

export interface Ended {
  /** null: there was nothing to do, and no session was made. */
  sessionId: string | null;
  state: State;
  exit: Exit;
  place: Place;
  /** Agents that could take over a blocked task; null: no suggestions are wanted. */
  others: string[] | null;
}

export function summaryOf({ sessionId, state, exit, place, others }: Ended): {
  data: Record<string, unknown>;
  text: string;
} {
  const data = endSummary(state, others);
  // A journal that was lost or changed holds no end of the run.
  if (exit.code === 70) data.next = afterDefect(exit.reason);
  if (sessionId === null) {
    const next = 'write the next tasks into the list, or name another one with --tasks';
    const none = { session_id: null, log: null, next };
    return { data: { ...data, ...none, exit }, text: `${sentence(exit.reason)}\n${sentence(next)}\n` };
  }
  const log = `${relative(process.cwd(), place.dir) || '.'}/ralph/logs/summary.csv`.replace(/^\.\//, '');
  const text = endBlock({
    word: exit.word,
    code: exit.code,
    iterations: data.iterations,
    maxIterations: data.max_iterations,
    durationMs: data.duration_ms,
    storiesComplete: data.stories_complete,
    storiesTotal: data.stories_total,
    stuckIterations: data.stuck_iterations,
    log,
    next: [
      ...[exit.reason, data.next].filter((line) => line !== ''),
      ...(state.run && data.cost_usd !== null ? [`This run cost ${spentWords(state.run)}.`] : []),
      ...refusedLines(state, data.refused ?? []),
      ...rewordedLines(data),
      ...falseClaimLines(data.false_claims),
      ...undeliveredLines(state).slice(0, 5),
      ...blockedLines(data),
    ],
  });
  return { data: { ...data, exit }, text };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
