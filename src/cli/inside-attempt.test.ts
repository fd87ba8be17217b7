import { expect, test } from 'vitest';
import { RIGHTS } from './inside-attempt.ts';
import { commandTree } from './program.ts';

test('every command says who may call it inside an attempt, and every row has a command', () => {
  const names = commandTree(() => undefined).commands.map((command) => command.name());
  expect(Object.keys(RIGHTS).toSorted()).toEqual(names.toSorted());
});
