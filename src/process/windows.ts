/** The process table of Windows, asked of PowerShell. It shows no environments: trees go by parent. */
import { execFileSync } from 'node:child_process';
import { uptime } from 'node:os';
import type { PlatformTable, ProcessRow } from './table.ts';

const COMMAND_CHARACTERS = 500;
const SCRIPT =
  'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId)`t$($_.ParentProcessId)`t$($_.CreationDate.Ticks)`t$($_.Name)`t$($_.CommandLine)" }';

export const windowsTable: PlatformTable = {
  rows() {
    return parseWindows(output(SCRIPT));
  },
  one(pid) {
    return windowsTable.rows({ commands: true }).find((row) => row.pid === pid) ?? null;
  },
  withEnv() {
    return [];
  },
  cwd() {
    return null;
  },
  boot() {
    // No boot id there: the minute of the boot is the same for every process that asks.
    return String(Math.round((Date.now() / 1000 - uptime()) / 60));
  },
  scanEveryMs: 30_000,
};

function output(script: string): string {
  try {
    return execFileSync('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    });
  } catch {
    return '';
  }
}

/** Rows of tab-separated pid, parent, start, name, command line; lines that are no row are left out. */
export function parseWindows(text: string): ProcessRow[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [pid, ppid, startTime, name, ...command] = line.split('\t');
    if (!/^\d+$/.test(pid ?? '') || startTime === undefined || startTime === '') return [];
    const shown = command.join(' ') || (name ?? '');
    return {
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pid),
      startTime,
      command: shown.slice(0, COMMAND_CHARACTERS),
    };
  });
}
