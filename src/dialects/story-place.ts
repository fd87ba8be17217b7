/**
 * Where the stories of a file stand. Most files have one list at the top; some keep it one level down,
 * or a list in every phase; some hold two lists that could both be meant. That is never guessed: a list
 * whose items can be marked goes before one that only describes, and else the choices are told.
 */
import { entryOf, itemAt, type JsonNode } from './json-tree.ts';
import { DONE_KEYS, ID_KEYS, LIST_KEYS, TITLE_KEYS } from './story-fields.ts';

/** A story, or anything else that is an object, as a plain value. */
export type Story = Record<string, unknown>;

/** True for an object that is no array. */
export function isObject(value: unknown): value is Story {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The way to the stories. No keys: the file itself is the list. */
export interface StoryPlace {
  keys: readonly string[];
  /** The list stands in every item of the outer one, under this key. */
  nested: string | null;
  /** The stories stand in an object, by their ids, instead of in a list. */
  keyed?: true;
}

/** A list that could be meant, in a form a person can choose from. */
export interface ListChoice {
  /** Names the list, e.g. `stories`, `master.tasks` or `phases[].tasks`. */
  list: string;
  /** How many items it holds. */
  tasks: number;
  /** The first item's title, for recognising it. */
  first: string;
}

export type StoriesFound =
  | { kind: 'stories'; place: StoryPlace; values: unknown[]; passedOver: ListChoice[] }
  | { kind: 'none' }
  /** `name`: what should be a list; empty for the file itself. */
  | { kind: 'no-list'; name: string }
  /** `known` false: none of these stands under a name that means tasks, or under the one asked for. */
  | { kind: 'choices'; known: boolean; choices: ListChoice[] };

/** Finds the stories; `wanted` names one list as a choice did. */
export function findStories(value: unknown, wanted?: string): StoriesFound {
  if (wanted !== undefined) return namedStories(value, wanted);
  if (Array.isArray(value)) return stories(value, { keys: [], nested: null });
  if (!isObject(value)) return { kind: 'no-list', name: '' };
  const known = LIST_KEYS.filter((key) => Array.isArray(value[key]));
  const all = candidates(value);
  if (all.length === 0 && known.length > 0) return stories(value, { keys: [known[0]!], nested: null });
  if (all.length === 1) return stories(value, all[0]!);
  if (all.length === 0) {
    return isTopMap(value) ? stories(value, { keys: [], nested: null, keyed: true }) : nothing(value);
  }
  const marked = all.filter((place) => canBeMarked(valuesAt(value, place) ?? []));
  const choices = all.map((place) => choiceOf(value, place));
  if (marked.length !== 1) return { kind: 'choices', known: true, choices };
  const chosen = placeName(marked[0]!);
  return stories(
    value,
    marked[0]!,
    choices.filter((choice) => choice.list !== chosen),
  );
}

function stories(value: unknown, place: StoryPlace, passedOver: ListChoice[] = []): StoriesFound {
  return { kind: 'stories', place, values: valuesAt(value, place) ?? [], passedOver };
}

function nothing(value: Story): StoriesFound {
  const field = LIST_KEYS.find((key) => value[key] !== undefined && value[key] !== null);
  if (field !== undefined) return { kind: 'no-list', name: field };
  const likely = Object.keys(value).filter((key) => {
    const list = value[key];
    return (
      Array.isArray(list) && holdsTasks(list) && (canBeMarked(list) || hasKey(list[0] as Story, ID_KEYS))
    );
  });
  if (likely.length === 0) return { kind: 'none' };
  const choices = likely.map((key) => choiceOf(value, { keys: [key], nested: null }));
  return { kind: 'choices', known: false, choices };
}

/** How a place is written, and asked for. The file itself is the empty name. */
export function placeName({ keys, nested }: StoryPlace): string {
  return nested === null ? keys.join('.') : `${keys.join('.')}[].${nested}`;
}

function namedStories(value: unknown, wanted: string): StoriesFound {
  const [outer, nested, ...more] = wanted.split('[].');
  const keys = wanted === '' ? [] : outer!.split('.');
  const all: StoryPlace[] = [
    { keys: [wanted], nested: null },
    { keys, nested: nested ?? null },
    { keys, nested: null, keyed: true },
  ];
  for (const place of more.length > 0 ? [] : all) {
    const values = valuesAt(value, place);
    if (values !== undefined) return { kind: 'stories', place, values, passedOver: [] };
  }
  const places = isObject(value) ? candidates(value) : [];
  return { kind: 'choices', known: false, choices: places.map((place) => choiceOf(value, place)) };
}

function choiceOf(value: unknown, place: StoryPlace): ListChoice {
  const values = valuesAt(value, place) ?? [];
  const first = isObject(values[0]) ? values[0] : {};
  const title = [...TITLE_KEYS, 'description', ...ID_KEYS].map((key) => first[key]).find((text) => text);
  const text = typeof title === 'string' || typeof title === 'number' ? String(title) : '';
  return { list: placeName(place), tasks: values.length, first: text.split('\n', 1)[0]!.slice(0, 80) };
}

/** Lists of things that look like tasks: at the top, one level down, or one in each item of a list. */
function candidates(value: Story): StoryPlace[] {
  const found: StoryPlace[] = [];
  for (const key of Object.keys(value)) {
    const there = value[key];
    if (Array.isArray(there)) {
      const isKnown = LIST_KEYS.some((known) => known === key);
      if (isKnown && holdsTasks(there)) found.push({ keys: [key], nested: null });
      // What stands in a task that can be marked itself is its parts.
      if (canBeMarked(there)) continue;
      const inner = LIST_KEYS.find((known) => there.slice(0, FEW).some((item) => holdsTasksAt(item, known)));
      if (inner !== undefined) found.push({ keys: [key], nested: inner });
    } else if (isObject(there)) {
      const inner = LIST_KEYS.find((known) => holdsTasksAt(there, known));
      const map = LIST_KEYS.find((known) => isTaskMap(there[known]));
      if (inner !== undefined) found.push({ keys: [key, inner], nested: null });
      else if (map !== undefined) found.push({ keys: [key, map], nested: null, keyed: true });
      else if (LIST_KEYS.some((known) => known === key) && isTaskMap(there))
        found.push({ keys: [key], nested: null, keyed: true });
    }
  }
  return found;
}

/** Lists are told by their first items: a list of thousands need not be searched for what it is. */
const FEW = 20;

function holdsTasksAt(owner: unknown, key: string): boolean {
  const list = isObject(owner) ? owner[key] : undefined;
  return Array.isArray(list) && holdsTasks(list);
}

/** `T1: { title: … }` and so on: each of them could be a task. */
function isTaskMap(value: unknown): value is Record<string, Story> {
  const all = isObject(value) ? Object.values(value) : [];
  const isTask = (one: unknown) => isObject(one) && hasKey(one, [...TITLE_KEYS, 'description']);
  return all.length > 0 && all.every(isTask);
}

/** The file itself maps ids to tasks: nothing else looks like this, if some can be marked or all have titles. */
function isTopMap(value: Story): boolean {
  if (!isTaskMap(value)) return false;
  const all = Object.values(value);
  return canBeMarked(all) || all.every((one) => hasKey(one, ['title', 'description']));
}

function holdsTasks(list: readonly unknown[]): boolean {
  const first = list[0];
  return isObject(first) && hasKey(first, [...TITLE_KEYS, ...ID_KEYS, 'description']);
}

function canBeMarked(list: readonly unknown[]): boolean {
  return list.slice(0, FEW).some((item) => isObject(item) && hasKey(item, [...DONE_KEYS, 'status']));
}

function hasKey(story: Story, keys: readonly string[]): boolean {
  return keys.some((key) => Object.hasOwn(story, key));
}

function valuesAt(value: unknown, { keys, nested, keyed }: StoryPlace): unknown[] | undefined {
  let at = value;
  for (const key of keys) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  if (keyed) return isTaskMap(at) ? Object.entries(at).map(([id, story]) => ({ id, ...story })) : undefined;
  if (!Array.isArray(at)) return undefined;
  if (nested === null) return at;
  return at.flatMap((item) => innerList(item, nested));
}

function innerList(item: unknown, key: string): unknown[] {
  const list = isObject(item) && Object.hasOwn(item, key) ? item[key] : undefined;
  return Array.isArray(list) ? list : [];
}

/** What new stories are put into: a list, or an object with ids for keys. */
export type StoryHolder = JsonNode & { kind: 'array' | 'object' };

/** The nodes that hold the stories, in the order of their values. */
export function storyLists(root: JsonNode, { keys, nested, keyed }: StoryPlace): StoryHolder[] {
  let at: JsonNode | undefined = root;
  for (const key of keys) at = at === undefined ? undefined : entryOf(at, key)?.value;
  if (keyed) return at?.kind === 'object' ? [at] : [];
  if (at?.kind !== 'array') return [];
  if (nested === null) return [at];
  return at.items.flatMap((item) => {
    const list = entryOf(item, nested)?.value;
    return list?.kind === 'array' ? [list] : [];
  });
}

/** The node of the story with this index among the values. */
export function storyNode(root: JsonNode, place: StoryPlace, index: number): JsonNode | undefined {
  let left = index;
  for (const list of storyLists(root, place)) {
    if (list.kind === 'object') return keyedNode(list, index);
    if (place.nested === null) return itemAt(list, index);
    if (left < list.items.length) return list.items[left];
    left -= list.items.length;
  }
  return undefined;
}

/** Keys that are whole numbers come first in an object's values, wherever they stand in the text. */
function keyedNode(map: JsonNode & { kind: 'object' }, index: number): JsonNode | undefined {
  const keys = Object.keys(Object.fromEntries(map.entries.map(({ key }) => [key, 0])));
  return keys[index] === undefined ? undefined : entryOf(map, keys[index])?.value;
}
