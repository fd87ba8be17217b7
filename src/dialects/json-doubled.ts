/**
 * Keys that stand twice in one object. JSON parsers take the last without a word, so a person who reads
 * the first believes something else than every program does.
 */
import { type JsonNode, type JsonReading, skipString } from './json-tree.ts';
import { lineAt } from './text.ts';

/** A key that stood in the same object before. */
export interface DoubledKey {
  key: string;
  line: number;
  /** The line of the one before. */
  first: number;
  /** How many objects and arrays are around that object. */
  depth: number;
}

/** The first of such keys, at most 20, in the order of the file. The text is known to be JSON. */
export function doubledKeys(text: string, tree: JsonReading & { kind: 'tree' }): DoubledKey[] {
  // What is parsed has as many keys as the text has colons, unless some were swallowed. Most lists are
  // known by the quicker count already, which can only be too high.
  if (countKeyColons(text) === tree.keys || countColons(text) === tree.keys) return [];
  const found: DoubledKey[] = [];
  collect(text, tree.root, { depth: 0, found });
  return found;
}

const MOST = 20;

function collect(
  text: string,
  node: JsonNode,
  { depth, found }: { depth: number; found: DoubledKey[] },
): void {
  if (found.length >= MOST) return;
  const inside = { depth: depth + 1, found };
  if (node.kind === 'array') for (const item of node.items) collect(text, item, inside);
  if (node.kind !== 'object') return;
  const seen = new Map<string, number>();
  for (const { key, keyStart, value } of node.entries) {
    const before = seen.get(key);
    if (before !== undefined && found.length < MOST) {
      found.push({ key, line: lineAt(text, keyStart), first: lineAt(text, before), depth });
    }
    seen.set(key, keyStart);
    collect(text, value, inside);
  }
}

/** Colons behind a quote: all that follow a key, and some that stand in a string. */
function countKeyColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) <= 0x20) before -= 1;
    if (text.charCodeAt(before) === 0x22) count += 1;
  }
  return count;
}

/** Colons outside of strings. */
function countColons(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === 0x3a) count += 1;
    at = code === 0x22 ? skipString(text, at) : at + 1;
  }
  return count;
}
