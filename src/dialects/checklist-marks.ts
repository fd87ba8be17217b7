/**
 * Marks: where a Markdown plan says how far a task is, and how to say something else there. A mark is
 * the sign in a checkbox, the word behind "Status:" or in a table's column, the boxes of all criteria
 * below a heading, or a tick behind the heading. Nothing but the mark is ever written.
 */
import { MARKERS, type TaskStatus } from '../core/index.ts';
import type { Box } from './markdown-blocks.ts';
import { type NamedState, type SaidStatus, stateOfPhrase, wordOfState } from './state-words.ts';
import type { Edit } from './text.ts';

export type Mark =
  /** `struck`: the line through the title of an open box, by which it counts as cancelled. */
  | { kind: 'box'; start: number; end: number; struck?: Tick }
  /**
   * A word with its place; `was`: the word before ours, as the comment behind it remembers. `fleeting`:
   * once it says done it could be taken away instead of changed, so the comment always stands there.
   */
  | { kind: 'word'; start: number; end: number; text: string; was: string | null; fleeting?: true }
  /** The criteria of a heading, done when all are ticked; and the tick behind the heading, if any. */
  | { kind: 'boxes'; boxes: Box[]; tick: Tick }
  /** `~~Title~~`: from the first tilde to the last. */
  | { kind: 'strike'; start: number; end: number };

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

/** Where the word for a status stands in a value, and what the comment behind it remembers. */
export interface WordPlace {
  /** Offsets in the value, with that comment. */
  start: number;
  end: number;
  /** Without the comment. */
  text: string;
  was: string | null;
}

/** A word that says a status, found at the beginning of a value: `⬜ Not started (waits)`. */
export interface StatusWord extends WordPlace {
  said: Said;
  languages: readonly number[];
}

const WAS = /^\s*<!-- was:(?: (.{1,80}?))? -->/;

/** A comment that remembers a word, as the source of a pattern with the word as its group. */
export const MEMORY = '(?:\\s?<!-- was: (.{1,80}?) -->)?';

/** Where the value of "Status:" or of a status column has its word, whatever it says; null for no word. */
export function wordPlace(value: string): WordPlace | null {
  const match = /^([\s*_`]*)(.*?)(?=[\s*_`]*(?:$|<!--|[(;,]|\s[–—-]+\s))/u.exec(value.slice(0, 200));
  if (match === null || match[2] === '') return null;
  const start = match[1]!.length;
  const text = match[2]!;
  const end = start + text.length;
  const was = WAS.exec(value.slice(end));
  return { start, end: was === null ? end : end + was[0].length, text, was: was && (was[1] ?? '') };
}

/** Reads the value of "Status:" or of a status column; null where it names no state. */
export function readStatusWord(value: string): StatusWord | null {
  const place = wordPlace(value);
  if (place === null) return null;
  const { text } = place;
  const box = /^\[([^[\]]{0,4})\]\s*/.exec(text);
  const sign = box === null ? null : readSign(box[1]!);
  const rest = box === null ? text : text.slice(box[0].length);
  const state = rest === '' ? stateOfEmoji(text) : (stateOfPhrase(rest) ?? stateOfEmoji(rest));
  const said = sign ?? (state && saidOf(state.status));
  return said === null ? null : { ...place, said, languages: state?.languages ?? [] };
}

/** What a state says of its task: a blocked one is open. */
export function saidOf(status: SaidStatus): Said {
  return status === 'blocked' ? { status: 'todo', note: 'blocked' } : { status };
}

/** What the emoji says, as a state without a language; null for any other text. */
export function stateOfEmoji(text: string): NamedState | null {
  const status = EMOJI.get(text.replaceAll('\ufe0f', ''));
  return status === undefined ? null : { status, languages: [] };
}

const EMOJI = new Map<string, SaidStatus>([
  ['✅', 'done'],
  ['☑', 'done'],
  ['✔', 'done'],
  ['⬜', 'todo'],
  ['☐', 'todo'],
  ['🔲', 'todo'],
  ['📋', 'todo'],
  ['🔄', 'doing'],
  ['🚧', 'doing'],
  ['⏳', 'doing'],
  ['👀', 'review'],
  ['⛔', 'blocked'],
  ['⏸', 'blocked'],
  ['❌', 'todo'],
  ['💥', 'failed'],
  ['🚫', 'cancelled'],
]);

/** Any of these emoji, as the source of a pattern. */
export const STATE_EMOJI = `(?:${[...EMOJI.keys()].join('|')})\ufe0f?`;

/** The edits after which the mark says `to`; none where it says so already. */
export function markEdits(mark: Mark, from: TaskStatus, to: TaskStatus, style: MarkStyle): Edit[] {
  if (from === to) return [];
  switch (mark.kind) {
    case 'box':
      return boxEdits(mark, to, style);
    case 'strike':
      return to === 'done' || to === 'cancelled' ? [] : unstruck(mark);
    case 'word':
      return [{ start: mark.start, end: mark.end, text: newWord(mark, from, { to, style }) }];
    case 'boxes':
      return boxesEdits(mark, from, to);
  }
}

function boxEdits(mark: Mark & { kind: 'box' }, to: TaskStatus, style: MarkStyle): Edit[] {
  const { start, end, struck } = mark;
  const edit = { start, end, text: signOf(to, style) };
  return struck === undefined || to === 'done' || to === 'cancelled' ? [edit] : [edit, ...unstruck(struck)];
}

function unstruck({ start, end }: Tick): Edit[] {
  return [
    { start, end: start + 2, text: '' },
    { start: end - 2, end, text: '' },
  ];
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
  if (was !== null && statusBehind(was) === to) return was;
  const word = usedWord(text, to, style) ?? spelledLike(text, to, style);
  const others = { ...style, words: without(style.words, from, text) };
  const back = usedWord(word, from, others) ?? spelledLike(word, from, others);
  const known = back === text && mark.fleeting === undefined;
  if (known || from === 'done' || /--|>/.test(text)) return word;
  // Whoever opens the task again finds the word that stood here, also where no other task uses it.
  return text === '' ? `${word} <!-- was: -->` : `${word} <!-- was: ${text} -->`;
}

/** What a word says that a comment remembers; one that nobody knows counts as open, as it did. */
function statusBehind(was: string): TaskStatus {
  return readStatusWord(was)?.said.status ?? 'todo';
}

/** A word that stands in the file for the status, before all one of the same language. */
function usedWord(model: string, status: TaskStatus, { words }: MarkStyle): string | undefined {
  const sign = isEmoji(model);
  const used = (words.get(status) ?? []).filter(
    (word) => isEmoji(word) === sign && readStatusWord(word)?.said.status === status,
  );
  const languages = readStatusWord(model)?.languages ?? [];
  return (
    used.find((word) => readStatusWord(word)?.languages.some((one) => languages.includes(one))) ?? used[0]
  );
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
function spelledLike(model: string, status: TaskStatus, { words }: MarkStyle): string {
  const all = [...words.values()].flat();
  const said = readStatusWord(model);
  // Where nothing stands, or a word nobody knows, the file's other words say how it is done.
  const like = said === null ? (all.find((word) => /\p{L}/u.test(word)) ?? 'Done') : model;
  const word = wordOfState(status, readStatusWord(like)?.languages ?? [], all);
  if (/^\[[^[\]]*\]$/.test(like)) return MARKERS[status];
  if (isEmoji(like)) return emojiOf(status, like);
  const letters = like.replace(/[^\p{L}]/gu, '');
  const cased =
    letters.length > 1 && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
      ? word.toUpperCase()
      : /^[^\p{L}]*\p{Lu}/u.test(like)
        ? word[0]!.toUpperCase() + word.slice(1)
        : word;
  const spelled = /[\p{L}][_-][\p{L}]/u.test(like)
    ? cased.replaceAll(' ', like.includes('_') ? '_' : '-')
    : cased;
  const box = /^\[[^[\]]*\]\s+/.test(like);
  return box ? `${MARKERS[status]} ${spelled}` : spelled;
}

function isEmoji(text: string): boolean {
  return EMOJI.has(text.replaceAll('\ufe0f', ''));
}

function emojiOf(status: TaskStatus, model: string): string {
  const ballot = /^[☐☑]/u.test(model);
  if (ballot && (status === 'done' || status === 'todo')) return status === 'done' ? '☑' : '☐';
  return { done: '✅', todo: '⬜', doing: '🔄', review: '👀', failed: '💥', cancelled: '🚫' }[status];
}
