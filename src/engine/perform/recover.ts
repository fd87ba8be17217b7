/**
 * After a crash: attempts that were begun and never ended. What still runs under their marker is
 * ended, a complete outbox is believed as far as any claim is, and otherwise the attempt is lost:
 * uncharged, its work kept.
 */
import type { AttemptState, Change, Mark } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { followOutbox } from '../outbox.ts';
import { finishAttempt, inspectList, isOwn } from './finish.ts';
import { gateMarker } from './gate.ts';

export async function recover(house: House, iterations: number[]): Promise<void> {
  house.fresh = null;
  for (const iteration of iterations) {
    const attempt = house.state.attempts.get(iteration)!;
    const ended = await house.leftovers.endMarked([attempt.marker]);
    if (await reported(house, attempt, ended)) continue;
    await lose(house, attempt, ended);
  }
}

/** Gates, and the git of a landing, that a killed runner left running: no fact says that one began. */
export async function endOrphanedGates(house: House): Promise<void> {
  const { open, wave } = house.state;
  const iterations = new Set([...open, ...(wave?.waiting ?? []).map((entry) => entry.iteration)]);
  // A landing that was cut off may have left git or a hook at work, under the mark of the last attempt.
  for (const task of house.state.tasks.values()) {
    const last = task.attempts.at(-1);
    if (task.status === 'done' && task.landed === 'no') iterations.add(last ?? house.state.lastIteration);
  }
  if (iterations.size === 0) return;
  await house.leftovers.endMarked([...iterations].map((iteration) => gateMarker(house, iteration)));
}

/** An agent that had already reported its result is judged like any other. */
async function reported(house: House, attempt: AttemptState, ended: string[]): Promise<boolean> {
  if (house.state.aborted) return false;
  const { iteration, item, agent, tokenHash } = attempt;
  const path = await house.works.outboxPath(iteration);
  const outbox = await followOutbox(house, path, {
    iteration,
    role: item.role,
    agent,
    about: item.task ?? 'session',
    tokenHash,
  });
  try {
    await outbox.poll();
  } finally {
    await outbox.close();
  }
  if (!outbox.lines().some((line) => line.kind === 'result')) return false;
  await finishAttempt(house, {
    iteration,
    lines: outbox.lines(),
    stoppedFor: null,
    report: {
      ending: 'ended',
      timeout: null,
      exitCode: null,
      signal: null,
      error: null,
      finalMessage: '',
      toolCalls: null,
      toolFiles: [],
      commands: [],
      outputBytes: 0,
      usage: { inputTokens: 0, outputTokens: 0, costUsd: null, model: null },
      sessionId: null,
      leftBehind: ended,
      unknownEvents: 0,
    },
  });
  return true;
}

async function lose(house: House, attempt: AttemptState, ended: string[]): Promise<void> {
  const { iteration } = attempt;
  let after: Mark | null = null;
  let changes: Change[] = [];
  const list = await inspectList(house, attempt);
  after = await house.ground.snapshot();
  changes = (await house.ground.changes(attempt.before.tree, after.tree)).filter((change) =>
    isOwn(house, change),
  );
  const left = ended.length === 0 ? '' : ` Ended what was left: ${ended.slice(0, 5).join(' · ')}.`;
  const task = attempt.item.task === undefined ? '' : ` at task ${attempt.item.task}`;
  await append(house, [
    {
      type: 'attempt.lost',
      iteration,
      reason: 'the runner was gone before the attempt ended',
      ended,
      after,
      changes: changes.slice(0, 1_000),
    },
    ...list.facts,
    {
      type: 'notice.given',
      level: 'warning',
      text: `Iteration ${iteration}${task} was interrupted. It is not charged, and its ${changes.length} changed paths are kept.${left}`,
    },
  ]);
}
