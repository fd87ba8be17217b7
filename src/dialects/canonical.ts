/**
 * Any task list as Ralph's own `tasks.json`. What reads the same tasks from it is all that counts, so
 * every task keeps its id, also one that was made of its title; fields that nobody here knows go along.
 */
import { parseDocument } from 'yaml';
import type { TaskDef } from '../core/index.ts';
import { readJson } from './json-tree.ts';
import { dialectOf } from './pick.ts';
import { ACCEPTANCE_KEYS, BLOCKED_KEYS, FILE_KEYS, FIXED_KEYS, TITLE_KEYS } from './story-fields.ts';
import { findStories, isObject, type Story } from './story-place.ts';
import type { TaskListReading } from './tasklist.ts';

/** A list that was read, and the text it was read from. */
export interface CanonicalSource {
  path: string;
  text: string;
  /** The one of several lists that was read. */
  list?: string;
  reading: TaskListReading & { kind: 'list' };
}

/** The list as the text of a `tasks.json`, with its final newline. Reading it gives the same tasks. */
export function canonicalTasks(source: CanonicalSource): string {
  const { reading } = source;
  const { top, stories } = storiesOf(source);
  const blocked = new Map((reading.blocked ?? []).map(({ task, reason }) => [task, reason]));
  const userStories = reading.tasks.map((task, index) => ({
    ...canonicalStory(task, reading.reviewed),
    ...blockedFields(blocked.get(task.id)),
    ...unknownFields(stories[index]),
  }));
  const { branchName } = top;
  const list = {
    project: reading.project,
    description: reading.description,
    ...(typeof branchName === 'string' && { branchName }),
    ...(reading.gates.length > 0 && { verifyCommands: reading.gates }),
    userStories,
  };
  return `${JSON.stringify(list, null, 2)}\n`;
}

function canonicalStory(task: TaskDef, reviewed: boolean): Story {
  const { id, title, description, acceptance, priority, dependsOn, status, files, changes } = task;
  return {
    id,
    title,
    description,
    ...(acceptance.length > 0 && { acceptanceCriteria: acceptance }),
    priority,
    dependsOn,
    passes: status === 'done',
    // `passes` says done or not; how an open one stands needs a word.
    ...(status !== 'done' && status !== 'todo' && !(reviewed && status === 'review') && { status }),
    ...(reviewed && {
      reviewStatus: task.review?.status ?? null,
      reviewCount: task.review?.count ?? 0,
      reviewFeedback: task.review?.feedback ?? '',
    }),
    ...(files.length > 0 && { files }),
    ...(changes === 'none' && { changes }),
    ...(task.sequential === true && { sequential: true }),
  };
}

function blockedFields(reason: string | undefined): Story {
  if (reason === undefined) return {};
  return reason === '' ? { blocked: true } : { blocked: true, reason };
}

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...FIXED_KEYS,
  ...TITLE_KEYS,
  ...ACCEPTANCE_KEYS,
  ...FILE_KEYS,
  ...BLOCKED_KEYS,
  'description',
]);

function unknownFields(story: unknown): Story {
  if (!isObject(story)) return {};
  return Object.fromEntries(Object.entries(story).filter(([key]) => !KNOWN_KEYS.has(key)));
}

/** The stories as they stand in the file, where it has any; a checklist has none. */
function storiesOf({ path, text, list }: CanonicalSource): { top: Story; stories: readonly unknown[] } {
  const value = valueIn(dialectOf(path, text).name, text);
  const found = findStories(value, list);
  const stories = found.kind === 'stories' ? found.values : [];
  return { top: isObject(value) ? value : {}, stories };
}

function valueIn(dialect: string, text: string): unknown {
  if (dialect === 'tasks-json') {
    const reading = readJson(text);
    return reading.kind === 'tree' ? reading.value : null;
  }
  if (dialect !== 'tasks-yaml') return null;
  return parseDocument(text, { logLevel: 'silent' }).toJS({ maxAliasCount: 0 });
}
