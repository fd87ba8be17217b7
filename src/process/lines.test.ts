import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineSplitter } from './lines.ts';

function split(pieces: Uint8Array[], maxLineBytes = 1000): string[] {
  const lines: string[] = [];
  const splitter = lineSplitter(maxLineBytes, (line) => lines.push(line));
  for (const piece of pieces) splitter.add(piece);
  splitter.end();
  return lines;
}

test('lines end with LF or CRLF and the last one needs no end', () => {
  expect(split([Buffer.from('a\r\n\nb\rc\nd')])).toEqual(['a', '', 'b\rc', 'd']);
  expect(split([Buffer.from('a\n')])).toEqual(['a']);
  expect(split([])).toEqual([]);
});

test('a long line is cut at a whole code point and tells what was dropped', () => {
  expect(split([Buffer.from('a€€'), Buffer.from('€\nb')], 5)).toEqual(['a€ [... 5 bytes dropped]', 'b']);
});

test('however the bytes are cut into pieces, the lines are the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.integer({ min: 1, max: 7 })), (text, sizes) => {
      const whole = Buffer.from(text.replaceAll('\r', ''));
      const pieces: Uint8Array[] = [];
      let from = 0;
      for (const size of sizes) {
        pieces.push(whole.subarray(from, from + size));
        from += size;
      }
      pieces.push(whole.subarray(from));
      const expected = whole.toString('utf8').split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(split(pieces, 10_000)).toEqual(expected);
    }),
  );
});

test('any bytes are taken within the bound', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 60 })),
      fc.integer({ min: 1, max: 20 }),
      (pieces, bound) => {
        for (const line of split(pieces, bound)) expect(line.length).toBeLessThan(bound + 40);
      },
    ),
  );
});
