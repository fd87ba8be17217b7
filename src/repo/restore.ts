/**
 * Putting paths back. git makes the files (mode, links, line endings and filters as in a checkout) in a
 * staging folder of ours; then each one is renamed into place, but only where the path still holds what
 * the change says it held. Nothing is written through a symbolic link.
 */
import { randomBytes } from 'node:crypto';
import { copyFile, lstat, mkdir, readlink, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Change, endOf, Problem, pathWord } from '../core/index.ts';
import { isNestedRepository, parseBlobId } from './blob-id.ts';
import { currentBlobs, lstatOrNull } from './content.ts';
import { git, gitProblem } from './git.ts';
import { eitherEnd } from './memory.ts';
import { absolutePath, foldersAbove, isInside, pathBytes } from './paths.ts';
import { type Place, PRIVATE_OPTIONS } from './place.ts';

/**
 * Puts each path to `after` where it holds `before`; one that holds `after` already is done. Answers the
 * paths left alone, in the given order.
 */
export async function restore(place: Place, changes: readonly Change[]): Promise<string[]> {
  const now = await currentBlobs(
    place,
    changes.map((change) => change.path),
    async (paths) => {
      const asked = new Set(paths);
      return eitherEnd(
        place,
        changes.filter(({ path }) => asked.has(path)),
      );
    },
  );
  const conflicts = new Set<string>();
  const todo: Change[] = [];
  for (const change of changes) {
    const held = now.get(change.path) ?? null;
    if (!isInside(change.path)) conflicts.add(change.path);
    else if (held === change.after) continue;
    else if (held !== change.before || !isOurs(change)) conflicts.add(change.path);
    else todo.push(change);
  }
  const staging = join(place.privateGit, `restore.${randomBytes(6).toString('hex')}`);
  try {
    await stage(place, staging, todo);
    for (const path of await carryOut(place, staging, todo)) conflicts.add(path);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return changes.map((change) => change.path).filter((path) => conflicts.has(path));
}

function isOurs({ before, after }: Change): boolean {
  if (isNestedRepository(before) || isNestedRepository(after)) return false;
  return after === null || parseBlobId(after) !== null;
}

/** Makes every wanted file in the staging folder before anything in the ground is touched. */
async function stage(place: Place, staging: string, todo: readonly Change[]): Promise<void> {
  const wanted = todo.filter((change) => change.after !== null);
  if (wanted.length === 0) return;
  const files = join(staging, 'files');
  await mkdir(files, { recursive: true });
  const env = { ...place.privateEnv, GIT_INDEX_FILE: join(staging, 'index') };
  const run = (args: string[], input?: Uint8Array) =>
    git({ args: [...PRIVATE_OPTIONS, ...args], cwd: place.root, env, ...(input && { input }) });
  const listed = await run(['update-index', '-z', '--index-info'], indexInfo(wanted));
  if (listed.code !== 0) throw gitProblem('prepare the files to restore', listed);
  const made = await run(['checkout-index', '-a', '-f', '-q', `--prefix=${files}/`]);
  for (const { path } of wanted) {
    if (lstatOrNull(files, path) !== null) continue;
    throw new Problem({
      code: 'ground.blob_missing',
      what: `${pathWord(path)} could not be restored.`,
      why: endOf(made.stderr.trim(), 500) || 'Its content is no longer in the snapshot store.',
      fix: 'Restore the file by hand; the session folder must not be cleaned while it is in use.',
    });
  }
}

function indexInfo(wanted: readonly Change[]): Buffer {
  const lines = wanted.flatMap(({ path, after }) => {
    const { mode, oid } = parseBlobId(after!)!;
    return [Buffer.from(`${mode} ${oid}\t`), pathBytes(path), Buffer.from([0])];
  });
  return Buffer.concat(lines);
}

/** Removals first, so that a file can take the place of a folder and the other way round. */
async function carryOut(place: Place, staging: string, todo: readonly Change[]): Promise<string[]> {
  const left: string[] = [];
  for (const { path, after } of todo) {
    if (after !== null) continue;
    await unlink(absolutePath(place.root, path)).catch(() => left.push(path));
    await removeEmptied(place, path);
  }
  for (const { path, after } of todo) {
    if (after !== null && !(await putInPlace(place, join(staging, 'files'), path))) left.push(path);
  }
  return left;
}

/** rmdir refuses a folder that holds anything, so only folders we emptied go; never where agents work. */
async function removeEmptied(place: Place, path: string): Promise<void> {
  for (const folder of foldersAbove(path).reverse()) {
    const absolute = `${place.root}/${folder}`;
    if (place.cwd === absolute || place.cwd.startsWith(`${absolute}/`)) return;
    try {
      await rmdir(absolutePath(place.root, folder));
    } catch {
      return;
    }
  }
}

async function putInPlace(place: Place, files: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    const found = lstatOrNull(place.root, folder);
    if (found !== null && !found.isDirectory()) return false;
    if (found === null) await mkdir(absolutePath(place.root, folder)).catch(() => {});
  }
  const target = absolutePath(place.root, path);
  if (lstatOrNull(place.root, path)?.isDirectory() === true) return false;
  const source = absolutePath(files, path);
  try {
    await rename(source, target);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EXDEV' && (await carryAcross(source, target));
  }
}

/** The session lies on another disk: a copy beside the target, then the same atomic rename. */
async function carryAcross(source: Buffer, target: Buffer): Promise<boolean> {
  const beside = Buffer.concat([target, Buffer.from(`.ralph-${randomBytes(4).toString('hex')}`)]);
  try {
    if ((await lstat(source)).isSymbolicLink()) {
      await symlink(await readlink(source, { encoding: 'buffer' }), beside);
    } else await copyFile(source, beside);
    await rename(beside, target);
    return true;
  } catch {
    await rm(beside, { force: true });
    return false;
  }
}
