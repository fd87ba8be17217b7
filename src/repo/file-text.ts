/** A small file of git's as text; empty where there is none or it may not be read. */
import { readFileSync } from 'node:fs';

/** Never throws. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
