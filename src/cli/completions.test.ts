import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { candidates, flagSource, type LookUp, positionSource } from './complete.ts';
import { commandTree } from './program.ts';

const asked: unknown[] = [];
const lookUp: LookUp = async (kind, where) => {
  asked.push([kind, where]);
  return [{ value: `${kind}-1`, about: 'one' }];
};
const values = async (...words: string[]) => {
  const { found } = await candidates(
    commandTree(() => undefined),
    words,
    lookUp,
  );
  return found.map(({ value }) => value);
};
const paths = async (...words: string[]) =>
  (
    await candidates(
      commandTree(() => undefined),
      words,
      lookUp,
    )
  ).paths;

describe('what can be completed', () => {
  test('commands, by their beginning', async () => {
    expect(await values('st')).toEqual(['stop', 'status']);
    expect(await values('')).toContain('help');
    expect(await values('help', 'comp')).toEqual(['completions']);
  });

  test('flags of the command, those that are given already left out, repeatable ones not', async () => {
    expect(await values('run', '--max-c')).toEqual(['--max-cost']);
    expect(await values('run', '--max-cost', '5', '--max-c')).toEqual([]);
    expect(await values('run', '--gate', 'npm test', '--ga')).toEqual(['--gate']);
    expect(await values('status', '--max-c')).toEqual([]);
  });

  test('values of flags, behind a space and behind an equals sign', async () => {
    expect(await values('run', '--mode', '')).toEqual(['speed', 'balanced', 'quality']);
    expect(await values('run', '--mode=q')).toEqual(['--mode=quality']);
    expect(await values('run', '--team', 't')).toEqual(['teams-1']);
    expect(await values('status', '--color', 'a')).toEqual(['auto', 'always']);
    expect(await values('run', '--max-cost', '')).toEqual([]);
    expect(await values('run', '--quiet=')).toEqual([]);
  });

  test('names of the project where a command takes them', async () => {
    expect(await values('tasks', '')).toEqual(['list', 'done', 'cancel', 'reopen']);
    expect(await values('tasks', 'cancel', '')).toEqual(['tasks-1']);
    expect(await values('tasks', 'list', '')).toEqual([]);
    expect(await values('answer', '')).toEqual(['questions-1']);
    expect(await values('answer', 'q1', '--option', '')).toEqual(['options-1']);
    expect(await values('logs', '')).toEqual(['iterations-1']);
    expect(await values('unblock', 't1', '')).toEqual(['tasks-1']);
    expect(await values('unblock', '--filter', 'u')).toEqual(['ui_heavy']);
    expect(await values('resume', '--quiet', '')).toEqual(['sessions-1']);
    expect(await values('why', '')).toEqual(['tasks-1', 'iterations-1', 'sessions-1']);
    expect(await values('signal', 'ST')).toEqual(['STEER']);
    expect(await values('tell', '--to', '')).toEqual(['roles-1']);
    expect(await paths('import', '--to', '')).toBe('files');
  });

  test('in the folder and the session that stand on the line', async () => {
    asked.length = 0;
    await values('unblock', '-C', 'sub', '--session=260208-143000', '');
    expect(asked).toEqual([['tasks', { dir: 'sub', session: '260208-143000' }]]);
  });

  test('paths where paths are wanted', async () => {
    expect(await paths('run', '--prompt-file', '')).toBe('files');
    expect(await paths('run', '--tasks=pr')).toBe('files');
    expect(await paths('status', '-C', '')).toBe('folders');
    expect(await paths('status', '')).toBe('words');
  });

  test('nothing behind --, and nothing fails on a line that makes no sense', async () => {
    expect(await values('run', '--', '--mo')).toEqual([]);
    expect(await values('nonsense', '--x', '=', '')).toEqual([]);
    expect(await values()).toContain('run');
  });
});

/** Words of a person's own, numbers and names that only stand elsewhere: nothing there could be offered. */
const FREE = [
  ...[
    'run objective',
    'pause text',
    'stop text',
    'abort text',
    'tell text',
    'skip text',
    'bot chat',
    'loops more',
  ],
  ...['signal message', '--model', '--gate', '--reason', '--label', '--list', '--last', '--iteration'],
  ...['--timeout', '--timeout-multiplier', '--max-attempts', '--review-cap', '--parallel'],
  ...['--max-iterations', '--max-stuck', '--max-cost', '--max-time', '--max-tokens'],
  '--message',
];

test('every argument and every value of a flag of every command is completed, or is free text', () => {
  const free: string[] = [];
  const walk = (command: Command): void => {
    for (const [position, argument] of command.registeredArguments.entries()) {
      if (positionSource(command, position) === undefined) free.push(`${command.name()} ${argument.name()}`);
    }
    for (const option of command.options) {
      const takes = option.required || option.optional;
      if (takes && flagSource(command, option) === undefined) free.push(option.long ?? option.flags);
    }
    command.commands.forEach(walk);
  };
  walk(commandTree(() => undefined));
  expect([...new Set(free)].sort()).toEqual(FREE.toSorted());
});
