/** Keeps agents from being started on a machine that is about to be full: what is short is written down, and told. */
import type { Shortage } from '../core/index.ts';
import { append, type House } from './house.ts';

/** Looks at disk and memory; what is short, or no longer is, becomes a fact. A few MB more or less are none. */
export async function lookAtHost(house: House): Promise<void> {
  const { minFreeDiskMb = 0, minFreeMemoryMb = 0 } = house.state.policy?.host ?? {};
  if (minFreeDiskMb === 0 && minFreeMemoryMb === 0) return;
  const { disks, memoryMb } = await house.host.free([house.ground.root, house.sessionDir]);
  const found: Shortage[] = [];
  const fullest = disks.reduce((a, b) => (b.mb < a.mb ? b : a), { path: '', mb: Number.POSITIVE_INFINITY });
  if (fullest.mb < minFreeDiskMb)
    found.push({ of: 'disk', path: fullest.path, freeMb: fullest.mb, leastMb: minFreeDiskMb });
  if (memoryMb < minFreeMemoryMb)
    found.push({ of: 'memory', path: null, freeMb: memoryMb, leastMb: minFreeMemoryMb });
  const kinds = (short: readonly Shortage[]) => short.map(({ of, path }) => `${of} ${path}`).join();
  await append(house, ({ run }) =>
    run === null || kinds(run.short ?? []) === kinds(found) ? [] : [{ type: 'host.seen', short: found }],
  );
}

/** An agent that is about to start waits; those that are at work go on. */
export function isShort({ state: { run } }: House): boolean {
  return (run?.short ?? []).length > 0;
}
