/** What of git's own files is put back after an attempt, and what is left as it is. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configEntries } from './config-text.ts';
import type { RepoGround } from './index.ts';
import { type TestRepository, temporaryRepository, testEnv } from './test-ground.ts';

let repo: TestRepository;
let ground: RepoGround;
beforeEach(async () => {
  repo = temporaryRepository();
  repo.write('a.txt', 'old\n');
  repo.commitAll('first');
  ground = await repo.open();
});
afterEach(() => repo.remove());

/** What is answered after this was done, as `path: what (outcome)`. */
async function saidOf(work: () => void, until: number | null = null): Promise<string[]> {
  const before = await ground.rules();
  work();
  const changes = await ground.restoreRules(before, until);
  return changes.map(({ path, what, outcome }) => `${path}: ${what.join(', ')} (${outcome})`);
}

describe('the configuration', () => {
  test.each([
    ['filter.x.clean', 'cat'],
    ['include.path', '../evil'],
    ['core.excludesFile', '/tmp/ignore'],
    ['core.attributesFile', '/tmp/attributes'],
    ['core.hooksPath', '/tmp/hooks'],
    ['core.fsmonitor', '/tmp/monitor'],
    ['core.worktree', '/tmp'],
    ['core.fileMode', 'false'],
    ['core.sshCommand', 'sh'],
    ['core.pager', 'sh -c evil'],
    ['diff.x.textconv', 'cat'],
    ['diff.ignoreSubmodules', 'all'],
    ['alias.st', '!evil'],
    ['gpg.program', '/tmp/gpg'],
    ['submodule.lib.ignore', 'all'],
  ])('%s = %s is put back', async (key, value) => {
    const text = repo.text('.git/config');
    const said = await saidOf(() => repo.git('config', key, value));
    const name = key.toLowerCase();
    expect(said).toEqual([`.git/config: ${name} (restored)`]);
    expect(repo.text('.git/config')).toBe(text);
    expect(await saidOf(() => undefined)).toEqual([]);
  });

  test.each([
    ['branch.main.remote', '.'],
    ['user.name', 'Agent'],
    ['remote.origin.url', '../o'],
    ['core.hooksPath', '.husky/_'],
    ['core.editor', 'true'],
    ['filter.lfs.clean', 'git-lfs clean -- %f'],
    ['alias.st', 'status'],
    ['commit.gpgSign', 'false'],
  ])('%s = %s stays', async (key, value) => {
    expect(await saidOf(() => repo.git('config', key, value))).toEqual([]);
    expect(repo.git('config', key)).toBe(value);
  });

  test('a key behind a comment that ends in a backslash, or in a header’s line, is seen', async () => {
    const add = (text: string) => () => writeFileSync(join(repo.root, '.git/config'), text, { flag: 'a' });
    expect(await saidOf(add('# \\\n[filter "x"] clean = cat\n'))).toEqual([
      '.git/config: filter.x.clean (restored)',
    ]);
    expect(await saidOf(add('[core\n'))).toEqual(['.git/config: git cannot read it any more (restored)']);
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  test('a file that is removed comes back, and one that was not there goes', async () => {
    const removed = () => {
      rmSync(join(repo.root, '.git/config'));
      repo.write('.git/info/attributes', '* filter=x\n');
    };
    expect(await saidOf(removed)).toEqual([
      '.git/config: removed (restored)',
      '.git/info/attributes: "* filter=x" is new (restored)',
    ]);
    expect(existsSync(join(repo.root, '.git/info/attributes'))).toBe(false);
    expect(repo.git('rev-parse', '--is-bare-repository')).toBe('false');
  });

  test('is written through a link, and keeps its mode', async () => {
    const away = join(repo.root, '../config');
    execFileSync('mv', [join(repo.root, '.git/config'), away]);
    execFileSync('chmod', ['600', away]);
    symlinkSync(away, join(repo.root, '.git/config'));
    expect(await saidOf(() => repo.git('config', 'filter.x.clean', 'cat'))).toHaveLength(1);
    expect(statSync(away).mode & 0o777).toBe(0o600);
    expect(repo.text('.git/config')).not.toMatch(/filter/);
  });
});

test('what was written after the attempt can have written is a person’s and stays', async () => {
  const write = () => repo.write('.git/info/exclude', 'mine\n');
  expect(await saidOf(write, Date.now() - 60_000)).toEqual(['.git/info/exclude: "mine" is new (spared)']);
  expect(repo.text('.git/info/exclude')).toBe('mine\n');
});

test('a lock of another git is respected, and what was found is kept for a person', async () => {
  const locked = () => {
    repo.write('.git/config.lock', '');
    writeFileSync(join(repo.root, '.git/config'), '[filter "x"]\n\tclean = cat\n', { flag: 'a' });
  };
  const before = await ground.rules();
  locked();
  const [change] = await ground.restoreRules(before, null);
  expect(change).toMatchObject({ outcome: 'stuck' });
  expect(existsSync(join(repo.root, '.git/config.lock'))).toBe(true);
  expect(existsSync(change!.keptAs!)).toBe(true);
});

test('a folder, an endless file, and a tampered copy are told and break nothing', async () => {
  const folder = () => {
    rmSync(join(repo.root, '.git/info/exclude'), { force: true });
    mkdirSync(join(repo.root, '.git/info/exclude'), { recursive: true });
  };
  expect(await saidOf(folder)).toEqual(['.git/info/exclude: the whole file (stuck)']);
  rmSync(join(repo.root, '.git/info/exclude'), { recursive: true });
  const tampered = () => {
    rmSync(join(repo.privateDir, 'git/rules'), { recursive: true });
    repo.git('config', 'filter.x.clean', 'cat');
  };
  expect(await saidOf(tampered)).toEqual(['.git/config: the whole file (stuck)']);
});

test('our own lines of another work tree are no news', async () => {
  const add = () =>
    repo.write('.git/info/exclude', '# a comment\n/apps/web/ralph/blocked.txt\n/ralph/logs\n');
  repo.write('.git/info/exclude', '');
  expect(await saidOf(add)).toEqual([]);
});

test('a snapshot after it sees what an index had learned through the filter', async () => {
  const { tree } = await ground.snapshot();
  const before = await ground.rules();
  repo.git('config', 'filter.x.clean', 'echo old');
  repo.write('.git/info/attributes', 'a.txt filter=x\n');
  repo.write('a.txt', 'new\n');
  repo.git('add', '-A');
  expect((await ground.snapshot()).tree).toBe(tree);
  await ground.restoreRules(before, null);
  const seen = await ground.snapshot();
  expect((await ground.changes(tree, seen.tree)).map(({ path }) => path)).toEqual(['a.txt']);
  expect(repo.git('status', '--porcelain')).toMatch(/a\.txt/);
});

test('the reader of configuration files reads what git reads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  const file = join(folder, 'config');
  const piece = fc.constantFrom(
    ...['[core]', '[filter "a b"]', '[X "q\\"r"]', '[old.Name]', '[', ']', '\n', '\n', ' ', '\t', '=', ' = '],
    ...['key', 'Key-2', 'clean', 'a b', '"', '\\', '\\\n', '\\n', '\\"', '#', ';', '# x', '1', '\r\n', '.'],
  );
  try {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = pieces.join('');
        writeFileSync(file, text);
        let git: string | null = null;
        try {
          git = execFileSync('git', ['config', '-f', file, '-l', '-z'], {
            env: testEnv(),
            stdio: 'pipe',
          }).toString();
        } catch {
          // git refuses it
        }
        const ours = configEntries(text);
        if (git === null) {
          expect({ text, whole: ours.whole }).toEqual({ text, whole: false });
          return;
        }
        const theirs = git.split('\0').slice(0, -1).map(entryOf);
        expect({ text, ...ours }).toEqual({ text, entries: theirs, whole: true });
      }),
      { numRuns: 120 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function entryOf(line: string): { name: string; value: string } {
  const at = line.indexOf('\n');
  return at === -1 ? { name: line, value: 'true' } : { name: line.slice(0, at), value: line.slice(at + 1) };
}
