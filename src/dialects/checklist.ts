/**
 * Task lists in Markdown: `PRD.md`, `fix_plan.md`, `IMPLEMENTATION_PLAN.md` and others. A task is an
 * outermost checkbox, a heading with criteria below it, or a row of a task table; what stands below a
 * task is its criteria, its description and what it says of itself ("Depends on: …").
 */
import type { TaskStatus } from '../core/index.ts';
import type { ChecklistItem } from './checklist-draft.ts';
import { foundInstead, isStepPlan } from './checklist-found.ts';
import { type Checklist, ChecklistReader } from './checklist-reader.ts';
import { type Block, walkBlocks } from './markdown-blocks.ts';
import { lineEndAfter } from './text.ts';

export type { ChecklistItem } from './checklist-draft.ts';
export { statusOfMarker } from './checklist-marks.ts';
export type { Checklist } from './checklist-reader.ts';

/** A checklist, and where it has no task what it has instead. */
export interface ReadChecklist extends Checklist {
  instead: string;
}

/** Reads the text; never throws. */
export function readChecklist(text: string): ReadChecklist {
  const blocks: Block[] = [];
  const { warnings } = walkBlocks(text, (block) => blocks.push(block));
  const read = readBlocks(blocks);
  const instead = read.items.length > 0 ? '' : [foundInstead(blocks, read.omitted), ...warnings].join('; ');
  return { ...read, instead, warnings: [...read.warnings, ...warnings] };
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
