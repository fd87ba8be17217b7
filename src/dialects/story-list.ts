/**
 * Stories: a list of objects with ids, whether it stands in JSON or in YAML. Everything that is read
 * is checked, and every fault says the line of the field at fault; a fault is never a crash and never
 * an empty list.
 */
import type { ProblemFacts } from '../core/index.ts';
import { nearest } from '../core/index.ts';
import {
  emptyReading,
  faultLine,
  faultsProblem,
  LOOKS_LIKE,
  type StoryFault,
  type StoryFile,
} from './story-faults.ts';
import { REVIEW_KEYS } from './story-fields.ts';
import { storyIds } from './story-id.ts';
import {
  findStories,
  isObject,
  type ListChoice,
  placeName,
  type StoriesFound,
  type Story,
  type StoryPlace,
} from './story-place.ts';
import { readStory, type StoryReader } from './story-read.ts';
import { graphFault } from './task-graph.ts';
import type { TaskListReading } from './tasklist.ts';

/** True where any story carries review fields. */
export function isReviewed(stories: readonly unknown[]): boolean {
  for (const story of stories) {
    if (!isObject(story)) continue;
    for (const key of REVIEW_KEYS) if (Object.hasOwn(story, key)) return true;
  }
  return false;
}

/** Where the stories of a file stand and what they are called. */
export interface StoryIndex {
  place: StoryPlace;
  values: readonly unknown[];
  ids: readonly (string | null)[];
}

/** The stories of a file; null where it has none, or several lists. */
export function indexStories(value: unknown): StoryIndex | null {
  const found = findStories(value);
  return found.kind === 'stories' ? { ...found, ids: storyIds(found.values) } : null;
}

/** Reads a whole file; `wanted` names one of several lists in it. `seen` is told what was found. */
export function readStories(
  file: StoryFile,
  wanted?: string,
  seen?: (index: StoryIndex) => void,
): TaskListReading {
  const found = findStories(file.value, wanted);
  if (found.kind !== 'stories') return withoutStories(file, found, wanted);
  const { values, place } = found;
  if (values.length === 0) return emptyReading(file.notation, `${listName(place)} is an empty list.`);
  const ids = storyIds(values);
  seen?.({ place, values, ids });
  const reader = readerOf(file, values, ids);
  const tasks = values.map((story, index) => readStory(reader, story, index));
  const top: Story = isObject(file.value) ? file.value : {};
  const gates = readGates(reader, top);
  if (reader.faults.length > 0) {
    return { kind: 'unreadable', problem: faultsProblem(file, place, reader.faults) };
  }
  const lineOf = (story: number) => faultLine(file, place, { story });
  const fault = graphFault(tasks, lineOf);
  if (fault !== null) {
    const { code, what, why, fix, line } = fault;
    return { kind: 'unreadable', problem: { code, what, why, fix, at: `${file.path}:${line}` } };
  }
  warnOfTop(reader, top, tasks);
  const warnings = reader.warnings.map(({ story, text }) => `line ${lineOf(story)}: ${text}`);
  warnings.unshift(...passedOver(found.passedOver, place));
  return {
    kind: 'list',
    tasks,
    reviewed: reader.reviewed,
    gates,
    project: topText(top, ['project', 'projectName', 'name', 'title']),
    description: topText(top, ['description']),
    warnings,
    ...(reader.blocked.length > 0 && { blocked: reader.blocked }),
  };
}

function listName(place: StoryPlace): string {
  const name = placeName(place);
  return name === '' ? 'The file' : `"${name}"`;
}

/** What an object without a list of tasks has, in a sentence. */
function holds(value: unknown): string {
  const keys = isObject(value) ? Object.keys(value) : [];
  if (keys.length === 0) return 'The file holds nothing.';
  const named = keys.slice(0, 6).map((key) => `"${key.slice(0, 40)}"`);
  const more = keys.length > 6 ? ` and ${keys.length - 6} more` : '';
  return `It holds ${named.join(', ')}${more}, and none of these is a list of tasks.`;
}

function readerOf({ notation }: StoryFile, values: readonly unknown[], ids: StoryReader['ids']): StoryReader {
  const reviewed = isReviewed(values);
  return { story: {}, index: 0, ids, reviewed, notation, faults: [], warnings: [], blocked: [] };
}

function passedOver(lists: readonly ListChoice[], place: StoryPlace): string[] {
  return lists.map(
    ({ list, tasks }) =>
      `"${list}" (${tasks} ${tasks === 1 ? 'item' : 'items'}) holds nothing that can be marked; "${placeName(place)}" is the task list`,
  );
}

const DONE_LISTS = ['completed', 'completedTasks', 'completedStories', 'completed_tasks', 'done'] as const;

/** Some tools also keep a list of finished ids. Where it disagrees, the story itself rules, and that is told. */
function warnOfTop(reader: StoryReader, top: Story, tasks: readonly { id: string; status: string }[]): void {
  for (const key of DONE_LISTS) {
    const list = top[key];
    if (!Array.isArray(list) || list.length === 0) continue;
    const named = new Set(list.map(String));
    for (const [story, { id, status }] of tasks.entries()) {
      if (!named.has(id) || status === 'done') continue;
      const text = `story "${id}" is open, but the list "${key}" names it; the story itself rules`;
      reader.warnings.push({ story, text });
    }
  }
}

type NotFound = Exclude<StoriesFound, { kind: 'stories' }>;

function withoutStories(file: StoryFile, found: NotFound, wanted: string | undefined): TaskListReading {
  if (found.kind === 'none') return emptyReading(file.notation, holds(file.value));
  if (found.kind === 'no-list') {
    const what = `${found.name === '' ? 'the file' : `"${found.name}"`} must be a list of stories`;
    const place = found.name === '' ? {} : { key: found.name };
    const fault: StoryFault = { place, what, fix: `write ${LOOKS_LIKE[file.notation]}` };
    return { kind: 'unreadable', problem: faultsProblem(file, NOWHERE, [fault]) };
  }
  const { choices } = found;
  return { kind: 'unreadable', problem: choiceProblem(file, found, wanted), choices };
}

const NOWHERE: StoryPlace = { keys: [], nested: null };

function choiceProblem(
  { path }: StoryFile,
  { known, choices }: NotFound & { kind: 'choices' },
  wanted: string | undefined,
): ProblemFacts {
  const names = choices.map(({ list, tasks }) => `"${list}" (${tasks})`).join(', ');
  const code = 'tasks.ambiguous';
  if (wanted !== undefined) {
    const lists = choices.map(({ list }) => list);
    const near = nearest(wanted, lists);
    const meant = near === null ? '' : `; did you mean "${near}"?`;
    const why = choices.length === 0 ? 'the file holds no list of tasks' : `the file holds ${names}${meant}`;
    const what = `there is no list "${wanted}" in the file`;
    return { code: 'tasks.no_such_list', what, why, fix: 'name one of its lists', at: path };
  }
  const fix = `ralph import ${path} --list ${choices[0]!.list}, or name the other list in a way that does not mean tasks`;
  if (known) {
    const what = `${choices.length} lists in the file could be the tasks: ${names}`;
    return { code, what, why: 'which of them is meant is not guessed', fix, at: path };
  }
  const what = `no list in the file has a name that means tasks; perhaps ${names}`;
  const why = 'which list is meant is not guessed';
  const rename = `rename it to "userStories", or ralph import ${path} --list ${choices[0]!.list}`;
  return { code, what, why, fix: rename, at: path };
}

function topText(top: Story, keys: readonly string[]): string {
  const key = keys.find((known) => Object.hasOwn(top, known));
  const value = key === undefined ? undefined : top[key];
  return typeof value === 'string' ? value : '';
}

function readGates(reader: StoryReader, top: Story): string[] {
  const key = 'verifyCommands';
  const value = top[key];
  if (value === undefined || value === null) return [];
  const fix = 'write a list of texts: ["…", "…"]';
  const bad = Array.isArray(value) ? value.findIndex((command) => typeof command !== 'string') : null;
  if (bad === null) {
    reader.faults.push({ place: { key }, what: `"${key}" of the list is not a list`, fix });
    return [];
  }
  if (bad !== -1) {
    const what = `"${key}" of the list holds something else than texts`;
    reader.faults.push({ place: { key, item: bad }, what, fix });
    return [];
  }
  return (value as string[]).filter((command) => command.trim() !== '');
}
