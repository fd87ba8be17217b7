/**
 * Noticing that something arrived. The file system tells within a millisecond where it can; a slow look
 * at the list of names is the net below it (network drives, a folder that was deleted and made again).
 *
 * It also tells how a file came: one that is written where it lies is made and then changed, one that is
 * renamed into place only appears. Time stamps cannot tell the two apart when all of it happens in one tick.
 */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';

const POLL_MS = 1_000;

export interface Watching {
  /** Calls back when something may have arrived; answers the cancel. */
  watch(changed: () => void): () => void;
  /** Asks for another look after so many ms, also of who listens only then; null: none is due. */
  again(delayMs: number | null): void;
  /**
   * Those of the files that appeared while the folder was watched and were not written to since. Waits until all
   * that the system had to tell is heard. Empty where the system tells less than that.
   */
  movedIn(names: readonly string[]): Promise<Set<string>>;
}

/** Elsewhere a move and a write look alike. */
const TELLS_MOVES = process.platform === 'linux';

/** Watches a folder of arriving files for as long as somebody listens. Never throws. */
export function watchMailbox(folder: string): Watching {
  const listeners = new Set<() => void>();
  let watcher: FSWatcher | null = null;
  let watched = 0;
  let slow: NodeJS.Timeout | null = null;
  let soon: NodeJS.Timeout | null = null;
  let dueAt: number | null = null;
  /** Something may have arrived while nobody listened. */
  let missed = true;
  let names = '';
  /** By name: `moved` until it is written to. Names that are gone are forgotten at the next look. */
  const came = new Map<string, 'moved' | 'written'>();

  function heard(event: string, name: string | null): void {
    if (TELLS_MOVES && name !== null) {
      if (event === 'rename') came.set(name, came.get(name) ?? 'moved');
      else came.set(name, 'written');
    }
    tell();
  }

  function tell(): void {
    missed = listeners.size === 0;
    for (const listener of [...listeners]) listener();
  }

  function attach(): void {
    const inode = inodeOf(folder);
    if (inode === watched && watcher !== null) return;
    watcher?.close();
    watcher = null;
    watched = inode;
    came.clear();
    if (inode === 0) return;
    try {
      watcher = watch(folder, { persistent: false }, heard);
      watcher.on('error', () => {
        watcher?.close();
        watcher = null;
      });
    } catch {
      watcher = null; // out of watches: the slow look remains
    }
  }

  function lookSlowly(): void {
    attach();
    const found = namesIn(folder);
    const there = new Set(found.split('\n'));
    for (const name of [...came.keys()]) if (!there.has(name)) came.delete(name);
    if (found === names) return;
    names = found;
    tell();
  }

  function start(): void {
    attach();
    names = namesIn(folder);
    slow = setInterval(lookSlowly, POLL_MS);
    if (missed) dueAt = performance.now();
    lookAgain();
  }

  /** The watcher stays: what comes between two listenings is heard too, and it keeps nobody alive. */
  function stop(): void {
    for (const timer of [slow, soon]) if (timer !== null) clearTimeout(timer);
    slow = null;
    soon = null;
  }

  function lookAgain(): void {
    if (soon !== null) clearTimeout(soon);
    soon = null;
    if (dueAt === null) return;
    soon = setTimeout(
      () => {
        dueAt = null;
        tell();
      },
      Math.max(0, dueAt - performance.now()),
    );
  }

  return {
    watch(changed) {
      listeners.add(changed);
      if (slow === null) start();
      return () => {
        listeners.delete(changed);
        if (listeners.size === 0) stop();
      };
    },
    again(delayMs) {
      dueAt = delayMs === null ? null : performance.now() + delayMs;
      if (listeners.size > 0) lookAgain();
    },
    async movedIn(wanted) {
      if (watcher === null || wanted.length === 0) return new Set();
      // The system's word comes between two rounds of the event loop.
      for (let round = 0; round < 2; round += 1) await new Promise((resolve) => setImmediate(resolve));
      return new Set(wanted.filter((name) => came.get(name) === 'moved'));
    },
  };
}

function inodeOf(folder: string): number {
  try {
    return statSync(folder).ino;
  } catch {
    return 0;
  }
}

function namesIn(folder: string): string {
  try {
    return readdirSync(folder).sort().join('\n');
  } catch {
    return '';
  }
}
