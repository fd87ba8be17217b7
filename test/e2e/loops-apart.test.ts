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
async function loopWithSubmodules(land: 'branch' | 'merge'): Promise<void> {
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
    runs: [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }],
  });
  git(project.dir, 'submodule', '-q', 'add', join(away, 'lib'), 'lib');
  git(project.dir, 'commit', '-q', '-m', 'lib');
  const ran = await project.ralph(['run', '--worktree', 'one']);
  expect([ran.code, ran.err]).toEqual([0, expect.any(String)]);
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
