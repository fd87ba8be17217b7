/** Which file holds the tasks: the one that was named, else the first of the usual places. */
import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { nearest, Problem } from '../core/index.ts';
import { defaultTaskFiles } from '../dialects/index.ts';
import { sight } from './swap.ts';

export interface FoundTaskList {
  /** Relative to the project folder where it lies in it, else absolute. */
  path: string;
  /** Sentences for a person, e.g. that other lists lie there too. */
  warnings: string[];
}

/**
 * The task file of a project; null where none was named and none of the usual ones is there. Throws a
 * Problem for a named file that is not there. `from`: what named it, a flag, a variable or a line of a file.
 */
export async function findTaskList(
  projectDir: string,
  explicit?: string,
  from = '--tasks',
): Promise<FoundTaskList | null> {
  if (explicit !== undefined) return named({ projectDir, explicit, from });
  const present = await presentDefaults(projectDir);
  const [first, ...others] = present;
  if (first === undefined) return null;
  const warnings =
    others.length === 0
      ? []
      : [`Several task lists are here; ${first} is used. Name another with --tasks: ${others.join(', ')}`];
  return { path: first, warnings };
}

async function presentDefaults(projectDir: string): Promise<string[]> {
  const present: string[] = [];
  for (const path of defaultTaskFiles) {
    const there = await sight(join(projectDir, path)).catch(() => null);
    if (there?.kind === 'file' || there?.kind === 'link') present.push(path);
  }
  return present;
}

interface Named {
  projectDir: string;
  explicit: string;
  from: string;
}

async function named({ projectDir, explicit, from }: Named): Promise<FoundTaskList> {
  const file = resolve(projectDir, explicit);
  const there = await sight(file).catch(() => null);
  if (there?.kind === 'missing') throw await missing({ projectDir, explicit, from }, file);
  if (there?.kind === 'folder') {
    throw new Problem({
      code: 'tasks.folder',
      what: `${explicit} is a folder.`,
      why: `${from} is to name one file with the tasks in it.`,
      fix: `Name the file in it, e.g. ${join(explicit, 'tasks.json')}`,
      at: placeOf(from) ?? explicit,
    });
  }
  const path = relative(projectDir, file);
  const outside = path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return { path: outside ? file : path.split(sep).join('/'), warnings: [] };
}

async function missing({ projectDir, explicit, from }: Named, file: string): Promise<Problem> {
  const entries = await readdir(dirname(file), { withFileTypes: true }).catch(() => []);
  const beside = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const usual = await presentDefaults(projectDir);
  const near = nearest(basename(file), beside);
  const meant = near === null ? nearest(explicit, usual) : join(dirname(explicit), near);
  const there =
    usual.length === 0 ? 'Create it, or give an objective instead.' : `There is: ${usual.join(', ')}`;
  return new Problem({
    code: 'tasks.missing',
    what: `${explicit} is not there.`,
    why: `${from} names it, and it is looked for in ${projectDir}.`,
    fix: meant === null ? there : `Did you mean ${meant.split(sep).join('/')}?`,
    at: placeOf(from) ?? explicit,
  });
}

/** A line of a file or a variable is where a person mends a name; a flag is before their eyes. */
function placeOf(from: string): string | null {
  return from.startsWith('--') ? null : from;
}
