/** What the terminal at the other end can do, read from the stream and the environment alone. */

/** The part of a terminal stream that is looked at; `process.stdout` is one. */
export interface Screen {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

export type Environment = Record<string, string | undefined>;
export type ColorWish = 'auto' | 'always' | 'never';

/** Below this width a frame is no help any more. Columns. */
export const NARROW_COLUMNS = 40;

/** Why lines are printed instead of a live frame; null where the frame can be drawn. */
export function whyPlain(screen: Screen, env: Environment): string | null {
  if (screen.isTTY !== true) return 'the output is not a terminal';
  if (env.TERM === 'dumb') return 'TERM is dumb';
  if (inCi(env)) return 'CI is set';
  // 0 is what a terminal of unknown size reports.
  const columns = screen.columns ?? 0;
  if (columns < NARROW_COLUMNS) return `the terminal is narrower than ${NARROW_COLUMNS} columns`;
  return null;
}

/** Whether a CI runs this, by the same signs as ink goes by: there it draws nothing before its end. */
export function inCi({ CI, CONTINUOUS_INTEGRATION }: Environment): boolean {
  return [CI, CONTINUOUS_INTEGRATION].some((sign) => sign !== undefined && sign !== '0' && sign !== 'false');
}

/** Whether colours are used: the flag first, then NO_COLOR (any value), then what the stream is. */
export function wantsColor(screen: Screen, env: Environment, wish: ColorWish = 'auto'): boolean {
  if (wish !== 'auto') return wish === 'always';
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  return screen.isTTY === true && env.TERM !== 'dumb';
}
