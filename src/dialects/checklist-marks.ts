/**
 * Marks: where a Markdown plan says how far a task is, and how to say something else there. A mark is
 * the sign in a checkbox, the word behind "Status:" or in a table's column, the boxes of all criteria
 * below a heading, or a tick behind the heading. Nothing but the mark is ever written.
 */
import { MARKERS, type TaskStatus } from '../core/index.ts';
import { type SaidStatus, stateOfPhrase, wordOfState } from './checklist-words.ts';
import type { Box } from './markdown-blocks.ts';
import type { Edit } from './text.ts';

export type Mark =
  | { kind: 'box'; start: number; end: number }
  /** A word with its place; `was`: the word before ours, as the comment behind it remembers. */
  | { kind: 'word'; start: number; end: number; text: string; was: string | null }
  /** The criteria of a heading, done when all are ticked; and the tick behind the heading, if any. */
  | { kind: 'boxes'; boxes: Box[]; tick: Tick };

/** ` ✅` behind a heading: from `start` to `end`, which are one place where there is none. */
export interface Tick {
  start: number;
  end: number;
}

/** What a mark says. `unknown`: a sign that nobody knows, which counts as open. */
export interface Said {
  status: TaskStatus;
  note?: 'unknown' | 'blocked';
}

/** The signs and words one file uses, so that what is written looks like what is there. */
export interface MarkStyle {
  /** Signs its legend explains, by the sign in small letters. */
  legend: Legend;
  /** The words that stand in its marks, by status, in file order. */
  words: ReadonlyMap<TaskStatus, readonly string[]>;
}

/** A legend: each sign as it is written there, and what it means. */
export type Legend = ReadonlyMap<string, { sign: string; status: SaidStatus }>;

const STATUS_OF_SIGN = new Map<string, SaidStatus>([
  ...Object.entries(MARKERS).map(([status, marker]): [string, SaidStatus] => [
    marker.slice(1, -1).trim().toLowerCase(),
    status as TaskStatus,
  ]),
  ['b', 'blocked'],
]);

/** What stands between brackets as a status; `unknown` for a sign nobody knows; null: no checkbox. */
export function statusOfMarker(inner: string): TaskStatus | 'unknown' | null {
  const said = readSign(inner);
  return said === null ? null : said.note === undefined ? said.status : 'unknown';
}

const NO_LEGEND: Legend = new Map();

/** What the sign in a checkbox says; null: the brackets are no checkbox. */
export function readSign(inner: string, legend: Legend = NO_LEGEND): Said | null {
  const sign = inner.trim().toLowerCase();
  const known = (legend.size > 0 ? legend.get(sign)?.status : undefined) ?? STATUS_OF_SIGN.get(sign);
  if (known !== undefined)
    return known === 'blocked' ? { status: 'todo', note: 'blocked' } : { status: known };
  // One sign, which may be an emoji of several code points; words and numbers are links or footnotes.
  const one = /^[^\p{L}\p{N}\s]{1,8}$/u.test(sign) && [...sign.replace(/[\ufe0f\u200d]/g, '')].length <= 2;
  return one ? { status: 'todo', note: 'unknown' } : null;
}

const EXPLAINED = /`?\[([^[\]\n]{0,4})\]`?\s*(?:[=:–—→-]+\s*)?(?:\*\*)?([\p{L}][\p{L}' _-]{1,24}[\p{L}])/gu;

/** Takes the signs that a line of a legend explains: `[~] in progress`, `- [!] Blocked`. */
export function readLegendLine(
  text: string,
  legend: Map<string, { sign: string; status: SaidStatus }>,
): void {
  for (const [, sign, words] of text.slice(0, 400).matchAll(EXPLAINED)) {
    const state = stateOfPhrase(words!);
    const key = sign!.trim().toLowerCase();
    // A blank box is open and a crossed one done, whatever a legend says.
    if (state !== null && key !== '' && key !== 'x') legend.set(key, { sign: sign!, status: state.status });
  }
}

/** A word that says a status, found at the beginning of a value: `⬜ Not started (waits)`. */
export interface StatusWord {
  said: Said;
  language: number;
  /** Offsets in the value. */
  start: number;
  end: number;
  was: string | null;
}

const WAS = /^\s*<!-- was: (.{1,80}?) -->/;

/** Reads the value of "Status:" or of a status column; null where it names no state. */
export function readStatusWord(value: string): StatusWord | null {
  const match = /^([\s*_`]*)(.*?)(?=[\s*_`]*(?:$|<!--|[(;,]|\s[–—-]+\s))/u.exec(value.slice(0, 200));
  if (match === null || match[2] === '') return null;
  const start = match[1]!.length;
  const text = match[2]!;
  const box = /^\[([^[\]]{0,4})\]\s*/.exec(text);
  const sign = box === null ? null : readSign(box[1]!);
  const rest = box === null ? text : text.slice(box[0].length);
  const state = rest === '' ? stateOfEmoji(text) : (stateOfPhrase(rest) ?? stateOfEmoji(rest));
  const said =
    sign ??
    (state &&
      (state.status === 'blocked'
        ? ({ status: 'todo', note: 'blocked' } as const)
        : { status: state.status }));
  if (said === null) return null;
  const end = start + text.length;
  const was = WAS.exec(value.slice(end));
  return {
    said,
    language: state?.language ?? 0,
    start,
    end: was === null ? end : end + was[0].length,
    was: was?.[1] ?? null,
  };
}

function stateOfEmoji(text: string): { status: SaidStatus; language: number } | null {
  const status = EMOJI.get(text.replaceAll('\ufe0f', ''));
  return status === undefined ? null : { status, language: 0 };
}

const EMOJI = new Map<string, SaidStatus>([
  ['✅', 'done'],
  ['☑', 'done'],
  ['✔', 'done'],
  ['⬜', 'todo'],
  ['☐', 'todo'],
  ['🔄', 'doing'],
  ['🚧', 'doing'],
  ['⛔', 'blocked'],
]);

/** The edits after which the mark says `to`; none where it says so already. */
export function markEdits(mark: Mark, from: TaskStatus, to: TaskStatus, style: MarkStyle): Edit[] {
  if (from === to) return [];
  switch (mark.kind) {
    case 'box':
      return [{ start: mark.start, end: mark.end, text: signOf(to, style) }];
    case 'word':
      return [{ start: mark.start, end: mark.end, text: newWord(mark, from, { to, style }) }];
    case 'boxes':
      return boxesEdits(mark, from, to);
  }
}

function signOf(status: TaskStatus, { legend }: MarkStyle): string {
  if (status !== 'done' && status !== 'todo') {
    for (const said of legend.values()) if (said.status === status) return said.sign;
  }
  return MARKERS[status].slice(1, -1);
}

/**
 * All boxes are ticked, or those that were ticked with all. Where some were ticked before, ours are
 * written `[X]`, so that they alone are opened again.
 */
function boxesEdits(mark: Mark & { kind: 'boxes' }, from: TaskStatus, to: TaskStatus): Edit[] {
  const { boxes, tick } = mark;
  if (to === 'done') {
    if (boxes.length === 0) return [{ ...tick, text: ' ✅' }];
    const open = boxes.filter((box) => !isTicked(box));
    const sign = open.length < boxes.length ? 'X' : 'x';
    return open.map(({ start, end }) => ({ start, end, text: sign }));
  }
  if (from !== 'done') return [];
  const edits: Edit[] = tick.end > tick.start ? [{ ...tick, text: '' }] : [];
  if (boxes.length === 0 || boxes.some((box) => !isTicked(box))) return edits;
  const ours = boxes.filter((box) => box.inner.trim() === 'X');
  const opened = ours.length > 0 ? ours : boxes;
  return [...edits, ...opened.map(({ start, end }) => ({ start, end, text: ' ' }))];
}

/** True for a criterion that is ticked. */
export function isTicked(box: Box): boolean {
  return box.inner.trim().toLowerCase() === 'x';
}

function newWord(
  mark: Mark & { kind: 'word' },
  from: TaskStatus,
  { to, style }: { to: TaskStatus; style: MarkStyle },
): string {
  const { text, was } = mark;
  if (was !== null && readStatusWord(was)?.said.status === to) return was;
  const word = usedWord(to, style) ?? spelledLike(text, to);
  const others = { ...style, words: without(style.words, from, text) };
  const back = usedWord(from, others) ?? spelledLike(word, from);
  // Whoever opens the task again finds the word that stood here, also where no other task uses it.
  return back === text || from === 'done' || /--|>/.test(text) ? word : `${word} <!-- was: ${text} -->`;
}

function usedWord(status: TaskStatus, { words }: MarkStyle): string | undefined {
  return words.get(status)?.[0];
}

function without(
  words: MarkStyle['words'],
  status: TaskStatus,
  text: string,
): Map<TaskStatus, readonly string[]> {
  const list = [...(words.get(status) ?? [])];
  const at = list.indexOf(text);
  if (at !== -1) list.splice(at, 1);
  return new Map(words).set(status, list);
}

/** The usual word for a status, in the language, the case and with the signs of another. */
function spelledLike(model: string, status: TaskStatus): string {
  const word = wordOfState(status, readStatusWord(model)?.language ?? 0);
  if (/^\[[^[\]]*\]$/.test(model)) return MARKERS[status];
  if (EMOJI.has(model.replaceAll('\ufe0f', '')))
    return status === 'done' ? '✅' : status === 'todo' ? '⬜' : word;
  const letters = model.replace(/[^\p{L}]/gu, '');
  const cased =
    letters.length > 1 && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
      ? word.toUpperCase()
      : /^[^\p{L}]*\p{Lu}/u.test(model)
        ? word[0]!.toUpperCase() + word.slice(1)
        : word;
  const spelled = /[\p{L}][_-][\p{L}]/u.test(model)
    ? cased.replaceAll(' ', model.includes('_') ? '_' : '-')
    : cased;
  const box = /^\[[^[\]]*\]\s+/.test(model);
  return box ? `${MARKERS[status]} ${spelled}` : spelled;
}
