/** What stands in the containers of a Markdown text: headings and paragraphs, reported line by line. */
import type { Block } from './markdown-block.ts';
import { cut, type Leaf, type Line, type Walk } from './markdown-containers.ts';
import { opaqueStart } from './markdown-opaque.ts';

/** `[name]: target` is no text that an underline could make a heading of. */
function isDefinition({ text, lines }: Leaf & { kind: 'paragraph' }): boolean {
  return lines === 1 && /^\[[^\]]+\]:[ \t]+\S+[ \t]*$/.test(text);
}

export const SETEXT = /^(=+|-+)[ \t]*$/;
const ATX = /^(#{1,6})(?:[ \t]+(.*))?$/;
export const THEMATIC = /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
interface LeafLine {
  rest: string;
  inside: number;
  lazy: boolean;
}

export function takeLeaf(walk: Walk, line: Line, { rest, inside, lazy }: LeafLine): void {
  const paragraph = walk.leaf?.kind === 'paragraph' ? walk.leaf : null;
  if (paragraph !== null && !lazy && SETEXT.test(rest) && !isDefinition(paragraph)) {
    walk.leaf = null;
    if (paragraph.lines > 1 || walk.containers.length > 0) return;
    const level = rest[0] === '=' ? 1 : 2;
    const text = paragraph.text.trim();
    const { start, lineStart } = paragraph;
    return report(walk, line, {
      kind: 'heading',
      level,
      text,
      line: paragraph.line,
      lineStart,
      start,
      end: start + text.length,
    });
  }
  const heading = rest[0] === '#' ? ATX.exec(rest) : null;
  if (heading !== null) {
    cut(walk, inside);
    walk.leaf = null;
    return takeHeading(walk, line, heading);
  }
  const opaque = opaqueStart(rest, paragraph !== null);
  if (opaque !== null) {
    cut(walk, inside);
    if (rest[0] === '<') noteHidden(walk, line, 'a comment or HTML');
    walk.leaf = opaque === 'one line' ? null : { ...opaque, line: line.number };
    return;
  }
  if ('-*_'.includes(rest[0]!) && THEMATIC.test(rest)) {
    cut(walk, inside);
    walk.leaf = null;
    return;
  }
  if (paragraph !== null) return continueParagraph(walk, line);
  cut(walk, inside);
  walk.leaf = paragraphOf(rest, line);
  reportText(walk, line, false);
}

/** A paragraph that begins with this line. */
export function paragraphOf(text: string, line: Line): Leaf {
  return { kind: 'paragraph', text, line: line.number, lineStart: line.start, start: line.at, lines: 1 };
}

function takeHeading(walk: Walk, line: Line, heading: RegExpExecArray): void {
  const raw = heading[2] ?? '';
  const text = raw.replace(/(^|[ \t])#+[ \t]*$/, '').trim();
  const start = line.end - raw.length + (raw.length - raw.trimStart().length);
  const level = heading[1]!.length;
  // One inside a list item names nothing but a part of that item.
  if (walk.containers.length > 0) return;
  report(walk, line, {
    kind: 'heading',
    level,
    text,
    line: line.number,
    lineStart: line.start,
    start,
    end: start + text.length,
  });
}

export function continueParagraph(walk: Walk, line: Line): void {
  const { leaf } = walk;
  if (leaf?.kind === 'paragraph') leaf.lines += 1;
  reportText(walk, line, true);
}

function reportText(walk: Walk, line: Line, continues: boolean): void {
  const text = walk.text.slice(line.at, line.end).trim();
  const depth = walk.containers.length - walk.quotes;
  report(walk, line, { kind: 'text', depth, text, line: line.number, continues, at: line.at });
  midLineComment(walk, line);
}

export function report(walk: Walk, line: Line, block: Block): void {
  if (walk.quotes === 0 && line.start >= walk.commentUntil) return walk.visit(block);
  if (block.kind !== 'item' || block.box === null || block.text === '') return;
  if (/^[ xX]$/.test(block.box.inner))
    walk.hidden.push({ line: line.number, where: walk.quotes > 0 ? 'a quote' : 'a comment or HTML' });
}

const HIDDEN = /(?:^|[\s>-])(?:[-+*]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]+[^\s-]/;

/** Notes a checkbox on a line that is not looked into. */
export function noteHidden(walk: Walk, line: Line, where: 'a code fence' | 'a comment or HTML'): void {
  if (HIDDEN.test(walk.text.slice(line.at, Math.min(line.end, line.at + 400))))
    walk.hidden.push({ line: line.number, where });
}

/**
 * A comment that opens within a line and closes on a later one hides the lines between: its writer
 * meant so. One that another comment would close is not one, and one within a quote reaches no further
 * than the quote, of which nothing is reported anyway.
 */
export function midLineComment(walk: Walk, line: Line): void {
  const { text } = walk;
  const found = text.slice(line.at, line.end).lastIndexOf('<!--');
  if (found === -1 || walk.quotes > 0 || line.start < walk.commentUntil) return;
  const open = line.at + found;
  if (walk.nextClose < open) {
    const next = text.indexOf('-->', open);
    walk.nextClose = next === -1 ? text.length : next;
  }
  const close = walk.nextClose;
  if (close === text.length || close < line.end) return;
  const another = text.slice(open + 4, close).indexOf('<!--');
  if (another === -1) walk.commentUntil = close;
}
