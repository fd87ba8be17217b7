/** Which dialect a task file speaks: a record of formats, asked in order. */

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
  return dialectOf(path, text).read(text, path, list);
}

/** Sets the marks and nothing else; without a path the content tells the format. Idempotent. */
export function writeMarks(text: string, marks: TaskMark[], path = ''): string {
  return dialectOf(path, text).writeMarks(text, marks);
}

/** What of an attempt's edit stands, what it claims, and the text to write back. Never throws. */
export function compareTaskFile(input: TaskFileComparison): TaskFileVerdict {
  return dialectOf(input.path ?? '', input.before).compare(input);
}
