/**
 * The end of an attempt, from the last word of the agent to one record: what it said, what changed,
 * what it had no right to change (and is put back), what it marked in the task file.
 */
import {
  type AgentReport,
  type AttemptState,
  type Change,
  type Fact,
  hear,
  MODES,
  type OutboxLine,
  type StopCause,
  type Trespass,
} from '../../core/index.ts';
import { isBookkeeping, MAX_CHANGES } from '../changes.ts';
import { append, type House } from '../house.ts';
import { matchesAny } from '../match.ts';
import type { ListInspection } from '../ports.ts';

export interface Finished {
  iteration: number;
  report: AgentReport;
  lines: OutboxLine[];
  stoppedFor: StopCause | null;
}

/** Longest final message that goes into the journal; the whole of it is in the log. Characters. */
const MESSAGE_CHARS = 4_000;

export async function finishAttempt(
  house: House,
  { iteration, report, lines, stoppedFor }: Finished,
): Promise<void> {
  const attempt = house.state.attempts.get(iteration)!;
  const list = await inspectList(house, attempt);
  const seen = await house.ground.snapshot();
  const all = (await house.ground.changes(attempt.before.tree, seen.tree)).filter(
    (change) => !house.state.dirty.has(change.path),
  );
  const { trespass, restored } = await putBack(house, attempt, all);
  const after = restored ? await house.ground.snapshot() : seen;
  const put = new Set(trespass.map((entry) => entry.path));
  const changes = all.filter((change) => !put.has(change.path) && !isBookkeeping(change.path, house.state));
  const more =
    changes.length > MAX_CHANGES ? await house.works.put('changes.json', JSON.stringify(changes)) : null;
  const { commits, rewrote } = await newCommits(house, attempt, after.head);
  house.fresh = after;
  const now = house.clock.now();
  await append(house, [
    {
      type: 'attempt.ended',
      iteration,
      report: { ...report, finalMessage: report.finalMessage.slice(-MESSAGE_CHARS) },
      claim: await heard(house, attempt, { report, lines }),
      after,
      changes: changes.slice(0, MAX_CHANGES),
      changeCount: changes.length,
      more,
      commits,
      rewrote,
      trespass: [...trespass, ...list.trespass],
      marked: list.inspection?.marked ?? [],
      durationMs: Math.max(0, now - attempt.startedAt),
      stoppedFor,
      review: list.inspection?.review ?? null,
      bookkeeping:
        (list.inspection?.touched ?? false) || all.some((change) => isBookkeeping(change.path, house.state)),
    },
    ...list.facts,
  ]);
}

/** A change that counts as the attempt's: neither a person's dirty path nor bookkeeping. */
export function isOwn(house: House, change: Change): boolean {
  return !house.state.dirty.has(change.path) && !isBookkeeping(change.path, house.state);
}

async function heard(
  house: House,
  attempt: AttemptState,
  said: { report: AgentReport; lines: OutboxLine[] },
) {
  const prompt = await house.works.get(attempt.promptSha);
  const claim = hear({
    finalMessage: said.report.finalMessage,
    outbox: said.lines,
    prompt: prompt === null ? '' : Buffer.from(prompt).toString('utf8'),
    completionWord: house.state.policy?.completionWord ?? null,
    taskIds: [...house.state.tasks.keys()],
    activeTask: attempt.item.task ?? null,
    publishes: null,
  });
  return { ...claim, files: [...new Set([...claim.files, ...said.report.toolFiles])] };
}

async function newCommits(house: House, attempt: AttemptState, head: string | null) {
  if (head === attempt.before.head) return { commits: [], rewrote: false };
  if (attempt.before.head !== null && !(await house.ground.isAncestor(attempt.before.head, head))) {
    await house.ground.keep(attempt.before.head, house.sessionId, attempt.iteration);
    return { commits: head === null ? [] : [head], rewrote: true };
  }
  return { commits: await house.ground.commitsBetween(attempt.before.head, head), rewrote: false };
}

export interface ListOutcome {
  inspection: ListInspection | null;
  trespass: Trespass[];
  facts: Fact[];
}

/** What the attempt did to the task file; the parts that were not its to change are put back. */
export async function inspectList(house: House, attempt: AttemptState): Promise<ListOutcome> {
  const none = { inspection: null, trespass: [], facts: [] };
  if (!house.list || attempt.taskFile === null) return none;
  const before = await house.works.get(attempt.taskFile);
  if (before === null) return none;
  const inspection = await house.list.inspect({
    before: Buffer.from(before).toString('utf8'),
    mode: attempt.item.mode,
    active: attempt.item.task ?? '',
    reviewCap: house.state.policy?.limits.reviewCap ?? 5,
  });
  if (!inspection.touched) return { ...none, inspection };
  const keptAs =
    inspection.agentText === null
      ? null
      : await house.works.attemptFile(attempt.iteration, 'task-file.rejected', inspection.agentText);
  const path = house.list.source.path ?? '';
  const trespass: Trespass[] = inspection.violations.map((detail) => ({
    path,
    what: 'illegal_task_change',
    detail,
    keptAs,
  }));
  const { sha256, set } = inspection;
  const facts: Fact[] = [
    {
      type: 'tasks.read',
      source: house.state.source ?? house.list.source,
      sha256,
      set,
      gone: [],
      by: 'agent',
    },
  ];
  return { inspection, trespass, facts };
}

/** Undoes changes to protected paths, and every change of a mode that may write nothing. */
async function putBack(
  house: House,
  attempt: AttemptState,
  changes: Change[],
): Promise<{ trespass: Trespass[]; restored: boolean }> {
  const readOnly = MODES[attempt.item.mode].mayWrite === 'nothing';
  const protect = ['ralph.yml', '.ralph/ralph.toml', 'ralph/prd.md', ...(house.state.policy?.protect ?? [])];
  const forbidden = changes.filter(
    (change) => matchesAny(protect, change.path) || (readOnly && !isBookkeeping(change.path, house.state)),
  );
  if (forbidden.length === 0) return { trespass: [], restored: false };
  const conflicts = new Set(
    await house.ground.apply(
      forbidden.map(({ path, before, after }) => ({ path, before: after, after: before })),
    ),
  );
  const trespass = forbidden.map(({ path }): Trespass => {
    const protectedPath = matchesAny(protect, path);
    const undone = conflicts.has(path) ? 'could not be put back' : 'was put back';
    return {
      path,
      what: protectedPath ? 'protected_changed' : 'role_violation',
      detail: protectedPath
        ? `${path} is protected and ${undone}.`
        : `A reviewer changed ${path}; it ${undone}.`,
      keptAs: null,
    };
  });
  return { trespass, restored: true };
}
