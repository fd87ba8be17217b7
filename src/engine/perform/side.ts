/**
 * Attempts beside others. Each gets a work tree of the engine's own with what stands in the user's; what it
 * leaves there is set aside at once, in the record of its end, and brought home like any work that was set
 * aside: into the user's work tree, where it is judged and lands, one after another.
 */
import { dirname } from 'node:path';
import {
  type AgentReport,
  type AttemptState,
  type Change,
  type Fact,
  type Item,
  isTerminal,
  type Mark,
  NO_CLAIM,
  pathWord,
  type SideGround,
  type TaskState,
} from '../../core/index.ts';
import { isBookkeeping } from '../changes.ts';
import { append, type House } from '../house.ts';
import type { Ground } from '../ports.ts';
import { keepTexts, takeUp } from './leftovers.ts';
import { leftHistory } from './lost.ts';
import { type Bill, movedBy, putRulesBack, type Ruled } from './rules.ts';
import { sparePersonsBetween } from './spare.ts';

/** Where an attempt begins, and where it runs. */
export interface Begun {
  house: House;
  before: Mark;
}

/** A work tree for each of the items, filled and with the earlier work of its task on top. */
export async function beside(
  house: House,
  waiting: readonly { iteration: number; item: Item }[],
  base: Mark,
): Promise<Begun[]> {
  const begun: Begun[] = [];
  for (const [index, { item }] of waiting.entries()) {
    const id = `${house.sessionId}-${index + 1}`;
    const ground = await house.pool!.fill(id, base);
    await tellLeft(house);
    const view = viewOf(house, { id, base: base.tree }, { ground, mark: base });
    if (item.task !== undefined && house.state.tasks.get(item.task)?.aside) await takeUp(view, item.task);
    begun.push({ house: view, before: await view.ground.snapshot() });
  }
  return begun;
}

/** Says which work trees were not taken again or away, because an agent made a repository in them. */
export async function tellLeft(house: House): Promise<void> {
  const told: Fact[] = (house.pool?.left() ?? []).map(({ root, paths }) => {
    const which = paths.slice(0, 3).map((path) => (path === '.' ? 'it is a repository of its own' : path));
    const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
    const text = `The work tree ${root} is left as it lies: an agent made a repository there with what is nowhere else (${which.join(', ')}${more}). Push it or move it out of there; \`git worktree remove --force --force ${root}\` then takes the rest away.`;
    return { type: 'notice.given', level: 'warning', text };
  });
  if (told.length > 0) await append(house, told);
}

/** The house as this attempt sees it; null where its work tree is gone. */
export async function houseOf(house: House, attempt: AttemptState): Promise<House | null> {
  const { ground: side, before } = attempt;
  if (side === null) return house;
  const ground = (await house.pool?.open(side.id)) ?? null;
  return ground === null ? null : viewOf(house, side, { ground, mark: before });
}

function viewOf(home: House, side: SideGround, { ground, mark }: { ground: Ground; mark: Mark }): House {
  // Its commits are on no branch; what it made of the files counts, on top of where the session stands.
  const at = { head: mark.head, branch: mark.branch };
  const own: Ground = {
    ...ground,
    head: async () => at,
    snapshot: async () => ({ ...at, tree: (await ground.snapshot()).tree }),
    keep: async (_, session, n) => {
      const { head } = await ground.head();
      if (head !== null && head !== at.head) await ground.keep(head, session, n);
    },
  };
  // Nobody but the attempt and the engine knows of that work tree.
  return { ...home, ground: own, fresh: null, side: { ...side, home }, predecessorSeenAt: null };
}

/** What the attempt left, as the facts that set it aside; they belong into the record of its end. */
export async function leftBeside(house: House, attempt: AttemptState, after: Mark): Promise<Fact[]> {
  const task = house.state.tasks.get(attempt.item.task ?? '');
  if (house.side === null || task === undefined || attempt.item.mode === 'TASK_REVIEW') return [];
  await house.ground.keep('', house.sessionId, attempt.iteration);
  // A person's files that it changed as well come along: they are told, and in no commit of ours.
  const changes = (await house.ground.changes(house.side.base, after.tree)).filter(
    ({ path }) => !isBookkeeping(house, path),
  );
  return [
    { type: 'leftovers.set_aside', task: task.def.id, tree: after.tree, changes },
    { type: 'leftovers.cleared', task: task.def.id },
    ...(isTerminal(task.status) ? await leftOver(house, task, changes) : []),
  ];
}

/** A person ended the task while its agent was at work: nothing of that lands any more. */
async function leftOver(house: House, task: TaskState, changes: Change[]): Promise<Fact[]> {
  if (changes.length === 0) return [];
  const kept = Object.values(await keepTexts(house, task.def.id, changes.slice(0, KEPT_MOST)));
  const paths = changes.slice(0, 5).map(({ path }) => path);
  const more = changes.length > paths.length ? ` and ${changes.length - paths.length} more` : '';
  const where = kept.length === 0 ? '' : ` Their text is kept in ${house.sessionDir}/${dirname(kept[0]!)}.`;
  const text = `Task ${task.def.id} was ${task.status === 'done' ? 'called done' : 'ended'} by a person while its agent worked. What that made is in no commit and not in your work tree: ${paths.join(', ')}${more}.${where} \`ralph tasks reopen ${task.def.id}\` takes it up again.`;
  return [{ type: 'notice.given', level: 'warning', text }];
}

/** How many files are copied for a person. */
const KEPT_MOST = 200;

/** An attempt that did away with its own work tree has died of it: there is nothing to look at. */
export async function diedWithout(
  house: House,
  { iteration, report }: { iteration: number; report: AgentReport },
): Promise<void> {
  const attempt = house.state.attempts.get(iteration)!;
  const { side, clock } = house;
  const ruled = await putRulesBack(side!.home, attempt);
  const at = { ...attempt, after: attempt.before };
  const elsewhere = await movedBy(side!.home, at, { moved: ruled.moved, commits: [], cut: true });
  const message = 'the work tree it ran in was removed while it was at work';
  await append(house, [
    {
      type: 'attempt.ended',
      iteration,
      report: {
        ...report,
        ending: 'died',
        finalMessage: '',
        error: { kind: 'crash', message, resetsAt: null },
      },
      claim: NO_CLAIM,
      after: attempt.before,
      changes: [],
      changeCount: 0,
      more: null,
      commits: [],
      rewrote: false,
      trespass: [],
      marked: [],
      durationMs: Math.max(0, clock.now() - attempt.startedAt),
      stoppedFor: null,
      review: null,
      bookkeeping: false,
      ...(elsewhere.moved.length === 0 ? {} : { movedRefs: elsewhere.moved }),
    },
    ...toldOnce(house, { ...ruled, facts: [...elsewhere.facts, ...ruled.facts] }),
  ]);
}

/**
 * What happened to git's own rules while several agents were at work is put back, told once, and held against
 * nobody: which of them did it cannot be told.
 */
export function toldOnce({ state }: House, { trespass, facts }: Ruled): Fact[] {
  const told = trespass.map(
    ({ detail, keptAs }): Fact => ({
      type: 'notice.given',
      level: 'critical',
      text: `While agents worked side by side: ${detail}${keptAs === null ? '' : ` What it held is kept as ${keptAs} in the session's folder.`}`,
    }),
  );
  const plain = facts.map((fact): Fact => {
    if (fact.type !== 'notice.given') return fact;
    return {
      ...fact,
      text: fact.text.replace(/^Since iteration \d+ was begun/, 'While agents worked side by side'),
    };
  });
  return [...told, ...plain].filter(
    (fact) => fact.type !== 'notice.given' || !state.notices.some(({ text }) => text === fact.text),
  );
}

/**
 * Before work is brought home: whether a person has to look first, because the branch lost commits. What changed
 * in the user's work tree meanwhile, by none of the attempts, is theirs.
 */
export async function homeIsWhole(house: House): Promise<boolean> {
  if (await leftHistory(house)) return false;
  const known = house.fresh;
  const now = known ?? (await house.ground.snapshot());
  house.fresh = now;
  if (known !== null) return true;
  const dirty = new Set(house.state.dirty);
  await sparePersonsBetween(house, now);
  const found = [...house.state.dirty].filter((path) => !dirty.has(path));
  if (found.length === 0) return true;
  const more = found.length > 5 ? ` and ${found.length - 5} more` : '';
  const text = `While agents worked in work trees of their own, files in yours changed, by you or by one of them: ${found.slice(0, 5).map(pathWord).join(', ')}${more}. They stay as they are and in no commit of ralph; the gates see them.`;
  await append(house, [{ type: 'notice.given', level: 'warning', text }]);
  return true;
}

/** Notes and logs are every task's: they go where people read them, but for the task list. */
export async function bringNotes({ side, list }: House, { iteration, noted }: AttemptState): Promise<void> {
  const notes = noted.filter(({ path }) => path !== list?.groundPath);
  if (side === null || notes.length === 0) return;
  const { ground, works } = side.home;
  const left = await ground.apply(notes);
  side.home.fresh = null;
  // Two wrote at the same time: the first word stands, the other is kept beside its attempt.
  for (const path of left) {
    const after = notes.find((note) => note.path === path)?.after ?? null;
    const text = after === null ? null : await ground.read(after);
    const name = `note.${path.replace(/[^\w.-]+/g, '_').slice(-120)}`;
    if (text !== null) await works.attemptFile(iteration, name, text);
  }
}

/** An attempt whose work tree somebody removed: what it did is not known. */
export async function loseSide(house: House, { iteration, item }: AttemptState, bill: Bill): Promise<void> {
  const reason = 'the work tree it ran in is gone';
  const text = `Iteration ${iteration}${item.task === undefined ? '' : ` at task ${item.task}`} is lost: ${reason}. It is not charged, and runs again.`;
  await append(house, [
    { type: 'attempt.lost', iteration, reason, ended: [], after: null, changes: [], ...bill },
    { type: 'notice.given', level: 'warning', text },
  ]);
}
