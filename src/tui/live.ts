/**
 * The live display: facts scroll by as lines, the present stands below them as a frame. Where no frame
 * can be drawn, or drawing fails, the lines alone go on.
 */
import { emptyState, evolve, type JournalRecord, type State } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { type Display, linesOf, plainDisplay } from './display.ts';
import { frameOf } from './frame.ts';
import { emptyNotes, type Notes, note } from './notes.ts';
import type { DrawnScreen } from './screen.tsx';
import { type ColorWish, type Environment, wantsColor, whyPlain } from './terminal.ts';

export interface LiveOptions {
  out: NodeJS.WriteStream;
  env: Environment;
  /** Epoch ms. */
  now(): number;
  color?: ColorWish;
  /** Who holds the session; read at every frame. Default: this process, while it is not stopped. */
  runner?(): { pid: number; host: string; startedAt: number } | null;
}

/** Redrawn at the latest so often, and so soon after something happened. Milliseconds. */
const TICK_MS = 1_000;
const SOON_MS = 100;

/** A display for this terminal: a live frame where it can be drawn, else plain lines. Never rejects. */
export async function liveDisplay(options: LiveOptions): Promise<Display> {
  const { out, env } = options;
  const lines = plainDisplay((line) => void out.write(`${line}\n`));
  // A reader that went away ends the display, not the loop.
  const gone = () => lines.close();
  out.on('error', gone);
  if (whyPlain(out, env) !== null) return lines;
  try {
    const { openScreen } = await import('./screen.tsx');
    return drawn(options, lines, openScreen);
  } catch {
    return lines;
  }
}

type OpenScreen = typeof import('./screen.tsx').openScreen;

function drawn(options: LiveOptions, lines: Display, openScreen: OpenScreen): Display {
  const { out, env, now } = options;
  const notes = new Map<number, Notes>();
  let state: State = emptyState();
  let screen: DrawnScreen | null = null;
  let soon: NodeJS.Timeout | null = null;
  let closed = false;
  let resting = false;

  const self = { pid: process.pid, host: '', startedAt: 0 };
  const runner = () => (options.runner ? options.runner() : state.run?.stopped ? null : self);
  const frame = () =>
    frameOf({ state, now: now(), notes, columns: out.columns ?? 80, rows: out.rows || 24, runner: runner() });
  /** Whatever breaks in drawing costs the frame, never the loop. */
  const attempt = (draw: () => void) => {
    try {
      draw();
    } catch {
      drop();
    }
  };
  const drop = () => {
    const broken = screen;
    screen = null;
    stopTimers();
    try {
      broken?.end();
    } catch {
      // It is broken already; the plain lines go on.
    }
  };
  const redraw = () => {
    soon = null;
    if (screen) attempt(() => screen?.show(frame()));
  };
  const tick = setInterval(redraw, TICK_MS);
  tick.unref();
  const stopTimers = () => {
    clearInterval(tick);
    if (soon) clearTimeout(soon);
    out.off('resize', later);
  };
  function later(): void {
    soon ??= setTimeout(redraw, SOON_MS).unref();
  }
  out.on('resize', later);
  out.on('error', drop);
  const open = () =>
    attempt(() => {
      screen = openScreen([], { out, color: wantsColor(out, env, options.color), broken: drop });
    });
  open();

  return {
    record(record: JournalRecord, next: State) {
      if (closed) return;
      state = next;
      if (!screen) return lines.record(record, next);
      attempt(() => {
        forget(notes, state);
        const said = linesOf(record, next);
        if (said.length > 0) screen?.above(said.map((line) => cut(line, out.columns ?? 80)));
        later();
      });
    },
    event(iteration: number, event: AgentEvent) {
      if (closed) return;
      if (!screen) return lines.event(iteration, event);
      attempt(() => {
        const known = notes.get(iteration) ?? emptyNotes();
        notes.set(iteration, known);
        note(known, event);
        later();
      });
    },
    rest() {
      if (closed || !screen) return;
      attempt(() => screen?.show([]));
      const shown = screen;
      screen = null;
      resting = true;
      attempt(() => shown?.end());
    },
    wake() {
      if (closed || !resting) return;
      resting = false;
      open();
      later();
    },
    close() {
      if (closed) return;
      closed = true;
      stopTimers();
      if (screen) attempt(() => screen?.show(frame()));
      drop();
      lines.close();
    },
  };
}

/** Notes of iterations that are over are let go. */
function forget(notes: Map<number, Notes>, state: State): void {
  for (const iteration of notes.keys()) {
    if (state.attempts.has(iteration) && !state.open.has(iteration)) notes.delete(iteration);
  }
}

/** A line that wraps is fine; one of many screens is not. */
function cut(line: string, columns: number): string {
  const max = Math.max(80, columns * 3);
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

export interface LiveViewOptions extends LiveOptions {
  /** Records that are already there: they make the state and are not printed. */
  past: readonly JournalRecord[];
  /** Hands over every later record, until the returned function is called. */
  follow(record: (record: JournalRecord) => void): () => void;
}

/** Follows a session that another process runs. Answers the function that ends it. */
export async function liveView({ past, follow, ...options }: LiveViewOptions): Promise<() => void> {
  const state = emptyState();
  for (const record of past) evolve(state, record);
  const display = await liveDisplay(options);
  // An empty record puts the present on the screen without a line.
  display.record({ v: 1, seq: state.seq, epoch: 0, at: state.lastAt, facts: [], prev: '' }, state);
  const stop = follow((record) => {
    if (record.seq <= state.seq) return;
    evolve(state, record);
    display.record(record, state);
  });
  return () => {
    stop();
    display.close();
  };
}
