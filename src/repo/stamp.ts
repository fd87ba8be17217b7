/** By what it is known that a file is the one of before: git never writes into an index, it puts a new one in place. */
import { statSync } from 'node:fs';

/** `none` where there is no file. */
export function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.mtimeNs}-${stat.ctimeNs}-${stat.size}-${stat.ino}`;
}
