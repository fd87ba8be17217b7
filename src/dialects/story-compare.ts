/**
 * What of an agent's edit of a story list stands. The text to write back is grown from the text as it
 * was before: legal text edits and new open stories are carried over into it, so whatever the agent
 * did besides - to markers, counts, gates, other stories, indentation - is undone by never being taken.
 */
import type { TaskDef } from '../core/index.ts';
import { entryOf, type JsonNode } from './json-tree.ts';
import { judgeStory, judgeTop, openedFields, type StoryPair } from './story-claims.ts';
import { FIXED_KEYS, FIXED_TOP_KEYS } from './story-fields.ts';
import {
  isObject,
  isReviewed,
  type Story,
  type StoryFile,
  storyArray,
  storyId,
  storyValues,
} from './story-list.ts';
import type { Notation, StoryFields } from './story-marks.ts';
import type { TaskFileComparison, TaskFileVerdict, TaskListReading } from './tasklist.ts';
import { applyEdits, type Edit } from './text.ts';

/** How one notation is read, written and extended by a story. */
export interface StoryFormat {
  /** null: not to be parsed. */
  parse(text: string, path: string): StoryFile | null;
  read(text: string, path: string): TaskListReading;
  notation: Notation;
  /** The edit that puts raw stories behind the list's last one. */
  append(file: StoryFile, list: JsonNode & { kind: 'array' }, raws: string[]): Edit;
  /** A value of the agent's text, as it can stand in the other text. */
  carry(value: JsonNode, after: string): string;
  /** A story of the agent's text with these fields set where it has them, as `append` takes it. */
  story(after: StoryFile, index: number, fields: StoryFields): string;
}

/** A list in both views: plain values to compare, nodes to change the text by. */
interface StoryList {
  file: StoryFile;
  node: JsonNode & { kind: 'array' };
  values: unknown[];
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
  const node = file === null ? undefined : storyArray(file.root);
  const values = file === null ? undefined : storyValues(file.value);
  return file === null || node === undefined || values === undefined ? null : { file, node, values };
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
  comparison.verdict.violations.push(...judgeTop(was.value, now.value));
  const pair = { id: '', before: was.value, after: now.value };
  return carriedFields(comparison, pair, { before: was.root, after: now.root, fixed: FIXED_TOP_KEYS });
}

function storyEdits(comparison: Comparison, before: StoryList, after: StoryList): Edit[] {
  const { verdict, format } = comparison;
  const found = new Map<string, number>();
  for (const [index, story] of after.values.entries()) {
    const id = storyId(story);
    if (id !== null && id !== '' && !found.has(id)) found.set(id, index);
    else verdict.violations.push({ detail: 'a story without an id of its own was added; it is dropped' });
  }
  const edits: Edit[] = [];
  for (const [index, story] of before.values.entries()) {
    const id = storyId(story) ?? '';
    const at = found.get(id);
    found.delete(id);
    if (at === undefined) verdict.violations.push({ detail: `story "${id}" was deleted` });
    else {
      const pair = { id, before: story as Story, after: after.values[at] as Story };
      judgeStory(comparison, pair, verdict);
      const nodes = { before: before.node.items[index]!, after: after.node.items[at]! };
      edits.push(...carriedFields(comparison, pair, { ...nodes, fixed: FIXED_KEYS }));
    }
  }
  const added = [...found].map(([id, index]) => {
    const { fields, violations } = openedFields(id, after.values[index] as Story, isReviewed(before.values));
    verdict.violations.push(...violations);
    return format.story(after.file, index, fields);
  });
  if (added.length > 0) edits.push(format.append(before.file, before.node, added));
  return edits;
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
