/**
 * One story, read field by field. Every field is checked; a field that says something nobody can know
 * the meaning of is a fault with its line, never a guess. Lists have thousands of stories, so nothing
 * is made here that a story without faults does not need.
 */
import type { ReviewFields, TaskDef, TaskStatus } from '../core/index.ts';
import type { ChecklistTitle } from './checklist-title.ts';
import { stateOfPhrase } from './state-words.ts';
import { kindOf, ONE_TASK, type StoryFault, shown } from './story-faults.ts';
import {
  ACCEPTANCE_KEYS,
  DEPENDENCY_KEYS,
  DONE_KEYS,
  FILE_KEYS,
  ID_KEYS,
  idsInText,
  priorityOfWord,
  REASON_KEYS,
  statusOfWord,
  TITLE_KEYS,
} from './story-fields.ts';
import { titleOf } from './story-id.ts';
import { isObject, type Story } from './story-place.ts';

/** What reading one list collects, and the story under its eye. */
export interface StoryReader {
  story: Story;
  index: number;
  /** Of every story, in order. */
  ids: readonly (string | null)[];
  /** Whether the list has review fields; such a list is the strict one. */
  reviewed: boolean;
  notation: 'json' | 'yaml';
  faults: StoryFault[];
  /** Worth a person's look, by story. */
  warnings: { story: number; text: string }[];
  /** Stories that are marked blocked, with the reason they give. */
  blocked: { task: string; reason: string }[];
}

/** Reads the story at this index. */
export function readStory(reader: StoryReader, story: unknown, index: number): TaskDef {
  if (!isObject(story)) {
    const fix = `write it as an object: ${ONE_TASK[reader.notation]}`;
    const what = `story ${index + 1} is ${kindOf(story)}, not an object`;
    reader.faults.push({ place: { story: index }, what, fix });
    return { ...NOTHING, id: `?${index}`, order: index };
  }
  reader.story = story;
  reader.index = index;
  const id = readId(reader);
  const said = reader.reviewed ? null : titleOf(story);
  const title = said?.title ?? readText(reader, TITLE_KEYS);
  const description = readText(reader, DESCRIPTION);
  readText(reader, NOTES);
  if (title === '' && description === '') complain(reader, { what: 'has no title', fix: 'give it a title' });
  const review = reader.reviewed ? readReview(reader) : undefined;
  const task: TaskDef = {
    id,
    title: title === '' ? description.split('\n', 1)[0]! : title,
    description,
    acceptance: readAcceptance(reader),
    priority: readPriority(reader) ?? said?.priority ?? 0,
    order: index,
    dependsOn: readDependencies(reader, said),
    status: readStatus(reader, review?.status ?? null),
    files: readFiles(reader),
    changes: story.changes === 'none' ? 'none' : 'expected',
  };
  if (review !== undefined) task.review = review;
  if (story.sequential === true || isSequential(story.type)) task.sequential = true;
  return task;
}

const DESCRIPTION = ['description'] as const;
const NOTES = ['notes'] as const;

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

function isSequential(type: unknown): boolean {
  return typeof type === 'string' && type.toLowerCase() === 'sequential';
}

function keyIn(story: Story, keys: readonly string[]): string | undefined {
  for (const key of keys) if (Object.hasOwn(story, key)) return key;
  return undefined;
}

interface Complaint {
  /** Absent: the story as a whole is at fault. */
  key?: string;
  item?: number;
  what: string;
  fix: string;
}

function complain(reader: StoryReader, { key, item, what, fix }: Complaint): void {
  const story = reader.index;
  const name = `story "${reader.ids[story] ?? `?${story}`}"`;
  const whose = key === undefined ? name : `"${key}" of ${name}`;
  const place = { story, ...(key !== undefined && { key }), ...(item !== undefined && { item }) };
  reader.faults.push({ place, what: `${whose} ${what}`, fix });
}

function warn(reader: StoryReader, text: string): void {
  const story = reader.index;
  reader.warnings.push({ story, text: `story "${reader.ids[story]}" ${text}` });
}

/** Ids become file names and parts of keys, so they may hold no separators. */
const UNSAFE_ID = /[\u0000-\u001f/\\|]|^\.+$/;
const SAFE_ID = /^[\w-]{1,120}$/;

function readId(reader: StoryReader): string {
  const { story } = reader;
  const id = reader.ids[reader.index]!;
  const key = keyIn(story, ID_KEYS);
  if (key !== undefined && typeof story[key] === 'string' && SAFE_ID.test(id)) return id;
  if (key === undefined && id !== null && !reader.reviewed) return id;
  return oddId(reader, key, id);
}

/** An id that is missing, or has to be looked at twice. */
function oddId(reader: StoryReader, key: string | undefined, id: string | null): string {
  const { story, index } = reader;
  const say = (what: string, fix: string) =>
    reader.faults.push({ place: { story: index, ...(key !== undefined && { key }) }, what, fix });
  if (key === undefined) say(`story ${index + 1} has no id`, 'add `"id": "US-1"`, unique in the list');
  else if (id === null || id === '') {
    say(`"${key}" of story ${index + 1} must be a text`, 'write an id such as "US-1"');
  } else if (typeof story[key] === 'number' && reader.reviewed) {
    say(`the id ${id} is a number`, `write it as a text: "${id}"`);
  } else if (UNSAFE_ID.test(id) || id.length > 120) {
    say(`the id ${shown(id)} cannot be a file name`, 'use letters, digits, "-", "_" and "."');
  }
  return id === null || id === '' ? `?${index}` : id;
}

function readText(reader: StoryReader, keys: readonly string[]): string {
  const { story } = reader;
  const key = keyIn(story, keys);
  if (key === undefined) return '';
  const value = story[key];
  if (typeof value === 'string') return value;
  // Other tools write null where they have nothing to say.
  if (value === null && !reader.reviewed && key !== 'notes') return '';
  complain(reader, {
    key,
    what: `is ${kindOf(value)}, not a text`,
    fix: 'write a text in quotes, "" for none',
  });
  return '';
}

function readAcceptance(reader: StoryReader): string[] {
  const { story } = reader;
  const key = keyIn(story, ACCEPTANCE_KEYS);
  if (key === undefined) return [];
  const value = story[key];
  if (typeof value === 'string') return linesOf(value);
  if (value === null && !reader.reviewed) return [];
  const criteria = readTexts(reader, key, value);
  if (criteria.length === 0 && Array.isArray(value)) {
    const fix = 'say what must be true when it is done';
    if (reader.reviewed) complain(reader, { key, what: 'is empty', fix });
    else warn(reader, `has an empty "${key}": nothing says what must be true when it is done`);
  }
  return criteria;
}

/** A text of bullets is a list; any other text is one criterion. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  if (filled.length === 0) return [];
  const bullet = /^(?:[-*+•]|\d+[.)])\s+(?:\[[ xX]?\]\s+)?/;
  return filled.every((line) => bullet.test(line)) ? filled.map((line) => line.replace(bullet, '')) : [text];
}

function readPriority(reader: StoryReader): number | null {
  const { story } = reader;
  const value = story.priority;
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const known = typeof value === 'string' ? priorityOfWord(value) : null;
  if (known !== null) return known;
  const fix = 'use a number (lower first), P0–P9, high, medium or low';
  complain(reader, { key: 'priority', what: `is ${shown(value)}`, fix });
  return 0;
}

/** All fields that name dependencies count: one that is left out would be a task that starts too early. */
function readDependencies(reader: StoryReader, said: ChecklistTitle | null): string[] {
  const { story } = reader;
  let all: string[] = said?.dependsOn ?? NONE;
  for (const key of DEPENDENCY_KEYS) {
    if (!Object.hasOwn(story, key)) continue;
    const found = dependenciesIn(reader, key);
    if (found.length > 0) all = all.length === 0 ? found : [...new Set([...all, ...found])];
  }
  return all;
}

const NONE: string[] = [];

function dependenciesIn(reader: StoryReader, key: string): string[] {
  const { story } = reader;
  const value = story[key];
  if (value === null) return NONE;
  if (typeof value === 'string') return idsInText(value);
  if (reader.reviewed || !Array.isArray(value) || !value.some((id) => typeof id === 'number')) {
    return readTexts(reader, key, value);
  }
  // A list with numbers for ids names its dependencies as numbers, too.
  const texts = value.map((id) => (typeof id === 'number' ? String(id) : id));
  return readTexts(reader, key, texts);
}

function readFiles(reader: StoryReader): string[] {
  const { story } = reader;
  const key = keyIn(story, FILE_KEYS);
  return key === undefined || story[key] === null ? NONE : readTexts(reader, key, story[key]);
}

function readStatus(reader: StoryReader, review: ReviewFields['status']): TaskStatus {
  const { story } = reader;
  const key = keyIn(story, DONE_KEYS);
  const done = key === undefined ? undefined : story[key];
  if (done !== undefined && done !== null && typeof done !== 'boolean') {
    complain(reader, {
      key: key!,
      what: `is ${shown(done)}, not true or false`,
      fix: doneFix(reader, key!, done),
    });
  }
  let status = statusIn(reader, key);
  if (story.blocked === true || isBlockedWord(story.status)) noteBlocked(reader);
  if (review === null) return status;
  if (review === 'needs_review') return 'review';
  if (review === 'changes_requested' && status === 'done') status = 'todo';
  if (review === 'approved' && status !== 'done') {
    warn(reader, 'is approved but does not pass; it counts as open');
  }
  return status;
}

/** What to write instead, letter by letter: what was most likely meant, or both. */
function doneFix({ notation }: StoryReader, key: string, said: unknown): string {
  const written = (value: boolean) => (notation === 'json' ? `"${key}": ${value}` : `${key}: ${value}`);
  const word = String(said).trim().toLowerCase();
  if (/^(?:no|n|off|false|0|not? done|open|todo|pending)$/.test(word)) return `write \`${written(false)}\``;
  if (/^(?:yes|y|on|true|1|done|complete|completed|x)$/.test(word)) return `write \`${written(true)}\``;
  return `write \`${written(true)}\` or \`${written(false)}\``;
}

/** `passes` and its like rule over a word; the word tells how an open story stands. */
function statusIn(reader: StoryReader, key: string | undefined): TaskStatus {
  const { story } = reader;
  const value = story.status;
  const done = key === undefined ? null : story[key];
  const word = typeof value === 'string' ? statusOfWord(value) : null;
  if (typeof done !== 'boolean') {
    if (value === undefined || value === null || word !== null) return word ?? 'todo';
    warn(reader, `has the unknown status ${shown(value)}; it counts as open`);
    return 'todo';
  }
  for (const other of DONE_KEYS) {
    if (typeof story[other] === 'boolean' && story[other] !== done) sayRules(reader, key!, other);
  }
  if (word !== null && (done ? word !== 'done' : word === 'done')) sayRules(reader, key!, 'status');
  return done ? 'done' : word === null || word === 'done' ? 'todo' : word;
}

/** Two fields for the same thing say different things; the one that counts is named. */
function sayRules(reader: StoryReader, ruling: string, other: string): void {
  const { story } = reader;
  const both = `"${ruling}": ${shown(story[ruling])} and "${other}": ${shown(story[other])}`;
  warn(reader, `has ${both}; "${ruling}" rules`);
}

function isBlockedWord(value: unknown): boolean {
  return typeof value === 'string' && value.length < 20 && stateOfPhrase(value)?.status === 'blocked';
}

function noteBlocked(reader: StoryReader): void {
  const { story } = reader;
  const key = keyIn(story, REASON_KEYS);
  const reason = key !== undefined && typeof story[key] === 'string' ? story[key] : '';
  reader.blocked.push({ task: reader.ids[reader.index] ?? '', reason });
  warn(reader, `is marked blocked${reason === '' ? '' : `: ${reason}`}`);
}

const REVIEW_WORDS = ['needs_review', 'changes_requested', 'approved'] as const;

function readReview(reader: StoryReader): ReviewFields {
  const { story } = reader;
  const status = story.reviewStatus;
  const found = REVIEW_WORDS.find((known) => known === status);
  if (status !== undefined && status !== null && found === undefined) {
    const fix = `use null, ${REVIEW_WORDS.join(', ')}`;
    complain(reader, { key: 'reviewStatus', what: `is ${shown(status)}`, fix });
  }
  // Lists carry null where there was no review yet; every other text field must be a text.
  const feedback = story.reviewFeedback === null ? '' : readText(reader, FEEDBACK);
  return { status: found ?? null, count: readCount(reader), feedback };
}

const FEEDBACK = ['reviewFeedback'] as const;

function readCount(reader: StoryReader): number {
  const { story } = reader;
  const value = story.reviewCount;
  if (value === undefined) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  const fix = 'write a whole number from 0 without quotes';
  complain(reader, { key: 'reviewCount', what: `is ${shown(value)}`, fix });
  return 0;
}

/** The texts of a field's list; where objects are welcome, the text that each of them carries. */
function readTexts(reader: StoryReader, key: string, value: unknown): string[] {
  if (!Array.isArray(value)) {
    complain(reader, {
      key,
      what: `is ${kindOf(value)}, not a list`,
      fix: 'write a list of texts: ["…", "…"]',
    });
    return NONE;
  }
  let texts = value as string[];
  for (let item = 0; item < value.length; item++) {
    if (typeof value[item] === 'string') continue;
    const text = reader.reviewed ? undefined : textIn(value[item]);
    if (text === undefined) {
      const fix = 'write every entry as a text in quotes';
      complain(reader, { key, item, what: `holds ${kindOf(value[item])} among its texts`, fix });
      return NONE;
    }
    if (texts === value) texts = [...value];
    texts[item] = text;
  }
  return texts;
}

const TEXT_KEYS = ['text', 'description', 'criterion', 'title', 'name', 'step'] as const;

/** The one text of a criterion that is written as an object. */
function textIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const key = keyIn(value, TEXT_KEYS);
  return key !== undefined && typeof value[key] === 'string' ? value[key] : undefined;
}
