/** Windows cut before their output loses its secrets: none is halved, and everything else is cut as ever. */
import { expect, test } from 'vitest';
import { oneLine, plain } from './words.ts';

// The forms of a key, made up and in pieces.
const KEY = `${'gh'}p_${'a1B2c3D4e5F6'.repeat(3)}`;

test.each([oneLine, plain])('a run of characters that could be a secret goes as a whole', (cut) => {
  for (let max = 12; max < 11 + KEY.length; max++) {
    const shown = cut(`the token ${KEY} ${'was used '.repeat(20)}`, max);
    expect(shown).toBe('the token …');
  }
  expect(cut(`the token ${KEY} ${'was used '.repeat(20)}`, 60)).toContain(KEY);
});

test('words, paths and names are cut where they end up', () => {
  expect(oneLine('a'.repeat(50), 10)).toBe(`${'a'.repeat(9)}…`);
  expect(oneLine('src/some/long/path/of/a/file-of-mine.ts', 20)).toBe('src/some/long/path/…');
  expect(oneLine('漢'.repeat(50), 10)).toBe(`${'漢'.repeat(9)}…`);
});
