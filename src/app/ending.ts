/** What a run prints when it is over: seed block, then what to do next. */
import { relative } from 'node:path';
import type { Exit, State } from '../core/index.ts';
import { endSummary as endBlock } from '../dialects/index.ts';
import { blockedLines, endSummary } from '../views/index.ts';
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
  if (sessionId === null) return { data: { ...data, exit }, text: nothingText(exit.reason) };
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
    next: [...[exit.reason, data.next].filter((line) => line !== ''), ...blockedLines(data)],
  });
  return { data: { ...data, exit }, text };
}

/** No block of figures for a run that did not take place. */
function nothingText(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.\nWrite the next tasks into the list, or name another one with --tasks.\n`;
}
