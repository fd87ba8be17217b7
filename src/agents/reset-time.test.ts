import { expect, it } from 'vitest';
import { resetTimeIn, resetTimeOf } from './reset-time.ts';
import { unwrapShell } from './unwrap-shell.ts';

const NOW = new Date(2026, 10, 29, 13, 30, 5).getTime();
const local = (...parts: [number, number, number, number, number]) => new Date(...parts).getTime();

it.each([
  ['try again at 2:11 PM.', local(2026, 10, 29, 14, 12)],
  ['try again at 1:30 PM.', local(2026, 10, 29, 13, 31)],
  ['try again at 2:11 AM.', local(2026, 10, 30, 2, 12)],
  ['or try again at Jan 1st, 2100 12:00 AM.', local(2100, 0, 1, 0, 1)],
  ['Please try again in 1.5s.', NOW + 1_500],
  ['Please retry in 1h2m3s', NOW + 3_723_000],
  ['Try again in 3 days 4 hours 5 minutes.', NOW + 273_900_000],
  ['resets at 2026-11-29T20:00:00Z', Date.parse('2026-11-29T20:00:00Z')],
  ['Rate limit reached.', null],
  ['in a while', null],
  ['at Foo 3rd, 2026 1:00 AM', null],
])('%s', (sentence, at) => {
  expect(resetTimeIn(sentence, NOW)).toBe(at);
});

it('reads the time from headers, in seconds, milliseconds or as a date', () => {
  expect(resetTimeOf({ 'retry-after': '20' }, NOW)).toBe(NOW + 20_000);
  expect(resetTimeOf({ 'retry-after-ms': '1500', 'retry-after': '9' }, NOW)).toBe(NOW + 1_500);
  expect(resetTimeOf({ 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' }, NOW)).toBe(4_102_444_800_000);
  expect(resetTimeOf({ 'retry-after': 'Sat, 01 Jan 2000 00:00:00 GMT' }, NOW)).toBeNull();
  expect(resetTimeOf({ 'retry-after': {} }, NOW)).toBeNull();
  expect(resetTimeOf({}, NOW)).toBeNull();
});

it.each([
  [`/bin/bash -lc 'git add -A && git commit -qm "x"'`, 'git add -A && git commit -qm "x"'],
  [`/usr/bin/zsh -lc "echo it's"`, "echo it's"],
  [`bash -lc 'it'"'"'s'`, "it's"],
  ['/bin/sh -c ls', 'ls'],
  [`bash -lc 'open`, `bash -lc 'open`],
  ['npm test', 'npm test'],
])('unwraps %s', (told, command) => {
  expect(unwrapShell(told)).toBe(command);
});

it.each([
  "./evil/bash -lc 'git status'",
  "/tmp/bash -c 'git status'",
  "bin/bash -c 'git status'",
  "/home/me/bin/sh -c 'git status'",
  "../../bin/bash -c 'git status'",
])('%s is a program of its own, and no shell of the system', (told) => {
  expect(unwrapShell(told)).toBe(told);
});

it.each(["/usr/local/bin/zsh -lc 'git status'", "/usr/bin/bash -c 'git status'", "sh -c 'git status'"])(
  '%s is a shell of the system',
  (told) => {
    expect(unwrapShell(told)).toBe('git status');
  },
);
