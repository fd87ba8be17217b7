/**
 * Task tables: `| ID | Task | Status |`. A table is one only where a column of titles and a column of
 * states are named so and a row says a state that is known; any other table is text. A row whose state
 * nobody knows is an open task, so that none is lost.
 */

import { readStatusWord, type Said, type WordPlace, wordPlace } from './checklist-marks.ts';
import type { Block } from './markdown-blocks.ts';
import { nameOf } from './property-words.ts';
import { fold } from './word-fold.ts';

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
  /** Where the word for the state stands in its cell, and what it says. */
  status: WordPlace;
  said: Said;
  /** Offset of the status cell's text. */
  statusAt: number;
}

interface Cell {
  text: string;
  /** Offset in the row. */
  at: number;
}

/** The rows of a task table made of these lines of one paragraph; null where it is none. */
function readTable(lines: readonly Line[]): TableRow[] | null {
  const [head, rule, ...rows] = lines;
  if (head === undefined || rule === undefined || rows.length === 0) return null;
  if (!/^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/.test(rule.text)) return null;
  const columns = columnsOf(cellsOf(head.text));
  if (columns.title === undefined || columns.status === undefined) return null;
  const read = rows.flatMap((row) => readRow(row, columns) ?? []);
  return read.some(({ said }) => said.note !== 'unknown') ? read : null;
}

/** The task table that begins at this block, and how many blocks it takes; null where none does. */
export function tableAt(
  blocks: readonly Block[],
  index: number,
): { rows: TableRow[]; blocks: number } | null {
  const first = blocks[index] as Line;
  if (first.continues || !first.text.includes('|')) return null;
  const lines = [first];
  for (let at = index + 1; at < blocks.length; at++) {
    const next = blocks[at]!;
    if (next.kind !== 'text' || !next.continues || next.depth > 0) break;
    lines.push(next);
  }
  const rows = readTable(lines);
  return rows === null ? null : { rows, blocks: lines.length };
}

/** True for a line that names a column of tasks and one of states. */
export function isTableHead(text: string): boolean {
  if (!text.includes('|')) return false;
  const { title, status } = columnsOf(cellsOf(text));
  return title !== undefined && status !== undefined;
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
  const known = readStatusWord(state.text);
  const status = known ?? wordPlace(state.text) ?? { start: 0, end: 0, text: '', was: null };
  const textOf = (index: number | undefined): string | null => cell(index)?.text || null;
  return {
    line,
    at,
    title: title.replaceAll('\\|', '|'),
    id: textOf(columns.id)?.replace(/[*_`]/g, '') ?? null,
    priority: textOf(columns.priority),
    dependsOn: textOf(columns.dependsOn),
    status,
    said: known?.said ?? { status: 'todo', note: 'unknown' },
    statusAt: at + state.at,
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
    const text = raw.trim();
    // In an empty cell a word stands behind the first blank.
    cells.push({ text, at: text === '' ? from + Math.min(1, raw.length) : from + raw.indexOf(text) });
    from = at + 1;
  }
  return cells;
}
