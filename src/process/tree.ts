/**
 * Everything a child started. Descendants are noted by parent while it runs (a parent's death hides
 * them later), by process group, and by marker: each of the three sees what the others miss. Not seen is a
 * process that, within one look, leaves the group, clears its environment and loses its parent.
 */
import { findByMarker, selfAndAncestors } from './marker.ts';
import type { ProcessRow } from './table.ts';
import { platform } from './table.ts';

const FIRST_LOOK_MS = 50;

/** The root's descendants as far as they were seen. */
export interface Tree {
  /** Living processes of the tree without its root, looked up now. */
  descendants(): ProcessRow[];
  /** Stops looking. */
  close(): void;
}

/** Looks at the process table now and then, seldom once the child has run for a while. */
export function watchTree(
  root: { pid: number; startTime: string },
  marker: { name: string; value: string } | undefined,
): Tree {
  let known = new Map<number, string>();
  let pauseMs = FIRST_LOOK_MS;
  let timer = setTimeout(lookAgain, pauseMs);
  timer.unref();

  function look(commands: boolean): ProcessRow[] {
    const rows = membersOf(platform.rows({ commands }), root, known);
    known = new Map(rows.map((row) => [row.pid, row.startTime]));
    return rows;
  }

  function lookAgain(): void {
    look(false);
    pauseMs = Math.min(pauseMs * 2, platform.scanEveryMs);
    timer = setTimeout(lookAgain, pauseMs);
    timer.unref();
  }

  return {
    descendants() {
      const marked = marker === undefined ? [] : findByMarker(marker);
      // Most children leave nothing: command lines are read only when there is something to name.
      const found = look(false).length === 0 ? [] : look(true);
      const all = new Map([...found, ...marked].map((row) => [row.pid, row]));
      if (all.size === 0) return [];
      const spared = selfAndAncestors().add(root.pid);
      return [...all.values()].filter((row) => !spared.has(row.pid));
    },
    close() {
      clearTimeout(timer);
    },
  };
}

/** The rows that descend from the root or from one already known, and the rest of the root's group. */
export function membersOf(
  rows: ProcessRow[],
  root: { pid: number; startTime: string },
  known: ReadonlyMap<number, string>,
): ProcessRow[] {
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row]);
  const leader = rows.find((row) => row.pid === root.pid);
  // A group whose leader has another start time is somebody else's group under a used pid.
  const isOurGroup = leader === undefined || leader.startTime === root.startTime;
  const members = new Map<number, ProcessRow>();
  const waiting = rows.filter(
    (row) => known.get(row.pid) === row.startTime || (isOurGroup && row.pgid === root.pid),
  );
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    if (members.has(row.pid)) continue;
    members.set(row.pid, row);
    waiting.push(...(children.get(row.pid) ?? []));
  }
  if (isOurGroup) members.delete(root.pid);
  return [...members.values()];
}
