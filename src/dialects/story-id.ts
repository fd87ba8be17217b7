/**
 * The ids of stories: the story's own field, else what its title says, else made of the title. An id
 * that is made stays the same for as long as the title does, however the story is marked or moved.
 */
import { type ChecklistTitle, madeId, readTitle } from './checklist-title.ts';
import { ID_KEYS, TITLE_KEYS } from './story-fields.ts';
import { isObject, type Story } from './story-place.ts';

/** The id a story has in a field of its own; null where it has none, or one that is no id. */
export function ownId(story: unknown): string | null {
  if (!isObject(story)) return null;
  for (const key of ID_KEYS) {
    if (!Object.hasOwn(story, key)) continue;
    const value = story[key];
    if (typeof value === 'string') return value.trim();
    return typeof value === 'number' ? String(value) : null;
  }
  return null;
}

/** True where a field for the id is there, whatever it holds. */
function hasIdField(story: Story): boolean {
  for (const key of ID_KEYS) if (Object.hasOwn(story, key)) return true;
  return false;
}

/** What the title of a story without an id field says besides the title; null where there is a field. */
export function titleOf(story: unknown): ChecklistTitle | null {
  if (!isObject(story) || hasIdField(story)) return null;
  const text = [...TITLE_KEYS, 'description'].map((key) => story[key]).find(isText);
  if (text === undefined) return null;
  const line = text.trim().split('\n', 1)[0]!.trim();
  const read = readTitle(line);
  // A tag or a number that may mean anything is left in the title.
  return read.idKind === 'own' ? read : { ...read, idKind: 'made', id: madeId(line), title: line };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** The id of every story, in order; null where there is neither a field nor a title to make one of. */
export function storyIds(stories: readonly unknown[]): (string | null)[] {
  const ids = stories.map(ownId);
  if (!ids.includes(null)) return ids;
  const taken = new Set(ids);
  return stories.map((story, index) => {
    const own = ids[index]!;
    const title = own === null ? titleOf(story) : null;
    if (title === null) return own;
    if (title.idKind === 'own') return title.id;
    let id = title.id;
    for (let n = 2; taken.has(id); n++) id = `${title.id}-${n}`;
    taken.add(id);
    return id;
  });
}
