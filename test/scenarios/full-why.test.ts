/** `ralph why` on calls that are about no task, and on tasks that were reviewed. */
import { afterEach, expect, test } from 'vitest';
import * as views from '../../src/views/index.ts';
import { crewOf, FULL, QUALIFIED, reported } from './full-crew.ts';
import { DONE, leave, makeWorld, type Play, run, type World } from './world.ts';

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(leave));

async function played(over: Partial<Record<string, Play>>): Promise<views.Story> {
  const world = makeWorld({ play: crewOf(over) });
  worlds.push(world);
  await run(world, { ...FULL, limits: { maxCycles: 0, onExhausted: 'fail' } });
  return views.readStory(structuredClone(world.records));
}

const VIEW = { now: Date.UTC(2026, 0, 3), live: { runner: null } };
const why = (story: views.Story, subject?: string) => views.whyText(story, subject, VIEW);

test('a call that was returned shows what it owed, what it wrote, its exact faults, and that it was made again', async () => {
  const story = await played({
    TASK_BREAKDOWN: ({ attempt }) => ({
      session: {
        'tasks/task-1.md':
          attempt === 1
            ? 'fault: task-1 depends on task-9, which is no task'
            : '{"id":"task-1","dependsOn":[]}',
      },
      say: DONE,
    }),
  });
  const text = why(story, '2');
  expect(text).toContain('iteration 2 · TASK_BREAKDOWN · attempt 1');
  expect(text).toMatch(/owed +tasks\/\*\.md/);
  expect(text).toMatch(/wrote +iterations\/1\/tasks\/task-1\.md/);
  expect(text).toMatch(/fault +task-1 depends on task-9, which is no task/);
  expect(text).toMatch(/verdict +rejected \(returned with these errors\): task-1 depends on task-9/);
  expect(text).toMatch(/next +iteration 3 made the same call again: accepted/);
  expect(text).not.toContain('gates');
  expect(views.whyJson(story, '2', VIEW)).toMatchObject({
    works: {
      owed: ['tasks/*.md'],
      written: ['iterations/1/tasks/task-1.md'],
      faults: ['task-1 depends on task-9, which is no task'],
    },
    review: null,
  });
});

test('a call that wrote what was not its own shows what was put back and where its text is kept', async () => {
  const story = await played({
    SESSION_REVIEW: () => ({ session: { 'review.md': 'Complete', 'plan.md': 'mine' }, say: DONE }),
  });
  const told = [...story.iterations.values()].find(({ item }) => item.mode === 'SESSION_REVIEW')!;
  const text = why(story, String(told.iteration));
  expect(text).toContain('iterations/1/plan.md is not for SESSION_REVIEW to write; it was put back.');
  expect(text).toMatch(/kept +its iterations\/1\/plan\.md lies as .*works\.1\.rejected/);
  expect(text).toMatch(/wrote +iterations\/1\/review\.md/);
});

test('a task shows its review criterion by criterion, and where the report lies', async () => {
  let reviews = 0;
  const story = await played({
    TASK_REVIEW: () => {
      reviews += 1;
      return reviews > 1
        ? QUALIFIED
        : reported({
            verdict: 'Failed',
            criteria_results: [{ criterion: 'it works', met: false, note: 'no file' }],
            feedback: 'the file is missing',
          });
    },
    'review-fix': ({ task }) => ({ write: { [`${task}.txt`]: 'mended' }, say: DONE }),
  });
  const text = why(story, 'task-1');
  expect(text).toMatch(/review +Qualified/);
  expect(text).toContain('met: it works — saw it');
  expect(text).toMatch(/report +iterations\/1\/reports\/task-1-report-r2\.md/);
  const failed = [...story.iterations.values()].find(({ item }) => item.mode === 'TASK_REVIEW')!;
  const first = why(story, String(failed.iteration));
  expect(first).toMatch(/review +Failed: the file is missing/);
  expect(first).toContain('NOT MET: it works — no file');
  expect(first).toMatch(/report +iterations\/1\/reports\/task-1-report\.md/);
  expect(views.whyJson(story, 'task-1', VIEW)).toMatchObject({
    review: {
      verdict: 'Qualified',
      criteria: [{ criterion: 'it works', met: true, note: 'saw it' }],
      report: 'iterations/1/reports/task-1-report-r2.md',
    },
  });
});

test('the session shows its phase, and the calls it goes on without', async () => {
  const story = await played({ STAGE: () => ({ say: 'well' }) });
  expect(why(story)).toContain('goes on without: librarian STAGE session');
  expect(why(story)).toContain('phase: the session review says Complete');
  expect(views.whyJson(story, undefined, VIEW)).toMatchObject({ passed_over: ['librarian STAGE session'] });
});
