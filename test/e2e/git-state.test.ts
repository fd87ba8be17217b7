/** What an attempt, or somebody beside it, does to git itself: other branches, what git overlooks. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
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
          { write: { path: '{{task}}.txt', content: 'made in {{iteration}}\n' } },
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

test('a stash, a branch and a tag that were removed are told with commands that bring them back', async () => {
  project = doing('git stash drop -q && git branch -qD keep && git tag -d v1 >/dev/null');
  project.git('branch', 'keep');
  project.git('tag', 'v1');
  project.write('base.txt', 'wip\n');
  project.git('stash', '-q');
  const ran = await project.ralph(['run', '--no-wait']);
  expect(ran.code).toBe(0);
  const why = await project.ralph(['why', 'a']);
  const commands = [...why.out.matchAll(/removed meanwhile; `([^`]+)`/g)].map((match) => match[1]!);
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    expect(ran.out.replace(/\s+/g, ' ')).toContain(command);
    execFileSync('sh', ['-c', command], { cwd: project.dir });
  }
  expect(project.git('branch', '--list', 'keep')).toContain('keep');
  expect(project.git('tag')).toBe('v1');
  expect(project.git('stash', 'list')).toContain('WIP on main');
});

test('a repository that is gone pauses with 7, is not put back in part, and the named commands go on', async () => {
  project = doing('[ $RALPH_ITERATION != 1 ] || rm -rf .git');
  const ran = await project.ralph(['run', '--no-wait']);
  expect([ran.code, ran.out]).toEqual([7, expect.stringContaining('the git repository itself was removed')]);
  expect(existsSync(join(project.dir, '.git'))).toBe(false);
  const init = /`(git init [^`]+)`; then `ralph resume`/.exec(ran.out)![1]!;
  const who = {
    GIT_AUTHOR_NAME: 'T',
    GIT_AUTHOR_EMAIL: 't@example.invalid',
    GIT_COMMITTER_NAME: 'T',
    GIT_COMMITTER_EMAIL: 't@example.invalid',
  };
  execFileSync('sh', ['-c', init], { cwd: project.dir, env: { ...process.env, ...who }, stdio: 'pipe' });
  project.git('config', 'user.name', 'T');
  project.git('config', 'user.email', 't@example.invalid');
  let last = await project.ralph(['resume', '--no-wait']);
  if (last.code === 7) last = await project.ralph(['resume', '--no-wait']);
  expect([last.code, last.out]).toEqual([0, expect.anything()]);
});

test('a bare repository is named as what it is, and the work tree that is proposed can be run in', async () => {
  project = makeProject({ files });
  const bare = join(project.dir, 'store.git');
  project.git('clone', '-q', '--bare', '.', bare);
  for (const [key, value] of Object.entries({ name: 'T', email: 't@example.invalid' }))
    project.git('--git-dir', bare, 'config', `user.${key}`, value);
  const ran = await project.ralph(['run', '--no-wait'], { cwd: bare });
  expect([ran.code, ran.err]).toEqual([5, expect.stringContaining('is a bare repository')]);
  const command = /(git -C "[^"]+" worktree add "[^"]+")/.exec(ran.err)![1]!;
  execFileSync('sh', ['-c', command], { cwd: bare, stdio: 'pipe' });
  const there = await project.ralph(['run', '--dry-run'], { cwd: join(project.dir, 'work') });
  expect(there.code, there.err).toBe(0);
});

test('after the only session was archived, windows say so, and the copy that is named brings it back', async () => {
  project = makeProject({ files });
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(0);
  expect((await project.ralph(['archive'])).code).toBe(0);
  for (const window of ['why', 'logs', 'status']) {
    const ran = await project.ralph([window]);
    expect([ran.code, ran.err]).toEqual([5, expect.stringContaining('What was run here was archived')]);
    expect(ran.err).not.toContain('Nothing was run');
  }
  const back = /`(cp -r [^`]+)`/.exec((await project.ralph(['why'])).err)![1]!;
  execFileSync('sh', ['-c', back], { cwd: project.dir });
  for (const window of ['why', 'logs', 'status']) expect((await project.ralph([window])).code).toBe(0);
});

test('an abort without a runner ends the session for every command', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a'), story('b')]) } });
  expect((await project.ralph(['run', '--no-wait', '-n', '1'])).code).toBe(1);
  await project.ralph(['abort', 'wrong', 'way']);
  expect((await project.ralph(['status'])).out).toContain('`ralph run --reopen` takes it up again');
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(9);
  expect((await project.ralph(['run', '--no-wait', '--reopen'])).code).toBe(0);
  const paused = await project.ralph(['pause']);
  expect([paused.code, paused.out]).toEqual([0, expect.stringContaining('no effect')]);
  expect((await project.ralph(['sessions'])).out).toContain('completed');
  const answered = await project.ralph(['answer', 'q9', 'x']);
  expect([answered.code, answered.err]).toEqual([5, expect.stringContaining('There is no question q9')]);
});
