/**
 * `ralph unblock` and `ralph retry-blocked`: gives tasks their attempts back, one by name or many by class,
 * and tells what the next attempt of each will get. The state is changed by messages alone, so a live
 * runner takes them up as it would any other.
 */
import {
  type BlockedTask,
  blockage,
  COMPLEXITIES,
  classOf,
  commandFor,
  idleUnblock,
  loopCommand,
  naturalOrder,
  nearest,
  type Policy,
  Problem,
  reckonTime,
  type State,
  type TaskState,
  type TimeGrant,
} from '../core/index.ts';
import { some } from '../views/index.ts';
import { loadSettings } from './config.ts';
import { findPlace } from './place.ts';
import { type SendRequest, sendAll } from './send.ts';
import { openToChange } from './windows.ts';

export interface UnblockRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  session?: string;
  /** By name, by class of the blocked ones, or every blocked one. */
  which: { tasks: string[] } | { filter: string } | 'all';
  /** Seconds of each next attempt, in place of the formula. */
  timeoutS?: number;
  /** A factor in the formula. */
  timeoutMultiplier?: number;
  /** Charged tries until each is out of attempts again. */
  maxAttempts?: number;
  reason?: string;
}

export interface UnblockedTask {
  task_id: string;
  /** `queued`: a live runner will read it. */
  outcome: string;
  /** Seconds that the next attempt gets; null before any run. */
  timeout_s: number | null;
  /** The factor that was asked for goes beyond this bound, seconds; null: it does not. */
  held_to_s: number | null;
}

export interface Unblocked {
  session_id: string;
  unblocked: UnblockedTask[];
  /** Messages that were not taken. */
  failed: { task_id: string; reason: string }[];
  /** A runner is alive and takes them up. */
  live: boolean;
  /** The session's loop; absent: it is none's. */
  loop_id?: string;
}

/** Throws a Problem for a name or class that is unknown, that no blocked task has, and for an aborted session. */
export async function unblock(request: UnblockRequest): Promise<Unblocked> {
  const { cwd, env, timeoutS, timeoutMultiplier, maxAttempts, reason } = request;
  const { state, session, live } = await openToChange(cwd, request.session);
  if (state.aborted?.done) throw aborted(session.id, state);
  const tasks = chosen(state, request.which);
  const loop = state.policy?.loop?.loop;
  const about = {
    session_id: session.id,
    live: live.runner !== null,
    ...(loop === undefined ? {} : { loop_id: loop }),
  };
  if (tasks.length === 0) return { ...about, unblocked: [], failed: [] };
  const drafts = tasks.map((task): SendRequest['draft'] => ({
    type: 'UNBLOCK',
    task: task.def.id,
    ...(timeoutS === undefined ? {} : { timeout_s: timeoutS }),
    ...(timeoutMultiplier === undefined ? {} : { timeout_multiplier: timeoutMultiplier }),
    ...(maxAttempts === undefined ? {} : { max_attempts: maxAttempts }),
    ...(reason === undefined ? {} : { reason }),
  }));
  const { sent, read } = await sendAll({ cwd, env, session: session.id, drafts });
  const policy = live.runner === null ? await nextPolicy(request, state) : state.policy;
  const result: Unblocked = { ...about, unblocked: [], failed: [] };
  tasks.forEach((task, index) => {
    const { rejected, ...one } = sent[index]!;
    // What the runner will answer can be told now where nothing comes of it.
    const outcome = (read ? null : idleUnblock(state, task)) ?? one.outcome;
    const task_id = task.def.id;
    if (rejected !== null) result.failed.push({ task_id, reason: rejected });
    else result.unblocked.push({ task_id, outcome, ...nextTime(state, task, policy, request) });
  });
  return result;
}

function chosen(state: State, which: UnblockRequest['which']): TaskState[] {
  const found = blockage(state);
  if (which === 'all') return found.blocked.map(({ task }) => task);
  if ('filter' in which) return ofClass(state, found.blocked, which.filter);
  return [...new Set(which.tasks)].map((id) => named(state, id));
}

/** One that only waits for another is taken, too: the session answers that there is nothing to do. */
function named(state: State, id: string): TaskState {
  const task = state.tasks.get(id);
  if (!task) throw unknownTask(state, id);
  return task;
}

function unknownTask(state: State, id: string): Problem {
  const ids = [...state.tasks.keys()].sort(naturalOrder);
  const near = nearest(id, ids);
  return new Problem({
    code: 'unblock.unknown_task',
    what: `There is no task ${id}.${near === null ? '' : ` Did you mean ${near}?`}`,
    why: ids.length === 0 ? 'This session has no task.' : `This session has ${some(ids, 8)}.`,
    fix: near === null ? '`ralph blocked` lists the blocked ones.' : `ralph unblock ${near}`,
  });
}

function ofClass(state: State, blocked: BlockedTask[], filter: string): TaskState[] {
  const wanted = filter.trim().toLowerCase().replaceAll('-', '_');
  const level = COMPLEXITIES.find((one) => one === wanted);
  if (level === undefined) {
    const near = nearest(wanted, COMPLEXITIES);
    throw new Problem({
      code: 'unblock.unknown_class',
      what: `There is no class "${filter}".${near === null ? '' : ` Did you mean ${near}?`}`,
      why: `The classes are ${COMPLEXITIES.join(', ')}.`,
      fix: 'Name one of them; `ralph blocked` shows the class of each blocked task.',
    });
  }
  const classes = blocked.map(({ task }) => ({ task, level: classOf(state.policy, task.def).level }));
  const found = classes.filter((one) => one.level === level).map(({ task }) => task);
  if (found.length > 0) return found;
  const others = classes.map((one) => `${one.task.def.id} (${one.level})`);
  throw new Problem({
    code: 'unblock.none',
    what: `No blocked task is of class ${level}; nothing was changed.`,
    why: others.length === 0 ? 'No task is blocked at all.' : `Blocked: ${some(others, 12)}.`,
    fix: others.length === 0 ? 'See `ralph tasks`.' : 'Name another class, or a task by its id.',
  });
}

const aborted = (id: string, state: State): Problem =>
  new Problem({
    code: 'session.aborted',
    what: `Session ${id} was aborted; nothing was changed.`,
    why: 'An aborted session takes up no task, also no unblocked one.',
    fix: `${commandFor(state, 'ralph run --reopen')} takes it up again, its tasks with all their attempts.`,
  });

/** The session's own policy within the bounds that the next start will read. */
async function nextPolicy({ cwd, env }: UnblockRequest, { policy }: State): Promise<Policy | null> {
  if (policy === null) return null;
  try {
    const place = await findPlace(cwd);
    const { adaptiveTimeout } = (await loadSettings({ place, env, flags: {}, session: null })).settings;
    if (!adaptiveTimeout.enabled) return policy;
    const { minS, maxS } = adaptiveTimeout;
    return { ...policy, timeout: { ...policy.timeout, minS, maxS } };
  } catch {
    // A mistake in ralph.yml is told by the start that cannot do without it.
    return policy;
  }
}

function nextTime(
  state: State,
  task: TaskState,
  policy: Policy | null,
  { timeoutS, timeoutMultiplier }: UnblockRequest,
): Pick<UnblockedTask, 'timeout_s' | 'held_to_s'> {
  if (policy === null) return { timeout_s: null, held_to_s: null };
  const given = timeoutS !== undefined || timeoutMultiplier !== undefined;
  const grant: TimeGrant | null = given
    ? { timeoutS: timeoutS ?? null, multiplier: timeoutMultiplier ?? 1 }
    : task.grant;
  const reckoned = reckonTime(policy, { ...task, grant }, state.durations);
  const held = timeoutMultiplier !== undefined && reckoned.computedS > reckoned.maxS;
  return { timeout_s: reckoned.timeoutS, held_to_s: held ? reckoned.maxS : null };
}

/** The answer for a person. */
export function unblockedText({ session_id, unblocked, failed, live, loop_id }: Unblocked): string {
  const lines = unblocked.map(({ task_id, outcome, timeout_s }) => {
    if (isIdle(outcome)) return `${task_id}: ${outcome.replace(NO_EFFECT, 'nothing to do: ')}`;
    return `${task_id}: ${outcome}${timeout_s === null ? '' : `; its next attempt gets ${timeout_s} s`}`;
  });
  for (const { task_id, reason } of failed) lines.push(`${task_id}: not taken: ${reason}`);
  const ralph = (command: string) => loopCommand(loop_id ?? null, command);
  const moved = unblocked.filter(({ outcome }) => !isIdle(outcome));
  const held = moved.filter(({ held_to_s }) => held_to_s !== null);
  if (held.length > 0) {
    const which =
      held.length === moved.length
        ? ''
        : ` (${some(
            held.map(({ task_id }) => task_id),
            8,
          )})`;
    lines.push(
      `held to max ${held[0]!.held_to_s} s${which}: use --timeout or raise adaptive_timeout.max_timeout`,
    );
  }
  return `${lines.join('\n')}\nSession ${session_id}: ${nextWords({ moved: moved.length, failed: failed.length, live, ralph })}`;
}

const NO_EFFECT = /^no effect: /;
const isIdle = (outcome: string) => NO_EFFECT.test(outcome);

interface Outlook {
  moved: number;
  failed: number;
  live: boolean;
  /** A command as it means the session. */
  ralph(command: string): string;
}

function nextWords({ moved, failed, live, ralph }: Outlook): string {
  if (moved > 0)
    return live ? 'its runner takes them up within a second.' : `\`${ralph('ralph run')}\` goes on.`;
  return failed > 0
    ? 'nothing was changed.'
    : `nothing was changed; \`${ralph('ralph tasks')}\` shows how its tasks stand.`;
}
