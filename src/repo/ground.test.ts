import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseBlobId } from './blob-id.ts';
import { type Dirty, excludeLocally, findProject } from './index.ts';
import { decodeIndex, encodeIndex } from './index-file.ts';
import { pathBytes, pathText } from './paths.ts';
import { type TestRepository, temporaryRepository, testEnv } from './test-ground.ts';

let repo: TestRepository;
beforeEach(() => {
  repo = temporaryRepository();
});
afterEach(() => repo.remove());

describe('HEAD', () => {
  it('is read unborn, loose, packed, detached and through a symbolic ref', async () => {
    const ground = await repo.open({ env: testEnv() });
    expect(await ground.head()).toEqual({ head: null, branch: 'main' });
    repo.write('a', '1');
    const head = repo.commitAll('first');
    expect(await ground.head()).toEqual({ head, branch: 'main' });
    repo.git('checkout', '-q', '-b', 'feature/x');
    repo.git('pack-refs', '--all');
    expect(await ground.head()).toEqual({ head, branch: 'feature/x' });
    repo.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    repo.git('symbolic-ref', 'HEAD', 'refs/heads/alias');
    expect(await ground.head()).toEqual({ head, branch: 'alias' });
    repo.git('checkout', '-q', '--detach', 'main');
    expect(await ground.head()).toEqual({ head, branch: null });
    repo.git('symbolic-ref', 'HEAD', 'refs/heads/feature');
    expect(await ground.head()).toEqual({ head: null, branch: 'feature' });
  });

  it('of an odd form is asked of git', async () => {
    repo.write('a', '1');
    const head = repo.commitAll('first');
    const ground = await repo.open();
    mkdirSync(join(repo.root, '.git/reftable'));
    expect(await ground.head()).toEqual({ head, branch: 'main' });
  });
});

it('unfinished operations are named', async () => {
  repo.write('a', '1');
  repo.commitAll('first');
  repo.write('a', '2');
  const second = repo.commitAll('second');
  const ground = await repo.open();
  expect(await ground.operation()).toBe(null);
  repo.git('bisect', 'start');
  expect(await ground.operation()).toBe('bisect');
  repo.git('bisect', 'reset');
  repo.write('a', '3');
  repo.commitAll('third');
  expect(() => repo.git('revert', second)).toThrow();
  expect(await ground.operation()).toBe('revert');
  repo.git('revert', '--abort');
  repo.git('checkout', '-q', '-b', 'side', 'HEAD~2');
  repo.write('a', 'side');
  repo.commitAll('side');
  expect(() => repo.git('cherry-pick', 'main')).toThrow();
  expect(await ground.operation()).toBe('cherry-pick');
  repo.git('cherry-pick', '--abort');
  expect(() => repo.git('rebase', 'main')).toThrow();
  expect(await ground.operation()).toBe('rebase');
});

it('history: between, ancestors, kept commits and subjects', async () => {
  const ground = await repo.open();
  expect(await ground.recentCommits(3)).toEqual([]);
  repo.write('a', '1');
  const first = repo.commitAll('first');
  const second = repo.commitAll('second');
  const third = repo.commitAll('third');
  expect(await ground.commitsBetween(null, second)).toEqual([first, second]);
  expect(await ground.commitsBetween(first, third)).toEqual([second, third]);
  expect(await ground.commitsBetween(third, third)).toEqual([]);
  expect(await ground.commitsBetween('1'.repeat(40), third)).toEqual([third]);
  expect(await ground.recentCommits(2)).toEqual(['third', 'second']);
  expect(await ground.isAncestor(first, third)).toBe(true);
  expect(await ground.isAncestor(third, first)).toBe(false);
  expect(await ground.isAncestor(null, first)).toBe(true);
  expect(await ground.isAncestor(first, null)).toBe(false);
  expect(await ground.isAncestor('1'.repeat(40), first)).toBe(false);
  const asked = [first.slice(0, 8), second, third, '1'.repeat(40), '--all', 'HEAD'];
  expect(await ground.commitPlaces(asked, second)).toEqual(
    new Map([
      [first.slice(0, 8), 'before'],
      [second, 'before'],
      [third, 'aside'],
    ]),
  );
  expect(await ground.commitPlaces([first], null)).toEqual(new Map([[first, 'aside']]));
  repo.git('reset', '-q', '--hard', first);
  await ground.keep(third, '260208-143000', 1);
  expect(repo.git('rev-parse', 'refs/ralph/260208-143000/1')).toBe(third);
  // What no repository here has cannot be kept; a name that is taken otherwise is a problem.
  await ground.keep('1'.repeat(40), 's', 1);
  await expect(ground.keep(third, '260208-143000/1', 2)).rejects.toMatchObject({
    facts: { code: 'git.keep_failed' },
  });
});

it('small files are read as text, of large ones the size is told, and what is no plain file is missing', async () => {
  repo.write('three', 'a\nb\nc');
  repo.write('none', '');
  repo.write('folder/one', 'a\n');
  repo.write('large', 'x'.repeat(3_000_000));
  const ground = await repo.open();
  const found = await ground.texts(['three', 'none', 'folder', 'folder/one', 'large', 'gone', '../up']);
  expect([...found]).toEqual([
    ['three', { bytes: 5, text: 'a\nb\nc' }],
    ['none', { bytes: 0, text: '' }],
    ['folder/one', { bytes: 2, text: 'a\n' }],
    ['large', { bytes: 3_000_000, text: null }],
  ]);
});

const names = (dirty: Dirty[]) => dirty.map(({ path }) => path);

it('uncommitted and dirty are told by content', async () => {
  for (const name of ['same', 'changed', 'deleted', 'task']) repo.write(name, '1');
  repo.commitAll('first');
  repo.write('changed', '2');
  repo.write('task', '2');
  repo.write('new/x', '2');
  renameSync(join(repo.root, 'deleted'), join(repo.root, 'renamed'));
  const ground = await repo.open({ excluded: ['task'] });
  const all = ['same', 'changed', 'deleted', 'renamed', 'new/x', 'missing'];
  expect(await ground.uncommitted(all)).toEqual(['changed', 'deleted', 'renamed', 'new/x']);
  expect(names((await ground.standing()).dirty)).toEqual(['changed', 'deleted', 'new/x', 'renamed']);
  for (let n = 0; n < 250; n += 1) repo.write(`many/${n}`, '');
  expect((await ground.standing()).dirty).toHaveLength(254);
});

it('what is staged is dirty though the file is as HEAD has it; what git is to overlook is not', async () => {
  for (const name of ['staged', 'local', 'gone']) repo.write(name, '1');
  repo.commitAll('first');
  repo.write('staged', '2');
  repo.git('add', 'staged');
  repo.write('staged', '1');
  repo.git('update-index', '--assume-unchanged', 'local');
  repo.write('local', 'mine');
  repo.git('rm', '-q', 'gone');
  const ground = await repo.open();
  const { dirty, mark } = await ground.standing();
  expect(dirty).toEqual([{ path: 'gone', now: null }, { path: 'staged' }]);
  expect(await ground.snapshot()).toEqual(mark);
});

it('before the first commit everything that git would add is dirty', async () => {
  repo.write('a', '1');
  repo.write('.gitignore', '*.log\n');
  repo.write('x.log', '1');
  expect(names((await (await repo.open()).standing()).dirty)).toEqual(['.gitignore', 'a']);
});

it('what links hide is not at the path', async () => {
  repo.write('d/x', '1');
  symlinkSync('d', join(repo.root, 'link'));
  const ground = await repo.open();
  const now = await ground.current(['d/x', 'link', 'link/x', 'd', '../x', '.git/config']);
  expect([...now.values()].map((id) => id !== null)).toEqual([true, true, false, false, false, false]);
});

it('without git the same code works on a private repository', async () => {
  const folder = temporaryRepository({ init: false });
  const ground = await folder.open({ useGit: false, privateDir: join(folder.root, '.ralph-sessions/s') });
  expect(ground).toMatchObject({ hasGit: false, root: folder.root });
  folder.write('a', '1');
  folder.write('.gitignore', '*.log\n');
  folder.write('x.log', '1');
  folder.write('node_modules/x', '1');
  const before = await ground.snapshot();
  expect(before).toMatchObject({ head: null, branch: null });
  folder.write('a', '2');
  folder.write('b', '2');
  const again = await folder.open({ privateDir: join(folder.root, '.ralph-sessions/s') });
  const after = await again.snapshot();
  const changes = await again.changes(before.tree, after.tree);
  expect(changes.map((change) => change.path)).toEqual(['a', 'b']);
  expect(await again.apply(changes.map((c) => ({ path: c.path, before: c.after, after: c.before })))).toEqual(
    [],
  );
  expect(folder.text('a')).toBe('1');
  expect((await again.snapshot()).tree).toBe(before.tree);
  expect(await again.commit({ paths: ['a'], message: 'm' })).toEqual({ kind: 'nothing' });
  expect((await again.standing()).dirty).toEqual([]);
  expect(await again.uncommitted(['a', 'gone'])).toEqual(['a', 'gone']);
  expect(existsSync(join(folder.root, '.git'))).toBe(false);
  folder.remove();
});

it('useGit false leaves an existing repository out of it', async () => {
  repo.write('d/a', '1');
  repo.commitAll('first');
  const ground = await repo.open({ useGit: false, cwd: join(repo.root, 'd') });
  expect(ground).toMatchObject({ hasGit: false, root: join(repo.root, 'd') });
  expect(await ground.head()).toEqual({ head: null, branch: null });
  expect((await ground.snapshot()).tree).toBe(repo.git('rev-parse', 'HEAD:d'));
});

it('a missing git, a missing folder and a place inside .git are problems', async () => {
  await expect(repo.open({ env: { PATH: '/nonexistent' } })).rejects.toMatchObject({
    facts: { code: 'git.missing' },
  });
  await expect(findProject('/nonexistent/x')).rejects.toMatchObject({ facts: { code: 'ground.missing' } });
  await expect(findProject(join(repo.root, '.git/refs'))).rejects.toMatchObject({
    facts: { code: 'ground.inside_git' },
  });
});

it('the project is found around a folder, through links, and not in a broken .git', async () => {
  mkdirSync(join(repo.root, 'd/e'), { recursive: true });
  symlinkSync(join(repo.root, 'd'), join(repo.root, '../link'));
  const gitDir = join(repo.root, '.git');
  const found = await findProject(join(repo.root, '../link/e'));
  expect(found).toEqual({ root: repo.root, cwd: join(repo.root, 'd/e'), gitDir, commonDir: gitDir });
  writeFileSync(join(repo.root, 'd/.git'), 'gitdir: /nonexistent\n');
  expect((await findProject(join(repo.root, 'd'))).root).toBe(repo.root);
});

it('local excludes are added once, after a missing line end too', async () => {
  const file = join(repo.root, '.git/info/exclude');
  writeFileSync(file, 'mine');
  chmodSync(file, 0o644);
  expect(await excludeLocally(join(repo.root, '.git'), ['ralph/logs', 'mine'])).toEqual(['ralph/logs']);
  expect(await excludeLocally(join(repo.root, '.git'), ['ralph/logs', 'x', 'x'])).toEqual(['x']);
  expect(readFileSync(file, 'utf8')).toBe('mine\nralph/logs\nx\n');
});

it('a sha256 repository works as well', async () => {
  const folder = temporaryRepository({ init: false });
  folder.git('init', '-q', '--object-format=sha256', '-b', 'main');
  folder.write('a', '1');
  folder.commitAll('first');
  const ground = await folder.open({ excluded: ['zz'] });
  const before = await ground.snapshot();
  expect(before.tree).toBe(folder.git('rev-parse', 'HEAD^{tree}'));
  folder.write('a', '2');
  const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
  expect((await ground.current(['a'])).get('a')).toBe(changes[0]!.after);
  folder.remove();
});

describe('parsers', () => {
  it('every sequence of bytes is a path text that comes back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = pathText(bytes);
        expect([...pathBytes(text)]).toEqual([...bytes]);
        expect(JSON.parse(JSON.stringify(text))).toBe(text);
      }),
    );
  });

  it('a torn or foreign index is null, never a crash', () => {
    repo.write('a/b', '1');
    repo.write('a/c', '1');
    repo.commitAll('first');
    const whole = readFileSync(join(repo.root, '.git/index'));
    expect(decodeIndex(whole, 20)).toHaveLength(2);
    expect(decodeIndex(encodeIndex(decodeIndex(whole, 20)!, 20), 20)).toHaveLength(2);
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.integer({ min: 0, max: 255 }),
        fc.nat(whole.length),
        (at, byte, end) => {
          const torn = Buffer.from(whole.subarray(0, end));
          if (at < end) torn[at] = byte;
          decodeIndex(torn, 20);
        },
      ),
    );
  });

  it('a blob id is its own form only', () => {
    expect(parseBlobId('special')).toBe(null);
    expect(parseBlobId(`${'a'.repeat(40)}:100755`)).toEqual({ oid: 'a'.repeat(40), mode: '100755' });
    expect(parseBlobId(`--${'a'.repeat(40)}`)).toBe(null);
  });
});
