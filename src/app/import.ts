/**
 * `ralph import`: reads a task list in any dialect, says what it holds and what would be written, and
 * writes it as Ralph's own `tasks.json`, or repairs the file itself. Nothing is written for a plan, and
 * what is written is what was shown: a file that changed since is left alone.
 */
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Problem, refusalOf } from '../core/index.ts';
import {
  canonicalTasks,
  dialectOf,
  type ListChoice,
  linesOf,
  readTaskList,
  repairTaskFile,
  type TaskFileRepair,
  type TaskListReading,
} from '../dialects/index.ts';
import { atomicWrite } from '../store/index.ts';
import { codeOf, present, refuseOtherFiles, sourceText } from './import-source.ts';
import { findPlace, type Place } from './place.ts';
import { lineDiff } from './setup/line-diff.ts';

export interface ImportRequest {
  cwd: string;
  /** As it was named: relative to `cwd`, or absolute. */
  file: string;
  /** Where the canonical list goes; absent: `ralph/tasks.json`. */
  to?: string;
  /** One of several lists in the file. */
  list?: string;
  /** Repair comments, trailing commas and tabs: in the file itself, or with `to` only in what is written. */
  fix: boolean;
}

/** A file as it is and as it would be. */
export interface PlannedWrite {
  /** As a person would open it. */
  path: string;
  file: string;
  /** null: it is not there. */
  before: string | null;
  after: string;
  /** Lines of a unified difference; for a new file all of its lines. A long one is made only for who reads it all. */
  diff(): string[];
}

export interface ImportPlan {
  kind: 'plan';
  path: string;
  dialect: string;
  reading: TaskListReading & { kind: 'list' };
  repairs: TaskFileRepair['changes'];
  /** What would be written; null where everything is there already. */
  write: PlannedWrite | null;
  /** `--tasks` can take the file as it is, or as it will be once it is repaired. */
  direct: boolean;
  /** Sentences for a person. */
  notes: string[];
  projectDir: string;
}

/** Several lists in the file could be meant: somebody has to say which. */
export interface ImportChoices {
  kind: 'choices';
  problem: Problem;
  choices: ListChoice[];
}

const DEFAULT_TARGET = 'ralph/tasks.json';

/** Reads and compares; writes nothing. Throws a Problem for a file that is no readable list. */
export async function planImport(request: ImportRequest): Promise<ImportPlan | ImportChoices> {
  const place = await findPlace(request.cwd);
  const file = resolve(request.cwd, request.file);
  const path = shownPath(place, file);
  const original = await sourceText(file, path);
  refuseOtherFiles(path, original);
  const repair = repairTaskFile(path, original);
  const text = repair !== null && request.fix ? repair.text : original;
  const reading = readTaskList(path, text, request.list);
  if (reading.kind === 'unreadable' && reading.choices !== undefined && reading.choices.length > 0) {
    return { kind: 'choices', problem: new Problem(reading.problem), choices: reading.choices };
  }
  if (reading.kind !== 'list') throw unusable(path, reading, request.fix ? null : repair);
  const repairs = request.fix ? (repair?.changes ?? []) : [];
  const aim = resolve(request.cwd, request.to ?? join(place.dir, DEFAULT_TARGET));
  const onItself = aim === file || request.to === undefined;
  const inPlace = repairs.length > 0 && onItself && request.list === undefined;
  const target = inPlace ? file : aim;
  if (!inPlace && !/\.json$/i.test(target)) throw notJson(shownPath(place, target));
  const after = inPlace ? text : canonicalTasks({ path, text, reading, ...listOf(request) });
  const isThere = target === file && request.list === undefined && !inPlace;
  const write = isThere ? null : await plannedWrite(place, target, after);
  const direct = request.list === undefined && (repairs.length === 0 || inPlace);
  const notes = write === null || inPlace ? [] : disagreements(write, reading, path);
  const dialect = dialectOf(path, text).name;
  return { kind: 'plan', path, dialect, reading, repairs, write, direct, notes, projectDir: place.dir };
}

function listOf({ list }: ImportRequest): { list?: string } {
  return list === undefined ? {} : { list };
}

/** Writes what the plan says. Throws a Problem when the file is no longer as the plan saw it. */
export async function carryOutImport({ write, projectDir }: ImportPlan): Promise<void> {
  if (write === null) return;
  const now = await present(write.file, write.path);
  if (now !== write.before) {
    throw new Problem({
      code: 'import.changed',
      what: `${write.path} changed while the import was looked at.`,
      why: 'Only what was shown is written over.',
      fix: 'Run the same command again.',
      at: write.path,
    });
  }
  try {
    await atomicWrite(write.file, write.after, { projectDir });
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null ? codeOf(error) !== 'EEXIST' : refusal.disk) throw error;
    throw new Problem({
      code: 'import.not_written',
      what: `${write.path} could not be written.`,
      why: refusal?.why ?? (error as Error).message,
      fix: `${refusal?.fix ?? 'Move away what lies there.'} Or name another place with --to.`,
      at: write.path,
    });
  }
}

/** Below the project with forward slashes, else absolute. */
function shownPath({ dir }: Place, file: string): string {
  const path = relative(dir, file);
  const outside = path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return outside ? file : path.split(sep).join('/');
}

function unusable(
  path: string,
  reading: Exclude<TaskListReading, { kind: 'list' }>,
  repair: TaskFileRepair | null,
): Problem {
  if (reading.kind === 'empty') {
    return new Problem({
      code: 'tasks.empty',
      what: `${path} holds no task.`,
      why: `${reading.why} An empty list is never taken for a finished one.`,
      fix: repair === null ? reading.fix : `ralph import ${path} --fix repairs it (${whatItDoes(repair)})`,
      at: path,
    });
  }
  if (repair === null) return new Problem(reading.problem);
  const fix = `ralph import ${path} --fix repairs it (${whatItDoes(repair)})`;
  return new Problem({ ...reading.problem, fix });
}

function whatItDoes({ changes }: TaskFileRepair): string {
  return changes
    .map(({ lines, what }) => `${linesOf(lines)}: ${what.replace(/ (?:was|were) /, ' would be ')}`)
    .join('; ');
}

const added = (line: string) => `+${line}`;

async function plannedWrite(place: Place, file: string, after: string): Promise<PlannedWrite | null> {
  const path = shownPath(place, file);
  const before = await present(file, path);
  if (before === after) return null;
  const diff = () => (before === null ? after.trimEnd().split('\n').map(added) : lineDiff(before, after, 3));
  return { path, file, before, after, diff };
}

function notJson(path: string): Problem {
  return new Problem({
    code: 'import.target',
    what: `${path} cannot be the target.`,
    why: 'An import writes tasks.json, which is JSON, and the name of a list tells its format.',
    fix: 'Name a file that ends in .json with --to.',
    at: path,
  });
}

/** Tasks that are done in one of the two places and open in the other: the source rules, and that is told. */
function disagreements(
  write: PlannedWrite,
  reading: TaskListReading & { kind: 'list' },
  path: string,
): string[] {
  const there = write.before === null ? null : readTaskList(write.path, write.before);
  if (there?.kind !== 'list') return [];
  const isDone = new Map(there.tasks.map(({ id, status }) => [id, status === 'done']));
  const other = reading.tasks.filter(({ id, status }) => {
    const done = isDone.get(id);
    return done !== undefined && done !== (status === 'done');
  });
  const gone = there.tasks.filter(({ id }) => !reading.tasks.some((task) => task.id === id));
  const told = other
    .slice(0, 10)
    .map(({ id, status }) => `${id} (${status === 'done' ? 'done' : 'open'} in ${path})`);
  const notes: string[] = [];
  if (told.length > 0) {
    const more = other.length > told.length ? ` and ${other.length - told.length} more` : '';
    notes.push(`${path} and ${write.path} disagree on ${told.join(', ')}${more}; ${path} rules.`);
  }
  if (gone.length > 0) {
    const ids = gone.slice(0, 10).map(({ id }) => id);
    notes.push(
      `${gone.length} of ${write.path} would be gone: ${ids.join(', ')}${gone.length > 10 ? ' …' : ''}.`,
    );
  }
  return notes;
}
