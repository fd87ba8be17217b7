import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bringBack, movedBranches, readRefs } from './refs.ts';

let dir: string;
const env = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.invalid', ...args], {
    cwd: dir,
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
const refs = () => readRefs({ commonDir: join(dir, '.git') });

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-refs-'));
  git('init', '-q', '-b', 'main');
  writeFileSync(join(dir, 'a'), '1\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('branches, tags and stashes that are gone come back by the commands that are named', () => {
  git('branch', 'keep');
  git('branch', 'deep/er');
  git('tag', '-a', 'v1', '-m', 'one');
  git('pack-refs', '--all');
  git('branch', 'loose');
  for (const text of ['2', '3']) {
    writeFileSync(join(dir, 'a'), `${text}\n`);
    git('stash', 'push', '-qm', `work ${text}, it's mine`);
  }
  const before = refs()!;
  const state = () => [git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags')];
  const was = state();
  git('branch', '-D', 'keep', 'deep/er', 'loose');
  git('tag', '-d', 'v1');
  git('stash', 'drop', '-q', 'stash@{1}');
  const commands = bringBack(before, refs()!);
  expect(commands.map((line) => line.split(' ')[1])).toEqual(['branch', 'branch', 'branch', 'tag', 'stash']);
  for (const command of commands) execFileSync('sh', ['-c', command], { cwd: dir, env });
  expect(state()).toEqual(was);
  expect(git('stash', 'list')).toContain("work 2, it's mine");
  expect(git('stash', 'list').split('\n')).toHaveLength(2);
});

it('packing, moving and making refs removes none', () => {
  git('branch', 'keep');
  const before = refs()!;
  git('pack-refs', '--all', '--prune');
  git('commit', '-q', '--allow-empty', '-m', 'second');
  git('branch', '-f', 'keep', 'main');
  git('tag', 'new');
  expect(bringBack(before, refs()!)).toEqual([]);
});

it('a branch that names another commit is told with both, packed or loose; new, removed and unmoved ones are not', () => {
  for (const name of ['keep', 'gone', 'still']) git('branch', name);
  git('pack-refs', '--all');
  const before = refs()!;
  const was = git('rev-parse', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'second');
  git('branch', '-f', 'keep', 'main');
  git('branch', '-D', 'gone');
  git('branch', 'new');
  const is = git('rev-parse', 'main');
  expect(movedBranches(before, refs()!)).toEqual([
    `refs/heads/keep ${was} ${is}`,
    `refs/heads/main ${was} ${is}`,
  ]);
});

it('another way to keep refs, and no repository, are passed by', () => {
  mkdirSync(join(dir, '.git/reftable'));
  expect(refs()).toBeNull();
  expect(readRefs({ commonDir: null })).toBeNull();
  expect(readRefs({ commonDir: join(dir, 'nowhere') })).toEqual({ names: {}, stash: [] });
});
