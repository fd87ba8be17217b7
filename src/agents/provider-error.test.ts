import { expect, it } from 'vitest';
import { classifyError } from './provider-error.ts';

const kind = (message: string, status: number | null = null, words: string[] = []) =>
  classifyError({ status, words, message, resetsAt: 5 }, 'Log in first.').kind;

it.each([
  ['unexpected status 401 Unauthorized: invalid x-api-key', 'auth'],
  ['exceeded retry limit, last status: 429 Too Many Requests', 'limit'],
  ['Selected model is at capacity. Please try a different model.', 'overload'],
  ['stream disconnected before completion', 'network'],
  ["Codex ran out of room in the model's context window.", 'prompt_too_long'],
  ['429 You exceeded your current quota, please check your plan and billing details.', 'billing'],
  ['429 You exceeded your current quota, please check your plan. Please retry in 20s', 'limit'],
  ['529 Overloaded', 'overload'],
  ["400 This model's maximum context length is 200000 tokens.", 'prompt_too_long'],
  ['it broke', 'crash'],
])('%s is %s', (message, expected) => {
  expect(kind(message)).toBe(expected);
});

it('goes by a fixed word before the status, and by the status before the sentence', () => {
  expect(kind('no', 429, ['insufficient_quota'])).toBe('billing');
  expect(kind('rate limit', 401)).toBe('auth');
});

it('says what a person does, and keeps a reset time for limits only', () => {
  const told = classifyError({ status: 401, words: [], message: 'No.', resetsAt: 5 }, 'Log in first.');
  expect(told).toEqual({ kind: 'auth', message: 'No. Log in first.', resetsAt: null });
  expect(classifyError({ status: 429, words: [], message: 'No.', resetsAt: 5 }, '').resetsAt).toBe(5);
});
