/** Texts that a chat can show: escaped, in parts, with nothing lost. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oneLine } from '../views/index.ts';
import { escapeHtml, plainOf, splitEscaped } from './telegram-text.ts';

/** Holds no half of a character. */
const isWhole = (text: string) => !/\p{Cs}/u.test(text);

const words = fc.string({ unit: 'binary', maxLength: 400 });
const nasty = fc
  .array(
    fc.constantFrom('&', '<', '>', '\n', ' ', 'a', '😀', '👨‍👩‍👧', '\u202e', '\ud83d', '\u0000', '&amp;'),
  )
  .map((all) => all.join(''));

describe('splitting', () => {
  test('the parts together are the whole text, and none is too long', () => {
    fc.assert(
      fc.property(fc.oneof(words, nasty), fc.integer({ min: 8, max: 60 }), (text, limit) => {
        const parts = splitEscaped(text, limit);
        expect(parts.join('')).toBe(escapeHtml(text));
        expect(parts.every((part) => part.length > 0 && part.length <= limit)).toBe(true);
      }),
    );
  });

  test('no part ends inside an entity or a character', () => {
    fc.assert(
      fc.property(nasty, fc.integer({ min: 8, max: 30 }), (text, limit) => {
        for (const part of splitEscaped(text, limit)) {
          expect(isWhole(part)).toBe(true);
          expect(part.replaceAll(/&(?:amp|lt|gt);/g, '')).not.toContain('&');
        }
      }),
    );
  });

  test('it is cut behind a line where that leaves no small rest, else behind a space', () => {
    expect(splitEscaped('one two three\nfour five', 18)).toEqual(['one two three\n', 'four five']);
    expect(splitEscaped('one two three', 10)).toEqual(['one two ', 'three']);
    expect(splitEscaped('', 10)).toEqual([]);
  });
});

test('what was escaped is the same text for people', () => {
  fc.assert(
    fc.property(words, (text) => {
      const clean = text.replace(/\p{Cs}/gu, '\ufffd').replace(/[\u0000-\u0008\u000b-\u001f]/g, '\ufffd');
      expect(plainOf(escapeHtml(text))).toBe(clean);
    }),
  );
});

test('one line is one line, and turns nothing around', () => {
  expect(oneLine('a\n\u202eb  c')).toBe('a b c');
  expect(isWhole(oneLine('😀'.repeat(10), 6))).toBe(true);
});
