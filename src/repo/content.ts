/**
 * What paths hold now, by content. git names the content itself, in a scratch copy of our private index
 * and without writing an object, so that line-ending rules, filters and modes count exactly as in a
 * snapshot.
 */
import type { Stats } from 'node:fs';
import { accessSync, constants, lstatSync } from 'node:fs';
import { copyFile, readFile, rm, stat, utimes } from 'node:fs/promises';
import { Problem } from '../core/index.ts';
import { blobId, isNestedRepository, parseBlobId } from './blob-id.ts';
import { git, gitProblem } from './git.ts';
import { decodeIndex, entryContent } from './index-file.ts';
import { absolutePath, foldersAbove, isInside, isPlainText, nulList, pathText } from './paths.ts';
import { type Place, PRIVATE_OPTIONS } from './place.ts';
import { gitDirOf } from './project.ts';
import { privateGit } from './snapshots.ts';

const READ_LIMIT_BYTES = 64 * 1024 * 1024;
let scratches = 0;

/**
 * Blob id of each path now; null for one that is absent, a folder, or reached through a link. Something
 * that git cannot hold (a socket, an unreadable file) gets a text that equals no blob id. What
 * `recognise` can name is not asked of git.
 */
export async function currentBlobs(
  place: Place,
  paths: readonly string[],
  recognise: (paths: readonly string[]) => Promise<Map<string, string>> = async () => new Map(),
): Promise<Map<string, string | null>> {
  const held = new Map<string, string | null>();
  const ask: string[] = [];
  const folders = new Map<string, boolean>();
  for (const path of new Set(paths)) {
    const kind = isInside(path) ? kindOf(place.root, path, folders) : 'none';
    held.set(path, kind === 'none' || kind === 'content' ? null : kind);
    if (kind === 'content') ask.push(path);
  }
  const known = await recognise(ask);
  for (const [path, blob] of known) held.set(path, blob);
  const rest = ask.filter((path) => !known.has(path));
  if (rest.length === 0) return held;
  const blobs = await hashInScratch(place, rest);
  for (const path of rest) held.set(path, blobs.get(path) ?? null);
  return held;
}

type Kind = 'none' | 'content' | 'special' | 'unreadable';

function kindOf(root: string, path: string, folders: Map<string, boolean>): Kind {
  for (const folder of foldersAbove(path)) {
    if (!folders.has(folder)) {
      folders.set(folder, lstatOrNull(root, folder)?.isDirectory() === true);
    }
    if (folders.get(folder) === false) return 'none';
  }
  const found = lstatOrNull(root, path);
  if (found === null) return 'none';
  if (found.isDirectory())
    return isPlainText(path) && gitDirOf(`${root}/${path}`) !== null ? 'content' : 'none';
  if (found.isSymbolicLink()) return 'content';
  if (!found.isFile()) return 'special';
  return mayRead(absolutePath(root, path)) ? 'content' : 'unreadable';
}

function mayRead(file: string | Buffer): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** lstat that answers null for what is not there. */
export function lstatOrNull(root: string, path: string): Stats | null {
  try {
    return lstatSync(absolutePath(root, path));
  } catch {
    return null;
  }
}

async function hashInScratch(place: Place, paths: string[]): Promise<Map<string, string>> {
  const scratch = `${place.privateGit}/scratch.${process.pid}-${++scratches}`;
  try {
    await copyFile(place.indexFile, scratch);
    // A younger copy would hide writes of the same second from git.
    const seconds = Math.floor((await stat(place.indexFile)).mtimeMs / 1000);
    await utimes(scratch, seconds, seconds);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const env = { ...place.privateEnv, GIT_INDEX_FILE: scratch };
  try {
    const args = ['update-index', '--info-only', '--add', '--remove', '--replace', '-z', '--stdin'];
    const call = { args: [...PRIVATE_OPTIONS, ...args], cwd: place.root, env, input: nulList(paths) };
    const result = await git(call);
    if (result.code !== 0) throw gitProblem('read the present content of the work tree', result);
    return await entriesOf({ ...place, privateEnv: env }, scratch, new Set(paths));
  } finally {
    await rm(scratch, { force: true });
  }
}

async function entriesOf(place: Place, indexFile: string, wanted: Set<string>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const entries = decodeIndex(await readFile(indexFile), place.oidBytes);
  if (entries === null) return listed(place, ['ls-files', '-s', '-z'], wanted);
  for (const entry of entries) {
    const path = pathText(entry.name);
    const content = wanted.has(path) ? entryContent(entry) : null;
    if (content !== null) found.set(path, blobId(content.mode, content.oid));
  }
  return found;
}

/** Reads `mode [type] id [stage] TAB path NUL` lines, as ls-files and ls-tree give them. */
async function listed(place: Place, args: string[], wanted: Set<string>): Promise<Map<string, string>> {
  const result = await privateGit(place, args);
  if (result.code !== 0) throw gitProblem('list the files it knows', result);
  const found = new Map<string, string>();
  for (let at = 0; at < result.stdout.length; ) {
    const tab = result.stdout.indexOf(9, at);
    const end = result.stdout.indexOf(0, tab);
    if (tab === -1 || end === -1) break;
    const path = pathText(result.stdout.subarray(tab + 1, end));
    const match = /^(\d{6}) (?:[a-z]+ )?([0-9a-f]{40,64})/.exec(result.stdout.toString('latin1', at, tab));
    if (match !== null && wanted.has(path)) found.set(path, blobId(match[1]!, match[2]!));
    at = end + 1;
  }
  return found;
}

/** Blob ids that these paths have in a commit; paths it lacks are missing from the map. */
export async function committedBlobs(
  place: Place,
  commit: string | null,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const wanted = new Set(paths.filter(isInside));
  if (commit === null || wanted.size === 0) return new Map();
  const named = wanted.size <= 200 && [...wanted].every(isPlainText) ? [...wanted] : [];
  return listed(place, ['--literal-pathspecs', 'ls-tree', '-r', '-z', commit, '--', ...named], wanted);
}

/** Content of a blob as git stores it (after clean filters); null when it is unknown or no file. */
export async function readBlob(place: Place, id: string): Promise<Uint8Array | null> {
  const parts = parseBlobId(id);
  if (parts === null || isNestedRepository(id)) return null;
  const args = [...PRIVATE_OPTIONS, 'cat-file', 'blob', parts.oid];
  try {
    const call = { args, cwd: place.root, env: place.privateEnv, maxBytes: READ_LIMIT_BYTES };
    const result = await git(call);
    return result.code === 0 ? result.stdout : null;
  } catch (error) {
    if (!(error instanceof Problem) || error.facts.code !== 'git.output_too_large') throw error;
    throw new Problem({
      code: 'ground.blob_too_large',
      what: `A file of more than ${READ_LIMIT_BYTES / 1024 / 1024} MiB was to be read (${id.slice(0, 12)}).`,
      why: 'Files that large are compared and restored, but never read into memory.',
      fix: 'Add large generated files to .gitignore.',
    });
  }
}
