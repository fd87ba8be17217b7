/** Marks of git, read: what of a settled file may be new, and what must stand as it was. */
import { describe, expect, test } from 'vitest';
import { readConflicted, unsettled } from './hunks.ts';

const base = 'a'.repeat(40);
const tip = 'b'.repeat(40);
const file = (...lines: string[]) => `${lines.join('\n')}\n`;
const conflict = (ours: string, theirs: string, name = '') => [
  `<<<<<<< ${base}${name}`,
  ours,
  `||||||| ${'c'.repeat(40)}`,
  'was',
  '=======',
  theirs,
  `>>>>>>> ${tip}${name}`,
];
const read = (text: string) => readConflicted(text, { base, tip });
const TWO = read(file('head', ...conflict('1', '2'), 'middle', ...conflict('3', '4', ':old.txt'), 'tail'))!;

test('a file without marks of these two commits holds no conflict of lines', () => {
  expect(read('a\nb\n')).toBeNull();
  expect(read(file('<<<<<<< HEAD', 'a', '=======', 'b', '>>>>>>> other'))).toBeNull();
});

test('what stands around the conflicts is told from what stands in them', () => {
  expect(TWO.outside).toEqual([['head'], ['middle'], ['tail', '']]);
  expect(TWO.inside).toHaveLength(2);
});

describe('a settled file', () => {
  test.each([
    ['both sides', file('head', '1', '2', 'middle', '3', '4', 'tail')],
    ['neither side', file('head', 'middle', 'tail')],
    ['other words', file('head', 'one and two', 'middle', 'middle', '34', 'tail')],
  ])('may hold %s', (_, text) => expect(unsettled(TWO, text)).toBeNull());

  test.each([
    ['a conflict left as it was', file('head', ...conflict('1', '2'), 'middle', '3', 'tail'), 'marks'],
    ['one mark left', file('head', '1', '=======', '2', 'middle', '3', 'tail'), 'marks'],
    ['marks by other names', file('head', '1', 'middle', '>>>>>>> theirs', 'tail'), 'marks'],
    ['a line above it changed', file('HEAD', '1', 'middle', '3', 'tail'), 'outside'],
    ['a line between them gone', file('head', '1', '3', 'tail'), 'outside'],
    ['a line added behind the end', file('head', '1', 'middle', '3', 'tail', 'more'), 'outside'],
    ['its last line end gone', file('head', '1', 'middle', '3', 'tail').trimEnd(), 'outside'],
    ['nothing', '', 'outside'],
  ])('may not have %s', (_, text, why) => expect(unsettled(TWO, text)).toBe(why));

  test('is there', () => expect(unsettled(TWO, null)).toBe('gone'));
});

test('headings underlined with equal signs are no marks', () => {
  const text = file('Title', '=======', ...conflict('A', 'B'), 'end');
  const titled = read(text.replace('\nA\n', '\nA\n=======\n'))!;
  expect(unsettled(titled, file('Title', '=======', 'A', '=======', 'end'))).toBeNull();
  expect(unsettled(titled, file('Title', '=======', 'A', '=======', '=======', 'end'))).toBe('marks');
});

test('a file may be nothing but a conflict, and end with its lines as Windows ends them', () => {
  const all = read(conflict('1', '2').join('\r\n'))!;
  expect(unsettled(all, '1\r\n2')).toBeNull();
  expect(unsettled(all, `1\r\n=======\r\n2`)).toBe('marks');
});
