/**
 * One task of a Markdown plan while its lines are read: what each line adds to it, and what its mark
 * says once all of them are known.
 */
import type { TaskDef, TaskStatus } from '../core/index.ts';
import {
  isTicked,
  type Mark,
  readStatusWord,
  type Said,
  type WordPlace,
  wordPlace,
} from './checklist-marks.ts';
import type { Need } from './checklist-needs.ts';
import type { HeadingTask } from './checklist-outline.ts';
import { isLabel } from './checklist-sections.ts';
import type { ChecklistTitle } from './checklist-title.ts';
import type { Block } from './markdown-blocks.ts';
import { nameOf, type Property, type PropertyName, priorityOf, propertyOf } from './property-words.ts';
import { isAcceptanceTitle, isNoTaskTitle } from './section-words.ts';
import { idsInText } from './story-fields.ts';

/** One task, and where its line and its mark stand. */
export interface ChecklistItem {
  task: TaskDef;
  idKind: ChecklistTitle['idKind'];
  /** The id that the line itself gives; null where the title is all it is known by. */
  named: string | null;
  line: number;
  /** Offset of the line. */
  start: number;
  /** Level of the heading that is the task; 0 for a line of a list or a table. */
  level: number;
  /** Where the heading's section ends: at the next heading of its level or above. */
  end: number;
  mark: Mark;
  /** Where the word `none` of its "Changes: none" stands; absent where it says no such thing. */
  exempt?: { start: number; end: number };
}

/** What a label such as "Acceptance criteria:" makes of the list below it. */
export type Topic = 'acceptance' | 'apart' | PropertyName | null;

/** A task while its lines are read. */
export interface Draft extends ChecklistItem {
  said: Said;
  /** Present where a heading is the task. */
  heading?: HeadingTask;
  /** The last criterion or line of the description, where the next line goes on with it. */
  last: 'acceptance' | 'description' | null;
  needs: string[];
  /** Said in words that may mean something else: it counts where it names tasks. */
  perhaps: ChecklistTitle['perhaps'];
  counted: boolean;
  /** The headings it stands under, from the outermost, as parts of ids. */
  parts: readonly string[];
  /** A heading below the one that is the task was passed: what stands there may be about a part of it. */
  inside: boolean;
  /** A status said beside the mark, which the mark overrules. */
  aside: { said: Said; line: number } | null;
}

/** A line below a task, or a label, as what the list behind it is about. */
export function topicOf(text: string): Topic {
  if (isAcceptanceTitle(text)) return 'acceptance';
  return nameOf(text) ?? (isNoTaskTitle(text) ? 'apart' : null);
}

/** Adds a line of the task's own to it: what it says of the task, else a criterion or a line of description. */
export function addDetail(
  owner: Draft,
  block: Block & { kind: 'item' | 'text' },
  where: 'acceptance' | 'description',
): void {
  const { text, line, at } = block;
  const property = propertyOf(text);
  if (property !== null && takeProperty(owner, property, { line, at: at + property.at })) return;
  const bare = block.kind === 'item' && block.box === null;
  if (text === '' || (bare && isLabel(text) && text.length < 40)) return;
  owner.last = where;
  if (where === 'acceptance') owner.task.acceptance.push(text);
  else {
    const said = owner.heading === undefined ? text : text.replace(DESCRIPTION, '');
    owner.task.description = owner.task.description === '' ? said : `${owner.task.description}\n${said}`;
  }
}

const DESCRIPTION =
  /^(?:\*\*|__)?(?:description|beschreibung|descripción|描述|説明)(?:\*\*|__)?\s?[:：](?:\*\*|__)?\s*/i;

interface Place {
  line: number;
  at: number;
}

function takeProperty(owner: Draft, property: Property, place: Place): boolean {
  const { name, value } = property;
  const taken =
    name === 'acceptance' ? takeCriterion(owner, property) : setProperty(owner, name, { value, ...place });
  if (taken) owner.last = name === 'acceptance' ? 'acceptance' : null;
  return taken;
}

/** "Success criteria: …" in one line is a criterion; of "Tests: …" the name says what it is. */
function takeCriterion({ task }: Draft, { label, value }: Property): boolean {
  task.acceptance.push(isAcceptanceTitle(label) ? value : `${label}: ${value}`);
  return true;
}

function setProperty(
  owner: Draft,
  name: PropertyName,
  { value, ...place }: Place & { value: string },
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
      if (value.trim().toLowerCase() === 'none') {
        task.changes = 'none';
        owner.exempt = { start: place.at, end: place.at + value.trimEnd().length };
      }
      return task.changes === 'none';
    case 'type':
      if (value.trim().toLowerCase() === 'sequential') task.sequential = true;
      return task.sequential === true;
    case 'status':
      return takeStatus(owner, value, place);
    case 'blocked':
    case 'acceptance':
      return false;
  }
}

/** A heading without a checkbox of its own takes its status line for its mark. */
function takeStatus(owner: Draft, value: string, { line, at }: Place): boolean {
  const word = readStatusWord(value);
  const { mark } = owner;
  const isMark = owner.heading !== undefined && mark.kind === 'boxes' && mark.tick.end === mark.tick.start;
  if (!isMark) {
    if (word !== null) owner.aside ??= { said: word.said, line };
    return word !== null;
  }
  const place = word ?? wordPlace(value);
  // A sentence is no word for a state, whatever stands in front of it.
  if (place === null || (word === null && owner.inside)) return false;
  if (word === null && (place.text.length > 24 || place.text.split(' ').length > 3)) return false;
  owner.said = word?.said ?? { status: 'todo', note: 'unknown' };
  owner.mark = wordMark(place, at);
  return true;
}

/** The mark that such a word is; a word that is a checkbox is marked by its sign. `at`: where the value begins. */
export function wordMark(place: WordPlace, at: number): Mark {
  const { text, was } = place;
  const [start, end] = [at + place.start, at + place.end];
  return /^\[[^[\]]{0,4}\]$/.test(text)
    ? { kind: 'box', start: start + 1, end: start + text.length - 1 }
    : { kind: 'word', start, end, text, was };
}

/** What the mark says, once all lines of the task are read, and what is to be told of it. */
export function settle(draft: Draft): string[] {
  const { task, mark, aside, line } = draft;
  let { said } = draft;
  const allTicked = mark.kind === 'boxes' && mark.boxes.length > 0 && mark.boxes.every(isTicked);
  if (allTicked) said = { status: 'done' };
  task.status = said.status;
  const told: string[] = [];
  const blocked = said.note === 'blocked' || aside?.said.note === 'blocked';
  if (blocked) told.push(`line ${line}: "${task.id}" is marked blocked; it counts as open`);
  if (said.note === 'unknown' && mark.kind === 'word') told.push(unknownWord(draft, mark.text));
  if (mark.kind === 'strike') told.push(`line ${line}: "${task.id}" is struck through; it counts as done`);
  if (mark.kind === 'box' && mark.struck !== undefined) {
    told.push(`line ${line}: "${task.id}" is struck through, though its box is open; it counts as cancelled`);
  }
  const open =
    mark.kind === 'boxes' && said.status === 'done' ? mark.boxes.filter((box) => !isTicked(box)).length : 0;
  if (open > 0) {
    told.push(
      `line ${line}: "${task.id}" is ticked in its heading, yet ${open} of its criteria are not; the heading counts`,
    );
  }
  if (aside !== null && (aside.said.status === 'done') !== (said.status === 'done')) {
    const word = said.status === 'done' ? 'done' : 'open';
    told.push(
      `line ${aside.line}: the status there says otherwise, but the checkbox of "${task.id}" counts: it is ${word}`,
    );
  }
  return told;
}

function unknownWord({ line, task }: Draft, text: string): string {
  const what = text === '' ? 'says no state' : `has the unknown state "${text}"`;
  return `line ${line}: "${task.id}" ${what}; it counts as open`;
}

/** Whether the line goes on with the last criterion, and says nothing of its own. */
export function goesOn({ last }: Draft, { continues, text }: Block & { kind: 'text' }): boolean {
  return continues && last === 'acceptance' && propertyOf(text) === null;
}

/** Goes on with the last criterion. */
export function goOn({ acceptance }: TaskDef, text: string): void {
  acceptance[acceptance.length - 1] = `${acceptance.at(-1)} ${text}`;
}

/** What the task says it needs. */
export function needsOf({ task, needs, line, perhaps }: Draft): Need[] {
  const all: Need[] = needs.map((said) => ({ task, line, said }));
  if (perhaps !== null) all.push({ task, line, ...perhaps });
  return all;
}

/** The words of the list's marks by status, in file order. */
export function wordsOf(items: readonly ChecklistItem[]): Map<TaskStatus, string[]> {
  const words = new Map<TaskStatus, string[]>();
  for (const { mark, task } of items) {
    if (mark.kind !== 'word') continue;
    const list = words.get(task.status);
    if (list === undefined) words.set(task.status, [mark.text]);
    else list.push(mark.text);
  }
  return words;
}
