/**
 * Task lists in Markdown: `PRD.md`, `fix_plan.md`, `IMPLEMENTATION_PLAN.md` and others. A task is an
 * outermost checkbox, a heading with criteria below it, or a row of a task table; what stands below a
 * task is its criteria, its description and what it says of itself ("Depends on: …").
 */
import type { TaskStatus } from '../core/index.ts';
import { type Checklist, type ChecklistItem, ChecklistReader } from './checklist-reader.ts';
import { type Block, walkBlocks } from './markdown-blocks.ts';

export { statusOfMarker } from './checklist-marks.ts';
export type { Checklist, ChecklistItem } from './checklist-reader.ts';

/** Reads the text; never throws. */
export function readChecklist(text: string): Checklist {
  const blocks: Block[] = [];
  const { warnings } = walkBlocks(text, (block) => blocks.push(block));
  const read = new ChecklistReader(blocks).read();
  return { ...read, warnings: [...read.warnings, ...warnings] };
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
  let end = lineEndOffset(text, item.start);
  for (let at = end; at < text.length; ) {
    const next = lineEndOffset(text, at);
    const blank = text.slice(at, next).trim() === '';
    if (!blank && columns(text, at) <= indent) break;
    if (!blank) end = next;
    at = next;
  }
  return end;
}

function lineEndOffset(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at + 1;
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
