/** A machine that has less left than the configuration asks for: no agent is started, and nothing dies of it. */
import { afterEach, expect, test } from 'vitest';
import { facts } from './journal.ts';
import { makeProject, type Project, result, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project.remove());

const fullMachine = (key: string) => {
  project = makeProject({
    files: { 'prd.json': taskList([story('t1')]), 'agent.sh': 'echo made > t1.txt\n' },
  });
  project.write(
    'ralph.yml',
    `agent: maker\nagents:\n  maker: { command: [sh, agent.sh] }\nhost: { ${key}: 999999999 }\n`,
  );
  project.git('commit', '-qam', 'agent');
};

test.each([
  [
    'min_free_disk_mb',
    /^no agent was started: only \d+ MB are free on the disk of \/.*, and 999999999 have to be/,
  ],
  [
    'min_free_memory_mb',
    /^no agent was started: only \d+ MB of memory are available, and 999999999 have to be/,
  ],
])('with %s above what there is, --no-wait ends with 5 before any agent was started', async (key, reason) => {
  fullMachine(key);
  const ran = await project.ralph(['run', '--no-wait', '--json'], { timeoutMs: 120_000 });
  expect(ran.code).toBe(5);
  expect(result(ran).exit).toMatchObject({ code: 5, word: 'PROBLEM', reason: expect.stringMatching(reason) });
  expect(facts(project, 'attempt.started')).toEqual([]);
  const status = await project.ralph(['status']);
  expect(status.out).toContain('mend what the reason names, then `ralph run`');
});
