/** What is left of this machine: disk as this user may fill it, and memory as programs can still get it. */
import { readFile, statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import type { Host } from '../engine/index.ts';

const MB = 1024 * 1024;

export const thisMachine: Host = {
  async free(folders) {
    const [memoryMb, ...disks] = await Promise.all([availableMb(), ...folders.map(freeOn)]);
    return { memoryMb, disks: disks.flatMap((disk) => disk ?? []) };
  },
};

/** null where the file system does not tell: it is not what keeps an agent from working. */
async function freeOn(path: string): Promise<{ path: string; mb: number } | null> {
  try {
    const { bavail, bsize } = await statfs(path);
    return { path, mb: Math.floor((bavail * bsize) / MB) };
  } catch {
    return null;
  }
}

/** Linux counts in what its caches would give back, which `freemem` of other systems does not tell. */
async function availableMb(): Promise<number> {
  const told = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const kb = /^MemAvailable:\s+(\d+) kB$/m.exec(told)?.[1];
  return Math.floor(kb === undefined ? freemem() / MB : Number(kb) / 1024);
}
