import { expect, test } from 'vitest';
import { isBookName } from './bookkeeping.ts';

const own = (name: string, words = 'Add a parser') => isBookName(name, () => words);

test('notes, lists of things to do and logs are no work by themselves', () => {
  for (const name of [
    'NOTES.md',
    'TODO.md',
    'notes/n.md',
    'progress.md',
    'ralph/progress.txt',
    'agent.log',
    'logs/a.txt',
    '.ralph/x',
  ])
    expect(own(name), name).toBe(true);
  for (const name of [
    'src/notes.ts',
    'docs/notes.md',
    'README.md',
    'src/TODO.md',
    'notes/deep/er.md',
    'logs/rotate.ts',
  ])
    expect(own(name), name).toBe(false);
});

test('a file of notes that a task asks for is work; the loop’s own never is', () => {
  expect(own('NOTES.md', 'Write release notes')).toBe(false);
  expect(own('notes/n.md', 'Fill in n.md')).toBe(false);
  expect(own('TODO.md', 'Collect every TODO of the code')).toBe(false);
  expect(own('progress.md', 'Write progress.md')).toBe(true);
});
