/** What came of one run, counted from its state and from the files that are really there. */
import type { State } from '../../src/core/index.ts';
import { FINISHED, TASKS, TASKS_OF } from './mix.ts';

export interface Outcome {
  iterations: number;
  /** Files changed per iteration. */
  filesPerIteration: number;
  /** Findings per hundred iterations. */
  interventionsPer100: number;
  /** Tasks that are done and whose work is there, of all. */
  verified: number;
  /** The same of the UI tasks. */
  uiVerified: number;
  /** Tasks that are done and whose work is not there. */
  falseAccepted: number;
  /** UI tasks that wait for a person after their attempts, of the UI tasks. */
  blocked: number;
  /** Iterations that were rejected or died, of all. */
  wasted: number;
  /** `T01:accepted:120` for each iteration, so that two runs can be compared. */
  trail: string[];
}

/** Counts a run that ended. `exists` looks at the ground. */
export function outcomeOf(state: State, exists: (path: string) => boolean): Outcome {
  const attempts = [...state.attempts.values()].filter((attempt) => attempt.verdict !== null);
  const iterations = attempts.length;
  const done = TASKS.filter(({ id }) => state.tasks.get(id)?.status === 'done');
  const verified = done.filter(({ id }) => exists(FINISHED(id)));
  const held = new Set([...state.openQuestions].map((id) => state.questions.get(id)!.question.about));
  const fruitless = attempts.filter(({ verdict }) => ['rejected', 'died'].includes(verdict!.value)).length;
  const files = attempts.reduce((sum, attempt) => sum + attempt.changeCount, 0);
  return {
    iterations,
    filesPerIteration: files / iterations,
    interventionsPer100: (100 * state.findings.length) / iterations,
    verified: verified.length / TASKS.length,
    uiVerified: verified.filter(({ ui }) => ui).length / TASKS_OF.ui,
    falseAccepted: done.length - verified.length,
    blocked: TASKS.filter(({ ui, id }) => ui && held.has(id)).length / TASKS_OF.ui,
    wasted: fruitless / iterations,
    trail: attempts.map(
      ({ item, verdict, allowance }) => `${item.task}:${verdict!.value}:${allowance.wallMs / 1000}`,
    ),
  };
}
