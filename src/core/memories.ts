/**
 * Memories: what later calls should know. The file belongs to people and agents alike. What we write is one
 * block for each memory; whatever else stands there is read paragraph by paragraph, and nothing is rewritten.
 *
 *     ### mem-1770561000-3fa2
 *     > Run the tests with `npm test -- --run`.
 *     <!-- tags: tests, npm | created: 2026-02-08T14:30:00.000Z -->
 */

/** One memory. */
export interface Memory {
  /** As its heading says; empty for a paragraph of somebody's own. */
  id: string;
  text: string;
  tags: string[];
  /** ISO 8601; empty where nobody wrote it down. */
  created: string;
}

/** Longest memory that is kept, and longest paragraph that is one. */
export const MAX_MEMORY_CHARS = 4_000;

const BULLET = /^[-*+]\s+/;
const HEADING = /^###\s+(mem-[\w-]+)\s*$/;

/** One block, as `readMemories` reads it back. Every line of the text stays inside its quote. */
export function memoryBlock({ id, text, tags, created }: Memory): string {
  const quote = text
    .replace(/\r\n?/g, '\n')
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd());
  return `### ${id}\n${quote.join('\n')}\n<!-- tags: ${tags.join(', ')} | created: ${created} -->\n`;
}

/** A tag as it is written: small letters, digits, dashes and dots. Empty when nothing of it is left. */
export function tagOf(word: string): string {
  return word
    .trim()
    .slice(0, 400)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}

/** Every memory of the file, in its order: the oldest first where nobody moved them. Never throws. */
export function readMemories(text: string): Memory[] {
  const found: Memory[] = [];
  let id = '';
  let lines: string[] = [];
  let details: Pick<Memory, 'tags' | 'created'> = { tags: [], created: '' };
  const end = () => {
    const words = lines.join('\n').trim();
    // A wall of text is no memory; its lines may be.
    const parts = words.length > MAX_MEMORY_CHARS ? words.split('\n') : [words];
    for (const text of parts) if (text.trim() !== '') found.push({ id, text: text.trim(), ...details });
    id = '';
    lines = [];
    details = { tags: [], created: '' };
  };
  for (const line of text.replace(/\r\n?/g, '\n').split('\n')) {
    const heading = HEADING.exec(line);
    const told = detailsIn(line.trim());
    if (heading !== null) {
      end();
      id = heading[1]!;
    } else if (/^#{1,6}\s/.test(line)) {
      // A heading of somebody's own parts paragraphs and is no memory.
      end();
    } else if (told !== null) {
      details = told;
      if (lines.length > 0) end();
    } else if (line.trim() === '') {
      // Inside a block of ours an empty line is quoted, so this one ends it.
      if (lines.length > 0) end();
    } else if (id === '' && BULLET.test(line)) {
      end();
      lines.push(line.replace(BULLET, ''));
    } else lines.push(line.replace(/^>\s?/, ''));
  }
  end();
  return found;
}

/** Taken apart by hand: whoever writes the file could make one expression search for hours. */
function detailsIn(line: string): Pick<Memory, 'tags' | 'created'> | null {
  if (!line.startsWith('<!--') || !line.endsWith('-->')) return null;
  const inner = line.slice(4, -3);
  const at = inner.lastIndexOf('created:');
  const created = at === -1 ? '' : inner.slice(at + 'created:'.length).trim();
  const head = (at === -1 ? inner : inner.slice(0, at)).trim();
  const tags = head.endsWith('|') ? head.slice(0, -1) : head;
  if (/\s/.test(created) || (tags !== '' && !tags.startsWith('tags:'))) return null;
  if (tags === '' && created === '') return null;
  return { tags: tagsOf(tags.slice('tags:'.length)), created };
}

function tagsOf(words: string): string[] {
  return words
    .split(',')
    .map(tagOf)
    .filter((tag) => tag !== '');
}

/** Those that share words with the query, the most fitting first, the newest first among equals. */
export function searchMemories(memories: readonly Memory[], query: string): Memory[] {
  return ranked(memories, query).flatMap(({ memory, shared }) => (shared > 0 ? [memory] : []));
}

/** What one memory costs beside its own characters. */
const MARKS_CHARS = 4;

/**
 * The memories for a prompt, as text: those that share words with the work first, then the newest, as many
 * whole ones as the budget holds. The number of characters is what counts, four for a token.
 */
export function memoriesFor(memories: readonly Memory[], about: string, budgetTokens: number): string {
  let left = budgetTokens * 4;
  const chosen: string[] = [];
  for (const { memory } of ranked(memories, about)) {
    const tags = memory.tags.length === 0 ? '' : ` (${memory.tags.join(', ')})`;
    const text = `- ${memory.text.replaceAll('\n', '\n  ')}${tags}`;
    if (text.length + MARKS_CHARS > left) continue;
    left -= text.length + MARKS_CHARS;
    chosen.push(text);
  }
  return chosen.join('\n');
}

function ranked(memories: readonly Memory[], about: string): { memory: Memory; shared: number }[] {
  const wanted = wordsOf(about);
  return memories
    .map((memory, order) => {
      const words = wordsOf(`${memory.text} ${memory.tags.join(' ')}`);
      let shared = 0;
      for (const word of words) if (wanted.has(word)) shared += 1;
      return { memory, order, shared };
    })
    .sort((a, b) => b.shared - a.shared || b.order - a.order);
}

/** Words that stand in nearly every text and tell nothing about it. */
const COMMON = new Set(
  'the and for with that this from are was not you your can will must have has its into when then than use used using all any each'.split(
    ' ',
  ),
);

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map(stem));
}

/** `tests` and `test` are one word. */
function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word.replace(/s$/, '');
}
