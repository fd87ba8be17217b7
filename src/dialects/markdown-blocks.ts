/**
 * The block structure of a Markdown text, line by line: headings, list items with their depth, and
 * paragraph lines. What stands in fences, HTML, comments, quotes and indented code is not reported, as
 * nothing in there is work to do. Each line is looked at once, the way CommonMark describes it: first
 * the open containers it goes on with, then what begins on it, else the paragraph it continues.
 */
import { fenceEnds, type OpaqueStart, opaqueStart } from './markdown-opaque.ts';

/** What stands between the brackets of a checkbox, with the offsets of that. */
export interface Box {
  inner: string;
  start: number;
  end: number;
}

export type Block =
  | {
      kind: 'heading';
      level: number;
      text: string;
      line: number;
      /** Offset of the line's first character. */
      lineStart: number;
      /** Offsets of the text. */
      start: number;
      end: number;
    }
  | {
      kind: 'item';
      /** Enclosing list items. */
      depth: number;
      box: Box | null;
      /** The first line, without bullet and checkbox. */
      text: string;
      line: number;
      /** Offset of the line's first character. */
      start: number;
      /** Offset where `text` begins. */
      at: number;
    }
  | {
      kind: 'text';
      depth: number;
      text: string;
      line: number;
      /** True when it goes on with the item or paragraph line before it. */
      continues: boolean;
      /** Offset where `text` begins. */
      at: number;
    };

export interface BlockReading {
  /** Things that swallow the rest of the text, as sentences with a line. */
  warnings: string[];
}

/** A quote, or a list item with the columns its content is indented by. */
interface Container {
  quote: boolean;
  width: number;
  /** The item began without content and nothing followed yet: a blank line ends it. */
  empty: boolean;
}

type Leaf =
  | { kind: 'paragraph'; text: string; line: number; lineStart: number; start: number; lines: number }
  | (OpaqueStart & { line: number })
  | { kind: 'code' };

interface Walk {
  text: string;
  visit(block: Block): void;
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
const MAX_DEPTH = 50;

/** One line under the walk. `at` and `column` stand at the first character not yet used that is no blank. */
interface Line {
  number: number;
  start: number;
  end: number;
  at: number;
  column: number;
  /** The column up to which containers have taken the line. */
  base: number;
}

/** Calls `visit` for every reported block, in order. Never throws. */
export function walkBlocks(text: string, visit: (block: Block) => void): BlockReading {
  const walk: Walk = { text, visit, containers: [], quotes: 0, leaf: null, commentUntil: 0, nextClose: -1 };
  let number = 0;
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const front = frontMatterEnd(text, start);
  while (start < text.length) {
    let next = text.indexOf('\n', start);
    next = next === -1 ? text.length : next + 1;
    number += 1;
    let end = next;
    while (end > start && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
    if (start >= front) {
      const line: Line = { number, start, end, at: start, column: 0, base: 0 };
      skipBlanks(text, line);
      takeLine(walk, line);
    }
    start = next;
  }
  return { warnings: unclosed(walk.leaf) };
}

function unclosed(leaf: Leaf | null): string[] {
  if (leaf?.kind !== 'fence' && (leaf?.kind !== 'html' || leaf.until === null)) return [];
  const what = leaf.kind === 'fence' ? 'code fence' : 'HTML comment or block';
  return [`line ${leaf.line}: this ${what} is never closed, so nothing below it counts`];
}

/** Offset behind a front matter block at the very beginning; 0 without one. */
function frontMatterEnd(text: string, start: number): number {
  const match =
    /^---[ \t]*\r?\n(?=[\w-]+[ \t]*:)(?:(?![-.]{3}[ \t]*\r?$)[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m.exec(
      text.slice(start, start + 20_000),
    );
  return match?.index === 0 ? start + match[0].length : 0;
}

function skipBlanks(text: string, line: Line): void {
  for (; line.at < line.end; line.at++) {
    const char = text.charCodeAt(line.at);
    if (char === 0x20) line.column += 1;
    else if (char === 0x09) line.column += 4 - (line.column % 4);
    else return;
  }
}

function takeLine(walk: Walk, line: Line): void {
  const kept = keepContainers(walk, line);
  const blank = line.at === line.end;
  const all = kept === walk.containers.length;
  const { leaf } = walk;
  if (leaf?.kind === 'fence' || leaf?.kind === 'html') {
    if (all) return takeOpaque(walk, leaf, line);
    walk.leaf = null;
  }
  if (blank) {
    cut(walk, kept);
    if (walk.leaf?.kind !== 'code') walk.leaf = null;
    return;
  }
  takeContent(walk, line, kept);
}

/** How many of the open containers the line goes on with, from the outermost. */
function keepContainers({ text, containers }: Walk, line: Line): number {
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
function enterQuote(text: string, line: Line): void {
  line.at += 1;
  line.column += 1;
  line.base = line.column;
  const next = text[line.at];
  skipBlanks(text, line);
  if (next === ' ' || next === '\t') line.base += 1;
}

/** Ends the containers behind the first `kept`. */
function cut(walk: Walk, kept: number): void {
  const { containers } = walk;
  if (kept === containers.length) return;
  if (walk.quotes > 0) {
    for (let at = kept; at < containers.length; at++) if (containers[at]!.quote) walk.quotes -= 1;
  }
  containers.length = kept;
  walk.leaf = null;
}

function takeOpaque(walk: Walk, leaf: OpaqueStart, line: Line): void {
  const blank = line.at === line.end;
  if (leaf.kind === 'html') {
    if (leaf.until === null ? blank : leaf.until.test(walk.text.slice(line.at, line.end))) walk.leaf = null;
  } else if (!blank && line.column - line.base <= 3) {
    if (fenceEnds(leaf, walk.text.slice(line.at, line.end))) walk.leaf = null;
  }
}

/** What begins on the line inside `kept` containers, which may be further containers; else its text. */
function takeContent(walk: Walk, line: Line, kept: number): void {
  for (let inside = kept; ; ) {
    const paragraph = walk.leaf?.kind === 'paragraph' ? walk.leaf : null;
    const lazy = inside < walk.containers.length;
    if (line.column - line.base >= 4) {
      if (paragraph !== null) return continueParagraph(walk, line);
      cut(walk, inside);
      walk.leaf = { kind: 'code' };
      return;
    }
    const rest = walk.text.slice(line.at, line.end);
    const deep = inside >= MAX_DEPTH;
    if (rest[0] === '>' && !deep) {
      cut(walk, inside);
      walk.leaf = null;
      enterQuote(walk.text, line);
      walk.containers.push({ quote: true, width: 0, empty: false });
      walk.quotes += 1;
    } else {
      const width = deep ? 0 : beginsItem(walk, rest, lazy);
      if (width === 0) return takeLeaf(walk, line, { rest, inside, lazy });
      cut(walk, inside);
      walk.leaf = null;
      if (!takeItem(walk, line, width)) return;
    }
    inside = walk.containers.length;
    if (line.at === line.end) return;
  }
}

/** The width of the bullet that begins an item here; 0 where none does. */
function beginsItem({ leaf }: Walk, rest: string, lazy: boolean): number {
  if (!'-+*0123456789'.includes(rest[0]!)) return 0;
  const bullet = BULLET.exec(rest);
  if (bullet === null || THEMATIC.test(rest)) return 0;
  if (!lazy && leaf?.kind === 'paragraph' && SETEXT.test(rest)) return 0;
  // A paragraph is interrupted only by an item with content, and of the numbered ones only by the first.
  if (!lazy && leaf?.kind === 'paragraph') {
    if (bullet[1] !== undefined && bullet[1] !== '1') return 0;
    if (rest.slice(bullet[0].length).trim() === '') return 0;
  }
  return bullet[0].length;
}

/** `[name]: target` is no text that an underline could make a heading of. */
function isDefinition({ text, lines }: Leaf & { kind: 'paragraph' }): boolean {
  return lines === 1 && /^\[[^\]]+\]:[ \t]+\S+[ \t]*$/.test(text);
}

const SETEXT = /^(=+|-+)[ \t]*$/;
const ATX = /^(#{1,6})(?:[ \t]+(.*))?$/;
const THEMATIC = /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const BULLET = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/;
const BOX = /^\[([^[\]]{0,12})\](?=[ \t]|$)/;

/** Opens the item and reports it; true where something else may begin behind its bullet. */
function takeItem(walk: Walk, line: Line, bullet: number): boolean {
  const { text, containers } = walk;
  const indent = line.column - line.base;
  line.at += bullet;
  line.column += bullet;
  const behind = line.column;
  skipBlanks(text, line);
  const blank = line.at === line.end;
  const gap = blank || line.column - behind > 4 ? 1 : line.column - behind;
  const depth = containers.length - walk.quotes;
  containers.push({ quote: false, width: indent + bullet + gap, empty: blank });
  line.base = behind + gap;
  const rest = text.slice(line.at, line.end);
  const plain = !blank && line.column - line.base < 4;
  const box = plain ? BOX.exec(rest) : null;
  const beginsOther = plain && box === null && NESTED.test(rest);
  const start = line.at + 1;
  const at = line.at + (box === null ? 0 : box[0].length);
  const content = box === null ? rest : rest.slice(box[0].length);
  report(walk, line, {
    kind: 'item',
    depth,
    box: box === null ? null : { inner: box[1]!, start, end: start + box[1]!.length },
    text: beginsOther || !plain ? '' : content.trim(),
    line: line.number,
    start: line.start,
    at: at + content.length - content.trimStart().length,
  });
  if (!plain || beginsOther) return true;
  walk.leaf = {
    kind: 'paragraph',
    text: rest,
    line: line.number,
    lineStart: line.start,
    start: line.at,
    lines: 1,
  };
  midLineComment(walk, line);
  return false;
}

/** Item content that is itself the beginning of something else than a paragraph. */
const NESTED = /^(?:[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|>|#{1,6}(?=[ \t]|$)|`{3}|~{3}|<|[*_-][*_ \t-]*$)/;

interface LeafLine {
  rest: string;
  inside: number;
  lazy: boolean;
}

function takeLeaf(walk: Walk, line: Line, { rest, inside, lazy }: LeafLine): void {
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
  walk.leaf = {
    kind: 'paragraph',
    text: rest,
    line: line.number,
    lineStart: line.start,
    start: line.at,
    lines: 1,
  };
  reportText(walk, line, false);
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

function continueParagraph(walk: Walk, line: Line): void {
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

function report(walk: Walk, line: Line, block: Block): void {
  if (walk.quotes === 0 && line.start >= walk.commentUntil) walk.visit(block);
}

/**
 * A comment that opens within a line and closes on a later one hides the lines between: its writer
 * meant so. One that another comment would close is not one.
 */
function midLineComment(walk: Walk, line: Line): void {
  const { text } = walk;
  const found = text.slice(line.at, line.end).lastIndexOf('<!--');
  if (found === -1 || line.start < walk.commentUntil) return;
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
