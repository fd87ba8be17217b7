/**
 * What is wrong in a list of stories, each with the line of the field at fault. Lines are looked up when
 * somebody must be shown them, so a list without faults is never searched for its lines.
 */
import type { ProblemFacts } from '../core/index.ts';
import { entryOf, type JsonNode } from './json-tree.ts';
import { type StoryPlace, storyNode } from './story-place.ts';
import type { TaskListReading } from './tasklist.ts';
import { lineAt } from './text.ts';

/** A file that was parsed: its value, and its tree for positions. */
export interface StoryFile {
  value: unknown;
  readonly root: JsonNode;
  text: string;
  /** Names the place of problems. */
  path: string;
  notation: 'json' | 'yaml';
}

/** A file without a task, with what a task looks like in it. */
export function emptyReading(
  notation: StoryFile['notation'],
  why: string,
): TaskListReading & { kind: 'empty' } {
  return { kind: 'empty', why, fix: `Write tasks as ${LOOKS_LIKE[notation]}` };
}

/** What a list of one task looks like. */
export const LOOKS_LIKE: Readonly<Record<StoryFile['notation'], string>> = {
  json: '{ "userStories": [ { "id": "US-1", "title": "Log in", "passes": false } ] }',
  yaml: 'a list `tasks:` of items `- { id: T1, title: Log in, passes: false }`',
};

/** What one task looks like. */
export const ONE_TASK: Readonly<Record<StoryFile['notation'], string>> = {
  json: '{ "id": "US-1", "title": "…", "passes": false }',
  yaml: '- { id: T1, title: …, passes: false }',
};

/** A story's index and field, or a top-level field; `item` is an entry of that field's list. */
export interface FaultPlace {
  story?: number;
  key?: string;
  item?: number;
}

export interface StoryFault {
  place: FaultPlace;
  what: string;
  fix: string;
}

/** The line of a place, found in the tree only now. */
export function faultLine(file: StoryFile, list: StoryPlace, { story, key, item }: FaultPlace): number {
  const base = story === undefined ? file.root : (storyNode(file.root, list, story) ?? file.root);
  const field = key === undefined ? undefined : entryOf(base, key)?.value;
  const inner = item !== undefined && field?.kind === 'array' ? field.items[item] : undefined;
  return lineAt(file.text, (inner ?? field ?? base).start);
}

/** All faults in one problem: the first in full, five more by their lines. */
export function faultsProblem(
  file: StoryFile,
  list: StoryPlace,
  faults: readonly StoryFault[],
): ProblemFacts {
  const [first, ...others] = faults;
  const { place, what, fix } = first!;
  const told = others.slice(0, 5).map((other) => `line ${faultLine(file, list, other.place)}: ${other.what}`);
  const more = others.length > 5 ? [`and ${others.length - 5} more`] : [];
  const also = others.length === 0 ? '' : `; also ${[...told, ...more].join('; ')}`;
  return {
    code: 'tasks.field',
    what,
    why: `the task list decides what is done, so nothing in it is guessed${also}`,
    fix,
    at: `${file.path}:${faultLine(file, list, place)}`,
  };
}

/** A value as a sentence names it. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return 'a text';
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

/** A value as a sentence quotes it, at most a line of it. */
export function shown(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? kindOf(value) : JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
