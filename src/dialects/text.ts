/**
 * Positions in a text and edits by position. Every writer of this room changes a user's file through
 * a list of edits, so that bytes nobody meant to change cannot change.
 */

/** Replaces `[start, end)` by `text`; an insertion has `start === end`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * The text with all edits made. Edits may come in any order; insertions at one place keep theirs, and
 * stand before what is replaced there.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = edits.map((edit, at) => ({ edit, at }));
  sorted.sort((a, b) => a.edit.start - b.edit.start || rank(a.edit) - rank(b.edit) || a.at - b.at);
  let result = '';
  let from = 0;
  for (const { edit } of sorted) {
    if (edit.start < from) throw new Error(`overlapping edits at ${edit.start}`);
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + text.slice(from);
}

const rank = ({ start, end }: Edit): number => (start === end ? 0 : 1);

/** The line of an offset, from 1. A carriage return by itself ends a line as well. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  const head = text.slice(0, offset);
  return head.includes('\r') ? line + (head.match(/\r(?!\n)/g)?.length ?? 0) : line;
}

/** A carriage return that no line feed follows: the line end of machines long gone. */
export const LONE_RETURN = /\r(?!\n)/;

/** The offset behind the line that holds `from`, with its line break. */
export function lineEndAfter(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  const end = feed === -1 ? text.length : feed + 1;
  const back = text.slice(from, end).indexOf('\r');
  if (back === -1) return end;
  return from + back + (text[from + back + 1] === '\n' ? 2 : 1);
}

/** The line ending the text uses; `\n` for a text without one. */
export function lineEnding(text: string): '\r\n' | '\n' | '\r' {
  const at = text.indexOf('\n');
  if (at === -1) return text.includes('\r') ? '\r' : '\n';
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}

/** 6 letters and digits of a 32-bit FNV-1a hash: stable over runs and machines, not a secret. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(36).padStart(7, '0').slice(-6);
}
