/**
 * The ids of a checklist's tasks, once all of them are known. A tag or a number in front names its task
 * only where it is the only one of its kind; two lines with one text are two tasks, the second told
 * apart by its number.
 */
import type { TaskDef } from '../core/index.ts';
import { type ChecklistTitle, madeId } from './checklist-title.ts';

interface Named {
  task: TaskDef;
  idKind: ChecklistTitle['idKind'];
}

/** Settles the ids in their tasks. */
export function nameAll(items: readonly Named[]): void {
  const shared = sharedNames(items);
  const counts = new Map<string, number>();
  for (const { task, idKind } of items) {
    if (idKind === 'own') continue;
    if (idKind === 'weak' && shared.has(task.id.toLowerCase())) task.id = madeId(`${task.id} ${task.title}`);
    const count = (counts.get(task.id) ?? 0) + 1;
    counts.set(task.id, count);
    if (count > 1) task.id = `${task.id}-${count}`;
  }
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
