/** What is said of a task list that holds no task: what stands there instead, and what a task looks like. */
import type { ProblemFacts } from '../core/index.ts';
import type { ListReading } from '../engine/index.ts';

/** A list without tasks, or one that is not there; `path` names the file. */
export function emptyProblem(path: string, reading: NoTasks): ProblemFacts {
  return {
    code: `tasks.${reading.kind}`,
    what: reading.kind === 'empty' ? `${path} holds no task.` : `${path} is not there.`,
    ...emptyFacts(reading),
  };
}

type NoTasks = ListReading & { kind: 'empty' | 'missing' };

/** Why such a list stops the start and what to do, for a Problem that names the file. */
function emptyFacts(reading: NoTasks): Pick<ProblemFacts, 'why' | 'fix'> {
  const { why, fix } = reading.kind === 'empty' ? reading : {};
  return {
    why: `${why === undefined ? '' : `${why} `}No task is not the same as everything done.`,
    fix: `${fix === undefined ? 'Add at least one task' : fix.replace(/\.$/, '')}, or name another list with --tasks.`,
  };
}
