/**
 * Which headings are tasks. `### US-001: Log in` with criteria below it is one task, and its checkboxes
 * are its criteria; `## Phase 1` or `## M1: Basics` only groups the checkboxes below it. A heading
 * counts as a task where its id or what stands below it says so, and never when tasks stand below it.
 */

import { readSign, readStatusWord } from './checklist-marks.ts';
import { isLabel } from './checklist-sections.ts';
import { isTableHead } from './checklist-table.ts';
import { type TitleTag, withoutTags } from './checklist-tags.ts';
import { readTitle } from './checklist-title.ts';
import type { Block } from './markdown-blocks.ts';
import { propertyOf } from './property-words.ts';
import { isAcceptanceTitle, isNoTaskTitle } from './section-words.ts';

type Heading = Block & { kind: 'heading' };

/** A heading that is a task. */
export interface HeadingTask {
  /** True where checkboxes stand below it: those are its criteria. */
  boxed: boolean;
  /** True where criteria are announced by a title of their own. */
  announced: boolean;
}

/** What a heading says about how far it is, and the text without that. */
export interface HeadingText {
  title: string;
  /** `[x]` at either end: offsets of the sign in the text. */
  box: { start: number; end: number } | null;
  /** Any other state beside the title. */
  tag: TitleTag | null;
}

/** Reads the marks off a heading. */
export function readHeading(text: string): HeadingText {
  const lead = /^\[([^[\]]{0,4})\]\s+(?=\S)/.exec(text);
  const tail = /\s\[([ xX/PpFfCc])\]$/.exec(text);
  const found = lead ?? tail;
  if (found !== null && readSign(found[1]!) !== null) {
    const start = found.index + found[0].indexOf('[') + 1;
    const title = lead === found ? text.slice(found[0].length) : text.slice(0, found.index);
    const box = { start, end: start + found[1]!.length };
    return { title: withoutTags(title.trim()).title, box, tag: null };
  }
  return { ...withoutTags(text), box: null };
}

/**
 * How surely a heading is a task: by an id of its own, by a number, as a counted part of a plan (which
 * says how far it is itself, or only groups), or by nothing in it.
 */
type Kind = 'strong' | 'weak' | 'group' | 'none';

interface Candidate {
  index: number;
  level: number;
  kind: Kind;
  marked: boolean;
  status: boolean;
  announced: boolean;
  boxes: number;
  /** Checkboxes that no title calls criteria, and task tables. */
  plain: number;
  /** A checkbox below it names an id of its own: the tasks are there. */
  named: boolean;
  /** A heading below it is a task. */
  parent: boolean;
  /** The heading it stands below, if any. */
  outer: Candidate | null;
}

/** The headings of the text that are tasks, by the index of their block. */
export function taskHeadings(blocks: readonly Block[]): Map<number, HeadingTask> {
  const scan = new Scan();
  for (const [index, block] of blocks.entries()) scan.take(block, index);
  return scan.finish();
}

/** One pass over the blocks, with the headings that are open at each place. */
class Scan {
  private readonly open: Candidate[] = [];
  private readonly found: Candidate[] = [];
  /** Parts and plain headings without checkboxes of their own: tasks if others beside them are. */
  private readonly others: Candidate[] = [];
  /** Level of the heading below which nothing counts; null outside of such. */
  private excluded: number | null = null;
  private label: 'acceptance' | 'other' | null = null;
  /** Depth of the outermost checkbox that is open; null outside of one. */
  private within: number | null = null;
  /** Checkboxes below no heading that may be a task. */
  private loose = 0;

  take(block: Block, index: number): void {
    if (block.kind === 'heading') return this.heading(block, index);
    if (block.kind === 'text') return this.line(block.text, block.depth, block.continues);
    if (this.within !== null && block.depth > this.within) return;
    this.within = null;
    if (block.box === null) return this.line(block.text, block.depth, false);
    this.within = block.depth;
    this.box(block.text);
  }

  private heading({ level, text }: Heading, index: number): void {
    this.label = null;
    this.within = null;
    if (this.excluded !== null && level <= this.excluded) this.excluded = null;
    while (this.open.length > 0 && this.open.at(-1)!.level >= level) this.close(this.open.pop()!);
    const acceptance = isAcceptanceTitle(text);
    if (acceptance && this.open.length > 0) {
      this.open.at(-1)!.announced = true;
      this.label = 'acceptance';
    } else if (this.excluded === null && isNoTaskTitle(text)) this.excluded = level;
    if (this.excluded !== null || acceptance) return;
    const outer = this.open.at(-1) ?? null;
    this.open.push({ ...candidateOf(text, level, index), outer });
  }

  private line(text: string, depth: number, continues: boolean): void {
    if (continues && depth > 0) return;
    const last = this.open.at(-1);
    const property = depth <= 1 ? propertyOf(text) : null;
    // A task that has an id stays one, whatever word its state is.
    const strong = last?.kind === 'strong';
    if (last && property?.name === 'status' && (strong || readStatusWord(property.value) !== null))
      last.status = true;
    if (last && property?.name === 'acceptance') last.announced = true;
    if (depth === 0 && this.excluded === null && isTableHead(text))
      for (const one of this.open) one.plain += 1;
    if (!isLabel(text)) return;
    this.label = isAcceptanceTitle(text) ? 'acceptance' : isNoTaskTitle(text) ? 'other' : null;
    if (last && this.label === 'acceptance') last.announced = true;
  }

  private box(text: string): void {
    if (this.excluded !== null || this.label === 'other') return;
    const named = this.label !== 'acceptance' && this.open.some(isNumbered) && isNamed(text);
    for (const candidate of this.open) {
      candidate.boxes += 1;
      if (this.label !== 'acceptance') candidate.plain += 1;
      candidate.named ||= named;
    }
    if (!this.open.some(mayBeTask) && this.label === null) this.loose += 1;
  }

  private close(candidate: Candidate): void {
    const { kind, boxes, plain, parent } = candidate;
    const bare = kind === 'strong' && boxes === 0 && !parent;
    if (isTask(candidate) || bare) {
      // What stands below a task is its own; a bare one is a task where the plan has no others.
      for (const outer of this.open) {
        outer.parent = true;
        outer.boxes -= boxes;
        outer.plain -= plain;
      }
      this.found.push(candidate);
    } else if (mayBeTask(candidate)) this.loose += boxes;
    else if (plain === 0 && boxes === 0) this.others.push(candidate);
  }

  finish(): Map<number, HeadingTask> {
    while (this.open.length > 0) this.close(this.open.pop()!);
    // A plan that has some tasks as headings has all of them: none may vanish for a stray checkbox elsewhere.
    const bare =
      this.loose === 0 || this.found.some((candidate) => candidate.kind === 'strong' && isTask(candidate));
    const tasks = this.found.filter((candidate) => isTask(candidate) || bare);
    tasks.push(...this.beside(tasks));
    return new Map(tasks.map(({ index, boxes, announced }) => [index, { boxed: boxes > 0, announced }]));
  }

  /** Headings that are tasks because those beside them are: several say a state, or one stage of many does not. */
  private beside(tasks: readonly Candidate[]): Candidate[] {
    const taken = new Set(tasks);
    const stages = new Set(tasks.filter(({ kind }) => kind === 'group').map(beside));
    const states = new Map<string, number>();
    for (const one of this.others) {
      if (one.kind === 'none' && one.status) states.set(beside(one), (states.get(beside(one)) ?? 0) + 1);
    }
    const more = this.others.filter((one) => {
      if (one.parent || within(one, taken)) return false;
      return one.kind === 'group' ? stages.has(beside(one)) : one.status && states.get(beside(one))! > 1;
    });
    const all = new Set(more);
    // The deepest are the tasks; what stands around them groups them.
    const around = new Set(more.map(({ outer }) => outer));
    return more.filter((one) => !around.has(one) && !within(one, all));
  }
}

/** Names the place of headings that stand beside each other. */
function beside({ level, outer }: Candidate): string {
  return `${outer?.index ?? -1} ${level}`;
}

function within({ outer }: Candidate, tasks: ReadonlySet<Candidate>): boolean {
  for (let at = outer; at !== null; at = at.outer) if (tasks.has(at)) return true;
  return false;
}

/** Whether a checkbox has an id of its own, and is neither a numbered criterion nor a step. */
function isNamed(text: string): boolean {
  const { idKind, id } = readTitle(text);
  return idKind === 'own' && !/^(?:ac|step)[-_. ]?\d/i.test(id);
}

function isNumbered({ kind }: Candidate): boolean {
  return kind === 'strong' || kind === 'weak';
}

function mayBeTask({ kind, marked, status, announced }: Candidate): boolean {
  if (kind === 'strong' || marked) return true;
  if (kind === 'group') return status;
  return kind === 'weak' ? announced || status : announced && status;
}

function isTask(candidate: Candidate): boolean {
  const { parent, named, boxes, marked, status, kind, plain } = candidate;
  if (parent || named || !mayBeTask(candidate)) return false;
  if (kind !== 'strong' && !marked && plain > 0) return false;
  return boxes > 0 || marked || status;
}

/** Headings that count parts of a plan. */
const GROUP =
  /^(?:(?:phase|milestone|sprint|epic|step|part|section|week|day|iteration|stage|chapter|etappe|étape|fase|meilenstein)(?!\p{L})|阶段|階段|フェーズ|المرحلة)/iu;
const STRONG =
  /^(?:us|user-story|story|task|tsk|issue|bug|fix|req|ticket|t|aufgabe)[-_]?\d|^[A-Z]{2,10}-\d+$/i;

function candidateOf(text: string, level: number, index: number): Omit<Candidate, 'outer'> {
  const { title, box, tag } = readHeading(text);
  const said = readTitle(title);
  const strong = said.idKind === 'own' && STRONG.test(said.id);
  const plain = said.idKind === 'made' ? 'none' : strong ? 'strong' : 'weak';
  const kind = GROUP.test(title) ? 'group' : plain;
  const marked = box !== null || (tag?.kind === 'tick' && kind === 'strong');
  const counts = { boxes: 0, plain: 0, named: false, parent: false };
  return { index, level, kind, marked, status: tag !== null, announced: false, ...counts };
}
