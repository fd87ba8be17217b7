/**
 * From the blocks of a Markdown text to its tasks, in one pass. At each block the reader knows the
 * section it stands in, the heading that is a task, if any, and at each depth of a list the task an
 * item there belongs to.
 */
import {
  addDetail,
  type ChecklistItem,
  type Draft,
  goesOn,
  goOn,
  needsOf,
  settle,
  type Topic,
  topicOf,
  wordMark,
  wordsOf,
} from './checklist-draft.ts';
import { nameAll } from './checklist-ids.ts';
import { isOpenSign, type ListForm, readBoxWord, readSignItem } from './checklist-items.ts';
import {
  type Mark,
  type MarkStyle,
  readLegendLine,
  readSign,
  type Said,
  stateOfEmoji,
} from './checklist-marks.ts';
import { nearBox, nearTold } from './checklist-near.ts';
import { resolveNeeds } from './checklist-needs.ts';
import { linesOf, Omitted } from './checklist-omitted.ts';
import { type HeadingTask, readHeading, taskHeadings } from './checklist-outline.ts';
import { Parts } from './checklist-parts.ts';
import {
  beginSections,
  enterHeading,
  exclusionOf,
  holdsTasks,
  isLabel,
  isLegendLine,
  passLine,
} from './checklist-sections.ts';
import { type TableRow, tableAt } from './checklist-table.ts';
import { withoutTags } from './checklist-tags.ts';
import { readTitle } from './checklist-title.ts';
import type { Block } from './markdown-blocks.ts';
import { priorityOf } from './property-words.ts';
import { isLegendTitle } from './section-words.ts';
import type { SaidStatus } from './state-words.ts';
import { idsInText } from './story-fields.ts';

export interface Checklist {
  items: ChecklistItem[];
  /** The first heading. */
  project: string;
  style: MarkStyle;
  warnings: string[];
  /** What is left out because of the title it stands under; null where nothing is. */
  omitted: string | null;
  /** What looks like a checkbox and is none; null where nothing does. */
  near: string | null;
  /** Those of the warnings that name lines which somebody may have meant as tasks. */
  unread: string[];
}

type ItemBlock = Block & { kind: 'item' };
type TextBlock = Block & { kind: 'text' };
type HeadingBlock = Block & { kind: 'heading' };

/** A mark with what it says, where it stands. */
interface Place extends Pick<Draft, 'line' | 'start' | 'level' | 'mark' | 'said'> {}

/** Reads one text once. `form`: what stands for a checkbox in it. */
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

  private readonly form: ListForm;
  private readonly parts = new Parts();
  private readonly omitted = new Omitted();
  /** Lines of bullets that look open by a sign, in a file that has checkboxes. */
  private readonly signs: number[] = [];

  /** Lines that look like checkboxes and are none. */
  private readonly near: number[] = [];
  private readonly noMarkers: string[] = [];

  constructor(blocks: readonly Block[], form: ListForm) {
    this.blocks = blocks;
    this.form = form;
    this.headings = taskHeadings(blocks);
  }

  read(): Checklist {
    this.readLegend();
    for (let index = 0; index < this.blocks.length; index++) {
      const block = this.blocks[index]!;
      this.lookNear(block);
      if (block.kind === 'heading') this.takeHeading(block, index);
      else if (block.kind === 'item') this.takeItem(block);
      else index += this.takeText(block, index);
    }
    const counted = nameAll(this.drafts);
    for (const draft of this.drafts) this.warnings.push(...settle(draft));
    const tasks = this.drafts.map(({ task }) => task);
    const omitted = this.omitted.sentence();
    const near = nearTold(this.near);
    const unread = [...this.noMarkers, ...this.signsTold(), ...(near === null ? [] : [near])];
    const warnings = [
      ...this.warnings,
      ...counted.told,
      ...resolveNeeds(tasks, this.drafts.flatMap(needsOf), counted),
      ...unread,
      ...(omitted === null ? [] : [omitted]),
    ];
    const style = { legend: this.legend, words: wordsOf(this.drafts) };
    return { items: this.drafts, project: this.project ?? '', style, warnings, omitted, near, unread };
  }

  /** An item within a task is a criterion however it is spelled; a paragraph line would have begun an item. */
  private lookNear(block: Block): void {
    if (block.kind === 'heading' || !holdsTasks(this.sections)) return;
    if (block.kind === 'item' && block.depth > 0 && this.owners[block.depth - 1]) return;
    if (nearBox(block) !== null) this.near.push(block.line);
  }

  private signsTold(): string[] {
    if (this.signs.length === 0 || this.drafts.length === 0) return [];
    const what = this.signs.length === 1 ? 'a bullet begins' : `${this.signs.length} bullets begin`;
    return [
      `${linesOf(this.signs)}: ${what} with a sign such as ⬜ instead of a check box, so no task is read there; write "- [ ] Title"`,
    ];
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
      story.inside = true;
      this.topic = topicOf(block.text);
      return;
    }
    const { level, line } = block;
    enterHeading(this.sections, { level, line, text: heading === undefined ? block.text : '' });
    this.parts.enter(level, heading === undefined ? block.text : null);
    if (heading === undefined) return;
    const { title, said, mark } = this.headingMark(block);
    const draft = this.draft(title, { line, start: block.lineStart, level, mark, said });
    draft.heading = heading;
    this.story = draft;
  }

  private headingMark(block: HeadingBlock): { title: string; said: Said; mark: Mark } {
    const { title, box, tag } = readHeading(block.text);
    const at = ({ start, end }: { start: number; end: number }) => ({
      start: block.start + start,
      end: block.start + end,
    });
    if (box !== null) {
      const said = readSign(block.text.slice(box.start, box.end), this.legend) ?? { status: 'todo' };
      return { title, said, mark: { kind: 'box', ...at(box) } };
    }
    if (tag?.kind === 'strike') return { title, said: tag.said, mark: { kind: 'strike', ...at(tag) } };
    if (tag?.kind === 'word') {
      const { text, was } = tag;
      const mark: Mark = { kind: 'word', ...at(tag), text, was };
      // ✅ beside a title is a tick, which is taken away to open it again.
      if (stateOfEmoji(text) !== null) mark.fleeting = true;
      return { title, said: tag.said, mark };
    }
    const tick = tag === null ? { start: block.end, end: block.end } : at(tag);
    return { title, said: tag?.said ?? { status: 'todo' }, mark: { kind: 'boxes', boxes: [], tick } };
  }

  /** Returns how many further blocks it took. */
  private takeText(block: TextBlock, index: number): number {
    if (block.depth > 0) {
      const owner = this.owners[block.depth - 1];
      if (!owner) return 0;
      if (goesOn(owner, block) && block.depth > 1 + this.depthOf(owner)) goOn(owner.task, block.text);
      else addDetail(owner, block, 'description');
      return 0;
    }
    this.owners = [];
    this.topics = [];
    const table = tableAt(this.blocks, index);
    if (table !== null) {
      const taken = this.story === null && holdsTasks(this.sections);
      if (taken) for (const row of table.rows) this.takeRow(row);
      return table.blocks - 1;
    }
    if (this.story === null) passLine(this.sections, block);
    else if (isLabel(block.text)) this.topic = topicOf(block.text);
    else if (goesOn(this.story, block)) goOn(this.story.task, block.text);
    else {
      if (this.topic !== 'apart' && !block.continues) this.topic = null;
      addDetail(this.story, block, 'description');
    }
    return 0;
  }

  /** Depth of the task's own item; -1 for a heading, whose items begin at depth 0. */
  private depthOf(owner: Draft): number {
    return owner.heading === undefined ? this.owners.indexOf(owner) : -1;
  }

  private takeRow(row: TableRow): void {
    const { status, title, said } = row;
    const mark = wordMark(status, row.statusAt);
    const named = row.id === null ? title : `[${row.id}] ${title}`;
    const draft = this.draft(named, { line: row.line, start: row.at, level: 0, mark, said });
    if (row.id !== null) Object.assign(draft.task, { id: row.id });
    if (row.id !== null) Object.assign(draft, { idKind: 'own', named: row.id });
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
    owners.push(this.outermost(block));
  }

  /** The task that an item outside of any task is; null for one that is none. */
  private outermost(block: ItemBlock): Draft | null {
    const exclusion = exclusionOf(this.sections);
    if (exclusion !== null) {
      if (block.box !== null && block.text !== '' && readSign(block.box.inner, this.legend) !== null)
        this.omitted.add(exclusion);
      return null;
    }
    if (block.box !== null) return this.newItem(block, block.box.inner);
    if (this.form === 'boxes') {
      if (isOpenSign(block.text)) this.signs.push(block.line);
      return null;
    }
    const found = readSignItem(block, this.form);
    if (found === null) return null;
    const { title, said, mark } = found;
    return this.draft(title, { line: block.line, start: block.start, level: 0, mark, said });
  }

  /** An item below a task: a criterion, unless it says something else. */
  private takeNested(owner: Draft, block: ItemBlock, topic: Topic): void {
    const { heading, mark } = owner;
    if (block.box !== null && heading !== undefined) {
      if (topic === 'apart') return;
      if (mark.kind === 'boxes' && block.text !== '' && readSign(block.box.inner) !== null)
        mark.boxes.push(block.box);
      return addDetail(owner, block, 'acceptance');
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
    addDetail(
      owner,
      block,
      aside || (topic === 'apart' && heading === undefined) ? 'description' : 'acceptance',
    );
  }

  private newItem(block: ItemBlock, inner: string): Draft | null {
    const { line } = block;
    const box = block.box!;
    const word = readBoxWord(box, this.legend);
    if (word === null) {
      if (/^\s*[A-Za-z]\s*$/.test(inner))
        this.noMarkers.push(`line ${line}: [${inner}] is no marker, so the line is not a task`);
      return null;
    }
    const { said, mark } = word;
    if (said.note === 'unknown') {
      this.warnings.push(`line ${line}: the marker [${inner}] is unknown; the task counts as open`);
    }
    if (block.text === '') {
      this.warnings.push(`line ${line}: a checkbox without a text is not a task`);
      return null;
    }
    if (isLegendLine(block.text)) return null;
    const { title, tag } = withoutTags(block.text);
    const draft = this.draft(title, { line, start: block.start, level: 0, mark, said });
    if (tag?.kind === 'strike' && said.status === 'todo' && mark.kind === 'box') {
      mark.struck = { start: block.at + tag.start, end: block.at + tag.end };
      draft.said = { status: 'cancelled' };
    } else if (tag !== null) draft.aside = { said: tag.said, line };
    return draft;
  }

  private draft(text: string, { line, start, level, mark, said }: Place): Draft {
    const { id, idKind, title, priority, dependsOn, perhaps, counted } = readTitle(text);
    const draft: Draft = {
      line,
      start,
      level,
      end: Number.POSITIVE_INFINITY,
      mark,
      said,
      task: {
        id,
        title,
        description: '',
        acceptance: [],
        priority: priority ?? this.sections.priority?.value ?? 0,
        order: this.drafts.length,
        dependsOn: [],
        status: 'todo',
        files: [],
        changes: 'expected',
      },
      idKind,
      named: idKind === 'own' ? id : null,
      last: null,
      needs: dependsOn,
      perhaps,
      counted,
      parts: counted ? this.parts.path() : NO_PARTS,
      inside: false,
      aside: null,
    };
    this.drafts.push(draft);
    return draft;
  }
}

const LEGEND =
  /^[*_`]*(?:status |marker )?(?:legend|key|legende|légende|leyenda|图例|凡例)[^:：]{0,10}[:：]/i;

const NO_PARTS: readonly string[] = [];
