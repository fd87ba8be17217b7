/** The five-role session, killed again and again in every phase, until all is done. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CREW } from '../e2e/five-roles.ts';
import { makeProject } from '../e2e/project.ts';
import { factsNow, factsOf, kill } from './killing.ts';

const KILLS = 12;
const LONGEST_MS = 4_000;
const slow = CREW.map((run) => ({ ...run, do: [{ sleep_ms: 150 }, ...run.do, { sleep_ms: 150 }] }));

test('killed at moments nobody chose it ends with one commit a task and every work in its place', async ({
  onTestFinished,
}) => {
  const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
  const delays = fc.sample(fc.integer({ min: 500, max: LONGEST_MS }), { seed, numRuns: KILLS });
  console.log(`five roles: KILL_SEED=${seed}, killed after ${delays.join(' ')} ms`);
  const project = makeProject({ runs: slow, config: 'limits: { max_cycles: 1 }\n' });
  onTestFinished(() => project.remove());
  const begin = ['run', '--team', 'full', 'three files', '--no-wait'];
  const again = () => (factsNow(project).length === 0 ? begin : ['run', '--no-wait']);
  let kills = 0;
  for (const delay of delays) {
    const started = project.start(again());
    await Promise.race([sleep(delay), started.done]);
    await kill(started);
    if (started.child.signalCode === 'SIGKILL') kills += 1;
  }
  const first = await project.ralph(again());
  expect(first.code, `KILL_SEED=${seed}\n${first.err}`).toBe(8);
  expect((await project.ralph(['approve'])).code).toBe(0);
  const last = await project.ralph(again());
  expect(last.code, `KILL_SEED=${seed}\n${last.err}`).toBe(0);
  console.log(`five roles: ${kills} kills, ${factsOf(project, 'attempt.lost').length} attempts lost`);
  const log = project.git('log', '--format=%B').split('\n');
  for (const id of ['task-1', 'task-2', 'task-3'])
    expect([id, log.filter((line) => line === `Ralph-Task: ${id}`).length]).toEqual([id, 1]);
  expect(project.git('status', '--porcelain', '--untracked-files=all')).toBe('');
  expect(factsOf(project, 'task.charged')).toEqual([]);
  expect(project.read('.docs/how-to/files.md')).toContain('One at a time.');
});
