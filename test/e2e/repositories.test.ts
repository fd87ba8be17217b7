/** Every state a repository can be in: work is landed, or nothing is touched and the reason is told. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, prompt, started, verdicts } from './journal.ts';
import { DONE, HONEST, makeProject, type Project, result, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a')]) };
const code = async (...args: string[]) => (await project.ralph(args)).code;
const names = (commit = 'HEAD') =>
  project.git('-c', 'core.quotePath=false', 'show', '--format=', '--name-only', commit).split('\n').sort();

/** Refused before anything is made: exit 5, and no agent, no session, no change. */
async function refused(words: RegExp, ...args: string[]): Promise<void> {
  const before = project.git('status', '--porcelain', '--ignored');
  const ran = await project.ralph(['run', ...args]);
  expect([ran.code, ran.err]).toEqual([5, expect.stringMatching(words)]);
  expect(ran.err).toMatch(/fix: /);
  expect(project.git('status', '--porcelain', '--ignored')).toBe(before);
}

test('stash, index, other branches and the object store are left as they were', async () => {
  project = makeProject({ files: { ...LIST, 'staged.txt': 'one\n', 'other.txt': 'one\n' } });
  project.git('branch', 'mine');
  project.write('other.txt', 'stashed\n');
  project.git('stash', '-q');
  project.write('staged.txt', 'two\n');
  project.git('add', 'staged.txt');
  project.write('staged.txt', 'three\n');
  project.write('loose.txt', 'loose\n');
  await refused(/staged\.txt[\s\S]*--allow-dirty|loose\.txt[\s\S]*--allow-dirty/);
  const before = [project.git('stash', 'list'), project.git('rev-parse', 'mine', 'stash@{0}')];

  expect(await code('run', '--allow-dirty')).toBe(0);
  expect(names()).toEqual(['a.txt', 'ralph/tasks.json']);
  expect(project.git('status', '--porcelain').split('\n')).toEqual(['MM staged.txt', '?? loose.txt']);
  expect(project.git('show', ':staged.txt')).toBe('two');
  expect(project.read('staged.txt')).toBe('three\n');
  expect([project.git('stash', 'list'), project.git('rev-parse', 'mine', 'stash@{0}')]).toEqual(before);
  project.git('gc', '-q', '--prune=now');
  project.git('fsck', '--strict', '--no-dangling');
  project.git('log', '--all', '--stat');
  project.git('stash', 'pop', '-q');
  expect(project.read('other.txt')).toBe('stashed\n');
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
});

test('a dirty path that the agent changes too is neither its evidence nor in its commit', async () => {
  project = makeProject({
    files: { ...LIST, 'mine.txt': 'one\n' },
    runs: [{ do: [{ append: { path: 'mine.txt', content: 'agent\n' } }, { say: DONE }] }],
  });
  project.write('mine.txt', 'my edit\n');
  expect(await code('run', '--allow-dirty', '-n', '1')).toBe(1);
  expect(verdicts(project)[0]).toMatch(/^a rejected no_files_detected/);
  expect(project.git('log', '--oneline').split('\n')).toHaveLength(1);
});

test('a repository without a commit: the first commit is the work', async () => {
  project = makeProject({ files: LIST, git: false });
  project.git('init', '-q', '-b', 'main');
  project.git('config', 'user.name', 'T');
  project.git('config', 'user.email', 't@example.invalid');
  expect(await code('run', '--allow-dirty')).toBe(0);
  expect(names()).toContain('a.txt');
  expect(facts(project, 'commit.landed')).toHaveLength(1);
});

test('detached HEAD is refused, and worked on when insisted', async () => {
  project = makeProject({ files: LIST });
  project.git('checkout', '-q', '--detach');
  await refused(/detached/);
  expect(await code('run', '--allow-detached')).toBe(0);
  expect(names()).toContain('a.txt');
  expect(project.git('branch', '--format=%(refname:short)')).toContain('main');
});

test('a merge in progress, no identity and no repository are all told with their fix', async () => {
  project = makeProject({ files: { ...LIST, 'x.txt': 'base\n' } });
  project.git('checkout', '-qb', 'side');
  project.write('x.txt', 'side\n');
  project.git('commit', '-qam', 'side');
  project.git('checkout', '-q', 'main');
  project.write('x.txt', 'main\n');
  project.git('commit', '-qam', 'main');
  expect(() => project.git('merge', 'side')).toThrow();
  await refused(/A merge is in progress[\s\S]*git merge --abort/);
  project.git('merge', '--abort');

  project.git('config', '--unset', 'user.name');
  project.git('config', '--unset', 'user.email');
  project.git('config', 'user.useConfigOnly', 'true');
  await refused(/who commits[\s\S]*user\.email/);
  project.remove();

  project = makeProject({ files: LIST, git: false });
  const ran = await project.ralph(['run']);
  expect([ran.code, ran.err]).toEqual([5, expect.stringMatching(/not in a git repository[\s\S]*--no-git/)]);
  expect(await code('run', '--no-git')).toBe(0);
  expect(project.read('a.txt')).toContain('made a');
  expect(JSON.parse(project.read('ralph/tasks.json')).userStories[0].passes).toBe(true);
});

test('a project in a sub-folder of a monorepo commits its own paths, beside a dirty neighbour', async () => {
  project = makeProject({
    files: { 'apps/web/ralph/tasks.json': taskList([story('a')]), 'apps/api/main.txt': 'api\n' },
    runs: [
      {
        do: [
          { write: { path: 'a.txt', content: 'a\n' } },
          { write: { path: '../api/main.txt', content: 'api 2\n' } },
          { say: DONE },
        ],
      },
    ],
  });
  project.git('mv', 'ralph.yml', 'agent.json', 'apps/web/');
  project.git('commit', '-qm', 'move');
  const ran = await project.ralph(['run', '--json'], { cwd: join(project.dir, 'apps/web') });
  expect(result(ran).exit.code).toBe(0);
  expect(names()).toEqual(['apps/api/main.txt', 'apps/web/a.txt', 'apps/web/ralph/tasks.json']);
  expect(project.git('status', '--porcelain')).toBe('');
  const fromAbove = await project.ralph(['status', '-C', join(project.dir, 'apps/web'), '--json']);
  expect(JSON.parse(fromAbove.out).status).toBe('completed');
  const deeper = join(project.dir, 'apps/web/src/deep');
  mkdirSync(deeper, { recursive: true });
  expect((await project.ralph(['sessions'], { cwd: deeper })).out).toMatch(/\d{6}-\d{6}/);
});

test('work inside a submodule is seen, and the repository is still sound', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      {
        do: [
          {
            run: 'cd lib && echo more >> lib.txt && git -c user.name=A -c user.email=a@example.invalid commit -qam more',
          },
          { say: DONE },
        ],
      },
    ],
  });
  addSubmodule();
  const ran = await project.ralph(['run', '-n', '1', '--json']);
  expect([ran.code, JSON.parse(ran.out.trim().split('\n').at(-1)!).unpushed_submodules]).toEqual([
    0,
    [{ path: 'lib', commits: 1 }],
  ]);
  expect(names()).toEqual(['lib', 'ralph/tasks.json']);
  expect(project.git('status', '--porcelain')).toBe('');
  project.git('fsck', '--no-dangling');
});

/** The submodule `lib` with the file lib.txt. */
function addSubmodule(): void {
  const lib = mkdtempSync(join(tmpdir(), 'ralph-lib-'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', lib, '-c', 'user.name=L', '-c', 'user.email=l@example.invalid', ...args], {
      stdio: 'pipe',
    });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(lib, 'lib.txt'), 'lib\n');
  git('add', '.');
  git('commit', '-qm', 'lib');
  project.git('-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', lib, 'lib');
  project.git('commit', '-qm', 'submodule');
  rmSync(lib, { recursive: true });
}

test('work left uncommitted inside a submodule is no lie: it is named, and lands once it is committed there', async () => {
  const commit = 'git -C lib -c user.name=A -c user.email=a@example.invalid';
  project = makeProject({
    files: LIST,
    runs: [
      {
        when: { iteration: 1 },
        do: [{ run: 'echo x > lib/y.txt; echo more >> lib/lib.txt' }, { say: `Wrote lib/y.txt.\n\n${DONE}` }],
      },
      { do: [{ run: `git -C lib add -A && ${commit} commit -qm more` }, { say: DONE }] },
    ],
  });
  addSubmodule();
  writeFileSync(join(project.dir, 'lib/own.txt'), 'a person\n');
  const refused = await project.ralph(['run']);
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('lib/own.txt (uncommitted in')]);
  rmSync(join(project.dir, 'lib/own.txt'));

  const ran = await project.ralph(['run']);
  expect([ran.code, ran.out]).toEqual([
    0,
    expect.stringMatching(/submodule lib has 1 commit that no remote of it has: push them/i),
  ]);
  expect(verdicts(project)).toEqual(['a unfinished uncommitted_inside', 'a accepted']);
  expect(facts(project, 'task.charged')).toEqual([]);
  const why = (await project.ralph(['why', '1'])).out;
  expect(why).toMatch(/submodule lib: lib.txt, y.txt/);
  expect(why).not.toMatch(/git ignores|No file in the repository changed/);
  expect(prompt(project, 2)).toMatch(/left uncommitted in a repository inside this one.*commit it there/);
  expect(names()).toEqual(['lib', 'ralph/tasks.json']);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('a repository inside that is no submodule is named as one, with or without a commit', async () => {
  project = makeProject({
    files: LIST,
    runs: [{ do: [{ run: 'mkdir -p n && cd n && git init -q && echo {{iteration}} > a' }, { say: DONE }] }],
  });
  expect(await code('run', '-n', '1')).toBe(1);
  expect(verdicts(project)).toEqual(['a unfinished uncommitted_inside']);
  expect((await project.ralph(['why', '1'])).out).toMatch(
    /n, a repository of its own that is no submodule: a/,
  );
});

test('a failing pre-commit hook keeps the verdict: exit 8 with its words, landed by a later run', async () => {
  project = makeProject({ files: LIST });
  const hook = join(project.dir, '.git/hooks/pre-commit');
  writeFileSync(hook, '#!/bin/sh\necho "lint: 3 problems" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(8);
  expect(ran.out).toContain('lint: 3 problems');
  expect(facts(project, 'commit.landed')).toEqual([]);
  expect(JSON.parse((await project.ralph(['sessions', '--json'])).out)[0].exit.code).toBe(8);
  rmSync(hook);
  expect(await code('run')).toBe(0);
  expect(started(project)).toBe(1);
  expect(names()).toEqual(['a.txt', 'ralph/tasks.json']);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('names with spaces, quotes and other alphabets, deleted, renamed and ignored files', async () => {
  project = makeProject({
    files: {
      ...LIST,
      'old name.txt': 'same content\nof some length\n',
      'gone.txt': 'x\n',
      '.gitignore': 'ignored.txt\n',
    },
    runs: [
      {
        do: [
          {
            run: `mkdir -p 'sub dir' && echo 1 > 'sub dir/ö "quoted" файл.txt' && echo 2 > '*.txt' && git mv 'old name.txt' 'new name.txt' && rm gone.txt && echo x > ignored.txt && ln -s nowhere link`,
          },
          { say: DONE },
        ],
      },
    ],
  });
  expect(await code('run')).toBe(0);
  expect(
    project
      .git('-c', 'core.quotePath=false', 'show', '--format=', '--name-status', '-M', '-z', 'HEAD')
      .split('\0')
      .filter(Boolean),
  ).toEqual([
    'A',
    '*.txt',
    'D',
    'gone.txt',
    'A',
    'link',
    'R100',
    'old name.txt',
    'new name.txt',
    'M',
    'ralph/tasks.json',
    'A',
    'sub dir/ö "quoted" файл.txt',
  ]);
  expect(project.git('status', '--porcelain')).toBe('');
  project.remove();

  const odd = mkdtempSync(join(tmpdir(), 'ralph odd \'q\' "d" $HOME ф-'));
  project = makeProject({ files: LIST });
  execFileSync('cp', ['-a', `${project.dir}/.`, odd]);
  const ran = await project.ralph(['run', '--json', '--gate', 'test -e a.txt'], { cwd: odd });
  expect(result(ran).exit.code).toBe(0);
  expect(execFileSync('git', ['-C', odd, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
  rmSync(odd, { recursive: true });
});

test('an agent that commits by itself: its commit stands, and only the rest is committed', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      {
        do: [
          { write: { path: 'a.txt', content: 'a\n' } },
          { run: 'git add a.txt && git commit -qm "feat: by hand"' },
          { write: { path: 'rest.txt', content: 'r\n' } },
          { say: DONE },
        ],
      },
    ],
  });
  expect(await code('run')).toBe(0);
  expect(project.git('log', '--format=%s').split('\n').slice(1)).toEqual(['feat: by hand', 'first']);
  expect(names()).toEqual(['ralph/tasks.json', 'rest.txt']);
  project.remove();

  project = makeProject({ files: LIST, config: 'commit: none\n' });
  expect(await code('run')).toBe(0);
  expect(project.git('log', '--oneline').split('\n')).toHaveLength(1);
  expect(
    project
      .git('status', '--porcelain')
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual(['M ralph/tasks.json', '?? a.txt']);
});

test('an agent that rewrites history: the old head is kept by name, and it is told', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      {
        do: [
          { write: { path: 'a.txt', content: 'a\n' } },
          { run: 'git add a.txt && git commit -q --amend -m rewritten' },
          { say: DONE },
        ],
      },
    ],
  });
  const old = project.git('rev-parse', 'HEAD');
  expect(await code('run', '-n', '1')).toBe(7);
  expect(await code('resume')).toBe(7);
  expect(verdicts(project)[0]).toContain('history_rewritten');
  expect(project.git('for-each-ref', '--format=%(objectname)', 'refs/ralph')).toContain(old);
});

test.each([
  ['of the checkout, by a run in it', [], 'stable'],
  ['that the checkout is on, by a loop', ['--worktree', 'one'], 'main'],
])(
  'a branch %s moved to a commit of the attempt is held against it, and the way back is named',
  async (_, args, branch) => {
    const moves = `git commit -q --allow-empty -m junk && git update-ref refs/heads/${branch} HEAD`;
    project = makeProject({
      files: LIST,
      runs: [{ do: [{ write: { path: 'a.txt', content: 'a\n' } }, { run: moves }, { say: DONE }] }],
    });
    project.git('branch', 'stable');
    project.git('branch', 'mine');
    const old = project.git('rev-parse', branch).trim();
    const ran = await project.ralph(['run', '-n', '1', ...args]);
    const now = project.git('rev-parse', branch).trim();
    expect(now).not.toBe(old);
    expect(ran.out + ran.err).toContain(
      `The branch ${branch} was moved from ${old.slice(0, 12)} to ${now.slice(0, 12)}`,
    );
    expect(ran.out + ran.err).not.toContain('The branch mine');
    const back = `git update-ref refs/heads/${branch} ${old} ${now}`;
    expect(ran.out + ran.err).toContain(back);
    execFileSync('sh', ['-c', back], { cwd: project.dir });
    expect(project.git('rev-parse', branch).trim()).toBe(old);
    expect(project.git('status', '--porcelain', '--untracked-files=no')).toBe('');
  },
);

test('ralph/ files that are tracked do not count as dirt, and stay a matter of policy', async () => {
  project = makeProject({
    files: { ...LIST, 'ralph/progress.txt': 'notes\n', 'ralph/prd.md': '# Why\n' },
    runs: HONEST,
  });
  project.write('ralph/progress.txt', 'more notes\n');
  expect(await code('run')).toBe(0);
  expect(names()).toEqual(['a.txt', 'ralph/tasks.json']);
});

test('what an unfinished attempt left is taken up; what a person left meanwhile is told and left alone', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      { when: { iteration: 1 }, do: [{ write: { path: 'half.txt', content: 'h\n' } }, { say: 'half done' }] },
      ...HONEST,
    ],
  });
  expect(await code('run', '-n', '1')).toBe(1);
  project.write('person.txt', 'p\n');
  const ran = await project.ralph(['run']);
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('left to you: person.txt')]);
  expect(names()).toEqual(['a.txt', 'half.txt', 'ralph/tasks.json']);
  expect(project.git('status', '--porcelain')).toBe('?? person.txt');
});

test('another branch without the work, between two runs, stops with 7; resume goes on from there and does it again', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a'), story('b')]) } });
  expect(await code('run', '-n', '1')).toBe(1);
  project.git('checkout', '-q', '-b', 'elsewhere');
  project.git('reset', '-q', '--hard', 'HEAD~1');
  const ran = await project.ralph(['run']);
  expect([ran.code, ran.out]).toEqual([
    7,
    expect.stringMatching(/main was checked out before[\s\S]*git switch main[\s\S]*ralph resume/),
  ]);
  expect(started(project)).toBe(1);
  expect(await code('resume')).toBe(0);
  expect(project.read('a.txt') + project.read('b.txt')).toMatch(/made a[\s\S]*made b/);
  expect(project.git('branch', '--show-current')).toBe('elsewhere');
  expect(project.git('status', '--porcelain')).toBe('');
  project.git('fsck', '--no-dangling');
});
