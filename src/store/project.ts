/**
 * The project journal, `.ralph/journal.jsonl`: what outlives sessions (spend, intervention events,
 * pairing, resets, loops). Several loops write it at once without a lock: each record is one line,
 * written by one append, and tells its own story, so their order among each other does not matter.
 */
import { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { diskError, errorCode, StoreFull } from './disk.ts';
import { ensureProjectFolder } from './sessions.ts';

/** What is told of one event. What further keys mean depends on `type`, which the writers agree on. */
export interface ProjectNews {
  /** Epoch ms. */
  at: number;
  /** noun.past, like facts. */
  type: string;
  [key: string]: unknown;
}

/** One line as it is read back. */
export interface ProjectRecord extends ProjectNews {
  v: number;
}

/** Where the project journal lies. */
export function projectJournal(mainRoot: string): string {
  return join(mainRoot, '.ralph', 'journal.jsonl');
}

/** Appends one record durably. Throws `StoreFull` when the disk takes no more. */
export async function appendProject(mainRoot: string, news: ProjectNews): Promise<void> {
  await ensureProjectFolder(mainRoot);
  const file = projectJournal(mainRoot);
  const handle = await open(file, 'a+', 0o600);
  try {
    const line = `${(await endsOpen(handle)) ? '\n' : ''}${JSON.stringify({ v: 1, ...news })}\n`;
    const bytes = Buffer.from(line);
    const { bytesWritten } = await handle.write(bytes);
    // The rest of a cut write may not be sent after it: another writer's line could lie between.
    if (bytesWritten < bytes.length) throw new StoreFull('ENOSPC', file, null);
    await handle.datasync();
  } catch (error) {
    throw diskError(error, file);
  } finally {
    await handle.close();
  }
}

/** True where a crash left a line without its end; the next record must not be glued to it. */
async function endsOpen(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

/** The records in file order, and how many lines could not be read (cut short by a crash, or edited). */
export function readProject(mainRoot: string): { records: ProjectRecord[]; unreadable: number } {
  const records: ProjectRecord[] = [];
  let unreadable = 0;
  for (const line of textOf(projectJournal(mainRoot)).split('\n')) {
    if (line.trim() === '') continue;
    const record = parse(line);
    if (record === null) unreadable++;
    else records.push(record);
  }
  return { records, unreadable };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

function parse(line: string): ProjectRecord | null {
  try {
    const value = JSON.parse(line) as Partial<ProjectRecord> | null;
    const whole = typeof value === 'object' && value !== null && typeof value.type === 'string';
    return whole && typeof value.at === 'number' ? (value as ProjectRecord) : null;
  } catch {
    return null;
  }
}
