/** A loop whose start or whose attempt is killed is gone on with by its name, and nothing of it is lost or doubled. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DONE, makeProject, story, taskList } from '../e2e/project.ts';
import { factsNow, kill, until } from './killing.ts';

const IDS = ['US-001', 'US-002'];
const files = { 'prd.json': taskList(IDS.map((id) => story(id))) };

test('killed right after git made its work tree, the next start makes it whole', async ({
  onTestFinished,
}) => {
  const project = makeProject({
    files,
    config: 'worktree: { run: ["test -e ../slow || (touch ../slow && sleep 3); echo ready > .env2"] }\n',
    runs: [{ do: [{ run: 'cat .env2 > {{task}}.txt' }, { say: DONE }] }],
  });
  onTestFinished(() => project.remove());
  const started = project.start(['run', '--worktree', 'one']);
  // Git's own folder of the work tree: the set-up runs now, and the mark that it is whole is not there yet.
  await until('the work tree', () => existsSync(join(project.dir, '.git/worktrees/one/index')));
  await kill(started);
  expect(started.child.signalCode).toBe('SIGKILL');
  expect(existsSync(join(project.dir, '.git/worktrees/one/ralph-made'))).toBe(false);
  const again = await project.ralph(['run', '--worktree', 'one']);
  expect([again.code, again.err]).toEqual([
    0,
    expect.stringContaining('was begun and never made; it is now'),
  ]);
  expect(project.git('show', 'ralph/one:US-002.txt')).toBe('ready');
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(2);
});

test('killed in mid-attempt, it goes on in its session and its work tree', async ({ onTestFinished }) => {
  const project = makeProject({
    files,
    runs: [{ do: [{ run: 'echo {{task}} >> {{task}}.txt' }, { sleep_ms: 1500 }, { say: DONE }] }],
  });
  onTestFinished(() => project.remove());
  const started = project.start(['run', '--worktree', 'one']);
  await until('an attempt', () => factsNow(project).some(({ type }) => type === 'attempt.started'));
  const tree = realpathSync(join(project.dir, '.ralph/worktrees/one'));
  await until('its work', () => existsSync(join(tree, 'US-001.txt')));
  await kill(started);
  expect(started.child.signalCode).toBe('SIGKILL');
  const again = await project.ralph(['run', '--worktree', 'one']);
  expect([again.code, again.err]).toEqual([0, expect.any(String)]);
  expect(realpathSync(join(project.dir, '.ralph/worktrees/one'))).toBe(tree);
  expect(JSON.parse((await project.ralph(['sessions', '--json'])).out)).toHaveLength(1);
  const log = project.git('log', '--format=%B', 'ralph/one').split('\n');
  for (const id of IDS) expect(log.filter((line) => line === `Ralph-Task: ${id}`)).toHaveLength(1);
  expect(project.git('status', '--porcelain')).toBe('');
  expect(project.git('fsck', '--no-dangling')).not.toContain('missing');
});

test('killed after it had moved the branch that its loop lands on, the next run tells the move and the way back', async ({
  onTestFinished,
}) => {
  const moves = 'git commit -q --allow-empty -m junk && git update-ref refs/heads/main HEAD; touch moved';
  const project = makeProject({
    files,
    runs: [
      { when: { iteration: 1 }, do: [{ run: moves }, { hang: true }] },
      { do: [{ run: 'echo {{task}} >> {{task}}.txt' }, { say: DONE }] },
    ],
  });
  onTestFinished(() => project.remove());
  const old = project.git('rev-parse', 'main');
  const started = project.start(['run', '--worktree', 'one', '-n', '1']);
  await until('the move', () => existsSync(join(project.dir, '.ralph/worktrees/one/moved')));
  await kill(started);
  const now = project.git('rev-parse', 'main');
  expect(now).not.toBe(old);
  const again = await project.ralph(['run', '--worktree', 'one', '-n', '1', '--json']);
  const back = `git update-ref refs/heads/main ${old} ${now}`;
  expect(again.out).toContain(
    `a commit that was made in iteration 1 and is not judged: by it before it was cut`,
  );
  const move = { iteration: 1, branch: 'main', from: old, to: now, made_in_it: true, back };
  expect(JSON.parse(again.out.trim().split('\n').at(-1)!)).toMatchObject({ moved_branches: [move] });
  expect(JSON.parse((await project.ralph(['loops', '--json'])).out)).toMatchObject([
    { loop_id: 'one', moved_branches: [move] },
  ]);
});
