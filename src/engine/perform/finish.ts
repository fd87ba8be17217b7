/**
 * The end of an attempt, from the last word of the agent to one record: what it said, what changed,
 * what it had no right to change (and is put back), what it marked in the task file.
 */
import { relative } from 'node:path';
import {
  type AgentReport,
  type AttemptState,
  boundsOf,
  type Change,
  type Claim,
  commandFor,
  type Fact,
  hear,
  type Mark,
  MODES,
  type OutboxLine,
  pathWord,
  type StopCause,
  shellWord,
  type Trespass,
} from '../../core/index.ts';
import { isBookkeeping, MAX_CHANGES, theirsIn, told } from '../changes.ts';
import { append, type House } from '../house.ts';
import { innerLeft } from '../inner.ts';
import { matchesAny, OWN_RULES } from '../match.ts';
import type { ListInspection } from '../ports.ts';
import { undone } from '../undone.ts';
import { pauseForSwitch } from './branch.ts';
import { committedMarks } from './marks.ts';
import { loseGround, movedBy, putRulesBack, type Ruled } from './rules.ts';
import { bringNotes, leftBeside, toldOnce } from './side.ts';
import { worksAfter } from './works.ts';

export interface Finished {
  iteration: number;
  report: AgentReport;
  lines: OutboxLine[];
  stoppedFor: StopCause | null;
  /** It was asked to stop at a safe point, took that in, and ended by itself or when its time was over. */
  heeded?: boolean;
  /** What it asked permission for and did not get. */
  refused?: string[];
  /** Where git's own rules were put back already: what came of it. */
  ruled?: Ruled;
}

/** Longest final message that goes into the journal; the whole of it is in the log. Characters. */
const MESSAGE_CHARS = 4_000;

export async function finishAttempt(
  house: House,
  { iteration, report: reported, lines, stoppedFor: asked, ...done }: Finished,
): Promise<void> {
  const attempt = house.state.attempts.get(iteration)!;
  const ruled = done.ruled ?? (await putRulesBack(house, attempt));
  if (ruled.gone !== null) return loseGround(house, attempt, { ruled, bill: { usage: reported.usage } });
  const list = await inspectList(house, attempt);
  const left = await worksAfter(house, attempt);
  const seen = await house.ground.snapshot();
  const everything = await house.ground.changes(attempt.before.tree, seen.tree);
  const isTheirs = await theirsIn(house, attempt);
  const all = everything.filter((change) => !isTheirs(change));
  const theirs = await undone(house, attempt.before.head, everything.filter(isTheirs));
  const { trespass, restored } = await putBack(house, attempt, { all, theirs });
  const after = restored ? await house.ground.snapshot() : seen;
  const put = new Set(trespass.map((entry) => entry.path));
  const { changes, noted } = sorted(
    house,
    all.filter((change) => !put.has(change.path)),
  );
  const { commits, rewrote } = await newCommits(house, attempt, after.head);
  const elsewhere = await movedBy(house, { ...attempt, after }, { moved: ruled.moved, commits, cut: false });
  const vouched = await committedMarks(house, attempt, after);
  house.fresh = after;
  const now = house.clock.now();
  const claim = await heard(house, attempt, { report: reported, lines });
  const { report, stoppedFor } = done.heeded
    ? atSafePoint({ report: reported, asked, claim })
    : { report: reported, stoppedFor: asked };
  await append(house, [
    {
      type: 'attempt.ended',
      iteration,
      report: { ...report, finalMessage: report.finalMessage.slice(-MESSAGE_CHARS) },
      claim,
      after,
      ...(await told(house, changes)),
      commits,
      rewrote,
      trespass: [
        ...(house.side === null ? ruled.trespass : []),
        ...trespass,
        ...list.trespass,
        ...left.trespass,
        ...elsewhere.trespass,
      ],
      marked: list.inspection?.marked ?? [],
      ...(vouched.length === 0 ? {} : { committedMarks: vouched }),
      durationMs: Math.max(0, now - attempt.startedAt),
      stoppedFor,
      review: list.inspection?.review ?? null,
      bookkeeping:
        (list.inspection?.touched ?? false) || all.some((change) => isBookkeeping(house, change.path)),
      ...(noted.length === 0 ? {} : { noted: noted.slice(0, MAX_CHANGES) }),
      ...(ruled.removed.length === 0 ? {} : { removedRefs: ruled.removed }),
      ...(elsewhere.moved.length === 0 ? {} : { movedRefs: elsewhere.moved }),
      ...(await innerLeft(house, attempt)),
      ...(done.refused === undefined || done.refused.length === 0 ? {} : { refused: done.refused }),
      ...(left.works === null ? {} : { works: left.works }),
    },
    ...(await leftBeside(house, attempt, after)),
    ...list.facts,
    ...(house.side === null
      ? [...elsewhere.facts, ...ruled.facts]
      : toldOnce(house, { ...ruled, facts: [...elsewhere.facts, ...ruled.facts] })),
    ...offBranch(house, attempt, { rewrote, after, commits: commits.length > 0 }),
  ]);
  await bringNotes(house, attempt);
}

/**
 * An agent that stopped because it was asked to has not ended by itself, unless it claims something: finished
 * work and questions are judged like any other.
 */
function atSafePoint({
  report,
  asked,
  claim,
}: {
  report: AgentReport;
  asked: StopCause | null;
  claim: Claim;
}): Pick<Finished, 'report' | 'stoppedFor'> {
  const claims = report.ending === 'ended' && claim.kind !== 'none';
  if (report.ending === 'died' || (claims && asked === 'pause')) return { report, stoppedFor: null };
  if (claims) return { report, stoppedFor: asked };
  return { report: { ...report, ending: 'interrupted', timeout: null }, stoppedFor: asked };
}

/** A branch that lost commits, or another branch, is for a person to look at before more is built on it. */
function offBranch(
  house: House,
  attempt: AttemptState,
  { rewrote, after, commits }: { rewrote: boolean; after: Mark; commits: boolean },
): Fact[] {
  if (after.branch !== attempt.before.branch) {
    const when = `during iteration ${attempt.iteration}`;
    return pauseForSwitch(house, { from: attempt.before, to: after, when, commits });
  }
  if (!rewrote) return [];
  const { before } = attempt;
  if (after.head === null && before.branch !== null) return branchGone(house, attempt);
  const kept = `refs/ralph/${house.sessionId}/${attempt.iteration}`;
  // The list was marked again in the work tree, which a plain merge would refuse to touch.
  const again = commandFor(house.state, 'ralph resume');
  const where = house.state.policy?.loop === undefined ? '' : ` in ${house.ground.root}`;
  const text = `During iteration ${attempt.iteration} commits were taken off the branch. The old head is kept as ${kept}: bring it back${where} with \`git merge --autostash ${kept}\`, or look with \`git log ${kept}\`; then \`${again}\`. Without that, \`${again}\` opens the tasks again whose work is gone.`;
  return paused(house, text, before.head === null ? [] : [before.head]);
}

function branchGone(house: House, { iteration, before }: AttemptState): Fact[] {
  const { branch, head } = before;
  const text = `During iteration ${iteration} the branch ${branch} was removed. Bring it back with \`git branch ${shellWord(branch ?? '')} ${head}\`, then \`${commandFor(house.state, 'ralph resume')}\`; the work tree is as it was. That commit is also kept as refs/ralph/${house.sessionId}/${iteration}.`;
  return paused(house, text);
}

function paused(house: House, text: string, lost?: string[]): Fact[] {
  return [
    { type: 'session.paused', at: house.clock.now(), text, by: 'engine', ...(lost && { lost }) },
    { type: 'notice.given', level: 'critical', text },
  ];
}

/** What counts as the attempt's work, and its notes and logs. `all`: without a person's paths. */
export function sorted(house: House, all: Change[]): { changes: Change[]; noted: Change[] } {
  return {
    changes: all.filter((change) => !isBookkeeping(house, change.path)),
    noted: all.filter((change) => isBookkeeping(house, change.path)),
  };
}

async function heard(
  house: House,
  attempt: AttemptState,
  said: { report: AgentReport; lines: OutboxLine[] },
) {
  const prompt = await house.works.get(attempt.promptSha);
  return hear({
    finalMessage: said.report.finalMessage,
    toolClaimed: said.report.toolClaimed === true,
    outbox: said.lines,
    prompt: prompt === null ? '' : Buffer.from(prompt).toString('utf8'),
    completionWord: house.state.policy?.completionWord ?? null,
    taskIds: [...house.state.tasks.keys()],
    activeTask: attempt.item.task ?? null,
    publishes: boundsOf(house.state.policy, attempt.item),
  });
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

function trespassDetail(seen: {
  path: string;
  undone: string;
  protectedPath: boolean;
  /** Of a call that may not change the repository; null for one that may. */
  role: string | null;
}): string {
  if (seen.protectedPath) return `${pathWord(seen.path)} is protected and ${seen.undone}.`;
  if (seen.role !== null) return `A ${seen.role} changed ${pathWord(seen.path)}; it ${seen.undone}.`;
  return `A person's uncommitted work in ${pathWord(seen.path)} was thrown away by the attempt; it ${seen.undone}.`;
}

/** A path of the project's as the ground's root sees it. */
function withPrefix({ ground }: House, pattern: string): string {
  const prefix = relative(ground.root, ground.cwd);
  return prefix === '' ? pattern : `${prefix}/${pattern.replace(/^\.?\//, '')}`;
}

/** What no attempt may change, as the ground's root sees it. */
export function protectedPatterns(house: House): string[] {
  const own = [...OWN_RULES, ...(house.state.policy?.protect ?? [])];
  return own.map((pattern) => withPrefix(house, pattern));
}

/** Undoes what threw a person's work away, changes to protected paths, and all of a mode that may write nothing. */
async function putBack(
  house: House,
  attempt: AttemptState,
  { all, theirs }: { all: Change[]; theirs: Change[] },
): Promise<{ trespass: Trespass[]; restored: boolean }> {
  const readOnly = MODES[attempt.item.mode].mayWrite !== 'repository';
  const docs = attempt.item.mode === 'PROMOTE' ? withPrefix(house, '.docs/') : null;
  const protect = protectedPatterns(house);
  const notAllowed = all.filter(
    ({ path, before }) =>
      matchesAny(protect, path) ||
      // New notes only: what people have there is theirs.
      (readOnly &&
        !isBookkeeping(house, path) &&
        !(before === null && docs !== null && path.startsWith(docs))),
  );
  const forbidden = [...notAllowed, ...theirs];
  if (forbidden.length === 0) return { trespass: [], restored: false };
  const conflicts = new Set(
    await house.ground.apply(
      forbidden.map(({ path, before, after }) => ({ path, before: after, after: before })),
    ),
  );
  const persons = new Set(theirs.map(({ path }) => path));
  const trespass = forbidden.map(({ path, before }): Trespass => {
    const protectedPath = matchesAny(protect, path);
    const { role } = MODES[attempt.item.mode];
    const undone = conflicts.has(path) ? 'could not be put back' : 'was put back';
    return {
      path,
      what: protectedPath || persons.has(path) ? 'protected_changed' : 'role_violation',
      detail: trespassDetail({ path, undone, protectedPath, role: readOnly ? role : null }),
      keptAs: null,
      ...(before === null ? {} : { replaced: true as const }),
    };
  });
  return { trespass, restored: true };
}
