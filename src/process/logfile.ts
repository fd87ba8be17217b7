/** A raw log that never holds much in memory: it says when the writer should wait. */
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

const WAITING_BYTES = 1024 * 1024;

/** An open log. A log that cannot be written is given up, told at `close`; it never stops the child. */
export interface LogFile {
  /** False: enough waits to be written; go on after `onReady`. */
  write(bytes: Uint8Array): boolean;
  /** Writes what waits; answers why the log is incomplete, or null. */
  close(): Promise<string | null>;
}

/** Appends to `path`, whose folder is made when missing. `onReady`: writing may go on. */
export function openLog(path: string, onReady: () => void): LogFile {
  let failure: string | null = null;
  try {
    makeFolder(dirname(path));
  } catch (error) {
    return { write: () => true, close: async () => `the log ${path} was not written: ${String(error)}` };
  }
  const stream = createWriteStream(path, { flags: 'a', highWaterMark: WAITING_BYTES });
  stream.on('drain', onReady);
  stream.on('error', (error) => {
    failure ??= `the log ${path} is incomplete: ${error.message}`;
    onReady();
  });
  return {
    write: (bytes) => failure !== null || stream.write(bytes),
    close: () =>
      new Promise((resolve) => {
        if (failure !== null) return resolve(failure);
        stream.once('close', () => resolve(failure));
        stream.end();
      }),
  };
}

/** `mkdirSync` with `recursive` never returns on Node 20 where the system refuses a folder with ENOENT, as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another child's log may have made it in between.
    if (!existsSync(path)) throw error;
  }
}
