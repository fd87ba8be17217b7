/**
 * Task lists in JSON: `tasks.json` with review fields and the plain `prd.json` family. Theirs ↔ ours
 * stands in README.md of this folder.
 */
import type { ProblemFacts } from '../core/index.ts';
import { itemsAlong } from './json-along.ts';
import { type DoubledKey, doubledKeys } from './json-doubled.ts';
import { type JsonNode, type JsonReading, readJson } from './json-tree.ts';
import { compareStories, type RawStory, type StoryFormat } from './story-compare.ts';
import { emptyReading, type StoryFile } from './story-faults.ts';
import { LIST_KEYS } from './story-fields.ts';
import { indexStories, readStories, type StoryIndex } from './story-list.ts';
import { fieldEdits, JSON_NOTATION, type MarkedList, markEdits, type StoryFields } from './story-marks.ts';
import { type StoryHolder, type StoryPlace, storyNode } from './story-place.ts';
import type { TaskDialect, TaskListReading, TaskMark } from './tasklist.ts';
import { applyEdits, type Edit, lineAt } from './text.ts';

function parse(text: string, path: string): StoryFile | null {
  const reading = readJson(text);
  return reading.kind === 'tree' ? fileOf(reading, text, path) : null;
}

/** The positions stay unread until somebody asks for the root. */
function fileOf(tree: JsonReading & { kind: 'tree' }, text: string, path: string): StoryFile {
  return {
    value: tree.value,
    get root() {
      return tree.root;
    },
    text,
    path,
    notation: 'json',
  };
}

/**
 * What the last text of one list without doubled keys holds. A mark follows the reading of the same text
 * nearly always.
 */
let lastRead: (Pick<StoryIndex, 'place' | 'ids'> & { text: string }) | null = null;

function read(text: string, path: string, list?: string): TaskListReading {
  if (text.replace(/^\ufeff/, '').trim() === '') return emptyReading('json', 'The file is empty.');
  const reading = readJson(text);
  if (reading.kind === 'tree') {
    const file = fileOf(reading, text, path);
    const doubled = doubledKeys(text, reading);
    const hidden = doubled.find(({ depth, key }) => depth === 0 && LIST_KEYS.some((known) => known === key));
    if (hidden !== undefined) return { kind: 'unreadable', problem: hiddenList(hidden, path) };
    const read = readStories(file, list, ({ place, ids }) => {
      if (list === undefined && doubled.length === 0 && isOneList(place)) lastRead = { text, place, ids };
    });
    return read.kind === 'list' ? { ...read, warnings: [...doubled.map(toldTwice), ...read.warnings] } : read;
  }
  const { what, hint, offset } = reading.fault;
  const at = `${path}:${lineAt(text, offset)}`;
  const loose = hint.startsWith('JSON has no ');
  const fix = loose
    ? `correct that line, or let \`ralph import ${path} --fix\` take comments and trailing commas out of it`
    : 'correct that line; the file must be plain JSON';
  return { kind: 'unreadable', problem: { code: 'tasks.syntax', what, why: hint, fix, at } };
}

/** Of two lists under one name only the last would be seen, and the tasks of the other would be lost. */
function hiddenList({ key, first, line }: DoubledKey, path: string): ProblemFacts {
  return {
    code: 'tasks.field',
    what: `"${key}" stands twice, first in line ${first}`,
    why: 'only the last of two equal keys is seen by a JSON reader, so the tasks of the first would be lost',
    fix: 'put all tasks into one list, or give one of the two another name',
    at: `${path}:${line}`,
  };
}

function toldTwice({ key, first, line }: DoubledKey): string {
  return `line ${line}: "${key}" stands twice in one object, first in line ${first}; the last one counts`;
}

function isOneList({ nested, keyed }: StoryPlace): boolean {
  return nested === null && keyed === undefined;
}

function markedList(text: string): MarkedList | null {
  if (text === lastRead?.text) {
    const { place, ids } = lastRead;
    const values = () => indexStories(parse(text, '')?.value)?.values ?? [];
    return { text, ids, story: itemsAlong(text, place.keys), values };
  }
  const file = parse(text, '');
  const index = file === null ? null : indexStories(file.value);
  if (file === null || index === null) return null;
  const { place, ids, values } = index;
  return { text, ids, story: (at) => storyNode(file.root, place, at), values: () => values };
}

function append({ text }: StoryFile, list: StoryHolder, stories: RawStory[]): Edit {
  if (list.kind === 'object') {
    return JSON_NOTATION.insert(
      text,
      list,
      stories.map(({ id, raw }) => [id, raw]),
    );
  }
  const raws = stories.map(({ raw }) => raw);
  const last = list.items.at(-1);
  if (last === undefined) return { start: list.start + 1, end: list.start + 1, text: raws.join(', ') };
  const previous = list.items.at(-2);
  const lead = /[ \t\r\n]*$/.exec(text.slice(previous?.end ?? list.start + 1, last.start))![0];
  return { start: last.end, end: last.end, text: raws.map((raw) => `,${lead}${raw}`).join('') };
}

function story({ text }: StoryFile, node: JsonNode, { fields }: { fields: StoryFields }): string {
  if (node.kind !== 'object') return text.slice(node.start, node.end);
  const edits = fieldEdits(text, node, fields, JSON_NOTATION).map((edit) => ({
    ...edit,
    start: edit.start - node.start,
    end: edit.end - node.start,
  }));
  return applyEdits(text.slice(node.start, node.end), edits);
}

const FORMAT: StoryFormat = {
  parse,
  read,
  notation: JSON_NOTATION,
  append,
  story,
  carry: (value, after) => after.slice(value.start, value.end),
};

/** `tasks.json`, `prd.json` and lists like them. */
export const tasksJson: TaskDialect = {
  name: 'tasks-json',
  detects: (path, text) => /\.json$/i.test(path) || (path === '' && /^\ufeff?\s*[{[]\s*["{[\]}]/.test(text)),
  read,
  writeMarks(text: string, marks: TaskMark[]): string {
    const list = markedList(text);
    return list === null ? text : applyEdits(text, markEdits(list, marks, JSON_NOTATION));
  },
  compare: (input) => compareStories(FORMAT, input),
};
