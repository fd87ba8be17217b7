/**
 * Where things are: the work tree a command was called in, the project folder in it that holds the
 * configuration, and the main checkout's copy of that folder, where sessions live.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { defaultTaskFiles } from '../dialects/index.ts';
import { findProject, type Project } from '../repo/index.ts';

export interface Place {
  project: Project;
  /** Absolute: where ralph.yml, the task list and the desk lie, and where agents work. */
  dir: string;
  /** The same folder in the main checkout: holds `.ralph/` and `.ralph-sessions/`. */
  mainDir: string;
  /** The work tree's root, as it stands in facts: `.` in the main checkout, else absolute. */
  ground: string;
}

const SIGNS = ['ralph.yml', '.ralph', '.ralph-sessions', ...defaultTaskFiles];

/** Finds the place for a command called in `cwd`. */
export async function findPlace(cwd: string): Promise<Place> {
  const project = await findProject(cwd);
  const dir = projectFolder(project);
  const mainRoot = mainCheckout(project);
  return {
    project,
    dir,
    mainDir: join(mainRoot, relative(project.root, dir)),
    ground: mainRoot === project.root ? '.' : project.root,
  };
}

/** The nearest folder upwards that looks like a project of ours; else the top of the work tree. */
function projectFolder({ root, cwd }: Project): string {
  for (let at = cwd; ; at = dirname(at)) {
    if (SIGNS.some((sign) => existsSync(join(at, sign)))) return at;
    if (at === root || dirname(at) === at) return root;
  }
}

function mainCheckout({ root, commonDir }: Project): string {
  if (commonDir === null || basename(commonDir) !== '.git') return root;
  return dirname(commonDir);
}
