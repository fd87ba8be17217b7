/** A cut never leaves half a word. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginningOf, endOf } from './cut.ts';

test('whatever the text and the bound, every word that is left is whole, and no more is left than asked for', () => {
  const piece = fc.constantFrom('a', 'secret-word', ' ', '\n', 'xy', '\t');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 1, max: 60 }), (pieces, most) => {
      const text = pieces.join('');
      const words = new Set(text.split(/\s+/));
      for (const cut of [endOf(text, most), beginningOf(text, most)]) {
        expect(cut.length).toBeLessThanOrEqual(most);
        for (const word of cut.split(/\s+/)) if (word !== '') expect(words).toContain(word);
      }
      expect(text.endsWith(endOf(text, most))).toBe(true);
      expect(text.startsWith(beginningOf(text, most))).toBe(true);
    }),
  );
});

test('lines are kept whole where there are lines', () => {
  expect(endOf('first line\nsecond line\nthird', 14)).toBe('third');
  expect(endOf('first line\nsecond line\nthird', 17)).toBe('second line\nthird');
  expect(beginningOf('first line\nsecond line\nthird', 15)).toBe('first line');
  expect(endOf('one two three', 9)).toBe('two three');
  expect(endOf('onewordonly', 4)).toBe('');
});
