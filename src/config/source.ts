/**
 * ralph.yml as text: found, read, parsed and remembered line by line, so that every later problem can
 * say where it stands. Nothing in the file is ever executed.
 */
import { readFile as readBytes, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { Problem, type ProblemFacts } from '../core/index.ts';
import { isMapping, type Path } from './path.ts';

/** The one name of the project's configuration. */
export const CONFIG_FILE = 'ralph.yml';
const TOML_FILE = '.ralph/ralph.toml';
const MISNAMED = ['ralph.yaml', '.ralph/ralph.yml', '.ralph/ralph.yaml'];

const LARGEST_BYTES = 1_048_576;
/** Deeper than any configuration, shallow enough for every recursive reader. */
const DEEPEST = 64;

/** The file as data in its own spelling; `{}` when there is none. */
export interface Source {
  data: Record<string, unknown>;
  /** Line of the key or item, else of the nearest one above; null without a file. */
  lineOf(path: Path): number | null;
  problems: ProblemFacts[];
  warnings: string[];
  /** True when the data cannot be trusted, so that nothing more should be said about it. */
  broken: boolean;
}

/** Reads one file; rejects with a `code` of ENOENT where there is none. */
export type ReadFile = (path: string) => Promise<Uint8Array | string>;

/** Finds and parses the project's file. A missing file is an empty one; a misnamed one is a problem. */
export async function readSource(projectDir: string, readFile: ReadFile = readBounded): Promise<Source> {
  const attempt = (name: string) => readIfThere(join(projectDir, name), name, readFile);
  const own = await attempt(CONFIG_FILE);
  const others: string[] = [];
  for (const name of [TOML_FILE, ...MISNAMED]) {
    if ((await attempt(name)) !== null) others.push(name);
  }
  const problems = others.map((name) => strayFile(name, own !== null));
  const source = own === null ? emptySource() : parseSource(own);
  return { ...source, problems: [...problems, ...source.problems] };
}

function emptySource(): Source {
  return { data: {}, lineOf: () => null, problems: [], warnings: [], broken: false };
}

function strayFile(name: string, beside: boolean): ProblemFacts {
  const both = beside ? `Both ${CONFIG_FILE} and ${name} are there` : `The configuration is in ${name}`;
  const toml = name.endsWith('.toml');
  return {
    code: beside ? 'config.two_files' : toml ? 'config.toml' : 'config.wrong_name',
    at: name,
    what: both,
    why: toml
      ? `TOML is not read yet; the project is configured in ${CONFIG_FILE}, which has the same keys.`
      : `Only ${CONFIG_FILE} in the project's folder is read, so ${name} would be ignored without a word.`,
    fix: beside
      ? `Keep one: move what you need into ${CONFIG_FILE} and remove ${name}.`
      : toml
        ? `Write its keys to ${CONFIG_FILE} as YAML and remove ${name}.`
        : `Rename it: mv ${name} ${CONFIG_FILE}`,
  };
}

async function readIfThere(path: string, name: string, readFile: ReadFile): Promise<string | null> {
  let content: Uint8Array | string;
  try {
    content = await readFile(path);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const code = (error as { code?: unknown } | null)?.code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Problem({
      code: 'config.unreadable',
      at: name,
      what: `${name} cannot be read`,
      why: error instanceof Error ? error.message : String(error),
      fix: 'Make it a plain file that you may read, or remove it.',
    });
  }
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  if (bytes > LARGEST_BYTES) throw tooLarge(name, bytes);
  return typeof content === 'string' ? content : decode(content, name);
}

function tooLarge(name: string, bytes: number): Problem {
  return new Problem({
    code: 'config.too_large',
    at: name,
    what: `${name} is larger than 1 MB (${bytes} bytes)`,
    why: 'A configuration is a few screens long; a file of this size is most likely something else.',
    fix: 'Move long texts into files of their own and name those files.',
  });
}

function decode(content: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new Problem({
      code: 'config.encoding',
      at: name,
      what: `${name} is not UTF-8 text`,
      why: 'YAML is read as UTF-8; other encodings would change your words.',
      fix: 'Save the file as UTF-8 in your editor.',
    });
  }
}

/** Looks before it reads: a pipe would never end, and a huge file need not be in memory to be refused. */
async function readBounded(path: string): Promise<Uint8Array> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error('It is not a plain file.');
  if (found.size > LARGEST_BYTES) throw tooLarge(path.split(/[\\/]/).pop()!, found.size);
  return readBytes(path);
}

/** Parses the text of ralph.yml. Never throws: what is wrong stands in `problems`. */
export function parseSource(text: string, file = CONFIG_FILE): Source {
  const lines = new LineCounter();
  const refuse = (facts: Omit<ProblemFacts, 'at'>, line: number): Source => ({
    ...emptySource(),
    problems: [{ ...facts, at: `${file}:${line}` }],
    broken: true,
  });
  const deep = tooDeep(text);
  if (deep !== null) return refuse(DEEP, deep);

  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const problems = document.errors.map((error) =>
    syntaxProblem(error, text, `${file}:${lineAt(errorOffset(error, document))}`),
  );
  if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) {
    return { ...emptySource(), problems, broken: true };
  }
  const warnings = document.warnings.map((one) => `${file}:${lineAt(one.pos[0])}: ${one.message}`);
  const lineOf = (path: Path): number => lineAt(offsetOf(document, path));

  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases: to an anchor that is not there, or so many that the file would explode.
    return refuse({ ...ALIAS, what: `An alias cannot be followed: ${(error as Error).message}` }, 1);
  }
  if (value === null || value === undefined) return { ...emptySource(), problems, warnings };
  if (!isMapping(value)) return refuse(NOT_A_MAPPING, lineOf([]));
  try {
    return { data: plain(value, []) as Record<string, unknown>, lineOf, problems, warnings, broken: false };
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.facts, lineOf(error.path));
    throw error;
  }
}

/** One value outside a file, as YAML reads it; the text itself where it is no YAML. */
export function parseValue(raw: string): unknown {
  if (tooDeep(raw) !== null) return raw;
  const document = parseDocument(raw, { prettyErrors: false });
  if (document.errors.length > 0) return raw;
  try {
    return plain(document.toJS(), []);
  } catch {
    // An alias to nothing or to itself: as text it fails the check of its key, which says it better.
    return raw;
  }
}

const DEEP = {
  code: 'config.too_deep',
  what: `The file is nested more than ${DEEPEST} levels deep`,
  why: 'No key of the configuration lies that deep.',
  fix: 'Look for brackets or dashes that repeat by accident.',
};
const ALIAS = {
  code: 'config.alias',
  why: 'An alias (*name) repeats what an earlier anchor (&name) holds.',
  fix: 'Define the anchor before the alias, and use fewer of them.',
};
const NOT_A_MAPPING = {
  code: 'config.not_a_mapping',
  what: 'The file is not a mapping of keys to values',
  why: 'The configuration is written as lines like `agent: claude`.',
  fix: 'Write one `key: value` a line, starting in the first column.',
};

/** The line of the first bracket or dash below the deepest level, or null. Works on tokens, so text may hold any. */
function tooDeep(text: string): number | null {
  let [line, flow, compact, scalar] = [1, 0, 0, false];
  for (const token of new Lexer().lex(text)) {
    if (scalar) scalar = false;
    else if (token === '\x1f') scalar = true;
    else if (token === '[' || token === '{') flow++;
    else if (token === ']' || token === '}') flow--;
    else if (token === '-' || token === '?' || token === ':') compact++;
    else if (token === '\n' || token === '\r\n') compact = 0;
    if (flow > DEEPEST || (flow === 0 && compact > DEEPEST)) return line;
    line += token.split('\n').length - 1;
  }
  return null;
}

/** Where the mistake was made. A quote that is never closed is found at the end, but made where it opens. */
function errorOffset(error: YAMLError, document: Document): number {
  const [end] = error.pos;
  let offset = end;
  if (/^Missing closing .quote/.test(error.message)) {
    visit(document, {
      Scalar(_, { type, range }) {
        if (type?.startsWith('QUOTE_') && range && range[0] < end && end <= range[1]) offset = range[0];
      },
    });
  }
  return offset;
}

function syntaxProblem(error: YAMLError, text: string, at: string): ProblemFacts {
  const syntax = { code: 'config.syntax', at };
  if (error.code === 'DUPLICATE_KEY') {
    const key = /^[^\s:]+/.exec(text.slice(error.pos[0], error.pos[0] + 80))?.[0] ?? 'a key';
    return {
      code: 'config.duplicate_key',
      at,
      what: `${key} is there twice`,
      why: 'Only one of the two could count, and you would not see which.',
      fix: 'Keep one of them.',
    };
  }
  if (error.code === 'TAB_AS_INDENT') {
    return {
      ...syntax,
      what: 'A tab indents this line',
      why: 'YAML indents with spaces only.',
      fix: 'Replace the tab with spaces.',
    };
  }
  if (error.code === 'MULTIPLE_DOCS') {
    return {
      ...syntax,
      what: 'A second document begins here (---)',
      why: 'The configuration is one document.',
      fix: 'Remove the line with --- or what follows it.',
    };
  }
  return {
    ...syntax,
    what: 'This is not valid YAML',
    why: `${error.message.replace(/\s+/g, ' ').replace(/\.$/, '')}.`,
    fix: 'Look at this line and the one before it: a missing quote, colon, bracket or space.',
  };
}

/** Offset of the key or item at the path, or of the last one on the way that is there. */
function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = start(node) ?? 0;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
      if (pair === undefined) break;
      offset = start(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = start(node) ?? offset;
    } else break;
  }
  return offset;
}

function start(node: unknown): number | null {
  return isNode(node) ? ((node as Node).range?.[0] ?? null) : null;
}

/** Thrown by `plain` alone and turned into a problem with a line right above. */
class Refusal extends Error {
  readonly facts: Omit<ProblemFacts, 'at'>;
  readonly path: Path;

  constructor(facts: Omit<ProblemFacts, 'at'>, path: Path) {
    super(facts.what);
    this.facts = facts;
    this.path = path;
  }
}

/** A copy of plain data, nothing shared: aliases become copies, dates and sets of old YAML become text. */
function plain(value: unknown, path: Path): unknown {
  if (path.length > DEEPEST) throw new Refusal(DEEP, path);
  if (Array.isArray(value)) return value.map((item, i) => plain(item, [...path, i]));
  if (value instanceof Date) return value.toISOString();
  if (!isMapping(value)) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return String(value);
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw new Refusal(RESERVED, [...path, key]);
    copy[key] = plain(item, [...path, key]);
  }
  return copy;
}

const RESERVED = {
  code: 'config.unknown_key',
  what: '__proto__ is no key',
  why: 'The word is reserved and never names a setting, role or agent.',
  fix: 'Remove it or give it another name.',
};
