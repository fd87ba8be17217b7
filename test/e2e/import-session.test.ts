/** Sessions that another Ralph-v2 left: a folder without a journal is imported once, and goes on. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CREW, NOTE, PLAN, taskFile } from './five-roles.ts';
import { facts, json } from './journal.ts';
import { makeProject, type Project } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const ID = '260207-101500';
const at = (path: string) => join(project.dir, '.ralph-sessions', ID, path);
const text = (path: string) => readFileSync(at(path), 'utf8');
const modes = () =>
  facts(project, 'attempt.started').map(({ item }) => [item.mode, item.task].filter(Boolean).join(' '));

function foreign(files: Record<string, string>): void {
  project = makeProject({ files: { '.gitignore': '.ralph-sessions/\n' }, runs: CREW });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  }
}

const metadata = (state: string, more = '') => `version: 3
session_id: ${ID}
created_at: 2026-02-07T10:15:00+0700
updated_at: 2026-02-07T11:00:00+0700
iteration: 1
orchestrator:
  state: ${state}
tasks: { total: 3, completed: 1, failed: 0, pending: 2 }
${more}`;

const progress = (rows: string, planning = 'x') => `# Progress

## Legend
- \`[ ]\` Not started
- \`[x]\` Completed

## Planning Progress (Iteration 1)
- [x] plan-init (completed: 2026-02-07T10:20:00+0700)
- [x] plan-brainstorm
- [x] plan-research
- [${planning}] plan-breakdown

## Implementation Progress (Iteration 1)
${rows}
Remember the release on Friday.

## Iterations
| Iteration | Status | Tasks | Feedbacks |
|-----------|--------|-------|-----------|
| 1 | Executing | 1/3 | N/A |
`;

const report = (status: string) => `---
task_id: task-2
iteration: 1
attempt: 1
---
# PART 1: Implementation Report
Wrote half of it.

# PART 2: Review Report
## Recommendation
Status: ${status}

## Feedback for Next Attempt
The second half is missing.
`;

const tasks = {
  'iterations/1/tasks/task-1.md': taskFile('task-1', 'one.txt'),
  'iterations/1/tasks/task-2.md': taskFile('task-2', 'two.txt'),
  'iterations/1/tasks/task-3.md': taskFile('task-3', 'three.txt', ['task-1', 'task-2']),
};

test('in the middle of a batch: done stays done, what was at work begins again, a review is heard', async () => {
  const rows =
    '- [x] task-1 (Attempt 1, Iteration 1, qualified: 2026-02-07T10:40:00+0700)\n- [F] task-2 (Attempt 1, failed)\n- [/] task-3 (Attempt 1, started: 2026-02-07T10:50:00+0700)\n';
  const files = {
    'metadata.yaml': metadata('EXECUTING_BATCH'),
    'iterations/1/metadata.yaml':
      'version: 1\niteration: 1\nstarted_at: 2026-02-07T10:16:00+0700\nplanning_complete: true\n',
    'iterations/1/plan.md': PLAN,
    'iterations/1/progress.md': progress(rows),
    'iterations/1/reports/task-2-report.md': report('Failed'),
    ...tasks,
  };
  foreign(files);
  const unnamed = await project.ralph(['run', '--no-wait']);
  expect([unnamed.code, unnamed.err]).toEqual([5, expect.stringContaining(`ralph run --session ${ID}`)]);
  const first = await project.ralph(['run', '--no-wait', '--session', ID]);
  expect([first.code, first.err]).toEqual([8, expect.any(String)]);
  expect(modes()).toEqual([
    'review-fix task-2',
    'TASK_REVIEW task-2',
    'implement task-3',
    'TASK_REVIEW task-3',
    'SESSION_REVIEW',
    'STAGE',
  ]);
  const [record] = text('journal.jsonl').split('\n');
  expect(record).toContain('"type":"session.imported"');
  expect(facts(project, 'session.created')[0]!.objective).toBe('Three files that say what they are.');
  expect(facts(project, 'notice.given')[0]!.text).toContain('1 are marked [x] and count as done and landed');
  for (const name of ['metadata.yaml', 'iterations/1/metadata.yaml', 'iterations/1/progress.md'] as const)
    expect(text(`${name}.imported`)).toBe(files[name]);
  expect(text('iterations/1/progress.md')).toContain('Remember the release on Friday.');
  expect(text('iterations/1/progress.md')).toMatch(/- \[x\] task-3 /);
  expect(text('iterations/1/metadata.yaml')).toContain('started_at: 2026-02-07T03:16:00Z');
  expect(text('iterations/1/reports/task-2-report.md')).toBe(files['iterations/1/reports/task-2-report.md']);
  expect(existsSync(at('iterations/1/reports/task-2-report-r2.md'))).toBe(true);
  // Once: the second start goes on.
  expect((await project.ralph(['approve'])).code).toBe(0);
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(0);
  expect(facts(project, 'session.imported')).toHaveLength(1);
});

test('complete and waiting for feedback: it says so, and feedback opens the next cycle', async () => {
  const rows = '- [x] task-1 (qualified)\n- [C] task-2 (not needed)\n- [x] task-3 (qualified)\n';
  foreign({
    'metadata.yaml': metadata('COMPLETE', 'status: awaiting_feedback\n'),
    'iterations/1/plan.md': PLAN,
    'iterations/1/progress.md': `${progress(rows)}\n## Knowledge Progress (Iteration 1)\n- [x] plan-knowledge-extraction\n- [C] plan-knowledge-approval\n`,
    'iterations/1/review.md': '# Review\n\n## Assessment\nGaps Identified\n\n## Gaps\n- no fourth file\n',
    'iterations/1/knowledge/how-to/files.md': NOTE,
    ...tasks,
  });
  const first = await project.ralph(['run', '--no-wait', '--session', ID]);
  expect([first.code, first.out + first.err]).toEqual([8, expect.stringContaining('no fourth file')]);
  expect(modes()).toEqual([]);
  expect((await project.ralph(['feedback', '-m', 'a fourth file'])).code).toBe(0);
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(8);
  expect(modes().slice(0, 5)).toEqual([
    'feedback-analysis',
    'research',
    'UPDATE',
    'REBREAKDOWN',
    'implement task-4',
  ]);
  expect(text('iterations/1/review.md')).toContain('no fourth file');
  expect(text('iterations/1/knowledge/how-to/files.md')).toBe(NOTE);
});

test('damaged: what can be read counts, nothing is guessed as done, the rest is told by file and line', async () => {
  const rows = '- [x] task-1\n- [?] task-2 (Attempt 1)\n- [ ] task-9\n- [ ] task-3\n';
  foreign({
    'metadata.yaml': 'version: 3\niteration: 4\norchestrator: { state: DREAMING\nstatus: "in_progress\n',
    'iterations/1/plan.md': PLAN,
    'iterations/1/progress.md': progress(rows),
    'iterations/1/review.md': 'It is fine, more or less.\n',
    ...tasks,
    'iterations/1/tasks/task-3.md': '',
    'iterations/2/feedbacks/20260208-090000/feedbacks.md': '# Feedback\n\n## New Requirements\n- faster\n',
  });
  const first = await project.ralph(['run', '--no-wait', '--session', ID]);
  expect([6, 8]).toContain(first.code);
  const told = facts(project, 'notice.given').map(({ text: said }) => said);
  for (const part of [
    /^metadata\.yaml:\d+: /,
    /iterations\/1\/progress\.md: line \d+: the marker \[\?\] of task-2 is unknown/,
    /iterations\/1\/progress\.md:\d+: task-9 has no file/,
    /iterations\/1\/tasks: task-3: its file is empty/,
    /iterations\/1\/review\.md: it does not say Complete/,
  ])
    expect(told).toContainEqual(expect.stringMatching(part));
  expect(modes()).toContain('implement task-2');
  expect(modes()).not.toContain('implement task-1');
  expect(facts(project, 'task.moved')).toContainEqual(
    expect.objectContaining({ task: 'task-9', to: 'failed', reason: 'Task definition missing' }),
  );
  expect(json<{ iteration: number }>(await project.ralph(['status', '--json'])).iteration).toBeGreaterThan(0);
});

test('without words on where it stands, marked tasks say that it is at work', async () => {
  foreign({
    'iterations/1/plan.md': PLAN,
    'iterations/1/progress.md': '# Progress\n\n## Tasks\n- [x] task-1\n- [ ] task-2\n- [ ] task-3\n',
    'iterations/1/metadata.yaml': 'iteration: banana\norchestrator:\n  state: PLANNING\n  x: [\n',
    ...tasks,
  });
  expect((await project.ralph(['run', '--no-wait', '--session', ID])).code).toBe(8);
  expect(modes().sort().slice(0, 3)).toEqual(['SESSION_REVIEW', 'STAGE', 'TASK_REVIEW task-2']);
  expect(modes()).not.toContain('implement task-1');
});

test('a folder with nothing of a session in it is told as before', async () => {
  foreign({ 'notes.txt': 'nothing' });
  const ran = await project.ralph(['run', '--session', ID]);
  expect([ran.code, ran.err]).toEqual([5, expect.stringContaining(`There is no session ${ID}`)]);
});
