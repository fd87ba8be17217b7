/**
 * The disk as the store sees it: writes that are whole or absent, moves that never overwrite, and one
 * typed error for a disk that takes no more. Everything durable in this room goes through here. Only what
 * waits for the disk itself is left to the thread pool: a trip there costs ten times what a look at a file
 * or a write into the system's buffers does.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  type PathLike,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, type FileHandle, open, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EFBIG']);

/** The disk took no more: full, over quota, read-only or broken. The file's old content is intact. */
export class StoreFull extends Error {
  readonly code: string;
  readonly file: string;

  constructor(code: string, file: string, cause: unknown) {
    super(`${file} could not be written (${code}); what it held before is intact`, { cause });
    this.name = 'StoreFull';
    this.code = code;
    this.file = file;
  }
}

/** The `code` of a system error; empty for anything else. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** Turns the errors of a full or broken disk into `StoreFull`; gives back every other error as it is. */
export function diskError(error: unknown, file: string): unknown {
  return DISK_CODES.has(errorCode(error)) ? new StoreFull(errorCode(error), file, error) : error;
}

/** The few writes whose failure the journal must survive; a test may put its own in their place. */
export interface DiskIo {
  /** Writes all bytes at the end of the file, or throws. */
  write(handle: FileHandle, bytes: Uint8Array): Promise<void>;
  fdatasync(handle: FileHandle): Promise<void>;
  truncate(handle: FileHandle, length: number): Promise<void>;
}

/** The real disk. */
export const REAL_IO: DiskIo = {
  async write(handle, bytes) {
    for (let done = 0; done < bytes.length; ) {
      done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
    }
  },
  fdatasync: (handle) => handle.datasync(),
  truncate: (handle, length) => handle.truncate(length),
};

/** Waits until the disk has what was written. */
export const synced = promisify(fsync);

/** Makes a rename or a new name in this folder survive a power cut, where the platform can. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    await synced(descriptor);
  } catch (error) {
    // Some network file systems refuse to sync a folder; the rename itself is then all there is.
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes(errorCode(error))) throw error;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * A name for what is to become `file` that no reader takes for content: hidden, unique, ending in `.tmp`;
 * beside it, or in `folder`.
 */
export function temporaryName(file: string, folder = dirname(file)): string {
  return join(folder, `.${basename(file)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
}

/**
 * Where the halves of a file in the user's work tree are written: in `.ralph/`, which git does not see, so
 * that a kill leaves nothing there that could be taken for work. Beside the file where that folder is
 * missing or on another disk, because a rename must not cross disks.
 */
export function scratchFor(file: string, projectDir: string): string {
  const [beside, hidden] = [dirname(file), join(projectDir, '.ralph')];
  const disk = (folder: string) => statSync(folder, { throwIfNoEntry: false })?.dev;
  const same = disk(hidden) !== undefined && disk(hidden) === disk(beside);
  return same ? hidden : beside;
}

interface NewFile {
  mode?: number;
  /** False: a power cut may lose it; for copies of what the journal holds anyway. */
  durable?: boolean;
}

/** Writes a new file to disk and waits until its content is there. The name must be free. */
export async function writeNew(file: string, content: string | Uint8Array, as: NewFile): Promise<void> {
  const descriptor = openSync(file, 'wx', as.mode ?? 0o666);
  try {
    writeFileSync(descriptor, content);
    if (as.durable !== false) await synced(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

// On Windows a scanner or an editor may hold the file for a moment; five tries, then the error stands.
async function renamePatiently(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return renameSync(from, to);
    } catch (error) {
      const busy = ['EPERM', 'EACCES', 'EBUSY'].includes(errorCode(error));
      if (!busy || process.platform !== 'win32' || attempt === 5) throw error;
      await sleep(20 * attempt);
    }
  }
}

function present(file: string): { path: string; mode: number } | null {
  try {
    const there = lstatSync(file, { throwIfNoEntry: false });
    if (there === undefined) return null;
    const path = there.isSymbolicLink() ? realpathSync(file) : file;
    return { path, mode: statSync(path).mode & 0o777 };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Makes the way below `root` to a file of ours a way of real folders, with a file or nothing at its end. An
 * agent can leave links, pipes and folders there, and what we write must not end somewhere else. Links are
 * taken away; what may hold somebody's work is set aside under a hidden name.
 */
export function clearWay(root: string, file: string): void {
  const parts = relative(root, file).split(sep);
  let at = root;
  for (const [index, part] of parts.entries()) {
    at = join(at, part);
    const there = lstatSync(at, { throwIfNoEntry: false });
    if (there === undefined) return;
    if (index < parts.length - 1 ? there.isDirectory() : there.isFile()) continue;
    if (there.isSymbolicLink()) unlinkSync(at);
    else renameSync(at, join(dirname(at), `.${basename(at)}.aside-${randomBytes(4).toString('hex')}`));
    return;
  }
}

/** Whether one of the folders on the way from `root` to this file, or the file, is a link. */
export function hasLink(root: string, file: string): boolean {
  let at = root;
  return relative(root, file)
    .split(sep)
    .some((part) => {
      at = join(at, part);
      return lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    });
}

/**
 * Replaces a file as a whole: a reader sees the old content or the new, also after a power cut. Folders
 * are made as needed; a link is followed, so that it stays a link. Without `mode` an existing file keeps
 * its own. `projectDir` is given for a file in the work tree, see `scratchFor`; `within` for a file that agents
 * can get at, see `clearWay`; `durable: false` for a copy of what is kept elsewhere, which a power cut may lose.
 * Throws `StoreFull` when the disk takes no more, with the old file untouched.
 */
export async function atomicWrite(
  file: string,
  content: string | Uint8Array,
  options: NewFile & { projectDir?: string; within?: string } = {},
): Promise<void> {
  if (options.within !== undefined) clearWay(options.within, file);
  const existing = present(file);
  const target = existing?.path ?? file;
  const mode = options.mode ?? existing?.mode ?? 0o666;
  mkdirSync(dirname(target), { recursive: true });
  const { projectDir, durable = true } = options;
  const temporary = temporaryName(target, projectDir && scratchFor(target, projectDir));
  try {
    await writeNew(temporary, content, { mode, durable });
    if (existing !== null || options.mode !== undefined) chmodSync(temporary, mode);
    await renamePatiently(temporary, target);
  } catch (error) {
    removeAnyway(temporary);
    throw diskError(error, file);
  }
  if (durable) await syncFolder(dirname(target));
}

/**
 * Puts a new file in place whole, never over another one. False: the name is taken, nothing changed.
 * Throws `StoreFull` when the disk takes no more.
 */
export async function createWhole(
  file: string,
  content: string | Uint8Array,
  options: NewFile = {},
): Promise<boolean> {
  const temporary = temporaryName(file);
  try {
    await writeNew(temporary, content, options);
    return await linkNew(temporary, file);
  } catch (error) {
    throw diskError(error, file);
  } finally {
    removeAnyway(temporary);
  }
}

// Hard links are the one atomic "create with content, unless it exists"; file systems without them
// (FAT, some mounts) get an exclusive copy, where a reader may see the file while it grows.
async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return false;
    if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'].includes(code))
      throw error;
    return copyNew(from, to);
  }
}

async function copyNew(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    await unlink(to).catch(() => {});
    throw error;
  }
  const handle = await open(to, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  return true;
}

/**
 * Moves a file to a free name, also across file systems (copied, synced, then the source removed).
 * False: the name is taken and nothing moved.
 */
export async function moveToFree(from: string, to: string): Promise<boolean> {
  try {
    if (!(await linkNew(from, to))) return false;
    await syncFolder(dirname(to));
    await unlink(from);
    return true;
  } catch (error) {
    throw diskError(error, to);
  }
}

/** Removes what may not be there, or may not be removed: it was ours for a moment only. */
export function removeAnyway(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It was never made, or goes with the next tidying.
  }
}

/** Removes a file; one that is not there is removed already. */
export async function removeFile(file: PathLike): Promise<void> {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** The name with `-2`, `-3` … before its ending: `a.yaml` → `a-2.yaml`. `n` 1 is the name itself. */
export function numbered(name: string, n: number): string {
  if (n === 1) return name;
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? `${name}-${n}` : `${name.slice(0, dot)}-${n}${name.slice(dot)}`;
}

/** A number of at least three digits, so that names sort: 7 → `007`, 1234 → `1234`. */
export function padded(n: number): string {
  return String(n).padStart(3, '0');
}
