/** How a problem is told. */
import { expect, test } from 'vitest';
import { placedWhat, problemText } from './problem.ts';

const told = (what: string, at?: string) => placedWhat({ what, ...(at === undefined ? {} : { at }) });

test('a place stands in front, and a name that begins the sentence is not told twice', () => {
  expect(told('nope.md is not there.', 'nope.md')).toBe('nope.md is not there.');
  expect(told('tasks.json holds no task.', 'tasks.json:3')).toBe('tasks.json:3 holds no task.');
  expect(told('a task has no id', 'tasks.json:3:7')).toBe('tasks.json:3:7: a task has no id');
  expect(told('a.mdx is not there.', 'a.md')).toBe('a.md: a.mdx is not there.');
  expect(told('It broke.')).toBe('It broke.');
});

test('a problem is three lines', () => {
  expect(problemText({ code: 'x', what: 'a.md is a folder.', why: 'So.', fix: 'Do.', at: 'a.md' })).toBe(
    'a.md is a folder.\n  why: So.\n  fix: Do.',
  );
});
