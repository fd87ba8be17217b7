/**
 * From the blocks of a Markdown text to its tasks, in one pass. At each block the reader knows the
 * section it stands in, the heading that is a task, if any, and at each depth of a list the task an
 * item there belongs to.
 */
import type { TaskDef, TaskStatus } from '../core/index.ts';
import { nameAll } from './checklist-ids.ts';
import {
  isTicked,
  type Mark,
  type MarkStyle,
  readLegendLine,
  readSign,
  readStatusWord,
  type Said,
} from './checklist-marks.ts';
import { type Need, resolveNeeds } from './checklist-needs.ts';
import { type HeadingTask, readHeading, taskHeadings } from './checklist-outline.ts';
import {
  beginSections,
  enterHeading,
  holdsTasks,
  isLabel,
  isLegendLine,
  passLine,
} from './checklist-sections.ts';
import { readTable, type TableRow } from './checklist-table.ts';
import { type ChecklistTitle, readTitle } from './checklist-title.ts';
import {
  isAcceptanceTitle,
  isLegendTitle,
  isNoTaskTitle,
  nameOf,
  type PropertyName,
  priorityOf,
  propertyOf,
  type SaidStatus,
} from './checklist-words.ts';
import type { Block } from './markdown-blocks.ts';
import { idsInText } from './story-fields.ts';

/** One task, and where its line and its mark stand. */
export interface ChecklistItem {
  task: TaskDef;
  idKind: ChecklistTitle['idKind'];
  line: number;
  /** Offset of the line. */
  start: number;
  /** Level of the heading that is the task; 0 for a line of a list or a table. */
  level: number;
  /** Where the heading's section ends: at the next heading of its level or above. */
  end: number;
  mark: Mark;
}

export interface Checklist {
  items: ChecklistItem[];
  /** The first heading. */
  project: string;
  style: MarkStyle;
  warnings: string[];
}

type ItemBlock = Block & { kind: 'item' };
type TextBlock = Block & { kind: 'text' };
type HeadingBlock = Block & { kind: 'heading' };

/** What a label such as "Acceptance criteria:" makes of the list below it. */
type Topic = 'acceptance' | 'apart' | PropertyName | null;

/** A task while its lines are read. */
interface Draft extends ChecklistItem {
  said: Said;
  /** Present where a heading is the task. */
  heading?: HeadingTask;
  /** The last criterion or line of the description, where the next line goes on with it. */
  last: 'acceptance' | 'description' | null;
  needs: string[];
  /** A status said beside the mark, which the mark overrules. */
  aside: { said: Said; line: number } | null;
}

export class ChecklistReader {
  private readonly blocks: readonly Block[];
  private readonly drafts: Draft[] = [];
  private readonly warnings: string[] = [];
  private readonly sections = beginSections();
  private readonly legend = new Map<string, { sign: string; status: SaidStatus }>();
  private readonly headings: ReadonlyMap<number, HeadingTask>;
  private project: string | null = null;
  /** The heading that is the task here. */
  private story: Draft | null = null;
  /** What the sub-heading or the last label of the story is about. */
  private topic: Topic = null;
  /** Per depth, the task that an item there belongs to; null below an item that is none. */
  private owners: (Draft | null)[] = [];
  /** Per depth, what a label among the items is about. */
  private topics: Topic[] = [];

  constructor(blocks: readonly Block[]) {
    this.blocks = blocks;
    this.headings = taskHeadings(blocks);
  }

  read(): Checklist {
    this.readLegend();
    for (let index = 0; index < this.blocks.length; index++) {
      const block = this.blocks[index]!;
      if (block.kind === 'heading') this.takeHeading(block, index);
      else if (block.kind === 'item') this.takeItem(block);
      else index += this.takeText(block, index);
    }
    for (const draft of this.drafts) this.settle(draft);
    nameAll(this.drafts);
    const tasks = this.drafts.map(({ task }) => task);
    const warnings = this.warnings.concat(resolveNeeds(tasks, this.drafts.flatMap(needsOf)));
    const style = { legend: this.legend, words: wordsOf(this.drafts) };
    return { items: this.drafts, project: this.project ?? '', style, warnings };
  }

  /** Legends explain signs for the whole file, wherever they stand. */
  private readLegend(): void {
    let below: number | null = null;
    for (const block of this.blocks) {
      if (block.kind === 'heading') {
        if (below !== null && block.level <= below) below = null;
        if (isLegendTitle(block.text)) below = block.level;
        continue;
      }
      const box = block.kind === 'item' ? block.box : null;
      if (below === null && !LEGEND.test(block.text) && (box === null || !isLegendLine(block.text))) continue;
      readLegendLine(box === null ? block.text : `[${box.inner}] ${block.text}`, this.legend);
    }
  }

  private takeHeading(block: HeadingBlock, index: number): void {
    this.project ??= readHeading(block.text).title;
    this.owners = [];
    this.topics = [];
    this.topic = null;
    if (this.story !== null && block.level <= this.story.level) {
      this.story.end = block.lineStart;
      this.story = null;
    }
    const heading = this.headings.get(index);
    const { story } = this;
    if (heading === undefined && story !== null) {
      this.topic = topicOf(block.text);
      return;
    }
    enterHeading(this.sections, block.level, heading === undefined ? block.text : '');
    if (heading === undefined) return;
    const text = readHeading(block.text);
    const at = (offsets: { start: number; end: number }) => ({
      start: block.start + offsets.start,
      end: block.start + offsets.end,
    });
    const tick = text.tick === null ? { start: block.end, end: block.end } : at(text.tick);
    const mark: Mark =
      text.box === null ? { kind: 'boxes', boxes: [], tick } : { kind: 'box', ...at(text.box) };
    const inner = text.box === null ? '' : block.text.slice(text.box.start, text.box.end);
    const said = (text.box === null ? null : readSign(inner, this.legend)) ?? {
      status: text.tick ? 'done' : 'todo',
    };
    const draft = this.draft(text.title, {
      line: block.line,
      start: block.lineStart,
      level: block.level,
      mark,
      said,
    });
    draft.heading = heading;
    this.story = draft;
  }

  /** Returns how many further blocks it took. */
  private takeText(block: TextBlock, index: number): number {
    if (block.depth > 0) {
      const owner = this.owners[block.depth - 1];
      if (!owner) return 0;
      if (block.continues && owner.last === 'acceptance' && block.depth > 1 + this.depthOf(owner))
        goOn(owner.task, block.text);
      else this.detail(owner, block, 'description');
      return 0;
    }
    this.owners = [];
    this.topics = [];
    const table = this.tableAt(index);
    if (table !== null) {
      if (this.story === null && holdsTasks(this.sections)) for (const row of table.rows) this.takeRow(row);
      return table.blocks - 1;
    }
    if (this.story === null) passLine(this.sections, block.text);
    else if (isLabel(block.text)) this.topic = topicOf(block.text);
    else if (block.continues && this.story.last === 'acceptance') goOn(this.story.task, block.text);
    else {
      if (this.topic !== 'apart' && !block.continues) this.topic = null;
      this.detail(this.story, block, 'description');
    }
    return 0;
  }

  /** Depth of the task's own item; -1 for a heading, whose items begin at depth 0. */
  private depthOf(owner: Draft): number {
    return owner.heading === undefined ? this.owners.indexOf(owner) : -1;
  }

  private tableAt(index: number): { rows: TableRow[]; blocks: number } | null {
    const first = this.blocks[index] as TextBlock;
    if (first.continues || !first.text.includes('|')) return null;
    const lines = [first];
    for (let at = index + 1; at < this.blocks.length; at++) {
      const next = this.blocks[at]!;
      if (next.kind !== 'text' || !next.continues || next.depth > 0) break;
      lines.push(next);
    }
    const rows = readTable(lines);
    return rows === null ? null : { rows, blocks: lines.length };
  }

  private takeRow(row: TableRow): void {
    const { status, statusAt, statusText, title } = row;
    const start = statusAt + status.start;
    const end = statusAt + status.end;
    const text = plainWord(statusText.slice(status.start, status.end));
    const mark: Mark = /^\[[^[\]]{0,4}\]$/.test(text)
      ? { kind: 'box', start: start + 1, end: end - 1 }
      : { kind: 'word', start, end, text, was: status.was };
    const named = row.id === null ? title : `[${row.id}] ${title}`;
    const draft = this.draft(named, { line: row.line, start: row.at, level: 0, mark, said: status.said });
    if (row.id !== null) Object.assign(draft.task, { id: row.id });
    if (row.id !== null) Object.assign(draft, { idKind: 'own' });
    draft.task.priority = (row.priority === null ? null : priorityOf(row.priority)) ?? draft.task.priority;
    if (row.dependsOn !== null) draft.needs.push(row.dependsOn);
  }

  private takeItem(block: ItemBlock): void {
    const { owners, topics, story } = this;
    const owner = block.depth === 0 ? undefined : owners[block.depth - 1];
    const topic = block.depth === 0 ? this.topic : (topics[block.depth - 1] ?? null);
    owners.length = block.depth;
    topics.length = block.depth;
    topics.push(isLabel(block.text) && (owner || story) ? topicOf(block.text) : topic);
    if (owner ?? story) {
      this.takeNested((owner ?? story)!, block, topic);
      owners.push((owner ?? story)!);
      return;
    }
    const item =
      block.box === null || !holdsTasks(this.sections) ? null : this.newItem(block, block.box.inner);
    owners.push(item);
  }

  /** An item below a task: a criterion, unless it says something else. */
  private takeNested(owner: Draft, block: ItemBlock, topic: Topic): void {
    const { heading, mark } = owner;
    if (block.box !== null && heading !== undefined) {
      if (topic === 'apart') return;
      if (mark.kind === 'boxes' && block.text !== '' && readSign(block.box.inner) !== null)
        mark.boxes.push(block.box);
      return this.detail(owner, block, 'acceptance');
    }
    if (topic === 'dependsOn' || topic === 'files') {
      if (isLabel(block.text)) return;
      if (topic === 'dependsOn') owner.needs.push(block.text);
      else owner.task.files.push(...idsInText(block.text));
      return;
    }
    const aside =
      heading !== undefined &&
      topic !== 'acceptance' &&
      (heading.boxed || heading.announced || topic === 'apart');
    this.detail(
      owner,
      block,
      aside || (topic === 'apart' && heading === undefined) ? 'description' : 'acceptance',
    );
  }

  private newItem(block: ItemBlock, inner: string): Draft | null {
    const said = readSign(inner, this.legend);
    const { line } = block;
    if (said === null) {
      if (/^\s*[A-Za-z]\s*$/.test(inner))
        this.warnings.push(`line ${line}: [${inner}] is no marker, so the line is not a task`);
      return null;
    }
    if (said.note === 'unknown') {
      this.warnings.push(`line ${line}: the marker [${inner}] is unknown; the task counts as open`);
    }
    if (block.text === '') {
      this.warnings.push(`line ${line}: a checkbox without a text is not a task`);
      return null;
    }
    if (isLegendLine(block.text)) return null;
    const { start, end } = block.box!;
    return this.draft(block.text, {
      line,
      start: block.start,
      level: 0,
      mark: { kind: 'box', start, end },
      said,
    });
  }

  private draft(text: string, place: Pick<Draft, 'line' | 'start' | 'level' | 'mark' | 'said'>): Draft {
    const title = readTitle(text);
    const task: TaskDef = {
      id: title.id,
      title: title.title,
      description: '',
      acceptance: [],
      priority: title.priority ?? this.sections.priority?.value ?? 0,
      order: this.drafts.length,
      dependsOn: [],
      status: 'todo',
      files: [],
      changes: 'expected',
    };
    const { line, start, level, mark, said } = place;
    const draft: Draft = {
      line,
      start,
      level,
      end: Number.POSITIVE_INFINITY,
      mark,
      said,
      task,
      idKind: title.idKind,
      last: null,
      needs: title.dependsOn,
      aside: null,
    };
    this.drafts.push(draft);
    return draft;
  }

  private detail(owner: Draft, block: TextBlock | ItemBlock, where: 'acceptance' | 'description'): void {
    const { text, line, at } = block;
    const property = propertyOf(text);
    if (property !== null && this.takeProperty(owner, property, { line, at: at + property.at })) {
      owner.last = null;
      return;
    }
    const bare = block.kind === 'item' && block.box === null;
    if (text === '' || (bare && isLabel(text) && text.length < 40)) return;
    owner.last = where;
    if (where === 'acceptance') owner.task.acceptance.push(text);
    else {
      const said = owner.heading === undefined ? text : text.replace(DESCRIPTION, '');
      owner.task.description = owner.task.description === '' ? said : `${owner.task.description}\n${said}`;
    }
  }

  private takeProperty(
    owner: Draft,
    { name, value }: { name: PropertyName; value: string },
    place: { line: number; at: number },
  ): boolean {
    const { task } = owner;
    switch (name) {
      case 'dependsOn':
        owner.needs.push(value);
        return true;
      case 'files':
        task.files.push(...idsInText(value));
        return true;
      case 'priority': {
        const priority = priorityOf(value.replace(/[*`]/g, ''));
        if (priority !== null) task.priority = priority;
        return priority !== null;
      }
      case 'changes':
        if (value.trim().toLowerCase() === 'none') task.changes = 'none';
        return task.changes === 'none';
      case 'type':
        if (value.trim().toLowerCase() === 'sequential') task.sequential = true;
        return task.sequential === true;
      case 'blocked':
        return false;
      case 'status':
        return takeStatus(owner, value, place);
    }
  }

  /** What the mark says, once all lines of the task are read. */
  private settle(draft: Draft): void {
    const { task, mark, aside, line } = draft;
    let { said } = draft;
    if (
      mark.kind === 'boxes' &&
      said.status !== 'done' &&
      mark.boxes.length > 0 &&
      mark.boxes.every(isTicked)
    ) {
      said = { status: 'done' };
    }
    task.status = said.status;
    const blocked = said.note === 'blocked' || aside?.said.note === 'blocked';
    if (blocked) this.warnings.push(`line ${line}: "${task.id}" is marked blocked; it counts as open`);
    const open =
      mark.kind === 'boxes' && said.status === 'done' ? mark.boxes.filter((box) => !isTicked(box)).length : 0;
    if (open > 0) {
      this.warnings.push(
        `line ${line}: "${task.id}" is ticked in its heading, yet ${open} of its criteria are not; the heading counts`,
      );
    }
    if (aside !== null && (aside.said.status === 'done') !== (said.status === 'done')) {
      const word = said.status === 'done' ? 'done' : 'open';
      this.warnings.push(
        `line ${aside.line}: the status there says otherwise, but the checkbox of "${task.id}" counts: it is ${word}`,
      );
    }
  }
}

const LEGEND =
  /^[*_`]*(?:status |marker )?(?:legend|key|legende|légende|leyenda|图例|凡例)[^:：]{0,10}[:：]/i;

const DESCRIPTION =
  /^(?:\*\*|__)?(?:description|beschreibung|descripción|描述|説明)(?:\*\*|__)?\s?[:：](?:\*\*|__)?\s*/i;

/** A heading without a checkbox of its own takes its status line for its mark. */
function takeStatus(owner: Draft, value: string, { line, at }: { line: number; at: number }): boolean {
  const word = readStatusWord(value);
  if (word === null) return false;
  const { mark } = owner;
  if (owner.heading === undefined || mark.kind !== 'boxes' || mark.tick.end > mark.tick.start) {
    owner.aside ??= { said: word.said, line };
    return true;
  }
  const start = at + word.start;
  const end = at + word.end;
  const text = plainWord(value.slice(word.start, word.end));
  owner.said = word.said;
  owner.mark = /^\[[^[\]]{0,4}\]$/.test(text)
    ? { kind: 'box', start: start + 1, end: end - 1 }
    : { kind: 'word', start, end, text, was: word.was };
  return true;
}

/** The word without the comment that remembers the one before it. */
function plainWord(text: string): string {
  return text.replace(/\s*<!-- was: .*$/, '');
}

function topicOf(text: string): Topic {
  if (isAcceptanceTitle(text)) return 'acceptance';
  return nameOf(text) ?? (isNoTaskTitle(text) ? 'apart' : null);
}

/** Goes on with the last criterion. */
function goOn({ acceptance }: TaskDef, text: string): void {
  acceptance[acceptance.length - 1] = `${acceptance.at(-1)} ${text}`;
}

function needsOf({ task, needs, line }: Draft): Need[] {
  return needs.map((said) => ({ task, line, said }));
}

/** The words of the list's marks by status, in file order. */
function wordsOf(items: readonly ChecklistItem[]): Map<TaskStatus, string[]> {
  const words = new Map<TaskStatus, string[]>();
  for (const { mark, task } of items) {
    if (mark.kind !== 'word') continue;
    const list = words.get(task.status);
    if (list === undefined) words.set(task.status, [mark.text]);
    else list.push(mark.text);
  }
  return words;
}
