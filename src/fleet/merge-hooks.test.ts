/** Hooks of the user's that git runs before it commits a merge, on real git: a merge of a landing is heard by them too. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFleet, type TestFleet } from './test-fleet.ts';

let fleet: TestFleet;
let tree: string;
let tip: string;
let base: string;
beforeEach(async () => {
  fleet = openFleet();
  tree = await fleet.loop('one');
  tip = fleet.commit(tree, { 'c.txt': 'c\n' });
  base = fleet.commit(fleet.root, { 'd.txt': 'd\n' });
});
afterEach(() => {
  fleet.check();
  fleet.remove();
});

function hook(name: string, script: string, folder = join(fleet.root, '.git', 'hooks')): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const parents = () => fleet.git('log', '-1', '--format=%P', 'main');

test('commit-msg may edit the message, and pre-merge-commit sees the merge in its index', async () => {
  hook('commit-msg', 'test -f "$1" && printf "\\n\\n\\nReviewed: yes  \\n" >>"$1"');
  const seen = join(fleet.root, '..', 'seen');
  hook('pre-merge-commit', `pwd >'${seen}'; git ls-files >>'${seen}'; git rm -q --cached a.txt`);
  expect(await fleet.land('one')).toMatchObject({ kind: 'landed', merged: true });
  expect(readFileSync(seen, 'utf8').trim().split('\n')).toEqual([tree, 'a.txt', 'b.txt', 'c.txt', 'd.txt']);
  expect(fleet.git('log', '-1', '--format=%B', 'main')).toMatch(/^Merge loop one.*\n\nReviewed: yes$/s);
  expect([parents(), fleet.git('status', '--porcelain')]).toEqual([`${base} ${tip}`, '']);
  expect(fleet.git('ls-tree', '--name-only', 'main').split('\n')).toContain('a.txt');
});

test.each(['commit-msg', 'pre-merge-commit'])(
  'a refusal of %s parks the loop with its last words and its file, and nothing moves',
  async (name) => {
    const file = hook(name, 'echo first; echo "no ticket" >&2; exit 3', join(fleet.root, '..', 'shared'));
    fleet.git('config', 'core.hooksPath', join(fleet.root, '..', 'shared'));
    expect(await fleet.land('one')).toMatchObject({
      kind: 'parked',
      why: expect.stringMatching(
        new RegExp(`^hook ${file} does not let its merge with main pass: .*no ticket`, 's'),
      ),
      next: expect.stringMatching(/git merge ralph\/one\. Then `ralph loops merge one`/),
    });
    expect([fleet.git('rev-parse', 'main'), fleet.git('rev-parse', 'ralph/one')]).toEqual([base, tip]);
    expect(fleet.git('-C', tree, 'status', '--porcelain')).toBe('');
    fleet.git('config', '--unset', 'core.hooksPath');
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', merged: true });
  },
);

test('a hook that takes out the message, and one that is found by an included configuration', async () => {
  const folder = join(fleet.root, '..', 'shared');
  const file = hook('commit-msg', ': >"$1"', folder);
  writeFileSync(join(fleet.root, '..', 'more'), `[core]\n\thooksPath = ${folder}\n`);
  fleet.git('config', 'include.path', join(fleet.root, '..', 'more'));
  expect(await fleet.land('one')).toMatchObject({ why: expect.stringContaining(`${file} does not let`) });
  expect(fleet.known('one').parked?.why).toContain('it left no message');
});

test('one that hangs is ended with the landing, which waits', async () => {
  const ending = new AbortController();
  const began = join(fleet.root, '..', 'began');
  hook('pre-merge-commit', `touch '${began}'; sleep 60`);
  const watch = setInterval(() => existsSync(began) && ending.abort(), 20);
  try {
    expect(await fleet.land('one', { signal: ending.signal })).toMatchObject({ kind: 'queued' });
  } finally {
    clearInterval(watch);
  }
  expect([fleet.git('rev-parse', 'main'), fleet.git('rev-parse', 'ralph/one')]).toEqual([base, tip]);
});

test('where nothing is merged none of them runs', async () => {
  await fleet.land('one');
  const two = await fleet.loop('two');
  const ahead = fleet.commit(two, { 'e.txt': 'e\n' });
  hook('commit-msg', 'exit 1');
  expect(await fleet.land('two')).toMatchObject({ kind: 'landed', commit: ahead, merged: false });
});
