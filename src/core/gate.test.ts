import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareFailures, mayRewrite, readGate } from './gate.ts';

const DEF = {
  name: 'test',
  run: 'npm test',
  timeoutS: 60,
  required: true,
  minTests: 0,
  baseline: 'no_regression',
} as const;

function read(stdoutAndErr: string, exitCode: number | null = 0, minTests = 0) {
  return readGate({ def: { ...DEF, minTests }, exitCode, timedOut: false, stdoutAndErr });
}

/** What runners print, cut to what is read: output, executed tests, failing names. */
const RUNNERS: [name: string, output: string, tests: number, failures: string[]][] = [
  [
    'node --test (spec)',
    '▶ group\n  ✔ good (1.5ms)\n  ✖ bad one (1.295083ms)\n    AssertionError: 1 == 2\n  ﹣ skipped (0.3ms) # SKIP\n✖ group (13.2ms)\n✖ top bad (0.25ms)\nℹ tests 4\nℹ suites 1\nℹ pass 1\nℹ fail 2\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 1464.8\n\n✖ failing tests:\n\ntest at a.test.mjs:2:51\n✖ bad one (1.295083ms)\n',
    3,
    ['bad one', 'group', 'top bad'],
  ],
  [
    'node --test (tap)',
    'TAP version 13\n# Subtest: group\n    # Subtest: bad one\n    not ok 2 - bad one\n      ---\n      duration_ms: 1.2\n      ...\n    ok 3 - skipped # SKIP\n    1..3\nnot ok 1 - group\n1..2\n# tests 4\n# suites 1\n# pass 1\n# fail 2\n# cancelled 0\n# skipped 1\n# todo 0\n',
    3,
    ['bad one', 'group'],
  ],
  ['plain TAP', '1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no network\nnot ok 4 - d # TODO\n', 2, ['b']],
  [
    'vitest',
    '\u001b[31m     \u001b[31m×\u001b[31m bad one\u001b[39m\u001b[32m 4\u001b[2mms\u001b[22m\u001b[39m\n\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m a.test.js\u001b[2m > \u001b[22mgroup\u001b[2m > \u001b[22mbad one\nError: boom\n\u001b[2m Test Files \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m\u001b[90m (1)\u001b[39m\n\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m\u001b[2m | \u001b[22m\u001b[32m5 passed\u001b[39m | 1 skipped\u001b[90m (7)\u001b[39m\n',
    6,
    ['a.test.js > group > bad one'],
  ],
  [
    'jest',
    'FAIL ./a.test.js\n  group\n    ✓ good (18 ms)\n    ✕ bad one (1 ms)\n\n  ● group › bad one\n\n    boom\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 1 passed, 3 total\nSnapshots:   0 total\n',
    2,
    ['group › bad one'],
  ],
  [
    'jest, suite broken',
    'FAIL src/b.test.ts\n  ● Test suite failed to run\n\n    SyntaxError\n\nTests:       4 passed, 4 total\n',
    4,
    ['src/b.test.ts'],
  ],
  [
    'mocha',
    '  group\n    ✔ good\n    1) bad one\n    - skipped\n\n\n  1 passing (14ms)\n  1 pending\n  1 failing\n\n  1) group\n       bad one:\n     Error: boom\n      at Context.<anonymous> (a.test.js:1:77)\n',
    2,
    ['group > bad one'],
  ],
  [
    'pytest',
    'collected 5 items\n\ntest_a.py .FFsF      [100%]\nFAILED test_a.py::test_bad[a b] - assert 1 == 2\nFAILED test_a.py::T::test_u - AssertionError: 1 != 2\nERROR test_b.py - ImportError\n==== 2 failed, 1 passed, 1 skipped, 1 error in 1.52s ====\n',
    4,
    ['test_a.py::T::test_u', 'test_a.py::test_bad[a b]', 'test_b.py'],
  ],
  ['pytest -q', 'FAILED t.py::x - e\n1 failed, 3 passed in 0.20s\n', 4, ['t.py::x']],
  [
    'unittest',
    'FAIL: test_u (test_a.T.test_u)\nTraceback\nRan 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n',
    2,
    ['test_u (test_a.T.test_u)'],
  ],
  [
    'go test -v',
    '=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)\n    --- FAIL: TestB/sub (0.00s)\nFAIL\nFAIL\texample.com/m\t0.012s\n',
    3,
    ['TestB', 'TestB/sub'],
  ],
  [
    'go test',
    'ok  \ta/b\t0.01s\nFAIL\ta/c [build failed]\n?   \ta/d\t[no test files]\n',
    1,
    ['a/c [build failed]'],
  ],
  [
    'go test -json',
    '{"Time":"2026-01-01T00:00:00Z","Action":"fail","Package":"m","Test":"TestB","Elapsed":0.1}\n{"Action":"pass","Package":"m","Test":"TestA"}\n{"Action":"fail","Package":"m"}\n',
    2,
    ['m TestB'],
  ],
  [
    'cargo test',
    'running 3 tests\ntest tests::good ... ok\ntest tests::bad ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.27s\n\nrunning 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n',
    2,
    ['tests::bad'],
  ],
  [
    'cargo nextest',
    '        PASS [   0.005s] demo tests::a\n        FAIL [   0.006s] demo tests::b\n     Summary [   0.012s] 2 tests run: 1 passed, 1 failed, 0 skipped\n',
    2,
    ['demo tests::b'],
  ],
  [
    'rspec',
    '6 examples, 1 failure, 2 pending\n\nFailed examples:\n\nrspec ./spec/a_spec.rb:12 # A does b\n',
    4,
    ['./spec/a_spec.rb A does b'],
  ],
  [
    'minitest',
    '  1) Failure:\nTestFoo#test_x [t.rb:3]:\nExpected: 1\n\n5 runs, 10 assertions, 1 failures, 0 errors, 1 skips\n',
    4,
    ['TestFoo#test_x'],
  ],
  [
    'ExUnit',
    '  1) test adds (MathTest)\n     t.exs:3\n\n2 doctests, 5 tests, 1 failure\n',
    5,
    ['adds (MathTest)'],
  ],
  [
    'phpunit',
    '1) FooTest::testBar\nFailed asserting that false is true.\n\nFAILURES!\nTests: 5, Assertions: 10, Failures: 1, Skipped: 1.\n',
    4,
    ['FooTest::testBar'],
  ],
  [
    'dotnet test',
    '  Failed Demo.Tests.Adds [12 ms]\n  Error Message:\n\nFailed!  - Failed:     1, Passed:     5, Skipped:     2, Total:     8, Duration: 20 ms - Demo.dll (net8.0)\n',
    6,
    ['Demo.Tests.Adds'],
  ],
  [
    'maven',
    '[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in a.FooTest\n[ERROR] a.FooTest.bar -- Time elapsed: 0.01 s <<< FAILURE!\n[INFO] Results:\n[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 1\n',
    3,
    ['a.FooTest.bar'],
  ],
  ['gradle', 'FooTest > bar() FAILED\n    at X\n\n5 tests completed, 1 failed\n', 5, ['FooTest > bar()']],
  [
    'XCTest',
    "Test Case '-[A.B testX]' failed (0.01 seconds).\n\t Executed 3 tests, with 1 failure (0 unexpected) in 0.01 (0.02) seconds\n\t Executed 3 tests, with 1 failure (0 unexpected) in 0.01 (0.02) seconds\n",
    3,
    ['-[A.B testX]'],
  ],
  [
    'Swift Testing',
    '✘ Test adds() failed after 0.001 seconds with 1 issue.\n✘ Test run with 4 tests failed after 0.002 seconds.\n',
    4,
    ['adds()'],
  ],
  [
    'bun',
    '(fail) adds [0.12ms]\n\n 4 pass\n 1 skip\n 1 fail\nRan 6 tests across 2 files. [10.00ms]\n',
    5,
    ['adds'],
  ],
  ['deno', 'adds ... FAILED (3ms)\n\nFAILED | 4 passed | 1 failed (10ms)\n', 5, ['adds']],
  [
    'ctest',
    '50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  2 - math (Failed)\n',
    2,
    ['math'],
  ],
  [
    'playwright',
    'Running 3 tests using 1 worker\n  1) [chromium] › a.spec.ts:3:1 › shows it ────\n  1 failed\n  2 passed (3.2s)\n',
    3,
    ['[chromium] › a.spec.ts:3:1 › shows it'],
  ],
];

describe('known runners', () => {
  test.each(RUNNERS)('%s: executed tests and failing names are read', (_, output, tests, failures) => {
    expect(read(output, 1)).toEqual({ outcome: 'failed', tests, failures });
  });
});

describe('a gate that executed nothing', () => {
  test.each([
    'no tests found',
    'Results: 0 passed',
    '0 passed, 0 failed',
    'ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\n',
    'TAP version 13\n1..0\n# tests 0\n# pass 0\n# fail 0\n',
    '1..0\n',
    'No test files found, exiting with code 0\n',
    'No tests found, exiting with code 0\n',
    '\n  0 passing (1ms)\n',
    'collected 0 items\n\n==== no tests ran in 0.01s ====\n',
    '==== 5 deselected in 1.17s ====\n',
    'Ran 0 tests in 0.000s\n\nOK\n',
    '?   \texample.com/m\t[no test files]\n',
    'ok  \texample.com/m\t0.002s [no tests to run]\n',
    'test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out\n',
    '0 examples, 0 failures\n',
    'No tests executed!\n',
    'No test is available in /x/Demo.dll. Make sure that\n',
    '[INFO] No tests to run.\n',
    'No tests were found!!!\n',
  ])('with exit 0 is empty, not passed: %j', (output) => {
    expect(read(output)).toEqual({ outcome: 'empty', tests: 0, failures: [] });
  });

  test('is empty where tests are asked for and the output tells none or too few', () => {
    expect(read('all good', 0, 1).outcome).toBe('empty');
    expect(read('3 passed', 0, 4).outcome).toBe('empty');
    expect(read('4 passed', 0, 4)).toEqual({ outcome: 'passed', tests: 4, failures: [] });
  });

  test('is failed when its exit code says so', () => {
    expect(read('==== no tests ran in 0.01s ====', 5).outcome).toBe('failed');
  });
});

test('a gate that is no test runner passes by its exit code', () => {
  expect(read('Checked 12 files. No fixes applied.')).toEqual({
    outcome: 'passed',
    tests: null,
    failures: [],
  });
  expect(read('')).toMatchObject({ outcome: 'passed', tests: null });
  expect(read('Finished: 0 failed')).toMatchObject({ outcome: 'passed', tests: null });
});

test('a passing run has its tests counted, over several runners and packages', () => {
  const vitest = ' Test Files  1 passed (1)\n      Tests  5 passed (5)\n';
  expect(read(`${vitest}${vitest}test result: ok. 2 passed; 0 failed; 0 ignored\n`).tests).toBe(12);
});

test('a home-made runner is counted by its plain words', () => {
  expect(read('12 passed, 0 failed')).toMatchObject({ outcome: 'passed', tests: 12 });
  expect(read('Passed: 3\nFailed: 1', 1)).toMatchObject({ outcome: 'failed', tests: 4 });
});

describe('a gate whose tool is missing', () => {
  test.each([
    [127, 'sh: 1: vitest: not found'],
    [127, ''],
    [126, 'sh: 1: ./run.sh: Permission denied'],
    [2, 'bash: line 1: pytest: command not found'],
    [1, 'zsh: command not found: pytest'],
    [1, "'jest' is not recognized as an internal or external command,\noperable program or batch file."],
    [1, "foo: The term 'foo' is not recognized as a name of a cmdlet, function"],
    [1, 'npm error Missing script: "test"\nnpm error'],
    [1, 'npm ERR! Missing script: "test"'],
    [1, '> test\n> echo "Error: no test specified" && exit 1\n\nError: no test specified'],
    [1, ' ERR_PNPM_NO_SCRIPT  Missing script: test'],
    [1, 'error Command "test" not found.'],
    [1, `Usage Error: Couldn't find a script named "test".`],
    [2, "make: *** No rule to make target 'test'.  Stop."],
    [2, 'make: vitest: No such file or directory\nmake: *** [Makefile:2: test] Error 127'],
    [1, '/usr/bin/python3: No module named pytest'],
  ])('with exit %i is unavailable: %s', (exitCode, output) => {
    const reading = read(output, exitCode);
    expect(reading.outcome).toBe('unavailable');
    expect(reading.failures).toHaveLength(1);
  });

  test('is not what a test about shells prints', () => {
    const output =
      'bash: line 1: foo: command not found\n  ● shell › says so\nTests:       1 failed, 1 total\n';
    expect(read(output, 1)).toMatchObject({ outcome: 'failed', failures: ['shell › says so'] });
  });
});

test('a gate that ran out of time says so whatever it printed', () => {
  const run = { def: DEF, exitCode: null, timedOut: true, stdoutAndErr: '3 passed' };
  expect(readGate(run)).toEqual({ outcome: 'timed_out', tests: 3, failures: ['timed out'] });
});

describe('failures that are equal', () => {
  const SAME: [string, string, string][] = [
    ['durations', 'Error: gave up after 12.5s', 'Error: gave up after 3 s'],
    ['times', '2026-01-02T03:04:05.678Z ERROR no', '2027-12-31 23:59:59 ERROR no'],
    ['temporary folders', 'Error: ENOENT /tmp/x-8fj2/a.json', 'Error: ENOENT /tmp/x-9ab/a.json'],
    [
      'mac temporary folders',
      'Error: /var/folders/ab/cd_e/T/q1/a',
      'Error: /private/var/folders/zz/y/T/q2/a',
    ],
    ['addresses', 'panic: at 0xc000123456', 'panic: at 0xc000abcdef'],
    ['pids', 'Error: worker pid 4242 died', 'Error: worker pid 99 died'],
    ['lines and columns', 'src/a.c:10:5: error: no', 'src/a.c:99:1: error: no'],
    ['TypeScript places', 'a.ts(1,2): error TS2304: no', 'a.ts(33,4): error TS2304: no'],
    ['ports', 'Error: connect 127.0.0.1:43210', 'Error: connect 127.0.0.1:43211'],
    ['ids', 'Error: 6806b065-62ed-440c-b3f0-d41b0335628a', 'Error: 00000000-62ed-440c-b3f0-d41b0335628a'],
    ['colours', '\u001b[31mError\u001b[0m: no', 'Error: no'],
    ['order', 'Error: a\nError: b', 'Error: b\nError: a'],
  ];
  test.each(SAME)('do not differ by %s', (_, one, other) => {
    expect(read(one, 1).failures).toEqual(read(other, 1).failures);
  });

  test('do not differ by the durations of the runner', () => {
    const output = (ms: string) => `✖ bad one (${ms}ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n`;
    expect(read(output('1.29'), 1).failures).toEqual(read(output('22.1'), 1).failures);
  });
});

describe('the output of an unknown tool', () => {
  test('is its lines that look like errors', () => {
    expect(
      read('building\nsrc/a.c:3:1: error: no such thing\n2 warnings, 0 errors in b\ndone', 2).failures,
    ).toEqual(['src/a.c: error: no such thing']);
  });

  test('keeps the file of a linter line and counts the places', () => {
    const output =
      '/r/src/a.js\n  1:1  error  Bad  no-bad\n  2:1  error  Bad  no-bad\n\n/r/src/b.js\n  1:1  error  Bad  no-bad\n';
    expect(read(output, 1).failures).toEqual([
      '/r/src/a.js error Bad no-bad (×2)',
      '/r/src/b.js error Bad no-bad',
    ]);
  });

  test('is its last lines where none looks like an error', () => {
    expect(read('a\nb\n', 1).failures).toEqual(['a', 'b']);
  });

  test('is its exit code where it said nothing', () => {
    expect(read('', 3).failures).toEqual(['exit code 3']);
    expect(read('', null).failures).toEqual(['ended by a signal']);
  });

  test('is bounded', () => {
    const output = Array.from({ length: 500 }, (_, i) => `Error ${'e'.repeat(1000)} n${i}x`).join('\n');
    const { failures } = read(output, 1);
    expect(failures.length).toBeLessThanOrEqual(201);
    for (const failure of failures) expect(failure.length).toBeLessThanOrEqual(310);
  });
});

describe('failures before and after', () => {
  test.each([
    [['a'], ['a'], 'same'],
    [[], [], 'same'],
    [['a'], ['a', 'b'], 'new'],
    [['a'], ['b'], 'new'],
    [['a', 'b'], ['b'], 'fixed'],
    [['a'], [], 'fixed'],
    [['a'], ['a (×2)'], 'new'],
    [['a (×3)'], ['a (×2)'], 'fixed'],
    [['b', 'a'], ['a', 'b'], 'same'],
  ] as const)('%j and %j are %s', (before, after, expected) => {
    expect(compareFailures([...before], [...after])).toBe(expected);
  });

  test('a new failure is never lost beyond the bound', () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => `✖ t${1000 + i} (1ms)\n`).join('');
    const output = (n: number) => `${many(n)}ℹ pass 0\nℹ fail ${n}\n`;
    expect(compareFailures(read(output(300), 1).failures, read(output(301), 1).failures)).toBe('new');
    expect(compareFailures(read(output(301), 1).failures, read(output(300), 1).failures)).toBe('fixed');
  });
});

test('any output with any exit code is read without throwing', () => {
  const pieces = RUNNERS.flatMap(([, output]) => output.split(/(?<=\n)/));
  const line = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary' }), fc.string());
  const exit = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 60 }),
      exit,
      fc.boolean(),
      fc.nat(3),
      (lines, exitCode, timedOut, minTests) => {
        const run = { def: { ...DEF, minTests }, exitCode, timedOut, stdoutAndErr: lines.join('') };
        const reading = readGate(run);
        expect(readGate(run)).toEqual(reading);
        if (reading.tests !== null) expect(reading.tests).toBeGreaterThanOrEqual(0);
        expect(reading.failures.length > 0).toBe(reading.outcome !== 'passed' && reading.outcome !== 'empty');
        expect(reading.failures.every((failure) => failure !== '')).toBe(true);
        expect(compareFailures(reading.failures, reading.failures)).toBe('same');
      },
    ),
    { numRuns: 300 },
  );
});

describe('whether a gate may be what changed a file', () => {
  test.each([
    'npm test',
    'npm run test:unit -- --run',
    'npx vitest run src',
    'yarn test',
    'bun test',
    'python -m pytest -q',
    'cargo test --all',
    'go vet ./...',
    'npx tsc --noEmit -p .',
    'node --test',
  ])('%s only tests', (run) => {
    expect(mayRewrite(run)).toBe(false);
  });

  test.each([
    'prettier --write .',
    'npm run check',
    'npm run format && npm test',
    'npm test; git add -A',
    'vitest run -u',
    'npx jest --updateSnapshot',
    'npx tsc',
    'cargo fmt',
    'sh gate.sh',
    'pytest > report.txt',
    'npm testing-tool',
  ])('%s may rewrite', (run) => {
    expect(mayRewrite(run)).toBe(true);
  });
});
