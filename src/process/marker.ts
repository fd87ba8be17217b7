/**
 * A marker is an environment entry that a child passes on to all its descendants. It finds those that
 * left the process group, also after the process that started them was killed.
 */
import type { ProcessRow } from './table.ts';
import { platform } from './table.ts';

/** Processes that carry the marker ('' is any value), without this process and its ancestors. */
export function findByMarker(marker: { name: string; value: string }): ProcessRow[] {
  const rows = platform.withEnv(marker.name, marker.value);
  if (rows.length === 0) return rows;
  const spared = selfAndAncestors();
  return rows.filter((row) => !spared.has(row.pid));
}

/** Pids that must never be ended from here. */
export function selfAndAncestors(): Set<number> {
  const pids = new Set<number>();
  let pid = process.pid;
  while (pid > 0 && !pids.has(pid)) {
    pids.add(pid);
    pid = platform.one(pid)?.ppid ?? 0;
  }
  return pids;
}

/** True when this process or one above it carries the variable, whatever a child has unset meanwhile. */
export function ancestorCarries(name: string): boolean {
  if (process.env[name] !== undefined) return true;
  const above = selfAndAncestors();
  return platform.withEnv(name, '', above).some((row) => above.has(row.pid));
}
