/** What the exit code of a whole line says of one command in it. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainOf, ranIn, tellsNothing } from './shell-exit.ts';

/** The exit code of `npm test` in a line that ended with `code`: undefined where it is none of its commands. */
function exitOf(line: string, code: number): number | null | undefined {
  const ran = ranIn(line, code)?.filter(({ command }) => command === 'npm test');
  return ran === undefined || ran.length === 0 ? undefined : ran.at(-1)!.exitCode;
}

describe('the code of a line is the code of the command', () => {
  test.each([
    'npm test',
    '  npm   test  ',
    'npm test 2>&1',
    'npm test > /tmp/log 2>&1 < /dev/null',
    'npm test &> log',
    'CI=1 FORCE_COLOR=0 npm test',
    'env CI=1 npm test',
    'env -u CI X=1 npm test',
    'timeout 60 npm test',
    'timeout -k 5 -s KILL 60s npm test',
    'time npm test',
    'nice -n 10 timeout 60 env X=1 npm test',
    'cd app && npm test',
    'cd app && export X=1 && npm test',
    'cd app; npm test',
    'cd app\nnpm test',
    'npm run build; npm test',
    'npm run build || true; npm test',
    '(npm test)',
    '(cd app && npm test)',
    'cd app && (npm test) 2>&1',
    '{ npm test; }',
    'npm test # || true',
    'npm test;',
    'cat > x.ts <<EOF\nnpm test || true\nEOF\nnpm test',
    'X=$(cat a; echo b); npm test',
    'echo "a && b; c" && npm test',
    'npm run a | tee log; npm test',
    'echo y | npm test',
    'set -e; npm test',
    'set -o pipefail; npm test',
    'npm \\\n test',
    'npm test && echo done',
  ])('%s', (line) => {
    expect(exitOf(line, 0)).toBe(0);
    expect(exitOf(line, 2)).toBe(2);
  });
});

describe('a line that ended with 0 ran each of them with 0', () => {
  test.each([
    'npm test && npm run lint',
    'npm run lint && npm test',
    'npm run lint && npm test && npm run build',
    'set -e; npm test; npm run lint',
    'set -euo pipefail\nnpm test | tee log\nnpm run lint',
    'set -o pipefail && npm test 2>&1 | tail -5',
    'set -o pipefail; npm test 2>&1 | tail -5',
    '(set -e; npm test; true)',
    "cat <<'EOF' >x && npm test\nfalse\nEOF\n",
    '(npm test && npm run lint) && npm run build',
    '{ npm test && npm run lint; } && npm run build',
  ])('%s', (line) => {
    expect(exitOf(line, 0)).toBe(0);
    // Which of them failed nobody knows.
    expect(exitOf(line, 1)).toBeNull();
  });
});

describe('nobody knows the code', () => {
  test.each([
    'npm test || true',
    'npm test || echo failed',
    'npm test; echo exit=$?',
    'npm test\necho $?',
    'false && npm test; true',
    'true || npm test',
    'npm test | tail -5',
    'npm test 2>&1 | tee log',
    'npm test |& cat',
    '! npm test',
    'npm test &',
    'npm test & wait',
    'npm test && npm run lint || true',
    'npm test; true',
    '(npm test; true)',
    '(npm test || true) && npm run lint',
    '{ npm test; true; }',
    'set +e; npm test; true',
    'set -e; set +e; npm test; true',
    'set -e; npm test && true; echo',
    'set -e; npm test || true; echo',
    'set -e; ! npm test; true',
    '(set -e; npm test; true) && echo',
    'set -e; npm test | cat; true',
    'false && set -e; npm test; true',
    '(set -e); npm test; true',
    'exit 0; npm test',
    'exit 0 && npm test',
    'exec true && npm test',
    'eval "exit 0"; npm test',
    'alias npm=true; npm test',
    'trap "exit 0" EXIT; npm test',
    "trap 'true' ERR\nnpm test",
  ])('%s', (line) => expect(exitOf(line, 0)).toBeNull());
});

describe('it is no command of the line', () => {
  test.each([
    'echo "npm test"',
    "echo 'x && npm test'",
    'cat <<EOF\nnpm test\nEOF',
    'true # npm test',
    'echo $(npm test)',
    'X=$(npm test)',
    'echo `npm test`',
    'bash -c "npm test; true"',
    'PATH=/fake:$PATH npm test',
    'if npm test; then true; fi',
    'for x in 1; do npm test; done',
    'while npm test; do true; done',
    'case x in x) npm test;; esac',
    'npm() { true; }; npm test',
    'function npm { true; }; npm test',
    '(( 1 )) && npm test',
    'npm test "',
    'npm test | ! cat',
    'npm test | ! cat || true',
    'npm test && (true',
    'cat <<EOF\nnpm test',
    `${'('.repeat(100)}npm test${')'.repeat(100)}`,
  ])('%s', (line) => expect(exitOf(line, 0)).toBeUndefined());
});

test('a claim of several commands is one of each', () => {
  expect(chainOf('cd app && npm run lint && CI=1 npm test 2>&1')).toEqual(['npm run lint', 'npm test']);
  expect(chainOf('cd app')).toEqual(['cd app']);
  for (const line of ['a; b', 'a || b', 'a | b', '! a', '(a)', 'a &', 'if']) expect(chainOf(line)).toBeNull();
});

test('a line may end the same way whatever its commands do', () => {
  for (const line of [
    'npm test || true',
    'npm test; echo $?',
    'npm test | tail -5',
    'npm test; exit 0',
    'npm test &',
    'a && b || :',
    'if a; then b; fi',
  ])
    expect(tellsNothing(line), line).toBe(true);
  for (const line of [
    'cat a.txt',
    'echo x',
    'a && echo ok',
    'a; b',
    'echo x | node cli.js',
    'a | grep -q ok',
    'set -o pipefail; a | tail -5',
    'a; exit $code',
    'a || exit 1',
    '[[ -f x && -s x ]]',
    'diff <(a) <(b)',
  ])
    expect(tellsNothing(line), line).toBe(false);
});

// Windows has no such shell.
test.skipIf(process.platform === 'win32')(
  'what is said of a line is what a shell does with it',
  () => {
    const simple = fc.constantFrom(
      't 0',
      't 1',
      't 2',
      'true',
      'false',
      'set -e',
      'set +e',
      'echo x >/dev/null',
    );
    const joint = fc.constantFrom(' && ', ' || ', '; ', '\n', ' | ');
    const piece: fc.Arbitrary<string> = fc.letrec((tie) => ({
      one: fc.oneof(
        { weight: 5, arbitrary: simple },
        fc
          .tuple(tie('line'), fc.constantFrom('(L)', '{ L; }', '! t 1'))
          .map(([line, frame]) => frame.replace('L', () => String(line))),
      ),
      line: fc
        .array(fc.tuple(tie('one'), joint), { minLength: 1, maxLength: 4 })
        .map((parts) => parts.map(([one, next], at) => (at === 0 ? one : `${next}${one}`)).join('')),
    })).line as fc.Arbitrary<string>;
    fc.assert(
      fc.property(piece, (text) => {
        // Each `t` has a name of its own and tells how it ended.
        let count = 0;
        const line = text.replace(/\bt (\d)/g, (_, code) => `t ${code} n${count++}`);
        const script = `t() { echo "t $1 $2" >&2; return "$1"; }\n${line}\n`;
        const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
        for (const { command, exitCode } of ranIn(line, status) ?? [])
          if (/^t \d n/.test(command) && exitCode !== null)
            expect(`${exitCode} ${stderr.split('\n').includes(command)}`, line).toBe(`${command[2]} true`);
      }),
      { numRuns: 100 },
    );
  },
  60_000,
);

test('is never thrown off, whatever a line holds', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 5 }),
    fc.constantFrom(
      ' && ',
      ' || ',
      '|',
      '&',
      ';',
      '(',
      ')',
      '{ ',
      ' }',
      '$(',
      '`',
      '"',
      "'",
      '<<E\n',
      '\nE\n',
      '\\',
      'npm test',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const line = pieces.join('');
      ranIn(line, 0);
      chainOf(line);
      tellsNothing(line);
    }),
    { numRuns: 500 },
  );
  for (const space of ['\u00a0', '\u2028', '\f', '\v', '\u3000']) ranIn(`a ${space} ${space}&& b`, 0);
  for (const hard of ['(', '$(', '"$(', '`', '<<a ', 'a|', '{ ', "'", '\\', '! ', 'a && ', '\n', '<('])
    ranIn(hard.repeat(20_000 / hard.length), 0);
});
