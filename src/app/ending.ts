/** What a run prints when it is over: seed block, then what to do next. */
import { relative } from 'node:path';
import type { Exit, State } from '../core/index.ts';
import { endSummary as endBlock } from '../dialects/index.ts';
import { endSummary } from '../views/index.ts';
import type { Place } from './place.ts';

export function summaryOf(
  state: State,
  exit: Exit,
  place: Place,
): { data: Record<string, unknown>; text: string } {
  const data = endSummary(state);
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
    next: [exit.reason, data.next].filter((line) => line !== ''),
  });
  return { data: { ...data, exit }, text };
}
