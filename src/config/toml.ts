/**
 * ralph.toml as text: the same keys as ralph.yml, parsed and remembered line by line. TOML has no null,
 * and no key of ours takes a date.
 */
import { parse, TomlError } from 'smol-toml';
import type { ProblemFacts } from '../core/index.ts';
import type { Path } from './path.ts';
import { DEEP, DEEPEST, emptySource, MOST_MARKS, MUCH, plain, Refusal, type Source } from './source.ts';
import { type TomlPlace, tomlPlaces } from './toml-places.ts';

/** Parses the text of a TOML file. Never throws: what is wrong stands in `problems`. */
export function parseTomlSource(text: string, file: string): Source {
  const refuse = (facts: Omit<ProblemFacts, 'at'>, at: string): Source => ({
    ...emptySource(file),
    problems: [{ ...facts, at: `${file}:${at}` }],
    broken: true,
  });
  let value: Record<string, unknown>;
  try {
    value = parse(text, { maxDepth: DEEPEST });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return refuse(syntaxFacts(error, text), `${error.line}:${error.column}`);
  }
  const places = tomlPlaces(text);
  if (countOf(places) > MOST_MARKS) return refuse(MUCH, '1');
  const lineOf = (path: Path): number => lineAt(places, path);
  try {
    const data = plain(value, []) as Record<string, unknown>;
    return { ...emptySource(file), data, lineOf };
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.facts, String(lineOf(error.path)));
    throw error;
  }
}

/** Line of the key or item at the path, or of the last one on the way that is there. */
function lineAt(root: TomlPlace, path: Path): number {
  let place = root;
  for (const step of path) {
    const next = typeof step === 'number' ? place.items[step] : place.keys.get(step);
    if (next === undefined) break;
    place = next;
  }
  return place.line;
}

function countOf(root: TomlPlace): number {
  let count = 0;
  const waiting = [root];
  for (let place = waiting.pop(); place !== undefined && count <= MOST_MARKS; place = waiting.pop()) {
    count++;
    for (const inside of [...place.keys.values(), ...place.items]) waiting.push(inside);
  }
  return count;
}

/** The parser's own words, without the piece of the file it shows: a secret may stand there. */
function syntaxFacts(error: TomlError, text: string): Omit<ProblemFacts, 'at'> {
  const said = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
  if (/excessively nested/.test(said)) return DEEP;
  if (/redefine/.test(said)) {
    const key = /^[\w.-]+/.exec(text.split('\n')[error.line - 1]?.slice(error.column - 1) ?? '')?.[0];
    return {
      code: 'config.duplicate_key',
      what: `${key ?? 'A key'} is there twice`,
      why: 'TOML takes a key or table once: only one of the two could count.',
      fix: 'Keep one of them.',
    };
  }
  return {
    code: 'config.syntax',
    what: 'This is not valid TOML',
    why: `${said.charAt(0).toUpperCase()}${said.slice(1)}.`,
    fix: fixFor(said),
  };
}

function fixFor(said: string): string {
  if (/losslessly/.test(said)) return 'Write a smaller number.';
  if (/[Cc]ontrol characters|unfinished string/.test(said)) return 'Close the quote on the same line.';
  if (/invalid value/.test(said))
    return 'Put texts into quotes: agent = "claude". TOML has no null: leave the key out.';
  if (/find end of key|illegal character in key/.test(said))
    return 'Write key = value; in TOML a colon is no equals sign.';
  if (/end-of-line/.test(said)) return 'Put each key on a line of its own.';
  if (/date/.test(said)) return 'Put the text into quotes; no key of the configuration takes a date.';
  return 'Look at this line and the one before it: a missing quote, equals sign, bracket or comma.';
}
