/** Patterns against texts, each way held against the plain meaning of it: every filling of what is open. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HOLE } from './shell-words.ts';
import { fits, mayFit, patternOf } from './wildcard.ts';

/** Whether two texts can be the same, where a star or a hole in either is anything. */
function canMeet(one: string, other: string): boolean {
  const [a, b] = [one[0], other[0]];
  if (a === undefined && b === undefined) return true;
  if (a === '*') return canMeet(one.slice(1), other) || (b !== undefined && canMeet(one, other.slice(1)));
  if (b === HOLE) return canMeet(one, other.slice(1)) || (a !== undefined && canMeet(one.slice(1), other));
  return a !== undefined && a === b && canMeet(one.slice(1), other.slice(1));
}

const of = (chars: string[], maxLength: number) =>
  fc.array(fc.constantFrom(...chars), { maxLength }).map((all) => all.join(''));

it('a text fits a pattern exactly when something in place of the stars makes it the text', () => {
  fc.assert(
    fc.property(of(['a', 'b', '*'], 6), of(['a', 'b'], 8), (pattern, text) => {
      expect(fits(patternOf(pattern), text)).toBe(canMeet(pattern, text));
    }),
    { numRuns: 3000 },
  );
});

it('a text with holes may fit exactly when some filling makes it fit', () => {
  fc.assert(
    fc.property(of(['a', 'b', '*'], 6), of(['a', 'b', HOLE], 6), (pattern, text) => {
      expect(mayFit(patternOf(pattern), text)).toBe(canMeet(pattern, text));
    }),
    { numRuns: 3000 },
  );
});

it('a word that may be nothing takes its space with it', () => {
  expect(mayFit(patternOf('git push'), `git ${HOLE} push`)).toBe(true);
  expect(mayFit(patternOf('git push'), `git ${HOLE} pull`)).toBe(false);
});
