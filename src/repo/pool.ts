/**
 * Work trees of our own beside the user's, for attempts that run at the same time. Each is a git work tree on
 * no branch, made once and filled anew for every attempt; what git ignores stays in it from one to the next.
 * Nothing else lives below the pool's folder, and nothing outside it is ever removed.
 */
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type Mark, Problem } from '../core/index.ts';
import type { GroundPool } from '../engine/index.ts';
import { openGround, type RepoGround } from './ground.ts';
import { isAtOrBelow } from './paths.ts';
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
  let last: Promise<unknown> = Promise.resolve();
  // git locks the repository while it makes a work tree, so they are made one after another.
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };
  const open = async (id: string): Promise<RepoGround | null> => {
    const root = join(options.folder, id);
    if (!isTreeOf(options.ground, root)) return null;
    const known = opened.get(id);
    if (known !== undefined) return known;
    const ground = await openBeside(options, root, id);
    opened.set(id, ground);
    return ground;
  };
  return {
    fill: (id, mark) => alone(() => fill(options, { id, mark, open, forget: () => opened.delete(id) })),
    open,
    close: () => alone(() => removeAll(options)),
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

interface Filling {
  id: string;
  mark: Mark;
  open(id: string): Promise<RepoGround | null>;
  forget(): void;
}

/** Makes or cleans the work tree, and puts on top of the commit what stands uncommitted in the user's. */
async function fill(options: PoolOptions, { id, mark, open, forget }: Filling): Promise<RepoGround> {
  const root = join(options.folder, id);
  const { head } = mark;
  if (head === null) throw poolProblem('there is no commit yet to make a work tree of');
  if (!isTreeOf(options.ground, root) || !(await clean(options, root, head))) {
    forget();
    await make(options, root, head);
  }
  const ground = (await open(id))!;
  const { ground: main } = options;
  const dirty = (await main.changes(head, mark.tree)).filter(
    // Snapshots lack what is excluded, so the difference names those of HEAD.
    ({ path }) => !main.options.excluded.some((folder) => isAtOrBelow(path, folder.replace(/\/+$/, ''))),
  );
  const left = await ground.apply(dirty);
  if (left.length > 0) {
    throw poolProblem(`${left.slice(0, 5).join(', ')} could not be copied into ${root}`);
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
async function removeAll(options: PoolOptions): Promise<void> {
  const { ground, folder } = options;
  const beside = besideOf(options);
  // One whose folder an agent removed is still known to git.
  const names = new Set((await listTrees(beside)).map(({ root }) => basename(root)));
  for (const name of await readdir(folder).catch(() => [])) names.add(name);
  for (const name of names)
    if (name.startsWith(`${ground.options.sessionId}-`)) await dropTree(beside, join(folder, name));
}

function poolProblem(why: string): Problem {
  return new Problem({
    code: 'pool.not_filled',
    what: 'No work tree could be made for agents that work side by side.',
    why,
    fix: 'Free disk space or repair the repository, or run them one by one: `ralph run --parallel 1`.',
  });
}
