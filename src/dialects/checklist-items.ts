/**
 * What stands for a checkbox in a list: brackets with a sign or a word, in plans without any brackets a
 * sign such as ⬜ in front, and in plans without either the number of a step, which is ticked behind.
 */
import {
  type Legend,
  type Mark,
  MEMORY,
  readSign,
  type Said,
  STATE_EMOJI,
  saidOf,
  stateOfEmoji,
} from './checklist-marks.ts';
import { withoutTags } from './checklist-tags.ts';
import type { Block, Box } from './markdown-blocks.ts';
import { stateOfTag } from './state-words.ts';

/** What the tasks of a file's lists begin with; the first of these that a file has rules all of it. */
export type ListForm = 'boxes' | 'signs' | 'numbers';

interface Marked {
  said: Said;
  mark: Mark;
}

/** `[x]`, `[DONE]`, `[in progress]` as what they say, with the mark; null for brackets that say nothing. */
export function readBoxWord({ inner, start, end, memory }: Box, legend: Legend): Marked | null {
  const sign = memory === undefined ? readSign(inner, legend) : null;
  if (sign !== null) return { said: sign, mark: { kind: 'box', start, end } };
  const text = inner.trim();
  const state = text.length < 2 ? null : stateOfTag(text);
  if (state === null) return null;
  const from = start + inner.indexOf(text);
  const to = memory?.end ?? from + text.length;
  return {
    said: saidOf(state.status),
    mark: { kind: 'word', start: from, end: to, text, was: memory?.was ?? null },
  };
}

const SIGN = new RegExp(`^((${STATE_EMOJI})${MEMORY})\\s+(?=\\S)`, 'u');

/** True for a bullet that shows by its sign that something is left to do. */
export function isOpenSign(text: string): boolean {
  return text.charCodeAt(0) > 0x2000 && /^(?:⬜|☐|🔲)\ufe0f?\s+\S/u.test(text);
}

/** The task that a list item without brackets is, in a file of that form; null for one that is none. */
export function readSignItem(
  block: Block & { kind: 'item' },
  form: Exclude<ListForm, 'boxes'>,
): (Marked & { title: string }) | null {
  return form === 'signs' ? signItem(block) : step(block);
}

function signItem({ text, at }: Block & { kind: 'item' }): (Marked & { title: string }) | null {
  const match = SIGN.exec(text);
  const [all, whole, sign, was] = match ?? [''];
  const state = sign === undefined ? null : stateOfEmoji(sign);
  if (state === null) return null;
  const mark: Mark = { kind: 'word', start: at, end: at + whole!.length, text: sign!, was: was ?? null };
  return { title: withoutTags(text.slice(all!.length)).title, said: saidOf(state.status), mark };
}

/** A numbered step is open, unless a tick or a line through it says that it is done. */
function step({ text, at, number }: Block & { kind: 'item' }): (Marked & { title: string }) | null {
  if (number === null || text === '') return null;
  const { title, tag } = withoutTags(text);
  const place = { start: at + (tag?.start ?? text.length), end: at + (tag?.end ?? text.length) };
  const said = tag?.said ?? { status: 'todo' };
  if (tag?.kind === 'word') {
    const mark: Mark = { kind: 'word', ...place, text: tag.text, was: tag.was };
    if (stateOfEmoji(tag.text) !== null) mark.fleeting = true;
    return { title, said, mark };
  }
  if (tag?.kind === 'strike') return { title, said, mark: { kind: 'strike', ...place } };
  return { title, said, mark: { kind: 'boxes', boxes: [], tick: place } };
}
