/** What counts as a key or a token. The ones here open nothing: each is put together from two halves. */
import { expect, test } from 'vitest';
import { secretsIn } from './secrets.ts';

const key = (...parts: string[]) => parts.join('');
const BODY = 'q7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEo';

test.each([
  ['a private key', key('-----BEGIN OPENSSH ', 'PRIVATE KEY-----')],
  ['an AWS access key', key('AKIA', 'Q7ZR2WMX9TKC4VBN')],
  ['a GitHub token', key('ghp_', BODY)],
  ['a GitLab token', key('glpat-', BODY.slice(0, 20))],
  ['a Slack token', key('xoxb-', '2837465019-', BODY)],
  ['an Anthropic key', key('sk-ant-', 'api03-', BODY)],
  ['an OpenAI key', key('sk-proj-', BODY, BODY)],
  ['a Google API key', key('AIza', BODY.slice(0, 35))],
  ['a Stripe key', key('sk_live_', BODY.slice(0, 24))],
  ['an npm token', key('npm_', BODY)],
  ['a Telegram bot token', key('482910365:', 'AA', BODY.slice(0, 33))],
  ['a Telegram bot token', key('https://api.telegram.org/bot482910365:', 'AA', BODY.slice(0, 33), '/getMe')],
  ['a Telegram bot token', key('file/bot482910365%3a', 'AA', BODY.slice(0, 33), '/getMe')],
])('%s is found with its line', (what, text) => {
  expect(secretsIn(`first\nconst it = "${text}";\nlast\n`)).toMatchObject([{ line: 2, what }]);
});

test('what manuals print, what repeats itself, what is marked and a long name are none', () => {
  const lines = [
    key('AKIA', 'IOSFODNN7EXAMPLE'),
    key('ghp_', 'x'.repeat(36)),
    `${key('ghp_', BODY)} // gitleaks:allow`,
    '.sk-fading-circle .sk-circle12-with-a-very-long-name-of-its-own-X9 {}',
    'sk-short, ghp_short, npm_config_registry, AKIA, 12345678:AA',
  ];
  expect(secretsIn(lines.join('\n'))).toEqual([]);
});

test('a text of a million characters without a line end is read in passing', () => {
  expect(secretsIn('sk-a_'.repeat(200_000)).length).toBeLessThanOrEqual(1);
});
