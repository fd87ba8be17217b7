/** `ralph loops` and what is said to it: one loop is meant, or none of that name is there. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const files = { 'prd.json': taskList([story('US-001')]) };
const runs = [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }];
const tree = (name: string) => join(project.dir, '.ralph/worktrees', name);

test('prune takes the loop away that is named, and no other', async () => {
  const two = { 'prd.json': taskList([story('US-001'), story('US-002')]) };
  project = makeProject({ files: two, runs });
  await project.ralph(['run', '-n', '1', '--worktree', 'two']);
  await project.ralph(['run', '--worktree', 'one']);
  const { code, out } = await project.ralph(['loops', 'prune', 'one', '--json']);
  expect([code, JSON.parse(out)]).toEqual([0, { removed: ['one'], kept: [], ignored_gone: [] }]);
  expect([existsSync(tree('one')), existsSync(tree('two'))]).toEqual([false, true]);
  const again = await project.ralph(['loops', 'prune', 'one']);
  expect([again.code, again.err]).toEqual([5, expect.stringContaining('There is only two.')]);
  expect(existsSync(tree('two'))).toBe(true);
});

test('a word for which an action has no use is refused, and nothing is done', async () => {
  project = makeProject({ files, runs });
  await project.ralph(['run', '--worktree', 'one']);
  for (const args of [
    ['loops', 'list', 'one'],
    ['loops', 'prune', 'one', 'two'],
    ['loops', 'merge', 'one', 'two'],
    ['loops', 'attach', 'one', 'two'],
    ['tasks', 'list', 'US-001'],
    ['hats', 'graph', 'planner'],
    ['bot', 'status', '12'],
  ]) {
    const { code, err } = await project.ralph(args);
    expect([args, code, err]).toEqual([args, 5, expect.stringContaining('nothing was done')]);
  }
  expect(existsSync(tree('one'))).toBe(true);
});

test('a loop that is not there is said to be none before anything is asked', async () => {
  project = makeProject({ files, runs });
  const discard = await project.ralph(['loops', 'discard', 'nosuch']);
  expect([discard.code, discard.err]).toEqual([
    5,
    expect.stringContaining('There is no loop called nosuch.'),
  ]);
  const merge = await project.ralph(['loops', 'merge', '']);
  expect([merge.code, merge.err]).toEqual([5, expect.stringContaining('No loop was named.')]);
});

test('a branch that is gone under a detached work tree is said to be gone: nobody can switch to it', async () => {
  project = makeProject({ files: { 'prd.json': taskList([story('US-001'), story('US-002')]) }, runs });
  await project.ralph(['run', '-n', '1', '--worktree', 'one']);
  const tip = project.git('rev-parse', 'ralph/one');
  project.git('-C', tree('one'), 'switch', '-q', '--detach');
  project.git('branch', '-q', '-D', 'ralph/one');
  const { code, err } = await project.ralph(['run', '--worktree', 'one']);
  expect([code, err]).toEqual([5, expect.stringContaining('Branch ralph/one of loop one is gone')]);
  expect(err).toContain(`git branch ralph/one ${tip}`);
});

test('a loop whose line in the journal is damaged is not passed over in silence', async () => {
  project = makeProject({ files: { 'prd.json': taskList([story('US-001'), story('US-002')]) }, runs });
  await project.ralph(['run', '-n', '1', '--worktree', 'one']);
  writeFileSync(join(project.dir, '.ralph/journal.jsonl'), '{"v":1,"at":1,"ty\n');
  const { code, out, err } = await project.ralph(['loops']);
  expect([code, err]).toEqual([0, expect.stringContaining('.ralph/journal.jsonl:1')]);
  expect(err).toMatch(/told of loop one .* any more: deleted or damaged lines. .* taken back/);
  expect(out).toMatch(/^one · .*\n {2}taken back by its work tree and session .*\n {2}next: /);
});

test('a command to type has the name of a branch as a shell takes it', async () => {
  project = makeProject({
    config: 'land: branch\n',
    files: { 'prd.json': taskList([story('A')]), 'shared.txt': 'a\n' },
    runs: [{ do: [{ run: 'echo loop > shared.txt' }, { say: DONE }] }],
  });
  project.git('switch', '-q', '-c', "it's");
  await project.ralph(['run', '--worktree', 'one']);
  writeFileSync(join(project.dir, 'shared.txt'), 'person\n');
  project.git('commit', '-q', '-a', '-m', 'mine');
  const { code, out, err } = await project.ralph(['loops', 'merge', 'one']);
  expect([code, out + err]).toEqual([8, expect.stringContaining("git merge 'it'\\''s', settle")]);
});
