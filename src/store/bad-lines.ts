/**
 * Lines of the project journal that cannot be read: cut by a crash, or edited. Several loops append to that file
 * without a lock, so nothing is ever taken out of it. What is set aside is a copy, whole, in a file of its own
 * beside it; what stands there is known, and is passed over in silence from then on.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from './chain.ts';
import { errorCode } from './disk.ts';

/** A line that could not be read. */
export interface BadLine {
  /** As `journal.jsonl:7`. */
  place: string;
  /** As it is, without its end. */
  bytes: Buffer;
}

const NAME = 'journal.damaged-lines';

/**
 * Sets aside what was not before, and answers the words for a person, one sentence; null where every line was
 * known. Two processes that see the same line at once may both keep it.
 */
export function setLinesAside(mainRoot: string, bad: readonly BadLine[]): string | null {
  if (bad.length === 0) return null;
  const file = join(mainRoot, '.ralph', NAME);
  try {
    const kept = bytesOf(file);
    const known = new Set(splitLines(kept).map((line) => sha256(line)));
    const fresh = bad.filter(({ bytes }) => !known.has(sha256(bytes)));
    if (fresh.length === 0) return null;
    const open = kept.length > 0 && kept.at(-1) !== 0x0a;
    const end = Buffer.from('\n');
    // One write, so that no other's line lies within.
    appendFileSync(
      file,
      Buffer.concat([...(open ? [end] : []), ...fresh.flatMap(({ bytes }) => [bytes, end])]),
      {
        mode: 0o600,
      },
    );
    return `${named(fresh)} cannot be read and ${fresh.length === 1 ? 'says' : 'say'} nothing. What stands there is kept whole in .ralph/${NAME}, and passed over from now on.`;
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EISDIR'].includes(errorCode(error))) throw error;
    return `${named(bad)} cannot be read, and could not be set aside (${errorCode(error)} at .ralph/${NAME}).`;
  }
}

const MOST_NAMED = 5;

function named(bad: readonly BadLine[]): string {
  const more = bad.length > MOST_NAMED ? ` and ${bad.length - MOST_NAMED} more` : '';
  const places = bad.slice(0, MOST_NAMED).map(({ place }) => place);
  return `.ralph/${places.join(', ')}${more}`;
}

/** The lines of a file, without their ends; an empty one last where the file ends with a line's end. */
function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, from)) {
    lines.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return [...lines, bytes.subarray(from)];
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
