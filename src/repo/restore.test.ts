import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Change } from '../core/index.ts';
import { type TestRepository, temporaryRepository } from './test-ground.ts';

let repo: TestRepository;
beforeEach(() => {
  repo = temporaryRepository();
});
afterEach(() => repo.remove());

const backwards = (changes: Change[]) =>
  changes.map((c) => ({ path: c.path, before: c.after, after: c.before }));

it('restoring there and back again gives the same trees, modes, links and bytes', async () => {
  repo.write('script', '#!/bin/sh');
  chmodSync(join(repo.root, 'script'), 0o755);
  repo.write('folder/deep/file', 'x');
  repo.write('becomes-folder', 'x');
  repo.write('was-folder/x', 'x');
  repo.commitAll('first');
  const ground = await repo.open();
  const before = await ground.snapshot();
  chmodSync(join(repo.root, 'script'), 0o644);
  rmSync(join(repo.root, 'folder'), { recursive: true });
  unlinkSync(join(repo.root, 'becomes-folder'));
  repo.write('becomes-folder/x', 'y');
  rmSync(join(repo.root, 'was-folder'), { recursive: true });
  repo.write('was-folder', 'now a file');
  repo.write('binary', Buffer.from([0, 255, 13, 10, 0]));
  symlinkSync('/etc/passwd', join(repo.root, 'link'));
  repo.write('new/a/b', 'z');
  const after = await ground.snapshot();
  const changes = await ground.changes(before.tree, after.tree);
  expect(await ground.apply(backwards(changes))).toEqual([]);
  expect((await ground.snapshot()).tree).toBe(before.tree);
  expect(lstatSync(join(repo.root, 'script')).mode & 0o111).toBe(0o111);
  expect(existsSync(join(repo.root, 'new'))).toBe(false);
  expect(await ground.apply(changes)).toEqual([]);
  expect((await ground.snapshot()).tree).toBe(after.tree);
  expect(readlinkSync(join(repo.root, 'link'))).toBe('/etc/passwd');
  expect([...readFileSync(join(repo.root, 'binary'))]).toEqual([0, 255, 13, 10, 0]);
  expect(await ground.apply(changes)).toEqual([]);
});

it('a path that someone else changed is a conflict and stays', async () => {
  repo.write('a', '1');
  repo.write('b', '1');
  const ground = await repo.open();
  const before = await ground.snapshot();
  repo.write('a', '2');
  repo.write('b', '2');
  repo.write('n', '2');
  const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
  repo.write('a', 'mine');
  repo.write('n', 'mine too');
  expect(await ground.apply(backwards(changes))).toEqual(['a', 'n']);
  expect([repo.text('a'), repo.text('b'), repo.text('n')]).toEqual(['mine', '1', 'mine too']);
});

it('nothing is written or removed through a link, above the root or in .git', async () => {
  repo.write('dir/x', 'inside');
  const ground = await repo.open();
  const before = await ground.snapshot();
  unlinkSync(join(repo.root, 'dir/x'));
  const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
  const outside = join(repo.root, '../outside');
  mkdirSync(outside);
  rmSync(join(repo.root, 'dir'), { recursive: true, force: true });
  symlinkSync(outside, join(repo.root, 'dir'));
  const blob = changes[0]!.before;
  const evil = ['../x', '/tmp/x', '.git/x', 'a/.GIT/x', 'a//b', ''].map((path) => ({
    path,
    before: null,
    after: blob,
  }));
  expect(await ground.apply([...backwards(changes), ...evil])).toEqual(['dir/x', ...evil.map((c) => c.path)]);
  expect(existsSync(join(outside, 'x'))).toBe(false);
});

it('folders go only when the restore emptied them', async () => {
  repo.write('keep', '1');
  mkdirSync(join(repo.root, 'empty'));
  const ground = await repo.open();
  const before = await ground.snapshot();
  repo.write('d/e/f', '1');
  repo.write('d/g', '1');
  const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
  await ground.apply(backwards(changes.filter((c) => c.path === 'd/e/f')));
  expect([
    existsSync(join(repo.root, 'd/e')),
    existsSync(join(repo.root, 'd')),
    existsSync(join(repo.root, 'empty')),
  ]).toEqual([false, true, true]);
});

it('content that is gone is a problem before anything is touched', async () => {
  repo.write('a', '1');
  const ground = await repo.open();
  await ground.snapshot();
  const now = (await ground.current(['a'])).get('a')!;
  const wanted = [
    { path: 'a', before: now, after: null },
    { path: 'b', before: null, after: '1234567890123456789012345678901234567890' },
  ];
  await expect(ground.apply(wanted)).rejects.toMatchObject({ facts: { code: 'ground.blob_missing' } });
  expect(repo.text('a')).toBe('1');
});

it('smudge filters make the work tree bytes', async () => {
  repo.git('config', 'filter.up.clean', 'tr a-z A-Z');
  repo.git('config', 'filter.up.smudge', 'tr A-Z a-z');
  repo.write('.gitattributes', '*.up filter=up\n');
  repo.write('d/x.up', 'hello');
  const ground = await repo.open();
  const before = await ground.snapshot();
  unlinkSync(join(repo.root, 'd/x.up'));
  const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
  expect(Buffer.from((await ground.read(changes[0]!.before!))!).toString()).toBe('HELLO');
  expect(await ground.apply(backwards(changes))).toEqual([]);
  expect(repo.text('d/x.up')).toBe('hello');
});
