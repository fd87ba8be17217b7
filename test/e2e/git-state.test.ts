/** What an attempt, or somebody beside it, does to git itself: other branches, what git overlooks. */
import { afterEach, expect, test } from 'vitest';
import { DONE, makeProject, type Project, result, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project?.remove());

const files = { 'ralph/tasks.json': taskList([story('a')]), 'base.txt': 'b\n' };
const doing = (...lines: string[]) =>
  makeProject({
    files,
    runs: [
      {
        do: [
          ...lines.map((run) => ({ run })),
          { write: { path: '{{task}}.txt', content: 'made\n' } },
          { say: DONE },
        ],
      },
    ],
  });

test('a branch that was switched in an attempt pauses with 7; the way back that is printed lands on the first branch', async () => {
  project = doing('git switch -qc feature');
  const ran = await project.ralph(['run', '--no-wait']);
  expect(ran.code).toBe(7);
  expect(ran.out).toContain('The branch was switched from main to feature during iteration 1');
  expect(ran.out).toContain('`git switch main`');
  expect(ran.out).not.toMatch(/agent switched/);
  expect(project.git('log', '--format=%s', 'feature')).toBe('first');
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(7);
  project.git('switch', '-q', 'main');
  expect((await project.ralph(['resume', '--no-wait'])).code).toBe(0);
  expect(project.git('log', '--format=%s', 'main').split('\n')).toHaveLength(2);
  expect(project.git('log', '--format=%s', 'feature')).toBe('first');
});

test('whoever resumes on the other branch has said to go on there', async () => {
  project = doing('git rev-parse -q --verify feature || git switch -qc feature');
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(7);
  expect((await project.ralph(['resume', '--no-wait'])).code).toBe(0);
  expect(project.git('log', '--format=%s', 'main')).toBe('first');
  expect(project.git('show', '--stat', '--format=', 'feature')).toContain('a.txt');
});

test('commits that were made on the other branch come back with the merge that is named', async () => {
  project = doing('git switch -qc feature && git commit -q --allow-empty -m theirs');
  const ran = await project.ralph(['run', '--no-wait']);
  expect([ran.code, ran.out]).toEqual([7, expect.stringContaining('`git merge feature`')]);
  project.git('switch', '-q', 'main');
  project.git('merge', '-q', 'feature');
  expect((await project.ralph(['resume', '--no-wait'])).code).toBe(0);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('a branch that is switched while gates run gets no commit', async () => {
  project = makeProject({
    files,
    config: 'gates: [{ name: g, run: "git switch -qc feature 2>/dev/null || true" }]\n',
    runs: [{ do: [{ write: { path: '{{task}}.txt', content: 'x\n' } }, { say: DONE }] }],
  });
  const before = await project.ralph(['run', '--no-wait']);
  expect([before.code, before.out]).toEqual([7, expect.stringContaining('switched from main to feature')]);
  expect(project.git('log', '--format=%s', 'feature')).toBe('first');
  project.git('switch', '-q', 'main');
  expect((await project.ralph(['resume', '--no-wait'])).code).toBe(0);
  expect(project.git('log', '--format=%s', 'main').split('\n')).toHaveLength(2);
});

test('what git was told to overlook is named with the command that ends it, and that command lands it', async () => {
  project = doing('git update-index --skip-worktree base.txt && echo changed > base.txt');
  const ran = await project.ralph(['run', '--no-wait', '--json']);
  expect(result(ran).exit.code).toBe(8);
  const status = await project.ralph(['status']);
  const command = /`(git update-index --no-assume-unchanged [^`]+)`/.exec(status.out)?.[1];
  expect(command).toContain('git update-index --no-skip-worktree base.txt');
  for (const one of command!.split(' && ')) project.git(...one.split(' ').slice(1));
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(0);
  expect(project.git('show', 'HEAD:base.txt')).toBe('changed');
});
