/**
 * The ids of a checklist's tasks, once all of them are known. A tag or a number in front names its task
 * only where it is the only one of its kind; a plan that counts its tasks anew in each part has the part
 * in their names; two lines with one text are two tasks, the second told apart by its number.
 */
import type { TaskDef } from '../core/index.ts';
import { type ChecklistTitle, madeId } from './checklist-title.ts';

/** A task before its id is settled. */
export interface Named {
  task: TaskDef;
  idKind: ChecklistTitle['idKind'];
  line: number;
  counted: boolean;
  /** The headings it stands under, from the outermost, as parts of ids. */
  parts: readonly string[];
}

/** How ids were made longer: the name in front of each task as it is counted in its part of the plan. */
export interface Counted {
  /** By part and counted name, as `countedKey` joins them. */
  ids: ReadonlyMap<string, string>;
  /** The part of a task, by its id. */
  partOf: ReadonlyMap<string, string>;
  told: string[];
}

/** Joins a part and a name that is counted in it. */
export function countedKey(part: string, name: string): string {
  return `${part} ${name}`.toLowerCase();
}

/** Settles the ids in their tasks. */
export function nameAll(items: readonly Named[]): Counted {
  const counted = countAnew(items);
  const shared = sharedNames(items);
  const counts = new Map<string, number>();
  for (const { task, idKind } of items) {
    if (idKind === 'own') continue;
    if (idKind === 'weak' && shared.has(task.id.toLowerCase())) task.id = madeId(`${task.id} ${task.title}`);
    const count = (counts.get(task.id) ?? 0) + 1;
    counts.set(task.id, count);
    if (count > 1) task.id = `${task.id}-${count}`;
  }
  return counted;
}

/** Tags and numbers that stand before more than one task. */
function sharedNames(items: readonly Named[]): Set<string> {
  const shared = new Set<string>();
  if (!items.some(({ idKind }) => idKind === 'weak')) return shared;
  const seen = new Set<string>();
  for (const { idKind, task } of items) {
    if (idKind === 'made') continue;
    const name = task.id.toLowerCase();
    if (seen.has(name)) shared.add(name);
    seen.add(name);
  }
  return shared;
}

/**
 * `Task 1` in two parts of a plan is two tasks. Where one is counted anew all are called by their part,
 * also those that are alone with their number, so that none is renamed when the other part grows.
 */
function countAnew(items: readonly Named[]): Counted {
  const ids = new Map<string, string>();
  const partOf = new Map<string, string>();
  const restarted = restartedWords(items);
  if (restarted.size === 0) return { ids, partOf, told: [] };
  const all = items.filter(({ counted, task }) => counted && restarted.has(wordOf(task.id)));
  const name = PARTS.find((part) => tellsApart(all, part)) ?? joined;
  const found: Named[] = [];
  for (const item of all) {
    const part = name(item.parts);
    if (part === '') continue;
    const { task } = item;
    const id = `${part}-${task.id}`;
    ids.set(countedKey(part, task.id), id);
    partOf.set(id, part);
    Object.assign(task, { id });
    item.idKind = 'own';
    found.push(item);
  }
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return { ids, partOf, told: [] };
  const told = `line ${last.line}: the tasks are counted anew in each part of the plan, so their ids begin with the part: "${first.task.id}" … "${last.task.id}"`;
  return { ids, partOf, told: [told] };
}

/** The words whose numbers stand twice, in different parts. */
function restartedWords(items: readonly Named[]): Set<string> {
  const words = new Set<string>();
  const seen = new Map<string, string>();
  for (const { counted, task, parts } of items) {
    if (!counted) continue;
    const before = seen.get(task.id);
    if (before !== undefined && before !== joined(parts)) words.add(wordOf(task.id));
    seen.set(task.id, joined(parts));
  }
  return words;
}

const wordOf = (id: string): string => id.replace(/[\d.]+$/, '');
const joined = (parts: readonly string[]): string => parts.join('-');

/** What a part is called, shortest first: its counted heading, its own heading, all of them. */
const PARTS: readonly ((parts: readonly string[]) => string)[] = [
  (parts) => parts.findLast((part) => /^[a-z]+-\d/.test(part)) ?? '',
  (parts) => parts.at(-1) ?? '',
];

function tellsApart(items: readonly Named[], name: (parts: readonly string[]) => string): boolean {
  const ids = new Set(items.map(({ parts, task }) => `${name(parts)} ${task.id}`));
  return ids.size === items.length;
}
