/** What the machine has too little of: no agent is started until there is more, and nobody is charged for that. */
import type { Shortage } from './event.ts';
import type { State } from './state.ts';
import { type Step, stop } from './step.ts';

/** Until the machine is looked at again, ms; whatever wakes the run before looks, too. */
const LOOK_AGAIN_MS = 30_000;

/** Waits for a person or another program to free some of it; with `--no-wait` the run stops. */
export function short(state: State, now: number): Step | null {
  const found = state.run?.short ?? [];
  if (found.length === 0) return null;
  if (state.policy?.park) return { do: 'wait', until: now + LOOK_AGAIN_MS, for: 'host' };
  return stop(5, `no agent was started: ${shortageWords(found)}`);
}

/** What is short, by how much, and which key says so. */
export function shortageWords(found: readonly Shortage[]): string {
  return found.map(wordsOf).join('; ');
}

function wordsOf({ of, path, freeMb, leastMb }: Shortage): string {
  const where = of === 'disk' ? `MB are free on the disk of ${path}` : 'MB of memory are available';
  const key = of === 'disk' ? 'min_free_disk_mb' : 'min_free_memory_mb';
  return `only ${freeMb} ${where}, and ${leastMb} have to be (host.${key})`;
}
