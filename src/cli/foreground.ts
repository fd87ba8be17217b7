/** Whether this process may read the terminal: one that runs in the background and does is stopped by the system. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** True where it cannot be known. */
export function inForeground(): boolean {
  try {
    const [own, terminals] = process.platform === 'linux' ? fromProc() : fromPs();
    return own === terminals;
  } catch {
    return true;
  }
}

/** Our process group, and that which the terminal belongs to. The name before them may hold anything. */
function fromProc(): (string | undefined)[] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [fields[2], fields[5]];
}

function fromPs(): (string | undefined)[] {
  const told = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], {
    encoding: 'utf8',
    timeout: 2_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return told.trim().split(/\s+/);
}
