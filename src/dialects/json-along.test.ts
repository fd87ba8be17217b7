import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemsAlong } from './json-along.ts';

const word = fc.string({ unit: 'binary', maxLength: 6 });
const list = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 6 });
const fields = fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
const indent = fc.constantFrom(undefined, 1, 2, '\t', '\r\n ');

/** The list stands under `key`, among other fields, in an object under `outer`. */
function textOf(list: unknown, [outer, key]: [string, string], around: object[], space?: string | number) {
  const [before, behind] = around;
  return JSON.stringify(
    { ...before, [outer]: { ...before, [key]: list, ...behind, [key]: list } },
    null,
    space,
  );
}

describe('an item of a long list', () => {
  it('is found where it stands, whatever stands around it', () => {
    fc.assert(
      fc.property(list, word, word, fc.tuple(fields, fields), indent, (items, outer, key, around, space) => {
        const text = textOf(items, [outer, key], around, space);
        const item = itemsAlong(text, [outer, key]);
        for (let index = 0; index < items.length; index++) {
          const node = item(index)!;
          expect(JSON.parse(text.slice(node.start, node.end))).toEqual(
            JSON.parse(JSON.stringify(items[index])),
          );
        }
        expect(item(items.length)).toBeUndefined();
        expect(item(0)).toEqual(itemsAlong(text, [outer, key])(0));
      }),
    );
  });

  it('is not there where the keys lead to no list', () => {
    const text = '\ufeff { "a": {"b": [1 , "]" ,{"c":"}"}, true]}, "n": -1.5e3 }';
    expect(itemsAlong(text, ['a', 'b'])(3)).toMatchObject({ kind: 'boolean', value: true });
    expect(itemsAlong(text, ['a', 'b'])(4)).toBeUndefined();
    for (const keys of [[], ['a'], ['b'], ['n'], ['n', 'b'], ['a', 'b', 'c']]) {
      expect(itemsAlong(text, keys)(0)).toBeUndefined();
    }
    expect(itemsAlong('[[1],[2]]', [])(1)).toMatchObject({ start: 5, end: 8 });
  });
});
