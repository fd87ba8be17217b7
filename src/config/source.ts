/**
 * ralph.yml as text: parsed and remembered line by line, so that every later problem can say where it
 * stands. Nothing in the file is ever executed.
 */
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
import type { ProblemFacts } from '../core/index.ts';
import { isMapping, type Path } from './path.ts';

/** The one name of the project's configuration. */
export const CONFIG_FILE = 'ralph.yml';
/** The same keys as TOML, in the folder of the project's state. */
export const TOML_FILE = '.ralph/ralph.toml';
/** Deeper than any configuration, shallow enough for every recursive reader. */
export const DEEPEST = 64;
/** Keys, items and marks of one file: beyond it the parser's own checks take minutes. */
export const MOST_MARKS = 10_000;
/** Errors of one file that are looked into; far more than are told. */
const MOST_ERRORS = 100;

/** One file as data in its own spelling; `{}` when there is none. */
export interface Source {
  /** Its name in problems: below the project as people call it, elsewhere as a path. */
  file: string;
  data: Record<string, unknown>;
  /** Line of the key or item, else of the nearest one above; null without a file. */
  lineOf(path: Path): number | null;
  problems: ProblemFacts[];
  warnings: string[];
  /** True when the data cannot be trusted, so that nothing more should be said about it. */
  broken: boolean;
}

/** What no file, and an empty one, hold. */
export function emptySource(file = CONFIG_FILE): Source {
  return { file, data: {}, lineOf: () => null, problems: [], warnings: [], broken: false };
}

/** Parses the text of ralph.yml. Never throws: what is wrong stands in `problems`. */
export function parseSource(text: string, file = CONFIG_FILE): Source {
  const lines = new LineCounter();
  const refuse = (facts: Omit<ProblemFacts, 'at'>, line: number): Source => ({
    ...emptySource(file),
    problems: [{ ...facts, at: `${file}:${line}` }],
    broken: true,
  });
  const excess = excessOf(text);
  if (excess !== null) return refuse(excess.facts, excess.line);

  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const problems = document.errors
    .slice(0, MOST_ERRORS)
    .map((error) => syntaxProblem(error, text, `${file}:${lineAt(errorOffset(error, document))}`));
  if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) {
    return { ...emptySource(file), problems, broken: true };
  }
  const warnings = document.warnings.map((one) => `${file}:${lineAt(one.pos[0])}: ${one.message}`);
  const lineOf = (path: Path): number => lineAt(offsetOf(document, path));

  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases: to an anchor that is not there, or so many that the file would explode.
    const what = `An alias cannot be followed: ${(error as Error).message}`;
    return refuse({ ...ALIAS, what }, lineAt(looseAlias(document)));
  }
  if (value === null || value === undefined) return { ...emptySource(file), problems, warnings };
  if (!isMapping(value)) return refuse(NOT_A_MAPPING, lineOf([]));
  try {
    const data = plain(value, []) as Record<string, unknown>;
    return { file, data, lineOf, problems, warnings, broken: false };
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.facts, lineOf(error.path));
    throw error;
  }
}

/** One value outside a file, as YAML reads it; the text itself where it is no YAML. */
export function parseValue(raw: string): unknown {
  if (excessOf(raw) !== null) return raw;
  const document = parseDocument(raw, { prettyErrors: false });
  if (document.errors.length > 0) return raw;
  try {
    return plain(document.toJS(), []);
  } catch {
    // An alias to nothing or to itself: as text it fails the check of its key, which says it better.
    return raw;
  }
}

/** Said of a file that is nested too deep. */
export const DEEP = {
  code: 'config.too_deep',
  what: `The file is nested more than ${DEEPEST} levels deep`,
  why: 'No key of the configuration lies that deep.',
  fix: 'Look for brackets or dashes that repeat by accident.',
};
/** Said of a file that holds too much. */
export const MUCH = {
  code: 'config.too_much',
  what: `The file has more than ${MOST_MARKS} keys, items and marks`,
  why: 'A configuration is a few screens long; this is most likely something else.',
  fix: 'Look at whether the right file lies here.',
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
  fix: 'Write one `key: value` a line, starting in the first column, with a space after the colon.',
};

/** Where the file becomes too deep or too much, or null. Works on tokens, so that texts may hold anything. */
function excessOf(text: string): { facts: typeof DEEP; line: number } | null {
  let [line, flow, compact, marks, scalar] = [1, 0, 0, 0, false];
  for (const token of new Lexer().lex(text)) {
    if (scalar) scalar = false;
    else if (token === '\x1f') scalar = true;
    else if (token === '\n' || token === '\r\n') compact = 0;
    else if (!/^[\s#]/.test(token)) {
      marks++;
      if (token === '[' || token === '{') flow++;
      else if (token === ']' || token === '}') flow--;
      else if (flow <= 0 && /^[-?:]$/.test(token)) compact++;
    }
    if (flow > DEEPEST || compact > DEEPEST) return { facts: DEEP, line };
    if (marks > MOST_MARKS) return { facts: MUCH, line };
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

/** Offset of the first alias whose anchor is not there; of the start when all are. */
function looseAlias(document: Document): number {
  let offset = 0;
  visit(document, {
    Alias(_, node) {
      if (node.resolve(document) !== undefined) return undefined;
      offset = start(node) ?? 0;
      return visit.BREAK;
    },
  });
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
    why: `${error.message
      .replace(/\s+/g, ' ')
      .replace(/ closing .quote/, ' closing quote')
      .replace(/\.$/, '')}.`,
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

/** Thrown by `plain` alone and turned into a problem with a line by who called it. */
export class Refusal extends Error {
  readonly facts: Omit<ProblemFacts, 'at'>;
  readonly path: Path;

  constructor(facts: Omit<ProblemFacts, 'at'>, path: Path) {
    super(facts.what);
    this.facts = facts;
    this.path = path;
  }
}

/**
 * A copy of plain data, nothing shared: aliases become copies, sets of old YAML become text. Throws a
 * `Refusal` for what no configuration holds.
 */
export function plain(value: unknown, path: Path): unknown {
  if (path.length > DEEPEST) throw new Refusal(DEEP, path);
  if (Array.isArray(value)) return value.map((item, i) => plain(item, [...path, i]));
  if (value instanceof Date) throw new Refusal(DATE, path);
  if (!isMapping(value)) return value;
  const kind: unknown = Object.getPrototypeOf(value);
  if (kind !== Object.prototype && kind !== null) return String(value);
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw new Refusal(RESERVED, [...path, key]);
    copy[key] = plain(item, [...path, key]);
  }
  return copy;
}

const DATE = {
  code: 'config.date',
  what: 'A date or time stands here',
  why: 'No key of the configuration takes one; as a text it needs quotes.',
  fix: 'Put it into quotes.',
};
const RESERVED = {
  code: 'config.unknown_key',
  what: '__proto__ is no key',
  why: 'The word is reserved and never names a setting, role or agent.',
  fix: 'Remove it or give it another name.',
};
