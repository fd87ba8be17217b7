/**
 * Words to an agent while it works. Guidance of people that arrives meanwhile is given to an agent that can
 * be talked to, and counts as delivered when the agent took it in; to all others it comes with their next
 * prompt. An agent that can be told is asked to stop before it is ended.
 */
import { type Item, liveGuidance, type StopCause, stopRequest } from '../../core/index.ts';
import { guidanceOf } from '../guidance.ts';
import { append, type House } from '../house.ts';
import type { AgentHandle } from '../ports.ts';
import { fitting, pendingGuidance } from '../prompt-input.ts';

/** From SIGTERM to SIGKILL. */
export const KILL_GRACE_MS = 5_000;

/** The talk with one running agent. */
export interface Steering {
  /** Gives on what has arrived since the last look. */
  look(): Promise<void>;
  /** Ends the agent; a pause or a limit asks it first, where it can be told. */
  end(cause: StopCause): void;
  /** It was asked to stop, and took that in. */
  heeded(): boolean;
  /** After the agent's end: settles once everything that it took in is written down. */
  close(): Promise<void>;
}

export interface Steered {
  iteration: number;
  item: Item;
  handle: AgentHandle;
  /** Ends an agent that cannot be talked to for an urgent word; null where its session would be lost by that. */
  interrupt: (() => void) | null;
}

/** Begins with nothing said but the prompt. */
export function steer(house: House, { iteration, item, handle, interrupt }: Steered): Steering {
  const offered = new Set<string>();
  const under: Promise<void>[] = [];
  let isDeaf = handle.send === undefined;
  let hasHeeded = false;
  let cancelEnd = () => {};

  /** Its failure is told by `close`. */
  function follow(work: Promise<void>): void {
    under.push(work);
    work.catch(() => undefined);
  }

  async function give(ids: string[], sent: Promise<boolean>): Promise<void> {
    if (!(await sent)) {
      isDeaf = true;
      return;
    }
    await append(house, [{ type: 'guidance.reached', iteration, messages: ids, questions: [], how: 'live' }]);
  }

  function ask(send: NonNullable<AgentHandle['send']>, cause: 'pause' | 'limit', graceMs: number): void {
    isDeaf = true;
    const completionWord = house.state.policy?.completionWord ?? null;
    const text = cause === 'pause' ? (house.state.paused?.text ?? '') : '';
    const asked = send(stopRequest({ cause, text, graceMs, completionWord }));
    follow(
      asked.then((taken) => {
        hasHeeded = taken;
      }),
    );
    cancelEnd = house.clock.at(house.clock.now() + graceMs, () => void handle.stop(KILL_GRACE_MS));
  }

  return {
    async look() {
      if (isDeaf && interrupt === null) return;
      const fresh = fitting(
        pendingGuidance(house.state, item).filter(
          ({ message, deliveries }) => !offered.has(message.id) && !deliveries.includes(iteration),
        ),
      );
      if (fresh.length === 0) return;
      const ids = fresh.map(({ message }) => message.id);
      for (const id of ids) offered.add(id);
      const urgent = fresh.some(({ message }) => message.urgent === true && message.type === 'STEER');
      if (handle.send === undefined) {
        if (urgent) interrupt?.();
        return;
      }
      const guided = { mode: item.mode, completionWord: house.state.policy?.completionWord ?? null, urgent };
      const text = liveGuidance(
        fresh.map(({ message }) => guidanceOf(message)),
        guided,
      );
      follow(give(ids, handle.send(text, { urgent })));
    },
    end(cause) {
      const graceMs = (house.state.policy?.limits.pauseGraceS ?? 0) * 1000;
      const soft = cause === 'pause' || cause === 'limit';
      if (soft && handle.send !== undefined && graceMs > 0) ask(handle.send, cause, graceMs);
      else void handle.stop(KILL_GRACE_MS);
    },
    heeded: () => hasHeeded,
    async close() {
      cancelEnd();
      await Promise.all(under);
    },
  };
}
