/** Loops that are there already: gone on with whatever the checkouts are at, and not begun anew over somebody's commits. */
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
afterEach(() => project?.remove());

const list = (...ids: string[]) => taskList(ids.map((id) => story(id)));
const runs = [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }];
/** `said`: whatever it says, wherever it says it. */
async function run(...args: string[]) {
  const { code, out, err } = await project.ralph(['run', '--worktree', ...args]);
  return { code, out, said: out + err };
}
const row = async () => JSON.parse((await project.ralph(['loops', '--json'])).out)[0];
const tree = (name: string) => realpathSync(join(project.dir, '.ralph/worktrees', name));
const made = (ref: string) => project.git('ls-tree', '--name-only', ref, '--', 'a.txt', 'b.txt').split('\n');
/** Two branches that change the same line, the second one checked out. */
function quarrel(): void {
  project.git('switch', '-q', '-c', 'theirs');
  project.write('README.md', 'theirs\n');
  project.git('commit', '-q', '-am', 'theirs');
  project.git('switch', '-q', 'main');
  project.write('README.md', 'ours\n');
  project.git('commit', '-q', '-am', 'ours');
}

test('a known loop goes on and lands while the main checkout is on no branch; a new one is refused', async () => {
  project = makeProject({ files: { 'prd.json': list('a', 'b') }, runs });
  expect((await run('one', '-n', '1')).code).toBe(1);
  project.git('switch', '-q', '--detach');
  const ahead = await project.ralph(['run', '--dry-run', '--worktree', 'one', '--json']);
  expect([ahead.code, JSON.parse(ahead.out).loop]).toMatchObject([0, { made: true, onto: 'main' }]);
  const { code, said } = await run('one');
  expect([code, said]).toEqual([0, expect.stringContaining('Loop one landed on main')]);
  expect(made('main')).toEqual(['a.txt', 'b.txt']);
  const fresh = await run('two');
  expect([fresh.code, fresh.said]).toEqual([5, expect.stringContaining('is on no branch (detached HEAD)')]);
});

test('a known loop goes on while a rebase stands still in the main checkout, and is parked by it', async () => {
  project = makeProject({ files: { 'prd.json': list('a', 'b') }, runs });
  expect((await run('one', '-n', '1')).code).toBe(1);
  quarrel();
  expect(() => project.git('rebase', 'theirs')).toThrow();
  const fresh = await run('two');
  expect([fresh.code, fresh.said]).toEqual([5, expect.stringContaining('a rebase is under way')]);
  const { code, said } = await run('one');
  expect([code, said]).toEqual([8, expect.stringContaining('a rebase is under way in')]);
  expect(made('ralph/one')).toEqual(['a.txt', 'b.txt']);
  project.git('rebase', '--abort');
  expect((await project.ralph(['loops', 'merge', 'one'])).code).toBe(0);
  expect(made('main')).toEqual(['a.txt', 'b.txt']);
});

test('a known loop goes on while a merge has left its marks in the ralph.yml of the main checkout', async () => {
  project = makeProject({ files: { 'prd.json': list('a', 'b') }, runs });
  expect((await run('one', '-n', '1')).code).toBe(1);
  const config = project.read('ralph.yml');
  project.write('ralph.yml', `<<<<<<< HEAD\n${config}=======\n>>>>>>> theirs\n`);
  project.git('switch', '-q', '--detach');
  expect(await run('one')).toMatchObject({ code: 0 });
  expect(made('ralph/one')).toEqual(['a.txt', 'b.txt']);
});

test('commits of after the landing are named with the way to land them, and no new loop takes their place', async () => {
  project = makeProject({ files: { 'prd.json': list('a') }, runs });
  expect((await run('one')).code).toBe(0);
  expect(await row()).toMatchObject({ landed: true, next: 'ralph loops prune' });
  writeFileSync(join(tree('one'), 'b.txt'), 'by hand\n');
  project.git('-C', tree('one'), 'add', '-A');
  project.git('-C', tree('one'), 'commit', '-q', '-m', 'Mend it by hand');
  const tip = project.git('rev-parse', 'ralph/one');
  const named = `${tip.slice(0, 7)} Mend it by hand`;

  expect(await row()).toMatchObject({
    unmerged: 1,
    next: '1 commit on its branch came after its landing; ralph loops merge one',
  });
  const pruned = JSON.parse((await project.ralph(['loops', 'prune', '--json'])).out);
  expect(pruned.kept[0].why).toContain(`${named}; \`ralph loops merge one\` lands it`);
  project.write('prd.json', taskList([story('a', { passes: true }), story('c')]));
  project.git('commit', '-q', '-am', 'one more');
  for (const args of [['one'], ['one', '--dry-run']]) {
    const { code, said } = await run(...args);
    expect([code, said]).toEqual([5, expect.stringContaining(named)]);
    expect(said).toContain('ralph loops merge one brings them in');
  }
  expect(project.git('for-each-ref', 'refs/ralph/discarded')).toBe('');
  expect(project.git('rev-parse', 'ralph/one')).toBe(tip);

  const merged = await project.ralph(['loops', 'merge', 'one']);
  expect([merged.code, project.read('b.txt')]).toEqual([0, 'by hand\n']);
  expect(await row()).toMatchObject({ next: 'ralph loops prune' });
  expect((await run('one')).code).toBe(0);
  expect(existsSync(join(project.dir, 'c.txt'))).toBe(true);
});

test('a landing that a person took out of the branch again is not told as commits of theirs', async () => {
  project = makeProject({ files: { 'prd.json': list('a') }, runs });
  const before = project.git('rev-parse', 'main');
  expect((await run('one')).code).toBe(0);
  project.git('reset', '-q', '--hard', before);
  expect((await row()).next).toContain('what it landed was taken out again; ralph loops merge one');
  const pruned = JSON.parse((await project.ralph(['loops', 'prune', '--json'])).out);
  expect(pruned.kept[0].why).toContain('main does not hold what it landed any more');
});

test('from a linked work tree of the person a loop begins at its branch, with its files, and lands there', async () => {
  project = makeProject({ files: { '.gitignore': '.trees/\nprd.json\n' }, runs });
  const main = project.git('rev-parse', 'main');
  const feature = join(project.dir, '.trees/feature');
  project.git('worktree', 'add', '-q', '-b', 'feature', feature);
  project.git('-C', feature, 'commit', '-q', '--allow-empty', '-m', 'of the feature');
  writeFileSync(join(feature, 'prd.json'), list('a', 'b'));
  const there = (...args: string[]) => project.ralph(['run', '--worktree', ...args], { cwd: feature });

  const ahead = await there('one', '--dry-run', '--json');
  expect(JSON.parse(ahead.out)).toMatchObject({ loop: { onto: 'feature' }, open_tasks: ['a', 'b'] });
  const begun = await there('one', '-n', '1');
  expect(begun.err).toMatch(/begun at feature \(\w{7}\), where you stand, and lands there/);
  // It goes on from anywhere, and its work tree is made again with what its own checkout has.
  project.git('worktree', 'remove', '--force', tree('one'));
  const { code, said } = await run('one');
  expect([code, said]).toEqual([0, expect.stringContaining('Loop one landed on feature')]);
  expect(made('feature')).toEqual(['a.txt', 'b.txt']);
  expect(existsSync(join(feature, 'b.txt'))).toBe(true);
  expect(project.git('-C', feature, 'status', '--porcelain')).toBe('');
  expect(readFileSync(join(feature, 'prd.json'), 'utf8').match(/"passes": true/g)).toHaveLength(2);
  expect(project.git('rev-parse', 'main')).toBe(main);
  const inside = await project.ralph(['run', '--worktree', 'two', '--dry-run'], { cwd: tree('one') });
  expect(inside.out + inside.err).not.toContain('ralph/one');
});
