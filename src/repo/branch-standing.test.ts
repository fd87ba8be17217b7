/** Branches on real git: how much of them has not landed, and how much was not pushed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { branchStandings } from './branch-standing.ts';
import { temporaryRepository, testEnv } from './test-ground.ts';

let repository: ReturnType<typeof temporaryRepository>;
const git = (...args: string[]) => repository.git(...args);
beforeEach(() => {
  repository = temporaryRepository();
  commit('first');
});
afterEach(() => repository.remove());

function commit(name: string): string {
  const file = join(repository.root, `${name}.txt`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${name}\n`);
  git('add', '-A');
  git('commit', '-q', '-m', name);
  return git('rev-parse', 'HEAD');
}

const ask = (...names: string[]) =>
  branchStandings(
    { root: repository.root, cwd: repository.root, env: testEnv() },
    names.map((name) => ({ ref: `refs/heads/${name}`, onto: name === 'main' ? null : 'refs/heads/main' })),
  );

test('commits that the branch has and main has not are counted for each branch, those of a common history for both', async () => {
  git('switch', '-q', '-c', 'ralph/one');
  commit('a');
  git('switch', '-q', '-c', 'ralph/two');
  const tip = commit('b');
  git('switch', '-q', 'main');
  git('branch', 'ralph/none');
  const found = await ask('ralph/one', 'ralph/two', 'ralph/none', 'ralph/gone');
  expect([...found].map(([ref, { unmerged }]) => [ref, unmerged]).sort()).toEqual([
    ['refs/heads/ralph/none', 0],
    ['refs/heads/ralph/one', 1],
    ['refs/heads/ralph/two', 2],
  ]);
  expect(found.get('refs/heads/ralph/two')?.tip).toBe(tip);
});

test('what a merge brought in is not missing any more', async () => {
  git('switch', '-q', '-c', 'ralph/one');
  commit('a');
  git('switch', '-q', 'main');
  commit('meanwhile');
  git('merge', '-q', '--no-edit', 'ralph/one');
  expect((await ask('ralph/one')).get('refs/heads/ralph/one')?.unmerged).toBe(0);
});

test('commits that the upstream has not are counted; without an upstream, or where it is gone, nothing is said', async () => {
  const remote = join(repository.root, '..', 'remote.git');
  git('init', '-q', '--bare', remote);
  git('remote', 'add', 'origin', remote);
  git('push', '-q', '-u', 'origin', 'main');
  const unpushed = async () => (await ask('main')).get('refs/heads/main')?.unpushed;
  expect(await unpushed()).toBe(0);
  commit('a');
  commit('b');
  expect(await unpushed()).toBe(2);
  git('update-ref', '-d', 'refs/remotes/origin/main');
  expect(await unpushed()).toBeNull();
  git('branch', '--unset-upstream');
  expect(await unpushed()).toBeNull();
});

test('where the branch it is for is gone, nobody can tell how much has not landed', async () => {
  git('branch', 'ralph/one');
  git('branch', '-m', 'main', 'other');
  expect((await ask('ralph/one')).get('refs/heads/ralph/one')).toMatchObject({ unmerged: null });
});
