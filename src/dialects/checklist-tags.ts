/**
 * States said within a title: `[DONE] Title`, `Title (in progress)`, `Title — DONE`, `✅ Title` and
 * `~~Title~~`. They are no part of the title; a title keeps its id whatever state stands beside it.
 */
import { MEMORY, type Said, STATE_EMOJI, saidOf, stateOfEmoji, wordPlace } from './checklist-marks.ts';
import { type NamedState, stateOfTag } from './state-words.ts';

/** A state beside or around a title, with its place. */
export interface TitleTag {
  /** The text without it. */
  title: string;
  said: Said;
  /** A word to be replaced, a tick to be taken away with the blank beside it, or a line through the title. */
  kind: 'word' | 'tick' | 'strike';
  /** Offsets in the text: of the word, of the tick with its blank, of all that is struck through. */
  start: number;
  end: number;
  /** Of a word, without the comment that remembers another. */
  text: string;
  was: string | null;
}

const EMOJI_FIRST = new RegExp(`^(${STATE_EMOJI})${MEMORY}\\s+(?=\\S)`, 'u');
const EMOJI_LAST = new RegExp(`\\s+(${STATE_EMOJI})${MEMORY}$`, 'u');
/** All of the title, or all behind its id: what is struck out of a sentence is no state. */
const STRUCK = /^(\**|\**[A-Za-z][\w.-]*\d[\w.-]*:?\**:?\s+)~~(?=\S)([^~]+)~~(\**)$/;

/** Reads the outermost state off a title; null where it says none. Most titles say none, so little is looked at. */
export function readTag(text: string): TitleTag | null {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  const stars = first === STAR || last === STAR;
  if (stars || last === TILDE) {
    const struck = strikeIn(text);
    if (struck !== null) return struck;
  }
  if (isSign(first)) {
    const found = emojiIn(text, EMOJI_FIRST);
    if (found !== null) return found;
  }
  if (isSign(last) || last === GREATER) {
    const found = emojiIn(text, EMOJI_LAST);
    if (found !== null) return found;
  }
  return (
    (stars || isOpening(first) ? leadingIn(text) : null) ??
    (stars || isClosing(last) ? trailingIn(text) : null) ??
    dashIn(text)
  );
}

const STAR = 0x2a;
const TILDE = 0x7e;
const GREATER = 0x3e;
/** Emoji, and the mark behind them that makes them coloured. */
const isSign = (code: number): boolean => code > 0x2000 && (code < 0x3000 || code >= 0xd800);
const isOpening = (code: number): boolean => code === 0x5b || code === 0x28 || code === 0xff08;
const isClosing = (code: number): boolean => code === 0x5d || code === 0x29 || code === 0xff09;

function strikeIn(text: string): TitleTag | null {
  const match = STRUCK.exec(text);
  if (match === null) return null;
  const [all, open, inner, close] = match;
  const title = `${open}${inner}${close}${text.slice(all.length)}`;
  const start = open!.length;
  const end = all.length - close!.length;
  return { title, said: { status: 'done' }, kind: 'strike', start, end, text: inner!, was: null };
}

function emojiIn(text: string, pattern: RegExp): TitleTag | null {
  const match = pattern.exec(text);
  const state = match === null ? null : stateOfEmoji(match[1]!);
  if (match === null || state === null) return null;
  const [all, emoji, was] = match;
  const whole = { start: match.index, end: match.index + all.length };
  const title = text.slice(0, whole.start) + text.slice(whole.end);
  const said = saidOf(state.status);
  if (state.status === 'done' && was === undefined)
    return { title, said, kind: 'tick', ...whole, text: emoji!, was: null };
  const start = match.index + all.indexOf(emoji!);
  const end = start + all.trim().length;
  return { title, said, kind: 'word', start, end, text: emoji!, was: was ?? null };
}

const LEADING = /^\**[[(（]([^[\]()（）]{1,160})[\])）]\**\s?[:：]?\s+(?=\S)/;

function leadingIn(text: string): TitleTag | null {
  const match = LEADING.exec(text);
  if (match === null) return null;
  const at = match[0].indexOf(match[1]!);
  return tagOf(match[1]!, at, text.slice(match[0].length));
}

function trailingIn(text: string): TitleTag | null {
  let end = text.length;
  while (text.charCodeAt(end - 1) === STAR) end -= 1;
  if (!isClosing(text.charCodeAt(end - 1))) return null;
  let open = end - 2;
  while (open > 0 && !isOpening(text.charCodeAt(open))) open -= 1;
  const inner = text.slice(open + 1, end - 1);
  if (inner.length > 160 || (/\d/.test(inner) && !inner.includes('<!--'))) return null;
  let from = open;
  while (text.charCodeAt(from - 1) === STAR) from -= 1;
  return /\s/.test(text[from - 1] ?? '') ? tagOf(inner, open + 1, text.slice(0, from)) : null;
}

/** Priorities and counts stand in brackets as well. */
function tagOf(inner: string, at: number, title: string): TitleTag | null {
  if (/\d/.test(inner) && !inner.includes('<!--')) return null;
  const place = wordPlace(inner);
  const state = place === null || place.end < inner.trimEnd().length ? null : stateOfTag(place.text);
  if (place === null || state === null) return null;
  return wordTag(title, state, { ...place, start: at + place.start, end: at + place.end });
}

const DASHED = /\s[–—-]+\s\**(\p{L}[\p{L} ]{1,20}?)(?:\s?<!--.{1,100}?-->)?\**$/u;

function dashIn(text: string): TitleTag | null {
  const tail = text.slice(-24);
  const mayBe = tail.includes('- ') || tail.includes('— ') || tail.includes('– ');
  const match = mayBe || text.endsWith('-->') ? DASHED.exec(text) : null;
  const word = match?.[1] ?? '';
  // In small letters and behind a hyphen it is as well the end of the sentence.
  const clear = /^\s[–—]/.test(match?.[0] ?? '') || word === word.toUpperCase();
  const state = match === null || !clear ? null : stateOfTag(word);
  if (match === null || state === null) return null;
  const start = match.index + match[0].indexOf(word);
  const place = wordPlace(text.slice(start));
  if (place === null) return null;
  const shifted = { ...place, start: start + place.start, end: start + place.end };
  return wordTag(text.slice(0, match.index), state, shifted);
}

type Place = Pick<TitleTag, 'start' | 'end' | 'text' | 'was'>;

function wordTag(title: string, state: NamedState, { start, end, text, was }: Place): TitleTag {
  return { title: title.trim(), said: saidOf(state.status), kind: 'word', start, end, text, was };
}

/** The title without any of its states, and the outermost of them. */
export function withoutTags(text: string): { title: string; tag: TitleTag | null } {
  const tag = readTag(text);
  if (tag === null) return { title: text, tag: null };
  let title = tag.title.trim();
  // `~~Title~~ ✅`: two signs for one thing.
  for (let inner = readTag(title); inner !== null; inner = readTag(title)) title = inner.title.trim();
  return { title, tag };
}
