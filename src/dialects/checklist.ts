/**
 * Task lists in Markdown: `PRD.md`, `fix_plan.md`, `IMPLEMENTATION_PLAN.md` and others. The outermost
 * checkboxes are the tasks, what stands indented below one is its criteria, and marking changes the
 * one character between the brackets.
 */
import type { TaskDef, TaskStatus } from '../core/index.ts';
import { MARKERS } from '../core/index.ts';
import {
  beginSections,
  enterHeading,
  holdsTasks,
  isLabel,
  isLegendLine,
  passLine,
  type Sections,
} from './checklist-sections.ts';
import { type ChecklistTitle, readTitle } from './checklist-title.ts';
import { type Block, walkBlocks } from './markdown-blocks.ts';
import { idsInText, priorityOfWord } from './story-fields.ts';

/** One task line: the task, and where its line and its marker stand. */
export interface ChecklistItem {
  task: TaskDef;
  idKind: ChecklistTitle['idKind'];
  line: number;
  /** Offset of the line. */
  start: number;
  /** Offsets of what stands between the brackets. */
  boxStart: number;
  boxEnd: number;
}

export interface Checklist {
  items: ChecklistItem[];
  /** The first heading. */
  project: string;
  warnings: string[];
}

type ItemBlock = Block & { kind: 'item' };

interface Reader {
  items: ChecklistItem[];
  project: string | null;
  warnings: string[];
  sections: Sections;
  /** Per depth, the task that an item there belongs to; null below an item that is none. */
  owners: (ChecklistItem | null)[];
  ids: Map<string, number>;
}

/** Reads the text; never throws. */
export function readChecklist(text: string): Checklist {
  const reader: Reader = {
    items: [],
    project: null,
    warnings: [],
    sections: beginSections(),
    owners: [],
    ids: new Map(),
  };
  const { warnings } = walkBlocks(text, (block) => take(reader, block));
  resolveDependencies(reader.items);
  return { items: reader.items, project: reader.project ?? '', warnings: [...reader.warnings, ...warnings] };
}

function take(reader: Reader, block: Block): void {
  switch (block.kind) {
    case 'heading':
      reader.project ??= block.text;
      reader.owners.length = 0;
      return enterHeading(reader.sections, block.level, block.text);
    case 'text': {
      const owner = reader.owners[block.depth - 1];
      if (block.depth === 0) passLine(reader.sections, block.text);
      else if (owner) takeDetail(owner.task, block.text, 'description');
      return;
    }
    case 'item':
      return takeItem(reader, block);
  }
}

function takeItem(reader: Reader, block: ItemBlock): void {
  const { owners } = reader;
  const owner = block.depth === 0 ? undefined : owners[block.depth - 1];
  owners.length = block.depth;
  if (owner) {
    takeDetail(owner.task, block.text, 'acceptance');
    owners.push(owner);
    return;
  }
  const item = block.box === null || !holdsTasks(reader.sections) ? null : newItem(reader, block, block.box);
  owners.push(item);
  if (item !== null) reader.items.push(item);
}

function newItem(reader: Reader, block: ItemBlock, box: NonNullable<ItemBlock['box']>): ChecklistItem | null {
  const status = statusOfMarker(box.inner);
  const { line } = block;
  if (status === null) {
    if (/^\s*[A-Za-z]\s*$/.test(box.inner)) {
      reader.warnings.push(`line ${line}: [${box.inner}] is no marker, so the line is not a task`);
    }
    return null;
  }
  if (status === 'unknown') {
    reader.warnings.push(`line ${line}: the marker [${box.inner}] is unknown; the task counts as open`);
  }
  if (block.text === '') {
    reader.warnings.push(`line ${line}: a checkbox without a text is not a task`);
    return null;
  }
  if (isLegendLine(block.text)) return null;
  const said = readTitle(block.text);
  return {
    task: {
      id: said.idKind === 'own' ? said.id : numbered(reader, said.id),
      title: said.title,
      description: '',
      acceptance: [],
      priority: said.priority ?? reader.sections.priority?.value ?? 0,
      order: reader.items.length,
      dependsOn: said.dependsOn,
      status: status === 'unknown' ? 'todo' : status,
      files: [],
      changes: 'expected',
    },
    idKind: said.idKind,
    line,
    start: block.start,
    boxStart: box.start,
    boxEnd: box.end,
  };
}

/** Two lines with one text are two tasks: the second is told apart by its number. */
function numbered({ ids }: Reader, id: string): string {
  const count = (ids.get(id) ?? 0) + 1;
  ids.set(id, count);
  return count === 1 ? id : `${id}-${count}`;
}

const STATUS_OF_MARKER = new Map<string, TaskStatus>(
  Object.entries(MARKERS).map(([status, marker]) => [
    marker.slice(1, -1).trim().toLowerCase(),
    status as TaskStatus,
  ]),
);

/** What stands between brackets as a status; `unknown` for a sign nobody knows; null: no checkbox. */
export function statusOfMarker(inner: string): TaskStatus | 'unknown' | null {
  const sign = inner.trim().toLowerCase();
  const known = STATUS_OF_MARKER.get(sign);
  if (known !== undefined) return known;
  // One sign, which may be an emoji of several code points; words and numbers are links or footnotes.
  return /^[^\p{L}\p{N}\s]{1,8}$/u.test(sign) && [...sign.replace(/[\ufe0f\u200d]/g, '')].length <= 2
    ? 'unknown'
    : null;
}

const PROPERTY =
  /^\**(depends[ _-]?on|dependencies|deps|blocked by|priority|files?|target files|changes|type)\**\s*:\**\s*(.+)$/i;

function takeDetail(task: TaskDef, text: string, where: 'acceptance' | 'description'): void {
  const property = PROPERTY.exec(text);
  if (property !== null && takeProperty(task, property[1]!.toLowerCase(), property[2]!)) return;
  if (text === '' || (where === 'acceptance' && isLabel(text) && text.length < 40)) return;
  if (where === 'acceptance') task.acceptance.push(text);
  else task.description = task.description === '' ? text : `${task.description}\n${text}`;
}

function takeProperty(task: TaskDef, name: string, value: string): boolean {
  if (/^dep|^blocked/.test(name)) task.dependsOn.push(...idsInText(value));
  else if (/file/.test(name)) task.files.push(...idsInText(value));
  else if (name === 'priority') {
    const priority = priorityOfWord(value.replace(/[*`]/g, ''));
    if (priority === null) return false;
    task.priority = priority;
  } else if (name === 'changes') {
    if (value.trim().toLowerCase() !== 'none') return false;
    task.changes = 'none';
  } else {
    if (value.trim().toLowerCase() !== 'sequential') return false;
    task.sequential = true;
  }
  return true;
}

/** References by another spelling of an id (`Task 1`, other case) or by a whole title. */
function resolveDependencies(items: readonly ChecklistItem[]): void {
  const ids = new Set(items.map(({ task }) => task.id));
  const odd = items.filter(({ task }) => task.dependsOn.some((id) => !ids.has(id)));
  if (odd.length === 0) return;
  const bySpelling = new Map<string, string>();
  for (const { task } of items) bySpelling.set(task.title.toLowerCase(), task.id);
  for (const { task } of items) bySpelling.set(task.id.toLowerCase(), task.id);
  const resolve = (wanted: string): string => {
    if (ids.has(wanted)) return wanted;
    const plain = wanted.toLowerCase().replace(/^#/, '');
    const named = /^(?:task|story)\s+#?(\d[\d.]*)$/.exec(plain);
    return bySpelling.get(plain) ?? (named && bySpelling.get(`task-${named[1]}`)) ?? wanted;
  };
  for (const { task } of odd) task.dependsOn = [...new Set(task.dependsOn.map(resolve))];
}

/** The offset behind the item with all that is nested in it: where the next sibling may stand. */
export function itemEnd(text: string, item: ChecklistItem): number {
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
