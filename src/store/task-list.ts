/**
 * The user's task file as the engine's port. The file stays the user's: it is read when it changed,
 * marked where a verdict earned it, and after an attempt whatever was not the agent's to change is put
 * back. Whoever writes between our reading and our writing is read again, never overwritten.
 */
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { open, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isTerminal, Problem, type ProblemFacts, refusalOf, type TaskState } from '../core/index.ts';
import { compareTaskFile, dialectOf, readTaskList, type TaskMark, writeMarks } from '../dialects/index.ts';
import {
  fileReview,
  type ListEdit,
  type ListInspection,
  type ListReading,
  type TaskList,
} from '../engine/index.ts';
import { sha256 } from './chain.ts';
import { errorCode, numbered } from './disk.ts';
import { type Sight, sight, swap } from './swap.ts';

/** Largest task file that is read. Bytes. */
const TASK_FILE_BYTES = 10 * 1024 * 1024;
/** How much of an unreadable version by an agent is kept. Bytes. */
const KEPT_BYTES = 1024 * 1024;
/** File systems with coarse times: a file younger than this may change again without a new time. */
const SETTLED_MS = 2_000;
const TRIES = 5;

export interface TaskListOptions {
  /** Absolute: the folder `path` is relative to. */
  projectDir: string;
  /** Absolute root of the ground. */
  groundRoot: string;
  /** Relative to the project folder, or absolute. */
  path: string;
  /** Told each warning of the reader once; the reading carries them too. */
  warn?: (text: string) => void;
}

type FileSight = Extract<Sight, { kind: 'file' }>;

/** What lies there: a text, or why there is none. */
type Loaded =
  | { kind: 'text'; text: string; sha256: string; seen: FileSight }
  | { kind: 'missing'; seen: Sight }
  | { kind: 'unreadable'; problem: ProblemFacts; seen: Sight };

interface OpenList {
  projectDir: string;
  file: string;
  path: string;
  warn: (text: string) => void;
  warned: Set<string>;
  cache: { loaded: Extract<Loaded, { kind: 'text' }>; settled: boolean; reading: ListReading } | null;
  /** Rights of the file as last seen, for a file that must be made again. */
  mode: number;
}

/** Opens the task file; it need not be there or be readable yet. */
export async function openTaskList(options: TaskListOptions): Promise<TaskList> {
  const { projectDir, groundRoot, path, warn = () => {} } = options;
  const file = resolve(projectDir, path);
  const shown = inside(projectDir, file) ?? file;
  const list: OpenList = {
    projectDir,
    file,
    path: shown,
    warn,
    warned: new Set(),
    cache: null,
    mode: 0o644,
  };
  const reading = await read(list);
  const text = reading.kind === 'list' ? reading.text : '';
  return {
    source: {
      kind: 'file',
      path: shown,
      dialect: dialectOf(shown, text).name,
      reviewed: reading.kind === 'list' && reading.reviewed,
    },
    groundPath: inside(await real(groundRoot), join(await real(dirname(file)), basename(file))),
    read: () => read(list),
    inspect: (edit) => inspect(list, edit),
    ended: (before, after) => {
      const old = overIn(list, before);
      return [...overIn(list, after)].filter((id) => !old.has(id));
    },
    mark: (tasks) => mark(list, tasks),
  };
}

/** The path below `root` with forward slashes; null outside it. */
function inside(root: string, file: string): string | null {
  const path = relative(root, file);
  if (path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return null;
  return path.split(sep).join('/');
}

async function real(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder);
}

/** Ids of the tasks that are over in this text; none where it cannot be read. */
function overIn(list: OpenList, text: string): Set<string> {
  const reading = readTaskList(list.path, text);
  const tasks = reading.kind === 'list' ? reading.tasks : [];
  return new Set(tasks.filter(({ status }) => isTerminal(status)).map(({ id }) => id));
}

async function read(list: OpenList): Promise<ListReading> {
  const { cache } = list;
  if (cache?.settled) {
    const now = await look(list);
    if (now.kind === 'file' && now.identity === cache.loaded.seen.identity) return cache.reading;
  }
  const loaded = await load(list);
  if (loaded.kind === 'missing') return { kind: 'missing' };
  if (loaded.kind === 'unreadable') return { kind: 'unreadable', problem: loaded.problem };
  const settled = Date.now() - loaded.seen.mtimeMs > SETTLED_MS;
  // Parsing is what costs: a file that was only touched, or is too young to trust, is compared by hash.
  const reading = cache?.loaded.sha256 === loaded.sha256 ? cache.reading : parse(list, loaded);
  list.cache = { loaded, settled, reading };
  return reading;
}

function parse(list: OpenList, { text, sha256: hash }: { text: string; sha256: string }): ListReading {
  const reading = readTaskList(list.path, text);
  if (reading.kind === 'empty') return { ...reading, sha256: hash };
  if (reading.kind === 'unreadable') return reading;
  const { tasks, reviewed, gates, warnings, leftOut = [], unread = [] } = reading;
  const odd = warnings.filter((warning) => !leftOut.includes(warning));
  for (const warning of warnings) {
    if (list.warned.has(warning)) continue;
    list.warned.add(warning);
    list.warn(`${list.path}: ${warning}`);
  }
  return { kind: 'list', tasks, reviewed, gates, warnings, odd, unread, sha256: hash, text };
}

/** A look that turns a forbidden folder into a value. */
async function look(list: OpenList): Promise<Sight | { kind: 'forbidden'; code: string }> {
  try {
    return await sight(list.file);
  } catch (error) {
    if (errorCode(error) === '') throw error;
    return { kind: 'forbidden', code: errorCode(error) };
  }
}

async function load(list: OpenList): Promise<Loaded> {
  for (let tries = 1; ; tries++) {
    const seen = await look(list);
    if (seen.kind === 'missing') return { kind: 'missing', seen };
    if (seen.kind === 'forbidden')
      return { ...unreadable(list, denied(list, seen.code)), seen: { kind: 'other' } };
    if (seen.kind !== 'file') return { ...unreadable(list, notAFile(seen.kind)), seen };
    list.mode = seen.mode;
    if (seen.size > TASK_FILE_BYTES) return { ...unreadable(list, tooLarge(seen.size)), seen };
    const bytes = bytesOf(list.file);
    if (bytes === 'gone') continue;
    if (!Buffer.isBuffer(bytes)) return { ...unreadable(list, denied(list, bytes.code)), seen };
    const after = await look(list);
    const still = after.kind === 'file' && after.identity === seen.identity;
    // Somebody who never stops writing is read as far as he is.
    if (!still && tries < TRIES) continue;
    const text = textOf(bytes);
    if (text === null) return { ...unreadable(list, NOT_TEXT), seen };
    return { kind: 'text', text, sha256: sha256(bytes), seen };
  }
}

function bytesOf(file: string): Buffer | 'gone' | { code: string } {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === '') throw error;
    return ['ENOENT', 'ELOOP', 'EISDIR'].includes(code) ? 'gone' : { code };
  }
}

/** The text with every byte accounted for, a byte-order mark too; null where it is not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

type Fault = Pick<ProblemFacts, 'code' | 'why' | 'fix'>;

function unreadable(list: OpenList, fault: Fault): { kind: 'unreadable'; problem: ProblemFacts } {
  const what = `${list.path} cannot be used as a task list`;
  return { kind: 'unreadable', problem: { ...fault, what, at: list.path } };
}

function denied(list: OpenList, code: string): Fault {
  return {
    code: 'tasks.denied',
    why: `The system refuses to open it (${code}).`,
    fix: `Give yourself the right to read it: chmod u+r ${list.path}`,
  };
}

function notAFile(kind: 'link' | 'folder' | 'other'): Fault {
  if (kind === 'link') {
    return {
      code: 'tasks.link',
      why: 'It is a symbolic link, and marks are written into the file itself.',
      fix: 'Name the file the link points to with --tasks.',
    };
  }
  return {
    code: kind === 'folder' ? 'tasks.folder' : 'tasks.special',
    why: `It is a ${kind === 'folder' ? 'folder' : 'device or pipe'}, not a file.`,
    fix: 'Name a file with --tasks.',
  };
}

function tooLarge(size: number): Fault {
  return {
    code: 'tasks.too_large',
    why: `It has ${(size / 1024 / 1024).toFixed(1)} MB; at most 10 MB are read.`,
    fix: 'Move finished tasks into another file.',
  };
}

const NOT_TEXT: Fault = {
  code: 'tasks.encoding',
  why: 'It is not UTF-8 text, so writing a mark would damage it.',
  fix: 'Save it as UTF-8.',
};

/** Writes the marks into whatever the file says at that moment. */
async function mark(list: OpenList, tasks: TaskState[]): Promise<boolean> {
  const marks = tasks.map(markOf);
  for (let tries = 1; tries <= TRIES; tries++) {
    const loaded = await load(list);
    if (loaded.kind !== 'text') return false;
    const text = writeMarks(loaded.text, marks, list.path);
    if (text === loaded.text) return false;
    if ((loaded.seen.mode & 0o222) === 0)
      throw readOnly(list, {
        why: 'It is write-protected.',
        fix: `Make the file and its folder writable: chmod u+w ${list.path}`,
      });
    if (!reads(list, text, marks)) throw unmarkable(list);
    if (await write(list, text, loaded.seen)) return true;
  }
  throw restless(list);
}

function markOf(task: TaskState): TaskMark {
  const status = task.status === 'done' || task.status === 'cancelled' ? task.status : 'todo';
  return {
    task: task.def.id,
    status,
    ...(task.def.review === undefined ? {} : { review: fileReview(task) }),
  };
}

async function write(list: OpenList, text: string, seen: Sight): Promise<boolean> {
  try {
    const { mode, projectDir } = list;
    return await swap(list.file, { text, seen, mode, projectDir });
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null || refusal.disk) throw error;
    throw readOnly(list, refusal);
  }
}

/** Whether the marked text says what was to be marked: a form that we misread must not be damaged. */
function reads(list: OpenList, text: string, marks: TaskMark[]): boolean {
  const reading = readTaskList(list.path, text);
  if (reading.kind !== 'list') return false;
  const done = new Set(reading.tasks.filter(({ status }) => status === 'done').map(({ id }) => id));
  const known = new Set(reading.tasks.map(({ id }) => id));
  return marks.every(({ task, status }) => !known.has(task) || status !== 'done' || done.has(task));
}

function unmarkable(list: OpenList): Problem {
  return new Problem({
    code: 'tasks.unmarkable',
    what: `${list.path} could not be marked.`,
    why: 'The mark would not read back as it was meant, so the file was left as it is. What the loop decided is kept.',
    fix: `Write the list as another tool would: ralph import ${list.path} --dry-run shows it; then run with --tasks.`,
    at: list.path,
  });
}

function readOnly(list: OpenList, { why, fix }: { why: string; fix: string }): Problem {
  return new Problem({
    code: 'tasks.read_only',
    what: `${list.path} could not be marked.`,
    why: `${why} What the loop decided is kept and is marked at the next start.`,
    fix,
    at: list.path,
  });
}

function restless(list: OpenList): Problem {
  return new Problem({
    code: 'tasks.restless',
    what: `${list.path} could not be written`,
    why: `Another program changed it ${TRIES} times while it was being written.`,
    fix: 'Stop the program that keeps writing it, then run again.',
    at: list.path,
  });
}

/** What an attempt made of the file; everything that was not its to change is put back. */
async function inspect(list: OpenList, edit: ListEdit): Promise<ListInspection> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const loaded = await load(list);
    if (loaded.kind !== 'text') return putBack(list, edit, loaded);
    const { text } = loaded;
    if (text === edit.before) return untouched(loaded.sha256);
    const { before, mode, active, reviewCap } = edit;
    const verdict = compareTaskFile({ before, after: text, mode, active, reviewCap, path: list.path });
    const { restored } = verdict;
    if (restored !== text && !(await write(list, restored, loaded.seen))) continue;
    return {
      touched: true,
      set: verdict.legal,
      sha256: sha256(restored),
      marked: verdict.marked,
      review: verdict.review ?? null,
      violations: verdict.violations.map(({ detail }) => detail),
      agentText: restored === text ? null : text,
    };
  }
  throw restless(list);
}

function untouched(hash: string): ListInspection {
  return { touched: false, set: [], sha256: hash, marked: [], review: null, violations: [], agentText: null };
}

/** The attempt left no readable file: the one it began with is made again. */
async function putBack(
  list: OpenList,
  { before }: ListEdit,
  loaded: Exclude<Loaded, { kind: 'text' }>,
): Promise<ListInspection> {
  const agentText = loaded.seen.kind === 'file' ? await beginning(list.file) : null;
  const left = await clearAway(list, loaded.seen);
  if (!(await write(list, before, left.seen))) throw restless(list);
  const why = loaded.kind === 'missing' ? 'it was deleted' : loaded.problem.why.replace(/\.$/, '');
  const detail = `${list.path} was left without a readable list (${why}); it was put back${left.note}`;
  return { ...untouched(sha256(before)), touched: true, violations: [detail], agentText };
}

/** Makes the name free for a file. Nothing of the user's is deleted: a link's target stays, a folder is moved. */
async function clearAway(list: OpenList, seen: Sight): Promise<{ seen: Sight; note: string }> {
  const free: Sight = { kind: 'missing' };
  if (seen.kind === 'missing' || seen.kind === 'file') return { seen, note: '' };
  if (seen.kind === 'link') {
    await unlink(list.file);
    return { seen: free, note: '; the link that stood there was removed' };
  }
  for (let n = 1; ; n++) {
    const aside = join(dirname(list.file), numbered(`${basename(list.file)}.moved-aside`, n));
    if ((await sight(aside)).kind !== 'missing') continue;
    await rename(list.file, aside);
    return { seen: free, note: `; what stood there is now ${basename(aside)}` };
  }
}

async function beginning(file: string): Promise<string | null> {
  try {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(KEPT_BYTES), 0, KEPT_BYTES, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === '') throw error;
    return null;
  }
}
