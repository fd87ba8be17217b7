/**
 * Approved notes on their way to `.docs/`. Where each goes is planned by its words and its time; what lies
 * there is people's and never overwritten.
 */
import { readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type KnowledgeNote, knowledgeFaults, promotions, type StandingDoc } from '../dialects/index.ts';
import type { DocsFolder, Promoted } from '../engine/index.ts';
import { atomicWrite, hasLink } from './disk.ts';
import { readBounded, sight } from './swap.ts';

const DOC_BYTES = 4 * 1024 * 1024;
const DOCS_MOST = 20_000;

/** Copies the notes that are whole; the others are named with what is wrong in them. */
export async function promoteNotes(
  notes: readonly KnowledgeNote[],
  { dir, made }: DocsFolder,
): Promise<Promoted> {
  const promoted: Promoted = { written: [], refused: [], conflicts: [] };
  const whole = notes.filter((note) => {
    const faults = knowledgeFaults([note]);
    if (faults.length > 0) promoted.refused.push(faults[0]!);
    return faults.length === 0;
  });
  const texts = new Map(whole.map(({ path, text }) => [path, text]));
  for (const { from, to, conflict, there } of promotions(whole, await standingDocs(dir, made))) {
    const target = to.replace(/^\.docs\//, '');
    const file = join(dir, target);
    if (hasLink(dirname(dir), file)) {
      promoted.refused.push(
        `${target} (a link lies on the way to it in .docs/, and nothing is written through one)`,
      );
      continue;
    }
    // What the librarian made of it in this call is the note.
    if (!there && !made.has(file)) await atomicWrite(file, texts.get(from)!);
    (conflict === null ? promoted.written : promoted.conflicts).push(target);
  }
  return promoted;
}

/** What people have there, without what this call made. */
export async function standingDocs(
  dir: string,
  made: ReadonlySet<string> = new Set(),
): Promise<StandingDoc[]> {
  const docs: StandingDoc[] = [];
  for (const entry of entriesBelow(dir).slice(0, DOCS_MOST)) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || made.has(file)) continue;
    const seen = await sight(file).catch(() => null);
    const bytes = await readBounded(file, DOC_BYTES);
    if (seen?.kind !== 'file' || bytes === null) continue;
    const path = `.docs/${relative(dir, file).split(sep).join('/')}`;
    docs.push({ path, text: bytes.toString('utf8'), modifiedAt: seen.mtimeMs });
  }
  return docs;
}

function entriesBelow(dir: string) {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
}
