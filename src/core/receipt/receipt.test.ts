import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Claim, type ClaimedFile, NO_CLAIM, type Told } from '../claim.ts';
import { readResult } from '../result-object.ts';
import { numberOf } from './criteria.ts';
import { linesInDoubt, linesToCount, withLines } from './lines.ts';
import { type Known, makeReceipt, type ReceiptFile, toLookFor, wrongIn } from './receipt.ts';
import { toldBy } from './told.ts';

/** A claim as `hear` makes it of a final message and a result object. */
function claimOf(finalMessage: string, fields: Record<string, unknown> | null = null): Claim {
  const result = fields === null ? null : readResult({ status: 'completed', ...fields }, { lenient: true });
  const results = result === null ? [] : [{ result, via: 'result' as const }];
  const told = toldBy({ results, finalMessage, prompt: '' });
  return {
    ...NO_CLAIM,
    kind: 'complete',
    via: 'tag',
    result,
    files: result?.filesModified ?? [],
    ...(told ? { told } : {}),
  };
}

function knownOf(over: Partial<Known>): Known {
  return {
    footing: { root: '/repo', cwd: '' },
    owesCode: true,
    claim: NO_CLAIM,
    toolFiles: [],
    commands: [],
    toolLog: false,
    changes: [],
    earlier: new Set(),
    dirty: new Set(),
    undone: new Set(),
    present: new Map(),
    isBookkeeping: (path) => path === 'progress.md',
    matches: (pattern, path) =>
      new RegExp(`^${pattern.replace(/[.]/g, '\\.').replace(/\*+/g, '.*')}$`).test(path),
    gates: [],
    commits: [],
    otherCommits: new Map(),
    acceptance: [],
    needsNoChange: false,
    ...over,
  };
}

const changed = (...paths: string[]) => paths.map((path) => ({ path, before: 'a', after: 'b' }));
const there = (...paths: string[]) => new Map(paths.map((path) => [path, { kind: 'file' as const, path }]));
const line = ({ path, status, held, wrong }: ReceiptFile) =>
  `${path} ${status}${held ? ' held' : ''}${wrong ? ' wrong' : ''}`;
const filesOf = (over: Partial<Known>) => (makeReceipt(knownOf(over))?.files ?? []).map(line);

describe('a claimed file', () => {
  test('is held when this task changed it, however it is written', () => {
    const changes = changed('src/ui/Chart.tsx');
    for (const path of [
      'src/ui/Chart.tsx',
      'Chart.tsx',
      'ui/Chart.tsx',
      'src/UI/chart.tsx',
      'src/ui/',
      'src/**/*.tsx',
    ]) {
      const [file, ...rest] = makeReceipt(
        knownOf({ changes, claim: claimOf(`Updated \`${path}\`.`) }),
      )!.files;
      expect(rest).toEqual([]);
      expect(file, path).toMatchObject({ status: 'changed', held: true, wrong: false });
    }
  });

  test('that lies there unchanged, or nowhere, is wrong; the shorter name of another file is not it', () => {
    const claim = claimOf('', { files_modified: ['README.md', 'ghost.md'] });
    expect(filesOf({ claim, changes: changed('docs/README.md'), present: there('README.md') })).toEqual([
      'README.md unchanged wrong',
      'ghost.md absent wrong',
    ]);
  });

  test('that was removed is true when it is gone', () => {
    const changes = [{ path: 'old.ts', before: 'a', after: null }];
    expect(filesOf({ claim: claimOf('Removed `old.ts`.'), changes })).toEqual(['old.ts deleted held']);
    expect(filesOf({ claim: claimOf('Removed `old.ts`.'), present: there('old.ts') })).toEqual([
      'old.ts unchanged wrong',
    ]);
    expect(filesOf({ claim: claimOf('Removed `old.ts`.'), changes: changed('old.ts') })).toEqual([
      'old.ts changed held',
    ]);
    expect(filesOf({ claim: claimOf('Removed `old.ts`.') })).toEqual(['old.ts absent']);
  });

  test('is nobody’s lie where a person, an undoing, a review or the task itself explains it', () => {
    const claim = claimOf('Updated `a.ts`.');
    const present = there('a.ts');
    const set = new Set(['a.ts']);
    expect(filesOf({ claim, present })).toEqual(['a.ts unchanged wrong']);
    for (const why of [{ dirty: set }, { undone: set }, { earlier: set }, { needsNoChange: true }])
      expect(filesOf({ claim, present, ...why })).toEqual(['a.ts unchanged']);
    expect(filesOf({ claim: claimOf('Updated `progress.md`.') })).toEqual(['progress.md bookkeeping']);
  });

  test('that git ignores exists and proves nothing', () => {
    const present = new Map([['dist/x.js', { kind: 'ignored' as const, path: 'dist/x.js' }]]);
    expect(filesOf({ claim: claimOf('Created `dist/x.js`.'), present })).toEqual(['dist/x.js ignored']);
  });

  test('that may be none counts when it is true, and is not mentioned else', () => {
    const claim = claimOf('Updated `bin/ralph` and `lodash/debounce`.');
    expect(filesOf({ claim, changes: changed('bin/ralph') })).toEqual(['bin/ralph changed held']);
  });

  test('reached through a linked folder, or in a nested repository, is found', () => {
    const claim = claimOf('Updated `link/x.ts` and `sub/y.ts`.');
    const present = new Map([['link/x.ts', { kind: 'file' as const, path: 'real/x.ts' }]]);
    expect(filesOf({ claim, present, changes: changed('real/x.ts', 'sub') })).toEqual([
      'real/x.ts changed held',
      'sub/y.ts changed held',
    ]);
  });
});

describe('tool events', () => {
  test('are facts and no claims: a file written back as it was makes nobody a liar', () => {
    expect(
      filesOf({ toolFiles: ['/repo/a.ts', '/repo/b.ts'], changes: changed('a.ts'), present: there('b.ts') }),
    ).toEqual(['a.ts changed held', 'b.ts unchanged']);
  });

  test('say of a claimed file that it was written and is gone again', () => {
    const receipt = makeReceipt(
      knownOf({ claim: claimOf('Created `tmp.ts`.'), toolFiles: ['/repo/tmp.ts'] }),
    )!;
    expect(receipt.files).toMatchObject([{ path: 'tmp.ts', from: ['prose', 'tool'], wrong: true }]);
    expect(wrongIn(receipt)).toEqual([{ about: 'file', text: 'tmp.ts (it was written, and is gone again)' }]);
  });
});

describe('a claimed command', () => {
  const gate = (exitCode: number) => ({
    run: 'npm test',
    result: { ...GATE, outcome: exitCode === 0 ? ('passed' as const) : ('failed' as const), exitCode },
  });
  const GATE = {
    gate: 'test',
    run: 'npm test',
    tree: 't',
    durationMs: 1,
    tests: null,
    failures: [],
    excerpt: '',
    output: null,
  };
  const claim = claimOf('`npm test` passes.');
  const commandOf = (over: Partial<Known>) => makeReceipt(knownOf({ claim, ...over }))!.commands[0];

  test('is held against the gate first, then against what was seen to run', () => {
    const ran = (exitCode: number | null, denied = false) => [
      { command: 'cd app && npm test', exitCode, denied },
    ];
    expect(commandOf({ gates: [gate(0)], commands: ran(1) })).toMatchObject({ held: true, seen: 'gate' });
    expect(commandOf({ gates: [gate(1)], commands: ran(0) })).toMatchObject({ wrong: true, exitCode: 1 });
    expect(commandOf({ commands: ran(0) })).toMatchObject({ held: true, seen: 'tool' });
    expect(commandOf({ commands: ran(2) })).toMatchObject({
      wrong: true,
      why: 'its last run ended with exit 2',
    });
    expect(commandOf({ commands: ran(null, true) })).toMatchObject({ wrong: true, held: false });
  });

  test('that nobody saw is neither proof nor lie', () => {
    expect(commandOf({})).toMatchObject({ seen: 'nobody', held: false, wrong: false });
  });
});

describe('a commit as evidence', () => {
  const named = (value: string, criterion = '') =>
    claimOf('', { evidence: [{ criterion, kind: 'commit', value }] });
  const receiptOf = (over: Partial<Known>) => makeReceipt(knownOf({ acceptance: ['It works'], ...over }))!;

  test('is held when an attempt of this task made it, with a criterion or without', () => {
    const commits = ['abcdef1234567890'];
    for (const criterion of ['', '1']) {
      const receipt = receiptOf({ claim: named('commit ABCDEF1', criterion), commits });
      expect(receipt.commits).toMatchObject([{ commit: 'abcdef1', held: true, wrong: false }]);
      expect(wrongIn(receipt)).toEqual([]);
    }
  });

  test('that is invented, or older than the task, is a false claim, with a criterion or without', () => {
    for (const criterion of ['', '1']) {
      const claim = named('deadbeef', criterion);
      expect(wrongIn(receiptOf({ claim }))).toEqual([
        { about: 'commit', text: 'commit deadbeef (the repository has no such commit)' },
      ]);
      const otherCommits = new Map([['deadbeef', 'before' as const]]);
      expect(wrongIn(receiptOf({ claim, otherCommits }))).toEqual([
        { about: 'commit', text: 'commit deadbeef (it was there before this task began)' },
      ]);
    }
  });

  test('that was amended since, or that another made meanwhile, is neither proof nor lie', () => {
    const receipt = receiptOf({ claim: named('deadbeef'), otherCommits: new Map([['deadbeef', 'aside']]) });
    expect(receipt.commits).toMatchObject([{ held: false, wrong: false }]);
  });

  test('of a nested repository is a change like any other; words without an id claim nothing', () => {
    const changes = [{ path: 'sub', before: null, after: 'deadbeef00:160000' }];
    expect(receiptOf({ claim: named('deadbeef'), changes }).commits).toMatchObject([{ held: true }]);
    expect(makeReceipt(knownOf({ claim: named('HEAD, see git log') }))).toBeNull();
  });
});

describe('named lines', () => {
  const judgedLines = (lines: string, ...counts: number[]) => {
    const receipt = makeReceipt(
      knownOf({ claim: claimOf(`Updated \`a.ts\`, lines ${lines}.`), changes: changed('a.ts') }),
    )!;
    expect(linesToCount(receipt)).toEqual(['a.ts']);
    const maps = counts.map((count) => new Map([['a.ts', count]]));
    const judged = withLines(receipt, maps);
    const [file] = judged.files;
    return { ...file!, doubt: linesInDoubt(receipt, maps[0] ?? new Map()), told: wrongIn(judged) };
  };

  test('that begin behind the end of the file, as it is and as it was, are false', () => {
    expect(judgedLines('900-950', 10)).toMatchObject({
      lineCheck: 'past_end',
      wrong: true,
      doubt: ['a.ts'],
      told: [{ about: 'lines', text: 'a.ts lines 900-950 (it has 10 lines)' }],
    });
    expect(judgedLines('900-950', 10, 1_000)).toMatchObject({ lineCheck: 'within', held: true });
  });

  test('that it has are within; one that ends a little late is told and not held against anybody', () => {
    expect(judgedLines('2-10', 10)).toMatchObject({ lineCheck: 'within', held: true, doubt: [] });
    expect(judgedLines('2-14', 10)).toMatchObject({ lineCheck: 'past_end', held: true, wrong: false });
  });

  test('of a file that nobody counted are unchecked', () => {
    expect(judgedLines('900-950')).toMatchObject({ lineCheck: 'unchecked', held: true, wrong: false });
  });
});

describe('criteria', () => {
  const acceptance = ['The parser reads a list', 'All tests pass', 'Docs say so'];

  test('are found by number, by their words or by a piece of them', () => {
    for (const [written, number] of [
      ['2', 2],
      ['AC 2:', 2],
      ['criterion #3', 3],
      ['all tests pass.', 2],
      ['1. The parser reads a list', 1],
      ['the parser reads a list of names', 1],
      ['9', null],
      ['something else', null],
    ] as const)
      expect(numberOf(written, acceptance), written).toBe(number);
  });

  test('are linked with the evidence behind them', () => {
    const claim = claimOf('', {
      evidence: [
        { criterion: '1', kind: 'file', value: 'src/p.ts:3-9' },
        { criterion: '2', kind: 'command', value: 'npm test', exit_code: 0 },
        { criterion: 'Docs say so', kind: 'commit', value: 'abcdef1' },
      ],
      criteria_results: [
        { criterion: '2', met: true },
        { criterion: '3', met: false, note: 'later' },
      ],
    });
    const commands = [{ command: 'npm test', exitCode: 0, denied: false }];
    const receipt = makeReceipt(
      knownOf({ claim, acceptance, commands, changes: changed('src/p.ts'), commits: ['abcdef1234'] }),
    )!;
    expect(
      receipt.criteria.map(({ number, met, held, by }) => [number, met, held, by.map(({ seen }) => seen)]),
    ).toEqual([
      [1, null, true, ['changed']],
      [2, true, true, ['exit 0']],
      [3, false, false, ['made by this task']],
    ]);
  });

  test('of a reviewer are kept; the files it names are no claims of its own', () => {
    const claim = claimOf('The executor created `src/p.ts`.', {
      verdict: 'Qualified',
      files_modified: ['src/p.ts'],
      criteria_results: { '1': true, 'All tests pass': { met: true, note: 'ran `npm test`' } },
    });
    const commands = [{ command: 'npm test', exitCode: 0, denied: false }];
    const receipt = makeReceipt(knownOf({ claim, acceptance, owesCode: false, commands }))!;
    expect(receipt.files).toEqual([]);
    expect(receipt.criteria.map(({ number, met, held }) => [number, met, held])).toEqual([
      [1, true, false],
      [2, true, true],
    ]);
  });
});

test('the receipt is bounded and keeps what is wrong', () => {
  const files = Array.from(
    { length: 90 },
    (_, at): ClaimedFile => ({
      path: `f${at}.ts`,
      lines: null,
      deed: 'changed',
      via: 'result',
      unsure: false,
    }),
  );
  const told: Told = { files, commands: [] };
  const changes = changed(...files.slice(0, 85).map(({ path }) => path));
  const receipt = makeReceipt(knownOf({ claim: { ...NO_CLAIM, told }, changes }))!;
  expect(receipt.files).toHaveLength(50);
  expect(receipt.more).toBe(40);
  expect(wrongIn(receipt)).toHaveLength(5);
});

test('whatever is claimed, no receipt holds a file that did not change', () => {
  const path = fc.oneof(
    fc.constantFrom(
      'a.ts',
      'src/b.ts',
      './a.ts',
      '/repo/src/b.ts',
      '../x.ts',
      'src\\b.ts',
      'src/*',
      '/',
      '.',
      'C:\\repo\\a.ts',
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(
      fc.array(path, { maxLength: 8 }),
      fc.string(),
      fc.array(path),
      (paths, message, toolFiles) => {
        const claim = claimOf(message, {
          files_modified: paths,
          evidence: paths.map((value) => ({ criterion: '1', kind: 'file', value })),
        });
        const known = knownOf({ claim, toolFiles });
        expect(toLookFor(known).length).toBeLessThanOrEqual(400);
        const receipt = makeReceipt(known);
        expect(receipt?.files.some(({ held }) => held) ?? false).toBe(false);
        expect(receipt?.criteria.some(({ held }) => held) ?? false).toBe(false);
      },
    ),
  );
});
