import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keeper } from './kept.ts';

test('little output is kept whole, in head, tail and text', () => {
  const kept = keeper(10);
  kept.add(Buffer.from('héllo'));
  expect(kept.read()).toEqual({ head: 'héllo', tail: 'héllo', text: 'héllo', bytes: 6 });
});

test('much output keeps its two ends and tells the gap', () => {
  const kept = keeper(3);
  for (const piece of ['abc', 'defgh', 'xyz']) kept.add(Buffer.from(piece));
  expect(kept.read()).toEqual({
    head: 'abc',
    tail: 'xyz',
    text: 'abc\n[... 5 bytes left out ...]\nxyz',
    bytes: 11,
  });
});

test('cut code points are left out at both ends', () => {
  const kept = keeper(4);
  kept.add(Buffer.from('a€€€b'));
  expect(kept.read()).toMatchObject({ head: 'a€', tail: '€b' });
  const cut = keeper(3);
  cut.add(Buffer.from('a€€€b'));
  expect(cut.read()).toMatchObject({ head: 'a', tail: 'b' });
});

test('however the bytes come, what is kept is the same', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 })),
      fc.integer({ min: 0, max: 30 }),
      (pieces, size) => {
        const whole = Buffer.concat(pieces);
        const once = keeper(size);
        once.add(whole);
        const often = keeper(size);
        for (const piece of pieces) often.add(piece);
        expect(often.read()).toEqual(once.read());
        expect(often.count()).toBe(whole.length);
        if (whole.length <= 2 * size) expect(often.read().text).toBe(whole.toString('utf8'));
      },
    ),
  );
});

test('what is kept does not depend on how the buffers grew', () => {
  const whole = Buffer.from(Array.from({ length: 60_000 }, (_, n) => 97 + ((n * 7) % 26)));
  for (const size of [5_000, 10_000, 29_999, 30_000, 70_000]) {
    const once = keeper(size);
    once.add(whole);
    const often = keeper(size);
    for (let at = 0; at < whole.length; at += 1_777) often.add(whole.subarray(at, at + 1_777));
    expect(often.read()).toEqual(once.read());
    expect(often.read().head).toBe(whole.toString('utf8', 0, size));
    expect(often.read().tail).toBe(whole.toString('utf8', Math.max(0, whole.length - size)));
  }
});
