/**
 * The abort checklist: tasks in progress fail with the reason, nothing is reverted, what waits is
 * given back. It can be done again after a crash and changes nothing the second time.
 */
import { carriesOut, type State } from '../../core/index.ts';
import { append, type House, redraw } from '../house.ts';
import { showDesk } from '../intake.ts';
import { endOrphanedGates } from './recover.ts';

export async function abort(house: House): Promise<void> {
  await endOrphanedGates(house);
  await house.leftovers.endMarked(openMarkers(house.state));
  await append(house, (state) => [
    { type: 'abort.done', tasks: inProgress(state) },
    ...[...state.openQuestions].map((id) => ({
      type: 'question.closed' as const,
      id,
      why: 'the session was aborted',
    })),
  ]);
  await showDesk(house);
  await redraw(house);
}

function openMarkers(state: State): string[] {
  return [...state.open].flatMap((iteration) => state.attempts.get(iteration)?.marker ?? []);
}

/** Tasks whose executor was at work when the abort came, whatever ended it. */
function inProgress(state: State): string[] {
  const tasks = new Set<string>();
  for (const task of state.tasks.values()) if (task.status === 'doing') tasks.add(task.def.id);
  for (const iteration of state.wave?.started ?? []) {
    const attempt = state.attempts.get(iteration);
    const task = attempt?.item.task;
    if (!attempt || task === undefined || !carriesOut(attempt.item)) continue;
    const status = state.tasks.get(task)?.status;
    if (attempt.verdict === null && status !== 'review' && status !== 'done') tasks.add(task);
  }
  return [...tasks];
}
