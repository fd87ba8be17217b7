/** The two clocks of a child: how long it may run, and how long it may be silent. */
import type { AwakeClock } from './awake.ts';
import type { RunOptions } from './options.ts';

/** The clock is read at least this often, so that a sleep of the machine shows as one long step. */
const TICK_MS = 5000;

/** What the deadlines look at and whom they tell. */
export interface DeadlineWatch {
  limits: Pick<RunOptions, 'wallMs' | 'idleMs' | 'beforeIdle'>;
  clock: AwakeClock;
  lastOutput(): { awakeMs: number; epochMs: number };
  expire(which: 'wall' | 'idle'): void;
  /** `beforeIdle` threw. */
  fail(error: unknown): void;
}

/** Both clocks of one child. */
export interface Deadlines {
  stop(): void;
  /** Stands both clocks still; `resume` lets wall time go on and begins the silence anew. */
  pause(): void;
  resume(): void;
}

/** Tells once when a limit is reached. */
export function watchDeadlines({ limits, clock, lastOutput, expire, fail }: DeadlineWatch): Deadlines {
  const { wallMs, idleMs, beforeIdle } = limits;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let isAsking = false;
  /** The idle clock's start when something other than output showed life. */
  let restartedMs = 0;
  /** Time that stood still before, and since when it stands still now. */
  let stoodMs = 0;
  let pausedAtMs: number | null = null;

  function stop(): void {
    isOver = true;
    clearTimeout(timer);
  }

  function reached(which: 'wall' | 'idle'): void {
    stop();
    expire(which);
  }

  function silentMs(): number {
    return clock.elapsedMs() - Math.max(lastOutput().awakeMs, restartedMs);
  }

  async function ask(idle: number, ask: (sinceMs: number) => Promise<boolean>): Promise<void> {
    isAsking = true;
    try {
      const isAlive = await ask(lastOutput().epochMs);
      if (isOver) return;
      if (isAlive) restartedMs = clock.elapsedMs();
      else if (pausedAtMs === null && silentMs() >= idle) reached('idle');
    } catch (error) {
      fail(error);
    } finally {
      isAsking = false;
    }
  }

  function tick(): void {
    if (isOver || pausedAtMs !== null) return;
    const wallLeft = wallMs === null ? TICK_MS : wallMs - (clock.elapsedMs() - stoodMs);
    if (wallLeft <= 0) return reached('wall');
    let idleLeft = idleMs === null ? TICK_MS : idleMs - silentMs();
    if (idleMs !== null && idleLeft <= 0) {
      if (beforeIdle === undefined) return reached('idle');
      if (!isAsking) void ask(idleMs, beforeIdle);
      idleLeft = 50;
    }
    timer = setTimeout(tick, Math.max(1, Math.min(wallLeft, idleLeft, TICK_MS)));
  }

  function pause(): void {
    if (isOver || pausedAtMs !== null) return;
    pausedAtMs = clock.elapsedMs();
    clearTimeout(timer);
    keepReading();
  }

  /** The clock must be read every few seconds, or the pause itself would look like a sleep. */
  function keepReading(): void {
    clock.elapsedMs();
    timer = setTimeout(keepReading, TICK_MS);
  }

  function resume(): void {
    if (isOver || pausedAtMs === null) return;
    clearTimeout(timer);
    restartedMs = clock.elapsedMs();
    stoodMs += restartedMs - pausedAtMs;
    pausedAtMs = null;
    tick();
  }

  tick();
  return { stop, pause, resume };
}
