/**
 * The items of one array, found by going along the text only as far as the one that is asked for. One
 * story of thousands is marked at a time, and nothing behind it need be looked at.
 */
import { type JsonNode, keyAt, nodeAt, skipNested, skipString } from './json-tree.ts';

/**
 * Answers the item at an index of the array that these keys lead to. Of a text that is known to be JSON in
 * which no key stands twice, so that the first of a name is the one that counts. Quick in rising order.
 */
export function itemsAlong(text: string, keys: readonly string[]): (index: number) => JsonNode | undefined {
  let at: number | undefined = pastGap(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  for (const key of keys) at = at === undefined ? undefined : memberAt(text, at, key);
  const array = at;
  if (array === undefined || text.charCodeAt(array) !== 0x5b) return () => undefined;
  let passed = 0;
  let next = pastGap(text, array + 1);
  return (index) => {
    if (index < passed) {
      passed = 0;
      next = pastGap(text, array + 1);
    }
    for (; text.charCodeAt(next) !== 0x5d; passed++) {
      if (passed === index) return nodeAt(text, next);
      next = pastGap(text, pastValue(text, next));
    }
    return undefined;
  };
}

/** Where the value of that key stands in what begins here; undefined where that is no object or lacks it. */
function memberAt(text: string, start: number, wanted: string): number | undefined {
  if (text.charCodeAt(start) !== 0x7b) return undefined;
  for (let at = pastGap(text, start + 1); text.charCodeAt(at) !== 0x7d; ) {
    const { key, end } = keyAt(text, at);
    const value = pastGap(text, end);
    if (key === wanted) return value;
    at = pastGap(text, pastValue(text, value));
  }
  return undefined;
}

function pastValue(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === 0x22) return skipString(text, start);
  if (code === 0x7b || code === 0x5b) return skipNested(text, start);
  let at = start;
  while (!isGap(text.charCodeAt(at)) && !isClosing(text.charCodeAt(at)) && at < text.length) at += 1;
  return at;
}

/** Behind blanks and what parts one member from the next. */
function pastGap(text: string, start: number): number {
  let at = start;
  while (isGap(text.charCodeAt(at))) at += 1;
  return at;
}

const isGap = (code: number) => code <= 0x20 || code === 0x2c || code === 0x3a;
const isClosing = (code: number) => code === 0x5d || code === 0x7d;
