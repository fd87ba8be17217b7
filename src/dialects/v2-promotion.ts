/**
 * Where approved notes go: `.docs/<category>/<name>`. What stands there is never overwritten: where a
 * person's or another session's words stand, ours are put beside them as `<name>.incoming.md`.
 */
import { type KnowledgeNote, readKnowledge } from './v2-knowledge.ts';

/** A file that stands below `.docs/`. */
export interface StandingDoc {
  path: string;
  text: string;
  /** Epoch ms. */
  modifiedAt: number;
}

export interface Promotion {
  from: string;
  to: string;
  /** Why it does not go where it should: other words stand there, or newer ones. */
  conflict: 'different' | 'newer' | null;
  /** Whether the same words stand there already. */
  there: boolean;
}

/** Where each staged note goes, in their order. Pure: it writes nothing. */
export function promotions(staged: readonly KnowledgeNote[], existing: readonly StandingDoc[]): Promotion[] {
  const standing = new Map(existing.map((doc) => [doc.path.replaceAll('\\', '/').toLowerCase(), doc]));
  const taken = new Set<string>();
  const planned: Promotion[] = [];
  for (const note of staged) {
    const name = safeName(note.path);
    if (/^index\.md$/i.test(name)) continue;
    const { facts } = readKnowledge(note);
    const stem = `.docs/${facts.category ?? 'reference'}/${name.replace(/\.md$/i, '')}`;
    const free = freePath(stem, '.md', taken);
    const doc = standing.get(free.toLowerCase());
    const same = doc !== undefined && plain(doc.text) === plain(note.text);
    if (doc === undefined || same) {
      taken.add(free.toLowerCase());
      planned.push({ from: note.path, to: free, conflict: null, there: same });
      continue;
    }
    const conflict = doc.modifiedAt > (facts.stagedAt ?? 0) ? 'newer' : 'different';
    const others = [...standing.values()].filter(({ text }) => plain(text) !== plain(note.text));
    const held = new Set([...taken, ...others.map(({ path }) => path.replaceAll('\\', '/').toLowerCase())]);
    // The place itself is taken as well from now on: a second note for it is told apart by a number.
    taken.add(free.toLowerCase());
    const to = freePath(free.replace(/\.md$/, ''), '.incoming.md', held);
    taken.add(to.toLowerCase());
    planned.push({ from: note.path, to, conflict, there: standing.has(to.toLowerCase()) });
  }
  return planned;
}

function plain(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .trimEnd();
}

/** The first of `stem.md`, `stem-2.md`, … that is not taken; case does not count. */
function freePath(stem: string, ending: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const path = `${stem}${number === 1 ? '' : `-${number}`}${ending}`;
    if (!taken.has(path.toLowerCase())) return path;
  }
}

/** The file's own name, fit for any disk. */
function safeName(path: string): string {
  const name = path
    .replace(/^.*[\\/]/, '')
    .replace(/[\u0000-\u001f<>:"|?*\u007f]/g, '-')
    .replace(/^\.+/, '');
  const named = name.replace(/\.(?:md|markdown)$/i, '');
  return `${named === '' ? 'note' : named}.md`;
}
