/** The checklist as a dialect: reading with problems, marking, and comparing an agent's edit. */
import { type ReadChecklist, readChecklist } from './checklist.ts';
import { compareChecklists } from './checklist-compare.ts';
import { markEdits } from './checklist-marks.ts';
import { graphFault } from './task-graph.ts';
import type { TaskDialect, TaskListReading, TaskMark } from './tasklist.ts';
import { applyEdits, type Edit } from './text.ts';

function reading(
  { items, project, warnings, leftOut, unread, instead }: ReadChecklist,
  path: string,
): TaskListReading {
  if (items.length === 0) return { kind: 'empty', why: `It holds ${instead}.`, fix: LOOKS_LIKE };
  const tasks = items.map((item) => item.task);
  const fault = graphFault(tasks, (index) => items[index]!.line);
  if (fault !== null) {
    const { code, what, why, fix, line } = fault;
    return { kind: 'unreadable', problem: { code, what, why, fix, at: `${path}:${line}` } };
  }
  return {
    kind: 'list',
    tasks,
    reviewed: false,
    gates: [],
    project,
    description: '',
    warnings,
    leftOut,
    unread,
  };
}

const LOOKS_LIKE =
  'Write each task on a line of its own as `- [ ] Title`; what is indented below it are its criteria.';

function writeMarks(text: string, marks: TaskMark[]): string {
  const byTask = new Map(marks.map((mark) => [mark.task, mark.status]));
  const edits: Edit[] = [];
  const { items, style } = readChecklist(text);
  for (const { task, mark } of items) {
    const status = byTask.get(task.id);
    // What already says so keeps its spelling, also an unknown sign that counts as open.
    if (status !== undefined) edits.push(...markEdits(mark, task.status, status, style));
  }
  return applyEdits(text, edits);
}

/** Markdown files with checkboxes; the format of any file that no other dialect knows. */
export const tasksMarkdown: TaskDialect = {
  name: 'markdown',
  detects: (path, text) =>
    /\.(?:md|markdown|mdown|txt)$/i.test(path) || /^\s*(?:[-+*]|\d+[.)])\s+\[[^\]\n]{0,12}\]\s/m.test(text),
  read: (text, path) => reading(readChecklist(text), path),
  writeMarks,
  compare: (input) => compareChecklists(input, reading),
};
