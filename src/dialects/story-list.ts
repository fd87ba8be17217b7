/**
 * Stories: a list of objects with ids, whether it stands in JSON or in YAML. Everything that is read
 * is checked, and every fault says the line of the field at fault; a fault is never a crash and never
 * an empty list.
 */
import type { ReviewFields, TaskDef, TaskStatus } from '../core/index.ts';
import { entryOf, type JsonNode } from './json-tree.ts';
import {
  ACCEPTANCE_KEYS,
  DEPENDENCY_KEYS,
  DONE_KEYS,
  ID_KEYS,
  idsInText,
  LIST_KEYS,
  priorityOfWord,
  REVIEW_KEYS,
  statusOfWord,
  TITLE_KEYS,
} from './story-fields.ts';
import { graphFault } from './task-graph.ts';
import type { TaskListReading } from './tasklist.ts';
import { lineAt } from './text.ts';

/** A file that was parsed: its value, and its tree for positions. */
export interface StoryFile {
  value: unknown;
  readonly root: JsonNode;
  text: string;
  /** Names the place of problems. */
  path: string;
}

/** The array of stories; undefined where the file has none. */
export function storyArray(root: JsonNode): (JsonNode & { kind: 'array' }) | undefined {
  if (root.kind === 'array') return root;
  for (const key of LIST_KEYS) {
    const value = entryOf(root, key)?.value;
    if (value?.kind === 'array') return value;
  }
  return undefined;
}

/** A story's id as text; null where it has none. */
export function storyId(story: unknown): string | null {
  const value = isObject(story) ? firstField(story, ID_KEYS)?.value : undefined;
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' ? String(value) : null;
}

/** A story as a plain value. */
export type Story = Record<string, unknown>;

/** True for an object that is no array. */
export function isObject(value: unknown): value is Story {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Field {
  key: string;
  value: unknown;
}

function firstField(story: Story, keys: readonly string[]): Field | undefined {
  for (const key of keys) if (Object.hasOwn(story, key)) return { key, value: story[key] };
  return undefined;
}

/** The stories as values, in the order of the tree's array; undefined where the file has no list. */
export function storyValues(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  for (const key of LIST_KEYS) if (Array.isArray(value[key])) return value[key];
  return undefined;
}

/** True where any story carries review fields. */
export function isReviewed(stories: readonly unknown[]): boolean {
  return stories.some((story) => isObject(story) && REVIEW_KEYS.some((key) => Object.hasOwn(story, key)));
}

/** Where a fault is: a story's index and field, or a top-level field. */
interface Place {
  story?: number;
  key?: string;
  item?: number;
}

interface Fault {
  place: Place;
  what: string;
  fix: string;
}

interface Reader {
  file: StoryFile;
  reviewed: boolean;
  faults: Fault[];
  warnings: string[];
}

/** One story under the reader's eye. */
interface Subject {
  reader: Reader;
  story: Story;
  index: number;
  name: string;
}

/** Reads a whole file. */
export function readStories(file: StoryFile): TaskListReading {
  const reader: Reader = { file, reviewed: false, faults: [], warnings: [] };
  const stories = storyValues(file.value);
  if (stories === undefined) return withoutList(reader);
  if (stories.length === 0) return { kind: 'empty' };
  reader.reviewed = isReviewed(stories);
  const tasks = stories.map((story, index) => readStory(reader, story, index));
  const top: Story = isObject(file.value) ? file.value : {};
  const gates = readGates(reader, top);
  if (reader.faults.length > 0) return unreadable(reader);
  const fault = graphFault(tasks, (story) => lineOf(file, { story }));
  if (fault !== null) {
    const { code, what, why, fix, line } = fault;
    return { kind: 'unreadable', problem: { code, what, why, fix, at: `${file.path}:${line}` } };
  }
  return {
    kind: 'list',
    tasks,
    reviewed: reader.reviewed,
    gates,
    project: topText(top, ['project', 'projectName', 'name', 'title']),
    description: topText(top, ['description']),
    warnings: reader.warnings,
  };
}

function withoutList(reader: Reader): TaskListReading {
  const { value } = reader.file;
  const field = isObject(value) ? firstField(value, LIST_KEYS) : undefined;
  if (isObject(value) && (field === undefined || field.value === null)) return { kind: 'empty' };
  const what = `${field === undefined ? 'the file' : `"${field.key}"`} must be a list of stories`;
  const place: Place = field === undefined ? {} : { key: field.key };
  reader.faults.push({ place, what, fix: 'write `"userStories": [ { "id": … } ]`' });
  return unreadable(reader);
}

function unreadable({ file, faults }: Reader): TaskListReading {
  const [first, ...others] = faults;
  const { place, what, fix } = first!;
  const told = others.slice(0, 5).map((other) => `line ${lineOf(file, other.place)}: ${other.what}`);
  const more = others.length > 5 ? [`and ${others.length - 5} more`] : [];
  const also = others.length === 0 ? '' : `; also ${[...told, ...more].join('; ')}`;
  return {
    kind: 'unreadable',
    problem: {
      code: 'tasks.field',
      what,
      why: `the task list decides what is done, so nothing in it is guessed${also}`,
      fix,
      at: `${file.path}:${lineOf(file, place)}`,
    },
  };
}

/** The line of a place, found in the tree only now that somebody must be shown it. */
function lineOf({ text, root }: StoryFile, { story, key, item }: Place): number {
  const base = story === undefined ? root : (storyArray(root)?.items[story] ?? root);
  const field = key === undefined ? undefined : entryOf(base, key)?.value;
  const inner = item !== undefined && field?.kind === 'array' ? field.items[item] : undefined;
  return lineAt(text, (inner ?? field ?? base).start);
}

function topText(top: Story, keys: readonly string[]): string {
  const value = firstField(top, keys)?.value;
  return typeof value === 'string' ? value : '';
}

function readGates(reader: Reader, top: Story): string[] {
  const field = firstField(top, ['verifyCommands']);
  if (field === undefined || field.value === null) return [];
  return texts(reader, field, { owner: 'the list' }).filter((command) => command.trim() !== '');
}

function readStory(reader: Reader, story: unknown, index: number): TaskDef {
  if (!isObject(story)) {
    const fix = 'write it as an object: { "id": "US-1", "title": "…", "passes": false }';
    const what = `story ${index + 1} is ${kindOf(story)}, not an object`;
    reader.faults.push({ place: { story: index }, what, fix });
    return { ...NOTHING, id: `?${index}`, order: index };
  }
  const id = readId(reader, story, index);
  const subject: Subject = { reader, story, index, name: `story "${id}"` };
  const title = textField(subject, TITLE_KEYS);
  const description = textField(subject, DESCRIPTION);
  textField(subject, NOTES);
  if (title === '' && description === '') complain(subject, undefined, 'has no title', 'give it a title');
  const review = readReview(subject);
  const task: TaskDef = {
    id,
    title: title === '' ? description.split('\n', 1)[0]! : title,
    description,
    acceptance: readAcceptance(subject),
    priority: readPriority(subject),
    order: index,
    dependsOn: readDependencies(subject),
    status: readStatus(subject, review),
    files: readFiles(subject),
    changes: story.changes === 'none' ? 'none' : 'expected',
  };
  if (reader.reviewed) task.review = review;
  if (story.sequential === true || topText(story, ['type']).toLowerCase() === 'sequential') {
    task.sequential = true;
  }
  return task;
}

const DESCRIPTION = ['description'];
const NOTES = ['notes'];

const NOTHING: TaskDef = {
  id: '',
  title: '',
  description: '',
  acceptance: [],
  priority: 0,
  order: 0,
  dependsOn: [],
  status: 'todo',
  files: [],
  changes: 'expected',
};

/** Ids become file names and parts of keys, so they may hold no separators. */
const UNSAFE_ID = /[\u0000-\u001f/\\|]|^\.+$/;

function readId(reader: Reader, story: Story, index: number): string {
  const field = firstField(story, ID_KEYS);
  const id = storyId(story);
  const say = (what: string, fix: string) =>
    reader.faults.push({ place: { story: index, ...(field && { key: field.key }) }, what, fix });
  if (field === undefined) say(`story ${index + 1} has no id`, 'add `"id": "US-1"`, unique in the list');
  else if (id === null || id === '') {
    say(`"${field.key}" of story ${index + 1} must be a text`, 'write an id such as "US-1"');
  } else if (typeof field.value === 'number' && reader.reviewed) {
    say(`the id ${id} is a number`, `write it as a text: "${id}"`);
  } else if (UNSAFE_ID.test(id) || id.length > 120) {
    say(`the id ${JSON.stringify(id)} cannot be a file name`, 'use letters, digits, "-", "_" and "."');
  }
  return id === null || id === '' ? `?${index}` : id;
}

/** `key` undefined: the story as a whole is at fault. */
function complain(subject: Subject, key: string | undefined, what: string, fix: string): void {
  const place: Place = { story: subject.index, ...(key !== undefined && { key }) };
  const whose = key === undefined ? subject.name : `"${key}" of ${subject.name}`;
  subject.reader.faults.push({ place, what: `${whose} ${what}`, fix });
}

function warn(subject: Subject, what: string): void {
  const line = lineOf(subject.reader.file, { story: subject.index });
  subject.reader.warnings.push(`line ${line}: ${subject.name} ${what}`);
}

function readAcceptance(subject: Subject): string[] {
  const field = firstField(subject.story, ACCEPTANCE_KEYS);
  if (field === undefined) return [];
  if (typeof field.value === 'string') return [field.value];
  const criteria = texts(subject.reader, field, { owner: subject.name, story: subject.index });
  if (criteria.length === 0 && Array.isArray(field.value)) {
    complain(subject, field.key, 'is empty', 'say what must be true when it is done');
  }
  return criteria;
}

function readPriority(subject: Subject): number {
  const value = subject.story.priority;
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const known = typeof value === 'string' ? priorityOfWord(value) : null;
  if (known !== null) return known;
  const fix = 'use a number (lower first), P0–P9, high, medium or low';
  complain(subject, 'priority', `is ${shown(value)}`, fix);
  return 0;
}

function readDependencies(subject: Subject): string[] {
  const field = firstField(subject.story, DEPENDENCY_KEYS);
  if (field === undefined || field.value === null) return [];
  if (typeof field.value === 'string') return idsInText(field.value);
  // A list with numbers for ids names its dependencies as numbers, too.
  if (!subject.reader.reviewed && Array.isArray(field.value)) {
    const value = field.value.map((id) => (typeof id === 'number' ? String(id) : id));
    return texts(subject.reader, { ...field, value }, { owner: subject.name, story: subject.index });
  }
  return texts(subject.reader, field, { owner: subject.name, story: subject.index });
}

function readFiles(subject: Subject): string[] {
  const field = firstField(subject.story, ['files', 'targetFiles']);
  if (field === undefined || field.value === null) return [];
  return texts(subject.reader, field, { owner: subject.name, story: subject.index });
}

function readStatus(subject: Subject, review: ReviewFields): TaskStatus {
  const done = firstField(subject.story, DONE_KEYS);
  let status: TaskStatus = 'todo';
  if (typeof done?.value === 'boolean') status = done.value ? 'done' : 'todo';
  else if (done !== undefined && done.value !== null) {
    const fix = 'write true or false without quotes';
    complain(subject, done.key, `is ${shown(done.value)}, not true or false`, fix);
  } else status = readStatusWord(subject);
  blockedNote(subject);
  if (review.status === 'needs_review') return 'review';
  if (review.status === 'changes_requested' && status === 'done') return 'todo';
  if (review.status === 'approved' && status !== 'done') {
    warn(subject, 'is approved but does not pass; it counts as open');
  }
  return status;
}

function readStatusWord(subject: Subject): TaskStatus {
  const value = subject.story.status;
  if (value === undefined || value === null) return 'todo';
  const status = typeof value === 'string' ? statusOfWord(value) : null;
  if (status === null) warn(subject, `has the unknown status ${shown(value)}; it counts as open`);
  return status ?? 'todo';
}

function blockedNote(subject: Subject): void {
  const { story } = subject;
  if (story.blocked !== true && topText(story, ['status']).toLowerCase() !== 'blocked') return;
  const reason = topText(story, ['reason', 'blockedReason']);
  warn(subject, `is marked blocked${reason === '' ? '' : `: ${reason}`}`);
}

const REVIEW_WORDS = ['needs_review', 'changes_requested', 'approved'] as const;
const NO_REVIEW: ReviewFields = { status: null, count: 0, feedback: '' };

function readReview(subject: Subject): ReviewFields {
  if (!subject.reader.reviewed) return NO_REVIEW;
  const status = subject.story.reviewStatus;
  const found = REVIEW_WORDS.find((known) => known === status);
  if (status !== undefined && status !== null && found === undefined) {
    complain(subject, 'reviewStatus', `is ${shown(status)}`, `use null, ${REVIEW_WORDS.join(', ')}`);
  }
  // Lists carry null where there was no review yet; every other text field must be a text.
  const feedback = subject.story.reviewFeedback === null ? '' : textField(subject, FEEDBACK);
  return { status: found ?? null, count: readCount(subject), feedback };
}

const FEEDBACK = ['reviewFeedback'];

function readCount(subject: Subject): number {
  const value = subject.story.reviewCount;
  if (value === undefined) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  complain(subject, 'reviewCount', `is ${shown(value)}`, 'write a whole number from 0 without quotes');
  return 0;
}

function textField(subject: Subject, keys: readonly string[]): string {
  const field = firstField(subject.story, keys);
  if (field === undefined) return '';
  if (typeof field.value === 'string') return field.value;
  complain(
    subject,
    field.key,
    `is ${kindOf(field.value)}, not a text`,
    'write a text in quotes, "" for none',
  );
  return '';
}

function texts(reader: Reader, field: Field, whose: { owner: string; story?: number }): string[] {
  const { key, value } = field;
  const place: Place = { key, ...(whose.story !== undefined && { story: whose.story }) };
  if (!Array.isArray(value)) {
    const what = `"${key}" of ${whose.owner} is ${kindOf(value)}, not a list`;
    reader.faults.push({ place, what, fix: 'write a list of texts: ["…", "…"]' });
    return [];
  }
  for (let item = 0; item < value.length; item++) {
    if (typeof value[item] === 'string') continue;
    const what = `"${key}" of ${whose.owner} holds ${kindOf(value[item])} among its texts`;
    reader.faults.push({ place: { ...place, item }, what, fix: 'write every entry as a text in quotes' });
    return [];
  }
  return value as string[];
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return 'a text';
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? kindOf(value) : JSON.stringify(value);
}
