/** The five roles on one session: plan, question, execute, review, learn, and again with feedback. */
import { describe, expect, test } from 'vitest';
import type { Policy } from '../../src/core/index.ts';
import { crew, FULL, QUALIFIED, QUICK, result, taskText } from './crew.ts';
import { DONE, facts, leave, makeWorld, type Play, run, send, type World } from './world.ts';

const modes = (world: World) =>
  facts(world, 'attempt.started').map(
    ({ item }) => `${item.mode}${item.subject === 'session' ? '' : ` ${item.subject}`}`,
  );
const phases = (world: World) => facts(world, 'phase.entered').map(({ phase }) => phase);
const reasons = (world: World) =>
  facts(world, 'verdict.reached').map(({ value, reason }) => `${value}: ${reason}`);

async function approved(play: Play): Promise<World> {
  const world = makeWorld({ play });
  await run(world, QUICK);
  send(world, { type: 'APPROVE' });
  expect((await run(world, QUICK)).exit.code).toBe(0);
  return world;
}

describe('the full walk', () => {
  test('an objective is planned, broken down, done, reviewed, and its notes wait for a person', async () => {
    const world = makeWorld({ play: crew() });
    const { exit } = await run(world, QUICK);
    expect([exit.code, exit.word]).toEqual([8, 'AWAITING']);
    expect(modes(world)).toEqual([
      'INITIALIZE',
      'TASK_BREAKDOWN',
      'implement task-1',
      'TASK_REVIEW task-1',
      'implement task-2',
      'TASK_REVIEW task-2',
      'implement task-3',
      'TASK_REVIEW task-3',
      'SESSION_REVIEW',
      'STAGE',
    ]);
    send(world, { type: 'APPROVE' });
    const again = await run(world, QUICK);
    expect([again.exit.code, again.exit.word]).toEqual([0, 'COMPLETE']);
    expect(modes(world).at(-1)).toBe('PROMOTE');
    expect(phases(world)).toEqual([
      'PLANNING',
      'BATCHING',
      'SESSION_REVIEW',
      'KNOWLEDGE_EXTRACTION',
      'KNOWLEDGE_APPROVAL',
      'COMPLETE',
    ]);
    leave(world);
  });

  test('questions are asked by category, then researched; what research brings up asks for another round', async () => {
    const world = makeWorld({
      play: crew({
        brainstorm: ({ category }, { outside }) => ({
          session: {
            [`questions/${category}.md`]: outside.session[`iterations/1/questions/${category}.md`] ?? 'why?',
          },
          say: DONE,
        }),
        research: ({ iteration }) => ({
          session: {
            'questions/risks.md': iteration < 8 ? 'why?\n!so\nand then?' : 'why?\n!so\nand then?\n!thus',
          },
          say: DONE,
        }),
      }),
    });
    await run(world, FULL);
    const round = ['technical', 'requirements', 'constraints', 'assumptions', 'risks'];
    expect(modes(world).slice(1, 14)).toEqual([
      ...round.map((category) => `brainstorm ${category}`),
      'research',
      ...round.map((category) => `brainstorm ${category}-2`),
      'research session-2',
      'TASK_BREAKDOWN',
    ]);
    leave(world);
  });

  test('an invalid breakdown goes back with the exact errors, twice, and then the run asks for less', async () => {
    const world = makeWorld({
      play: crew({
        TASK_BREAKDOWN: () => ({
          session: { 'tasks/task-1.md': 'fault: task-1 depends on task-9, which is no task' },
          say: DONE,
        }),
      }),
    });
    const { exit } = await run(world, QUICK);
    expect([exit.code, exit.word]).toEqual([6, 'AGENT_FAILURE']);
    expect(exit.reason).toContain('task-1 depends on task-9, which is no task');
    expect(exit.reason).toContain('educe the scope');
    expect(modes(world)).toEqual(['INITIALIZE', 'TASK_BREAKDOWN', 'TASK_BREAKDOWN', 'TASK_BREAKDOWN']);
    expect(world.prompts.at(-1)).toContain('task-1 depends on task-9, which is no task');
    leave(world);
  });

  test('a planner that writes nothing is not believed', async () => {
    const world = makeWorld({ play: crew({ INITIALIZE: () => ({ say: DONE }) }) });
    const { exit } = await run(world, QUICK);
    expect(exit.code).toBe(6);
    expect(reasons(world)[0]).toBe('rejected: plan.md is missing');
    leave(world);
  });

  test('a questioner, a reviewer of the session and a librarian that fail are passed over, and told', async () => {
    const nothing: Play = () => ({ say: 'well' });
    const world = makeWorld({
      play: crew({ research: nothing, SESSION_REVIEW: nothing, STAGE: nothing }),
    });
    const { exit } = await run(world, { ...FULL, limits: { maxStuck: 0 } });
    expect(exit.code).toBe(0);
    expect(facts(world, 'call.passed_over').map(({ item }) => item.mode)).toEqual([
      'research',
      'SESSION_REVIEW',
      'STAGE',
    ]);
    expect(world.outside.session['iterations/1/review.md']).toContain('nobody reviewed');
    leave(world);
  });

  test('a review that finds gaps waits for feedback, and nothing of it is called complete', async () => {
    const gaps: Play = () => ({ session: { 'review.md': 'Gaps Identified: no tests' }, say: DONE });
    const world = makeWorld({
      play: crew({ SESSION_REVIEW: gaps, STAGE: () => ({ say: DONE }) }),
    });
    const { exit } = await run(world, QUICK);
    expect(exit.code).toBe(8);
    expect(exit.reason).toContain('no tests');
    expect(exit.reason).toContain('ralph feedback');
    leave(world);
  });
});

describe('review that means something', () => {
  test('a yes without a word on what was checked is no verdict, and the task is never failed for it', async () => {
    const world = makeWorld({
      play: crew({ TASK_REVIEW: () => result({ status: 'completed', verdict: 'Qualified' }) }),
    });
    const { exit } = await run(world, { ...QUICK, limits: { ...QUICK.limits, maxStuck: 0 } });
    expect(exit.code).toBe(2);
    expect(facts(world, 'question.asked').at(-1)?.question.text).toContain('not a word on what was checked');
    leave(world);
  });

  test('a failed review goes to rework with its feedback, and the report holds both parts', async () => {
    let reviews = 0;
    const world = makeWorld({
      play: crew({
        TASK_REVIEW: () => {
          reviews += 1;
          return reviews > 1
            ? result(QUALIFIED)
            : result({ ...QUALIFIED, verdict: 'Failed', feedback: 'no error text' });
        },
        'review-fix': () => ({ write: { 'task-1.txt': 'mended' }, say: DONE }),
      }),
    });
    await run(world, QUICK);
    expect(modes(world).slice(2, 6)).toEqual([
      'implement task-1',
      'TASK_REVIEW task-1',
      'review-fix task-1',
      'TASK_REVIEW task-1',
    ]);
    expect(world.outside.session['iterations/1/reports/task-1-report.md']).toContain(
      'PART 2 Failed no error text',
    );
    expect(world.outside.session['iterations/1/reports/task-1-report-r2.md']).toContain('PART 2 Qualified');
    leave(world);
  });
});

describe('ownership', () => {
  test('a review during which files were changed does not count, for the files are as they were', async () => {
    let reviews = 0;
    const world = makeWorld({
      play: crew({
        TASK_REVIEW: () => {
          reviews += 1;
          return { ...result(QUALIFIED), ...(reviews === 1 ? { write: { 'task-1.txt': 'repaired' } } : {}) };
        },
      }),
    });
    await run(world, QUICK);
    expect(reasons(world)[3]).toBe('rejected: the reviewer changed files, so its review does not count');
    expect(world.outside.files['task-1.txt']).toBe('made task-1');
    expect(world.house.state.tasks.get('task-1')?.status).toBe('done');
    leave(world);
  });

  test('what a mode may not write is put back, told, and kept beside the attempt', async () => {
    const world = makeWorld({
      play: crew({
        implement: ({ task }) => ({
          write: { [`${task}.txt`]: 'x' },
          session: { 'plan.md': 'my plan', 'tasks/task-2.md': 'done already' },
          say: DONE,
        }),
        SESSION_REVIEW: () => ({
          write: { 'a.txt': 'fix' },
          session: { 'review.md': 'Complete' },
          say: DONE,
        }),
      }),
    });
    await run(world, QUICK);
    expect(world.outside.session['iterations/1/plan.md']).toBe('the plan INITIALIZE');
    expect(world.outside.session['iterations/1/tasks/task-2.md']).toBe(taskText('task-2'));
    expect(world.outside.files['a.txt']).toBeUndefined();
    const findings = facts(world, 'verdict.reached').flatMap((fact) => fact.findings);
    expect(findings.map(({ kind }) => kind)).toContain('role_violation');
    leave(world);
  });
});

describe('definitions', () => {
  test('a planned task whose file somebody removed fails, and is open again once the file is back', async () => {
    const file = 'iterations/1/tasks/task-3.md';
    const kept = taskText('task-3', ['task-1', 'task-2']);
    const other = makeWorld({ play: crew() });
    const { exit } = await run(other, { ...QUICK, limits: { ...QUICK.limits, maxIterations: 4 } });
    expect(exit.code).toBe(1);
    delete other.outside.session[file];
    await run(other, QUICK);
    expect(other.house.state.tasks.get('task-3')).toMatchObject({
      status: 'failed',
      reason: 'Task definition missing',
    });
    other.outside.session[file] = kept;
    send(other, { type: 'SKIP' });
    await run(other, QUICK);
    expect(other.house.state.tasks.get('task-3')?.status).toBe('done');
    leave(other);
  });
});

describe('knowledge', () => {
  test('SKIP leaves the notes where they are, and the session is complete', async () => {
    const world = makeWorld({ play: crew() });
    await run(world, QUICK);
    send(world, { type: 'SKIP' });
    const { exit } = await run(world, QUICK);
    expect(exit.code).toBe(0);
    expect(modes(world)).not.toContain('PROMOTE');
    leave(world);
  });

  test('a yes to some of them promotes those; a name that fits none is sent back with the names there are', async () => {
    const world = makeWorld({
      play: crew({
        STAGE: () => ({ session: { 'knowledge/how-to/a.md': 'a', 'knowledge/how-to/b.md': 'b' }, say: DONE }),
      }),
    });
    await run(world, QUICK);
    send(world, { type: 'APPROVE', files: ['nosuch'] });
    expect((await run(world, QUICK)).exit.code).toBe(8);
    expect(facts(world, 'message.rejected')[0]?.reason).toContain('knowledge/how-to/a.md');
    send(world, { type: 'APPROVE', files: ['how-to/b'] });
    expect((await run(world, QUICK)).exit.code).toBe(0);
    expect(world.house.state.cycleWork.approved).toEqual(['knowledge/how-to/b.md']);
    leave(world);
  });

  test('a promotion that failed is tried again at the next start', async () => {
    let mended = false;
    const world = makeWorld({
      play: crew({ PROMOTE: () => (mended ? { say: DONE } : result({ status: 'failed' })) }),
    });
    await run(world, QUICK);
    send(world, { type: 'APPROVE' });
    const { exit } = await run(world, { ...QUICK, limits: { ...QUICK.limits, maxStuck: 0 } });
    expect([exit.code, exit.reason]).toEqual([8, expect.stringContaining('could not be promoted')]);
    mended = true;
    expect((await run(world, QUICK)).exit.code).toBe(0);
    leave(world);
  });

  test('silence carries them, where an end of the waiting is configured', async () => {
    const world = makeWorld({ play: crew() });
    const questions = { hold: 'session', onTimeout: 'proceed', approvalTimeoutS: 60 } as Policy['questions'];
    const { exit, waits } = await run(world, { ...QUICK, wait: true, questions });
    expect(exit.code).toBe(0);
    expect(waits).toEqual([60_000]);
    expect(facts(world, 'question.expired')[0]?.outcome).toBe('carry');
    leave(world);
  });

  test('an APPROVE from before there was anything to approve is stale', async () => {
    const world = makeWorld({ play: crew() });
    send(world, { type: 'APPROVE' });
    const { exit } = await run(world, QUICK);
    expect(exit.code).toBe(8);
    leave(world);
  });
});

describe('an abort', () => {
  test.each(['INITIALIZE', 'TASK_BREAKDOWN', 'SESSION_REVIEW', 'STAGE'])(
    'during %s is taken up again where it was',
    async (mode) => {
      let aborted = false;
      const world = makeWorld({
        play: (seen, here) =>
          seen.mode === mode && !aborted
            ? {
                during: () => {
                  aborted = true;
                  send(here, { type: 'ABORT' });
                },
                waitForStop: true,
              }
            : crew()(seen, here),
      });
      expect((await run(world, QUICK)).exit.code).toBe(9);
      expect((await run(world, QUICK)).exit.code).toBe(9);
      const { exit } = await run(world, QUICK, { reopened: true });
      expect([exit.code, phases(world).includes('KNOWLEDGE_APPROVAL')]).toEqual([8, true]);
      expect([...world.house.state.tasks.values()].map(({ status }) => status)).toEqual([
        'done',
        'done',
        'done',
      ]);
      leave(world);
    },
  );
});

describe('again with feedback', () => {
  test('a batch opens the next cycle: analysed, researched, planned anew, done; the first is untouched', async () => {
    const world = await approved(crew());
    const first = { ...world.outside.session };
    world.outside.feedback = [{ id: 'feedback-1', text: 'the title is wrong' }];
    const before = modes(world).length;
    await run(world, QUICK);
    expect(modes(world).slice(before)).toEqual([
      'feedback-analysis',
      'research',
      'UPDATE',
      'REBREAKDOWN',
      'implement task-4',
      'TASK_REVIEW task-4',
      'SESSION_REVIEW',
      'STAGE',
    ]);
    for (const [path, text] of Object.entries(first))
      expect([path, world.outside.session[path]]).toEqual([path, text]);
    send(world, { type: 'APPROVE' });
    expect((await run(world, QUICK)).exit.code).toBe(0);
    leave(world);
  });

  test('while an approval is open, feedback carries the notes and goes on', async () => {
    const world = makeWorld({ play: crew() });
    await run(world, QUICK);
    world.outside.feedback = [{ id: 'feedback-1', text: 'more' }];
    await run(world, QUICK);
    expect(facts(world, 'question.expired')[0]?.outcome).toBe('carry');
    expect(world.house.state.cycle).toBe(2);
    leave(world);
  });

  test('a task that failed for good is carried into the next cycle', async () => {
    const world = makeWorld({
      play: crew({
        implement: ({ task }, { house }) =>
          task === 'task-2' && house.state.cycle === 1
            ? { say: DONE }
            : { write: { [`${task}.txt`]: 'x' }, say: DONE },
        REBREAKDOWN: () => ({ say: DONE }),
        STAGE: () => ({ say: DONE }),
      }),
    });
    const { exit } = await run(world, { ...QUICK, limits: { ...QUICK.limits, maxStuck: 0 } });
    expect([exit.code, exit.reason]).toEqual([8, expect.stringContaining('task-2')]);
    world.outside.feedback = [{ id: 'feedback-1', text: 'try again' }];
    expect((await run(world, QUICK)).exit.code).toBe(0);
    expect(world.outside.session['iterations/2/tasks/task-2.md']).toContain('task-2');
    leave(world);
  });
});
