/**
 * JSON with positions: the same values as JSON.parse, and where each of them stands. A leading BOM is
 * accepted; comments, trailing commas and everything else outside the grammar are errors with an offset.
 */

export type JsonNode =
  | { kind: 'object'; start: number; end: number; entries: JsonEntry[] }
  | { kind: 'array'; start: number; end: number; items: JsonNode[] }
  | { kind: 'string'; start: number; end: number; value: string }
  | { kind: 'number'; start: number; end: number; value: number }
  | { kind: 'boolean'; start: number; end: number; value: boolean }
  | { kind: 'null'; start: number; end: number };

export interface JsonEntry {
  key: string;
  keyStart: number;
  keyEnd: number;
  value: JsonNode;
}

/** What is wrong and where; `hint` says what usually causes it. */
export interface JsonFault {
  what: string;
  hint: string;
  offset: number;
}

/** Deeper nesting than this is refused, so that no text can exhaust the stack. */
const MAX_DEPTH = 100;

/** `root` is scanned when it is first asked for. */
export type JsonReading =
  | {
      kind: 'tree';
      readonly root: JsonNode;
      value: unknown /** How many keys the value has. */;
      keys: number;
    }
  | { kind: 'fault'; fault: JsonFault };

/**
 * Reads the text; never throws. The platform's parser decides whether it is JSON and gives the value;
 * positions are found when somebody asks for them, for a list of thousands of stories is read often and
 * only one of them is marked.
 */
export function readJson(text: string): JsonReading {
  const from = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let value: unknown;
  try {
    value = JSON.parse(from === 0 ? text : text.slice(from));
  } catch {
    return { kind: 'fault', fault: findFault(text, from) };
  }
  const keys = countKeys(value, MAX_DEPTH);
  if (keys === TOO_DEEP) return { kind: 'fault', fault: findFault(text, from) };
  let root: JsonNode | undefined;
  return {
    kind: 'tree',
    value,
    keys,
    get root() {
      root ??= positionsOf(text);
      return root;
    },
  };
}

/** The tree of a text that is known to be JSON. */
function positionsOf(text: string): JsonNode {
  return nodeAt(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
}

/** The tree of the value that begins there. Its top is read at once, what stands in it when asked for. */
export function nodeAt(text: string, start: number): JsonNode {
  const scanner: Scanner = { text, at: start, lazy: true };
  skipSpace(scanner);
  return text.charCodeAt(scanner.at) === 0x7b ? readObject(scanner, 0) : readValue(scanner, 0);
}

const TOO_DEEP = -1;

/** How many keys the value has, inner ones too; `TOO_DEEP` where anything lies deeper than that many levels. */
function countKeys(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (levels < 0) return TOO_DEEP;
  return Array.isArray(value) ? countInItems(value, levels) : countInFields(value as object, levels);
}

function countInItems(items: readonly unknown[], levels: number): number {
  let count = 0;
  for (const item of items) {
    if (typeof item !== 'object') continue;
    const inside = countKeys(item, levels - 1);
    if (inside === TOO_DEEP) return TOO_DEEP;
    count += inside;
  }
  return count;
}

function countInFields(fields: object, levels: number): number {
  let count = 0;
  for (const key in fields) {
    count += 1;
    const value = (fields as Record<string, unknown>)[key];
    if (typeof value !== 'object') continue;
    const inside = countKeys(value, levels - 1);
    if (inside === TOO_DEEP) return TOO_DEEP;
    count += inside;
  }
  return count;
}

/** Where the text leaves the grammar, by reading all of it. */
function findFault(text: string, from: number): JsonFault {
  const scanner: Scanner = { text, at: from, lazy: false };
  try {
    readValue(scanner, 0);
    skipSpace(scanner);
    return fault(scanner, 'there is text after the end of the list').fault;
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.fault;
    throw thrown;
  }
}

/** The value of an object's entry; the last one rules where a key stands twice, as in JSON.parse. */
export function entryOf(node: JsonNode, key: string): JsonEntry | undefined {
  if (node.kind !== 'object') return undefined;
  for (let i = node.entries.length - 1; i >= 0; i--) {
    if (node.entries[i]!.key === key) return node.entries[i];
  }
  return undefined;
}

class Fault extends Error {
  readonly fault: JsonFault;
  constructor(fault: JsonFault) {
    super(fault.what);
    this.fault = fault;
  }
}

interface Scanner {
  text: string;
  at: number;
  /** Objects and arrays are read when asked for, where the text is known to be JSON. */
  lazy: boolean;
}

/** An object whose entries are read when first asked for. The text is known to be JSON. */
class LazyObject {
  readonly kind = 'object';
  readonly start: number;
  readonly end: number;
  readonly #text: string;
  #entries: JsonEntry[] | null = null;

  constructor(text: string, start: number, end: number) {
    this.start = start;
    this.end = end;
    this.#text = text;
  }

  get entries(): JsonEntry[] {
    this.#entries ??= readObject({ text: this.#text, at: this.start, lazy: true }, 0).entries;
    return this.#entries;
  }
}

/** An array that knows where its items begin and reads one when asked for it. */
class LazyArray {
  readonly kind = 'array';
  readonly start: number;
  readonly end: number;
  readonly #text: string;
  readonly #starts: readonly number[];
  #items: JsonNode[] | null = null;

  constructor(text: string, place: { start: number; end: number; starts: readonly number[] }) {
    this.start = place.start;
    this.end = place.end;
    this.#text = text;
    this.#starts = place.starts;
  }

  at(index: number): JsonNode | undefined {
    const at = this.#starts[index];
    return at === undefined ? undefined : readValue({ text: this.#text, at, lazy: true }, 0);
  }

  get items(): JsonNode[] {
    this.#items ??= this.#starts.map((at) => readValue({ text: this.#text, at, lazy: true }, 0));
    return this.#items;
  }
}

/** One item of an array, without reading the others. */
export function itemAt(array: JsonNode & { kind: 'array' }, index: number): JsonNode | undefined {
  return array instanceof LazyArray ? array.at(index) : array.items[index];
}

/** The key that begins here, and where it ends; the text is known to be JSON. */
export function keyAt(text: string, start: number): { key: string; end: number } {
  const scanner: Scanner = { text, at: start, lazy: true };
  return { key: readString(scanner), end: scanner.at };
}

/** The end of the object or array that begins here; the text is known to be JSON. */
export function skipNested(text: string, start: number): number {
  let at = start;
  let level = 0;
  for (;;) {
    const code = text.charCodeAt(at++);
    if (code === 0x22) {
      for (let inner = text.charCodeAt(at++); inner !== 0x22; inner = text.charCodeAt(at++)) {
        if (inner === 0x5c) at += 1;
      }
    } else if (code === 0x7b || code === 0x5b) level += 1;
    else if (code === 0x7d || code === 0x5d) {
      level -= 1;
      if (level === 0) return at;
    }
  }
}

/** An array's reach and the beginnings of its items, in one pass; the text is known to be JSON. */
function scanArray(text: string, start: number): LazyArray {
  const starts: number[] = [];
  let between = true;
  for (let at = start + 1; ; ) {
    const code = text.charCodeAt(at);
    if (code === 0x5d) return new LazyArray(text, { start, end: at + 1, starts });
    if (code === 0x2c) between = true;
    else if (between && code > 0x20) {
      between = false;
      starts.push(at);
    }
    if (code === 0x7b || code === 0x5b) at = skipNested(text, at);
    else if (code === 0x22) at = skipString(text, at);
    else at += 1;
  }
}

/** The offset behind the string that begins here; the text is known to be JSON. */
export function skipString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at++); code !== 0x22; code = text.charCodeAt(at++)) {
    if (code === 0x5c) at += 1;
  }
  return at;
}

const PLAIN = /[^"\\\u0000-\u001f]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function skipSpace(scanner: Scanner): void {
  const { text } = scanner;
  let at = scanner.at;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at += 1;
  }
  scanner.at = at;
}

function fault(scanner: Scanner, what: string, offset = scanner.at): Fault {
  const { text } = scanner;
  const next = text.slice(offset, offset + 2);
  const hint =
    next === '//' || next === '/*' || next[0] === '#'
      ? 'JSON has no comments'
      : offset >= text.length
        ? 'the file ends too early, as if it were cut off or still being written'
        : next[0] === "'"
          ? 'JSON strings stand in double quotes'
          : 'the text is not JSON here';
  return new Fault({ what, hint, offset });
}

function readValue(scanner: Scanner, depth: number): JsonNode {
  if (depth > MAX_DEPTH) throw fault(scanner, `nested deeper than ${MAX_DEPTH} levels`);
  skipSpace(scanner);
  const { text, at: start } = scanner;
  switch (text.charCodeAt(start)) {
    case 0x7b: {
      if (!scanner.lazy) return readObject(scanner, depth);
      const node = new LazyObject(text, start, skipNested(text, start));
      scanner.at = node.end;
      return node;
    }
    case 0x5b: {
      if (!scanner.lazy) return readArray(scanner, depth);
      const node = scanArray(text, start);
      scanner.at = node.end;
      return node;
    }
    case 0x22: {
      const value = readString(scanner);
      return { kind: 'string', start, end: scanner.at, value };
    }
    case 0x74:
      return word(scanner, 'true', { kind: 'boolean', start, end: start + 4, value: true });
    case 0x66:
      return word(scanner, 'false', { kind: 'boolean', start, end: start + 5, value: false });
    case 0x6e:
      return word(scanner, 'null', { kind: 'null', start, end: start + 4 });
    default:
      return readNumber(scanner);
  }
}

function word(scanner: Scanner, spelling: string, node: JsonNode): JsonNode {
  if (!scanner.text.startsWith(spelling, scanner.at)) throw fault(scanner, 'a value is expected here');
  scanner.at = node.end;
  return node;
}

function readNumber(scanner: Scanner): JsonNode {
  const start = scanner.at;
  NUMBER.lastIndex = start;
  if (!NUMBER.test(scanner.text)) throw fault(scanner, 'a value is expected here');
  scanner.at = NUMBER.lastIndex;
  return { kind: 'number', start, end: scanner.at, value: Number(scanner.text.slice(start, scanner.at)) };
}

function readString(scanner: Scanner): string {
  const { text } = scanner;
  const start = scanner.at + 1;
  let at = start;
  let escaped = false;
  for (;;) {
    PLAIN.lastIndex = at;
    PLAIN.test(text);
    at = PLAIN.lastIndex;
    const code = text.charCodeAt(at);
    if (code === 0x22) break;
    if (code !== 0x5c) throw fault(scanner, 'a string is not closed on its line', at);
    escaped = true;
    at += 2;
  }
  scanner.at = at + 1;
  if (!escaped) return text.slice(start, at);
  try {
    return JSON.parse(text.slice(start - 1, at + 1)) as string;
  } catch {
    throw fault(scanner, 'a string holds an unknown escape', start - 1);
  }
}

function readArray(scanner: Scanner, depth: number): JsonNode {
  const start = scanner.at;
  const items: JsonNode[] = [];
  scanner.at += 1;
  skipSpace(scanner);
  while (scanner.text.charCodeAt(scanner.at) !== 0x5d || items.length > 0) {
    items.push(readValue(scanner, depth + 1));
    if (!another(scanner, 0x5d)) break;
  }
  scanner.at += 1;
  return { kind: 'array', start, end: scanner.at, items };
}

function readObject(scanner: Scanner, depth: number): JsonNode & { kind: 'object' } {
  const start = scanner.at;
  const entries: JsonEntry[] = [];
  scanner.at += 1;
  skipSpace(scanner);
  while (scanner.text.charCodeAt(scanner.at) !== 0x7d || entries.length > 0) {
    skipSpace(scanner);
    const keyStart = scanner.at;
    if (scanner.text.charCodeAt(keyStart) !== 0x22)
      throw fault(scanner, 'a key in double quotes is expected here');
    const key = readString(scanner);
    const keyEnd = scanner.at;
    skipSpace(scanner);
    if (scanner.text.charCodeAt(scanner.at) !== 0x3a) throw fault(scanner, `":" is expected after "${key}"`);
    scanner.at += 1;
    entries.push({ key, keyStart, keyEnd, value: readValue(scanner, depth + 1) });
    if (!another(scanner, 0x7d)) break;
  }
  scanner.at += 1;
  return { kind: 'object', start, end: scanner.at, entries };
}

/** After a member: true at a comma (now behind it), false at the closing bracket. */
function another(scanner: Scanner, close: number): boolean {
  skipSpace(scanner);
  const code = scanner.text.charCodeAt(scanner.at);
  if (code === close) return false;
  if (code !== 0x2c) throw fault(scanner, `"," or "${String.fromCharCode(close)}" is expected here`);
  const comma = scanner.at;
  scanner.at += 1;
  skipSpace(scanner);
  if (scanner.text.charCodeAt(scanner.at) !== close) return true;
  throw new Fault({
    what: 'a comma stands after the last member',
    hint: 'JSON has no trailing commas',
    offset: comma,
  });
}
