/**
 * Repairs what other programs forgive and a plain task file may not hold: comments, trailing commas, tabs
 * for indentation and line ends of old machines. What is repaired is named with its line, and a text that cannot be read
 * afterwards is not repaired at all.
 */
import { parseDocument } from 'yaml';
import { nearBoxEdits, readChecklist } from './checklist.ts';
import { readJson } from './json-tree.ts';
import { dialectOf } from './pick.ts';
import { applyEdits, type Edit, LONE_RETURN, lineAt } from './text.ts';

/** A repaired text and what was done to it: each kind of change once, with its lines in the file's order. */
export interface TaskFileRepair {
  text: string;
  changes: { lines: number[]; what: string }[];
}

/**
 * The text as a plain task file; null where there is nothing to repair or no repair that helps. Pure:
 * whether it is written is for the caller to ask. Values are never touched.
 */
export function repairTaskFile(path: string, text: string): TaskFileRepair | null {
  const { name } = dialectOf(path, text);
  if (name === 'tasks-json') return repairJson(text);
  if (name === 'tasks-yaml') return repairYaml(text);
  return name === 'markdown' ? repairBoxes(text) : null;
}

/** What looks like a checkbox becomes one. */
function repairBoxes(text: string): TaskFileRepair | null {
  const what = 'a check box was completed';
  const changes = nearBoxEdits(text).map((edit) => ({ ...edit, what }));
  if (changes.length === 0) return null;
  const repair = repaired(text, changes);
  return readChecklist(repair.text).near === null ? repair : null;
}

interface Change extends Edit {
  what: string;
}

function repaired(text: string, changes: readonly Change[]): TaskFileRepair {
  const kinds = new Map<string, number[]>();
  const ordered = [...changes].sort((a, b) => a.start - b.start);
  for (const { start, what } of ordered) {
    const line = lineAt(text, start);
    const lines = kinds.get(what);
    if (lines === undefined) kinds.set(what, [line]);
    else if (lines.at(-1) !== line) lines.push(line);
  }
  return { text: applyEdits(text, changes), changes: [...kinds].map(spoken) };
}

/** What was done, once for all its lines. */
const MANY: Readonly<Record<string, string>> = {
  'a trailing comma was removed': 'trailing commas were removed',
  'a comment was removed': 'comments were removed',
  'a tab at the beginning was replaced by blanks': 'tabs at the beginning were replaced by blanks',
  'a check box was completed': 'check boxes were completed',
  'a carriage return was replaced by a line feed': 'carriage returns were replaced by line feeds',
};

function spoken([what, lines]: [string, number[]]): { lines: number[]; what: string } {
  return { lines, what: lines.length === 1 ? what : (MANY[what] ?? what) };
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

/** YAML forbids tabs for indentation; two blanks each are what editors show most. A lone CR ends no line there. */
function repairYaml(text: string): TaskFileRepair | null {
  if (isYaml(text) && !LONE_RETURN.test(text)) return null;
  const changes: Change[] = [];
  for (const match of text.matchAll(/(?<=^|[\r\n])[ ]*\t[ \t]*/g)) {
    const what = 'a tab at the beginning was replaced by blanks';
    changes.push({
      start: match.index,
      end: match.index + match[0].length,
      text: match[0].replaceAll('\t', '  '),
      what,
    });
  }
  for (const { index } of text.matchAll(/\r(?!\n)/g)) {
    changes.push({
      start: index,
      end: index + 1,
      text: '\n',
      what: 'a carriage return was replaced by a line feed',
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
