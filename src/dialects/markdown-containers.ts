/**
 * The containers that are open at a place of a Markdown text, quotes and list items within each other,
 * and how far a line goes on with them, the way CommonMark describes it.
 */
import type { Block } from './markdown-block.ts';
import type { OpaqueStart } from './markdown-opaque.ts';

/** A quote, or a list item with the columns its content is indented by. */
export interface Container {
  quote: boolean;
  width: number;
  /** The item began without content and nothing followed yet: a blank line ends it. */
  empty: boolean;
}

export type Leaf =
  | { kind: 'paragraph'; text: string; line: number; lineStart: number; start: number; lines: number }
  | (OpaqueStart & { line: number })
  | { kind: 'code' };

/** A checkbox that Markdown does not show as one. */
export interface HiddenBox {
  line: number;
  where: 'a code fence' | 'a comment or HTML' | 'a quote';
}

export interface Walk {
  text: string;
  visit(block: Block): void;
  hidden: HiddenBox[];
  containers: Container[];
  /** How many of the containers are quotes: within one nothing is reported. */
  quotes: number;
  leaf: Leaf | null;
  /** Lines that start before this offset lie in a comment that began within a line. */
  commentUntil: number;
  /** The next end of a comment from the last place that asked; the text's length where there is none. */
  nextClose: number;
}

/** Containers within each other: what is deeper is taken for text, so that no text costs more than lines. */
export const MAX_DEPTH = 50;

/** One line under the walk. `at` and `column` stand at the first character not yet used that is no blank. */
export interface Line {
  number: number;
  start: number;
  end: number;
  at: number;
  column: number;
  /** The column up to which containers have taken the line. */
  base: number;
}

/** How many of the open containers the line goes on with, from the outermost. */
export function keepContainers({ text, containers }: Walk, line: Line): number {
  let kept = 0;
  for (; kept < containers.length; kept++) {
    const container = containers[kept]!;
    const blank = line.at === line.end;
    if (container.quote) {
      if (blank || line.column - line.base > 3 || text[line.at] !== '>') break;
      enterQuote(text, line);
    } else if (blank) {
      if (container.empty) break;
    } else {
      if (line.column - line.base < container.width) break;
      line.base += container.width;
      container.empty = false;
    }
  }
  return kept;
}

/** Takes `>` and one blank behind it. */
export function enterQuote(text: string, line: Line): void {
  line.at += 1;
  line.column += 1;
  line.base = line.column;
  const next = text[line.at];
  skipBlanks(text, line);
  if (next === ' ' || next === '\t') line.base += 1;
}

/** Ends the containers behind the first `kept`. */
export function cut(walk: Walk, kept: number): void {
  const { containers } = walk;
  if (kept === containers.length) return;
  if (walk.quotes > 0) {
    for (let at = kept; at < containers.length; at++) if (containers[at]!.quote) walk.quotes -= 1;
  }
  containers.length = kept;
  walk.leaf = null;
}

export function skipBlanks(text: string, line: Line): void {
  for (; line.at < line.end; line.at++) {
    const char = text.charCodeAt(line.at);
    if (char === 0x20) line.column += 1;
    else if (char === 0x09) line.column += 4 - (line.column % 4);
    else return;
  }
}
