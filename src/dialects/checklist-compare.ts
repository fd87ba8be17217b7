/**
 * What of an agent's edit of a checklist stands. Texts around the tasks, criteria and new open tasks
 * are the agent's to write; markers, the tasks' own lines and their existence are not, so these are put
 * back into the agent's text.
 */
import {
  type ChecklistItem,
  itemEnd,
  markText,
  type ReadChecklist,
  readChecklist,
  statusOfMarker,
} from './checklist.ts';
import { isTicked, type MarkStyle, markEdits } from './checklist-marks.ts';
import { changedTasks } from './story-compare.ts';
import type { TaskFileComparison, TaskFileVerdict, TaskListReading } from './tasklist.ts';
import { applyEdits, type Edit, lineEndAfter, lineEnding } from './text.ts';

type Reading = (list: ReadChecklist, path: string) => TaskListReading;

interface Comparison extends TaskFileComparison {
  verdict: { marked: string[]; violations: { detail: string }[] };
  edits: Edit[];
  style: MarkStyle;
}

/** Compares the two texts; where putting back fails, the whole text is restored. */
export function compareChecklists(input: TaskFileComparison, reading: Reading): TaskFileVerdict {
  const path = input.path ?? 'the task list';
  const old = readChecklist(input.before);
  const restoreAll = (violations: { detail: string }[], marked: string[] = []): TaskFileVerdict => {
    return { reading: reading(old, path), legal: [], marked, violations, restored: input.before };
  };
  if (input.before === input.after) return restoreAll([]);
  const was = old.items;
  const { items: now, style } = readChecklist(input.after);
  if (was.length > 0 && (now.length === 0 || isCutOff(input))) {
    return restoreAll([{ detail: 'the agent left the task list empty or cut off' }]);
  }
  const comparison: Comparison = { ...input, verdict: { marked: [], violations: [] }, edits: [], style };
  const pairs = pairUp(was, now);
  if ([...pairs].some(([before, after]) => before.level > 0 !== after.level > 0)) {
    return restoreAll([{ detail: 'tasks were moved between headings and lists' }]);
  }
  for (const [before, after] of pairs) comparePair(comparison, before, after);
  const paired = new Set([...pairs.values()]);
  for (const item of now) if (!paired.has(item)) openNew(comparison, item);
  putBackDeleted(comparison, was, pairs);
  const restored = applyEdits(input.after, comparison.edits);
  const list = restored === input.before ? old : readChecklist(restored);
  const result = reading(list, path);
  const { violations, marked } = comparison.verdict;
  if (!stands(was, list.items, now.length - pairs.size) || result.kind !== 'list') {
    const detail = 'the edit moved tasks out of the list or made it invalid, so the list was put back';
    return restoreAll([...violations, { detail }], marked);
  }
  const tasks = was.map((item) => item.task);
  return { reading: result, legal: changedTasks(tasks, result.tasks), marked, violations, restored };
}

/** A file that is still being written, or whose writer died: a beginning of the old text. */
function isCutOff({ before, after }: TaskFileComparison): boolean {
  return after.length < before.length && before.startsWith(after);
}

/**
 * Every old task is there again in its own form and says of itself what it said, and what is put back
 * has not swallowed what the agent added.
 */
function stands(was: readonly ChecklistItem[], restored: readonly ChecklistItem[], added: number): boolean {
  const known = new Set(was.map(({ task }) => task.id));
  const found = new Map(restored.map((item) => [item.task.id, item]));
  const extraClosed = restored.some(({ task }) => !known.has(task.id) && task.status !== 'todo');
  const isThere = (old: ChecklistItem): boolean => {
    const now = found.get(old.task.id);
    if (now === undefined || now.task.status !== old.task.status) return false;
    return now.level > 0 === old.level > 0 && now.mark.kind === old.mark.kind && sameTerms(old, now);
  };
  return !extraClosed && restored.length === was.length + added && was.every(isThere);
}

/**
 * Which line was which. Ids tell; a line that lost its id by an edit of its text is the one that begins
 * like it, or the only one left between the same neighbours.
 */
function pairUp(
  was: readonly ChecklistItem[],
  now: readonly ChecklistItem[],
): Map<ChecklistItem, ChecklistItem> {
  const pairs = new Map<ChecklistItem, ChecklistItem>();
  const byId = new Map(now.map((item) => [item.task.id, item]));
  const free = new Set(now);
  for (const old of was) {
    const same = byId.get(old.task.id);
    if (same === undefined || !free.delete(same)) continue;
    pairs.set(old, same);
  }
  const alike = byBeginning(free);
  for (const old of was) {
    if (pairs.has(old)) continue;
    const near = alike.get(beginning(old)) ?? [];
    const like = near.slice(0, MAX_ALIKE).find((item) => beginsAlike(old.task.title, item.task.title));
    if (like === undefined || !free.delete(like)) continue;
    pairs.set(old, like);
    near.splice(near.indexOf(like), 1);
  }
  pairByPlace(pairs, free, was, now);
  return pairs;
}

/** How many lines that begin like a lost one are looked at. */
const MAX_ALIKE = 50;

const beginning = ({ task }: ChecklistItem): string => task.title.slice(0, 4).toLowerCase();

function byBeginning(items: Iterable<ChecklistItem>): Map<string, ChecklistItem[]> {
  const found = new Map<string, ChecklistItem[]>();
  for (const item of items) {
    const list = found.get(beginning(item));
    if (list === undefined) found.set(beginning(item), [item]);
    else list.push(item);
  }
  return found;
}

function beginsAlike(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 4 && long.toLowerCase().startsWith(short.toLowerCase());
}

function pairByPlace(
  pairs: Map<ChecklistItem, ChecklistItem>,
  free: Set<ChecklistItem>,
  was: readonly ChecklistItem[],
  now: readonly ChecklistItem[],
): void {
  const indexOf = new Map(now.map((item, index) => [item, index]));
  for (const [index, old] of was.entries()) {
    if (pairs.has(old)) continue;
    const before = index === 0 ? -1 : (indexOf.get(pairs.get(was[index - 1]!)!) ?? Number.NaN);
    const after = index === was.length - 1 ? now.length : indexOf.get(pairs.get(was[index + 1]!)!);
    const between = now[before + 1];
    if (after !== before + 2 || between === undefined || !free.delete(between)) continue;
    pairs.set(old, between);
  }
}

function comparePair(comparison: Comparison, old: ChecklistItem, now: ChecklistItem): void {
  const { verdict, edits, active, after } = comparison;
  const { id, status } = old.task;
  if (now.task.status !== status) {
    const forward = now.task.status === 'done' || now.task.status === 'review';
    // Another task ticked on the way is a claim too many, told and undone; it spoils nothing else.
    if (forward && status !== 'done') verdict.marked.push(id);
    else if (id !== active) {
      const what = `"${id}" was marked ${spoken(now, after)}`;
      verdict.violations.push({ detail: `${what}, but the attempt’s task was "${active || 'none'}"` });
    }
  } else if (id !== active && tickedOthers(old, now)) {
    const what = `criteria of "${id}" were ticked or opened`;
    verdict.violations.push({ detail: `${what}, but the attempt’s task was "${active || 'none'}"` });
  }
  if (now.task.changes === 'none' && old.task.changes !== 'none') {
    verdict.violations.push({
      detail: `"Changes: none" was added to "${id}": an exemption is a person’s to give`,
    });
  }
  if (!sameTerms(old, now)) edits.push(wholeBlock(comparison, old, now));
  else if (now.task.id === id) edits.push(...putBackMark(comparison, old, now));
  else edits.push(...putBackLine(comparison, old, now));
}

/** The edits that give a task its own line again, and its mark where that stands on another. */
function putBackLine(comparison: Comparison, old: ChecklistItem, now: ChecklistItem): Edit[] {
  const { before, after } = comparison;
  const end = lineEndAt(after, now.start);
  const below = now.mark.kind === old.mark.kind && isBelow(before, old) === isBelow(after, now);
  if (!below) return [wholeBlock(comparison, old, now)];
  const line = { start: now.start, end, text: before.slice(old.start, lineEndAt(before, old.start)) };
  return [line, ...putBackMark(comparison, old, now).filter(({ start }) => start > end)];
}

/** Whether the mark stands below the task's own line. */
function isBelow(text: string, { mark, start }: ChecklistItem): boolean {
  return mark.kind !== 'boxes' && mark.start > lineEndAt(text, start);
}

function wholeBlock({ before, after }: Comparison, old: ChecklistItem, now: ChecklistItem): Edit {
  const end = itemEnd(after, now);
  return { start: now.start, end, text: block(before, old, endsLine(after, end)) };
}

/** The edits that make the mark in the agent's text say what it said. */
function putBackMark(comparison: Comparison, old: ChecklistItem, now: ChecklistItem): Edit[] {
  const { before, after, active } = comparison;
  const [from, to] = [now.mark, old.mark];
  if (from.kind === 'box' && to.kind === 'box') {
    const same = statusOfMarker(markText(after, now)) === statusOfMarker(markText(before, old));
    if ((from.struck === undefined) === (to.struck === undefined))
      return same ? [] : [{ start: from.start, end: from.end, text: markText(before, old) }];
  }
  if (from.kind === 'word' && to.kind === 'word') {
    const text = markText(before, old);
    return text === markText(after, now) ? [] : [{ start: from.start, end: from.end, text }];
  }
  if (from.kind === 'boxes' && to.kind === 'boxes' && from.boxes.length === to.boxes.length) {
    // Ticking some criteria of its own task is the agent's way of keeping count.
    if (now.task.status === old.task.status && old.task.id === active) return [];
    const tick = { ...from.tick, text: before.slice(to.tick.start, to.tick.end) };
    const boxes = from.boxes.map(({ start, end }, index) => ({ start, end, text: to.boxes[index]!.inner }));
    return [tick, ...boxes].filter((edit) => after.slice(edit.start, edit.end) !== edit.text);
  }
  if (from.kind === to.kind && now.task.status === old.task.status) return [];
  return [wholeBlock(comparison, old, now)];
}

/** Whether some criteria of a heading were ticked or opened, with the rest of them as they were. */
function tickedOthers({ mark: old }: ChecklistItem, { mark: now }: ChecklistItem): boolean {
  if (old.kind !== 'boxes' || now.kind !== 'boxes' || old.boxes.length !== now.boxes.length) return false;
  return old.boxes.some((box, index) => isTicked(box) !== isTicked(now.boxes[index]!));
}

/** What an agent may not rewrite of a task, beside its marker and its line. */
function sameTerms({ task: old }: ChecklistItem, { task: now }: ChecklistItem): boolean {
  return (
    old.changes === now.changes &&
    old.sequential === now.sequential &&
    old.dependsOn.join('\n') === now.dependsOn.join('\n')
  );
}

/** The raw lines of an item with all that is nested in it. */
function block(text: string, item: ChecklistItem, closed: boolean): string {
  const raw = text.slice(item.start, itemEnd(text, item));
  if (closed === endsLine(raw, raw.length)) return raw;
  return closed ? `${raw}${lineEnding(text)}` : raw.replace(/(?:\r\n?|\n)$/, '');
}

function spoken(item: ChecklistItem, text: string): string {
  if (item.mark.kind === 'box') return `[${markText(text, item)}]`;
  return item.mark.kind === 'word' ? `"${item.mark.text}"` : item.task.status;
}

function openNew({ verdict, edits, after, style }: Comparison, item: ChecklistItem): void {
  const { task, mark } = item;
  if (task.status === 'todo') return;
  verdict.violations.push({
    detail: `new task "${task.id}" was added already marked ${spoken(item, after)}`,
  });
  edits.push(...markEdits(mark, task.status, 'todo', style));
}

/** A deleted task comes back with what was nested in it, behind the task that stood before it. */
function putBackDeleted(
  comparison: Comparison,
  was: readonly ChecklistItem[],
  pairs: ReadonlyMap<ChecklistItem, ChecklistItem>,
): void {
  const { verdict, edits, before, after } = comparison;
  const newline = lineEnding(after);
  let previous: ChecklistItem | undefined;
  for (const old of was) {
    const pair = pairs.get(old);
    if (pair !== undefined) {
      previous = pair;
      continue;
    }
    verdict.violations.push({ detail: `task "${old.task.id}" was deleted` });
    const raw = block(before, old, false);
    const at = previous === undefined ? firstStart(pairs, after) : itemEnd(after, previous);
    const fresh = at === 0 || endsLine(after, at);
    edits.push({ start: at, end: at, text: fresh ? `${raw}${newline}` : `${newline}${raw}` });
  }
}

function firstStart(pairs: ReadonlyMap<ChecklistItem, ChecklistItem>, after: string): number {
  const starts = [...pairs.values()].map((item) => item.start);
  return starts.length === 0 ? after.length : Math.min(...starts);
}

function lineEndAt(text: string, from: number): number {
  let end = lineEndAfter(text, from);
  while (end > from && endsLine(text, end)) end -= 1;
  return end;
}

function endsLine(text: string, at: number): boolean {
  return text[at - 1] === '\n' || text[at - 1] === '\r';
}
