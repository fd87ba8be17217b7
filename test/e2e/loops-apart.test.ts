/** What a loop's work tree holds beside its branch: repositories of their own, whose work no commit of the loop has. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
let away: string;
afterEach(() => {
  project?.remove();
  rmSync(away, { recursive: true, force: true });
});

const AS = ['-c', 'user.name=A', '-c', 'user.email=a@example.invalid', '-c', 'protocol.file.allow=always'];
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-C', cwd, ...AS, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();

/** The project has the submodule `lib`, and that the submodule `deep`; a loop in it has done its work. */
async function loopWithSubmodules(
  land: 'branch' | 'merge',
  { work = 'echo made > {{task}}.txt', exit = 0 }: { work?: string; exit?: number } = {},
): Promise<string> {
  away = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-apart-')));
  for (const name of ['deep', 'lib']) {
    git(away, 'init', '-q', '-b', 'main', name);
    git(join(away, name), 'commit', '-q', '--allow-empty', '-m', 'first');
  }
  git(join(away, 'lib'), 'submodule', '-q', 'add', join(away, 'deep'), 'deep');
  git(join(away, 'lib'), 'commit', '-q', '-m', 'deep');
  const update = 'git -c protocol.file.allow=always submodule -q update --init --recursive';
  project = makeProject({
    config: `land: ${land}\nworktree: { run: ["${update}"] }\n`,
    files: { 'prd.json': taskList([story('US-001')]) },
    runs: [{ do: [{ run: work }, { say: DONE }] }],
  });
  git(project.dir, 'submodule', '-q', 'add', join(away, 'lib'), 'lib');
  git(project.dir, 'commit', '-q', '-m', 'lib');
  const ran = await project.ralph(['run', '--worktree', 'one']);
  expect([ran.code, ran.err]).toEqual([exit, expect.any(String)]);
  return ran.out + ran.err;
}

const tree = () => realpathSync(join(project.dir, '.ralph/worktrees/one'));
const discard = () => project.ralph(['loops', 'discard', 'one', '--yes']);
const prune = async () => JSON.parse((await project.ralph(['loops', 'prune', '--json'])).out);

/** A commit in the submodule of the submodule that nobody else has; answers its id. */
function commitDeep(): string {
  git(join(tree(), 'lib/deep'), 'commit', '-q', '--allow-empty', '-m', 'only here');
  return git(join(tree(), 'lib/deep'), 'rev-parse', 'HEAD');
}

test('submodules with nothing of their own are in nobody’s way', async () => {
  await loopWithSubmodules('merge');
  expect(existsSync(join(tree(), 'lib/deep/.git'))).toBe(true);
  expect(await prune()).toMatchObject({ removed: ['one'], kept: [] });
});

test('a commit that only a submodule of a submodule holds keeps a loop from going, wherever its files are', async () => {
  await loopWithSubmodules('branch');
  const commit = commitDeep();
  const checkedOut = await discard();
  expect([checkedOut.code, checkedOut.err]).toEqual([5, expect.stringContaining('lib/deep')]);
  const place = tree();
  git(place, 'submodule', '-q', 'deinit', '-f', '--all');
  const kept = join(realpathSync(project.dir), '.git/worktrees/one/modules/lib/modules/deep');
  const refused = async (args: string[]) => {
    const { code, err } = await project.ralph(args);
    expect([code, err]).toEqual([5, expect.stringContaining(`${kept} (commits that no remote of it has`)]);
    expect(git(kept, '--work-tree', kept, 'cat-file', '-t', commit)).toBe('commit');
  };
  await refused(['loops', 'discard', 'one', '--yes']);
  // Git forgets the work tree, and what lies in its own folder, when it makes it again.
  rmSync(place, { recursive: true });
  await refused(['loops', 'discard', 'one', '--yes']);
  await refused(['run', '--worktree', 'one', '--reopen']);
  git(kept, '--work-tree', kept, 'push', '-q', 'origin', `${commit}:refs/heads/kept`);
  const done = await discard();
  expect([done.code, done.err]).toEqual([0, expect.any(String)]);
  expect(existsSync(kept)).toBe(false);
});

test('prune spares a landed loop whose submodule holds work that is nowhere else', async () => {
  await loopWithSubmodules('merge');
  const lib = join(tree(), 'lib');
  writeFileSync(join(lib, 'left.txt'), 'left\n');
  expect(await prune()).toMatchObject({
    removed: [],
    kept: [{ loop: 'one', why: expect.stringContaining('lib (uncommitted: left.txt)') }],
  });
  rmSync(join(lib, 'left.txt'));
  git(lib, 'commit', '-q', '--allow-empty', '-m', 'put aside');
  git(lib, 'reset', '-q', '--hard', 'HEAD~1');
  // Only the reflog of the submodule names it.
  expect(await prune()).toMatchObject({
    removed: [],
    kept: [{ loop: 'one', why: expect.stringContaining('lib (commits that no remote of it has') }],
  });
});

test('an agent that commits in a submodule and pushes nowhere does not land: main would name what nobody can get', async () => {
  const commits = 'git -C lib -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m inner';
  const said = await loopWithSubmodules('merge', { work: `${commits}; echo made > {{task}}.txt`, exit: 8 });
  const commit = git(join(tree(), 'lib'), 'rev-parse', 'HEAD');
  expect(said).toContain(
    `name ${commit.slice(0, 12)} of the submodule lib, which lies in the loop's work tree`,
  );
  expect(git(project.dir, 'ls-tree', 'main', 'lib')).not.toContain(commit);
  expect((await project.ralph(['loops', 'list'])).out).toMatch(/one .*needs review.*submodule lib/s);
  git(join(tree(), 'lib'), 'push', '-q', 'origin', 'HEAD:refs/heads/more');
  const merged = await project.ralph(['loops', 'merge', 'one']);
  expect([merged.code, merged.err]).toEqual([0, expect.any(String)]);
  expect(git(project.dir, 'ls-tree', 'main', 'lib')).toContain(commit);
});

test('nor where the project has git say nothing of changes of that submodule', async () => {
  await loopWithSubmodules('branch');
  git(tree(), 'config', '-f', '.gitmodules', 'submodule.lib.ignore', 'all');
  git(join(tree(), 'lib'), 'commit', '-q', '--allow-empty', '-m', 'only here');
  const commit = git(join(tree(), 'lib'), 'rev-parse', 'HEAD');
  git(tree(), 'update-index', '--cacheinfo', `160000,${commit},lib`);
  expect(await bumped()).toEqual({
    code: 8,
    said: expect.stringContaining(`name ${commit.slice(0, 12)} of the submodule lib`),
  });
});

test('nor where git can write the path of that submodule in quotes only', async () => {
  await loopWithSubmodules('branch');
  git(tree(), 'mv', 'lib', '"lib"');
  git(join(tree(), '"lib"'), 'commit', '-q', '--allow-empty', '-m', 'only here');
  expect(await bumped()).toEqual({
    code: 8,
    said: expect.stringContaining('of the submodule "\\"lib\\"", which'),
  });
});

/** Commits in the loop what its submodule holds now, and has it land. */
async function bumped(): Promise<{ code: number; said: string }> {
  git(tree(), 'commit', '-q', '-a', '-m', 'bump');
  return merge();
}

async function merge(): Promise<{ code: number; said: string }> {
  const { code, out, err } = await project.ralph(['loops', 'merge', 'one']);
  return { code: code ?? -1, said: out + err };
}

test('nor does one whose submodule names a commit of its own submodule that nobody has, until your checkout has it', async () => {
  await loopWithSubmodules('branch');
  const deep = commitDeep();
  const lib = join(tree(), 'lib');
  git(lib, 'commit', '-q', '-a', '-m', 'bump');
  git(lib, 'push', '-q', 'origin', 'HEAD:refs/heads/more');
  expect(await bumped()).toEqual({
    code: 8,
    said: expect.stringContaining(`name ${deep.slice(0, 12)} of the submodule lib/deep`),
  });
  git(project.dir, 'submodule', '-q', 'update', '--init', '--recursive');
  git(join(project.dir, 'lib/deep'), 'fetch', '-q', join(lib, 'deep'), 'HEAD');
  expect(await merge()).toMatchObject({ code: 0 });
});

test('nor one that names a commit of a submodule that no repository here has; one that a later commit took back does', async () => {
  await loopWithSubmodules('branch');
  const nowhere = 'f'.repeat(40);
  git(tree(), 'update-index', '--cacheinfo', `160000,${nowhere},lib`);
  git(tree(), 'commit', '-q', '-m', 'bump');
  git(tree(), 'update-index', '--assume-unchanged', 'lib');
  expect(await merge()).toEqual({
    code: 8,
    said: expect.stringMatching(/f{12} of the submodule lib, which no/),
  });
  git(tree(), 'update-index', '--no-assume-unchanged', 'lib');
  expect(await bumped()).toMatchObject({ code: 0 });
});

test('a folder at the place of the work tree that is none is never taken away', async () => {
  away = mkdtempSync(join(tmpdir(), 'ralph-apart-'));
  project = makeProject({
    config: 'land: branch\n',
    files: { 'prd.json': taskList([story('US-001'), story('US-002')]) },
    runs: [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }],
  });
  await project.ralph(['run', '-n', '1', '--worktree', 'one']);
  const place = tree();
  writeFileSync(join(place, 'mine.txt'), 'mine\n');
  rmSync(join(place, '.git'));
  for (const args of [
    ['run', '--worktree', 'one'],
    ['loops', 'discard', 'one', '--yes'],
  ]) {
    const { code, err } = await project.ralph(args);
    expect([code, err]).toEqual([
      5,
      expect.stringContaining(`git -C ${realpathSync(project.dir)} worktree repair`),
    ]);
    expect(existsSync(join(place, 'mine.txt'))).toBe(true);
  }
  git(project.dir, 'worktree', 'repair');
  const ran = await project.ralph(['run', '--worktree', 'one']);
  expect([ran.code, ran.err]).toEqual([0, expect.any(String)]);
  expect(existsSync(join(place, 'mine.txt'))).toBe(true);
});
