import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRawDiff } from './snapshots.ts';
import { type TestRepository, temporaryRepository, testEnv } from './test-ground.ts';

let repo: TestRepository;
beforeEach(() => {
  repo = temporaryRepository();
});
afterEach(() => repo.remove());

const paths = (changes: { path: string }[]) => changes.map((change) => change.path);

describe('a snapshot', () => {
  it('of a clean tree is the tree of HEAD', async () => {
    repo.write('a', '1');
    repo.write('d/b', '2');
    const head = repo.commitAll('first');
    const mark = await (await repo.open()).snapshot();
    expect(mark).toEqual({ head, branch: 'main', tree: repo.git('rev-parse', 'HEAD^{tree}') });
  });

  it('works before the first commit and in an empty folder', async () => {
    const ground = await repo.open();
    const empty = await ground.snapshot();
    expect(empty).toMatchObject({ head: null, branch: 'main' });
    repo.write('a', '1');
    expect(paths(await ground.changes(empty.tree, (await ground.snapshot()).tree))).toEqual(['a']);
  });

  it('holds untracked files and leaves ignored ones out, but not tracked ignored ones', async () => {
    repo.write('.gitignore', '*.log\n');
    repo.write('kept.log', '1');
    repo.git('add', '-f', 'kept.log', '.gitignore');
    repo.git('commit', '-qm', 'first');
    const ground = await repo.open();
    const before = await ground.snapshot();
    repo.write('x.log', 'ignored');
    repo.write('kept.log', '2');
    repo.write('new', '3');
    const after = await ground.snapshot();
    expect(paths(await ground.changes(before.tree, after.tree))).toEqual(['kept.log', 'new']);
  });

  it('sees an ignored file once it is tracked by force', async () => {
    repo.write('.gitignore', '*.log\n');
    repo.commitAll('first');
    const ground = await repo.open();
    const before = await ground.snapshot();
    repo.write('x.log', '1');
    repo.git('add', '-f', 'x.log');
    repo.git('commit', '-qm', 'forced');
    expect(paths(await ground.changes(before.tree, (await ground.snapshot()).tree))).toEqual(['x.log']);
  });

  it('is taken of the work tree, whatever is staged', async () => {
    for (const name of ['both', 'deleted', 'unstaged']) repo.write(name, 'old');
    repo.commitAll('first');
    repo.write('both', 'staged');
    repo.git('add', 'both');
    repo.write('both', 'work tree');
    repo.git('rm', '-q', '--cached', 'deleted');
    repo.write('intent', 'yes');
    repo.write('intent-gone', 'x');
    repo.git('add', '-N', 'intent', 'intent-gone');
    unlinkSync(join(repo.root, 'intent-gone'));
    repo.write('staged-gone', 'x');
    repo.git('add', 'staged-gone');
    unlinkSync(join(repo.root, 'staged-gone'));
    const index = readFileSync(join(repo.root, '.git/index'));
    const ground = await repo.open();
    const { tree } = await ground.snapshot();
    const changes = await ground.changes(repo.git('rev-parse', 'HEAD^{tree}'), tree);
    expect(paths(changes)).toEqual(['both', 'intent']);
    expect(Buffer.from((await ground.read(changes[0]!.after!))!).toString()).toBe('work tree');
    expect(readFileSync(join(repo.root, '.git/index')).equals(index)).toBe(true);
  });

  it('sees a change of the same length in the same second', async () => {
    const ground = await repo.open();
    repo.write('a', 'one');
    repo.commitAll('first');
    let before = await ground.snapshot();
    for (const text of ['two', 'six', 'ten', 'one']) {
      repo.write('a', text);
      const after = await ground.snapshot();
      expect(paths(await ground.changes(before.tree, after.tree))).toEqual(['a']);
      before = after;
    }
  });

  it('sees changes that assume-unchanged and skip-worktree would hide', async () => {
    repo.write('a', 'one');
    repo.write('b', 'one');
    repo.commitAll('first');
    repo.git('update-index', '--assume-unchanged', 'a');
    repo.git('update-index', '--skip-worktree', 'b');
    repo.write('a', 'two!');
    repo.write('b', 'two!');
    const ground = await repo.open();
    const { tree } = await ground.snapshot();
    expect(paths(await ground.changes(repo.git('rev-parse', 'HEAD^{tree}'), tree))).toEqual(['a', 'b']);
  });

  it('leaves excluded and session paths out, tracked or not', async () => {
    repo.write('ralph/tasks.json', '1');
    repo.write('.ralph/prd.json', '1');
    repo.write('a[b]*', '1');
    repo.write('ab', '1');
    repo.write('z', '1');
    repo.commitAll('first');
    const ground = await repo.open({
      privateDir: join(repo.root, '.ralph-sessions/s'),
      excluded: ['ralph/tasks.json', 'a[b]*', '../outside', '/etc'],
    });
    const before = await ground.snapshot();
    for (const path of ['ralph/tasks.json', '.ralph/prd.json', '.ralph/new', 'a[b]*', 'ab'])
      repo.write(path, '22');
    const after = await ground.snapshot();
    expect(paths(await ground.changes(before.tree, after.tree))).toEqual(['ab']);
    repo.write('n', '1');
    repo.commitAll('second');
    expect(paths(await ground.changes(after.tree, (await ground.snapshot()).tree))).toEqual(['n']);
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD', 'ralph')).toBe('ralph/tasks.json');
  });

  it('names every odd path exactly', async () => {
    const odd = [
      '-dash',
      'new\nline',
      'quo"te',
      'sp ace ',
      'tab\t',
      'ümlaut',
      ':(top)x',
      '*',
      'back\\slash',
      '😀',
    ];
    const bytes = Buffer.from([0x62, 0xff, 0x63]);
    const ground = await repo.open();
    const before = await ground.snapshot();
    for (const path of odd) repo.write(path, path);
    writeFileSync(Buffer.concat([Buffer.from(`${repo.root}/`), bytes]), 'bytes');
    const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
    expect(new Set(paths(changes))).toEqual(new Set([...odd, 'b\udcffc']));
    const now = await ground.current(paths(changes));
    for (const { path, after } of changes) expect(now.get(path)).toBe(after);
    expect(await ground.apply(changes.map((c) => ({ ...c, before: c.after, after: c.before })))).toEqual([]);
    expect(readdirSync(repo.root)).toEqual(['.git']);
    expect(await ground.apply(changes)).toEqual([]);
    expect((await ground.snapshot()).tree).not.toBe(before.tree);
    const done = await ground.commit({ paths: paths(changes), message: 'odd' });
    expect(done.kind).toBe('committed');
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  it('shows renames, mode and type changes as what they are', async () => {
    repo.write('old', 'text');
    repo.write('script', '#!/bin/sh');
    repo.write('link', 'a file');
    repo.commitAll('first');
    const ground = await repo.open();
    const before = await ground.snapshot();
    renameSync(join(repo.root, 'old'), join(repo.root, 'renamed'));
    chmodSync(join(repo.root, 'script'), 0o755);
    unlinkSync(join(repo.root, 'link'));
    symlinkSync('script', join(repo.root, 'link'));
    const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
    const by = Object.fromEntries(changes.map((change) => [change.path, change]));
    expect(paths(changes)).toEqual(['link', 'old', 'renamed', 'script']);
    expect(by.script!.after).toBe(`${by.script!.before}:100755`);
    expect(by.link!.after).toMatch(/:120000$/);
    expect(by.old!.before).toBe(by.renamed!.after);
    const now = await ground.current(paths(changes));
    for (const { path, after } of changes) expect(now.get(path)).toBe(after);
    expect(Buffer.from((await ground.read(by.link!.after!))!).toString()).toBe('script');
  });

  it('uses at most three processes and adds nothing to the repository', async () => {
    for (let n = 0; n < 20; n += 1) repo.write(`f${n}`, `${n}`);
    repo.commitAll('first');
    const log = join(repo.privateDir, '..', 'calls');
    const bin = join(repo.privateDir, '..', 'bin');
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\necho x >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
    const ground = await repo.open({ env: testEnv({ PATH: `${bin}:${testEnv().PATH}` }), excluded: ['f1'] });
    const spent = () => {
      const count = readFileSync(log, 'utf8').split('\n').length - 1;
      rmSync(log);
      return count;
    };
    expect(existsSync(log)).toBe(false);
    let before = await ground.snapshot();
    // The first one asks for the tree of HEAD; what is as young as the index makes git write it anew.
    expect(spent()).toBeLessThanOrEqual(3);
    const objects = repo.git('count-objects', '-v');
    repo.write('f2', 'changed');
    repo.write('new', 'file');
    const after = await ground.snapshot();
    await ground.changes(before.tree, after.tree);
    await ground.changes(after.tree, after.tree);
    expect(spent()).toBe(3);
    expect(repo.git('count-objects', '-v')).toBe(objects);
    before = after;
    repo.commitAll('by an agent');
    repo.write('f3', 'dirty');
    expect(paths(await ground.changes(before.tree, (await ground.snapshot()).tree))).toEqual(['f3']);
    expect(spent()).toBe(3);
    repo.write('brand new', '1');
    expect((await ground.commit({ paths: ['f3', 'brand new'], message: 'm' })).kind).toBe('committed');
    // The first one also asks where the hooks lie.
    expect(spent()).toBe(4);
    repo.write('brand new', '2');
    expect((await ground.commit({ paths: ['brand new'], message: 'm' })).kind).toBe('committed');
    expect(spent()).toBe(2);
  });

  it('leaves a repository with a hundred commits as it was', async () => {
    repo.importHistory(100);
    repo.write('f1', 'stashed');
    repo.git('stash');
    repo.write('f2', 'staged');
    repo.git('add', 'f2');
    const look = () => [
      repo.git('count-objects', '-v'),
      repo.git('stash', 'list'),
      repo.git('for-each-ref'),
      repo.git('fsck', '--full', '--strict'),
      repo.git('rev-list', '--all', '--count'),
      readdirSync(join(repo.root, '.git')).sort().join(),
      readFileSync(join(repo.root, '.git/index')).toString('base64'),
    ];
    const was = look();
    const ground = await repo.open();
    const before = await ground.snapshot();
    for (let n = 0; n < 5; n += 1) {
      repo.write(`new${n}`, `content ${n}`);
      await ground.snapshot();
    }
    expect(look()).toEqual(was);
    repo.git('gc', '--prune=now', '-q');
    expect(repo.git('fsck', '--full', '--strict')).toBe('');
    expect(repo.git('log', '--all', '--oneline').split('\n').length).toBeGreaterThan(100);
    const after = await ground.snapshot();
    expect(await ground.changes(before.tree, after.tree)).toHaveLength(5);
  });

  it('writes no tree anew where nothing changed, and one wherever something did', async () => {
    repo.write('a', 'one');
    utimesSync(join(repo.root, 'a'), 1, 1);
    repo.commitAll('first');
    const log = join(repo.privateDir, '..', 'calls');
    const shim = join(repo.privateDir, '..', 'shim');
    const { PATH = '' } = process.env;
    mkdirSync(shim);
    writeFileSync(join(shim, 'git'), `#!/bin/sh\necho "$*" >>"${log}"\nPATH='${PATH}' exec git "$@"\n`, {
      mode: 0o755,
    });
    const ground = await repo.open({ env: testEnv({ PATH: `${shim}:${PATH}` }) });
    const trees: string[] = [];
    const written = async () => {
      writeFileSync(log, '');
      trees.push((await ground.snapshot()).tree);
      return readFileSync(log, 'utf8').includes('write-tree');
    };
    const old = (path: string) => utimesSync(join(repo.root, path), 1, 1);
    repo.write('b', 'two');
    old('b');
    expect(await written()).toBe(true);
    expect(await written()).toBe(false);
    repo.write('a', 'eno');
    expect(await written()).toBe(true);
    repo.write('a', 'one');
    old('a');
    expect(await written()).toBe(true);
    expect(await written()).toBe(false);
    unlinkSync(join(repo.root, 'b'));
    // The user's own objects hold that tree, and may lose it.
    expect([await written(), await written()]).toEqual([true, true]);
    expect(trees[0]).toBe(trees[1]);
    expect(trees[2]).not.toBe(trees[0]);
    expect([trees[3], trees[4]]).toEqual([trees[0], trees[0]]);
    expect([trees[5], trees[6]]).toEqual([repo.git('rev-parse', 'HEAD^{tree}').trim(), trees[5]]);
  });

  it('knows its first tree where only files of the root are left out', async () => {
    for (const path of ['a', 'plan', 'd/b']) {
      repo.write(path, path);
      utimesSync(join(repo.root, path), 1, 1);
    }
    repo.commitAll('first');
    const ground = await repo.open({ excluded: ['plan'] });
    const { tree } = await ground.snapshot();
    repo.git('rm', '-q', '--cached', 'plan');
    expect(tree).toBe(repo.git('write-tree'));
    repo.write('a', 'other');
    expect(paths(await ground.changes(tree, (await ground.snapshot()).tree))).toEqual(['a']);
  });

  it('survives objects that were pruned under it', async () => {
    repo.write('a', 'one');
    repo.commitAll('first');
    repo.write('b', 'made and committed by an agent');
    const ground = await repo.open();
    repo.commitAll('second');
    const before = await ground.snapshot();
    repo.git('reset', '-q', 'HEAD~1');
    repo.git('reflog', 'expire', '--expire=now', '--all');
    repo.git('gc', '-q', '--prune=now');
    repo.write('c', 'new');
    expect((await ground.snapshot()).tree).not.toBe(before.tree);
  });

  it('honours autocrlf and repositories that already hold CRLF', async () => {
    repo.write('crlf.txt', 'a\r\nb\r\n');
    repo.commitAll('first');
    repo.git('config', 'core.autocrlf', 'true');
    repo.git('config', 'core.safecrlf', 'true');
    const ground = await repo.open();
    const before = await ground.snapshot();
    repo.write('crlf.txt', 'a\r\nc\r\n');
    repo.write('new.txt', 'x\r\ny\r\n');
    const after = await ground.snapshot();
    const changes = await ground.changes(before.tree, after.tree);
    expect(paths(changes)).toEqual(['crlf.txt', 'new.txt']);
    expect(Buffer.from((await ground.read(changes[1]!.after!))!).toString()).toBe('x\ny\n');
    const now = await ground.current(['crlf.txt', 'new.txt']);
    for (const { path, after: id } of changes) expect(now.get(path)).toBe(id);
    unlinkSync(join(repo.root, 'new.txt'));
    expect(await ground.apply([{ ...changes[1]!, before: null }])).toEqual([]);
    expect(repo.text('new.txt')).toBe('x\r\ny\r\n');
  });

  it('runs no hook, no fsmonitor and keeps no split index', async () => {
    repo.write('a', '1');
    repo.commitAll('first');
    const ran = join(repo.privateDir, '..', 'ran');
    repo.write('.git/hooks/post-index-change', `#!/bin/sh\necho x >> '${ran}'\n`);
    chmodSync(join(repo.root, '.git/hooks/post-index-change'), 0o755);
    repo.write('.git/watch', `#!/bin/sh\necho x >> '${ran}'\n`);
    chmodSync(join(repo.root, '.git/watch'), 0o755);
    repo.git('config', 'core.fsmonitor', '.git/watch');
    repo.git('config', 'core.splitIndex', 'true');
    repo.git('update-index', '--split-index');
    rmSync(ran, { force: true });
    repo.write('tracked task', '1');
    const ground = await repo.open({ excluded: ['a'] });
    const before = await ground.snapshot();
    repo.write('b', '2');
    expect(paths(await ground.changes(before.tree, (await ground.snapshot()).tree))).toEqual(['b']);
    expect(await ground.changes(before.tree, repo.git('mktree', '--missing'))).toHaveLength(1);
    expect(() => readFileSync(ran)).toThrow();
  });

  it('reads index versions 2, 3 and 4 and a sparse checkout', async () => {
    repo.write('in/a', '1');
    repo.write('out/b', '1');
    repo.write('top', '1');
    repo.commitAll('first');
    for (const version of ['4', '2']) {
      repo.git('update-index', '--index-version', version);
      const ground = await repo.open();
      expect((await ground.snapshot()).tree).toBe(repo.git('rev-parse', 'HEAD^{tree}'));
    }
    repo.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'in');
    const ground = await repo.open({ excluded: ['top'] });
    const before = await ground.snapshot();
    repo.write('in/a', '22');
    repo.write('out/new', '3');
    const after = await ground.snapshot();
    expect(paths(await ground.changes(before.tree, after.tree))).toEqual(['in/a', 'out/new']);
    expect((await ground.current(['in/a', 'out/b'])).get('out/b')).toBe(null);
  });

  it('records a submodule as one entry and notes an empty nested repository', async () => {
    const other = temporaryRepository();
    other.write('x', '1');
    other.commitAll('other');
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.root, 'sub');
    repo.commitAll('first');
    const ground = await repo.open();
    const before = await ground.snapshot();
    repo.write('sub/y', 'not ours');
    mkdirSync(join(repo.root, 'nested'));
    execFileSync('git', ['init', '-q'], { cwd: join(repo.root, 'nested'), env: testEnv() });
    repo.write('nested/f', '1');
    expect((await ground.snapshot()).tree).toBe(before.tree);
    expect(ground.notes().join()).toContain("'nested/'");
    const [sub, nested, ...more] = await ground.inner();
    expect(sub).toMatchObject({ path: 'sub', submodule: true, files: ['y'] });
    expect(nested).toMatchObject({ path: 'nested', submodule: false, files: ['f'] });
    expect(more).toEqual([]);
    repo.write('sub/y', 'something else');
    expect((await ground.inner())[0]!.print).not.toBe(sub!.print);
    execFileSync('git', ['commit', '-q', '--allow-empty', '-m', 'in sub'], {
      cwd: join(repo.root, 'sub'),
      env: testEnv(),
    });
    const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
    expect(paths(changes)).toEqual(['sub']);
    expect(changes[0]!.after).toMatch(/:160000$/);
    expect((await ground.current(['sub'])).get('sub')).toBe(changes[0]!.after);
    expect(await ground.apply([{ ...changes[0]!, before: changes[0]!.after, after: null }])).toEqual(['sub']);
    other.remove();
  });

  it('passes by FIFOs, and a tracked file that became one is noted', async () => {
    repo.write('a', '1');
    repo.commitAll('first');
    execFileSync('mkfifo', [join(repo.root, 'fifo')]);
    const ground = await repo.open();
    const before = await ground.snapshot();
    expect(before.tree).toBe(repo.git('rev-parse', 'HEAD^{tree}'));
    unlinkSync(join(repo.root, 'a'));
    execFileSync('mkfifo', [join(repo.root, 'a')]);
    await ground.snapshot();
    expect(ground.notes().join()).toContain('a: can only add regular files');
    expect((await ground.current(['a', 'fifo'])).get('a')).toBe('special');
    expect(await ground.apply([{ path: 'fifo', before: null, after: null }])).toEqual(['fifo']);
  });

  it.skipIf(process.getuid?.() === 0)('notes an unreadable file (root can read everything)', async () => {
    repo.write('a', '1');
    repo.write('secret', '1');
    chmodSync(join(repo.root, 'secret'), 0);
    const ground = await repo.open();
    await ground.snapshot();
    expect(ground.notes().join()).toContain('secret');
  });

  it('starts anew from a torn private index and a left lock', async () => {
    repo.write('a', '1');
    repo.commitAll('first');
    const { tree } = await (await repo.open()).snapshot();
    const folder = join(repo.privateDir, 'git');
    const index = readdirSync(folder).find((name) => name.startsWith('index.'))!;
    writeFileSync(join(folder, index), 'DIRCtorn');
    writeFileSync(join(folder, `${index}.lock`), '');
    const ground = await repo.open();
    expect((await ground.snapshot()).tree).toBe(tree);
    expect(readdirSync(folder).filter((name) => name.startsWith('index.'))).toHaveLength(1);
  });

  it('works in a linked work tree and from a folder below the root', async () => {
    repo.write('d/a', '1');
    const head = repo.commitAll('first');
    repo.git('worktree', 'add', '-q', '-b', 'side', join(repo.root, '../side'));
    const side = join(repo.root, '../side');
    const ground = await repo.open({ cwd: join(side, 'd') });
    expect(ground).toMatchObject({ id: 'worktree:side', hasGit: true });
    expect(ground.cwd).toBe(`${ground.root}/d`);
    const before = await ground.snapshot();
    expect(before).toEqual({ head, branch: 'side', tree: repo.git('rev-parse', 'HEAD^{tree}') });
    writeFileSync(join(side, 'd/.ralph'), 'left out below, too');
    writeFileSync(join(side, 'top'), '1');
    const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
    expect(paths(changes)).toEqual(['top']);
    expect(await ground.commit({ paths: ['top'], message: 'side' })).toMatchObject({ kind: 'committed' });
    expect(repo.git('log', '-1', '--format=%s', 'side')).toBe('side');
  });

  it('is not led astray by the variables of a hook', async () => {
    repo.write('a', '1');
    const head = repo.commitAll('first');
    const env = testEnv({
      GIT_DIR: '/nowhere',
      GIT_INDEX_FILE: '/nowhere/index',
      GIT_WORK_TREE: '/',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_PREFIX: 'x/',
    });
    const ground = await repo.open({ env });
    expect((await ground.snapshot()).head).toBe(head);
    repo.write('a', '2');
    expect((await ground.commit({ paths: ['a'], message: 'm' })).kind).toBe('committed');
  });

  it('of two callers at once comes out the same', async () => {
    repo.write('a', '1');
    const ground = await repo.open();
    const marks = await Promise.all([
      ground.snapshot(),
      ground.snapshot(),
      ground.current(['a']),
      ground.snapshot(),
    ]);
    expect((marks[3] as { tree: string }).tree).toBe((marks[0] as { tree: string }).tree);
  });

  it('is by content, so a touched file changes nothing', async () => {
    repo.write('a', '1');
    const ground = await repo.open();
    const { tree } = await ground.snapshot();
    utimesSync(join(repo.root, 'a'), 1, 1);
    expect((await ground.snapshot()).tree).toBe(tree);
  });
});

it('a raw diff of another form is a bug, not a guess', () => {
  expect(parseRawDiff(Buffer.alloc(0))).toEqual([]);
  expect(() => parseRawDiff(Buffer.from('what'))).toThrow();
});
