/** What a person and a program read of `ralph import`: the tasks, what would be written, and what came of it. */
import { MARKERS, shellWord, type TaskDef } from '../core/index.ts';
import { linesOf } from '../dialects/index.ts';
import { count, oneLine, plain } from '../views/index.ts';
import type { ImportPlan, PlannedWrite } from './import.ts';

/** More tasks, and more lines of a difference, are counted and not shown; `--json` has them all. */
const MOST_TASKS = 50;
const MOST_LINES = 200;

/** The tasks that were read, what was noticed, and what would be written. */
export function importText(plan: ImportPlan): string {
  const { path, dialect, reading, repairs, write, notes } = plan;
  const { tasks } = reading;
  const done = tasks.filter(({ status }) => status === 'done').length;
  const counted = `${count(tasks.length, 'task')}, ${done} done`;
  const lines = [`${oneLine(path)} (${dialect}): ${counted}`, ...tasks.slice(0, MOST_TASKS).map(taskLine)];
  if (tasks.length > MOST_TASKS) lines.push(`  … and ${tasks.length - MOST_TASKS} more`);
  const told = [...reading.warnings, ...notes].map((text) => `Note: ${oneLine(text, 400)}`);
  const fixed = repairs.map(({ lines, what }) => `Repair: ${linesOf(lines)}: ${what}`);
  return `${[
    lines.join('\n'),
    ...(told.length + fixed.length > 0 ? [[...told, ...shortened(fixed, MOST_TASKS)].join('\n')] : []),
    write === null ? `Nothing to write: ${reasonForNothing(plan)}` : writeText(write),
  ].join('\n\n')}\n`;
}

function taskLine({ id, title, status, acceptance, dependsOn }: TaskDef): string {
  const more = [
    ...(acceptance.length > 0
      ? [`${acceptance.length} ${acceptance.length === 1 ? 'criterion' : 'criteria'}`]
      : []),
    ...(dependsOn.length > 0
      ? [`needs ${dependsOn.slice(0, 6).join(', ')}${dependsOn.length > 6 ? ' …' : ''}`]
      : []),
  ];
  const behind = more.length === 0 ? '' : `  (${oneLine(more.join('; '))})`;
  return `  ${MARKERS[status]} ${oneLine(id, 60)}  ${oneLine(title, 100)}${behind}`;
}

function writeText({ path, before, after, diff }: PlannedWrite): string {
  const head = `${oneLine(path)} (${before === null ? 'new' : 'is there and would be changed'}):`;
  const lines = before === null ? firstLines(after) : diff();
  return [head, ...shortened(lines, MOST_LINES).map((line) => `  ${plain(line, 200)}`)].join('\n');
}

/** As a difference from nothing; what is beyond the last line shown is only counted. */
function firstLines(text: string): string[] {
  let end = -1;
  for (let n = 0; n < MOST_LINES; n++) {
    end = text.indexOf('\n', end + 1);
    if (end === -1 || end === text.length - 1)
      return text
        .trimEnd()
        .split('\n')
        .map((line) => `+${line}`);
  }
  const lines = text.slice(0, end).split('\n');
  return [...lines.map((line) => `+${line}`), '… and more lines; --json has them all'];
}

/** One line more than `most` may stay: it says that there are more. */
function shortened(lines: string[], most: number): string[] {
  if (lines.length <= most + 1) return lines;
  return [...lines.slice(0, most), `… and ${lines.length - most} more lines; --json has them all`];
}

function reasonForNothing({ path, direct }: ImportPlan): string {
  return direct
    ? `${oneLine(path)} can be used as it is.`
    : 'the list is there already, with the same words.';
}

/** The last words: what came of it, and how to go on. */
export function importedText({ path, write, direct, reading }: ImportPlan, written: boolean): string {
  const open = reading.tasks.some(({ status }) => status !== 'done' && status !== 'cancelled');
  const lines: string[] = [];
  if (written && write !== null) lines.push(`Written: ${oneLine(write.path)}.`);
  if (direct && write?.path !== path) {
    lines.push(
      `${oneLine(path)} can also be used as it is, and is then marked itself: ralph run --tasks ${shellWord(path)}`,
    );
  }
  if (!open) lines.push('Every task in it is done: a run would find nothing to do.');
  else if (written && write !== null) lines.push(`Next: ralph run --tasks ${shellWord(write.path)}`);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** The same as one value. */
export function importJson(plan: ImportPlan, written: boolean): Record<string, unknown> {
  const { path, dialect, reading, repairs, write, direct, notes } = plan;
  return {
    file: path,
    dialect,
    tasks: reading.tasks.map(({ id, title, status, priority, dependsOn, acceptance }) => ({
      id,
      title,
      status,
      priority,
      depends_on: dependsOn,
      acceptance,
    })),
    warnings: [...reading.warnings, ...notes],
    repairs,
    usable_directly: direct,
    write: write === null ? null : { path: write.path, exists: write.before !== null, diff: write.diff() },
    written,
  };
}
