/** Other people's words and paths on their way into one prompt: shortened, escaped and fenced. */
import { fenced, inert, inertLine, shortened } from './inert.ts';

const LINE_CHARS = 1_000;
const PATHS = 100;

/** Shortens, escapes and fences for one prompt's completion word. */
export interface Data {
  block(text: string, max: number, keep?: 'start' | 'end'): string;
  line(text: string, max?: number): string;
  /** Fenced only where it holds a fence itself: for the words of the session's owner. */
  plain(text: string, max: number): string;
}

export function dataFor(word: string | null): Data {
  return {
    block: (text, max, keep) => fenced(inert(shortened(text.trim(), max, keep), word)),
    line: (text, max = LINE_CHARS) => inertLine(shortened(text, max), word),
    plain: (text, max) => {
      const safe = inert(shortened(text.trim(), max), word);
      // A fence of its own, left open, would swallow the sections that follow.
      return /`{3,}|~{3,}/.test(safe) ? fenced(safe) : safe;
    },
  };
}

/** A list of paths, as far as there is room. */
export function pathList(list: readonly string[], data: Data): string {
  const lines = list.slice(0, PATHS).map((path) => `- ${data.line(path, 800)}`);
  const left = list.length - lines.length;
  return left > 0 ? [...lines, `- … shortened: ${left} more`].join('\n') : lines.join('\n');
}
