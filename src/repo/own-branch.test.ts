import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commitOfWork, uncommitted } from './own-branch.ts';

let root: string;
const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-own-branch-'));
  git('init', '-q', '-b', 'main');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('uncommitted work is kept without the files that a work tree was given, however many and oddly named', async () => {
  mkdirSync(join(root, 'given'));
  // Together more than a command line takes.
  for (let n = 0; n < 9_500; n++) writeFileSync(join(root, 'given', `${'n'.repeat(240)}${n}`), '');
  for (const name of ['*', ':(top)x', '"q"\n-', '-f']) writeFileSync(join(root, name), '');
  const beside = { root, cwd: root, env: process.env };
  const given = await uncommitted(beside, root, { untracked: true });
  writeFileSync(join(root, 'work.txt'), 'work');
  const keep = (without: string[]) =>
    commitOfWork(beside, root, { head: git('rev-parse', 'HEAD'), message: 'kept', without });
  const kept = await keep([...given, 'ralph/logs']);
  expect(git('ls-tree', '-r', '--name-only', kept!)).toBe('work.txt');
  rmSync(join(root, 'work.txt'));
  expect(await keep(given)).toBeNull();
  expect(git('diff', '--cached', '--name-only')).toBe('');
}, 60_000);
