import { expect, test } from 'vitest';
import { commandFor, loopCommand } from './command.ts';

test('given a session that is no loop, when a command is told, then it is told as it is', () => {
  expect(commandFor({ policy: null }, 'ralph answer q1 "…"')).toBe('ralph answer q1 "…"');
});

test('given a loop, when a command is told, then it names that loop; a run is told where it runs', () => {
  expect(loopCommand('a', 'ralph answer q1 "…"')).toBe('ralph answer q1 "…" --session @a');
  expect(loopCommand('a', 'ralph run --reopen')).toBe('ralph run --worktree a --reopen');
  expect(loopCommand('a', 'ralph resume')).toBe('ralph resume --session @a');
});

test('given a loop, when a command is about no session, then nothing is added', () => {
  expect(loopCommand('a', 'ralph doctor')).toBe('ralph doctor');
  expect(loopCommand('a', 'ralph loops merge a')).toBe('ralph loops merge a');
});
