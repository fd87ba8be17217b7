/**
 * Marks in a list of stories, as edits by position: the value of a changed field is replaced in place,
 * a missing field is put behind the story's last one in that story's own style.
 */
import { entryOf, type JsonNode } from './json-tree.ts';
import { DONE_KEYS, statusOfWord, wordOfStatus } from './story-fields.ts';
import type { StoryIndex } from './story-list.ts';
import type { TaskMark } from './tasklist.ts';
import type { Edit } from './text.ts';

type Scalar = string | number | boolean | null;

/** Fields of one story and the values they shall have. */
export type StoryFields = [key: string, value: Scalar][];

/** How one notation spells what the marks need. */
export interface Notation {
  scalar(value: Scalar): string;
  /** The edit that puts `fields` behind the object's last entry. */
  insert(text: string, story: JsonNode & { kind: 'object' }, fields: [key: string, raw: string][]): Edit;
}

/** JSON's notation. The blank before the last key and around its colon are what new fields copy. */
export const JSON_NOTATION: Notation = {
  scalar: (value) => JSON.stringify(value),
  insert(text, story, fields) {
    const last = story.entries.at(-1);
    if (last === undefined) {
      const inner = fields.map(([key, raw]) => `${JSON.stringify(key)}: ${raw}`).join(', ');
      return { start: story.start + 1, end: story.start + 1, text: ` ${inner} ` };
    }
    const lead = /[ \t\r\n]*$/.exec(text.slice(story.start + 1, last.keyStart))![0];
    const colon = text.slice(last.keyEnd, last.value.start);
    const added = fields.map(([key, raw]) => `,${lead}${JSON.stringify(key)}${colon}${raw}`).join('');
    return { start: last.value.end, end: last.value.end, text: added };
  },
};

/** A list to be marked: what its stories are called, and where they stand. */
export interface MarkedList extends Pick<StoryIndex, 'ids'> {
  text: string;
  /** Asked for in rising order. */
  story: (index: number) => JsonNode | undefined;
  /** The stories as values, for the words the list uses. */
  values: () => readonly unknown[];
}

/** The edits that set these marks; none for what already says so, or for a task that is not there. */
export function markEdits(list: MarkedList, marks: readonly TaskMark[], notation: Notation): Edit[] {
  const byTask = new Map(marks.map((mark) => [mark.task, mark]));
  let words: Set<string> | null = null;
  const used = () => {
    words ??= statusWords(list.values());
    return words;
  };
  const edits: Edit[] = [];
  for (let index = 0; index < list.ids.length; index++) {
    const mark = byTask.get(list.ids[index] ?? '');
    const story = mark === undefined ? undefined : list.story(index);
    if (mark === undefined || story?.kind !== 'object') continue;
    edits.push(...fieldEdits(list.text, story, wantedFields(story, mark, used), notation));
  }
  return edits;
}

/** Edits that give these fields these values; a missing field is added unless it would say nothing. */
export function fieldEdits(
  text: string,
  story: JsonNode & { kind: 'object' },
  fields: StoryFields,
  notation: Notation,
): Edit[] {
  const edits: Edit[] = [];
  const missing: [string, string][] = [];
  for (const [key, value] of fields) {
    const node = entryOf(story, key)?.value;
    if (node === undefined) {
      if (value !== null && value !== '' && value !== 0 && value !== false)
        missing.push([key, notation.scalar(value)]);
    } else if (!says(node, value)) {
      // A key may stand there with nothing behind its colon.
      const gap = node.start === node.end ? ' ' : '';
      edits.push({ start: node.start, end: node.end, text: gap + notation.scalar(value) });
    }
  }
  if (missing.length > 0) edits.push(notation.insert(text, story, missing));
  return edits;
}

function says(node: JsonNode, value: Scalar): boolean {
  if (node.kind === 'null') return value === null || value === '';
  return node.kind !== 'array' && node.kind !== 'object' && node.value === value;
}

function wantedFields(story: JsonNode, mark: TaskMark, usedWords: () => ReadonlySet<string>): StoryFields {
  const passes = mark.passes ?? mark.status === 'done';
  const doneKeys = DONE_KEYS.filter((key) => entryOf(story, key) !== undefined);
  const word = entryOf(story, 'status')?.value;
  const fields: StoryFields = doneKeys.map((key) => [key, passes]);
  if (word?.kind === 'string' && statusOfWord(word.value) !== mark.status) {
    fields.push(['status', wordOfStatus(mark.status, usedWords(), word.value)]);
  }
  if (doneKeys.length === 0 && word?.kind !== 'string') fields.push(['passes', passes]);
  // Not done and not to be done: nothing but a word says that.
  if (mark.status === 'cancelled' && word?.kind !== 'string') fields.push(['status', 'cancelled']);
  if (mark.review !== undefined) {
    const { status, count, feedback } = mark.review;
    fields.push(['reviewStatus', status], ['reviewCount', count], ['reviewFeedback', feedback]);
  }
  return fields;
}

function statusWords(stories: readonly unknown[]): Set<string> {
  const words = stories.map((story) => (story as { status?: unknown } | null)?.status);
  return new Set(words.filter((word) => typeof word === 'string'));
}
