import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { decodeIndex } from './index-file.ts';
import { privateIndex } from './private-index.ts';
import { type TestRepository, temporaryRepository, testEnv } from './test-ground.ts';

let repo: TestRepository;
beforeEach(() => {
  repo = temporaryRepository();
  for (const path of ['a', 'd/b', 'd/c', 'd/e/f', 'd/e/g/h', 'z/y', 'z.txt', 'ralph/tasks.json', 'ö/ü'])
    repo.write(path, path);
  repo.commitAll('first');
});
afterEach(() => repo.remove());

const user = () => readFileSync(join(repo.root, '.git/index'));
const wish = (...excluded: string[]) => ({
  oidBytes: 20 as const,
  excluded: excluded.map((path) => Buffer.from(path)),
  present: () => true,
});

function gitOn(index: Buffer[], ...args: string[]): string {
  const file = join(repo.root, '.git/private');
  writeFileSync(file, Buffer.concat(index));
  const env = { ...testEnv(), GIT_INDEX_FILE: file };
  return execFileSync('git', args, { cwd: repo.root, env, encoding: 'utf8' }).trim();
}

it('without exclusions it writes the tree of HEAD, and git finds nothing wrong in it', () => {
  const { pieces, hidden, staged } = privateIndex(user(), wish())!;
  expect(staged).toBe(repo.git('rev-parse', 'HEAD^{tree}'));
  expect(gitOn(pieces, 'write-tree')).toBe(repo.git('rev-parse', 'HEAD^{tree}'));
  expect(gitOn(pieces, 'fsck', '--strict')).toBe('');
  expect(hidden).toEqual([]);
  expect(Buffer.concat(pieces).includes('TREE')).toBe(true);
});

it('whatever is left out, the tree is what git itself would write without it', () => {
  const paths = ['a', 'd', 'd/b', 'd/e', 'd/e/g/h', 'z', 'ralph/tasks.json', 'ö', 'missing', 'd/bb', 'z.tx'];
  fc.assert(
    fc.property(fc.subarray(paths), (excluded) => {
      const { pieces } = privateIndex(user(), wish(...excluded))!;
      const names = decodeIndex(Buffer.concat(pieces), 20)!.map(({ name }) => String(name));
      for (const path of excluded) {
        expect(names.some((name) => name === path || name.startsWith(`${path}/`))).toBe(false);
      }
      writeFileSync(join(repo.root, '.git/theirs'), user());
      const env = { ...testEnv(), GIT_INDEX_FILE: join(repo.root, '.git/theirs') };
      const theirs = (...args: string[]) =>
        execFileSync('git', args, { cwd: repo.root, env, encoding: 'utf8' }).trim();
      if (excluded.length > 0) theirs('rm', '-r', '-q', '--cached', '--ignore-unmatch', '--', ...excluded);
      expect(gitOn(pieces, 'write-tree')).toBe(theirs('write-tree'));
    }),
    { numRuns: 25 },
  );
});

it('marks that hide changes are cleared and named', () => {
  repo.git('update-index', '--assume-unchanged', 'a');
  repo.git('update-index', '--skip-worktree', 'd/b', 'd/c');
  const { pieces, hidden } = privateIndex(user(), {
    ...wish(),
    present: (name) => String(name) !== 'd/c',
  })!;
  expect(hidden.map(String)).toEqual(['a', 'd/b', 'd/c']);
  expect(gitOn(pieces, 'ls-files', '-v', 'a', 'd/b', 'd/c').split('\n')).toEqual(['H a', 'H d/b', 'S d/c']);
});

it('the hash of what is tracked stays when a file is staged, and changes with the names', () => {
  const { tracked } = privateIndex(user(), wish())!;
  repo.write('a', 'other');
  repo.git('add', 'a');
  expect(privateIndex(user(), wish())).toMatchObject({ tracked, staged: null });
  repo.git('rm', '-q', '--cached', 'a');
  expect(privateIndex(user(), wish())!.tracked).not.toBe(tracked);
});

it('a torn or foreign index is null or an index, never a crash', () => {
  const whole = user();
  fc.assert(
    fc.property(
      fc.nat(whole.length - 1),
      fc.integer({ min: 0, max: 255 }),
      fc.nat(whole.length),
      (at, byte, end) => {
        const torn = Buffer.from(whole.subarray(0, end));
        if (at < end) torn[at] = byte;
        privateIndex(torn, wish('d/e', 'ralph'));
      },
    ),
    { numRuns: 2_000 },
  );
});
