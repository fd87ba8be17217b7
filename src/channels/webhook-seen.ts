/**
 * What was already taken in, so that nobody can send it again: kept in a file that outlives the runner, until
 * its signature is too old to count anyway. Only the loop that listens writes it; the others read there where it does.
 */
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Seen {
  /** Epoch ms; what was signed earlier is refused, because the memory of it was lost. 0: nothing was lost. */
  readonly since: number;
  has(key: string): boolean;
  /** Room for more; false: so much came in the last minutes that the next must wait. */
  readonly free: boolean;
  /** Marked at once, so that a second one beside it is refused. `until`: epoch ms. */
  mark(key: string, until: number): void;
  unmark(key: string): void;
  /** Makes the marks durable. Rejects where the disk takes no more. */
  save(): Promise<void>;
  /** Writes down where answers are taken now, for the loops that do not listen themselves. */
  listening(url: string): Promise<void>;
}

/** Most that is remembered; forgetting one of them early would open the door to it. */
const MAX_SEEN = 2_000;
const FILE_MODE = 0o600;

/** Reads the file; one that is missing or damaged is begun anew. */
export async function openSeen(file: string, now: () => number): Promise<Seen> {
  const found = await read(file);
  const known = found ?? new Map<string, number>();
  let url: string | null = null;
  let writing: Promise<void> = Promise.resolve();
  const sweep = () => {
    for (const [key, until] of known) if (until < now()) known.delete(key);
  };
  const save = () => {
    sweep();
    // One after the other, each with all that is known by then.
    writing = writing.catch(() => undefined).then(() => write(file, { known, url }));
    return writing;
  };
  return {
    since: found === null ? now() : 0,
    has: (key) => (known.get(key) ?? 0) >= now(),
    get free() {
      sweep();
      return known.size < MAX_SEEN;
    },
    mark: (key, until) => void known.set(key, until),
    unmark: (key) => void known.delete(key),
    save,
    listening(address) {
      url = address;
      return save();
    },
  };
}

/** Where the loop that listens takes answers, as it wrote down; null: that is not known. */
export async function listenerOf(file: string): Promise<string | null> {
  try {
    const { url } = JSON.parse(await readFile(file, 'utf8')) as { url?: unknown };
    return typeof url === 'string' ? url : null;
  } catch {
    return null;
  }
}

/** null: there is a file and it cannot be read. */
async function read(file: string): Promise<Map<string, number> | null> {
  try {
    const held = JSON.parse(await readFile(file, 'utf8')) as { seen: Record<string, unknown> };
    const entries = Object.entries(held.seen);
    if (entries.some(([, until]) => typeof until !== 'number')) return null;
    return new Map(entries as [string, number][]);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Map() : null;
  }
}

async function write(
  file: string,
  { known, url }: { known: Map<string, number>; url: string | null },
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const next = `${file}.${process.pid}.new`;
  try {
    await writeFile(next, `${JSON.stringify({ version: 1, url, seen: Object.fromEntries(known) })}\n`, {
      mode: FILE_MODE,
      flush: true,
    });
    await chmod(next, FILE_MODE);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}
