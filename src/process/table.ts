/**
 * The processes of this machine. Everything that differs by platform is behind `platform()`; a process
 * is named by its pid *and* its start time, because pids are used again.
 */
import { hostname } from 'node:os';
import { linuxTable } from './linux.ts';
import { psTable } from './ps.ts';
import { windowsTable } from './windows.ts';

/** One running process. Zombies are not listed: nothing of them runs any more. */
export interface ProcessRow {
  pid: number;
  ppid: number;
  /** Process group; equal to `pid` where the platform has no groups. */
  pgid: number;
  /** Opaque, stable for the life of the process, comparable on one boot of one machine only. */
  startTime: string;
  /** Command line with spaces between the arguments, at most 500 characters. */
  command: string;
}

/** What a platform has to know. */
export interface PlatformTable {
  /** Every process that can be seen; `commands: false` may leave `command` short to be quick. */
  rows(options: { commands: boolean }): ProcessRow[];
  /** null: no such process, or a zombie. */
  one(pid: number): ProcessRow | null;
  /** Processes whose environment has this entry; '' is any value. `among` may spare a look at all others. */
  withEnv(name: string, value: string, among?: ReadonlySet<number>): ProcessRow[];
  /** Where a process works; null: it is gone, or the platform or its owner does not tell. */
  cwd(pid: number): string | null;
  /** Changes with every boot. */
  boot(): string;
  /** How often looking through all processes is cheap enough. */
  scanEveryMs: number;
}

/** The table of the platform we run on. */
export const platform: PlatformTable =
  process.platform === 'linux' ? linuxTable : process.platform === 'win32' ? windowsTable : psTable;

/** Every process that can be seen, with its command line. */
export function processTable(): ProcessRow[] {
  return platform.rows({ commands: true });
}

/** The folder a process works in; null where that cannot be told. */
export function workingFolder(pid: number): string | null {
  return platform.cwd(pid);
}

/** True if this very process still runs. A zombie does not. */
export function isAlive(pid: number, startTime: string): boolean {
  return platform.one(pid)?.startTime === startTime;
}

/** Names this process for a lock file: equal host and boot make pid and start time comparable. */
export function ownIdentity(): { pid: number; startTime: string; host: string; boot: string } {
  const startTime = platform.one(process.pid)?.startTime ?? '';
  return { pid: process.pid, startTime, host: hostname(), boot: platform.boot() };
}
