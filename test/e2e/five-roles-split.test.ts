/** A task that is too big for the time there is, with the real program: the planner cuts it, its work is kept. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CREW, done, taskFile, writeWork } from './five-roles.ts';
import { facts, sessionDir } from './journal.ts';
import { makeProject, type Project } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const modes = () =>
  facts(project, 'attempt.started').map(({ item }) =>
    item.subject === 'session' ? item.mode : `${item.mode} ${item.subject}`,
  );

test('a task that ran out of time is cut anew; a cut with errors goes back; what waited for it waits for all', async () => {
  const cut = (needs: string) => [
    writeWork('tasks/task-1a.md', taskFile('task-1a', 'one.txt')),
    writeWork('tasks/task-1b.md', taskFile('task-1b', 'one.test.txt', [needs])),
    done({ tasks_defined: 2 }),
  ];
  project = makeProject({
    config:
      'mode: speed\nmodes: { speed: 12 }\nadaptive_timeout: { enabled: false }\nlimits: { max_cycles: 0 }\n',
    runs: [
      {
        when: { mode: 'implement', task: 'task-1' },
        do: [{ write: { path: 'one.txt', content: 'half\n' } }, { sleep_ms: 60_000 }],
      },
      { when: { mode: 'SPLIT_TASK', attempt: 1 }, do: cut('task-7') },
      { when: { mode: 'SPLIT_TASK' }, do: cut('task-1a') },
      ...CREW,
    ],
  });
  const ran = await project.ralph(['run', '--team', 'full', 'write three files', '--no-wait'], {
    timeoutMs: 110_000,
  });
  expect([ran.code, ran.err]).toEqual([8, expect.any(String)]);
  expect(modes().filter((mode) => /task-1|task-3/.test(mode))).toEqual([
    'implement task-1',
    'SPLIT_TASK task-1',
    'SPLIT_TASK task-1',
    'implement task-1a',
    'TASK_REVIEW task-1a',
    'implement task-1b',
    'TASK_REVIEW task-1b',
    'implement task-3',
    'TASK_REVIEW task-3',
  ]);
  const [first] = facts(project, 'attempt.ended').filter(({ works }) => works?.faults.length);
  expect(first?.works?.faults).toEqual([
    '"task-1b" depends on "task-7", which is no task of this list; did you mean "task-1"?',
  ]);
  expect(project.git('log', '-1', '--format=%B%x00', '--', 'one.txt')).toContain('Ralph-Task: task-1a');
  expect(project.git('show', 'HEAD:one.txt')).toBe('half');
  const progress = readFileSync(join(sessionDir(project), 'iterations/1/progress.md'), 'utf8');
  expect(progress).toMatch(/- \[C\] task-1 .*replaced_by: task-1a, task-1b/);
  const tasks = await project.ralph(['tasks', '--json']);
  expect(JSON.parse(tasks.out).find(({ id }: { id: string }) => id === 'task-1')).toMatchObject({
    status: 'cancelled',
    replaced_by: ['task-1a', 'task-1b'],
  });
});
