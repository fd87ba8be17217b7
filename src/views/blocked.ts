/** `ralph blocked`: the tasks that go nowhere until somebody acts, why, since when, and what may help. */
import {
  type BlockedTask,
  blockage,
  type Complexity,
  classOf,
  commandFor,
  type State,
  type Suggestion,
  suggest,
  type TaskStatus,
  type Try,
  triesOf,
  tryWords,
} from '../core/index.ts';
import { count, duration, iso, oneLine, some } from './words.ts';

export interface TryJson {
  iteration: number;
  agent: string;
  outcome: string;
  /** How it ended, in a few words. */
  ended: string;
  reason: string;
  allowance_s: number;
  ended_at: string | null;
}

export interface BlockedJson {
  task_id: string;
  title: string;
  status: TaskStatus;
  complexity: Complexity;
  kind: BlockedTask['kind'];
  why: string;
  since: string | null;
  /** The open question about it; null: none. */
  question: string | null;
  attempts: TryJson[];
  /** How often it was unblocked before. */
  unblocked: number;
  /** Present with `--suggest`. */
  suggestion?: Suggestion;
}

export interface BlockageJson {
  session_id: string;
  blocked: BlockedJson[];
  /** Tasks that wait for a blocked or cancelled one: neither blocked nor satisfied. */
  waiting: { task_id: string; title: string; on: string[] }[];
}

/** `others`: agents that could take over; null: no suggestions are wanted. */
export interface BlockedQuery {
  others: readonly string[] | null;
}

export function blockedJson(state: State, { others }: BlockedQuery): BlockageJson {
  const { blocked, waiting } = blockage(state);
  return {
    session_id: state.session?.id ?? '',
    blocked: blocked.map((one) => taskJson(state, one, others)),
    waiting: waiting.map(({ task, on }) => ({ task_id: task.def.id, title: task.def.title, on })),
  };
}

function taskJson(state: State, blocked: BlockedTask, others: readonly string[] | null): BlockedJson {
  const { task, kind, question, why, since } = blocked;
  return {
    task_id: task.def.id,
    title: task.def.title,
    status: task.status,
    complexity: classOf(state.policy, task.def).level,
    kind,
    why,
    since: since === null ? null : iso(since),
    question: question?.id ?? null,
    attempts: triesOf(state, task).map(tryJson),
    unblocked: task.unblocks.length,
    ...(others === null ? {} : { suggestion: suggest(state, blocked, others) }),
  };
}

function tryJson(one: Try): TryJson {
  const { iteration, agent, outcome, reason, allowanceS, endedAt } = one;
  return {
    iteration,
    agent,
    outcome,
    ended: tryWords(one),
    reason,
    allowance_s: allowanceS,
    ended_at: endedAt === null ? null : iso(endedAt),
  };
}

/** The same for a person. `now`: epoch ms. */
export function blockedText(state: State, now: number, query: BlockedQuery): string {
  const { blocked, waiting } = blockedJson(state, query);
  if (blocked.length === 0) return nothing(state, waiting);
  const lines = [`${count(blocked.length, 'task')} blocked`];
  for (const one of blocked) lines.push('', ...taskLines(one, now));
  if (waiting.length > 0) lines.push('', ...waitingLines(waiting));
  if (query.others === null)
    lines.push('', `next: \`${commandFor(state, 'ralph blocked --suggest')}\` names a way on for each`);
  else lines.push(...together(blocked, state));
  return lines.join('\n');
}

function nothing(state: State, waiting: BlockageJson['waiting']): string {
  const lines = ['No task is blocked.', ...waitingLines(waiting)];
  const stopped = state.run?.stopped;
  if (stopped && [1, 4, 6].includes(stopped.code))
    lines.push(
      `The last run stopped with exit ${stopped.code} (${stopped.word}); \`${commandFor(state, 'ralph run')}\` tries again, every task with its attempts.`,
    );
  return lines.join('\n');
}

function taskLines(one: BlockedJson, now: number): string[] {
  const { task_id, title, complexity, why, since, question, attempts, unblocked, suggestion } = one;
  const lines = [
    `${oneLine(task_id, 80)} · ${oneLine(title, 120)} (${complexity})`,
    row('why', `${oneLine(why, 300)}${question === null ? '' : ` (${question})`}`),
  ];
  if (since !== null) lines.push(row('since', `${duration(now - Date.parse(since))} ago (${since})`));
  const again =
    unblocked === 0 ? '' : `; unblocked ${unblocked === 1 ? 'once' : `${unblocked} times`} before`;
  lines.push(row('attempts', `${attemptWords(attempts)}${again}`));
  if (suggestion) {
    lines.push(row(suggestion.strategy, oneLine(suggestion.reason, 400)));
    for (const command of suggestion.commands) lines.push(row('', command));
  }
  return lines;
}

/** The newest five, one after another. */
function attemptWords(attempts: TryJson[]): string {
  if (attempts.length === 0) return 'none';
  const several = new Set(attempts.map(({ agent }) => agent)).size > 1;
  const shown = attempts.slice(-5).map(({ iteration, agent, ended }) => {
    const by = several ? ` (${oneLine(agent, 40)})` : '';
    return `${iteration}${by}: ${oneLine(ended, 80)}`;
  });
  return `${attempts.length}${attempts.length > 5 ? ', the last ones' : ''} — ${shown.join(' · ')}`;
}

function waitingLines(waiting: BlockageJson['waiting']): string[] {
  const shown = waiting
    .slice(0, 20)
    .map(({ task_id, on }) => `waits: ${oneLine(task_id, 80)} for ${some(on, 5)}`);
  return waiting.length > 20 ? [...shown, `and ${waiting.length - 20} more wait`] : shown;
}

/** One line for all of a class, where all of them need more time and by the same factor. */
function together(blocked: BlockedJson[], state: State): string[] {
  const lines: string[] = [];
  for (const complexity of new Set(blocked.map((one) => one.complexity))) {
    const all = blocked.filter((one) => one.complexity === complexity);
    const factors = new Set(
      all.map(({ suggestion }) => / --timeout-multiplier \S+/.exec(suggestion?.commands[0] ?? '')?.[0]),
    );
    const [factor] = factors;
    if (all.length < 2 || factors.size !== 1 || factor === undefined) continue;
    lines.push(
      '',
      `All ${all.length} of class ${complexity} at once: ${commandFor(state, `ralph unblock --filter ${complexity}${factor}`)}`,
    );
  }
  return lines;
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(16)} ${text}`;
}
