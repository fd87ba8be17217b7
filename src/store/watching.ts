/**
 * Noticing that something arrived. The file system tells within a millisecond where it can; a slow look
 * at the list of names is the net below it (network drives, a folder that was deleted and made again).
 */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';

const POLL_MS = 1_000;

export interface Watching {
  /** Calls back when something may have arrived; answers the cancel. */
  watch(changed: () => void): () => void;
  /** Asks for another look after so many ms; null: none is due. */
  again(delayMs: number | null): void;
}

/** Watches a folder of arriving files for as long as somebody listens. Never throws. */
export function watchMailbox(folder: string): Watching {
  const listeners = new Set<() => void>();
  let watcher: FSWatcher | null = null;
  let watched = 0;
  let slow: NodeJS.Timeout | null = null;
  let soon: NodeJS.Timeout | null = null;
  let names = '';

  function tell(): void {
    for (const listener of [...listeners]) listener();
  }

  function attach(): void {
    const inode = inodeOf(folder);
    if (inode === watched && watcher !== null) return;
    watcher?.close();
    watcher = null;
    watched = inode;
    if (inode === 0) return;
    try {
      watcher = watch(folder, tell);
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
    if (found === names) return;
    names = found;
    tell();
  }

  function start(): void {
    attach();
    names = namesIn(folder);
    slow = setInterval(lookSlowly, POLL_MS);
  }

  function stop(): void {
    watcher?.close();
    watcher = null;
    for (const timer of [slow, soon]) if (timer !== null) clearTimeout(timer);
    slow = null;
    soon = null;
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
      if (delayMs === null || listeners.size === 0) return;
      if (soon !== null) clearTimeout(soon);
      soon = setTimeout(tell, delayMs);
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
