/**
 * The human's desk: `ralph/blocked.txt` and `ralph/decide.txt` in the work tree, and `ralph/logs`, a
 * link to the session that runs there. People edit and delete these; we only put whole files there.
 */
import { lstat, mkdir, readFile, readlink, rename, stat, symlink } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { Problem } from '../core/index.ts';
import type { Desk, DeskFile } from '../engine/index.ts';
import { sha256 } from './chain.ts';
import {
  atomicWrite,
  errorCode,
  moveToFree,
  numbered,
  padded,
  removeFile,
  scratchFor,
  temporaryName,
} from './disk.ts';

export interface OpenedDesk extends Desk {
  /** The work tree's folder in which `ralph/` lies, and the session's own. */
  readonly projectDir: string;
  readonly sessionDir: string;
  /**
   * Points `ralph/logs` at this session's logs. False: something that is not our link lies there, and
   * stays. Where links are not permitted (some Windows accounts) the answer is false as well.
   */
  linkLogs(): Promise<boolean>;
}

/** The desk of a work tree, for one session. */
export function openDesk(projectDir: string, sessionDir: string): OpenedDesk {
  const place = (file: string) => join(projectDir, 'ralph', file);
  return {
    projectDir,
    sessionDir,
    read: (file) => readDeskFile(place(file)),
    async write(file, text) {
      // The file itself only: the folder is the user's to arrange.
      await atomicWrite(place(file), text, { projectDir, within: join(projectDir, 'ralph') });
      return sha256(text);
    },
    remove: (file) => removeFile(place(file)),
    archive: (file, iteration) => archive({ from: place(file), sessionDir, file, iteration }),
    linkLogs: () => linkLogs(place('logs'), join(sessionDir, 'logs'), projectDir),
  };
}

async function readDeskFile(file: string): ReturnType<Desk['read']> {
  try {
    // The change time: a write time can be set to anything by whoever may write the file.
    const seen = await stat(file);
    // A pipe would be waited for.
    if (!seen.isFile()) throw noFile(file);
    const { ctimeMs } = seen;
    const bytes = await readFile(file);
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
    return { text, sha256: sha256(bytes), writtenAt: ctimeMs };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

const noFile = (file: string): Problem =>
  new Problem({
    code: 'desk.folder',
    what: `${basename(file)} is no file.`,
    why: 'Questions and answers are exchanged in a file of that name; a folder or a pipe lies there.',
    fix: 'Move it away.',
    at: file,
  });

interface Archiving {
  from: string;
  sessionDir: string;
  file: DeskFile;
  iteration: number;
}

async function archive({ from, sessionDir, file, iteration }: Archiving): Promise<string | null> {
  await mkdir(join(sessionDir, 'desk'), { recursive: true });
  for (let n = 1; ; n++) {
    const path = `desk/${numbered(`${padded(iteration)}-${file}`, n)}`;
    try {
      if (await moveToFree(from, join(sessionDir, path))) return path;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    }
  }
}

const OUR_LINK = /(^|[\\/])\.ralph-sessions[\\/][^\\/]+[\\/]logs[\\/]?$/;

async function linkLogs(link: string, logs: string, projectDir: string): Promise<boolean> {
  await mkdir(join(link, '..'), { recursive: true });
  await mkdir(logs, { recursive: true });
  const windows = process.platform === 'win32';
  const target = windows ? logs : relative(join(link, '..'), logs); // a junction needs a full path
  const current = await currentLink(link);
  if (current === 'foreign') return false;
  if (current === target) return true;
  const temporary = temporaryName(link, scratchFor(link, projectDir));
  try {
    await symlink(target, temporary, windows ? 'junction' : 'dir');
    if (windows && current !== null) await removeFile(link);
    await rename(temporary, link);
    return true;
  } catch (error) {
    await removeFile(temporary);
    if (['EPERM', 'EACCES', 'ENOTSUP', 'ENOSYS'].includes(errorCode(error))) return false;
    throw error;
  }
}

async function currentLink(link: string): Promise<string | null | 'foreign'> {
  try {
    if (!(await lstat(link)).isSymbolicLink()) return 'foreign';
    const target = await readlink(link);
    return OUR_LINK.test(target) ? target : 'foreign';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
