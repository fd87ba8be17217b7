/**
 * Which file holds the tasks, as a person meets it: a list that was typed is looked for where they stand,
 * and where none is found under the usual names, the plans that do lie there are named with the command
 * that takes them. What a list is called and how it is read is known below, in store and dialects.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Problem, type ProblemFacts, shellWord } from '../core/index.ts';
import type { ListReading } from '../engine/index.ts';
import { type FoundTaskList, findTaskList } from '../store/index.ts';
import type { Place } from './place.ts';
import { openFolder } from './setup/folder.ts';
import { type FoundList, findLists } from './setup/lists.ts';

export interface ListCall {
  place: Place;
  /** Where the command was called. */
  cwd: string;
  /** From the configuration or the command line; absent: the usual places are looked through. */
  named: string | null | undefined;
  /** What named it: a flag, a variable or a line of a file. Default: --tasks. */
  from?: string | undefined;
}

/**
 * The task file; null where none was named and none of the usual ones is there. Throws a Problem for a
 * named one that is no file.
 */
export async function whichList(call: ListCall): Promise<FoundTaskList | null> {
  const found = await foundList(call);
  if (found !== null) refuseLink(call, found.path);
  return found;
}

async function foundList({ place, cwd, named, from = '--tasks' }: ListCall): Promise<FoundTaskList | null> {
  if (named === null || named === undefined) return findTaskList(place.dir);
  if (named.trim() === '') throw emptyName(from);
  const path = fromHere(place, cwd, named);
  const file = resolve(place.dir, path);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw isFolder({ named, from }, file);
  const found = await findTaskList(place.dir, path, from);
  if (found !== null && isOutside(place, resolve(place.dir, found.path)))
    found.warnings.push(outside(found.path));
  return found;
}

/** A name as it was typed in `cwd`, for the project folder: relative to it, or absolute outside it. */
export function fromHere({ dir }: Place, cwd: string, path: string): string {
  const here = resolve(cwd, path);
  // What the configuration names, and a name that only the project folder knows, is relative to that.
  if (resolve(cwd) === dir || isAbsolute(path) || !existsSync(here)) return path;
  const below = relative(dir, here);
  return below.startsWith('..') ? here : below.split(sep).join('/');
}

/** Marks made there are kept, but they are part of no commit. */
function isOutside({ project }: Place, file: string): boolean {
  const path = relative(project.root, file);
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

const outside = (path: string): string =>
  `${path} lies outside the repository: finished tasks are marked in it, but no commit holds the marks.`;

/** Marks are written into the file itself, and a name that points elsewhere could be turned around meanwhile. */
function refuseLink({ place: { dir }, cwd, named, ...call }: ListCall, path: string): void {
  const from = (named && call.from) || '--tasks';
  const file = resolve(dir, path);
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  const target = resolve(dirname(file), readlinkSync(file));
  const kind = statSync(file, { throwIfNoEntry: false });
  const real = kind?.isFile() ? realpathSync(file) : null;
  const to = real === null ? (kind === undefined ? 'which is not there' : 'which is no file') : '';
  throw new Problem({
    code: 'tasks.link',
    what: `${path} is a symbolic link to ${typed(cwd, real ?? target)}${to === '' ? '' : `, ${to}`}.`,
    why: 'Finished tasks are marked in the file itself, and a link may point to another one by then.',
    fix:
      real === null
        ? 'Let it point to the list, or name the list itself with --tasks FILE.'
        : `Name the file itself: ${isFlag(from) ? `--tasks ${shellWord(typed(cwd, real))}` : typed(dir, real)}`,
    ...(named ? whereNamed(from) : {}),
  });
}

const isFlag = (from: string): boolean => from.startsWith('--');

/** A flag is before the person's eyes; a line of a file or a variable is where they mend the name. */
const whereNamed = (from: string): { at?: string } => (isFlag(from) ? {} : { at: from });

const emptyName = (from: string): Problem =>
  new Problem({
    code: 'tasks.no_name',
    what: isFlag(from) ? `${from} was given no name.` : 'tasks is empty.',
    why: 'It names one file with the tasks in it.',
    fix: `Name a file, or leave ${isFlag(from) ? from : 'tasks'} away: then the usual places are looked through.`,
    ...whereNamed(from),
  });

function isFolder({ named, from }: { named: string; from: string }, file: string): Problem {
  const lists = usable(findLists(openFolder(file)));
  const best = lists[0]?.path;
  return new Problem({
    code: 'tasks.folder',
    what: `${named} is a folder.`,
    why: `${from} is to name one file with the tasks in it${best === undefined ? '' : `; in there: ${namesOf(lists)}`}.`,
    fix:
      best === undefined
        ? 'Name a file. No task list was found in this folder under a name that is known.'
        : isFlag(from)
          ? `--tasks ${shellWord(join(named, best))}`
          : `tasks: ${join(named, best)}`,
    ...whereNamed(from),
  });
}

/** Every task of it is done or cancelled: nothing is left to do, whoever would do it. */
export function allDone(reading: ListReading | null): boolean {
  if (reading?.kind !== 'list') return false;
  return reading.tasks.every(({ status }) => status === 'done' || status === 'cancelled');
}

/** Why a run on such a list does nothing, as the reason of its end. */
export function idleReason(path: string, reading: ListReading | null): string {
  const tasks = reading?.kind === 'list' ? reading.tasks : [];
  const cancelled = tasks.filter(({ status }) => status === 'cancelled').length;
  const how = cancelled === 0 ? 'done' : cancelled === tasks.length ? 'cancelled' : 'done or cancelled';
  const all = tasks.length === 1 ? 'the only task' : `all ${tasks.length} tasks`;
  const unread = (reading?.kind === 'list' && reading.unread) || [];
  const more = unread.length === 0 ? '' : `; not read: ${unread.join('; ')}`;
  return `nothing to do: ${all} of ${path} ${tasks.length === 1 ? 'is' : 'are'} ${how}${more}`;
}

/** Plans that lie in the project under names that are not taken by themselves. */
function otherLists({ dir }: Place, cwd: string): FoundList[] {
  const at = (folder: string) =>
    findLists(openFolder(folder)).map((list) => ({ ...list, path: typed(cwd, join(folder, list.path)) }));
  const folders = [...new Set([resolve(cwd), dir])];
  return usable(folders.flatMap(at)).sort((a, b) => Number(b.open > 0) - Number(a.open > 0));
}

function usable(lists: FoundList[]): FoundList[] {
  return lists.filter(({ problem }) => problem === null);
}

/** A file as one would type it in `cwd`. */
function typed(cwd: string, file: string): string {
  return relative(resolve(cwd), file).split(sep).join('/');
}

function namesOf(lists: FoundList[]): string {
  const told = lists.slice(0, 5).map(({ path, open, done }) => `${path} (${open} open, ${done} done)`);
  return `${told.join(', ')}${lists.length > told.length ? ' …' : ''}`;
}

/**
 * That there is no list: `command` is what takes one with --tasks. Where plans lie under other names,
 * they are named with the exact command.
 */
export function noListFacts({ place, cwd, command }: NoList): Pick<ProblemFacts, 'why' | 'fix'> {
  const lists = otherLists(place, cwd);
  const usual = 'ralph/tasks.json, prd.json, PRD.md, fix_plan.md and the other usual names';
  const [best] = lists;
  if (best === undefined) {
    return {
      why: `Looked for ${usual} in ${place.dir}.`,
      fix: 'Write PRD.md with lines like `- [ ] Add a greet function`, say what you want: ralph run "…", or name a list with --tasks FILE.',
    };
  }
  const one = lists.length === 1;
  return {
    why: `None lies here under a usual name, and ${one ? 'this one is' : 'these are'} only taken when named: ${namesOf(lists)}.`,
    fix: `${command} --tasks ${shellWord(best.path)}`,
  };
}

export interface NoList {
  place: Place;
  cwd: string;
  /** E.g. `ralph run`. */
  command: string;
}
