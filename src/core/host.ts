/**
 * What the machine has too little of: no agent is started until there is more, and nobody is charged for that. Agents
 * side by side are as many as there is memory for.
 */
import type { Fact, Shortage } from './event.ts';
import { isLong, timeWords } from './outage.ts';
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

/** Tells people, once, of a wait for the machine that has lasted for minutes. */
export function shortNotice(state: State, now: number): Fact[] {
  const begins = longSince(state);
  if (begins === null || !isLong(state.run!.shortSince!, now) || isTold(state, begins)) return [];
  const text = `${begins}: ${shortageWords(state.run!.short)}. Free some or lower that key; it goes on by itself.`;
  return [{ type: 'notice.given', level: 'warning', text }];
}

/** Tells that such a wait is over; nothing where nobody was told of it. */
export function roomNotice(state: State): Fact[] {
  const begins = longSince(state);
  if (begins === null || !isTold(state, begins)) return [];
  const since = timeWords(state.run!.shortSince!, state.lastAt);
  const text = `The machine has enough disk and memory again, after a wait since ${since}; the work goes on.`;
  return [{ type: 'notice.given', level: 'info', text }];
}

function longSince({ run }: State): string | null {
  if (run === null || run.shortSince === null) return null;
  return `No agent was started since ${timeWords(run.shortSince, run.shortSince)}`;
}

function isTold({ notices }: State, begins: string): boolean {
  return notices.some(({ text }) => text.startsWith(begins));
}

/** How many agents are enough for so much memory, each taken for what one has to find; null: as many as may be. */
export function roomIn({ policy }: State, memoryMb: number): number | null {
  const leastMb = policy?.host?.minFreeMemoryMb ?? 0;
  if (policy === null || leastMb === 0) return null;
  const { executors, reviewers, questioners } = policy.parallel;
  const room = Math.max(1, Math.floor(memoryMb / leastMb));
  return room < Math.max(executors, reviewers, questioners) ? room : null;
}

/** As many of these as the machine has memory for at once, the first in any case: the guard says when none may start. */
export function fitting<One>(state: State, items: readonly One[]): One[] {
  return items.slice(0, state.run?.room ?? items.length);
}

/** Why fewer agents than there may be work side by side; empty where that is not so. */
export function narrowWords({ run, policy }: State): string {
  if (run?.room == null) return '';
  const agents = run.room === 1 ? 'one agent' : `${run.room} agents`;
  return `memory is enough for ${agents} at once, with ${policy?.host?.minFreeMemoryMb ?? 0} MB for each (host.min_free_memory_mb)`;
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
