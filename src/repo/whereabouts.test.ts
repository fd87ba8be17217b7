import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type TestRepository, temporaryRepository } from './test-ground.ts';

let repository: TestRepository;
afterEach(() => repository?.remove());

test('files, folders, ignored ones, other repositories and links are told apart; absent ones are missing', async () => {
  repository = temporaryRepository();
  repository.write('.gitignore', 'dist/\n*.tmp\n');
  repository.write('src/x.ts', 'x\n');
  repository.write('dist/x.js', 'x\n');
  repository.write('kept.tmp', 'x\n');
  repository.write('sub/y.ts', 'y\n');
  repository.git('add', '-f', 'kept.tmp');
  mkdirSync(join(repository.root, 'sub/.git'));
  symlinkSync('src', join(repository.root, 'link'));
  symlinkSync('/', join(repository.root, 'away'));
  const ground = await repository.open();
  const asked = [
    'src/x.ts',
    'src',
    'dist/x.js',
    'kept.tmp',
    'sub/y.ts',
    'link/x.ts',
    'away/etc',
    'gone.ts',
    'x\0y',
    '../up',
    '.git/HEAD',
    'a'.repeat(9_000),
    '',
  ];
  expect([...(await ground.whereabouts(asked))]).toEqual([
    ['src/x.ts', { kind: 'file', path: 'src/x.ts' }],
    ['src', { kind: 'folder', path: 'src' }],
    ['dist/x.js', { kind: 'ignored', path: 'dist/x.js' }],
    ['kept.tmp', { kind: 'file', path: 'kept.tmp' }],
    ['sub/y.ts', { kind: 'inner', path: 'sub/y.ts' }],
    ['link/x.ts', { kind: 'file', path: 'src/x.ts' }],
    ['away/etc', { kind: 'outside', path: 'away/etc' }],
  ]);
});

test('without git the folders that snapshots pass over are ignored', async () => {
  repository = temporaryRepository({ init: false });
  repository.write('node_modules/a/x.js', 'x\n');
  repository.write('src/x.js', 'x\n');
  const ground = await repository.open({ useGit: false });
  const found = await ground.whereabouts(['node_modules/a/x.js', 'src/x.js']);
  expect([...found.values()].map(({ kind }) => kind)).toEqual(['ignored', 'file']);
});
