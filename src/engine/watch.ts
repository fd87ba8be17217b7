/**
 * While agents or gates run: messages are read, limits are held against what the streams reveal, and
 * a process signal is heard. Whatever has to end is ended here, with the cause written down.
 */
import { noLiveUsage, pay, type StopCause, spendingLimit, taskCostReached } from '../core/index.ts';
import type { House } from './house.ts';
import { readMailbox } from './intake.ts';
import { lookAtSpending } from './spending.ts';

export interface Watch {
  /** Why things were ended; null while nothing had to be. */
  cause(): StopCause | null;
  /** Looks once more, at once. */
  look(): Promise<void>;
  close(): Promise<void>;
}

export interface Watched {
  /** Ends what runs, with the cause; called again where a harder one comes, e.g. an abort after a pause. */
  end(cause: StopCause): void;
  /** Called at every look, for outboxes and the like. */
  tick?(): Promise<void>;
}

const EVERY_MS = 1_000;

/** An abort and a process signal wait for nothing that another cause has granted. */
const HARDNESS: Record<StopCause, number> = { steer: 0, pause: 0, limit: 0, abort: 1, signal: 1 };

/** Looks whenever the mailbox stirs and once a second, until closed. Errors of a look end the wave. */
export function watch(house: House, { end, tick }: Watched): Watch {
  let cause: StopCause | null = null;
  let closed = false;
  let failure: unknown = null;
  let running: Promise<void> = Promise.resolve();
  let cancelTimer = () => {};

  const look = () => {
    running = running.then(async () => {
      if (closed || failure) return;
      try {
        await readMailbox(house);
        await lookAtSpending(house);
        await tick?.();
      } catch (error) {
        failure = error;
        end('signal');
        return;
      }
      const found = causeOf(house);
      if (found === null || (cause !== null && HARDNESS[found] <= HARDNESS[cause])) return;
      cause = found;
      end(found);
    });
    return running;
  };
  const again = () => {
    if (closed) return;
    void look();
    cancelTimer = house.clock.at(house.clock.now() + EVERY_MS, again);
  };
  const unwatch = house.mailbox.watch(() => void look());
  const wake = () => void look();
  house.interrupt.wakes.add(wake);
  cancelTimer = house.clock.at(house.clock.now() + EVERY_MS, again);
  // What arrived between the last look and the start of what we watch.
  void look();
  return {
    cause: () => cause,
    look,
    async close() {
      await look();
      closed = true;
      cancelTimer();
      unwatch();
      house.interrupt.wakes.delete(wake);
      await running;
      if (failure) throw failure;
    },
  };
}

/** What the state or the outside says must end now. */
export function causeOf(house: House): StopCause | null {
  const { state } = house;
  if (house.interrupt.signal) return 'signal';
  if (state.aborted && !state.aborted.done) return 'abort';
  if (state.paused) return 'pause';
  return overLimit(house) ? 'limit' : null;
}

/** A limit that binds before the next agent starts: another loop may have spent the day's money meanwhile. */
export function limitNow({ state }: House): string | null {
  return spendingLimit(state, noLiveUsage());
}

function overLimit(house: House): boolean {
  const { state } = house;
  if (house.live.size === 0 || !state.policy) return false;
  const live = noLiveUsage();
  live.activeMs = Math.max(0, house.clock.now() - state.lastAt);
  for (const [iteration, usage] of house.usage) {
    if (!house.live.has(iteration)) continue;
    pay(live, usage);
    live.tokens += usage.inputTokens + usage.outputTokens;
    const task = state.tasks.get(state.attempts.get(iteration)?.item.task ?? '');
    if (task && taskCostReached(state.policy, task, usage.costUsd ?? 0)) return true;
  }
  return spendingLimit(state, live) !== null;
}
