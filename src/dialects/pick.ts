/** Which dialect a task file speaks: a record of formats, asked in order. */

import type { ProblemFacts } from '../core/index.ts';
import type {
  TaskDialect,
  TaskFileComparison,
  TaskFileVerdict,
  TaskListReading,
  TaskMark,
} from './tasklist.ts';
import { tasksJson } from './tasks-json.ts';
import { tasksMarkdown } from './tasks-markdown.ts';
import { tasksYaml } from './tasks-yaml.ts';
import { lineAt } from './text.ts';

/** Every task-file format, the first that detects a file reads it. */
export const taskDialects: readonly TaskDialect[] = [tasksJson, tasksYaml, tasksMarkdown];

/** The dialect of a file; path first, content where the path does not tell, else the last one. */
export function dialectOf(path: string, text: string): TaskDialect {
  return taskDialects.find((dialect) => dialect.detects(path, text)) ?? taskDialects.at(-1)!;
}

/**
 * Reads a task file. `path` (relative to the project) tells the format and names the place of problems;
 * `list` names one of several lists, as the choices of an unreadable file do.
 */
export function readTaskList(path: string, text: string, list?: string): TaskListReading {
  const nul = nulByte(path, text);
  return nul === null ? dialectOf(path, text).read(text, path, list) : { kind: 'unreadable', problem: nul };
}

/** Sets the marks and nothing else; without a path the content tells the format. Idempotent. */
export function writeMarks(text: string, marks: TaskMark[], path = ''): string {
  return text.includes('\0') ? text : dialectOf(path, text).writeMarks(text, marks);
}

/** What of an attempt's edit stands, what it claims, and the text to write back. Never throws. */
export function compareTaskFile(input: TaskFileComparison): TaskFileVerdict {
  const path = input.path ?? '';
  const nul = nulByte(path, input.after);
  if (nul === null) return dialectOf(path, input.before).compare(input);
  const reading = readTaskList(path, input.before);
  const violations = [{ detail: `the agent left the task list unreadable: ${nul.what}` }];
  return { reading, legal: [], marked: [], violations, restored: input.before };
}

/** No text holds a NUL byte, and what stands behind one is cut off in many programs. */
function nulByte(path: string, text: string): ProblemFacts | null {
  const at = text.indexOf('\0');
  if (at === -1) return null;
  return {
    code: 'tasks.syntax',
    what: 'a NUL byte stands in the file',
    why: 'no text has one: the file may be saved as UTF-16, cut off by a crash, or no text at all',
    fix: 'delete that character, or save the file as UTF-8',
    at: `${path}:${lineAt(text, at)}`,
  };
}
