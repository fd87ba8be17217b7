import { expect, test } from 'vitest';
import { becameOf, follows, newSequel } from './sequel.ts';

const attempt = (iteration: number, agent: string, task: string | null) => ({
  session: 's',
  iteration,
  agent,
  task,
});

test('what was held against an attempt is told in the next prompt of its agent, or of its open task', () => {
  const sequel = newSequel();
  follows(sequel, attempt(1, 'a', 't1'), 'rejected');
  follows(sequel, attempt(2, 'a', 't2'), 'accepted');
  follows(sequel, attempt(3, 'b', 't1'), 'accepted');
  follows(sequel, attempt(4, 'b', 't3'), 'rejected');
  // By the same agent on another task, and by another agent on the same.
  expect(becameOf(sequel, attempt(1, 'a', 't1'))).toBe('told');
  expect(becameOf(sequel, attempt(3, 'b', 't1'))).toBe('told');
  // Accepted, and its agent had no attempt since.
  expect(becameOf(sequel, attempt(2, 'a', 't2'))).toBe('nobody');
  expect(becameOf(sequel, attempt(4, 'b', 't3'))).toBe('to_come');
});

test('another session has another sequel', () => {
  const sequel = newSequel();
  follows(sequel, attempt(1, 'a', 't1'), 'rejected');
  follows(sequel, { ...attempt(2, 'a', 't1'), session: 'later' }, 'rejected');
  expect(becameOf(sequel, attempt(1, 'a', 't1'))).toBe('to_come');
});
