/**
 * A signal file's text, read as a message. YAML is a large language and these files are dropped by
 * people, scripts and agents, so only its plain part is read: one mapping of texts and lists of texts,
 * no aliases, no tags, no key twice, first document only. Every scalar stays the text that was written.
 */
import { isAlias, isMap, isNode, isScalar, isSeq, parseAllDocuments, visit, type YAMLMap } from 'yaml';
import { MESSAGE_TYPES, type Message, type MessageType } from '../core/index.ts';
import { timeOfName, timeOfText } from './signal-time.ts';

/** Bytes of a message's text. */
export const MESSAGE_BYTES = 64 * 1024;
/** Bytes of a whole file: the longest message, indented, with its keys. */
export const SIGNAL_BYTES = 2 * MESSAGE_BYTES;

/** The mapping as texts, in order; keys as they were written. */
export type SignalFields = Map<string, string | string[]>;

/**
 * `unreadable`: not (yet) a mapping, perhaps half-written. `rejected`: whole, and wrong.
 * `unknown_type`: may be meant for a later version or another tool.
 */
export type SignalReading =
  | { kind: 'message'; message: Message; warnings: string[]; fields: SignalFields }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'rejected'; reason: string }
  | { kind: 'unknown_type'; reason: string };

export interface SignalSource {
  /** The file's name: the message's id. */
  name: string;
  bytes: Uint8Array;
  /** Epoch ms; the time of last resort. */
  mtimeMs: number;
  /** Of the session; for times without an offset. */
  timezone: string;
  /** Epoch ms. */
  now: number;
}

class Refused extends Error {}

/** Reads one signal. Never throws. */
export function readSignal(source: SignalSource): SignalReading {
  const text = decode(source.bytes);
  if (text === null) return { kind: 'unreadable', reason: 'The file is not UTF-8 text.' };
  const parsed = parseFields(text);
  if ('unreadable' in parsed) return { kind: 'unreadable', reason: parsed.unreadable };
  if ('rejected' in parsed) return { kind: 'rejected', reason: parsed.rejected };
  try {
    return toMessage(source, parsed.fields);
  } catch (error) {
    if (error instanceof Refused) return { kind: 'rejected', reason: error.message };
    throw error;
  }
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // drops a byte order mark
  } catch {
    return null;
  }
}

type ParsedFields = { fields: SignalFields } | { unreadable: string } | { rejected: string };

/** Reads the plain part of YAML; what is beyond it is `rejected` with what to write instead. */
export function parseFields(text: string): ParsedFields {
  if (text.trim() === '') return { unreadable: 'The file is empty.' };
  try {
    const [document] = parseAllDocuments(text, {
      schema: 'failsafe',
      logLevel: 'silent',
      prettyErrors: true,
    });
    if (document === undefined || !isNode(document.contents)) return { unreadable: 'The file is empty.' };
    const duplicate = document.errors.find(({ code }) => code === 'DUPLICATE_KEY');
    if (duplicate !== undefined) return { rejected: `A key stands twice: ${firstLine(duplicate.message)}` };
    const [error] = document.errors;
    if (error !== undefined) return { unreadable: `Not readable as YAML: ${firstLine(error.message)}` };
    const beyond = beyondPlain(document.contents);
    if (beyond !== null) return { rejected: beyond };
    if (!isMap(document.contents)) {
      return { unreadable: 'The file is not a list of "key: value" lines, such as "type: STEER".' };
    }
    return fieldsOf(document.contents);
  } catch (error) {
    // Nesting of thousands of levels overflows the parser's stack.
    return { rejected: `Not readable as YAML: ${firstLine(String((error as Error).message))}` };
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.replace(/:$/, '');

function beyondPlain(contents: YAMLMap | Parameters<typeof visit>[0]): string | null {
  let found: string | null = null;
  visit(contents, {
    Node(_key, node) {
      const quote = 'put the text into quotes if it begins with that character';
      if (isAlias(node)) found = `YAML aliases (*${node.source}) are not read; ${quote}.`;
      else if ('anchor' in node && node.anchor)
        found = `YAML anchors (&${node.anchor}) are not read; ${quote}.`;
      else if (node.tag) found = `YAML tags (${node.tag}) are not read; ${quote}.`;
      return found === null ? undefined : visit.BREAK;
    },
  });
  return found;
}

function fieldsOf(map: YAMLMap): ParsedFields {
  const fields: SignalFields = new Map();
  const lower = new Set<string>();
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value).trim() : '';
    if (name === '') return { rejected: 'A key is not a plain word.' };
    if (lower.has(name.toLowerCase())) return { rejected: `A key stands twice: ${name}` };
    lower.add(name.toLowerCase());
    const text = textOf(value);
    if (text !== null) fields.set(name, text);
  }
  return { fields };
}

/** A nested value says nothing to us; it is kept in the file and left out here. */
function textOf(value: unknown): string | string[] | null {
  if (value === null) return '';
  if (isScalar(value)) return scalarText(value);
  if (isSeq(value)) return value.items.flatMap((item) => (isScalar(item) ? scalarText(item) : []));
  return null;
}

function scalarText(scalar: { value: unknown; type?: string | undefined }): string {
  const text = String(scalar.value ?? '');
  return scalar.type === 'PLAIN' && /^(~|null)$/i.test(text) ? '' : text;
}

function toMessage(source: SignalSource, fields: SignalFields): SignalReading {
  const get = reader(fields);
  const word = get('type').trim().toUpperCase();
  if (word === '') throw new Refused(`"type" is missing. Types: ${MESSAGE_TYPES.join(', ')}.`);
  const type = (word === 'STOP' ? 'ABORT' : word) as MessageType;
  if (!MESSAGE_TYPES.includes(type)) {
    return {
      kind: 'unknown_type',
      reason: `The type ${word} is not known. Types: ${MESSAGE_TYPES.join(', ')}.`,
    };
  }
  const { createdAt, warnings } = creation(source, get('created_at'));
  const text = get('message').replace(/[\r\n]+$/, '');
  if (Buffer.byteLength(text) > MESSAGE_BYTES) throw new Refused('The message is longer than 64 KB.');
  const message: Message = {
    id: source.name,
    type,
    target: targetOf(get('target')),
    text,
    from: get('from').trim() || 'file',
    createdAt,
    confirmed: false,
    ...optionalParts(get, fields),
  };
  refuseBlank(message);
  return { kind: 'message', message, warnings, fields };
}

function reader(fields: SignalFields): (key: string) => string {
  const byName = new Map([...fields].map(([key, value]) => [key.toLowerCase(), value]));
  return (key) => {
    const value = byName.get(key) ?? '';
    if (typeof value === 'string') return value;
    if (value.length > 1) throw new Refused(`"${key}" takes one value, not a list.`);
    return value[0] ?? '';
  };
}

function targetOf(text: string): string {
  const target = text.trim();
  return target === '' || target.toUpperCase() === 'ALL' ? 'ALL' : target.toLowerCase();
}

function optionalParts(get: (key: string) => string, fields: SignalFields): Partial<Message> {
  const parts: Partial<Message> = {};
  const iteration = numberOf(get, 'iteration');
  if (iteration !== null && !(Number.isSafeInteger(iteration) && iteration >= 0)) {
    throw new Refused('"iteration" must be a whole number.');
  }
  if (iteration !== null) parts.iteration = iteration;
  const urgent = get('urgent').trim();
  if (urgent !== '') parts.urgent = truth('urgent', urgent);
  for (const key of ['question', 'option', 'op', 'task', 'reason'] as const) {
    const text = get(key).trim();
    if (text !== '') parts[key] = key === 'op' ? text.toLowerCase() : text;
  }
  const files = listOf(fields, 'files');
  if (files.length > 0) parts.files = files;
  const timeoutS = numberOf(get, 'timeout_s');
  if (timeoutS !== null) parts.timeoutS = positive('timeout_s', timeoutS);
  const timeoutMultiplier = numberOf(get, 'timeout_multiplier');
  if (timeoutMultiplier !== null) parts.timeoutMultiplier = positive('timeout_multiplier', timeoutMultiplier);
  const maxAttempts = numberOf(get, 'max_attempts');
  if (maxAttempts !== null) {
    if (!(Number.isSafeInteger(maxAttempts) && maxAttempts > 0))
      throw new Refused('"max_attempts" must be a whole number above 0.');
    parts.maxAttempts = maxAttempts;
  }
  return parts;
}

function numberOf(get: (key: string) => string, key: string): number | null {
  const text = get(key).trim();
  if (text === '') return null;
  if (!/^[+-]?\d+(\.\d+)?$/.test(text))
    throw new Refused(`"${key}" must be a number, not ${text.slice(0, 40)}.`);
  return Number(text);
}

function positive(key: string, value: number): number {
  if (value <= 0) throw new Refused(`"${key}" must be above 0.`);
  return value;
}

function truth(key: string, text: string): boolean {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  throw new Refused(`"${key}" must be true or false.`);
}

/** A list may also be written as one text, its parts between commas or on lines of their own. */
function listOf(fields: SignalFields, name: string): string[] {
  const value = [...fields].find(([key]) => key.toLowerCase() === name)?.[1] ?? [];
  const list = typeof value === 'string' ? value.split(/[\n,]/) : value;
  return list.map((text) => text.trim()).filter((text) => text !== '');
}

function refuseBlank({ type, text, option, files, task, op }: Message): void {
  const blank = text.trim() === '';
  const needsText = type === 'STEER' || type === 'INFO';
  const empty =
    (needsText && blank) ||
    (type === 'ANSWER' && blank && option === undefined) ||
    (type === 'FEEDBACK' && blank && files === undefined) ||
    (type === 'TASK' && blank && task === undefined && op === undefined);
  if (empty) throw new Refused(`A ${type} needs a "message".`);
}

const MINUTE_MS = 60_000;

function creation(source: SignalSource, text: string): { createdAt: number; warnings: string[] } {
  const named = timeOfName(source.name, source.timezone);
  const said = text.trim() === '' ? null : timeOfText(text, source.timezone);
  const createdAt = said ?? named ?? Math.floor(source.mtimeMs);
  const warnings: string[] = [];
  if (text.trim() !== '' && said === null) {
    warnings.push(
      `${source.name}: created_at "${text.trim().slice(0, 40)}" is not a time; it is left out of account.`,
    );
  }
  if (said !== null && named !== null && Math.abs(said - named) > MINUTE_MS) {
    warnings.push(
      `${source.name}: created_at and the file's name are more than a minute apart; created_at counts.`,
    );
  }
  if (createdAt > source.now + 5 * MINUTE_MS) {
    warnings.push(
      `${source.name}: made more than 5 minutes in the future; a clock is wrong. It is read now.`,
    );
  }
  return { createdAt, warnings };
}
