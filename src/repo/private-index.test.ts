import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
  from: join(repo.root, '.git/index'),
  to: join(repo.root, '.git/private'),
  oidBytes: 20 as const,
  excluded: excluded.map((path) => Buffer.from(path)),
  present: () => true,
});
const headTree = () => ({
  content: execFileSync('git', ['cat-file', 'tree', 'HEAD^{tree}'], { cwd: repo.root }),
  objects: join(repo.root, '.git/objects'),
});
const written = () => readFileSync(join(repo.root, '.git/private'));

function gitOn(...args: string[]): string {
  const env = { ...testEnv(), GIT_INDEX_FILE: join(repo.root, '.git/private') };
  return execFileSync('git', args, { cwd: repo.root, env, encoding: 'utf8' }).trim();
}

it('without exclusions it writes the tree of HEAD, and git finds nothing wrong in it', () => {
  const { hidden, staged } = privateIndex(wish())!;
  expect(written().includes('TREE')).toBe(true);
  expect(staged).toBe(repo.git('rev-parse', 'HEAD^{tree}'));
  expect(gitOn('write-tree')).toBe(repo.git('rev-parse', 'HEAD^{tree}'));
  gitOn('update-index', '--force-write-index');
  expect(gitOn('fsck', '--strict')).toBe('');
  expect(hidden).toEqual([]);
});

it('whatever is left out, the tree is what git itself would write without it', () => {
  const paths = ['a', 'd', 'd/b', 'd/e', 'd/e/g/h', 'z', 'ralph/tasks.json', 'ö', 'missing', 'd/bb', 'z.tx'];
  fc.assert(
    fc.property(fc.subarray(paths), fc.boolean(), (excluded, isGiven) => {
      const root = isGiven ? headTree() : null;
      expect(privateIndex({ ...wish(...excluded), root })).not.toBeNull();
      const names = decodeIndex(written(), 20)!.map(({ name }) => String(name));
      for (const path of excluded) {
        expect(names.some((name) => name === path || name.startsWith(`${path}/`))).toBe(false);
      }
      writeFileSync(join(repo.root, '.git/theirs'), user());
      const env = { ...testEnv(), GIT_INDEX_FILE: join(repo.root, '.git/theirs') };
      const theirs = (...args: string[]) =>
        execFileSync('git', args, { cwd: repo.root, env, encoding: 'utf8' }).trim();
      if (excluded.length > 0) theirs('rm', '-r', '-q', '--cached', '--ignore-unmatch', '--', ...excluded);
      expect(gitOn('write-tree')).toBe(theirs('write-tree'));
    }),
    { numRuns: 25 },
  );
});

it('the tree without files of the root is made along, so that git has nothing to write', () => {
  const { made } = privateIndex({ ...wish('a', 'z.txt'), root: headTree() })!;
  const before = written();
  const tree = gitOn('write-tree');
  expect(made).toBe(tree);
  expect(written().equals(before)).toBe(true);
  expect(gitOn('ls-tree', '--name-only', tree).split('\n')).toEqual(['d', 'ralph', 'z', '"\\303\\266"']);
  gitOn('update-index', '--force-write-index');
  expect(gitOn('fsck', '--strict')).toBe('');
});

it('a tree that the index does not stand for is not believed', () => {
  const root = headTree();
  repo.write('a', 'other');
  repo.commitAll('second');
  privateIndex({ ...wish('z.txt'), root });
  repo.git('rm', '-q', '--cached', 'z.txt');
  expect(gitOn('write-tree')).toBe(repo.git('write-tree'));
});

it('marks that hide changes are cleared and named', () => {
  repo.git('update-index', '--assume-unchanged', 'a');
  repo.git('update-index', '--skip-worktree', 'd/b', 'd/c');
  const { hidden } = privateIndex({ ...wish(), present: (name) => String(name) !== 'd/c' })!;
  expect(hidden.map(String)).toEqual(['a', 'd/b', 'd/c']);
  expect(gitOn('ls-files', '-v', 'a', 'd/b', 'd/c').split('\n')).toEqual(['H a', 'H d/b', 'S d/c']);
});

it('the hash of what is tracked stays when a file is staged, and changes with the names', () => {
  const { tracked } = privateIndex(wish())!;
  repo.write('a', 'other');
  repo.git('add', 'a');
  expect(privateIndex(wish())).toMatchObject({ tracked, staged: null });
  repo.git('rm', '-q', '--cached', 'a');
  expect(privateIndex(wish())!.tracked).not.toBe(tracked);
});

it('an index far larger than the window goes through it whole, whatever is cut out and however long the names are', () => {
  const oid = repo.git('rev-parse', 'HEAD:a');
  const paths = Array.from({ length: 3_000 }, (_, n) => `many/${n % 7}/${'n'.repeat(n % 300)}${n}`);
  paths.push(`many/${'long/'.repeat(900)}end`);
  const lines = paths.map((path) => `100644 ${oid}\t${path}\n`).join('');
  const add = (input: string) =>
    execFileSync('git', ['update-index', '--index-info'], { cwd: repo.root, env: testEnv(), input });
  add(lines);
  repo.git('update-index', '--assume-unchanged', paths[1_500]!);
  const tree = repo.git('write-tree');
  const { hidden, tracked } = privateIndex(wish())!;
  expect(gitOn('write-tree')).toBe(tree);
  expect(hidden.map(String)).toEqual([paths[1_500]]);
  privateIndex(wish('many/3', 'many/5', 'z'));
  const kept = decodeIndex(user(), 20)!.map(({ name }) => String(name));
  expect(decodeIndex(written(), 20)!.map(({ name }) => String(name))).toEqual(
    kept.filter((name) => !/^(many\/[35]|z)(\/|$)/.test(name)),
  );
  add(`100644 ${oid}\t${paths[2_000]!}x\n`);
  expect(privateIndex({ ...wish(), to: null })!.tracked).not.toBe(tracked);
  repo.git('update-index', '--force-remove', `${paths[2_000]!}x`);
  expect(privateIndex({ ...wish(), to: null })!.tracked).toBe(tracked);
  repo.git('update-index', '--index-version', '4');
  privateIndex(wish());
  expect(gitOn('write-tree')).toBe(tree);
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
        writeFileSync(join(repo.root, '.git/torn'), torn);
        const made = privateIndex({ ...wish('d/e', 'ralph'), from: join(repo.root, '.git/torn') });
        expect(existsSync(join(repo.root, '.git/private'))).toBe(made !== null);
      },
    ),
    { numRuns: 1_000 },
  );
});
