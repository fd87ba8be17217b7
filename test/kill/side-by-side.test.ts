/** Agents side by side, killed again and again while they work, are brought home and land. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DONE, makeProject, story, taskList } from '../e2e/project.ts';
import { factsNow, factsOf, kill } from './killing.ts';

const KILLS = 10;
const LONGEST_MS = 1_600;
const IDS = Array.from({ length: 15 }, (_, n) => `US-${String(n + 1).padStart(3, '0')}`);

test('killed at moments nobody chose, nothing is lost or doubled, the shared file holds what each of them added', async ({
  onTestFinished,
}) => {
  const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
  const delays = fc.sample(fc.noBias(fc.integer({ min: 400, max: LONGEST_MS })), { seed, numRuns: KILLS });
  console.log(`side by side: KILL_SEED=${seed}, killed after ${delays.join(' ')} ms`);
  const lines = IDS.map((id) => `${id}: open`).join('\n\n\n\n');
  const project = makeProject({
    files: { 'ralph/tasks.json': taskList(IDS.map((id) => story(id))), 'shared.txt': `${lines}\n` },
    runs: [
      {
        do: [
          { sleep_ms: 250 },
          { replace: { path: 'shared.txt', find: '{{task}}: open', with: '{{task}}: done' } },
          { write: { path: '{{task}}.txt', content: '{{task}}\n' } },
          { sleep_ms: 250 },
          { say: DONE },
        ],
      },
    ],
  });
  onTestFinished(() => project.remove());
  const run = ['run', '--parallel', '3', '--max-stuck', '0'];
  let kills = 0;
  for (const delay of delays) {
    const started = project.start(run);
    await Promise.race([sleep(delay), started.done]);
    await kill(started);
    if (started.child.signalCode === 'SIGKILL') kills += 1;
  }
  const last = await project.ralph(run);
  expect(last.code, `KILL_SEED=${seed}\n${last.err}`).toBe(0);
  const lost = factsNow(project).length === 0 ? 0 : factsOf(project, 'attempt.lost').length;
  console.log(`side by side: ${kills} kills, ${lost} attempts lost`);
  const log = project.git('log', '--format=%B').split('\n');
  for (const id of IDS) {
    expect([id, log.filter((line) => line === `Ralph-Task: ${id}`).length]).toEqual([id, 1]);
    expect(project.read(`${id}.txt`)).toBe(`${id}\n`);
    expect(project.read('shared.txt')).toContain(`${id}: done`);
  }
  expect(project.git('status', '--porcelain', '--untracked-files=all')).toBe('');
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
  expect(project.git('fsck', '--no-dangling')).not.toContain('missing');
  expect(factsOf(project, 'task.charged')).toEqual([]);
});
