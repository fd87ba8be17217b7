/**
 * What the system says no with when a file is to be read or written, told as what it is. One table, whoever met the
 * refusal: a call of ours (by its code) or git (by its words). Only a full or broken disk is told as one.
 */
import { Problem } from './problem.ts';

interface Refusal {
  /** As programs print it. */
  words: RegExp;
  why: string;
  fix: string;
  /** The disk itself takes no more: exit 70. Anything else is for a person to set right: 5. */
  disk?: true;
}

const INTACT = 'what was written before is intact';

const RIGHTS =
  'Give this user the right to it (`ls -ld` on it and on the folders above it shows whose they are), or run as their owner.';

const REFUSALS: Record<string, Refusal> = {
  ENOSPC: {
    words: /No space left|disk full/i,
    why: `The disk takes no more, it is full; ${INTACT}.`,
    fix: 'Free some space on that disk, then run again: it goes on where it stopped.',
    disk: true,
  },
  EDQUOT: {
    words: /quota exceeded/i,
    why: `The disk takes no more of this user's, the quota is used up; ${INTACT}.`,
    fix: "Remove files of this user's there, or have the quota raised, then run again: it goes on where it stopped.",
    disk: true,
  },
  EIO: {
    words: /Input\/output error/i,
    why: `The disk answers with an error of its own, so it may be failing or gone; ${INTACT}.`,
    fix: "Look into the system's log for errors of that disk; once it can be written, run again: it goes on where it stopped.",
    disk: true,
  },
  EFBIG: {
    words: /File too large/i,
    why: `A file may not grow so far: by a limit of this user's (\`ulimit -f\`) or of the file system; ${INTACT}.`,
    fix: 'Raise the limit, then run again: it goes on where it stopped.',
    disk: true,
  },
  EROFS: {
    words: /Read-only file system/i,
    why: 'It lies on a file system that is mounted read-only.',
    fix: 'Mount it so that it can be written, or work in a copy that lies elsewhere. Where it was writable before, the system may have found the disk damaged: its log says so.',
  },
  EACCES: {
    words: /Permission denied/i,
    why: 'This user has no right to it.',
    fix: RIGHTS,
  },
  EPERM: {
    words: /Operation not permitted/i,
    why: 'The system does not let this user do that: it belongs to another user, or it is locked against changes (`lsattr`).',
    fix: RIGHTS,
  },
  ENOTDIR: {
    words: /Not a directory/i,
    why: 'On the way to it a file lies where a folder has to be.',
    fix: 'Move that file away, then run again.',
  },
  EISDIR: {
    words: /Is a directory/i,
    why: 'A folder lies where a file has to be.',
    fix: 'Move that folder away, then run again.',
  },
  EMFILE: {
    words: /Too many open files(?! in system)/i,
    why: 'As many files are open as one program of this user may have (`ulimit -n`).',
    fix: 'Raise that limit (`ulimit -n 4096`), then run again.',
  },
  ENFILE: {
    words: /Too many open files in system/i,
    why: 'As many files are open on this machine as it can have.',
    fix: 'End programs that hold many files open, or have the limit of the machine raised, then run again.',
  },
  ENAMETOOLONG: {
    words: /File name too long/i,
    why: 'Its name is longer than the file system takes.',
    fix: 'Work in a folder with a shorter path, or give it a shorter name.',
  },
};

/** Why the system refuses, by the code or the error that bears one, and what to do; null: it is none of a file's. */
export function refusalOf(error: unknown): { why: string; fix: string; disk: boolean } | null {
  const code = typeof error === 'string' ? error : (error as SystemError | null)?.code;
  if (typeof code !== 'string' || !Object.hasOwn(REFUSALS, code)) return null;
  const { why, fix, disk } = REFUSALS[code]!;
  return { why: `${why.slice(0, -1)} (${code}).`, fix, disk: disk === true };
}

/** The code behind what a program printed; null: it says nothing of the kind. */
export function refusalIn(text: string): string | null {
  return Object.keys(REFUSALS).find((code) => REFUSALS[code]!.words.test(text)) ?? null;
}

const READS = new Set(['read', 'scandir', 'stat', 'lstat', 'readlink', 'opendir', 'access', 'realpath']);
const REMOVES = new Set(['unlink', 'rmdir', 'rm']);

/** What was tried; `open` may be either, but some refusals only meet who writes. */
function deed(syscall: string | undefined, code: string): string {
  if (syscall === undefined) return 'written';
  if (READS.has(syscall)) return 'read';
  if (REMOVES.has(syscall)) return 'removed';
  return syscall === 'open' && !['EROFS', 'ENOSPC', 'EDQUOT'].includes(code) ? 'opened' : 'written';
}

interface SystemError {
  code?: unknown;
  syscall?: unknown;
  path?: unknown;
  dest?: unknown;
  /** Of an error of the store's own. */
  file?: unknown;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** An error of the system about a file, as the Problem it is; null for everything else, such as a defect. */
export function systemProblem(error: unknown): Problem | null {
  const { code, syscall, path, dest, file } = (error ?? {}) as SystemError;
  const refusal = refusalOf(error);
  if (refusal === null || !(error instanceof Error)) return null;
  // What is said of a program or a port is no word about a file.
  const call = text(syscall)?.split(' ')[0];
  if (call === 'spawn' || call === 'listen' || call === 'connect') return null;
  const about = text(file) ?? text(dest) ?? text(path);
  const what =
    about === undefined ? `${error.message}.` : `${about} could not be ${deed(call, code as string)}.`;
  const facts = {
    code: `system.${(code as string).toLowerCase()}`,
    what,
    why: refusal.why,
    fix: refusal.fix,
  };
  return new Problem(facts, refusal.disk ? 70 : 5);
}
