/**
 * Keeps agents from being started on a machine that is about to be full, and as few side by side as it has memory for:
 * what is short is written down, and told.
 */
import { roomIn, roomNotice, type Shortage, type State, type Step, shortNotice } from '../core/index.ts';
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
  await see(house, ({ short, room }) => (kinds(short) === kinds(found) ? null : { short: found, room }));
}

/** Right before agents are to start side by side, and where fewer were to start than may: how many there is memory for. */
export async function lookAtRoom(house: House): Promise<void> {
  if ((house.state.policy?.host?.minFreeMemoryMb ?? 0) === 0) return;
  const room = roomIn(house.state, (await house.host.free([])).memoryMb);
  await see(house, (known) => (known.room === room ? null : { short: known.short, room }));
}

/** A wait for the machine is told to people once it is long. */
export async function tellShort(house: House): Promise<void> {
  await append(house, (state) => shortNotice(state, house.clock.now()));
}

/** Whether how many there is memory for decides about this step. */
export function asksForRoom({ run, wave }: State, step: Step): boolean {
  if (step.do === 'run') return wave?.beside === true;
  return step.do === 'open' && (step.items.length > 1 || run?.room != null);
}

type Seen = { short: Shortage[]; room: number | null };

async function see(house: House, change: (known: Seen) => Seen | null): Promise<void> {
  await append(house, (state) => {
    const { run } = state;
    const seen = run === null ? null : change({ short: run.short ?? [], room: run.room ?? null });
    if (seen === null) return [];
    const { short, room } = seen;
    const news = short.length === 0 ? roomNotice(state) : [];
    return [{ type: 'host.seen', short, ...(room === null ? {} : { room }) }, ...news];
  });
}

/** An agent that is about to start waits; those that are at work go on. */
export function isShort({ state: { run } }: House): boolean {
  return (run?.short ?? []).length > 0;
}
