/** Killed again and again at times nobody chose, until the list is finished. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DONE, type Project } from '../e2e/project.ts';
import { expectFinished, factsNow, factsOf, kill, listProject } from './killing.ts';

const TASKS = ['a', 'b', 'c', 'd', 'e', 'f'];
const KILLS = 15;
const LONGEST_MS = 2_000;

const runs = [
  {
    do: [
      { run: 'setsid sleep 300 >/dev/null 2>&1 &' },
      { write: { path: '{{task}}.txt', content: '{{task}}\n' } },
      { sleep_ms: 400 },
      { say: DONE },
    ],
  },
];

test('a run of six tasks that is killed fifteen times ends finished', async ({ onTestFinished }) => {
  const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
  const delays = fc.sample(fc.integer({ min: 50, max: LONGEST_MS }), { seed, numRuns: KILLS });
  console.log(`soak: KILL_SEED=${seed}, killed after ${delays.join(' ')} ms`);
  const config = 'gates:\n  - { name: there, run: "ls *.txt" }\n';
  const project = listProject(TASKS, { runs, config });
  onTestFinished(() => project.remove());
  let kills = 0;
  for (const delay of delays) {
    const started = project.start([command(project)]);
    await Promise.race([sleep(delay), started.done]);
    await kill(started);
    if (started.child.signalCode === 'SIGKILL') kills += 1;
  }
  const ran = await project.ralph([command(project)]);
  console.log(`soak: ${kills} kills, ${factsOf(project, 'attempt.lost').length} attempts lost`);
  expect(ran.code, `KILL_SEED=${seed}\n${ran.err}`).toBe(0);
  await expectFinished(project, ran, { tasks: TASKS, lost: null });
});

/** `run` begins; from the first record on it is `resume`, which also looks at a session that has ended. */
function command(project: Project): 'run' | 'resume' {
  return factsNow(project).length === 0 ? 'run' : 'resume';
}
