/**
 * Repairs what other programs forgive and a plain task file may not hold: comments, trailing commas and
 * tabs for indentation. What is repaired is named with its line, and a text that cannot be read
 * afterwards is not repaired at all.
 */
import { parseDocument } from 'yaml';
import { readJson } from './json-tree.ts';
import { dialectOf } from './pick.ts';
import { applyEdits, type Edit, lineAt } from './text.ts';

/** A repaired text and what was done to it, in the order of the file. */
export interface TaskFileRepair {
  text: string;
  changes: { line: number; what: string }[];
}

/**
 * The text as a plain task file; null where there is nothing to repair or no repair that helps. Pure:
 * whether it is written is for the caller to ask. Values are never touched.
 */
export function repairTaskFile(path: string, text: string): TaskFileRepair | null {
  const { name } = dialectOf(path, text);
  if (name === 'tasks-json') return repairJson(text);
  return name === 'tasks-yaml' ? repairYaml(text) : null;
}

interface Change extends Edit {
  what: string;
}

function repaired(text: string, changes: readonly Change[]): TaskFileRepair {
  const lines = changes.map(({ start, what }) => ({ line: lineAt(text, start), what }));
  return { text: applyEdits(text, changes), changes: lines };
}

function repairJson(text: string): TaskFileRepair | null {
  if (readJson(text).kind === 'tree') return null;
  const repair = repaired(text, looseEdits(text));
  return repair.changes.length > 0 && readJson(repair.text).kind === 'tree' ? repair : null;
}

/** Comments and trailing commas outside of strings. */
function looseEdits(text: string): Change[] {
  const changes: Change[] = [];
  let comma: number | null = null;
  let before = '[';
  for (let at = 0; at < text.length; ) {
    const code = text[at]!;
    const comment = commentEnd(text, at);
    if (comment !== null) {
      changes.push(commentEdit(text, at, comment));
      at = comment;
      continue;
    }
    if (code === '"') {
      comma = null;
      before = code;
      at = stringEnd(text, at);
      continue;
    }
    if ((code === '}' || code === ']') && comma !== null) {
      changes.push({ start: comma, end: comma + 1, text: '', what: 'a trailing comma was removed' });
    }
    if (code === ',' && !'[{,:'.includes(before)) comma = at;
    else if (!/\s/.test(code)) comma = null;
    if (!/\s/.test(code)) before = code;
    at += 1;
  }
  return changes;
}

/** The offset behind the comment that begins here; null where none does. */
function commentEnd(text: string, at: number): number | null {
  const two = text.slice(at, at + 2);
  if (two === '/*') {
    const end = text.indexOf('*/', at + 2);
    return end === -1 ? text.length : end + 2;
  }
  if (two !== '//' && two[0] !== '#') return null;
  const end = text.indexOf('\n', at);
  const stop = end === -1 ? text.length : end;
  return text[stop - 1] === '\r' ? stop - 1 : stop;
}

/** A comment goes with the blanks before it; one that has its lines for itself goes with them. */
function commentEdit(text: string, start: number, end: number): Change {
  let from = start;
  while (text[from - 1] === ' ' || text[from - 1] === '\t') from -= 1;
  const alone = from === 0 || text[from - 1] === '\n';
  const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end, end + 200));
  const what = 'a comment was removed';
  if (alone && rest !== null) return { start: from, end: end + rest[0].length, text: '', what };
  if (rest !== null || /\s/.test(text[end] ?? ' ')) return { start: from, end, text: '', what };
  // Two numbers must not grow together where a comment stood between them.
  return { start, end, text: from === start ? ' ' : '', what };
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"' && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** YAML forbids tabs for indentation; two blanks each are what editors show most. */
function repairYaml(text: string): TaskFileRepair | null {
  if (isYaml(text)) return null;
  const changes: Change[] = [];
  for (const match of text.matchAll(/^[ ]*\t[ \t]*/gm)) {
    const what = 'tabs at the beginning were replaced by blanks';
    changes.push({
      start: match.index,
      end: match.index + match[0].length,
      text: match[0].replaceAll('\t', '  '),
      what,
    });
  }
  const repair = repaired(text, changes);
  return changes.length > 0 && isYaml(repair.text) ? repair : null;
}

function isYaml(text: string): boolean {
  try {
    return parseDocument(text, { uniqueKeys: true, logLevel: 'silent' }).errors.length === 0;
  } catch {
    return false;
  }
}
