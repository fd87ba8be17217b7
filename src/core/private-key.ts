/**
 * The body of a private key, from below its first line, in every dress in which programs show a file: numbers of lines,
 * names of files and of containers, marks of a diff, times, colours, within JSON and within JSON within JSON.
 */

const END = /-----END [A-Z ]{1,60}-----/y;
const SPACE = /(?:\s|\\+[nrt])+/y;
const HEADER = /[A-Za-z-]{1,20}: [^\n\r"\\]{0,120}/y;
const LONG = /[A-Za-z0-9+/=]{16,}/y;
const SHORT = /[A-Za-z0-9+/=]{1,15}/y;
/** Where a line ends; also the text that holds it: at a bare quote, and at one of JSON within JSON. */
const LINE_END = /[\n\r"{}]|\\+[nr]|\\+"(?=\s{0,20}[,:}\]])/;
/** Colours, and other escapes than line ends. */
const DRESS =
  /(?:[\x1b\x9b]|\\+(?:u00[19][bB]|x[19][bB]|e(?=\[)|033))\[?[0-9;:?]{0,60}[A-Za-z]|\\+(?:[^nrA-Za-z]|t|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})/g;
const BODY_AT_END = /([A-Za-z0-9+/=]+)[^A-Za-z0-9+/=]*$/;
const KNOWN_HEADER = /\b(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): /;
const SEPARATED = /[^A-Za-z0-9_][^A-Za-z0-9+/=]*$/;

/** A line with words before it is one of a key where it is as long as one, and of all kinds of characters. */
const LONG_LINE_CHARS = 48;
/** Longer lines are of a key that has no line ends. */
const LINE_CHARS = 400;
/** So far from the last lines of a key is its end. */
const END_CHARS = 240;
/** As far as is looked ahead. */
const AHEAD_CHARS = LINE_CHARS + END_CHARS;

/** How far the key reaches. `isOver` false: as far as can be told by now. */
export function throughKey(text: string, from: number, isLast: boolean): { at: number; isOver: boolean } {
  let at = from;
  const eat = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return false;
    at += match[0].length;
    return true;
  };
  while (at < text.length) {
    if (eat(END)) return { at, isOver: true };
    if (!isLast && text.length - at <= AHEAD_CHARS) break;
    if (eat(SPACE)) continue;
    if (eat(LONG)) {
      if (at < text.length || isLast) continue;
      // What goes on is not to end as a short word.
      at -= 16;
      break;
    }
    const end = lineEnd(text, at);
    if (end > at && isOfKey(text, at, end)) at = end;
    else if (!eat(HEADER)) {
      eat(SHORT);
      return { at, isOver: true };
    }
  }
  return { at, isOver: false };
}

/** The rest of the line, up to the last line of the key if it is that. */
function lineEnd(text: string, at: number): number {
  const rest = text.slice(at, at + LINE_CHARS);
  const length = Math.min(...[rest.search(LINE_END), rest.indexOf('-----END ')].filter((n) => n >= 0));
  return at + Math.min(rest.length, length);
}

function isOfKey(text: string, at: number, end: number): boolean {
  const plain = undressed(text.slice(at, end));
  if (text.startsWith('-----END ', end)) return true;
  const found = BODY_AT_END.exec(plain);
  if (found === null) return true;
  const body = found[1]!;
  const before = plain.slice(0, found.index);
  if (!/[A-Za-z]/.test(before) && (body.length >= 16 || !/[A-Za-z]/.test(body))) return true;
  if (isLongLine(body) || KNOWN_HEADER.test(plain)) return true;
  // One that is its last, or empty but for the dress.
  return ((before === '' || SEPARATED.test(before)) && isEndNear(text, end)) || isBeforeLongLine(text, end);
}

function isLongLine(body: string): boolean {
  return body.length >= LONG_LINE_CHARS && /[A-Z]/.test(body) && /[a-z]/.test(body) && /[0-9+/]/.test(body);
}

function isEndNear(text: string, from: number): boolean {
  const next = text.slice(from, from + END_CHARS);
  const end = next.indexOf('-----END ');
  return end !== -1 && !/[{}]|(?<!\\)"/.test(next.slice(0, end));
}

function isBeforeLongLine(text: string, end: number): boolean {
  const mark = /^(?:\s|\\+[nrt])+/.exec(text.slice(end, end + END_CHARS))?.[0];
  if (mark === undefined) return false;
  const at = end + mark.length;
  return isLongLine(bodyOf({ text: text.slice(at, lineEnd(text, at)), at, isFirst: true })?.body ?? '');
}

/** A key whose beginning is not shown is known from its end: so far back its lines are looked for. */
export const ORPHAN_CHARS = 8192;
/** Its last line and a checksum below it are shorter. */
const SHORT_LINES = 2;
/** What stands before a line, and the longest of a key. */
const LAST_CHARS = 240;
const LINE_ENDS = new RegExp(LINE_END.source, 'g');

/**
 * Where the lines of a key begin that reach up to `end`, at what is no dress of the first one; null: there are none.
 * `end` is where the last line of the key begins, or where the text ends that may go on with it.
 */
export function orphanBefore(text: string, end: number): number | null {
  if (!/[A-Za-z0-9+/]{48}/.test(text.slice(Math.max(0, end - 3 * LAST_CHARS), end))) return null;
  const least = Math.max(0, end - ORPHAN_CHARS);
  const lines = linesOf(text.slice(least, end));
  let begin: number | null = null;
  let short = 0;
  const last = lines.pop()!;
  if (last.text.length > LAST_CHARS) return null;
  // What follows it there may be the half of an escape.
  const half = /[A-Za-z0-9+/=]{48,}/.exec(undressed(last.text));
  if (half !== null && isLongLine(half[0])) begin = last.at + half.index;
  for (let isAbove = !last.isFirst; isAbove && lines.length > 0; ) {
    const line = lines.pop()!;
    isAbove = !line.isFirst;
    const found = bodyOf(line);
    if (line.text.includes('-----')) break;
    if (found === null) continue;
    if (line.text.length > LINE_CHARS) break;
    if (isLongLine(found.body)) begin = found.at;
    else if (begin === null && short < SHORT_LINES) short += 1;
    else {
      // The first line may be cut.
      if (begin !== null && found.body.length >= 16 && !/[A-Za-z]/.test(found.before)) begin = found.at;
      break;
    }
  }
  return begin === null ? null : least + begin;
}

interface Line {
  text: string;
  at: number;
  /** What is before it is no line of the same text. */
  isFirst: boolean;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let at = 0;
  let isFirst = false;
  for (const { index, 0: mark } of text.matchAll(LINE_ENDS)) {
    lines.push({ text: text.slice(at, index), at, isFirst });
    at = index + mark.length;
    isFirst = !/[nr\n\r]$/.test(mark);
  }
  lines.push({ text: text.slice(at), at, isFirst });
  return lines;
}

/** What may be the key's of a line, and where. */
function bodyOf({ text, at }: Line): { body: string; before: string; at: number } | null {
  const plain = undressed(text);
  const found = BODY_AT_END.exec(plain);
  return found === null || !/[A-Za-z0-9]/.test(found[1]!)
    ? null
    : { body: found[1]!, before: plain.slice(0, found.index), at: at + found.index };
}

const undressed = (line: string): string => line.replace(DRESS, (dress) => ' '.repeat(dress.length));
