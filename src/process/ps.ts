/** The process table of macOS and the BSDs, as `ps` prints it. */
import { execFileSync } from 'node:child_process';
import type { PlatformTable, ProcessRow } from './table.ts';

const COMMAND_CHARACTERS = 500;
const COLUMNS = 'pid=,ppid=,pgid=,state=,lstart=,command=';

export const psTable: PlatformTable = {
  rows() {
    return readRows(['-axww', '-o', COLUMNS]);
  },
  one(pid) {
    return readRows(['-ww', '-o', COLUMNS, '-p', String(pid)])[0] ?? null;
  },
  withEnv(name, value) {
    // -E appends the environment of our own processes to the command column.
    const entry = value === '' ? ` ${name}=` : ` ${name}=${value}`;
    const pids = output(['-axwwE', '-o', 'pid=,command='])
      .split('\n')
      .filter(
        (line) =>
          line.includes(`${entry} `) || line.endsWith(entry) || (value === '' && line.includes(entry)),
      )
      .map((line) => Number.parseInt(line, 10));
    const wanted = new Set(pids);
    return psTable.rows({ commands: true }).filter((row) => wanted.has(row.pid));
  },
  cwd() {
    return null;
  },
  boot() {
    return execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).trim();
  },
  scanEveryMs: 5000,
};

/** `ps -p` of a process that is gone exits 1: no output is then the answer. */
function output(args: string[]): string {
  try {
    return execFileSync('ps', args, {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}

function readRows(args: string[]): ProcessRow[] {
  return parsePs(output(args));
}

/** Rows of `ps -o pid=,ppid=,pgid=,state=,lstart=,command=`; lines that are no row are left out. */
export function parsePs(text: string): ProcessRow[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s*(.*)$/.exec(
      line,
    );
    if (match === null || match[4]!.startsWith('Z')) return [];
    return {
      pid: Number(match[1]),
      ppid: Number(match[2]),
      pgid: Number(match[3]),
      startTime: match[5]!.replace(/\s+/g, ' '),
      command: match[6]!.slice(0, COMMAND_CHARACTERS),
    };
  });
}
