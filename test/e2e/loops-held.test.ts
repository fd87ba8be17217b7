/** A person's hands on a loop's work tree and branch: what they hold stays, and what they made there is never lost. */
import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const AS = ['-c', 'user.name=A', '-c', 'user.email=a@example.invalid'];
const tree = () => realpathSync(join(project.dir, '.ralph/worktrees/one'));
const inTree = (...args: string[]) => project.git('-C', tree(), ...AS, ...args);
const ralph = async (...args: string[]) => {
  const { code, out, err } = await project.ralph(args);
  return { code, said: out + err };
};
const discard = () => ralph('loops', 'discard', 'one', '--yes');
const prune = async () => JSON.parse((await project.ralph(['loops', 'prune', '--json'])).out);

/** The first of two tasks is done, or with `all` both, and landed. */
async function loop({ all = false, config = '' } = {}): Promise<void> {
  project = makeProject({
    config,
    files: { 'prd.json': taskList([story('US-001'), story('US-002')]), '.gitignore': 'result.dat\n' },
    runs: [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }],
  });
  const ran = await ralph('run', '--worktree', 'one', ...(all ? [] : ['-n', '1']));
  expect(ran).toMatchObject({ code: all ? 0 : 1 });
}

test('commits that were made on no branch in its work tree are kept when it is given up, a chain of them by one name', async () => {
  await loop();
  const tip = project.git('rev-parse', 'ralph/one');
  inTree('switch', '-q', '--detach');
  inTree('commit', '-q', '--allow-empty', '-m', 'left behind');
  const behind = inTree('rev-parse', 'HEAD');
  inTree('switch', '-q', '--detach', tip);
  inTree('commit', '-q', '--allow-empty', '-m', 'named');
  const named = inTree('rev-parse', 'HEAD');
  inTree('update-ref', 'refs/worktree/mine', named);
  inTree('switch', '-q', '--detach', tip);
  inTree('commit', '-q', '--allow-empty', '-m', 'mine 1');
  inTree('commit', '-q', '--allow-empty', '-m', 'mine 2');
  const mine = inTree('rev-parse', 'HEAD');
  const { code, out } = await project.ralph(['loops', 'discard', 'one', '--yes', '--json']);
  const { kept_as: as, kept_besides: besides } = JSON.parse(out);
  expect([code, as]).toEqual([0, 'refs/ralph/discarded/one']);
  expect(besides.map((ref: string) => project.git('rev-parse', ref)).sort()).toEqual(
    [behind, named, mine].sort(),
  );
  expect(project.git('rev-parse', as)).toBe(tip);
});

test('what a rebase under way there had made is kept as well', async () => {
  await loop();
  inTree('-c', 'sequence.editor=sed -i s/pick/edit/', 'rebase', '-q', '-i', 'HEAD~1');
  inTree('commit', '-q', '--amend', '-m', 'my words');
  const mine = inTree('rev-parse', 'HEAD');
  const { said } = await discard();
  const [, ref] = /made there besides is kept as (\S+)\./.exec(said) ?? [];
  expect(project.git('rev-parse', ref ?? 'none')).toBe(mine);
});

test('its branch stays while somebody has it checked out elsewhere', async () => {
  await loop({ all: true });
  inTree('switch', '-q', '--detach');
  project.git('switch', '-q', 'ralph/one');
  const refused = `the branch of loop one, is checked out in ${realpathSync(project.dir)}`;
  expect(await discard()).toEqual({ code: 5, said: expect.stringContaining(refused) });
  project.git('switch', '-q', 'main');
  inTree('switch', '-q', 'ralph/one');
  project.git('switch', '-q', '--ignore-other-worktrees', 'ralph/one');
  expect(await prune()).toMatchObject({ removed: [], kept: [{ why: expect.stringContaining(refused) }] });
  expect(project.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('ralph/one');
  project.git('switch', '-q', 'main');
  expect(await prune()).toMatchObject({ removed: ['one'] });
});

test('a work tree that somebody locked in git is neither taken away nor made again', async () => {
  await loop({ all: true });
  writeFileSync(join(tree(), 'result.dat'), 'hours of work\n');
  project.git('worktree', 'lock', '--reason', 'mine', tree());
  expect(await prune()).toMatchObject({
    removed: [],
    kept: [{ loop: 'one', why: expect.stringContaining('is locked in git: mine') }],
  });
  const unlock = expect.stringContaining(`git worktree unlock ${tree()}`);
  expect(await discard()).toEqual({ code: 5, said: unlock });
  project.git('worktree', 'unlock', tree());
  expect(await prune()).toMatchObject({ removed: ['one'], ignored_gone: [{ files: ['result.dat'] }] });
});

test('one that is locked and not there may lie on a disk that is not there either', async () => {
  await loop();
  const place = tree();
  project.git('worktree', 'lock', place);
  rmSync(place, { recursive: true });
  const again = await ralph('run', '--worktree', 'one');
  expect(again).toEqual({ code: 5, said: expect.stringContaining('is locked in git.') });
  project.git('worktree', 'unlock', place);
  expect(await ralph('run', '--worktree', 'one')).toMatchObject({ code: 0 });
});

test('a branch of it that is checked out in a person’s own checkout is switched there, and not moved away', async () => {
  await loop();
  rmSync(tree(), { recursive: true });
  project.git('worktree', 'prune');
  project.git('switch', '-q', 'ralph/one');
  const dir = realpathSync(project.dir);
  const said = expect.stringContaining(`git -C ${dir} switch `);
  expect(await ralph('run', '--worktree', 'one')).toEqual({ code: 5, said });
  expect(await discard()).toEqual({ code: 5, said });
  project.git('switch', '-q', 'main');
  expect(await ralph('run', '--worktree', 'one')).toMatchObject({ code: 0 });
});

test('a merge under way in its work tree is told with that folder', async () => {
  await loop();
  project.write('US-001.txt', 'other\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'other');
  expect(() => inTree('merge', '-q', 'main')).toThrow();
  const { said } = await ralph('run', '--worktree', 'one');
  expect(said).toContain(`A merge is in progress in ${tree()}.`);
  expect(said).toContain(`git -C ${tree()} merge --abort`);
});

test('a preparation that fails names a way that leads on', async () => {
  project = makeProject({
    config: 'worktree: { run: ["exit 3"] }\n',
    files: { 'prd.json': taskList([story('US-001')]) },
    runs: [],
  });
  const { code, said } = await ralph('run', '--worktree', 'one');
  expect([code, said]).toEqual([5, expect.stringContaining('or leave --worktree away.')]);
  expect(said).not.toContain('--parallel');
});

test('when the repository was moved, merge and list say how its work tree is found again', async () => {
  await loop();
  const place = tree();
  writeFileSync(join(place, '.git'), `gitdir: ${join(project.home, 'elsewhere/.git/worktrees/one')}\n`);
  const merged = await ralph('loops', 'merge', 'one');
  expect(merged).toEqual({ code: 5, said: expect.stringContaining('worktree repair') });
  expect((await ralph('loops')).said).toContain('worktree repair');
});
