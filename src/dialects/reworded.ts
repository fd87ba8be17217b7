/**
 * Whether two titles are one task's, told in other words, or two tasks'. What an agent writes over a task
 * is not that task: where a title is all that a task is known by, words may be added, left out or spelled
 * otherwise, yet a number never becomes another.
 */

/** A task as two versions of a list name it. */
export interface NamedTask {
  /** The id that the list gives it. */
  id: string;
  title: string;
}

/** True where one title has all words of the other in their order, a slip of the pen in a word forgiven. */
export function isReworded(old: string, now: string): boolean {
  if (old === now) return true;
  const [short, long] = [wordsOf(old), wordsOf(now)].sort((a, b) => a.length - b.length);
  if (short === undefined || long === undefined || short.join('').length < SHORTEST) return false;
  // Words behind it are remarks ("done in abc123"), however many; words within it make another sentence soon.
  const begins = short.every((word, index) => sameWord(word, long[index]!));
  if (begins) return true;
  if (long.length > 2 * short.length) return false;
  let next = 0;
  for (const word of long) if (next < short.length && sameWord(short[next]!, word)) next += 1;
  return next === short.length;
}

/** A title of fewer letters is a beginning of too much. */
const SHORTEST = 4;
/** Titles are compared by their first words. */
const MOST_WORDS = 60;

function wordsOf(title: string): string[] {
  return (title.slice(0, 1_000).toLowerCase().match(WORD) ?? []).slice(0, MOST_WORDS);
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

function sameWord(a: string, b: string): boolean {
  if (a === b) return true;
  if (/\p{N}/u.test(a + b)) return false;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= SHORTEST && long.length - short.length <= 1 && oneSlip(short, long);
}

/** One character more, another one, or two neighbours swapped. */
function oneSlip(short: string, long: string): boolean {
  let from = 0;
  while (from < short.length && short[from] === long[from]) from += 1;
  if (short.length < long.length) return short.slice(from) === long.slice(from + 1);
  if (short.slice(from + 1) === long.slice(from + 1)) return true;
  const swapped = short[from] === long[from + 1] && short[from + 1] === long[from];
  return swapped && short.slice(from + 2) === long.slice(from + 2);
}

/** True where nothing that was asked for is gone; more may be asked for. */
export function keepsCriteria(old: readonly unknown[], now: readonly unknown[]): boolean {
  const there = new Set(now.map((criterion) => JSON.stringify(criterion)));
  return old.every((criterion) => there.has(JSON.stringify(criterion)));
}

/**
 * A task that stands under another id now, while its own was given to something else: whoever counts a
 * list anew gives each task's past to its neighbour. null where that is nowhere so.
 */
export function renumbered(was: readonly NamedTask[], now: readonly NamedTask[]): { detail: string } | null {
  const byId = new Map(now.map((task) => [task.id, task.title]));
  const byTitle = new Map(now.map((task) => [task.title, task.id]));
  const known = new Set(was.map(({ id, title }) => JSON.stringify([id, title])));
  for (const { id, title } of was) {
    const instead = byId.get(id);
    const moved = byTitle.get(title);
    if (instead === undefined || moved === undefined || moved === id || instead === title) continue;
    if (known.has(JSON.stringify([moved, title])) || isReworded(title, instead)) continue;
    const detail = `the tasks were numbered anew: "${title.slice(0, 80)}" was "${id}" and became "${moved}", so the list was put back; a new task takes a new id`;
    return { detail };
  }
  return null;
}
