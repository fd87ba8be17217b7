import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type TestRepository, temporaryRepository, testEnv } from './test-ground.ts';

let repo: TestRepository;
beforeEach(() => {
  repo = temporaryRepository();
});
afterEach(() => repo.remove());

const index = () => readFileSync(join(repo.root, '.git/index')).toString('base64');
const hook = (name: string, body: string) => {
  repo.write(`.git/hooks/${name}`, `#!/bin/sh\n${body}\n`);
  chmodSync(join(repo.root, '.git/hooks', name), 0o755);
};
const landed = () => repo.git('show', '--format=', '--name-status', '--no-renames', 'HEAD');

it('commits exactly the named paths: changed, new, deleted; the rest stays staged or not', async () => {
  for (const name of ['changed', 'deleted', 'staged', 'unstaged', 'both', 'g*b']) repo.write(name, '1');
  repo.commitAll('first');
  for (const name of ['changed', 'staged', 'unstaged', 'both', 'glob', 'new/file', 'not-named'])
    repo.write(name, '2');
  unlinkSync(join(repo.root, 'deleted'));
  repo.write('g*b', '2');
  repo.git('add', 'staged', 'both');
  repo.write('both', '3');
  repo.git('add', '-N', 'glob');
  const ground = await repo.open();
  const paths = ['changed', 'deleted', 'new/file', 'g*b', 'missing', '../outside', 'new'];
  const result = await ground.commit({ paths, message: '#12 literal\n\nRalph-Task: x' });
  expect(result).toEqual({
    kind: 'committed',
    commit: repo.git('rev-parse', 'HEAD'),
    paths: ['changed', 'deleted', 'g*b', 'new/file'],
    hooked: false,
  });
  expect(landed()).toBe('M\tchanged\nD\tdeleted\nM\tg*b\nA\tnew/file');
  expect(repo.git('log', '-1', '--format=%s')).toBe('#12 literal');
  expect(repo.git('status', '--porcelain', '-uall')).toBe(
    'MM both\n A glob\nM  staged\n M unstaged\n?? not-named',
  );
});

it('makes the first commit of a repository', async () => {
  repo.write('a', '1');
  repo.write('b', '1');
  const ground = await repo.open();
  expect(await ground.commit({ paths: ['a'], message: 'first' })).toMatchObject({
    kind: 'committed',
    paths: ['a'],
  });
  expect(repo.git('status', '--porcelain')).toBe('?? b');
});

it('answers nothing when no path differs from HEAD, whatever is staged', async () => {
  repo.write('.gitignore', 'ignored\n');
  repo.write('a', '1');
  repo.commitAll('first');
  repo.write('ignored', '1');
  repo.write('a', '2');
  repo.git('add', 'a');
  repo.write('a', '1');
  repo.write('gone', '1');
  repo.git('add', 'gone');
  unlinkSync(join(repo.root, 'gone'));
  const was = index();
  const ground = await repo.open();
  for (const paths of [[], ['ignored'], ['a'], ['gone'], ['missing', '.git/config']]) {
    expect(await ground.commit({ paths, message: 'm' })).toEqual({ kind: 'nothing' });
  }
  expect(index()).toBe(was);
});

it('takes up a path whose deletion was staged but which is there again', async () => {
  repo.write('a', '1');
  repo.write('b', '1');
  repo.commitAll('first');
  repo.git('rm', '-q', '--cached', 'a', 'b');
  repo.write('a', '2');
  const ground = await repo.open();
  expect(await ground.commit({ paths: ['a', 'b'], message: 'm' })).toMatchObject({
    kind: 'committed',
    paths: ['a'],
  });
  expect(landed()).toBe('M\ta');
});

it('a failing hook gives its text and leaves the index to the byte', async () => {
  repo.write('a', '1');
  repo.commitAll('first');
  hook('pre-commit', 'echo "lint: 3 errors" >&2; exit 1');
  repo.write('a', '2');
  repo.write('new', '1');
  repo.write('staged', '1');
  repo.git('add', 'staged');
  const was = index();
  const head = repo.git('rev-parse', 'HEAD');
  const ground = await repo.open();
  const result = await ground.commit({ paths: ['a', 'new'], message: 'm' });
  expect(result).toMatchObject({ kind: 'failed', reason: expect.stringContaining('lint: 3 errors') });
  expect(index()).toBe(was);
  expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  repo.write('a', '3');
  expect(repo.git('status', '--porcelain')).toBe('M a\nA  staged\n?? new'.trim());
  hook('pre-commit', 'exit 0');
  expect((await ground.commit({ paths: ['a', 'new'], message: 'm' })).kind).toBe('committed');
});

it('a failing first commit leaves no index behind', async () => {
  hook('commit-msg', 'echo no ticket; exit 1');
  repo.write('a', '1');
  const ground = await repo.open();
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toEqual({
    kind: 'failed',
    reason: 'no ticket',
  });
  expect(existsSync(join(repo.root, '.git/index'))).toBe(false);
});

it('a failed signature or a missing identity is a reason', async () => {
  repo.write('a', '1');
  repo.commitAll('first');
  repo.write('a', '2');
  repo.git('config', 'user.useConfigOnly', 'true');
  const { PATH, HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_NOSYSTEM } = testEnv();
  const nobody = await repo.open({ env: { PATH, HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_NOSYSTEM } });
  expect(await nobody.commit({ paths: ['a'], message: 'm' })).toMatchObject({
    kind: 'failed',
    reason: expect.stringMatching(/tell me who you are/i),
  });
  repo.git('config', 'commit.gpgSign', 'true');
  repo.git('config', 'gpg.program', 'false');
  const was = index();
  const result = await (await repo.open()).commit({ paths: ['a'], message: 'm' });
  expect(result).toMatchObject({ kind: 'failed', reason: expect.stringContaining('gpg failed to sign') });
  expect(index()).toBe(was);
});

it('waits for index.lock, then says what is in the way', async () => {
  repo.write('a', '1');
  const lock = join(repo.root, '.git/index.lock');
  writeFileSync(lock, '');
  const hasty = await repo.open({ lockWaitMs: 300 });
  expect(await hasty.commit({ paths: ['a'], message: 'm' })).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('index.lock'),
  });
  expect(existsSync(lock)).toBe(true);
  const patient = await repo.open({ lockWaitMs: 20_000 });
  setTimeout(() => rmSync(lock), 300);
  expect((await patient.commit({ paths: ['a'], message: 'm' })).kind).toBe('committed');
});

it('a hook sees what it sees in a plain commit: its patterns find files, and no setting of ours', async () => {
  repo.commitAll('empty');
  const told = join(repo.privateDir, '..', 'told');
  hook(
    'pre-commit',
    `env | grep -E '^GIT_(LITERAL|OPTIONAL)' > '${told}'; git diff --cached --name-only -- '*.txt' >> '${told}'`,
  );
  const ground = await repo.open();
  repo.write('a [1].txt', 'one\n');
  repo.write('*.txt', 'two\n');
  expect(await ground.commit({ paths: ['*.txt'], message: 'm' })).toMatchObject({ kind: 'committed' });
  expect(readFileSync(told, 'utf8')).toBe('*.txt\n');
  expect(repo.git('ls-files')).toBe('*.txt');
});

it('a hook that hangs is ended, and one that leaves a process behind does not hold us', async () => {
  repo.write('a', '1');
  hook('pre-commit', 'sleep 60');
  const ground = await repo.open({ commitTimeoutMs: 700 });
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('in time'),
  });
  expect(existsSync(join(repo.root, '.git/index.lock'))).toBe(false);
  expect(existsSync(join(repo.root, '.git/index'))).toBe(false);
  hook('pre-commit', 'sleep 20 &\nexit 0');
  const other = await repo.open();
  expect((await other.commit({ paths: ['a'], message: 'm' })).kind).toBe('committed');
});

it('commits files that became folders or links and folders that became files', async () => {
  repo.write('file', '1');
  repo.write('folder/x', '1');
  repo.write('linked/x', '1');
  repo.write('target/x', '1');
  repo.commitAll('first');
  unlinkSync(join(repo.root, 'file'));
  repo.write('file/below', '2');
  rmSync(join(repo.root, 'folder'), { recursive: true });
  repo.write('folder', '2');
  rmSync(join(repo.root, 'linked'), { recursive: true });
  symlinkSync('target', join(repo.root, 'linked'));
  const ground = await repo.open();
  expect(await ground.commit({ paths: ['file'], message: 'm' })).toMatchObject({ kind: 'failed' });
  const paths = ['file', 'file/below', 'folder', 'folder/x', 'linked', 'linked/x'];
  expect(await ground.commit({ paths, message: 'm' })).toMatchObject({ kind: 'committed', paths });
  expect(landed().split('\n').sort()).toEqual([
    'A\tfile/below',
    'A\tfolder',
    'A\tlinked',
    'D\tfile',
    'D\tfolder/x',
    'D\tlinked/x',
  ]);
  expect(repo.git('status', '--porcelain')).toBe('');
});

it('fails with the reason while a merge is unfinished', async () => {
  repo.write('a', '1');
  repo.commitAll('first');
  repo.git('checkout', '-q', '-b', 'side');
  repo.write('a', 'side');
  repo.commitAll('side');
  repo.git('checkout', '-q', 'main');
  repo.write('a', 'main');
  repo.commitAll('main');
  expect(() => repo.git('merge', 'side')).toThrow();
  const ground = await repo.open();
  expect(await ground.operation()).toBe('merge');
  expect((await ground.snapshot()).tree).toMatch(/^[0-9a-f]{40}$/);
  const was = index();
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toEqual({
    kind: 'failed',
    reason: 'Unmerged paths: a',
  });
  repo.write('b', '1');
  expect(await ground.commit({ paths: ['b'], message: 'm' })).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('merge'),
  });
  expect(index()).toBe(was);
});

it('commits three hundred paths at once', async () => {
  const paths = Array.from({ length: 300 }, (_, n) => `many/f ${n}`);
  for (const path of paths) repo.write(path, path);
  const ground = await repo.open();
  expect(await ground.commit({ paths, message: 'm' })).toMatchObject({
    kind: 'committed',
    paths: [...paths].sort(),
  });
  expect(await ground.uncommitted(paths)).toEqual([]);
});

it('tells whether hooks ran, wherever they lie', async () => {
  const ground = await repo.open();
  repo.write('a', '1');
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toMatchObject({ hooked: false });
  repo.write('.husky/pre-commit', '#!/bin/sh\necho formatted > a; git add a\n');
  chmodSync(join(repo.root, '.husky/pre-commit'), 0o755);
  repo.git('config', 'core.hooksPath', '.husky');
  repo.write('a', '2');
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toMatchObject({
    kind: 'committed',
    hooked: true,
  });
  expect(repo.git('show', 'HEAD:a')).toBe('formatted');
  expect(repo.git('status', '--porcelain')).toBe('?? .husky/');
  expect(await ground.tracked(['a', '.husky/pre-commit'])).toEqual(['a']);
});

it('commits nothing once core.worktree sends git to another folder', async () => {
  repo.write('a', '1');
  const head = repo.commitAll('first');
  const ground = await repo.open();
  const config = join(repo.root, '.git/config');
  const clean = readFileSync(config, 'utf8');
  repo.write('a', '2');
  for (const setting of ['[core]\n\tworktree = /tmp\n', '[CORE] WorkTree = "/nonexistent/x y" ; why\n']) {
    writeFileSync(config, clean + setting);
    const result = await ground.commit({ paths: ['a'], message: 'm' });
    expect(result).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/core\.worktree .* changed during the session from not set to \/[^;]+;/),
    });
    const command = /`(.+)`/.exec(result.kind === 'failed' ? result.reason : '')![1]!;
    execFileSync('sh', ['-c', command], { cwd: repo.root, env: testEnv() });
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  }
  const own = join(repo.root, '.git/config.worktree');
  writeFileSync(config, `${clean}[extensions]\n\tworktreeConfig = true\n`);
  writeFileSync(own, '[core]\n\tworktree = /tmp\n');
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('config.worktree'),
  });
  expect(await (await repo.open()).commit({ paths: ['a'], message: 'm' })).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('core.worktree of this repository is /tmp;'),
  });
  writeFileSync(own, '[core]\n\tworktree = ..\n');
  expect((await ground.commit({ paths: ['a'], message: 'm' })).kind).toBe('committed');
});

it('an interrupted commit ends git and a hook that ignores SIGTERM, and leaves the index to the byte', async () => {
  repo.write('a', '1');
  repo.commitAll('first');
  repo.write('a', '2');
  repo.write('new', '1');
  const was = index();
  const told = join(repo.privateDir, 'told');
  hook('pre-commit', `trap '' TERM\necho "$$ $RALPH_MARKER" > '${told}'\nwhile :; do sleep 0.1; done`);
  const ground = await repo.open();
  const controller = new AbortController();
  const request = { paths: ['a', 'new'], message: 'm', signal: controller.signal, marker: 'mark-1' };
  const running = ground.commit(request);
  await vi.waitFor(() => expect(readFileSync(told, 'utf8')).toMatch(/\n$/), 10_000);
  controller.abort();
  expect(await running).toEqual({ kind: 'failed', reason: 'the commit was interrupted' });
  const [pid, marker] = readFileSync(told, 'utf8').trim().split(' ');
  expect(marker).toBe('mark-1');
  // A zombie that nobody has collected yet has no command line.
  const line = existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  expect(line).toBe('');
  expect(existsSync(join(repo.root, '.git/index.lock'))).toBe(false);
  expect(index()).toBe(was);
  expect(await ground.commit(request)).toEqual({ kind: 'failed', reason: 'the commit was interrupted' });
  hook('pre-commit', 'exit 0');
  expect((await ground.commit({ paths: ['a', 'new'], message: 'm' })).kind).toBe('committed');
});

it('a git killed outright leaves no lock of its own behind', async () => {
  repo.write('a', '1');
  repo.commitAll('first');
  repo.write('a', '2');
  const was = index();
  hook('pre-commit', 'kill -9 $PPID');
  const ground = await repo.open();
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toMatchObject({ kind: 'failed' });
  expect(readdirSync(join(repo.root, '.git')).filter((name) => name.endsWith('.lock'))).toEqual([]);
  expect(index()).toBe(was);
});

it('names only what is in the commit: no nested repository, nothing a hook took out', async () => {
  repo.write('a', '1');
  repo.write('b', '1');
  repo.commitAll('first');
  repo.git('init', '-q', 'n1');
  repo.write('n1/x', '1');
  repo.git('-C', 'n1', 'add', 'x');
  repo.git('-C', 'n1', 'commit', '-q', '-m', 'inner');
  repo.write('a', '2');
  repo.write('b', '2');
  const ground = await repo.open();
  expect(await ground.commit({ paths: ['n1', 'n1/x'], message: 'm' })).toEqual({ kind: 'nothing' });
  hook('pre-commit', 'git reset -q HEAD -- b');
  const result = await ground.commit({ paths: ['a', 'b', 'n1', 'n1/x'], message: 'm' });
  expect(result).toMatchObject({ kind: 'committed', paths: ['a'], hooked: true });
  expect(landed()).toBe('M\ta');
});

it('lands work that lies where a sparse checkout shows nothing', async () => {
  repo.write('in/a', '1');
  repo.write('out/b', '1');
  repo.commitAll('first');
  repo.git('sparse-checkout', 'set', '--cone', 'in');
  const ground = await repo.open();
  repo.write('in/a', '2');
  repo.write('out/new', '2');
  const result = await ground.commit({ paths: ['in/a', 'out/new'], message: 'm' });
  expect(result).toMatchObject({ kind: 'committed', paths: ['in/a', 'out/new'] });
  expect(landed()).toBe('M\tin/a\nA\tout/new');
  expect(repo.git('ls-files', 'out')).toBe('out/b\nout/new');
});

it('lands new work outside of the cone of a sparse index and leaves an index that git can read', async () => {
  for (const folder of ['in', 'out', 'far']) repo.write(`${folder}/a`, '1');
  repo.commitAll('first');
  repo.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'in');
  const ground = await repo.open();
  repo.write('out/new', '2');
  repo.write('in/new', '2');
  const result = await ground.commit({ paths: ['in/new', 'out/new'], message: 'm' });
  expect(result).toMatchObject({ kind: 'committed', paths: ['in/new', 'out/new'] });
  expect(landed()).toBe('A\tin/new\nA\tout/new');
  expect(repo.git('ls-files')).toBe('far/a\nin/a\nin/new\nout/a\nout/new');
  expect(existsSync(join(repo.root, '.git/index.lock'))).toBe(false);
});

it('takes away the lock of a git that died of a signal it could not hear', async () => {
  repo.write('a', '1');
  repo.commitAll('first');
  repo.write('a', '2');
  hook('pre-commit', 'kill -SEGV $PPID');
  const ground = await repo.open();
  expect(await ground.commit({ paths: ['a'], message: 'm' })).toMatchObject({ kind: 'failed' });
  expect(existsSync(join(repo.root, '.git/index.lock'))).toBe(false);
});
