/** The process table of Linux, read from /proc without starting a process. */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import type { PlatformTable, ProcessRow } from './table.ts';

const COMMAND_CHARACTERS = 500;

export const linuxTable: PlatformTable = {
  rows({ commands }) {
    return pids().flatMap((pid) => readRow(pid, commands) ?? []);
  },
  one(pid) {
    return readRow(pid, true);
  },
  withEnv(name, value, among) {
    return [...(among ?? pids())].flatMap((pid) =>
      hasEntry(readOr(pid, 'environ'), name, value) ? (readRow(pid, true) ?? []) : [],
    );
  },
  cwd(pid) {
    try {
      return readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      return null;
    }
  },
  boot() {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  },
  scanEveryMs: 2000,
};

function pids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
}

/**
 * Every look reads hundreds of these files, whose length is not known beforehand: one buffer for all of them
 * costs about half of a new one for each. It grows to the longest environment that was met.
 */
let shared = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * What the file holds, valid until the next call. null: the process may end, or belong to somebody else,
 * while we read; then there is nothing to read.
 */
function readOr(pid: number, file: 'stat' | 'environ' | 'cmdline'): Buffer | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(`/proc/${pid}/${file}`, 'r');
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, shared, length, shared.length - length, null);
      if (count === 0) return shared.subarray(0, length);
      length += count;
      if (length === shared.length) shared = Buffer.concat([shared], shared.length * 2);
    }
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function readRow(pid: number, withCommand: boolean): ProcessRow | null {
  const stat = readOr(pid, 'stat')?.toString('latin1');
  if (stat === undefined) return null;
  // The name in parentheses may itself hold spaces and parentheses: fields are counted from the last one.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  const [state, ppid, pgid, startTime] = [fields[0], fields[1], fields[2], fields[19]];
  if (state === 'Z' || state === 'X' || startTime === undefined) return null;
  const name = stat.slice(stat.indexOf('(') + 1, nameEnd);
  const command = withCommand ? commandLine(pid) || name : name;
  return { pid, ppid: Number(ppid), pgid: Number(pgid), startTime, command };
}

function commandLine(pid: number): string {
  const bytes = readOr(pid, 'cmdline');
  if (bytes === null) return '';
  const text = bytes.subarray(0, COMMAND_CHARACTERS * 4).toString('utf8');
  return text.replaceAll('\0', ' ').trim().slice(0, COMMAND_CHARACTERS);
}

function hasEntry(environ: Buffer | null, name: string, value: string): boolean {
  if (environ === null || environ.length === 0) return false;
  const entry = value === '' ? `${name}=` : `${name}=${value}\0`;
  if (environ.subarray(0, Buffer.byteLength(entry)).equals(Buffer.from(entry))) return true;
  return environ.includes(`\0${entry}`);
}
