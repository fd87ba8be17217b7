/** Whatever bytes are signed, they are read as a word or refused with a reason, and never as more than was said. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWord, SAYABLE } from './webhook-word.ts';

test('any text, and any JSON of known keys, is a word of a named person or is refused', () => {
  const field = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom<string>(...SAYABLE, 'q1'),
    fc.integer(),
    fc.constant(null),
  );
  const keys = ['id', 'question', 'text', 'option', 'from', 'type', 'target', 'urgent', '__proto__'];
  const body = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.dictionary(fc.constantFrom(...keys), field).map((fields) => JSON.stringify(fields)),
    fc
      .record({ type: fc.constantFrom(...SAYABLE), text: field, from: field })
      .map((fields) => JSON.stringify(fields)),
  );
  let words = 0;
  fc.assert(
    fc.property(body, (text) => {
      const read = readWord(text);
      if ('wrong' in read) {
        expect(read.wrong).not.toBe('');
        return;
      }
      words += 1;
      expect([...SAYABLE, 'ANSWER']).toContain(read.spoken.type);
      expect(read.spoken.from).toMatch(/^webhook \(\S(.{0,79})\)$/u);
    }),
    { numRuns: 2_000 },
  );
  expect(words).toBeGreaterThan(10);
});
