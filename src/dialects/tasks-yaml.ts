/**
 * Task lists in YAML (`tasks.yaml`): the same stories in another notation. Aliases and further documents
 * are refused; anchors and tags stay in front of what they stand at. Comments and layout survive a mark,
 * as only the value's bytes change.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import type { JsonEntry, JsonNode } from './json-tree.ts';
import { compareStories, type RawStory, type StoryFormat } from './story-compare.ts';
import { emptyReading, type StoryFile } from './story-faults.ts';
import { indexStories, readStories } from './story-list.ts';
import { markEdits, type Notation, type StoryFields } from './story-marks.ts';
import { type Story, type StoryHolder, storyNode } from './story-place.ts';
import type { TaskDialect, TaskListReading, TaskMark } from './tasklist.ts';
import { applyEdits, type Edit, LONE_RETURN, lineAt, lineEnding } from './text.ts';

interface YamlFault {
  what: string;
  offset: number;
  /** Present where something else than correcting the line is to be done. */
  fix?: string;
}

function parsed(text: string, path: string): StoryFile | YamlFault {
  const lone = LONE_RETURN.exec(text);
  if (lone !== null) {
    const what = 'a carriage return without a line feed ends a line here, as old machines wrote it';
    return { what, offset: lone.index, fix: fixIt(path, 'makes them line feeds') };
  }
  let document: Document.Parsed;
  try {
    document = parseDocument(text, { uniqueKeys: true, merge: false, logLevel: 'silent' });
    const error = document.errors[0];
    if (error !== undefined) return faultOf(error, path);
    const root = treeOf(text, document.contents, 0);
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return { value, root, text, path, notation: 'yaml' };
  } catch (thrown) {
    const offset = thrown instanceof Unmarkable ? thrown.offset : 0;
    return { what: firstSentence(thrown instanceof Error ? thrown.message : String(thrown)), offset };
  }
}

function faultOf({ code, message, pos }: Document.Parsed['errors'][number], path: string): YamlFault {
  const fault = { what: firstSentence(message), offset: pos[0] };
  return code === 'TAB_AS_INDENT' ? { ...fault, fix: fixIt(path, 'makes the tabs blanks') } : fault;
}

const fixIt = (path: string, does: string): string =>
  `correct that line, or let \`ralph import ${path} --fix\` do it: it ${does}`;

/** A form in which a mark has no safe place. */
class Unmarkable extends Error {
  readonly offset: number;
  constructor(what: string, offset: number) {
    super(what);
    this.offset = offset;
  }
}

function firstSentence(message: string): string {
  return message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '');
}

function isEmpty(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null && (node.source ?? '') === '');
}

/** Nothing stands behind the key: its value would stand right behind the colon, before any comment. */
function emptyValue(text: string, keyStart: number, keyEnd: number): JsonNode {
  const colon = /^[ \t]*:/.exec(text.slice(keyEnd, keyEnd + 200));
  if (colon === null) throw new Unmarkable('a key without a colon and a value is not read', keyStart);
  const at = keyEnd + colon[0].length;
  return { kind: 'null', start: at, end: at };
}

/** The node with its positions. Keys that are no texts are named by their text. */
function treeOf(text: string, node: Node | null, from: number): JsonNode {
  const [start, reach] = node?.range ?? [from, from];
  if (isAlias(node)) {
    throw new Unmarkable(
      `the alias *${node.source} is not read: a mark there would change two places`,
      start,
    );
  }
  // A block text owns its last line break; what replaces it must not.
  let end = reach;
  while (end > start && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
  if (isMap(node)) {
    const entries = node.items.map((pair): JsonEntry => {
      const key = pair.key as Node;
      const [keyStart, keyEnd] = key.range ?? [start, start];
      if (/\?[ \t\r\n]+$/.test(text.slice(Math.max(0, keyStart - 3), keyStart))) {
        throw new Unmarkable('a key behind a question mark is not read', keyStart);
      }
      const value = isEmpty(pair.value as Node | null)
        ? emptyValue(text, keyStart, keyEnd)
        : treeOf(text, pair.value as Node | null, keyEnd + 1);
      return { key: String(isScalar(key) ? key.value : key), keyStart, keyEnd, value };
    });
    return { kind: 'object', start, end, entries };
  }
  if (isSeq(node))
    return { kind: 'array', start, end, items: node.items.map((item) => treeOf(text, item as Node, start)) };
  const value = isScalar(node) ? node.value : null;
  if (typeof value === 'string') return { kind: 'string', start, end, value };
  if (typeof value === 'number') return { kind: 'number', start, end, value };
  if (typeof value === 'boolean') return { kind: 'boolean', start, end, value };
  return { kind: 'null', start, end };
}

const NOTHING = emptyReading('yaml', 'The file is empty.');

function read(text: string, path: string, list?: string): TaskListReading {
  const file = parsed(text, path);
  if (!('what' in file)) return file.value === null ? NOTHING : readStories(file, list);
  const at = `${path}:${lineAt(text, file.offset)}`;
  const why = 'the file is not plain YAML here (aliases and several documents are not read)';
  const problem = { code: 'tasks.syntax', what: file.what, why, fix: file.fix ?? 'correct that line', at };
  return { kind: 'unreadable', problem };
}

/** Flow values are JSON, which is YAML; plain words stay plain. */
const scalar: Notation['scalar'] = (value) =>
  typeof value === 'string' &&
  /^[a-z][a-z_]*$/.test(value) &&
  !/^(?:null|true|false|yes|no|on|off)$/.test(value)
    ? value
    : JSON.stringify(value);

const NOTATION: Notation = {
  scalar,
  insert(text, story, fields) {
    const first = story.entries[0];
    const last = story.entries.at(-1);
    if (first === undefined || last === undefined || text[story.start] === '{') {
      const inner = fields.map(([key, raw]) => `${key}: ${raw}`).join(', ');
      const at = last?.value.end ?? story.start + 1;
      return { start: at, end: at, text: last === undefined ? inner : `, ${inner}` };
    }
    const column = first.keyStart - (text.lastIndexOf('\n', first.keyStart - 1) + 1);
    const lead = ' '.repeat(column);
    // In front of the first field: behind the last one, comments and block texts would be in the way.
    const added = fields.map(([key, raw]) => `${key}: ${raw}${lineEnding(text)}${lead}`).join('');
    return { start: first.keyStart, end: first.keyStart, text: added };
  },
};

function append({ text }: StoryFile, list: StoryHolder, stories: RawStory[]): Edit {
  const keyed = list.kind === 'object';
  const raws = stories.map(({ id, raw }) => (keyed ? `${keyOf(id)}: ${raw}` : raw));
  const first = keyed ? list.entries[0]?.keyStart : list.items[0]?.start;
  const last = keyed ? list.entries.at(-1)?.value : list.items.at(-1);
  if (first === undefined || text[list.start] === (keyed ? '{' : '[')) {
    const at = last?.end ?? list.start + 1;
    return { start: at, end: at, text: (first === undefined ? '' : ', ') + raws.join(', ') };
  }
  const lineStart = text.lastIndexOf('\n', first - 1) + 1;
  const lead = text.slice(lineStart, first);
  const dash = keyed ? lead : (/^\s*-\s*/.exec(lead)?.[0] ?? '- ');
  const newline = lineEnding(text);
  const at = list.end;
  const fresh = at === 0 || text[at - 1] === '\n';
  const lines = raws.map((raw) => `${dash}${raw}`).join(newline);
  return { start: at, end: at, text: fresh ? `${lines}${newline}` : `${newline}${lines}` };
}

const keyOf = (id: string): string => (/^[A-Za-z][\w-]*\d[\w-]*$/.test(id) ? id : JSON.stringify(id));

function story(_after: StoryFile, _node: JsonNode, added: { value: Story; fields: StoryFields }): string {
  const value = { ...added.value };
  for (const [key, wanted] of added.fields) if (Object.hasOwn(value, key)) value[key] = wanted;
  return JSON.stringify(value);
}

const FORMAT: StoryFormat = {
  parse(text, path) {
    const file = parsed(text, path);
    return 'what' in file ? null : file;
  },
  read,
  notation: NOTATION,
  append,
  story,
  carry: (value) => JSON.stringify(plain(value)),
};

function plain(node: JsonNode): unknown {
  if (node.kind === 'object') return Object.fromEntries(node.entries.map((e) => [e.key, plain(e.value)]));
  if (node.kind === 'array') return node.items.map(plain);
  return node.kind === 'null' ? null : node.value;
}

/** `tasks.yaml` and lists like it. */
export const tasksYaml: TaskDialect = {
  name: 'tasks-yaml',
  detects: (path) => /\.ya?ml$/i.test(path),
  read,
  writeMarks(text: string, marks: TaskMark[]): string {
    const file = FORMAT.parse(text, '');
    const index = file === null ? null : indexStories(file.value);
    if (file === null || index === null) return text;
    const { ids, place, values } = index;
    const story = (at: number) => storyNode(file.root, place, at);
    const list = { text, ids, story, values: () => values };
    return applyEdits(text, markEdits(list, marks, NOTATION));
  },
  compare: (input) => compareStories(FORMAT, input),
};
