/**
 * Whether a wave led anywhere. Commits alone are not progress and talk never is: the files must stand
 * where they have not stood before, or a verdict must have moved a task forward.
 */
import type { Fact } from './event.ts';
import { cutsAnew, isScopeChange } from './split.ts';
import type { AttemptState, State } from './state.ts';

/** The facts that close the open wave. */
export function closeWave(state: State): Fact[] {
  const wave = state.wave!;
  const attempts = wave.started.flatMap((iteration) => state.attempts.get(iteration) ?? []);
  return [
    {
      type: 'wave.ended',
      wave: wave.wave,
      progress: attempts.some((attempt) => advanced(state, attempt)),
      neutral: isNeutral(state, attempts),
      dead: isDead(state, attempts),
      started: attempts.length,
      returned: wave.waiting.map((entry) => entry.iteration),
    },
  ];
}

function advanced(state: State, attempt: AttemptState): boolean {
  const { verdict } = attempt;
  if (!verdict) return false;
  if (attempt.item.mode === 'hat') return ledOn(state, attempt);
  if (verdict.value === 'accepted') return true;
  const headMoved = attempt.after !== null && attempt.after.head !== attempt.before.head;
  return verdict.newTree && (headMoved || verdict.value === 'unfinished');
}

/** Waves that were not really tried, or that ended in a question, leave the stuck counter as it is. */
function isNeutral(state: State, attempts: AttemptState[]): boolean {
  if (attempts.every((attempt) => !wasTried(attempt) || isApart(attempt))) return true;
  const iterations = new Set(attempts.map((attempt) => attempt.iteration));
  for (const { question } of state.questions.values()) {
    if (question.iteration !== null && iterations.has(question.iteration) && question.askedBy !== 'engine')
      return true;
  }
  return false;
}

/** A planner that is sent back uses up returns of its own; guidance that made another task was no try in vain. */
function isApart({ item, verdict, claim }: AttemptState): boolean {
  if (cutsAnew(item)) return true;
  return verdict?.value === 'blocked' && claim?.kind === 'blocked' && isScopeChange(claim.text);
}

function wasTried(attempt: AttemptState): boolean {
  return attempt.verdict !== null && attempt.verdict.value !== 'died';
}

/** At least one item died and none ended; interruptions, losses, waited-for limits and agents that are down do not count. */
function isDead(state: State, attempts: AttemptState[]): boolean {
  const died = attempts.some(
    ({ verdict, agent }) => verdict?.value === 'died' && !verdict.parked && !state.down.has(agent),
  );
  return died && attempts.every((attempt) => !wasTried(attempt));
}

/** Talk is progress once: the same topic on the same tree again leads nowhere, unless the task ended with it. */
function ledOn({ hats, tasks }: State, { iteration, item }: AttemptState): boolean {
  if (item.task !== undefined && tasks.get(item.task)?.status === 'done') return true;
  return Object.values(hats.seen).includes(iteration);
}
