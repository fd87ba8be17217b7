/**
 * The front matter of a session's files: plain YAML between two lines of `---`. Agents and people write
 * it by hand, so every scalar stays the text that was written, and where it is no YAML it is read line
 * by line. Times without an offset are UTC, so that a file says the same on every machine.
 */
import { parseDocument, stringify } from 'yaml';

type FrontValue = string | FrontValue[] | Map<string, FrontValue>;

export interface FrontMatter {
  /** By key, in lower case with underscores. */
  fields: ReadonlyMap<string, FrontValue>;
  /** What stands below it: line ends are line feeds, no byte order mark. */
  body: string;
  present: boolean;
  /** How many lines stand above `body`. */
  above: number;
  /** What keeps it from being YAML; null where it is or where there is none. */
  fault: string | null;
}

/** The text with line feeds for line ends, no byte order mark, and no code fence around the whole of it. */
export function plainText(text: string): string {
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  // Agents like to show a file as a code block, and then write the block.
  const fence = /^\s*(`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*\n/.exec(plain);
  if (fence === null) return plain;
  const inner = plain.slice(fence[0].length).trimEnd();
  return inner.endsWith(`\n${fence[1]}`) ? inner.slice(0, -fence[1]!.length) : plain;
}

/** Never throws. */
export function splitFrontMatter(text: string): FrontMatter {
  const plain = plainText(text);
  const none: FrontMatter = { fields: new Map(), body: plain, present: false, above: 0, fault: null };
  const opening = /^\s*---[ \t]*\n/.exec(plain);
  if (opening === null) return none;
  const behind = plain.slice(opening[0].length);
  const closing = /^(?:---|\.\.\.)[ \t]*(?:\n|$)/m.exec(behind);
  if (closing === null) {
    const begun = /^[ \t]*[A-Za-z][\w-]*[ \t]*:/.test(behind);
    return begun ? { ...none, fault: 'it is not closed by a line `---`' } : none;
  }
  const front = behind.slice(0, closing.index);
  const body = behind.slice(closing.index + closing[0].length);
  const above = plain.slice(0, plain.length - body.length).split('\n').length - 1;
  return { ...fieldsIn(front), body, present: true, above };
}

function fieldsIn(front: string): Pick<FrontMatter, 'fields' | 'fault'> {
  try {
    const document = parseDocument(front, {
      schema: 'failsafe',
      uniqueKeys: true,
      merge: false,
      logLevel: 'silent',
    });
    const error = document.errors[0];
    if (error !== undefined) return { fields: lineByLine(front), fault: firstSentence(error.message) };
    const value: unknown = document.toJS({ maxAliasCount: 0, mapAsMap: true });
    const plain = plainValue(value);
    if (plain instanceof Map) return { fields: plain, fault: null };
    return { fields: new Map(), fault: plain === '' ? null : 'it is no list of `key: value`' };
  } catch (thrown) {
    const fault = firstSentence(thrown instanceof Error ? thrown.message : String(thrown));
    return { fields: lineByLine(front), fault };
  }
}

function plainValue(value: unknown): FrontValue {
  if (Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Map) {
    return new Map([...value].map(([key, held]) => [keyOf(String(key)), plainValue(held)]));
  }
  return value === null || value === undefined ? '' : String(value);
}

function keyOf(key: string): string {
  return key
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

function lineByLine(front: string): Map<string, FrontValue> {
  const fields = new Map<string, FrontValue>();
  for (const line of front.split('\n')) {
    const match = /^([A-Za-z][\w -]{0,60}?)[ \t]*:(?:[ \t]+(.*))?$/.exec(line);
    if (match !== null) fields.set(keyOf(match[1]!), unquoted(match[2] ?? ''));
  }
  return fields;
}

function unquoted(value: string): string {
  const text = value.replace(/(?:^|\s)#.*$/, '').trim();
  return /^(["']).*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}

function firstSentence(message: string): string {
  return message.split('\n')[0]!.replace(/:$/, '');
}

/** The field as one text; null where it is missing, empty, `null` or no text. */
export function textField({ fields }: FrontMatter, name: string): string | null {
  const value = fields.get(name);
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return /^(?:~|null|)$/i.test(text) ? null : text;
}

/** The field as a whole number; null where it is missing or is none. */
export function numberField(front: FrontMatter, name: string): number | null {
  const text = textField(front, name);
  return text !== null && /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}

/** The field as epoch ms; null where it is missing or no time. */
export function timeField(front: FrontMatter, name: string): number | null {
  return timeOf(textField(front, name) ?? '');
}

/** A list of texts; one text is a list of one, and commas part it. */
export function listField({ fields }: FrontMatter, name: string): string[] {
  const value = fields.get(name);
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? inlineParts(value) : [];
  return parts.flatMap((part) => (typeof part === 'string' ? [part.trim()] : [])).filter(isSomething);
}

function inlineParts(value: string): string[] {
  const text = value.trim();
  return (text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text).split(',').map(unquoted);
}

const isSomething = (text: string): boolean => !/^(?:~|null|)$/i.test(text);

/** Epoch ms of an ISO time; null for anything else. Without an offset it is UTC. */
export function timeOf(text: string): number | null {
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)[ \t]*(Z|[+-]\d\d:?\d\d)?)?$/i.exec(
      text.trim(),
    );
  if (match === null) return null;
  const offset = (match[3] ?? 'Z').toUpperCase().replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2');
  const at = Date.parse(`${match[1]}T${match[2] ?? '00:00'}${offset}`);
  return Number.isNaN(at) ? null : at;
}

/** The block with its two lines of `---`. */
export function frontMatterText(fields: Record<string, unknown>): string {
  return `---\n${stringify(fields, { lineWidth: 0 })}---\n`;
}

/** The fields but these, as plain values, to be written again. */
export function plainFields({ fields }: FrontMatter, without: ReadonlySet<string>): Record<string, unknown> {
  const entries = [...fields].filter(([key]) => !without.has(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, unmapped(value)]));
}

function unmapped(value: FrontValue): unknown {
  if (Array.isArray(value)) return value.map(unmapped);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, held]) => [key, unmapped(held)]));
}
