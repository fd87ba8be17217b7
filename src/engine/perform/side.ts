/**
 * Attempts beside others. Each gets a work tree of the engine's own with what stands in the user's; what it
 * leaves there is set aside at once, in the record of its end, and brought home like any work that was set
 * aside: into the user's work tree, where it is judged and lands, one after another.
 */
import type { AttemptState, Fact, Item, Mark, SideGround } from '../../core/index.ts';
import { isBookkeeping } from '../changes.ts';
import { append, type House } from '../house.ts';
import type { Ground } from '../ports.ts';
import { takeUp } from './leftovers.ts';

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
    const view = viewOf(house, { id, base: base.tree }, { ground, mark: base });
    if (item.task !== undefined && house.state.tasks.get(item.task)?.aside) await takeUp(view, item.task);
    begun.push({ house: view, before: await view.ground.snapshot() });
  }
  return begun;
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
  const earlier = new Set(task.aside?.changes.map(({ path }) => path));
  const changes = (await house.ground.changes(house.side.base, after.tree)).filter(
    ({ path }) => !isBookkeeping(house, path) && (earlier.has(path) || !house.state.dirty.has(path)),
  );
  return [
    { type: 'leftovers.set_aside', task: task.def.id, tree: after.tree, changes },
    { type: 'leftovers.cleared', task: task.def.id },
  ];
}

/** Notes and logs are every task's: they go where people read them, but for the task list. */
export async function bringNotes({ side, list }: House, { noted }: AttemptState): Promise<void> {
  const notes = noted.filter(({ path }) => path !== list?.groundPath);
  if (side === null || notes.length === 0) return;
  await side.home.ground.apply(notes);
  side.home.fresh = null;
}

/** An attempt whose work tree somebody removed: what it did is not known. */
export async function loseSide(house: House, { iteration, item }: AttemptState): Promise<void> {
  const reason = 'the work tree it ran in is gone';
  const text = `Iteration ${iteration}${item.task === undefined ? '' : ` at task ${item.task}`} is lost: ${reason}. It is not charged, and runs again.`;
  await append(house, [
    { type: 'attempt.lost', iteration, reason, ended: [], after: null, changes: [] },
    { type: 'notice.given', level: 'warning', text },
  ]);
}
