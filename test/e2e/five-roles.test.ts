/** The whole walk of the five roles with the real program: real git, real processes, a scripted agent. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CREW } from './five-roles.ts';
import { facts, sessionDir } from './journal.ts';
import { makeProject, type Project } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

/** In the order they were picked; those of a wave begin in any. */
const modes = () =>
  facts(project, 'attempt.started')
    .sort((a, b) => a.iteration - b.iteration)
    .map(({ item }) => (item.subject === 'session' ? item.mode : `${item.mode} ${item.subject}`));
const work = (path: string) => readFileSync(join(sessionDir(project), path), 'utf8');

test('objective, plan, questions, three tasks, one rework, review, approval; then feedback and a second cycle', async () => {
  project = makeProject({
    runs: [
      {
        when: { mode: 'TASK_REVIEW', task: 'task-2', attempt: 1 },
        do: [
          {
            emit: {
              topic: 'ralph.result',
              payload: {
                status: 'completed',
                verdict: 'Failed',
                criteria_results: [{ criterion: 'two.txt exists', met: false, note: 'not there' }],
                feedback: 'two.txt is missing',
              },
            },
          },
        ],
      },
      ...CREW,
    ],
  });
  const first = await project.ralph(['run', '--team', 'full', 'write three files', '--no-wait']);
  expect([first.code, first.err]).toEqual([8, expect.any(String)]);
  const round = ['technical', 'requirements', 'constraints', 'assumptions', 'risks'];
  expect(modes()).toEqual([
    'INITIALIZE',
    ...round.map((category) => `brainstorm ${category}`),
    'research',
    'TASK_BREAKDOWN',
    'implement task-1',
    'implement task-2',
    'TASK_REVIEW task-1',
    'TASK_REVIEW task-2',
    'review-fix task-2',
    'TASK_REVIEW task-2',
    'implement task-3',
    'TASK_REVIEW task-3',
    'SESSION_REVIEW',
    'STAGE',
  ]);
  expect(first.out + first.err).toContain('knowledge/how-to/files.md');
  const approved = await project.ralph(['approve']);
  expect(approved.code).toBe(0);
  const second = await project.ralph(['run', '--no-wait']);
  expect([second.code, second.err]).toEqual([0, expect.any(String)]);
  expect(readFileSync(join(project.dir, '.docs/how-to/files.md'), 'utf8')).toContain('One at a time.');
  const log = project.git('log', '--format=%B', '--reverse');
  for (const id of ['task-1', 'task-2', 'task-3']) expect(log).toContain(`Ralph-Task: ${id}`);
  expect(project.git('status', '--porcelain', '--untracked-files=all')).toBe('');
  expect(work('iterations/1/reports/task-2-report.md')).toContain('two.txt is missing');
  expect(work('iterations/1/reports/task-2-report-r2.md')).toMatch(/Status: Qualified/);
  expect(work('iterations/1/progress.md')).toMatch(/- \[x\] task-3 /);
  expect(work('iterations/1/progress.md')).toMatch(/- \[x\] plan-breakdown/);

  const before = modes().length;
  project.write('words.md', '# Critical Issues\n- [ ] ISS-001: a fourth file is missing\n');
  const given = await project.ralph(['feedback', 'words.md']);
  expect([given.code, given.err]).toEqual([0, expect.any(String)]);
  project.git('add', '-A');
  project.git('commit', '-qm', 'words');
  const third = await project.ralph(['run', '--no-wait']);
  expect([third.code, third.err]).toEqual([8, expect.any(String)]);
  expect(modes().slice(before)).toEqual([
    'feedback-analysis',
    'research',
    'UPDATE',
    'REBREAKDOWN',
    'implement task-4',
    'TASK_REVIEW task-4',
    'SESSION_REVIEW',
    'STAGE',
  ]);
  expect((await project.ralph(['skip'])).code).toBe(0);
  const fourth = await project.ralph(['run', '--no-wait']);
  expect([fourth.code, fourth.err]).toEqual([0, expect.any(String)]);
  expect(work('iterations/1/plan.md')).not.toContain('Replanning History');
  expect(work('iterations/2/plan.md')).toContain('Replanning History');
  expect(work('iterations/2/progress.md')).toMatch(/- \[x\] task-4 /);
  expect(work('iterations/2/progress.md')).not.toContain('task-3');
  expect(work('iterations/2/progress.md')).toMatch(/\| 2 \| Complete \| 1\/1 \| \d{8}-\d{6}/);
});
