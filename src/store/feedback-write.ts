/**
 * Puts a batch of feedback into the folder of the next cycle: as a whole, with what lies beside it, and
 * never over another batch.
 */
import { constants, mkdirSync, renameSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { diskError, errorCode, syncFolder, temporaryName, writeNew } from './disk.ts';
import { feedbackSignature, SIGNATURE } from './signing.ts';
import { stampOf, wallTime } from './zone.ts';

interface NewBatch {
  sessionDir: string;
  cycle: number;
  /** Epoch ms. */
  at: number;
  /** The text of feedbacks.md. */
  text: string;
  /** Where each file beside it comes from, and its name there. */
  attachments: readonly { from: string; name: string }[];
  /** The signing key of the person who gives it; absent: nobody signs. */
  key?: string | null;
}

/** The file's path, relative to the session's folder. Throws `StoreFull` when the disk takes no more. */
export async function writeBatch({
  sessionDir,
  cycle,
  at,
  text,
  attachments,
  key = null,
}: NewBatch): Promise<string> {
  const folder = `iterations/${cycle}/feedbacks`;
  const all = join(sessionDir, folder);
  mkdirSync(all, { recursive: true });
  const half = temporaryName(join(all, 'batch'));
  mkdirSync(half);
  try {
    for (const { from, name } of attachments)
      await copyFile(from, join(half, name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await writeNew(join(half, 'feedbacks.md'), text, {});
    if (key !== null) await writeNew(join(half, SIGNATURE), `${feedbackSignature(key, folder, text)}\n`, {});
    const name = moved(half, all, at);
    await syncFolder(all);
    return `${folder}/${name}/feedbacks.md`;
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    throw diskError(error, join(all, 'feedbacks.md'));
  }
}

/** A second that is taken gives way to the next one; a folder that is still empty is the batch's. */
function moved(half: string, all: string, first: number): string {
  for (let at = first; ; at += 1000) {
    const name = `20${stampOf(wallTime(at, 'UTC'))}`;
    try {
      renameSync(half, join(all, name));
      return name;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM'].includes(errorCode(error))) throw error;
      if (at - first > 3_600_000) throw error;
    }
  }
}

/** Names for files in one folder, each fit for any disk and told apart by a number where two are the same. */
export function attachmentNames(paths: readonly string[]): string[] {
  const taken = new Set(['feedbacks.md']);
  return paths.map((path) => {
    const plain = basename(path)
      .replace(/[\u0000-\u001f\u007f<>:"|?*\\/`]/g, '-')
      .replace(/^\.+/, '');
    const [, stem = '', end = ''] = /^(.*?)(\.[^.]*)?$/.exec(plain === '' ? 'file' : plain) ?? [];
    let name = `${stem}${end}`;
    for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${stem}-${n}${end}`;
    taken.add(name.toLowerCase());
    return name;
  });
}
