/**
 * The block structure of a Markdown text, line by line: headings, list items with their depth, and
 * paragraph lines. What stands in fences, HTML, comments, quotes and indented code is not reported, as
 * nothing in there is a list item. Follows CommonMark where a task could be gained or lost by it, and
 * rather skips a line than report one that Markdown does not hold for an item.
 */

export type Block =
  | { kind: 'heading'; level: number; text: string; line: number }
  | {
      kind: 'item';
      /** Enclosing list items. */
      depth: number;
      /** What stands between the brackets of its checkbox, with the offsets of that; null without one. */
      box: { inner: string; start: number; end: number } | null;
      /** The first line, without bullet and checkbox. */
      text: string;
      line: number;
      /** Offset of the line's first character. */
      start: number;
    }
  /** A line of a paragraph; `continues` when it goes on with the item or paragraph line before it. */
  | { kind: 'text'; depth: number; text: string; line: number; continues: boolean };

export interface BlockReading {
  /** Things that swallow the rest of the text, as sentences with a line. */
  warnings: string[];
}

/** Something that takes whole lines without looking into them. */
interface Opaque {
  kind: 'fence' | 'html';
  /** List items around it: it ends with them. */
  depth: number;
  line: number;
  /** Fence: the character and the least length of the closing line. */
  char: string;
  length: number;
  /** HTML: what its last line holds; null: a blank line ends it. */
  until: RegExp | null;
}

interface Walk {
  text: string;
  visit(block: Block): void;
  /** Column where the content of each open list item begins. */
  stack: number[];
  opaque: Opaque | null;
  /** `lazy`: a line of it stands outside of the item it belongs to. A quote's paragraph has no text. */
  paragraph: { text: string; line: number; lines: number; lazy: boolean } | null;
  /** The last line was indented code: like a paragraph it is not interrupted by a list from 2 on. */
  inCode: boolean;
  /** Where the last line began an item without content, the number of open items; 0 otherwise. */
  emptyItem: number;
  /** Lines that start before this offset lie in a comment that began within a line. */
  commentUntil: number;
  /** The line lies in such a comment: its structure counts, yet nothing of it is reported. */
  hidden: boolean;
  /** Nothing is reported until the next blank line. */
  muted: boolean;
}

/** One line under the walk. `at` and `column` stand at its first character that is no blank. */
interface Line {
  number: number;
  start: number;
  end: number;
  at: number;
  column: number;
}

/** Calls `visit` for every reported block, in order. Never throws. */
export function walkBlocks(text: string, visit: (block: Block) => void): BlockReading {
  const walk: Walk = {
    text,
    visit: (block) => {
      if (!walk.hidden && !walk.muted) visit(block);
    },
    stack: [],
    opaque: null,
    paragraph: null,
    inCode: false,
    emptyItem: 0,
    commentUntil: 0,
    hidden: false,
    muted: false,
  };
  let number = 0;
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const front = frontMatterEnd(text, start);
  while (start < text.length) {
    let next = text.indexOf('\n', start);
    next = next === -1 ? text.length : next + 1;
    number += 1;
    let end = next;
    while (end > start && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
    walk.hidden = start < walk.commentUntil;
    if (start >= front) takeLine(walk, lineFrom(text, number, { start, end }));
    start = next;
  }
  return { warnings: unclosed(walk.opaque) };
}

function unclosed(opaque: Opaque | null): string[] {
  if (opaque === null || (opaque.kind === 'html' && opaque.until === null)) return [];
  const what = opaque.kind === 'fence' ? 'code fence' : 'HTML comment or block';
  return [`line ${opaque.line}: this ${what} is never closed, so nothing below it counts`];
}

/** Offset behind a front matter block at the very beginning; 0 without one. */
function frontMatterEnd(text: string, start: number): number {
  const match =
    /^---[ \t]*\r?\n(?=[\w-]+[ \t]*:)(?:(?![-.]{3}[ \t]*\r?$)[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m.exec(
      text.slice(start, start + 20_000),
    );
  return match?.index === 0 ? start + match[0].length : 0;
}

interface Position {
  at: number;
  column: number;
}

function skipBlanks(text: string, from: Position, end: number): Position {
  let { at, column } = from;
  for (; at < end; at++) {
    const char = text[at];
    if (char === ' ') column += 1;
    else if (char === '\t') column += 4 - (column % 4);
    else break;
  }
  return { at, column };
}

function lineFrom(text: string, number: number, { start, end }: { start: number; end: number }): Line {
  const { at, column } = skipBlanks(text, { at: start, column: 0 }, end);
  return { number, start, end, at, column };
}

function takeLine(walk: Walk, line: Line): void {
  if (line.at === line.end) {
    walk.paragraph = null;
    if (walk.emptyItem > 0) walk.stack.length = Math.min(walk.stack.length, walk.emptyItem - 1);
    walk.emptyItem = 0;
    walk.muted = false;
    if (walk.opaque?.kind === 'html' && walk.opaque.until === null) walk.opaque = null;
    return;
  }
  walk.emptyItem = 0;
  let keep = 0;
  while (keep < walk.stack.length && walk.stack[keep]! <= line.column) keep += 1;
  if (walk.opaque !== null) {
    if (keep >= walk.opaque.depth) {
      if (closes(walk, walk.opaque, line)) walk.opaque = null;
      return;
    }
    walk.opaque = null;
  }
  takeContent(walk, line, keep);
}

function closes(walk: Walk, opaque: Opaque, line: Line): boolean {
  const rest = walk.text.slice(line.at, line.end);
  if (opaque.kind === 'html') return opaque.until?.test(rest) ?? false;
  const indent = line.column - (walk.stack[opaque.depth - 1] ?? 0);
  if (indent > 3 || rest[0] !== opaque.char) return false;
  const run = rest.trimEnd();
  return run.length >= opaque.length && [...run].every((char) => char === opaque.char);
}

/** What begins at the line's position, inside `keep` list items. Items may hold further beginnings. */
function takeContent(walk: Walk, line: Line, keep: number): void {
  const { text, stack } = walk;
  const rest = text.slice(line.at, line.end);
  const lazy = keep < stack.length || (walk.paragraph?.text === '' && walk.paragraph.lazy);
  if (line.column - (stack[keep - 1] ?? 0) >= 4) {
    if (walk.paragraph !== null) return continueParagraph(walk, line, lazy);
    stack.length = keep;
    walk.inCode = true;
    return;
  }
  const interrupts = lazy ? (walk.paragraph?.lazy ?? false) : walk.paragraph !== null || walk.inCode;
  walk.inCode = false;
  const enclosing = (): void => {
    stack.length = keep;
    walk.paragraph = null;
  };
  if (rest[0] === '>') {
    enclosing();
    // Plain lines may go on with the quote's paragraph.
    if (rest.slice(1).trim() !== '') walk.paragraph = { text: '', line: line.number, lines: 2, lazy: true };
    return;
  }
  if (!lazy && walk.paragraph !== null && SETEXT.test(rest)) return setextHeading(walk, rest);
  const heading = ATX.exec(rest);
  if (heading !== null) {
    enclosing();
    const title = (heading[2] ?? '').replace(/(^|\s)#+\s*$/, '').trim();
    return walk.visit({ kind: 'heading', level: heading[1]!.length, text: title, line: line.number });
  }
  const opaque = opaqueStart(rest, walk.paragraph !== null);
  if (opaque !== null) {
    enclosing();
    if (opaque !== 'one line') walk.opaque = { ...opaque, depth: keep, line: line.number };
    return;
  }
  if (THEMATIC.test(rest)) return enclosing();
  const bullet = BULLET.exec(rest);
  if (bullet !== null && mayBegin(bullet, rest, interrupts)) {
    enclosing();
    return takeItem(walk, line, bullet[0].length);
  }
  if (bullet !== null && lazy && walk.paragraph?.lazy) {
    // Readers of Markdown disagree on what this begins: nothing is claimed until the next blank line.
    enclosing();
    stack.length = 0;
    walk.muted = true;
    return;
  }
  if (walk.paragraph !== null) return continueParagraph(walk, line, lazy);
  enclosing();
  walk.paragraph = { text: rest, line: line.number, lines: 1, lazy: false };
  midLineComment(walk, line);
  walk.visit({ kind: 'text', depth: keep, text: rest.trim(), line: line.number, continues: false });
}

const SETEXT = /^(=+|-+)[ \t]*$/;
const ATX = /^(#{1,6})(?:[ \t]+(.*))?$/;
const THEMATIC = /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const BULLET = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/;

/** Inside a paragraph only an item with content, and of the numbered ones only the first, begins a list. */
function mayBegin(bullet: RegExpExecArray, rest: string, interrupts: boolean): boolean {
  if (!interrupts) return true;
  if (rest.slice(bullet[0].length).trim() === '') return false;
  return bullet[1] === undefined || Number(bullet[1]) === 1;
}

function setextHeading(walk: Walk, rest: string): void {
  const { text, line, lines } = walk.paragraph!;
  walk.paragraph = null;
  if (lines === 1 && walk.stack.length === 0) {
    walk.visit({ kind: 'heading', level: rest[0] === '=' ? 1 : 2, text: text.trim(), line });
  }
}

function continueParagraph(walk: Walk, line: Line, lazy: boolean): void {
  walk.paragraph!.lines += 1;
  walk.paragraph!.lazy ||= lazy;
  midLineComment(walk, line);
  const depth = walk.stack.length;
  const text = walk.text.slice(line.at, line.end).trim();
  walk.visit({ kind: 'text', depth, text, line: line.number, continues: true });
}

function takeItem(walk: Walk, line: Line, width: number): void {
  const { text, stack } = walk;
  const marker: Position = { at: line.at + width, column: line.column + width };
  const content = skipBlanks(text, marker, line.end);
  const depth = stack.length;
  const base = { kind: 'item', depth, line: line.number, start: line.start } as const;
  if (content.at === line.end || content.column - marker.column > 4) {
    stack.push(marker.column + 1);
    walk.inCode = content.at < line.end;
    if (!walk.inCode) walk.emptyItem = stack.length;
    return walk.visit({ ...base, box: null, text: text.slice(content.at, line.end).trim() });
  }
  stack.push(content.column);
  const rest = text.slice(content.at, line.end);
  const box = /^\[([^[\]]{0,12})\](?=[ \t]|$)/.exec(rest);
  if (box === null && NESTED.test(rest)) {
    walk.visit({ ...base, box: null, text: '' });
    return takeContent(walk, { ...line, ...content }, stack.length);
  }
  walk.paragraph = { text: rest, line: line.number, lines: 1, lazy: false };
  midLineComment(walk, line);
  const start = content.at + 1;
  const found = box === null ? null : { inner: box[1]!, start, end: start + box[1]!.length };
  walk.visit({ ...base, box: found, text: rest.slice(box?.[0].length ?? 0).trim() });
}

/** Item content that is itself the beginning of something else than a paragraph. */
const NESTED = /^(?:[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|>|#{1,6}(?=[ \t]|$)|`{3}|~{3}|<)/;

const BLOCK_TAGS = new Set(
  (
    'address article aside base basefont blockquote body caption center col colgroup dd details dialog dir ' +
    'div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html ' +
    'iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary ' +
    'table tbody td tfoot th thead title tr track ul'
  ).split(' '),
);

const HTML_RUNS: readonly [begin: RegExp, until: RegExp][] = [
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![A-Za-z]/, />/],
  [/^<(?:script|pre|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
];

type OpaqueStart = Omit<Opaque, 'depth' | 'line'>;

function opaqueStart(rest: string, inParagraph: boolean): OpaqueStart | 'one line' | null {
  const fence = /^(`{3,}(?=[^`]*$)|~{3,})/.exec(rest);
  if (fence !== null) {
    return { kind: 'fence', char: rest[0]!, length: fence[0].length, until: null };
  }
  if (rest[0] !== '<') return null;
  const html = { kind: 'html', char: '', length: 0 } as const;
  for (const [begin, until] of HTML_RUNS) {
    if (begin.test(rest)) return until.test(rest) ? 'one line' : { ...html, until };
  }
  const tag = /^<\/?([A-Za-z][A-Za-z0-9-]*)(?=[\s>]|\/>|$)/.exec(rest);
  if (tag !== null && BLOCK_TAGS.has(tag[1]!.toLowerCase())) return { ...html, until: null };
  const alone = !inParagraph && /^<\/?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?\/?>[ \t]*$/.test(rest);
  return alone ? { ...html, until: null } : null;
}

/**
 * A comment that opens within a line and closes on a later one hides the lines between: its writer
 * meant so. One that another comment would close is not one.
 */
function midLineComment(walk: Walk, line: Line): void {
  const { text } = walk;
  const found = text.slice(line.at, line.end).lastIndexOf('<!--');
  if (found === -1) return;
  const open = line.at + found;
  const close = text.indexOf('-->', open);
  if (close === -1 || close < line.end) return;
  const another = text.indexOf('<!--', open + 4);
  if (another === -1 || another > close) walk.commentUntil = close;
}
