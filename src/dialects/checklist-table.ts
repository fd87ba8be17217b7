/**
 * Task tables: `| ID | Task | Status |`. A table is one only where a column of titles and a column of
 * states are named so and every row says a state; any other table is text.
 */

import { readStatusWord, type StatusWord } from './checklist-marks.ts';
import { fold, nameOf } from './checklist-words.ts';
import type { Block } from './markdown-blocks.ts';

type Line = Block & { kind: 'text' };

/** One row of a task table, by what its columns are called. */
export interface TableRow {
  line: number;
  /** Offset of the row. */
  at: number;
  title: string;
  id: string | null;
  priority: string | null;
  dependsOn: string | null;
  status: StatusWord;
  /** Offset of the status cell's text. */
  statusAt: number;
  statusText: string;
}

interface Cell {
  text: string;
  /** Offset in the row. */
  at: number;
}

/** The rows of a task table made of these lines of one paragraph; null where it is none. */
export function readTable(lines: readonly Line[]): TableRow[] | null {
  const [head, rule, ...rows] = lines;
  if (head === undefined || rule === undefined || rows.length === 0) return null;
  if (!/^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/.test(rule.text)) return null;
  const columns = columnsOf(cellsOf(head.text));
  if (columns.title === undefined || columns.status === undefined) return null;
  const read: TableRow[] = [];
  for (const row of rows) {
    const one = readRow(row, columns);
    if (one === null) return null;
    read.push(one);
  }
  return read;
}

type Columns = Partial<Record<'id' | 'title' | 'status' | 'priority' | 'dependsOn', number>>;

const ID_NAMES = /^(?:id|no|nr|key|task id|story id|编号|番号|الرقم)$/;
const TITLE_NAMES =
  /^(?:task|title|story|user story|feature|item|description|name|what|todo|aufgabe|titel|tache|titre|tarea|titulo|tarefa|任务|任務|标题|タスク|作業|المهمة)$/;

function columnsOf(cells: readonly Cell[]): Columns {
  const columns: Columns = {};
  for (const [index, { text }] of cells.entries()) {
    const name = fold(text);
    const property = nameOf(text);
    if (ID_NAMES.test(name) || text.trim() === '#') columns.id ??= index;
    else if (TITLE_NAMES.test(name)) columns.title ??= index;
    else if (property === 'status' || /^(?:done|✅|✓|erledigt|完成|完了)$/.test(name || text.trim()))
      columns.status ??= index;
    else if (property === 'priority' || property === 'dependsOn') columns[property] ??= index;
  }
  return columns;
}

function readRow({ text, at, line }: Line, columns: Columns): TableRow | null {
  const cells = cellsOf(text);
  const cell = (index: number | undefined): Cell | undefined =>
    index === undefined ? undefined : cells[index];
  const title = cell(columns.title)?.text ?? '';
  const state = cell(columns.status);
  if (title === '' || state === undefined) return null;
  const status = readStatusWord(state.text);
  if (status === null) return null;
  const textOf = (index: number | undefined): string | null => cell(index)?.text || null;
  return {
    line,
    at,
    title: title.replaceAll('\\|', '|'),
    id: textOf(columns.id)?.replace(/[*_`]/g, '') ?? null,
    priority: textOf(columns.priority),
    dependsOn: textOf(columns.dependsOn),
    status,
    statusAt: at + state.at,
    statusText: state.text,
  };
}

/** The cells of a row with their places; `\|` does not part them. */
function cellsOf(row: string): Cell[] {
  const cells: Cell[] = [];
  let from = row.startsWith('|') ? 1 : 0;
  for (let at = from; at <= row.length; at++) {
    if (at < row.length && (row[at] !== '|' || row[at - 1] === '\\')) continue;
    if (at === row.length && from === at) break;
    const raw = row.slice(from, at);
    cells.push({ text: raw.trim(), at: from + raw.length - raw.trimStart().length });
    from = at + 1;
  }
  return cells;
}
