import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RepoGround } from './ground.ts';
import { type TestRepository, temporaryRepository } from './test-ground.ts';

let repository: TestRepository;
let ground: RepoGround;
beforeEach(async () => {
  repository = temporaryRepository();
  repository.write('a.txt', 'one\n');
  repository.commitAll('first');
  ground = await repository.open();
});
afterEach(() => repository.remove());

/** Changes a.txt between two snapshots and answers what it then held. */
async function changed(content: string): Promise<string> {
  const before = await ground.snapshot();
  repository.write('a.txt', content);
  const after = await ground.snapshot();
  const [change] = await ground.changes(before.tree, after.tree);
  return change!.after!;
}

const now = async () => (await ground.current(['a.txt'])).get('a.txt') ?? null;

it('content that a difference ended at is recognised', async () => {
  expect(await changed('two\n')).toBe(await now());
  expect(await now()).toBe(repository.git('hash-object', 'a.txt'));
});

it('a path that was written since is seen as it is now, though size and name are the same', async () => {
  const remembered = await changed('two\n');
  repository.write('a.txt', 'six\n');
  expect(await now()).toBe(repository.git('hash-object', 'a.txt'));
  expect(await now()).not.toBe(remembered);
});

it('a path that became executable, a link or nothing is not taken for what it was', async () => {
  const remembered = await changed('two\n');
  chmodSync(join(repository.root, 'a.txt'), 0o755);
  expect(await now()).toBe(`${remembered}:100755`);
  rmSync(join(repository.root, 'a.txt'));
  expect(await now()).toBeNull();
  repository.write('b.txt', 'two\n');
  symlinkSync('b.txt', join(repository.root, 'a.txt'));
  expect(await now()).toMatch(/:120000$/);
});

it('line endings that git converts are left for git to name', async () => {
  repository.write('.gitattributes', '*.txt text eol=crlf\n');
  const remembered = await changed('two\r\n');
  expect(await now()).toBe(remembered);
});

it('the recent commits follow our commits and those of others', async () => {
  expect(await ground.recentCommits(2)).toEqual(['first']);
  repository.write('a.txt', 'two\n');
  await ground.commit({ paths: ['a.txt'], message: 'feat: two\nlines\n\nbody\n' });
  expect(await ground.recentCommits(2)).toEqual([repository.git('log', '-1', '--format=%s'), 'first']);
  repository.commitAll('third');
  expect(await ground.recentCommits(2)).toEqual(['third', 'feat: two lines']);
});
