/**
 * After a crash: attempts that were begun and never ended. What still runs under their marker is
 * ended, a complete outbox is believed as far as any claim is, and otherwise the attempt is lost:
 * uncharged, its work kept.
 */
import { type AttemptState, type Fact, type Mark, modelFor, Problem, pathWord } from '../../core/index.ts';
import { MAX_CHANGES, theirsIn, told } from '../changes.ts';
import { append, type House } from '../house.ts';
import { innerLeft } from '../inner.ts';
import { matchesAny } from '../match.ts';
import { followOutbox } from '../outbox.ts';
import { withdrawn } from '../permission.ts';
import { pauseForSwitch } from './branch.ts';
import { finishAttempt, inspectList, protectedPatterns, sorted } from './finish.ts';
import { gateMarker } from './gate.ts';
import { committedMarks } from './marks.ts';
import { type Bill, loseGround, movedBy, putRulesBack, type Ruled } from './rules.ts';
import { bringNotes, houseOf, leftBeside, loseSide } from './side.ts';

export async function recover(home: House, iterations: number[]): Promise<void> {
  home.fresh = null;
  for (const iteration of iterations) {
    const attempt = home.state.attempts.get(iteration)!;
    const ended = await home.leftovers.endMarked([attempt.marker]);
    const house = await houseOf(home, attempt);
    const bill = await billOf(home, attempt);
    if (house === null) {
      await loseSide(home, attempt, bill);
      continue;
    }
    const until = ended.length === 0 ? await silentSince(house, attempt) : null;
    // First of all: what hides a change would hide it from every look that follows.
    const ruled = await putRulesBack(house, attempt, until);
    if (ruled.gone !== null) {
      await loseGround(house, attempt, { ruled, bill });
      continue;
    }
    if (until !== null) await sparePersons(house, attempt, until);
    const left = { attempt, ended, ruled, bill };
    if (await reported(house, left)) continue;
    await lose(house, left);
  }
}

interface Left {
  attempt: AttemptState;
  /** What was still running. */
  ended: string[];
  ruled: Ruled;
  bill: Bill;
}

/** What an attempt had used that nobody saw to its end, as its raw output tells; nothing where it tells nothing. */
async function billOf(house: House, { iteration, item, agent }: AttemptState): Promise<Bill> {
  const model = modelFor(house.state.policy!, item.role, agent);
  try {
    const usage = await house.agent(agent).billIn({ logPath: house.works.logPath(iteration), model });
    return usage === null ? {} : { usage };
  } catch (error) {
    // The configuration of this start may name it no more.
    if (error instanceof Problem) return {};
    throw error;
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
  await house.ground.withdraw();
}

/** A heartbeat comes every minute, so the runner may have lived that long after its last one. */
const SILENT_MS = 65_000;

/** When the attempt, of which nobody is alive any more, can have written last; epoch ms. */
async function silentSince(house: House, { iteration, startedAt }: AttemptState): Promise<number> {
  const signs = [startedAt, house.predecessorSeenAt ?? 0, await house.works.lastSign(iteration)];
  return Math.max(...signs) + SILENT_MS;
}

/**
 * What was written long after the attempt's last sign of life was written by somebody else: it stays a
 * person's, uncommitted and uncounted.
 */
async function sparePersons(house: House, attempt: AttemptState, until: number): Promise<void> {
  if (house.predecessorSeenAt === null) return;
  const { tree } = await house.ground.snapshot();
  const changed = (await house.ground.changes(attempt.before.tree, tree)).map((change) => change.path);
  const unknown = changed.filter((path) => !house.state.dirty.has(path));
  const paths = await house.ground.writtenAfter(unknown, until);
  if (paths.length === 0) return;
  const reason = `written after iteration ${attempt.iteration} was cut off; uncommitted and not counted`;
  await append(house, [{ type: 'dirt.found', paths, reason }]);
}

/**
 * A protected file that is not as it was: the killed attempt did it, or a person since. It is no part of the task
 * either way; where a person works it is left and told, elsewhere it is put back.
 */
async function spareProtected(house: House, { iteration, before }: AttemptState): Promise<void> {
  const { ground, state, side } = house;
  const protect = protectedPatterns(house);
  const { tree } = await ground.snapshot();
  const changed = (await ground.changes(before.tree, tree)).filter(
    ({ path }) => matchesAny(protect, path) && !state.dirty.has(path),
  );
  if (changed.length === 0) return;
  if (side !== null) {
    await ground.apply(changed.map((change) => ({ ...change, before: change.after, after: change.before })));
    return;
  }
  const paths = changed.map(({ path }) => path);
  const reason = `protected, and changed since iteration ${iteration} was begun; uncommitted and not counted`;
  const text = `${paths.slice(0, 5).map(pathWord).join(', ')} ${paths.length === 1 ? 'is' : 'are'} protected and changed since iteration ${iteration} was begun, which was cut off: by it or by somebody else. It stays as it is, in no commit. Look at it with \`git diff\`; undo what is not yours.`;
  await append(house, [
    { type: 'dirt.found', paths, reason },
    { type: 'notice.given', level: 'critical', text },
  ]);
}

/** An agent that had already reported its result is judged like any other. */
async function reported(house: House, { attempt, ended, ruled, bill }: Left): Promise<boolean> {
  if (house.state.aborted) return false;
  const { iteration, item, agent, tokenHash } = attempt;
  const path = await house.works.outboxPath(iteration);
  const outbox = await followOutbox(house, path, {
    iteration,
    role: item.role,
    agent,
    about: item.task ?? 'session',
    tokenHash,
    past: true,
  });
  try {
    await outbox.poll();
  } finally {
    outbox.close();
  }
  if (!outbox.lines().some((line) => line.kind === 'result')) return false;
  await append(house, withdrawn(house.state, iteration));
  await finishAttempt(house, {
    iteration,
    lines: outbox.lines(),
    stoppedFor: null,
    ruled,
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
      usage: bill.usage ?? { inputTokens: 0, outputTokens: 0, costUsd: null, model: null },
      sessionId: null,
      leftBehind: ended,
      unknownEvents: 0,
    },
  });
  return true;
}

async function lose(house: House, { attempt, ended, ruled, bill }: Left): Promise<void> {
  const { iteration } = attempt;
  const list = await inspectList(house, attempt);
  await spareProtected(house, attempt);
  const after = await house.ground.snapshot();
  const all = await house.ground.changes(attempt.before.tree, after.tree);
  const isTheirs = await theirsIn(house, attempt);
  const { changes, noted } = sorted(
    house,
    all.filter((change) => !isTheirs(change)),
  );
  const vouched = await committedMarks(house, attempt, after);
  const elsewhere = await movedSince(house, { attempt, after, moved: ruled.moved });
  const lost: Fact = {
    type: 'attempt.lost',
    iteration,
    reason: 'the runner was gone before the attempt ended',
    ended,
    after,
    ...(await told(house, changes)),
    ...(noted.length === 0 ? {} : { noted: noted.slice(0, MAX_CHANGES) }),
    ...(ruled.removed.length === 0 ? {} : { removedRefs: ruled.removed }),
    ...(elsewhere.moved.length === 0 ? {} : { movedRefs: elsewhere.moved }),
    ...(await innerLeft(house, attempt)),
    ...(vouched.length === 0 ? {} : { committedMarks: vouched }),
    ...bill,
  };
  const text = lostText(
    attempt,
    changes.map((change) => change.path),
    ended,
  );
  const undone: Fact[] = ruled.trespass.map(({ detail, keptAs }) => {
    const kept = keptAs === null ? '' : ` What it held is kept as ${keptAs} in the session's folder.`;
    return { type: 'notice.given', level: 'critical', text: `Iteration ${iteration}: ${detail}${kept}` };
  });
  const notice: Fact = { type: 'notice.given', level: 'warning', text };
  const { before } = attempt;
  const when = `since iteration ${iteration} was begun`;
  const switched =
    after.branch === before.branch
      ? []
      : pauseForSwitch(house, { from: before, to: after, when, commits: before.head !== after.head });
  const aside = await leftBeside(house, attempt, after);
  await append(house, [
    lost,
    ...withdrawn(house.state, iteration),
    ...aside,
    ...list.facts,
    notice,
    ...undone,
    ...elsewhere.facts,
    ...ruled.facts,
    ...switched,
  ]);
  await bringNotes(house, attempt);
}

/** Other branches that were moved; commits of its own branch since it was begun may be a person's by now. */
async function movedSince(
  house: House,
  { attempt, after, moved }: { attempt: AttemptState; after: Mark; moved: Ruled['moved'] },
) {
  const { before } = attempt;
  const went =
    moved.length === 0 || after.head === null || after.head === before.head
      ? []
      : await house.ground.commitsBetween(before.head, after.head);
  return movedBy(house, { ...attempt, after }, { moved, commits: went, cut: true });
}

/** A person may have worked here since: what counts as the task's is named. */
function lostText({ iteration, item }: AttemptState, paths: string[], ended: string[]): string {
  const task = item.task === undefined ? '' : ` at task ${item.task}`;
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  const named = paths.length === 0 ? '' : `: ${paths.slice(0, NAMED).map(pathWord).join(', ')}${more}`;
  const left = ended.length === 0 ? '' : ` Ended what was left: ${ended.slice(0, 5).join(' · ')}.`;
  return `Iteration ${iteration}${task} was interrupted. It is not charged, and its ${paths.length} changed paths are kept${named}.${left}`;
}

const NAMED = 10;
