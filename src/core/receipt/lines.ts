/**
 * The lines that claims name, held against how many lines their files have. A range that begins behind the
 * end of the file, now and before this task, is false; which lines of a file differ is not looked at.
 */
import type { Receipt, ReceiptFile } from './receipt.ts';

/** `within`: the file has these lines, or had them. `unchecked`: nobody counted. */
export type LineCheck = 'within' | 'past_end' | 'unchecked';

const MAX_FILES = 20;

/** Changed files of which lines were named, to be counted. */
export function linesToCount({ files }: Receipt): string[] {
  return files
    .filter(isOpen)
    .map(({ path }) => path)
    .slice(0, MAX_FILES);
}

/** Those of them whose range does not fit what they have now: the content before has to be counted too. */
export function linesInDoubt({ files }: Receipt, now: ReadonlyMap<string, number>): string[] {
  return files.filter((file) => isOpen(file) && firstOf(file) > most(file, [now])).map(({ path }) => path);
}

/** The receipt with each range judged. `counts`: lines by path, one map for each content that was counted. */
export function withLines(receipt: Receipt, counts: readonly ReadonlyMap<string, number>[]): Receipt {
  if (!receipt.files.some(isOpen)) return receipt;
  return { ...receipt, files: receipt.files.map((file) => (isOpen(file) ? checked(file, counts) : file)) };
}

function checked(file: ReceiptFile, counts: readonly ReadonlyMap<string, number>[]): ReceiptFile {
  const lines = most(file, counts);
  if (lines === Number.POSITIVE_INFINITY) return { ...file, lineCheck: 'unchecked' };
  if (lastOf(file) <= lines) return { ...file, lineCheck: 'within' };
  const has = `it has ${lines} ${lines === 1 ? 'line' : 'lines'}`;
  // Where a range ends is often rounded; where it begins is not.
  if (firstOf(file) <= lines + 1) return { ...file, lineCheck: 'past_end' };
  return { ...file, lineCheck: 'past_end', held: false, wrong: true, why: has };
}

const isOpen = ({ lines, held, status }: ReceiptFile) => held && status === 'changed' && lines !== null;

/** The most lines the file had in any of the contents; endless where nobody counted. */
function most({ path }: ReceiptFile, counts: readonly ReadonlyMap<string, number>[]): number {
  const found = counts.flatMap((count) => count.get(path) ?? []);
  return found.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...found);
}

const numbers = ({ lines }: ReceiptFile) => (lines ?? '').split('-').map(Number);
const firstOf = (file: ReceiptFile) => Math.min(...numbers(file));
const lastOf = (file: ReceiptFile) => Math.max(...numbers(file));
