/** Sessions are moved out of the way while loops exist: what a loop needs stays, and the rest is missed by nobody. */
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const archive = async () =>
  JSON.parse((await project.ralph(['archive', '--label', 'v1', '--json'])).out) as {
    moved: string[];
    kept: { session: string; why: string }[];
  };
const row = async () =>
  (JSON.parse((await project.ralph(['loops', '--json'])).out) as Record<string, unknown>[])[0]!;
const code = async (...args: string[]) => {
  const { code: got, err } = await project.ralph(args);
  return [got, got === 0 ? '' : err];
};

test('the session of a loop stays until its work has landed; then the loop does without it', async () => {
  project = makeProject({
    config: 'land: branch\n',
    files: { 'one.json': taskList([story('a')]), 'ralph/tasks.json': taskList([story('b')]) },
    runs: [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }],
  });
  expect(await code('run', '--worktree', 'one', '--tasks', 'one.json')).toEqual([0, '']);
  const { session_id: session } = await row();
  expect(await code('run')).toEqual([0, '']);
  const first = await archive();
  expect(first.kept).toEqual([{ session, why: expect.stringContaining('loop one needs it until its work') }]);
  expect(first.moved).toHaveLength(1);
  expect(first.moved).not.toContain(session);
  expect(project.git('show', 'ralph/one:one.json')).toContain('"passes": true');
  expect(await row()).toMatchObject({ session_id: session, tasks: { done: 1, total: 1 } });
  expect(await code('loops', 'merge', 'one')).toEqual([0, '']);
  expect(project.read('a.txt')).toBe('made\n');
  const second = await archive();
  expect(second).toMatchObject({ moved: [session], kept: [] });
  expect(await row()).toMatchObject({ loop_id: 'one', landed: true });
  expect(await code('run', '--worktree', 'one', '--dry-run', '--tasks', 'one.json')).toEqual([0, '']);
  const pruned = await project.ralph(['loops', 'prune', '--json']);
  expect(JSON.parse(pruned.out)).toEqual({ removed: ['one'], kept: [], ignored_gone: [] });
  expect(project.git('status', '--porcelain')).toBe('');
});

test('a landed loop whose session was moved away can still be given up', async () => {
  project = makeProject({
    files: { 'one.json': taskList([story('a')]) },
    runs: [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }],
  });
  expect(await code('run', '--worktree', 'one', '--tasks', 'one.json')).toEqual([0, '']);
  expect((await archive()).moved).toHaveLength(1);
  expect(await code('loops', 'discard', 'one', '--yes')).toEqual([0, '']);
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
  expect(project.git('status', '--porcelain')).toBe('');
});
