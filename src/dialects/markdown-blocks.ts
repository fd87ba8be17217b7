/**
 * The block structure of a Markdown text, line by line: headings, list items with their depth, and
 * paragraph lines. What stands in fences, HTML, comments, quotes and indented code is not reported, as
 * nothing in there is work to do. Each line is looked at once, the way CommonMark describes it: first
 * the open containers it goes on with, then what begins on it, else the paragraph it continues.
 */
import type { Block, Box } from './markdown-block.ts';
import {
  cut,
  enterQuote,
  type HiddenBox,
  keepContainers,
  type Leaf,
  type Line,
  MAX_DEPTH,
  skipBlanks,
  type Walk,
} from './markdown-containers.ts';
import {
  continueParagraph,
  midLineComment,
  noteHidden,
  paragraphOf,
  report,
  SETEXT,
  THEMATIC,
  takeLeaf,
} from './markdown-leaves.ts';
import { fenceEnds, type OpaqueStart } from './markdown-opaque.ts';

export type { Block, Box } from './markdown-block.ts';
export type { HiddenBox } from './markdown-containers.ts';

export interface BlockReading {
  /** Things that swallow the rest of the text, as sentences with a line. */
  warnings: string[];
  /** Checkboxes in fences, HTML, comments and quotes that end: nothing there is reported. */
  hidden: HiddenBox[];
}

/** Calls `visit` for every reported block, in order. Never throws. */
export function walkBlocks(text: string, visit: (block: Block) => void): BlockReading {
  const hidden: HiddenBox[] = [];
  const walk: Walk = {
    text,
    visit,
    hidden,
    containers: [],
    quotes: 0,
    leaf: null,
    commentUntil: 0,
    nextClose: -1,
  };
  let number = 0;
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const front = frontMatterEnd(text, start);
  let feed = -1;
  while (start < text.length) {
    if (feed < start) feed = text.indexOf('\n', start);
    if (feed === -1) feed = text.length;
    const next = lineReach(text, start, feed);
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
  const open = walk.leaf?.kind === 'fence' || walk.leaf?.kind === 'html' ? walk.leaf.line : number + 1;
  return { warnings: unclosed(walk.leaf), hidden: hidden.filter(({ line }) => line < open) };
}

function unclosed(leaf: Leaf | null): string[] {
  if (leaf?.kind !== 'fence' && (leaf?.kind !== 'html' || leaf.until === null)) return [];
  const what = leaf.kind === 'fence' ? 'code fence' : 'HTML comment or block';
  return [`line ${leaf.line}: this ${what} is never closed, so nothing below it counts`];
}

/** Where the next line begins; a carriage return by itself ends a line as well. `feed`: the next line feed. */
function lineReach(text: string, start: number, feed: number): number {
  const back = text.slice(start, feed).indexOf('\r');
  const at = start + back;
  if (back === -1 || at === feed - 1) return Math.min(feed + 1, text.length);
  return at + 1;
}

/** Offset behind a front matter block at the very beginning; 0 without one. */
function frontMatterEnd(text: string, start: number): number {
  const match =
    /^---[ \t]*(?:\r\n?|\n)(?=[\w-]+[ \t]*:)(?:(?![-.]{3}[ \t]*$)[^\r\n]*(?:\r\n?|\n)){0,200}?(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|$)/m.exec(
      text.slice(start, start + 20_000),
    );
  return match?.index === 0 ? start + match[0].length : 0;
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

function takeOpaque(walk: Walk, leaf: OpaqueStart, line: Line): void {
  const blank = line.at === line.end;
  if (!blank) noteHidden(walk, line, leaf.kind === 'fence' ? 'a code fence' : 'a comment or HTML');
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

const BULLET = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/;
const BOX = /^\[([^[\]<]{0,16}?)( ?<!-- was:(?: ([^[\]]{1,40}?))? -->)?\](?=[ \t]|$)/;

/** Opens the item and reports it; true where something else may begin behind its bullet. */
function takeItem(walk: Walk, line: Line, bullet: number): boolean {
  const { text, containers } = walk;
  const indent = line.column - line.base;
  const numbered = bullet === 1 ? null : Number.parseInt(text.slice(line.at, line.at + bullet), 10);
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
    number: numbered,
    box: box === null ? null : boxAt(box, start),
    text: beginsOther || !plain ? '' : content.trim(),
    line: line.number,
    start: line.start,
    at: at + content.length - content.trimStart().length,
  });
  if (!plain || beginsOther) return true;
  walk.leaf = paragraphOf(rest, line);
  midLineComment(walk, line);
  return false;
}

function boxAt([, inner, comment, was]: RegExpExecArray, start: number): Box {
  const end = start + inner!.length;
  if (comment === undefined) return { inner: inner!, start, end };
  return { inner: inner!, start, end, memory: { end: end + comment.length, was: was ?? '' } };
}

/** Item content that is itself the beginning of something else than a paragraph. */
const NESTED = /^(?:[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|>|#{1,6}(?=[ \t]|$)|`{3}|~{3}|<|[*_-][*_ \t-]*$)/;
