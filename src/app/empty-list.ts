/** What is said of a task list that holds no task: what stands there instead, and what a task looks like. */
import type { ProblemFacts } from '../core/index.ts';
import type { ListReading } from '../engine/index.ts';

/** Why such a list stops the start and what to do, for a Problem that names the file. */
export function emptyFacts(reading: ListReading): Pick<ProblemFacts, 'why' | 'fix'> {
  const { why, fix } = reading.kind === 'empty' ? reading : {};
  return {
    why: `${why === undefined ? '' : `${why} `}No task is not the same as everything done.`,
    fix: `${fix === undefined ? 'Add at least one task' : fix.replace(/\.$/, '')}, or name another list with --tasks.`,
  };
}
