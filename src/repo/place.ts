/**
 * Everything the functions of this room need to know about one ground: its folders, its two
 * environments (the user's repository; our private view of it) and what snapshots leave out.
 *
 * The private folder `<privateDir>/git` is laid out as a bare repository. In a git project only its
 * objects and its index are used: git runs on the user's folder (so that configuration, filters and
 * ignore rules are the user's) but writes objects to ours, which has the user's as alternates. Without
 * git it is the repository itself. No ref of the user's ever names a private object.
 */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { textOf } from './file-text.ts';
import { gitEnvironment } from './git.ts';
import { isAtOrBelow, isInside, pathBytes } from './paths.ts';
import type { Project } from './project.ts';
import { openShell, type Shell } from './shell.ts';
import { configuredWorktree } from './worktree.ts';

export interface Place {
  root: string;
  cwd: string;
  /** null: no repository, or none wanted. */
  gitDir: string | null;
  commonDir: string | null;
  /** Our private bare repository. */
  privateGit: string;
  indexFile: string;
  oidBytes: 20 | 32;
  /** Relative to the root, literal; a folder stands for all below it. */
  excluded: string[];
  /** For calls on the user's repository as the user would make them. */
  userEnv: Record<string, string>;
  /** For private calls: our index, our objects, no locale. */
  privateEnv: Record<string, string>;
  lockWaitMs: number;
  commitTimeoutMs: number;
  /** What core.worktree said when the ground was opened; null: not set. */
  worktreeAtOpen: string | null;
  /** Where git looks for hooks, as of that state of the configuration file. */
  hooks: { folder: string; stamp: string };
  /** Asking the file system about a file is cheap here: git then need not ask from many threads. */
  quickFiles: boolean;
  /** Starts several git commands at once; null where there is none, or where one of them had something to say. */
  shell: Shell | null;
  /** The last comparison that came along with a snapshot, as git printed it. */
  compared: { before: string; after: string; raw: Buffer } | null;
  /** The tree that the private index stood for when it was last given its second name; null: it has none. */
  treed: string | null;
  /** The stamp of a private index that was found to hold no repository inside; null: none was. */
  linkless: string | null;
  /** Repositories in the work tree without a commit, which no snapshot can name; at most 100. */
  unborn: Set<string>;
  /** What was skipped and why, for a person; at most 100. */
  notes: Set<string>;
}

/** Options before every private git call: nothing of the user's runs but filters, nothing is left behind. */
export const PRIVATE_OPTIONS = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.splitIndex', 'false'],
  ['index.sparse', 'false'],
  ['core.ignoreStat', 'false'],
  ['core.safecrlf', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

export interface PlaceOptions {
  project: Project;
  privateDir: string;
  excluded: string[];
  /** Whose objects are read and written: another private folder of the session, or its own. */
  objectsOf: string;
  env: Record<string, string | undefined>;
  lockWaitMs: number;
  commitTimeoutMs: number;
}

/** Makes the private repository where it is missing and answers the place. */
export async function makePlace(options: PlaceOptions): Promise<Place> {
  const { project } = options;
  await mkdir(options.privateDir, { recursive: true, mode: 0o700 });
  const privateDir = await realpath(options.privateDir);
  const privateGit = join(privateDir, 'git');
  const config = project.commonDir === null ? '' : textOf(join(project.commonDir, 'config'));
  const oidBytes = /^\s*objectformat\s*=\s*"?sha256/im.test(config) ? 32 : 20;
  await makePrivateGit(privateGit, project);
  const indexFile = await takeIndex(privateGit);
  const userEnv = gitEnvironment(options.env);
  const privateEnv = {
    ...userEnv,
    LC_ALL: 'C',
    LANGUAGE: 'C',
    GIT_DIR: project.gitDir ?? privateGit,
    GIT_WORK_TREE: project.root,
    GIT_INDEX_FILE: indexFile,
    GIT_OBJECT_DIRECTORY: join(await realpath(options.objectsOf), 'git', 'objects'),
  };
  return {
    root: project.root,
    cwd: project.cwd,
    gitDir: project.gitDir,
    commonDir: project.commonDir,
    privateGit,
    indexFile,
    oidBytes,
    excluded: exclusions({ ...options, privateDir }),
    userEnv,
    privateEnv,
    lockWaitMs: options.lockWaitMs,
    commitTimeoutMs: options.commitTimeoutMs,
    worktreeAtOpen: configuredWorktree(project),
    hooks: { folder: '', stamp: '' },
    quickFiles: false,
    shell: process.platform === 'win32' ? null : openShell({ cwd: project.root, env: privateEnv }),
    compared: null,
    linkless: null,
    treed: null,
    unborn: new Set(),
    notes: new Set(),
  };
}

/**
 * What is passed over where there is no repository to say what is ignored, because it would be read whole at every
 * snapshot; a project's own .gitignore can bring it back.
 */
export const WITHOUT_GIT = ['node_modules/', '.venv/', '__pycache__/'];

async function makePrivateGit(folder: string, project: Project): Promise<void> {
  await mkdir(join(folder, 'objects', 'info'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'info'), { recursive: true });
  await mkdir(join(folder, 'refs'), { recursive: true });
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n');
  await writeFile(join(folder, 'info', 'exclude'), `${WITHOUT_GIT.join('\n')}\n`);
  const alternates = join(folder, 'objects', 'info', 'alternates');
  if (project.commonDir === null) await rm(alternates, { force: true });
  else await writeFile(alternates, `${quoted(join(project.commonDir, 'objects'))}\n`);
}

/**
 * An index of this process alone: a git child orphaned by a killed run may still hold the old one's
 * lock. The newest old index is taken over, because without git it is the only warm one.
 */
async function takeIndex(folder: string): Promise<string> {
  const own = join(folder, `index.${process.pid}-${randomBytes(4).toString('hex')}`);
  const old = (await readdir(folder)).filter((name) =>
    /^(?:index|scratch|restore|commit|treed)\./.test(name),
  );
  const written = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const indexes = old.filter((name) => /^index\.[0-9a-f-]+$/.test(name));
  const last = indexes.sort((a, b) => written(a) - written(b)).at(-1);
  // Gone: another opener took it first, and git makes a new one.
  if (last !== undefined) await rename(join(folder, last), own).catch(() => undefined);
  for (const name of old) {
    if (name !== last) await rm(join(folder, name), { recursive: true, force: true });
  }
  return own;
}

function exclusions({ project, privateDir, excluded }: PlaceOptions): string[] {
  const below = relative(project.root, project.cwd).split(sep).join('/');
  const own = ['.ralph', '.ralph-sessions'];
  const all = [...excluded.map((path) => path.replace(/\/+$/, '')), ...own];
  if (below !== '') all.push(...own.map((name) => `${below}/${name}`));
  const inside = relative(project.root, privateDir).split(sep).join('/');
  if (inside !== '' && !inside.startsWith('..')) all.push(inside);
  const unique = [...new Set(all)].filter(isInside);
  return unique.filter((path) => !unique.some((other) => other !== path && isAtOrBelow(path, other)));
}

/** True for a path that snapshots leave out. */
export function isExcluded(place: Place, path: string): boolean {
  return place.excluded.some((folder) => isAtOrBelow(path, folder));
}

/** Pathspecs for everything but the excluded paths. */
export function everything(place: Place): string[] {
  return ['.', ...place.excluded.map((path) => `:(exclude,top,literal)${path}`)];
}

/** A name in git's C-style quotes, which it unquotes wherever a line may start with one. */
export function quoted(path: string): string {
  let text = '"';
  for (const byte of pathBytes(path)) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    text += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `${text}"`;
}

/** Remembers something that was skipped, so that the reader of a snapshot can be told. */
export function note(place: Place, text: string): void {
  if (place.notes.size < 100) place.notes.add(text);
}
