/**
 * Work trees of our own beside the user's, for attempts that run at the same time. Each is a git work tree on
 * no branch, made once and filled anew for every attempt; what git ignores stays in it from one to the next. One that
 * holds a repository with what is nowhere else is left as it lies, and another takes its place.
 * Nothing else lives below the pool's folder, and nothing outside it is ever removed.
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type Mark, Problem } from '../core/index.ts';
import type { GroundPool } from '../engine/index.ts';
import { heldApart } from './apart.ts';
import { openGround, type RepoGround } from './ground.ts';
import { isAtOrBelow } from './paths.ts';
import { gitDirOf } from './project.ts';
import { addTree, type Beside, dropTree, isTreeOf, listTrees, SHARED, treeGit } from './tree.ts';

export interface PoolOptions {
  /** The user's work tree, whose content is the start of every attempt. */
  ground: RepoGround;
  /** Absolute; the pool's folder. */
  folder: string;
  /** Untracked paths below the project's folder that a work tree is given when it is made, e.g. `.env`. */
  copy: readonly string[];
  /** Called in the project's folder of each work tree that was made; a Problem ends the run. */
  made(cwd: string): Promise<void>;
}

/**
 * The pool of one session. Work trees are made when they are first asked for. Null where git can make none that an
 * agent could work in: submodules are not in a new one, and what is built from them could not be built there.
 */
export function openPool(options: PoolOptions): GroundPool | null {
  const { root, hasGit } = options.ground;
  if (!hasGit || existsSync(join(root, '.gitmodules'))) return null;
  const opened = new Map<string, RepoGround>();
  let left: Left[] = [];
  let last: Promise<unknown> = Promise.resolve();
  // git locks the repository while it makes a work tree, so they are made one after another.
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };
  const open = async (id: string): Promise<RepoGround | null> => {
    const root = rootOf(options.folder, id);
    if (!isTreeOf(options.ground, root)) return null;
    const known = opened.get(root);
    if (known !== undefined) return known;
    const ground = await openBeside(options, root, basename(root));
    opened.set(root, ground);
    return ground;
  };
  return {
    fill: (id, mark) =>
      alone(() =>
        fill(options, {
          id,
          mark,
          open,
          forget: (root) => opened.delete(root),
          left: (one) => left.push(one),
        }),
      ),
    open,
    close: () => alone(() => removeAll(options, (one) => left.push(one))),
    left() {
      const told = left;
      left = [];
      return told;
    },
  };
}

async function openBeside({ ground }: PoolOptions, root: string, id: string): Promise<RepoGround> {
  const cwd = join(root, relative(ground.root, ground.cwd));
  await mkdir(cwd, { recursive: true });
  const { privateDir } = ground.options;
  // A link is no folder, so a rule that ignores folders of that name does not hide it.
  const shared = SHARED.map((name) => join(relative(ground.root, ground.cwd), name).replaceAll('\\', '/'));
  return openGround({
    ...ground.options,
    cwd,
    excluded: [...ground.options.excluded, ...shared.filter((path) => isLink(join(root, path)))],
    privateDir: join(privateDir, 'beside', id),
    objectsOf: privateDir,
  });
}

type Left = ReturnType<GroundPool['left']>[number];

/** The work tree of that name, or the newest in its place: `NAME.2`, `NAME.3` … */
function rootOf(folder: string, id: string): string {
  return join(folder, take(id, newestTake(folder, id)));
}

const take = (id: string, n: number): string => (n === 1 ? id : `${id}.${n}`);

function newestTake(folder: string, id: string): number {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const takes = names.flatMap((name) =>
    name.startsWith(`${id}.`) && /^\d+$/.test(name.slice(id.length + 1))
      ? [Number(name.slice(id.length + 1))]
      : [],
  );
  return Math.max(1, ...takes);
}

/** Repositories in it that somebody made there, with what is nowhere else; itself as `.`, where it is one by now. */
async function madeThere(options: PoolOptions, root: string): Promise<string[]> {
  if (!existsSync(root)) return [];
  if (!isTreeOf(options.ground, root)) return gitDirOf(root) === null ? [] : ['.'];
  return (await heldApart(besideOf(options), root)).map(({ path }) => path);
}

interface Filling {
  id: string;
  mark: Mark;
  open(id: string): Promise<RepoGround | null>;
  forget(root: string): void;
  left(one: Left): void;
}

/** Makes or cleans the work tree, and puts on top of the commit what stands uncommitted in the user's. */
async function fill(options: PoolOptions, { id, mark, open, forget, left }: Filling): Promise<RepoGround> {
  let root = rootOf(options.folder, id);
  const { head } = mark;
  if (head === null) throw poolProblem('there is no commit yet to make a work tree of');
  const paths = await madeThere(options, root);
  if (paths.length > 0) {
    left({ root, paths });
    root = join(options.folder, take(id, newestTake(options.folder, id) + 1));
  }
  if (!isTreeOf(options.ground, root) || !(await clean(options, root, head))) {
    forget(root);
    await make(options, root, head);
  }
  const ground = (await open(id))!;
  const { ground: main } = options;
  const dirty = (await main.changes(head, mark.tree)).filter(
    // Snapshots lack what is excluded, so the difference names those of HEAD.
    ({ path }) => !main.options.excluded.some((folder) => isAtOrBelow(path, folder.replace(/\/+$/, ''))),
  );
  const missing = await ground.apply(dirty);
  if (missing.length > 0) {
    throw poolProblem(`${missing.slice(0, 5).join(', ')} could not be copied into ${root}`);
  }
  return ground;
}

const besideOf = ({ ground }: PoolOptions): Beside => ({
  root: ground.root,
  cwd: ground.cwd,
  env: ground.options.env,
});

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** False: it cannot be brought to that commit, and is made anew. */
async function clean(options: PoolOptions, root: string, head: string): Promise<boolean> {
  const steps = [
    ['checkout', '-q', '-f', '--detach', head],
    ['reset', '-q', '--hard', head],
    ['clean', '-q', '-f', '-f', '-d', ...SHARED.flatMap((name) => ['-e', name])],
  ];
  for (const step of steps) if ((await treeGit(besideOf(options), root, step)).code !== 0) return false;
  return true;
}

async function make(options: PoolOptions, root: string, head: string): Promise<void> {
  const beside = besideOf(options);
  await dropTree(beside, root);
  const flags = ['-f', '-f', '--detach'];
  const why = await addTree(beside, { root, flags, start: head, copy: options.copy });
  if (why !== null) throw poolProblem(why);
  await options.made(join(root, relative(beside.root, beside.cwd)));
}

/** Gives all work trees of the pool back. Only for a session whose work is all landed. */
async function removeAll(options: PoolOptions, left: (one: Left) => void): Promise<void> {
  const { ground, folder } = options;
  const beside = besideOf(options);
  // One whose folder an agent removed is still known to git.
  const names = new Set((await listTrees(beside)).map(({ root }) => basename(root)));
  for (const name of await readdir(folder).catch(() => [])) names.add(name);
  for (const name of names) {
    if (!name.startsWith(`${ground.options.sessionId}-`)) continue;
    const root = join(folder, name);
    const paths = await madeThere(options, root);
    if (paths.length > 0) left({ root, paths });
    else await dropTree(beside, root);
  }
}

function poolProblem(why: string): Problem {
  return new Problem({
    code: 'pool.not_filled',
    what: 'No work tree could be made for agents that work side by side.',
    why,
    fix: 'Free disk space or repair the repository, or run them one by one: `ralph run --parallel 1`.',
  });
}
