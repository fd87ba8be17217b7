/**
 * Takes secrets out of text that goes to people, logs and other programs: what looks like one (`secrets.ts`) and what
 * is known to be one (`known-secrets.ts`). `[secret: NAME]` stands in its place, which breaks no JSON. Text that comes
 * in pieces is read across their bounds, in memory that does not grow: what may be the beginning of a secret is held
 * back until the next piece tells.
 */
import { type KnownSecret, spellingsOf } from './known-secrets.ts';
import { orphanBefore, throughKey } from './private-key.ts';
import { BOT_BEFORE, FORMS, isMadeUp, MARK, PRIVATE_KEY } from './secrets.ts';

/** Takes secrets out. */
export interface Redactor {
  text(text: string): string;
  /** The same value with every string in it redacted, but for keys; what holds none is the very same. */
  value<T>(value: T): T;
  /** For text that comes in pieces, or for bytes of which each is one character (latin1). */
  stream(): RedactingStream;
  /** One that knows these as well. */
  and(more: readonly KnownSecret[]): Redactor;
}

export interface RedactingStream {
  /** What can be given on of all that came so far. */
  add(piece: string): string;
  /** A whole line without its end: all that can be given on of it, and nothing is held back. */
  line(text: string): string;
  /** Whether anything was found in the last piece and what was held back before it, or left out of them. */
  foundAny(): boolean;
  /** What was held back. */
  end(): string;
}

interface Found {
  start: number;
  end: number;
  name: string;
  /** The first line of a private key, or the lines of one without it. */
  key?: 'begin' | 'orphan';
}

const AT = FORMS.map((form) => ({ ...form, pattern: new RegExp(form.pattern.source, 'y') }));
/** What stands before a mark so that it begins a word: also the end of an escape, as texts within JSON have them. */
const ESCAPE_END =
  /(?:\\[nrtbfv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}|\[[0-9;:]{0,60}[A-Za-z])$/;
/** So far back is looked for that. */
const CONTEXT_CHARS = 72;
const WORD_CHAR = /[A-Za-z0-9_]/;
/** What a word goes on behind. Names and values are joined by `_`. */
const BEFORE_CHAR = /[A-Za-z0-9]/;
/** The longest beginning of a form that is none yet is shorter; so is every form whose length has an end. */
const HELD_CHARS = 400;
/** Of a form without a longest length so much is held at most; what follows is dropped as it comes. */
const MOST_HELD_CHARS = 2048;
/** The beginning of a private key's first line, at the end of a piece. */
const KEY_BEGINS = /-{1,5}(?:B?|BE|BEG|BEGI|BEGIN[A-Z ]{0,80}-{0,5})$/;
/** A redactor that knows the forms and these values. */
export function redactorOf(known: readonly KnownSecret[]): Redactor {
  const names = new Map<string, string>();
  for (const secret of known)
    for (const spelling of spellingsOf(secret)) if (!names.has(spelling)) names.set(spelling, secret.name);
  // Of two that begin alike the longer one is meant.
  const values = [...names.keys()].sort((a, b) => b.length - a.length);
  const finder = finderOf(values, names);
  const stream = () => startStream(finder, values);
  const text = (whole: string): string => {
    if (finder(whole)(0) === null) return whole;
    const redacting = stream();
    return redacting.add(whole) + redacting.end();
  };
  return {
    text,
    value: (value) => mapped(value, text),
    stream,
    and: (more) => redactorOf([...known, ...more]),
  };
}

function mapped<T>(value: T, text: (text: string) => string): T {
  if (typeof value === 'string') return text(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mapped(item, text));
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  const entries = Object.entries(value).map(([key, item]) => [key, item, mapped(item, text)] as const);
  if (entries.every(([, before, after]) => before === after)) return value;
  return Object.fromEntries(entries.map(([key, , after]) => [key, after])) as T;
}

/** The first secret that begins at `from` or later; asked from the front to the back of its text. */
type Cursor = (from: number) => Found | null;
type Finder = (text: string) => Cursor;

function finderOf(values: readonly string[], names: ReadonlyMap<string, string>): Finder {
  return (text) => {
    // A search of its own for each value is faster than one expression for all of them.
    const cursors = values.map((value) => {
      const name = names.get(value)!;
      return ahead((from) => {
        const start = text.indexOf(value, from);
        return start === -1 ? null : { start, end: start + value.length, name };
      });
    });
    cursors.push(ahead((from) => nextForm(text, from)));
    cursors.push(ahead((from) => nextOrphan(text, from)));
    return (from) => cursors.reduce<Found | null>((first, cursor) => earlier(first, cursor(from)), null);
  };
}

/** Of two that begin alike, one that is known by name, as far as the longer one reaches. */
function earlier(one: Found | null, two: Found | null): Found | null {
  if (one === null || two === null) return one ?? two;
  if (one.start === two.start) return { ...one, end: Math.max(one.end, two.end) };
  return one.start < two.start ? one : two;
}

/** What lies ahead is looked for once, however often it is asked for. */
function ahead(look: Cursor): Cursor {
  let next: Found | null | undefined;
  return (from) => {
    if (next === undefined || (next !== null && next.start < from)) next = look(from);
    return next;
  };
}

function nextForm(text: string, from: number): Found | null {
  MARK.lastIndex = from;
  for (let mark = MARK.exec(text); mark !== null; mark = MARK.exec(text)) {
    const last = MARK.lastIndex;
    const found = formAt(text, markedFrom(mark));
    if (found !== null && found.start >= from) return found;
    MARK.lastIndex = last;
  }
  return null;
}

const KEY_LAST_LINE = /-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/y;

/** Lines of a private key whose first line is not there, with its last line. */
function nextOrphan(text: string, from: number): Found | null {
  for (let mark = text.indexOf('-----END ', from); mark !== -1; mark = text.indexOf('-----END ', mark + 9)) {
    KEY_LAST_LINE.lastIndex = mark;
    const match = KEY_LAST_LINE.exec(text);
    const start = match === null ? null : orphanBefore(text, mark);
    if (start !== null)
      return {
        start: Math.max(start, from),
        end: KEY_LAST_LINE.lastIndex,
        name: 'private key',
        key: 'orphan',
      };
  }
  return null;
}

function markedFrom({ 0: text, 1: word, 2: dashes, 3: colon, index }: RegExpExecArray): number {
  const behind = word ?? dashes ?? colon;
  return behind === undefined ? index : index + text.length - behind.length;
}

function formAt(text: string, mark: number): Found | null {
  for (const { what, digits, pattern } of AT) {
    pattern.lastIndex = mark;
    const match = pattern.exec(text);
    if (match === null) continue;
    const start = digits === undefined ? mark : digitsBefore(text, mark, digits);
    const end = mark + match[0].length;
    const isIn =
      start !== null && digits !== undefined && BOT_BEFORE.test(text.slice(Math.max(0, start - 4), start));
    if (start === null || (what !== PRIVATE_KEY && !isIn && !beginsWord(text, start))) continue;
    if (isMadeUp(text.slice(start, Math.min(end, start + MOST_HELD_CHARS)))) continue;
    const name = what.replace(/^an? /, '');
    return what === PRIVATE_KEY ? { start, end, name, key: 'begin' } : { start, end, name };
  }
  return null;
}

/** Where the digits before a mark begin; null: there are too few. */
function digitsBefore(text: string, mark: number, [least, most]: [number, number]): number | null {
  let start = mark;
  while (mark - start < most && isDigit(text, start - 1)) start -= 1;
  return mark - start < least ? null : start;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function beginsWord(text: string, at: number): boolean {
  if (at === 0 || !BEFORE_CHAR.test(text[at - 1]!)) return true;
  return ESCAPE_END.test(text.slice(Math.max(0, at - CONTEXT_CHARS), at));
}

/** A secret and all that overlap with it, as one: what is left of the second one would still be told. */
function whole(first: Found, cursor: Cursor): Found {
  let { end } = first;
  const after = ({ key, start, end: its }: Found) => (key === 'orphan' ? its : start + 1);
  for (let next = cursor(after(first)); next !== null && next.start < end; next = cursor(after(next)))
    end = Math.max(end, next.end);
  return { ...first, end };
}

/** Inside of what is left out: more of a form without a longest length, or of a private key. */
type Inside = 'nothing' | 'word' | 'key';

function startStream(finder: Finder, values: readonly string[]): RedactingStream {
  let inside: Inside = 'nothing';
  /** Given on already: tells whether a word begins. */
  let context = '';
  let held = '';
  let found = false;

  function pass(piece: string, isLast: boolean): string {
    const text = context + held + piece;
    const begin = context.length;
    let at = begin;
    let out = '';
    const keep = (from: number): string => {
      held = text.slice(from);
      context = text.slice(Math.max(0, from - CONTEXT_CHARS), from);
      return out;
    };
    found = inside !== 'nothing';
    if (inside !== 'nothing') at = goOn(text, at, isLast);
    if (inside !== 'nothing') return keep(at);
    let sure = isLast ? text.length : Math.max(at, sureUpTo(text, values));
    const cursor = finder(text);
    found ||= cursor(at) !== null;
    for (let first = cursor(at); first !== null && first.start < sure; first = cursor(at)) {
      const { start, end, name, key } = whole(first, cursor);
      const isOpen = !isLast && end > sure && key !== 'orphan';
      if (isOpen && text.length - start <= MOST_HELD_CHARS) {
        sure = start;
        break;
      }
      out += `${text.slice(at, start)}[secret: ${name}]`;
      inside = key === 'begin' ? 'key' : isOpen ? 'word' : 'nothing';
      at = goOn(text, end, isLast);
      if (inside !== 'nothing') return keep(at);
      sure = Math.max(sure, at);
    }
    out += text.slice(at, sure);
    return keep(sure);
  }

  /** Where what is left out ends, as far as can be told. */
  function goOn(text: string, from: number, isLast: boolean): number {
    if (inside === 'nothing') return from;
    if (inside === 'key') {
      const { at, isOver } = throughKey(text, from, isLast);
      if (isOver) inside = 'nothing';
      return at;
    }
    let at = from;
    while (at < text.length && (WORD_CHAR.test(text[at]!) || text[at] === '-')) at += 1;
    if (at < text.length || isLast) inside = 'nothing';
    return at;
  }

  return {
    add: (piece) => (piece === '' ? '' : pass(piece, false)),
    line(text) {
      const out = pass(text, true);
      context = '\n';
      return out;
    },
    foundAny: () => found,
    end: () => pass('', true),
  };
}

/** Up to here no secret can begin whose end is not there yet. */
function sureUpTo(text: string, values: readonly string[]): number {
  const least = Math.max(0, text.length - HELD_CHARS);
  let sure = text.length;
  while (sure > least && isTokenChar(text.charCodeAt(sure - 1))) sure -= 1;
  const key = KEY_BEGINS.exec(text.slice(-100));
  if (key !== null) sure = Math.min(sure, Math.max(0, text.length - 100) + key.index);
  for (const value of values) sure = Math.min(sure, beginOf(value, text));
  return Math.min(sure, orphanBefore(text, text.length) ?? sure);
}

/** Letters, digits, `_`, `-`, `:`, the `%3A` of a URL, and the rest of base64. */
function isTokenChar(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 47 && code <= 58) ||
    code === 95 ||
    code === 45 ||
    code === 37 ||
    code === 43 ||
    code === 61
  );
}

/** Where the text's end may be the beginning of this value; the text's length where it is not. */
function beginOf(value: string, text: string): number {
  for (let at = Math.max(0, text.length - value.length + 1); at < text.length; at += 1) {
    at = text.indexOf(value[0]!, at);
    if (at === -1) return text.length;
    if (value.startsWith(text.slice(at))) return at;
  }
  return text.length;
}
