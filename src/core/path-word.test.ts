import { expect, test } from 'vitest';
import { pathWord, pathWords } from './path-word.ts';

test('a name that is plain text is written as it is, also in other scripts and with blanks', () => {
  for (const name of ['src/a b.ts', 'größe.md', '読む.txt', "it's.txt"]) expect(pathWord(name)).toBe(name);
});

test('a name that a terminal would obey, or that ends the line, is written as git writes it', () => {
  expect(pathWord('a\u001b[31mred\u001b]0;title\u0007.txt')).toBe('"a\\033[31mred\\033]0;title\\a.txt"');
  expect(pathWord('two\nlines\t.txt')).toBe('"two\\nlines\\t.txt"');
  expect(pathWord('say "hi"\\.txt')).toBe('"say \\"hi\\"\\\\.txt"');
});

test('marks that hide or reorder text, and bytes that are none, are written as their bytes', () => {
  expect(pathWord('a\u202etxt.exe')).toBe('"a\\342\\200\\256txt.exe"');
  expect(pathWord('latin\udce9.txt')).toBe('"latin\\351.txt"');
});

test('of many names the first few are written, and how many more there are', () => {
  expect(pathWords(['a', 'b\n', 'c'], 2)).toBe('a, "b\\n" and 1 more');
});
