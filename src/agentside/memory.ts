/**
 * `ralph tools memory add | search | list`: notes of the project for later calls, in `.ralph/memories.md` of the
 * main checkout. A memory is added with one write at the end, so that agents and people never lose each other's.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Memory } from '../core/index.ts';
import { projectOf } from './attempt.ts';
import type { Complaint, Told } from './say.ts';

const MAX_TAGS = 8;
/** A file that is larger is not read any more by the loop either. */
const MAX_FILE_BYTES = 1024 * 1024;
const SHOWN = 40;

/** Where memories lie: in the project of the attempt, else in the nearest one upwards. */
export function memoriesFile(env: NodeJS.ProcessEnv, cwd: string): string {
  const sessionDir = env.RALPH_SESSION_DIR ?? '';
  if (sessionDir !== '') return join(projectOf({ sessionDir }), '.ralph', 'memories.md');
  for (let at = resolve(cwd); ; at = dirname(at)) {
    if (existsSync(join(at, '.ralph'))) return join(at, '.ralph', 'memories.md');
    if (dirname(at) === at) return join(resolve(cwd), '.ralph', 'memories.md');
  }
}

/** Adds one memory, unless the same text is there already. */
export async function addMemory(
  file: string,
  { text, tags }: { text: string; tags: string[] },
): Promise<Told | Complaint> {
  const { MAX_MEMORY_CHARS, memoryBlock, readMemories, tagOf } = await import('../core/index.ts');
  const words = text.trim();
  const fix = 'ralph tools memory add "Run the tests with npm test -- --run" --tags tests';
  if (words === '') return { what: 'There is nothing to keep.', why: 'The text is empty.', fix };
  if (words.length > MAX_MEMORY_CHARS) {
    return {
      what: 'The memory is too long, and nothing was kept.',
      why: `It has ${words.length} characters; at most ${MAX_MEMORY_CHARS} are kept.`,
      fix: 'Keep the one sentence that later calls need, or write a file in the repository and keep its path.',
    };
  }
  const known = read(file);
  if (typeof known !== 'string') return known;
  const same = readMemories(known).find((memory) => memory.text === words);
  if (same !== undefined)
    return { text: 'It is kept already.', data: { ok: true, added: false, id: same.id } };
  const created = new Date();
  const id = `mem-${Math.floor(created.getTime() / 1000)}-${randomBytes(2).toString('hex')}`;
  const kept = [...new Set(tags.map(tagOf))].filter((tag) => tag !== '').slice(0, MAX_TAGS);
  const block = memoryBlock({ id, text: words, tags: kept, created: created.toISOString() });
  const failed = write(file, block);
  return failed ?? { text: `Kept as ${id}.`, data: { ok: true, added: true, id, tags: kept } };
}

/** The newest memories, or those that share words with the query, the most fitting first. */
export async function findMemories(file: string, query: string | null): Promise<Told | Complaint> {
  const { readMemories, searchMemories } = await import('../core/index.ts');
  const text = read(file);
  if (typeof text !== 'string') return text;
  const all = readMemories(text);
  const found = query === null ? all.toReversed() : searchMemories(all, query);
  const shown = found.slice(0, SHOWN);
  const none = query === null ? 'No memory is kept yet.' : 'No memory fits these words.';
  const lines = shown.map(lineOf);
  if (found.length > SHOWN) lines.push(`… ${found.length - SHOWN} more`);
  return { text: lines.length === 0 ? none : lines.join('\n'), data: shown };
}

function lineOf({ id, text, tags }: Memory): string {
  const about = [id, tags.join(', ')].filter((one) => one !== '').join(': ');
  return `- ${text.replaceAll('\n', '\n  ')}${about === '' ? '' : ` [${about}]`}`;
}

function read(file: string): string | Complaint {
  try {
    const { size } = statSync(file);
    if (size > MAX_FILE_BYTES) {
      return {
        what: `${file} is too large.`,
        why: `It has ${size} bytes; memories are read up to ${MAX_FILE_BYTES}.`,
        fix: 'A person shortens it: what is not true or not needed any more is deleted.',
      };
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    return unusable(file, error);
  }
}

/** One write to a file opened for appending. A link is not followed: it could lead anywhere. */
function write(file: string, block: string): Complaint | null {
  let descriptor: number | null = null;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    descriptor = openSync(file, flags, 0o644);
    const { size } = fstatSync(descriptor);
    const last = Buffer.alloc(1, 0x0a);
    if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
    const head = size === 0 ? '# Memories\n\n' : `${last[0] === 0x0a ? '' : '\n'}\n`;
    const bytes = Buffer.from(`${head}${block}`);
    const written = writeSync(descriptor, bytes, 0, bytes.length);
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
    return null;
  } catch (error) {
    return unusable(file, error);
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function unusable(file: string, error: unknown): Complaint {
  return {
    what: `${file} cannot be used.`,
    why: error instanceof Error ? error.message : String(error),
    fix: 'Say what should be kept in the summary of your report instead.',
  };
}
