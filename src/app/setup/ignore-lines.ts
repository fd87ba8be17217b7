/**
 * The lines of .gitignore that keep the desk out of git: the two files a person answers in, and the link
 * to the logs. The file is the user's: lines are added at its end, in its own line endings, and nothing else.
 */
import { constants } from 'node:fs';
import { access, appendFile, lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem, refusalOf } from '../../core/index.ts';
import { hiddenByProject } from '../../repo/index.ts';

/** `ralph/logs` has no slash at its end: it is a link, and a pattern for folders would miss it. */
export const DESK_PATHS = ['ralph/blocked.txt', 'ralph/decide.txt', 'ralph/logs'] as const;

export const IGNORE_HEADING = '# Ralph: what a run asks and logs here is not part of the work';

/** What is to happen to .gitignore. */
export interface IgnorePlan {
  /** Absolute. */
  file: string;
  /** Patterns that are missing. */
  missing: string[];
  /** Bytes to be put at the end of the file; empty when nothing is missing or it must not be touched. */
  addition: string;
  /** Why a person has to add the lines; null: the file can be changed, or is complete. */
  byHand: string | null;
}

/** Asks git what is ignored already, in whatever form it is written. Changes nothing. */
export async function planIgnore(dir: string, env: Record<string, string>): Promise<IgnorePlan> {
  const file = join(dir, '.gitignore');
  const hidden = await hiddenByProject(dir, DESK_PATHS, env);
  const missing = DESK_PATHS.filter((path) => !hidden.has(path));
  const none = { file, missing, addition: '', byHand: null };
  if (missing.length === 0) return none;
  const there = await lstat(file).catch(() => null);
  if (there === null) return { ...none, addition: block(missing, '\n') };
  if (!there.isFile()) {
    const what = there.isSymbolicLink() ? 'is a link, which git does not follow' : 'is no plain file';
    return { ...none, byHand: `.gitignore ${what}` };
  }
  // Bytes, not text: whatever the encoding, ends of lines look the same.
  const text = await readFile(file, 'latin1');
  const end = /\r\n/.test(text) ? '\r\n' : '\n';
  const open = text === '' || text.endsWith('\n') ? '' : end;
  const gap = text.trim() === '' ? '' : end;
  return { ...none, addition: `${open}${gap}${block(missing, end)}` };
}

function block(patterns: readonly string[], end: string): string {
  return [IGNORE_HEADING, ...patterns, ''].join(end);
}

/** Throws a Problem where the file could not be changed; changes nothing itself. */
export async function requireWritable(dir: string, files: string[]): Promise<void> {
  for (const path of files) {
    const there = await lstat(path).catch(() => null);
    try {
      await access(there === null ? dir : path, constants.W_OK);
    } catch (error) {
      throw unwritable(there === null ? dir : path, error);
    }
  }
}

/** Adds the lines. One append, so that a file that grew meanwhile loses nothing. */
export async function writeIgnore({ file, addition }: IgnorePlan): Promise<void> {
  if (addition === '') return;
  try {
    await appendFile(file, addition);
  } catch (error) {
    throw unwritable(file, error);
  }
}

export function unwritable(path: string, error: unknown): Problem {
  const refusal = refusalOf(error);
  return new Problem({
    code: 'init.unwritable',
    what: `${path} cannot be written.`,
    why: refusal?.why ?? (error as Error).message,
    fix: `${refusal?.fix ?? 'Make it writable for this user, or run as its owner.'} \`ralph init --dry-run\` shows what would be written.`,
  });
}

/** True where the text differs from the committed one only by lines that `ralph init` adds. */
export function isOnlyOurs(before: string | null, after: string): boolean {
  const ours = new Set<string>([IGNORE_HEADING, ...DESK_PATHS, '']);
  const [old, now] = [before ?? '', after].map((text) =>
    text.replaceAll('\r\n', '\n').replace(/\n+$/, ''),
  ) as [string, string];
  return (
    now.startsWith(old) &&
    now
      .slice(old.length)
      .split('\n')
      .every((line) => ours.has(line))
  );
}
