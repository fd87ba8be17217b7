/**
 * Task lists in Markdown: `PRD.md`, `fix_plan.md`, `IMPLEMENTATION_PLAN.md` and others. A task is an
 * outermost checkbox, a heading with criteria below it, or a row of a task table; what stands below a
 * task is its criteria, its description and what it says of itself ("Depends on: …").
 */
import type { TaskStatus } from '../core/index.ts';
import type { ChecklistItem } from './checklist-draft.ts';
import { foundInstead, isStepPlan } from './checklist-found.ts';
import { nearBox } from './checklist-near.ts';
import { linesOf } from './checklist-omitted.ts';
import { type Checklist, ChecklistReader } from './checklist-reader.ts';
import { type Block, type HiddenBox, walkBlocks } from './markdown-blocks.ts';
import { type Edit, lineEndAfter } from './text.ts';

export type { ChecklistItem } from './checklist-draft.ts';
export { statusOfMarker } from './checklist-marks.ts';
export type { Checklist } from './checklist-reader.ts';

/** A checklist, and where it has no task what it has instead. */
export interface ReadChecklist extends Checklist {
  instead: string;
  /** Those of the warnings that only name what is left out on purpose. */
  leftOut: string[];
}

/** Reads the text; never throws. */
export function readChecklist(text: string): ReadChecklist {
  const blocks: Block[] = [];
  const { warnings, hidden } = walkBlocks(text, (block) => blocks.push(block));
  const read = readBlocks(blocks);
  const hid = hiddenTold(hidden);
  const near = read.near === null ? [] : [read.near];
  const found = [foundInstead(blocks, read.omitted), ...near, ...hid, ...warnings];
  const instead = read.items.length > 0 ? '' : found.join('; ');
  const leftOut = [...(read.omitted === null ? [] : [read.omitted]), ...hid];
  return {
    ...read,
    instead,
    warnings: [...read.warnings, ...hid, ...warnings],
    leftOut,
    unread: [...read.unread, ...warnings],
  };
}

/** Checkboxes that Markdown does not show as such, once for each kind of place. */
function hiddenTold(hidden: readonly HiddenBox[]): string[] {
  const places = new Map<string, number[]>();
  for (const { where, line } of hidden) places.set(where, [...(places.get(where) ?? []), line]);
  return [...places].map(([where, lines]) => {
    const what =
      lines.length === 1
        ? '1 check box is left out, because it stands'
        : `${lines.length} check boxes are left out, because they stand`;
    return `${linesOf(lines)}: ${what} in ${where}`;
  });
}

/** The text with what looks like a checkbox made one; no edits where there is nothing to make. */
export function nearBoxEdits(text: string): Edit[] {
  const edits: Edit[] = [];
  const { near } = readChecklist(text);
  if (near === null) return edits;
  walkBlocks(text, (block) => {
    const edit = nearBox(block);
    if (edit !== null) edits.push(edit);
  });
  return edits;
}

/** A file without any checkbox may be a list by other signs, or a plan of numbered steps. */
function readBlocks(blocks: readonly Block[]): Checklist {
  const boxes = new ChecklistReader(blocks, 'boxes').read();
  if (boxes.items.length > 0) return boxes;
  const signs = new ChecklistReader(blocks, 'signs').read();
  if (signs.items.length > 0) return signs;
  if (!isStepPlan(blocks)) return boxes;
  const steps = new ChecklistReader(blocks, 'numbers').read();
  if (steps.items.length === 0) return boxes;
  const note = `line ${steps.items[0]!.line}: there is no check box in the file, so its ${steps.items.length} numbered steps are the tasks; a finished one gets ✅ behind it`;
  return { ...steps, warnings: [note, ...steps.warnings] };
}

/** What the task's mark says now, as the text has it: to compare, and to put back. */
export function markText(text: string, { mark }: ChecklistItem): string {
  if (mark.kind !== 'boxes') return text.slice(mark.start, mark.end);
  return [...mark.boxes.map(({ inner }) => inner), text.slice(mark.tick.start, mark.tick.end)].join('|');
}

/** The offset behind the task with all that is nested in it: where the next one may stand. */
export function itemEnd(text: string, item: ChecklistItem): number {
  if (item.level > 0) return Math.min(item.end, text.length);
  const indent = columns(text, item.start);
  let end = lineEndAfter(text, item.start);
  for (let at = end; at < text.length; ) {
    const next = lineEndAfter(text, at);
    const blank = text.slice(at, next).trim() === '';
    if (!blank && columns(text, at) <= indent) break;
    if (!blank) end = next;
    at = next;
  }
  return end;
}

function columns(text: string, from: number): number {
  let column = 0;
  for (let at = from; ; at++) {
    if (text[at] === ' ') column += 1;
    else if (text[at] === '\t') column += 4 - (column % 4);
    else return column;
  }
}

/** The statuses of a list by id. */
export function statusesOf(items: readonly ChecklistItem[]): Map<string, TaskStatus> {
  return new Map(items.map(({ task }) => [task.id, task.status]));
}
