/**
 * What of an agent's edit of a story list stands. The text to write back is grown from the text as it
 * was before: legal text edits and new open stories are carried over into it, so whatever the agent
 * did besides - to markers, counts, gates, other stories, indentation - is undone by never being taken.
 */
import type { TaskDef } from '../core/index.ts';
import { entryOf, type JsonNode } from './json-tree.ts';
import { isReworded, keepsCriteria, type NamedTask, renumbered } from './reworded.ts';
import { judgeStory, judgeTop, openedFields, type StoryPair } from './story-claims.ts';
import type { StoryFile } from './story-faults.ts';
import { ACCEPTANCE_KEYS, FIXED_KEYS, FIXED_TOP_KEYS, TITLE_KEYS } from './story-fields.ts';
import { ownId, storyIds, titleOf } from './story-id.ts';
import { isReviewed } from './story-list.ts';
import type { Notation, StoryFields } from './story-marks.ts';
import {
  findStories,
  isObject,
  type Story,
  type StoryHolder,
  type StoryPlace,
  storyLists,
  storyNode,
} from './story-place.ts';
import type { TaskFileComparison, TaskFileVerdict, TaskListReading } from './tasklist.ts';
import { applyEdits, type Edit } from './text.ts';

/** How one notation is read, written and extended by a story. */
export interface StoryFormat {
  /** null: not to be parsed. */
  parse(text: string, path: string): StoryFile | null;
  read(text: string, path: string): TaskListReading;
  notation: Notation;
  /** The edit that puts raw stories behind the last one; an object has them by their ids. */
  append(file: StoryFile, list: StoryHolder, stories: RawStory[]): Edit;
  /** A value of the agent's text, as it can stand in the other text. */
  carry(value: JsonNode, after: string): string;
  /** A story of the agent's text with these fields set where it has them, as `append` takes it. */
  story(after: StoryFile, node: JsonNode, added: { value: Story; fields: StoryFields }): string;
}

/** A story as text, and what it is called. */
export interface RawStory {
  id: string;
  raw: string;
}

/** A list in both views: plain values to compare, nodes to change the text by. */
interface StoryList {
  file: StoryFile;
  place: StoryPlace;
  values: unknown[];
  ids: (string | null)[];
}

interface Comparison extends TaskFileComparison {
  format: StoryFormat;
  verdict: Pick<TaskFileVerdict, 'violations' | 'marked' | 'review'>;
}

/** Compares the two texts; everything is restored where the agent's text cannot be read. */
export function compareStories(format: StoryFormat, input: TaskFileComparison): TaskFileVerdict {
  const path = input.path ?? 'the task list';
  if (input.before === input.after) return restoreAll(format, input, []);
  const before = listOf(format.parse(input.before, path));
  const after = listOf(format.parse(input.after, path));
  if (before === null || after === null) {
    const detail = 'the agent left the task list unreadable or without its stories';
    return restoreAll(format, input, [{ detail }]);
  }
  const anew = renumbered(namedTasks(before), namedTasks(after));
  if (anew !== null) return restoreAll(format, input, [anew]);
  const comparison: Comparison = { ...input, format, verdict: { violations: [], marked: [] } };
  const edits = [...topEdits(comparison, before, after), ...storyEdits(comparison, before, after)];
  const restored = applyEdits(input.before, edits);
  const reading = format.read(restored, path);
  const { violations } = comparison.verdict;
  if (reading.kind !== 'list') {
    const problem = reading.kind === 'empty' ? 'it holds no story' : reading.problem.what;
    return restoreAll(format, input, [...violations, { detail: `the edited list is invalid: ${problem}` }]);
  }
  const was = format.read(input.before, path);
  const legal = changedTasks(was.kind === 'list' ? was.tasks : [], reading.tasks);
  return { ...comparison.verdict, reading, legal, restored };
}

function listOf(file: StoryFile | null): StoryList | null {
  const found = file === null ? null : findStories(file.value);
  if (file === null || found?.kind !== 'stories') return null;
  const { place, values } = found;
  // A list with reviews is the strict one: its stories have ids of their own.
  const ids = isReviewed(values) ? values.map(ownId) : storyIds(values);
  return { file, place, values, ids };
}

function restoreAll(
  format: StoryFormat,
  input: TaskFileComparison,
  violations: { detail: string }[],
): TaskFileVerdict {
  const reading = format.read(input.before, input.path ?? 'the task list');
  return { reading, legal: [], marked: [], violations, restored: input.before };
}

/** The tasks that are new or read differently than before, position aside. */
export function changedTasks(before: readonly TaskDef[], now: readonly TaskDef[]): TaskDef[] {
  const known = new Map(before.map((task) => [task.id, JSON.stringify({ ...task, order: 0 })]));
  return now.filter((task) => known.get(task.id) !== JSON.stringify({ ...task, order: 0 }));
}

function topEdits(comparison: Comparison, before: StoryList, after: StoryList): Edit[] {
  const [was, now] = [before.file, after.file];
  if (!isObject(was.value) || !isObject(now.value)) return [];
  // A file that is a map of stories has nothing beside them.
  if (before.place.keyed && before.place.keys.length === 0) return [];
  comparison.verdict.violations.push(...judgeTop(was.value, now.value));
  const pair = { id: '', before: was.value, after: now.value };
  const fixed = [...FIXED_TOP_KEYS, ...before.place.keys.slice(0, 1)];
  return carriedFields(comparison, pair, { before: was.root, after: now.root, fixed });
}

function storyEdits(comparison: Comparison, before: StoryList, after: StoryList): Edit[] {
  const { verdict } = comparison;
  const found = storiesById(after, verdict);
  const edits: Edit[] = [];
  for (const [index, story] of before.values.entries()) {
    const id = before.ids[index] ?? '';
    const match = found.has(id) ? id : renamed(before, after, index);
    const at = match === null ? undefined : found.get(match);
    if (match === null || at === undefined) {
      verdict.violations.push({ detail: `story "${id}" was deleted` });
      continue;
    }
    found.delete(match);
    const pair = { id, before: story as Story, after: after.values[at] as Story };
    judgeStory(comparison, pair, verdict);
    const [was, now] = [nodeOf(before, index), nodeOf(after, at)];
    // A story without an id is known by its title, so the title is not the agent's to change.
    const fixed = ownId(story) === null ? [...FIXED_KEYS, ...TITLE_KEYS] : FIXED_KEYS;
    edits.push(...carriedFields(comparison, pair, { before: was, after: now, fixed }));
  }
  return [...edits, ...addedStories(comparison, { before, after, found })];
}

function storiesById(after: StoryList, { violations }: Comparison['verdict']): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, id] of after.ids.entries()) {
    if (id !== null && id !== '' && !found.has(id)) found.set(id, index);
    else violations.push({ detail: 'a story without an id of its own was added; it is dropped' });
  }
  return found;
}

/**
 * The id of the story at the same place, where both have no id of their own and the title is the old one
 * in other words. What is written over a story is another one.
 */
function renamed(before: StoryList, after: StoryList, index: number): string | null {
  const [was, now] = [before.values[index], after.values[index]];
  if (!isObject(was) || !isObject(now) || ownId(was) !== null || ownId(now) !== null) return null;
  const id = after.ids[index] ?? null;
  if (id === null || before.ids.includes(id)) return null;
  const [old, title] = [titleOf(was), titleOf(now)];
  if (old === null || title === null || (old.idKind === 'own' && title.idKind === 'own')) return null;
  const same = isReworded(old.title, title.title) && keepsCriteria(criteriaOf(was), criteriaOf(now));
  return same ? id : null;
}

/** The criteria as the file has them, in whatever form. */
function criteriaOf(story: Story): unknown[] {
  return ACCEPTANCE_KEYS.flatMap((key) => story[key] ?? []);
}

function namedTasks({ ids, values }: StoryList): NamedTask[] {
  const found: NamedTask[] = [];
  for (const [index, story] of values.entries()) {
    const id = ids[index] ?? null;
    if (id === null || !isObject(story)) continue;
    const title = titleOf(story)?.title ?? TITLE_KEYS.map((key) => story[key]).find(isTitle);
    if (title !== undefined) found.push({ id, title: title.trim() });
  }
  return found;
}

function isTitle(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function addedStories(
  { format, verdict }: Comparison,
  { before, after, found }: { before: StoryList; after: StoryList; found: ReadonlyMap<string, number> },
): Edit[] {
  const list = storyLists(before.file.root, before.place).at(-1);
  if (found.size === 0 || list === undefined) return [];
  const added = [...found].map(([id, index]) => {
    const value = after.values[index] as Story;
    const { fields, violations } = openedFields(id, value, isReviewed(before.values));
    verdict.violations.push(...violations);
    const node = nodeOf(after, index);
    // What stands by its id needs no field for it.
    const named =
      after.place.keyed && entryOf(node, 'id') === undefined ? { ...value, id: undefined } : value;
    return { id, raw: format.story(after.file, node, { value: named, fields }) };
  });
  return [format.append(before.file, list, added)];
}

function nodeOf({ file, place }: StoryList, index: number): JsonNode {
  return storyNode(file.root, place, index)!;
}

interface PairNodes {
  before: JsonNode;
  after: JsonNode;
  /** Keys that are not the agent's to change. */
  fixed: readonly string[];
}

/** Edits that carry every free field of the agent's version over: its texts, notes and unknown keys. */
function carriedFields(comparison: Comparison, pair: StoryPair, nodes: PairNodes): Edit[] {
  const edits: Edit[] = [];
  const added: [string, string][] = [];
  for (const key of Object.keys(pair.after)) {
    if (nodes.fixed.includes(key) || sameValue(pair.before[key], pair.after[key])) continue;
    const raw = comparison.format.carry(entryOf(nodes.after, key)!.value, comparison.after);
    const old = entryOf(nodes.before, key)?.value;
    if (old === undefined) added.push([key, raw]);
    else edits.push({ start: old.start, end: old.end, text: raw });
  }
  if (added.length > 0 && nodes.before.kind === 'object') {
    edits.push(comparison.format.notation.insert(comparison.before, nodes.before, added));
  }
  return edits;
}

function sameValue(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
