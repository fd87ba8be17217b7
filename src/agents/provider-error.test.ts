import { expect, it } from 'vitest';
import { classifyError, complaintIn } from './provider-error.ts';

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

const complaint = (text: string, prompt = '') =>
  complaintIn(text.split('\n'), { prompt, now: Date.UTC(2026, 0, 1) })?.kind ?? null;

it.each([
  ['API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}', 'limit'],
  ['Error: HTTP 429', 'limit'],
  ['429 Too Many Requests', 'limit'],
  ["You've hit your weekly limit.", 'limit'],
  ['error: status code 401', 'auth'],
  ['Not logged in. Please run /login', 'auth'],
  ['Error: Incorrect API key provided', 'auth'],
  ['Your credit balance is too low', 'billing'],
  ['HTTP/1.1 529', 'overload'],
  ['the model is overloaded, try later', 'overload'],
  ['connect ECONNREFUSED 127.0.0.1:443', 'network'],
  ['Traceback\nError: 429 Too Many Requests\n    at call (agent.js:3)\ngoodbye', 'limit'],
])('stderr with %s is %s', (text, expected) => {
  expect(complaint(text)).toBe(expected);
});

it.each([
  'line 429: syntax error',
  'FAIL test/network.test.ts > socket times out',
  'billing tests: 3 failed',
  'authentication.test.ts failed',
  'expected 429, got 200',
  'wrote 503 files',
  'terminated',
  '  401 passing (3s)',
  '429 tests failed',
  '✖ 403 problems (400 errors, 3 warnings)',
  'Error: 401 rows are missing',
  "main.cpp:3:4: error: call of overloaded 'f(int)' is ambiguous",
])('stderr with "%s" says nothing of a provider', (text) => {
  expect(complaint(text)).toBeNull();
});

it('what only repeats the prompt says nothing', () => {
  const prompt = 'Make the client wait.\nError: HTTP 429\nwhen the server says so.';
  expect(complaint('Error: HTTP 429', prompt)).toBeNull();
  expect(complaint('Error: HTTP 401\nError: HTTP 429', prompt)).toBe('auth');
});
