/**
 * Reads how an agent asks: one sentence with "Options: (A) … (B) …" and "Default if no response: …",
 * or an object with the same parts. What cannot be told apart stays in the text, so nothing is lost.
 */
import type { Option, Question, QuestionKind } from './question.ts';

/** A question as its asker worded it. `hold` null: the asker did not say. */
export interface AskedQuestion {
  text: string;
  options: Option[];
  /** As worded: a key or the text of an option, or what the agent will do; null when it did not say. */
  default: string | null;
  kind: QuestionKind;
  hold: Question['hold'] | null;
}

const KINDS: readonly QuestionKind[] = [
  'decision',
  'blocker',
  'approval',
  'clarification',
  'credential',
  'permission',
];
const MAX_TEXT_CHARS = 16_384;
const MAX_OPTIONS = 26;

/**
 * Reads the payload of `human.interact`, the text of a DECIDE, or JSON of either. An empty text means
 * that nothing was asked. Never throws.
 */
export function readQuestionText(asked: unknown): AskedQuestion {
  if (typeof asked === 'string') {
    const object = /^\s*\{/.test(asked) ? parsed(asked) : null;
    return object === null ? fromText(asked.slice(0, MAX_TEXT_CHARS)) : fromObject(object);
  }
  return isObject(asked) ? fromObject(asked) : fromText('');
}

function fromObject(object: Record<string, unknown>): AskedQuestion {
  const worded = object.text ?? object.question ?? object.message;
  const read = fromText(typeof worded === 'string' ? worded.slice(0, MAX_TEXT_CHARS) : '');
  const options = readOptions(object.options);
  const fallback = object.default;
  const { kind, hold } = object;
  const known = KINDS.find((name) => name === kind);
  return {
    text: read.text,
    options: options.length > 0 ? options : read.options,
    default: typeof fallback === 'string' && fallback.trim() !== '' ? fallback.trim() : read.default,
    kind: known ?? read.kind,
    hold: hold === 'task' || hold === 'session' ? hold : null,
  };
}

/** Objects {key, text}, plain strings (keyed A, B, …) or a map from key to text. */
function readOptions(value: unknown): Option[] {
  const options: Option[] = [];
  const add = (key: unknown, text: unknown) => {
    const name = typeof key === 'string' || typeof key === 'number' ? String(key).trim() : '';
    const words = typeof text === 'string' ? text.trim() : '';
    if (name === '' && words === '') return;
    const free = name || String.fromCharCode(65 + options.length);
    if (!options.some((option) => option.key === free)) options.push({ key: free, text: words || free });
  };
  if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_OPTIONS) as unknown[]) {
      if (isObject(item)) add(item.key ?? item.id, item.text ?? item.label ?? item.title);
      else add('', typeof item === 'number' ? String(item) : item);
    }
  } else if (isObject(value)) {
    for (const [key, text] of Object.entries(value).slice(0, MAX_OPTIONS)) add(key, text);
  }
  return options;
}

function fromText(given: string): AskedQuestion {
  const whole = given.replace(/\r\n?/g, '\n').trim();
  const split = splitDefault(whole);
  const found = splitOptions(split.text);
  const { options } = found;
  const text = found.text.replace(/\n\s*\n\s*\n/g, '\n\n');
  return {
    // A text that is nothing but options or a default still has to be asked as it stands.
    text: text === '' ? whole : text,
    options,
    default: split.default,
    kind: /^\W*(approval|permission) (needed|required)\b/i.test(whole) ? 'permission' : 'decision',
    hold: null,
  };
}

const DEFAULT_HEAD =
  /(?:^|[\s.;])\**default(?: if (?:there is )?no (?:response|answer|reply)| \(if no (?:response|answer|reply)\))?\**\s*:\**/gi;

/** The default runs from its last heading to the end of that paragraph. */
function splitDefault(text: string): { text: string; default: string | null } {
  const head = [...text.matchAll(DEFAULT_HEAD)].at(-1);
  if (head === undefined) return { text, default: null };
  const lead = /^[.;]/.test(head[0]) ? 1 : 0;
  const before = text.slice(0, head.index + lead);
  const after = text.slice(head.index + head[0].length);
  const end = after.search(/\n\s*\n|\n(?=\W*options\W*:)/i);
  const said = (end < 0 ? after : after.slice(0, end)).replace(/\s+/g, ' ').trim();
  const rest = end < 0 ? '' : after.slice(end);
  // "(A) x (B) y" after the heading: the options came last, and are not the default.
  const own = /\s\([A-Za-z]\)\s/.test(said) && /options\W*:/i.test(said) ? null : said.replace(/[.;,]+$/, '');
  if (own === null || own === '') return { text, default: null };
  return { text: `${before}${rest}`.trim(), default: own };
}

const OPTION_HEAD = /(?:^|[\s.;?!])\**options\**\s*:\**/gi;

/** Options need a heading or marks that cannot be prose, keys in order from A or 1, and at least two. */
function splitOptions(text: string): { text: string; options: Option[] } {
  const head = [...text.matchAll(OPTION_HEAD)].at(-1);
  if (head !== undefined) {
    const lead = /^[.;?!]/.test(head[0]) ? 1 : 0;
    const mark = /(?:^|[\s;,])(?:[-*]\s+)?\(?([A-Za-z]|\d{1,2})\)\s*/g;
    const found = optionsIn(text.slice(head.index + head[0].length), mark);
    if (found !== null && found.before === '') {
      return { text: `${text.slice(0, head.index + lead)}${found.after}`.trim(), options: found.options };
    }
  }
  const listed =
    optionsIn(text, /(?:^|\s)(?:[-*]\s+)?\(([A-Za-z]|\d{1,2})\)\s+/g) ??
    optionsIn(text, /(?:^|\n)\s*(?:[-*]\s+)?([A-Za-z]|\d{1,2})[.):]\s+/g);
  // Without words in front of them the options are the question.
  if (listed === null || listed.before === '') return { text, options: [] };
  return { text: `${listed.before}${listed.after}`, options: listed.options };
}

interface FoundOptions {
  before: string;
  options: Option[];
  /** What follows the last option after a blank line. */
  after: string;
}

function optionsIn(text: string, mark: RegExp): FoundOptions | null {
  const starts: { key: string; at: number; after: number }[] = [];
  for (const match of text.matchAll(mark)) {
    const key = match[1]!.toUpperCase();
    const wanted = starts.length === 0 ? ['A', '1'] : [next(starts.at(-1)!.key)];
    if (wanted.includes(key)) starts.push({ key, at: match.index, after: match.index + match[0].length });
  }
  if (starts.length < 2 || starts.length > MAX_OPTIONS) return null;
  const blank = text.slice(starts.at(-1)!.after).search(/\n[ \t]*\n/);
  const end = blank < 0 ? text.length : starts.at(-1)!.after + blank;
  const options = starts.map(({ key, after }, i) => ({
    key,
    text: optionText(text.slice(after, starts[i + 1]?.at ?? end)),
  }));
  if (options.some((option) => option.text === '')) return null;
  return { before: text.slice(0, starts[0]!.at).trim(), options, after: text.slice(end).trimEnd() };
}

function optionText(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.replace(/[.;,]+$/, '').replace(/[,;]? (?:or|and)$/i, '');
}

function next(key: string): string {
  return /\d/.test(key) ? String(Number(key) + 1) : String.fromCharCode(key.charCodeAt(0) + 1);
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
