/** A test's folder removed, whatever a program that outlived its test still writes into it. */
import { rmSync } from 'node:fs';

/** `rmSync` alone tries again only the empty folder it just emptied, never what came into it since. */
export function removeFolder(dir: string, patienceMs = 10_000): void {
  for (const end = Date.now() + patienceMs; ; ) {
    try {
      rmSync(dir, { recursive: true, force: true });
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!['ENOTEMPTY', 'EBUSY', 'EPERM'].includes(code ?? '') || Date.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
}
