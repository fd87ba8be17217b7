/** The notes that a cycle's librarian has staged, as they lie there now, for people who decide on them. */
import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { KnowledgeNote } from '../dialects/index.ts';
import { readBounded } from './swap.ts';

/** A longer note is shown as far as this. Bytes. */
const NOTE_BYTES = 256 * 1024;
const NOTES_MOST = 1_000;

/** By path below the cycle's folder, `knowledge/how-to/run.md`, in their order; the list of them is none. */
export async function stagedNotes(sessionDir: string, cycle: number): Promise<KnowledgeNote[]> {
  const folder = join(sessionDir, 'iterations', String(cycle), 'knowledge');
  const paths = namesBelow(folder)
    .map((name) => name.split(sep).join('/'))
    .filter((name) => /\.(?:md|markdown)$/i.test(name) && !/(?:^|\/)\./.test(name) && name !== 'index.md')
    .sort()
    .slice(0, NOTES_MOST);
  const notes: KnowledgeNote[] = [];
  for (const path of paths) {
    const bytes = await readBounded(join(folder, path), NOTE_BYTES);
    if (bytes !== null) notes.push({ path: `knowledge/${path}`, text: bytes.toString('utf8') });
  }
  return notes;
}

function namesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return []; // nothing was staged yet
  }
}
