/**
 * `unblock.auto`: what the loop itself gives a task that is out of attempts, instead of asking about it.
 * More time where it only ran out of time, or the tries that the next correction of the ladder needs. Each
 * task gets this a fixed number of times in the whole session, and nothing gives that count back, so that
 * no loop can come of it.
 */
import { type BlockedTask, blockedTask } from './blocked.ts';
import type { Fact, TimeGrant } from './event.ts';
import { inScope } from './pick.ts';
import type { State, TaskState } from './state.ts';
import { moreTimeGrant, suggest } from './suggest.ts';

/** The facts that give one task its attempts back; none where no task may have them. */
export function selfUnblocking(state: State): Fact[] {
  const { unblock } = state.policy ?? {};
  if (!unblock?.auto) return [];
  for (const task of state.tasks.values()) {
    if (task.unblocks.filter(({ auto }) => auto).length >= unblock.maxAutoAttempts) continue;
    if (!inScope(state, task)) continue;
    const blocked = blockedTask(state, task);
    const way = blocked && outOfAttempts(blocked) ? wayOn(state, blocked) : null;
    if (blocked && way) return facts(blocked, way);
  }
  return [];
}

/** Only that, and no question that an agent or a person has. */
function outOfAttempts({ task, kind, question }: BlockedTask): boolean {
  if (task.status !== 'todo') return false;
  return kind === 'attempts' || (question?.askedBy === 'engine' && question.kind === 'blocker');
}

interface Way {
  reason: string;
  grant: TimeGrant | null;
}

function wayOn(state: State, blocked: BlockedTask): Way | null {
  const { task } = blocked;
  const { strategy, reason } = suggest(state, blocked, []);
  if (strategy === 'increase_timeout')
    return { reason: `unblock.auto: ${reason}`, grant: moreTimeGrant(state, task) };
  const next = ladderStep(task);
  return next === null
    ? null
    : {
        reason: `unblock.auto: the correction "${next}" was chosen and has not had its attempt`,
        grant: null,
      };
}

/** A correction that changes how the next attempt is made, chosen after the last one. */
function ladderStep({ corrections, attempts }: TaskState): string | null {
  const last = corrections.at(-1);
  if (!last || last.iteration !== attempts.at(-1)) return null;
  const { kind } = last.intervention;
  return kind === 'more_time' || kind === 'other_agent' ? kind : null;
}

function facts({ task, question }: BlockedTask, { reason, grant }: Way): Fact[] {
  const id = task.def.id;
  const unblocked: Fact = { type: 'task.unblocked', task: id, by: 'engine', reason, grant, auto: true };
  if (question === null) return [unblocked];
  return [
    { type: 'question.closed', id: question.id, why: 'unblocked by the loop (unblock.auto)' },
    unblocked,
  ];
}
