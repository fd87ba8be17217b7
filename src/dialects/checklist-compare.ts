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
import { type Pairs, pairUp } from './checklist-pairs.ts';
import { renumbered } from './reworded.ts';
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
  const anew = renumbered(
    was.map(({ task }) => task),
    now.map(({ task }) => task),
  );
  if (anew !== null) return restoreAll([anew]);
  const comparison: Comparison = { ...input, verdict: { marked: [], violations: [] }, edits: [], style };
  const pairs = pairUp(was, now);
  if ([...pairs].some(([before, after]) => before.level > 0 !== after.level > 0)) {
    return restoreAll([{ detail: 'tasks were moved between headings and lists' }]);
  }
  for (const [before, after] of pairs) comparePair(comparison, before, after);
  const paired = new Set([...pairs.values()]);
  for (const item of now) if (!paired.has(item)) openNew(comparison, item);
  putBackDeleted(comparison, { was, now, pairs });
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
  const extraClosed = restored.some(
    ({ task }) => !known.has(task.id) && (task.status !== 'todo' || task.changes === 'none'),
  );
  const isThere = (old: ChecklistItem): boolean => {
    const now = found.get(old.task.id);
    if (now === undefined || now.task.status !== old.task.status) return false;
    return now.level > 0 === old.level > 0 && now.mark.kind === old.mark.kind && sameTerms(old, now);
  };
  return !extraClosed && restored.length === was.length + added && was.every(isThere);
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
  const { task, mark, exempt } = item;
  // As of any new task: an exemption is a person's to give.
  if (exempt !== undefined) edits.push({ ...exempt, text: 'expected' });
  if (task.status === 'todo') return;
  verdict.violations.push({
    detail: `new task "${task.id}" was added already marked ${spoken(item, after)}`,
  });
  edits.push(...markEdits(mark, task.status, 'todo', style));
}

/** A deleted task comes back with what was nested in it, behind the task that stood before it. */
function putBackDeleted(
  comparison: Comparison,
  { was, now, pairs }: { was: readonly ChecklistItem[]; now: readonly ChecklistItem[]; pairs: Pairs },
): void {
  const { verdict, edits, before, after } = comparison;
  const newline = lineEnding(after);
  let previous: ChecklistItem | undefined;
  let run: ChecklistItem[] = [];
  const putBack = (): void => {
    if (run.length === 0) return;
    const at =
      previous === undefined
        ? firstStart(after, now, new Set(pairs.values()))
        : itemEnd(after, pairs.get(previous)!);
    const raws = run.map((old) => block(before, old, false));
    const text = raws.join(newline);
    const start = leftBelow(comparison, { previous, run, at });
    const fresh = start === 0 || endsLine(after, start);
    edits.push({ start, end: at, text: fresh ? `${text}${newline}` : `${newline}${text}` });
    run = [];
  };
  for (const old of was) {
    if (!pairs.has(old)) {
      verdict.violations.push({ detail: `task "${old.task.id}" was deleted` });
      run.push(old);
      continue;
    }
    putBack();
    previous = old;
  }
  putBack();
}

/**
 * Where the lines begin that were nested in deleted tasks and were left behind, as criteria of the task
 * above them now; `at` where there are none.
 */
function leftBelow(
  { before, after, edits }: Comparison,
  { previous, run, at }: { previous: ChecklistItem | undefined; run: readonly ChecklistItem[]; at: number },
): number {
  const above = previous === undefined ? before.slice(0, run[0]!.start) : block(before, previous, true);
  const had = above.trimEnd();
  let start = at;
  for (const old of [...run].reverse()) {
    const nested = before.slice(lineEndAfter(before, old.start), itemEnd(before, old));
    if (nested.trim() === '' || !after.slice(0, start).endsWith(nested) || had.endsWith(nested.trimEnd()))
      break;
    start -= nested.length;
  }
  return edits.some((edit) => edit.end > start && edit.start < at) ? at : start;
}

/** In front of the first old task that is still there, and of the new ones right above it. */
function firstStart(text: string, now: readonly ChecklistItem[], kept: ReadonlySet<ChecklistItem>): number {
  const first = now.findIndex((item) => kept.has(item));
  let start = (now[first] ?? now[0])?.start ?? text.length;
  for (let index = first - 1; index >= 0 && itemEnd(text, now[index]!) === start; index--) {
    start = now[index]!.start;
  }
  return start;
}

function lineEndAt(text: string, from: number): number {
  let end = lineEndAfter(text, from);
  while (end > from && endsLine(text, end)) end -= 1;
  return end;
}

function endsLine(text: string, at: number): boolean {
  return text[at - 1] === '\n' || text[at - 1] === '\r';
}
