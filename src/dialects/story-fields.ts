/**
 * The names under which task lists of other tools keep the same things. One table serves reading,
 * marking and comparing, so that the three cannot disagree on who owns a field.
 */
import type { TaskStatus } from '../core/index.ts';
import { stateOfPhrase, wordOfState } from './state-words.ts';

/** Keys of a list's tasks, the first that holds a list rules. */
export const LIST_KEYS = ['userStories', 'user_stories', 'stories', 'tasks', 'features', 'queue'] as const;
export const ID_KEYS = ['id', 'story_id', 'key'] as const;
export const TITLE_KEYS = ['title', 'name'] as const;
export const ACCEPTANCE_KEYS = [
  'acceptanceCriteria',
  'acceptance',
  'acceptance_criteria',
  'steps',
  'subtasks',
] as const;
export const DONE_KEYS = ['passes', 'completed', 'done'] as const;
export const DEPENDENCY_KEYS = [
  'dependsOn',
  'depends_on',
  'dependencies',
  'blockedBy',
  'blocked_by',
] as const;
export const FILE_KEYS = ['files', 'targetFiles'] as const;
export const REASON_KEYS = ['reason', 'blockedReason', 'blocked_reason', 'blockReason'] as const;
export const BLOCKED_KEYS = ['blocked', ...REASON_KEYS] as const;
export const REVIEW_KEYS = ['reviewStatus', 'reviewCount', 'reviewFeedback'] as const;

/** Fields whose value decides what is done: the engine's alone. */
export const ENGINE_KEYS: readonly string[] = [...DONE_KEYS, 'status', 'blocked', ...REVIEW_KEYS];

/** Fields an agent may not change, in addition: identity, order of work, exemptions. */
export const FIXED_KEYS: readonly string[] = [
  ...ENGINE_KEYS,
  ...ID_KEYS,
  ...DEPENDENCY_KEYS,
  'priority',
  'changes',
  ...FILE_KEYS,
  'type',
  'sequential',
];

/** Top-level fields an agent may not change: the list itself, the gates and where work lands. */
export const FIXED_TOP_KEYS: readonly string[] = [...LIST_KEYS, 'verifyCommands', 'branchName'];

const STATUS_WORDS: Record<TaskStatus, readonly string[]> = {
  todo: ['todo', 'to_do', 'open', 'pending', 'ready', 'new', 'not_started', 'backlog', 'blocked'],
  doing: ['in_progress', 'doing', 'started', 'wip', 'active'],
  review: ['review', 'in_review', 'needs_review', 'pending_review'],
  done: ['done', 'completed', 'complete', 'closed', 'passed', 'finished'],
  failed: ['failed'],
  cancelled: ['cancelled', 'canceled', 'skipped', 'wontfix'],
};

const STATUS_OF_WORD = new Map(
  Object.entries(STATUS_WORDS).flatMap(([status, words]) =>
    words.map((word): [string, TaskStatus] => [word, status as TaskStatus]),
  ),
);

/** The status a word of another tool means; null for a word nobody knows. Never guessed as done. */
export function statusOfWord(word: string): TaskStatus | null {
  const known = STATUS_OF_WORD.get(plainWord(word));
  if (known !== undefined) return known;
  const said = stateOfPhrase(word)?.status;
  return said === 'blocked' ? 'todo' : (said ?? null);
}

/**
 * The word to write for a status: one the list already uses, else the counterpart of what stood there,
 * else the commonest, in the spelling of the list.
 */
export function wordOfStatus(status: TaskStatus, used: ReadonlySet<string>, was = ''): string {
  const words = STATUS_WORDS[status].filter((word) => word !== 'blocked');
  const usual = [...used].find((word) => words.includes(plainWord(word)));
  if (usual !== undefined) return usual;
  const pair = COUNTERPARTS.get(plainWord(was));
  const languages = stateOfPhrase(was)?.languages ?? [];
  // A word of another language goes before one of ours that nobody used.
  const said = [...used].find((word) => !isBlockedWord(word) && statusOfWord(word) === status);
  if (said !== undefined) return said;
  if (languages.length > 0 && !languages.includes(0))
    return spelledLike(was, wordOfState(status, languages, [...used]));
  return spelledLike(was, pair !== undefined && words.includes(pair) ? pair : words[0]!);
}

/** A blocked task is open, but its word is not the one for open tasks. */
function isBlockedWord(word: string): boolean {
  return stateOfPhrase(word)?.status === 'blocked';
}

const COUNTERPARTS = new Map([
  ['open', 'closed'],
  ['closed', 'open'],
]);

function plainWord(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

/** `in_progress` as the list would write it: `In Progress`, `IN_PROGRESS`, `in-progress`. */
function spelledLike(model: string, word: string): string {
  const isTitle = /^[A-Z][^A-Z]*[a-z]/.test(model);
  const parts = word.split('_').map((part) => (isTitle ? part[0]!.toUpperCase() + part.slice(1) : part));
  const between = /[\s-]/.exec(model)?.[0] ?? (isTitle ? ' ' : '_');
  const spelled = parts.join(between);
  return /^[A-Z][A-Z_\s-]*$/.test(model) ? spelled.toUpperCase() : spelled;
}

const PRIORITY_WORDS: Record<string, number> = {
  critical: 0,
  urgent: 0,
  blocker: 0,
  highest: 0,
  high: 1,
  medium: 2,
  normal: 2,
  med: 2,
  low: 3,
  lowest: 4,
};

/** `high`, `P2` or `"3"` as a number, lower first; null for a word that is no priority. */
export function priorityOfWord(word: string): number | null {
  const plain = word.trim().toLowerCase();
  const level = /^p(\d)$/.exec(plain) ?? /^(\d{1,4})$/.exec(plain);
  if (level !== null) return Number(level[1]);
  return Object.hasOwn(PRIORITY_WORDS, plain) ? PRIORITY_WORDS[plain]! : null;
}

/** `US-1, US-2`, `none` or `[a, b]` as ids. */
export function idsInText(text: string): string[] {
  const inner = text.trim().replace(/^\[|\]$/g, '');
  return inner
    .split(/[,;]|\s+and\s+/)
    .map((id) => id.trim().replace(/^[`*_"'[(]+|[`*_"'\]).]+$/g, ''))
    .filter((id) => id !== '' && !/^(none|n\/a|nothing|nil|null|-+|—)$/i.test(id));
}
