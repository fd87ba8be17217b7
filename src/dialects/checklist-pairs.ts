/**
 * Which task of the agent's text was which of the old one. Ids tell. A line without an id of its own is
 * known by its title, and whoever edits that has still the same task where the words say so and nothing
 * that was asked for is gone; what was written in a task's place is another task.
 */
import type { ChecklistItem } from './checklist.ts';
import { isReworded, keepsCriteria } from './reworded.ts';

/** By the old task, the one it is now; a task that is gone has none. */
export type Pairs = Map<ChecklistItem, ChecklistItem>;

/** Pairs each old task with at most one that is there now. */
export function pairUp(was: readonly ChecklistItem[], now: readonly ChecklistItem[]): Pairs {
  const pairs: Pairs = new Map();
  const free = new Set(now);
  const pair = (old: ChecklistItem, item: ChecklistItem | undefined): void => {
    if (item !== undefined && free.delete(item)) pairs.set(old, item);
  };
  const byId = new Map(now.map((item) => [item.task.id, item]));
  for (const old of was) pair(old, byId.get(old.task.id));
  const byTitle = new Map([...free].map((item) => [item.task.title, item]));
  for (const old of was) {
    const same = pairs.has(old) ? undefined : byTitle.get(old.task.title);
    if (same !== undefined && !isOther(old, same)) pair(old, same);
  }
  pairInPlace({ was, now, free, pairs, pair });
  const closed = byBeginning([...free].filter(({ task }) => task.status !== 'todo'));
  for (const old of was) {
    if (pairs.has(old)) continue;
    const near = (closed.get(beginning(old)) ?? []).filter((item) => free.has(item));
    // An open line elsewhere is a new task; one that was ticked may have been moved to what is finished.
    pair(
      old,
      near.slice(0, MAX_LOOKED_AT).find((item) => isSame(old, item)),
    );
  }
  return pairs;
}

/** How many lines are looked at for one that is lost. */
const MAX_LOOKED_AT = 50;

interface Pairing {
  was: readonly ChecklistItem[];
  now: readonly ChecklistItem[];
  free: ReadonlySet<ChecklistItem>;
  pairs: Pairs;
  pair: (old: ChecklistItem, item: ChecklistItem | undefined) => void;
}

/** A line that was reworded where it stands, between what stood before and behind it. */
function pairInPlace({ was, now, free, pairs, pair }: Pairing): void {
  const indexOf = new Map(now.map((item, index) => [item, index]));
  const behind: number[] = [];
  let next = now.length;
  for (let index = was.length - 1; index >= 0; index--) {
    behind[index] = next;
    const item = pairs.get(was[index]!);
    if (item !== undefined) next = indexOf.get(item)!;
  }
  let last = -1;
  for (const [index, old] of was.entries()) {
    if (!pairs.has(old)) {
      const end = Math.min(behind[index]!, last + 1 + MAX_LOOKED_AT);
      const between = now.slice(last + 1, Math.max(last + 1, end));
      pair(
        old,
        between.find((item) => free.has(item) && isSame(old, item)),
      );
    }
    const item = pairs.get(old);
    if (item !== undefined) last = indexOf.get(item)!;
  }
}

/** Two names that the lines themselves give are two tasks, whatever their titles say. */
function isOther(old: ChecklistItem, now: ChecklistItem): boolean {
  return old.named !== null && now.named !== null && old.named !== now.named;
}

function isSame(old: ChecklistItem, now: ChecklistItem): boolean {
  if (isOther(old, now) || !isReworded(old.task.title, now.task.title)) return false;
  return keepsCriteria(old.task.acceptance, now.task.acceptance);
}

const beginning = ({ task }: ChecklistItem): string => task.title.slice(0, 4).toLowerCase();

function byBeginning(items: readonly ChecklistItem[]): Map<string, ChecklistItem[]> {
  const found = new Map<string, ChecklistItem[]>();
  for (const item of items) {
    const list = found.get(beginning(item));
    if (list === undefined) found.set(beginning(item), [item]);
    else list.push(item);
  }
  return found;
}
