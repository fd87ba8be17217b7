/** What becomes of a claimed command: seen, not so, or nobody knows. */
import { describe, expect, test } from 'vitest';
import { NO_CLAIM } from '../claim.ts';
import type { GateResult, RunCommand } from '../evidence.ts';
import { readResult } from '../result-object.ts';
import { type Known, makeReceipt, wrongIn } from './receipt.ts';
import { toldBy } from './told.ts';

interface Claimed {
  value?: string;
  exit_code?: number | undefined;
  criterion?: string;
  fields?: object;
}

function receiptOf(
  commands: RunCommand[],
  { value = 'npm test', exit_code = 0, criterion = 'tests pass', fields = {} }: Claimed = {},
  over: Partial<Known> = {},
) {
  const evidence = [{ criterion, kind: 'command', value, exit_code }];
  const result = readResult({ status: 'completed', evidence, ...fields }, { lenient: true })!;
  const told = toldBy({ results: [{ result, via: 'result' }], finalMessage: '', prompt: '' });
  return makeReceipt({
    footing: { root: '/repo', cwd: '' },
    owesCode: true,
    claim: { ...NO_CLAIM, kind: 'complete', via: 'result', result, ...(told ? { told } : {}) },
    toolFiles: [],
    commands,
    toolLog: true,
    changes: [],
    earlier: new Set(),
    dirty: new Set(),
    undone: new Set(),
    present: new Map(),
    isBookkeeping: () => false,
    matches: () => false,
    gates: [],
    commits: [],
    otherCommits: new Map(),
    acceptance: [criterion],
    needsNoChange: false,
    ...over,
  })!;
}

const ran = (command: string, exitCode: number | null = 0): RunCommand => ({
  command,
  exitCode,
  denied: false,
});
const unseen = (command = ''): RunCommand => ({ command, exitCode: null, denied: false, unseen: true });
const denied = (command: string): RunCommand => ({ command, exitCode: null, denied: true });

/** `held`, `wrong` or `unknown`, and whether it holds its criterion. */
function verdictOf(commands: RunCommand[], claimed?: Claimed, over?: Partial<Known>): string {
  const {
    commands: [entry],
    criteria,
  } = receiptOf(commands, claimed, over);
  const word = entry!.wrong ? 'wrong' : entry!.held ? 'held' : 'unknown';
  return criteria[0]!.held ? `${word}, proof` : word;
}

describe('`npm test` with exit 0 is claimed', () => {
  test.each<[string, RunCommand[], string]>([
    ['it was seen', [ran('npm test')], 'held, proof'],
    ['it was seen within a line', [ran('cd app && npm test 2>&1')], 'held, proof'],
    ['it failed', [ran('npm test', 1)], 'wrong'],
    ['it never ran', [ran('git status')], 'wrong'],
    ['it was denied', [denied('npm test')], 'wrong'],
    ['the line ends with 0 whatever it does', [ran('npm test || true')], 'unknown'],
    ['another command of the line ends it', [ran('npm test; echo $?')], 'unknown'],
    ['it stands in a pipe', [ran('npm test | tail -5')], 'unknown'],
    ['it may not have run', [ran('false && npm test; true')], 'unknown'],
    ['it stands in a loop', [ran('for i in 1; do npm test; done')], 'unknown'],
    ['a script ran', [ran('./check.sh')], 'unknown'],
    ['it runs in the background', [ran('npm test', null)], 'unknown'],
    ['it failed, was repaired, and ran in a pipe', [ran('npm test', 1), ran('npm test | tail')], 'unknown'],
    ['it failed, and a tool ran', [ran('npm test', 1), unseen('npm test')], 'unknown'],
    ['it failed, and a sub-agent ran', [ran('npm test', 1), unseen()], 'unknown'],
    ['it failed, and a script ran', [ran('npm test', 1), ran('npm run check')], 'unknown'],
    ['it failed, and a part of it ran', [ran('npm test', 1), ran('npm test -- src/x.test.ts')], 'unknown'],
    ['it failed after a tool ran', [unseen(), ran('npm test', 1)], 'wrong'],
    ['it failed, and passed', [ran('npm test', 1), ran('npm test')], 'held, proof'],
    ['it passed, and a tool ran', [ran('npm test'), unseen()], 'held, proof'],
    ['it passed, and ran in a pipe', [ran('npm test'), ran('npm test | tail')], 'unknown'],
    ['it passed, and was denied then', [ran('npm test'), denied('npm test && git push')], 'held, proof'],
    ['only a tool ran', [unseen('npm test')], 'unknown'],
    ['only a sub-agent ran', [unseen()], 'unknown'],
    ['a line so long that it was cut', [ran(`cat <<E\n${'x'.repeat(1_992)}`)], 'unknown'],
  ])('%s', (_, commands, verdict) => expect(verdictOf(commands)).toBe(verdict));
});

describe('a line is claimed', () => {
  test.each<[string, RunCommand[], string]>([
    ['npm run lint && npm test', [ran('npm run lint && npm test')], 'held, proof'],
    ['npm run lint && npm test', [ran('npm run lint'), ran('npm test')], 'held, proof'],
    ['npx tsc && cargo test', [ran('cargo test')], 'wrong'],
    // A script may run the other one.
    ['npm run lint && npm test', [ran('npm test')], 'unknown'],
    ['npm run lint && npm test', [ran('npm run lint'), ran('npm test', 1)], 'wrong'],
    ['cd app && npm test', [ran('npm test')], 'held, proof'],
    ['npm test || true', [ran('npm test || true')], 'unknown'],
    ['npm test | tail -5', [ran('npm test | tail -5')], 'unknown'],
    ['npm test | grep -q ok', [ran('npm test | grep -q ok')], 'held, proof'],
    ['a; b', [ran('a; b', 1)], 'wrong'],
    ['a; b', [denied('a; b')], 'wrong'],
    ['npm test (12 passed)', [ran('npm test')], 'unknown'],
    ['Ran npm test', [ran('npm test')], 'unknown'],
  ])('%s', (value, commands, verdict) => expect(verdictOf(commands, { value })).toBe(verdict));
});

describe('a gate', () => {
  const gate = (run: string, exitCode: number): Known['gates'][number] => ({
    run,
    result: {
      gate: 'g',
      run,
      outcome: exitCode === 0 ? 'passed' : 'failed',
      exitCode,
    } as unknown as GateResult,
  });
  test.each<[string, number, RunCommand[], string]>([
    ['npm test', 0, [], 'held, proof'],
    ['npm run lint && npm test', 0, [], 'held, proof'],
    ['npm test', 1, [ran('npm test')], 'wrong'],
    ['npm test || true', 0, [unseen()], 'unknown'],
    ['npm run lint && npm test', 1, [unseen()], 'unknown'],
  ])('%s ended with %i', (run, code, commands, verdict) =>
    expect(verdictOf(commands, {}, { gates: [gate(run, code)] })).toBe(verdict),
  );
});

describe('a command that failed', () => {
  const named = (claimed: Claimed, commands = [ran('npm test', 1)]) => wrongIn(receiptOf(commands, claimed));

  test('holds no criterion, and is named where something has to pass', () => {
    expect(named({ exit_code: 1 })).toEqual([
      { about: 'criterion', text: 'criterion 1, tests pass, by `npm test` (exit 1)' },
    ]);
    expect(named({ exit_code: 1 }, [unseen()])).toMatchObject([{ about: 'criterion' }]);
    expect(verdictOf([ran('npm test', 1)], { exit_code: 1 })).toBe('held');
    expect(named({ exit_code: 1, criterion: 'no test fails and the build passes' })).toHaveLength(1);
    expect(named({ exit_code: 1, criterion: 'the build passes without errors' })).toHaveLength(1);
    // One lie is named once.
    expect(named({ exit_code: 0 })).toMatchObject([{ about: 'command' }]);
  });

  test('is what some criteria ask for', () => {
    const cli = 'node cli.js --bad';
    const over = { value: cli, exit_code: 2, criterion: 'an unknown flag ends with exit code 2' };
    expect(verdictOf([ran(cli, 2)], over)).toBe('held, proof');
    expect(verdictOf([ran(cli, 2)], { ...over, criterion: 'a non-zero exit for bad flags' })).toBe(
      'held, proof',
    );
    for (const criterion of ['bad flags are rejected', 'lehnt falsche Angaben ab', 'tests fail on bad input'])
      expect(named({ ...over, criterion }, [ran(cli, 2)]), criterion).toEqual([]);
  });

  test('is named for nobody who does not claim the criterion', () => {
    for (const fields of [
      { status: 'failed' },
      { verdict: 'Failed' },
      { criteria_results: [{ criterion: '1', met: false }] },
    ])
      expect(named({ exit_code: 1, fields })).toEqual([]);
  });
});
