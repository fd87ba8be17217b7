/** Ends processes of earlier attempts: those that carry the attempt's marker and nobody else's. */
import type { Leftovers } from '../engine/index.ts';
import { endAll, findByMarker } from '../process/index.ts';

const GRACE_MS = 2_000;

export const markedProcesses: Leftovers = {
  async endMarked(markers) {
    const rows = markers.flatMap((value) => findByMarker({ name: 'RALPH_MARKER', value }));
    if (rows.length === 0) return [];
    await endAll(rows, GRACE_MS);
    return rows.map((row) => row.command);
  },
};
