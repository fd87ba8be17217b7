/** Budgets, limits, dependencies and forbidden changes, each seen through a whole run. */
import { expect, test } from 'vitest';
import {
  crashedAfter,
  DONE,
  facts,
  findings,
  honest,
  leave,
  makeWorld,
  PAIR,
  play,
  reviewed,
  run,
  send,
  statuses,
  type World,
} from './world.ts';

const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `t${index + 1}` }));

test('--task works on that task alone and is done with it', async () => {
  const world = makeWorld({ tasks: ids(3), play: honest });
  const { exit } = await run(world, { onlyTask: 't2' });
  expect([exit.code, exit.reason]).toEqual([0, 'task t2 is done']);
  expect(statuses(world)).toEqual({ t1: 'todo', t2: 'done', t3: 'todo' });
  expect((await run(world)).exit.code).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'done', t2: 'done', t3: 'done' });
  leave(world);
});

test('--task with a name that is not there is a problem, never done', async () => {
  const world = makeWorld({ tasks: ids(3), play: honest });
  const { exit } = await run(world, { onlyTask: 't22' });
  expect(exit.code).toBe(5);
  expect(exit.reason).toMatch(/no task t22; did you mean t2/);
  leave(world);
});

test('an empty list is a problem, never done', async () => {
  const world = makeWorld({ tasks: [], play: honest });
  await expect(run(world)).rejects.toMatchObject({ facts: { code: 'tasks.empty' } });
  leave(world);
});

test('a task that has cost its cap becomes a question, and an answer gives it a new cap', async () => {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) =>
      seen.task === 't1' && seen.attempt < 4
        ? { write: { 'half.txt': `${seen.attempt}` }, say: 'not yet', costUsd: 1 }
        : { ...honest(seen, w), costUsd: 1 },
  });
  const over = { limits: { maxCostUsdPerTask: 2 } };
  const { exit } = await run(world, over);
  expect(exit.code).toBe(2);
  expect(exit.reason).toMatch(/has cost \$2/);
  expect(statuses(world)).toEqual({ t1: 'todo', t2: 'done' });
  send(world, { type: 'ANSWER', text: 'go on' });
  expect((await run(world, over)).exit.code).toBe(0);
  expect(facts(world, 'question.asked').length).toBe(1);
  leave(world);
});

test('a time limit inside an attempt stops the agent, judges it, and charges nothing', async () => {
  const world = makeWorld({
    tasks: ids(1),
    play: () => ({ write: { 'half.txt': 'x' }, say: 'working', tookMs: 7_200_000, waitForStop: true }),
  });
  const { exit } = await run(world, { limits: { maxTimeS: 3_600 } });
  expect(exit.code).toBe(1);
  const ended = facts(world, 'attempt.ended');
  expect(ended.map((fact) => fact.stoppedFor)).toEqual(['limit']);
  expect(facts(world, 'verdict.reached').map((fact) => fact.charged)).toEqual([false]);
  expect(findings(world)).not.toContain('no_files_detected');
  leave(world);
});

test('an agent stopped by a limit before it changed anything is not told that it changed nothing', async () => {
  const world = makeWorld({ tasks: ids(1), play: () => ({ tookMs: 7_200_000, waitForStop: true }) });
  expect((await run(world, { limits: { maxTimeS: 3_600 } })).exit.code).toBe(1);
  expect(findings(world)).toEqual([]);
  expect(facts(world, 'task.charged')).toEqual([]);
  expect(facts(world, 'intervention.chosen')).toEqual([]);
  leave(world);
});

test('a reviewer stopped by a limit is not charged for having no verdict', async () => {
  const world = makeWorld({
    tasks: ids(1),
    reviewed: true,
    play: (seen, w) =>
      seen.mode === 'TASK_REVIEW' ? { tookMs: 7_200_000, waitForStop: true } : honest(seen, w),
  });
  expect((await run(world, { ...PAIR, limits: { maxTimeS: 3_600 } })).exit.code).toBe(1);
  expect(facts(world, 'verdict.reached').map((fact) => fact.charged)).toEqual([false, false]);
  expect(statuses(world)).toEqual({ t1: 'review' });
  leave(world);
});

test('a pause with an unjudged attempt uses up none of the time limit', async () => {
  let paused = false;
  const world = makeWorld({ tasks: ids(1), play: honest });
  world.gate = () => {
    if (!paused) send(world, { type: 'PAUSE' });
    paused = true;
    return { code: 0, output: '3 passed' };
  };
  const gate = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };
  const over = {
    gates: [{ ...gate, baseline: 'must_pass' as const }],
    limits: { maxTimeS: 600 },
    wait: true,
  };
  await expect(run(world, over)).rejects.toThrow(/waits for a message/);
  world.outside.now += 36_000_000;
  send(world, { type: 'RESUME' });
  expect((await play(world)).exit.code).toBe(0);
  expect(world.house.state.run!.activeMs).toBeLessThan(600_000);
  leave(world);
});

test('what depends on a task that failed for good fails with it, uncharged, through the chain', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2', dependsOn: ['t1'] }, { id: 't3', dependsOn: ['t2'] }, { id: 't4' }],
    play: (seen, w) => (seen.task === 't1' ? { say: DONE } : honest(seen, w)),
  });
  const { exit } = await run(world, { limits: { onExhausted: 'fail', maxStuck: 0 } });
  expect(exit.code).toBe(8);
  expect(statuses(world)).toEqual({ t1: 'failed', t2: 'failed', t3: 'failed', t4: 'done' });
  expect(new Set(facts(world, 'task.charged').map((fact) => fact.task))).toEqual(new Set(['t1']));
  expect(world.house.state.tasks.get('t3')!.reason).toBe('dependency failed: t2');
  leave(world);
});

test('files that come back to where they were two attempts ago are an oscillation', async () => {
  const world = makeWorld({
    tasks: ids(1),
    play: ({ attempt }) => ({ write: { 'a.txt': attempt % 2 === 1 ? 'A' : 'B' }, say: 'changed my mind' }),
  });
  expect((await run(world)).exit.code).toBe(4);
  expect(findings(world)).toContain('oscillation');
  leave(world);
});

test('a change to a protected path is put back and keeps the task open', async () => {
  const world = makeWorld({
    tasks: ids(1),
    files: { 'tests/a.test.ts': 'expect(1)' },
    play: (seen, w) => ({
      ...honest(seen, w),
      write: { 't1.txt': 'made', ...(seen.attempt === 1 ? { 'tests/a.test.ts': 'skip' } : {}) },
    }),
  });
  expect((await run(world, { protect: ['tests/**'] })).exit.code).toBe(0);
  expect(facts(world, 'verdict.reached').map((fact) => fact.value)).toEqual(['rejected', 'accepted']);
  expect(findings(world)).toContain('protected_changed');
  expect(world.outside.files['tests/a.test.ts']).toBe('expect(1)');
  leave(world);
});

test("a reviewer's own change is put back, does not enter the commit, and its review does not count", async () => {
  let reviews = 0;
  const world = makeWorld({
    tasks: ids(1),
    reviewed: true,
    play: (seen, w) =>
      seen.mode === 'TASK_REVIEW'
        ? {
            write:
              reviews++ === 0 ? { 't1.txt': 'improved' } : { 'new.txt': 'what a run of the thing leaves' },
            emit: [{ topic: 'ralph.result', payload: reviewed('Qualified') }],
          }
        : honest(seen, w),
  });
  expect((await run(world, PAIR)).exit.code).toBe(0);
  expect(findings(world).filter((kind) => kind === 'role_violation')).toHaveLength(2);
  expect(reviews).toBe(2);
  expect(world.outside.files['t1.txt']).toBe('made t1');
  expect(world.outside.files['new.txt']).toBeUndefined();
  expect(world.outside.commits.at(-1)!.files['t1.txt']).toBe('made t1');
  leave(world);
});

test('an agent that commits and then amends its own commit has rewritten nothing', async () => {
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) => ({ ...honest(seen, w), commit: true, amend: true }),
  });
  expect((await run(world)).exit.code).toBe(0);
  expect(findings(world)).not.toContain('history_rewritten');
  leave(world);
});

test('an agent that amends the commit it started from is stopped, rejected, and that commit is kept', async () => {
  const world = makeWorld({ tasks: ids(1), play: (seen, w) => ({ ...honest(seen, w), amend: true }) });
  const start = world.outside.head;
  const { exit } = await run(world);
  expect(exit.code).toBe(7);
  expect(exit.reason).toMatch(/git merge --autostash refs\/ralph\//);
  expect(world.outside.kept).toEqual([start]);
  world.outside.now += 1_000;
  send(world, { type: 'RESUME' });
  await run(world);
  expect(findings(world)).toContain('history_rewritten');
  expect(statuses(world)).toEqual({ t1: 'todo' });
  leave(world);
});

test('a gate whose tool was missing is asked again once somebody installed it', async () => {
  let installed = false;
  const world = makeWorld({
    tasks: ids(1),
    play: ({ files }) => (files['t1.txt'] ? { say: DONE } : { write: { 't1.txt': 'x' }, say: DONE }),
    gate: () => (installed ? { code: 0, output: '3 passed' } : { code: 127, output: 'npm: not found' }),
  });
  const gate = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };
  const over = { gates: [{ ...gate, baseline: 'must_pass' as const }], limits: { maxIterations: 1 } };
  expect((await run(world, over)).exit.code).toBe(1);
  expect(findings(world)).toContain('gate_unavailable');
  installed = true;
  expect((await run(world, over)).exit.code).toBe(0);
  leave(world);
});

test('a result that lay in the outbox when the runner died is judged, not lost', async () => {
  const world = makeWorld({ tasks: ids(1), play: honest });
  await run(world);
  const spawned = world.records.find((record) => record.facts.some((f) => f.type === 'attempt.spawned'))!;
  const crashed = crashedAfter(world, spawned.seq);
  crashed.outside.files['t1.txt'] = 'made t1';
  const line = { topic: 'ralph.result', payload: { status: 'completed' }, token: world.tokens.get(1) };
  crashed.outside.outboxes[1] = `${JSON.stringify(line)}\n`;
  expect((await run(crashed)).exit.code).toBe(0);
  expect(facts(crashed, 'attempt.lost')).toEqual([]);
  expect(facts(crashed, 'attempt.started').length).toBe(1);
  leave(crashed);
  leave(world);
});

test('killed while a question about a task is open, the others go on as if nothing had happened', async () => {
  const world = makeWorld({
    tasks: ids(3),
    play: (seen, w) => (seen.task === 't1' ? { say: DONE } : honest(seen, w)),
  });
  const over = { limits: { maxTaskAttempts: 1 } };
  expect((await run(world, over)).exit.code).toBe(2);
  const asked = world.records.find((record) => record.facts.some((f) => f.type === 'question.asked'))!;
  const crashed = crashedAfter(world, asked.seq);
  expect((await run(crashed, over)).exit.code).toBe(2);
  expect(statuses(crashed)).toEqual(statuses(world));
  leave(crashed);
  leave(world);
});

test('work that was written down as set aside leaves the tree also when the crash came in between', async () => {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) =>
      seen.task === 't1' && seen.attempt === 1
        ? { write: { 'broken.txt': 'bad' }, say: DONE }
        : honest(seen, w),
    gate: (_def, files) =>
      files['broken.txt'] === 'bad' && !files['t1.txt']
        ? { code: 1, output: 'broken' }
        : { code: 0, output: 'ok' },
  });
  const gate = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };
  const over = { gates: [{ ...gate, baseline: 'must_pass' as const }] };
  expect((await run(world, over)).exit.code).toBe(0);
  const aside = world.records.find((record) => record.facts.some((f) => f.type === 'leftovers.set_aside'))!;
  const crashed = crashedAfter(world, aside.seq);
  expect(crashed.outside.files['broken.txt']).toBe('bad');
  expect((await run(crashed, over)).exit.code).toBe(0);
  const second = crashed.outside.commits.find((commit) => /Ralph-Task: t2/.test(commit.message))!;
  expect(Object.keys(second.files)).not.toContain('broken.txt');
  leave(crashed);
  leave(world);
});

/** Two tasks that fail on one file; the second one's work was set aside, and the first one's is next. */
async function overlapping() {
  const world = makeWorld({
    tasks: ids(2),
    files: { 'shared.txt': 'base' },
    play: ({ task, attempt, files }) => ({
      write: { 'shared.txt': attempt === 1 ? `bad ${task}` : `${files['shared.txt']}, mended ${task}` },
      say: DONE,
    }),
    gate: (_def, files) =>
      /^bad \w+$/.test(files['shared.txt']!) ? { code: 1, output: 'broken' } : { code: 0, output: 'ok' },
  });
  const gate = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };
  const over = { gates: [{ ...gate, baseline: 'must_pass' as const }], limits: { maxStuck: 0 } };
  expect((await run(world, over)).exit.code).toBe(0);
  return { world, over };
}

/** The number of the record that holds the second fact of this type. */
function secondOf(world: World, type: string): number {
  return world.records.filter((record) => record.facts.some((fact) => fact.type === type))[1]!.seq;
}

test('killed before the work of one task was out of the tree, that of the other comes back whole', async () => {
  const { world, over } = await overlapping();
  const crashed = crashedAfter(world, secondOf(world, 'leftovers.set_aside'));
  expect(crashed.outside.files['shared.txt']).toBe('bad t2');
  expect((await run(crashed, over)).exit.code).toBe(0);
  expect(facts(crashed, 'leftovers.taken_up')[0]).toMatchObject({ task: 't1', conflicts: [] });
  expect(facts(crashed, 'dirt.found')).toEqual([]);
  expect(crashed.outside.commits[1]!.files['shared.txt']).toBe('bad t1, mended t1');
  leave(crashed);
  leave(world);
});

test('killed while work was put back and before that was written down, it is still its task’s', async () => {
  const { world, over } = await overlapping();
  const crashed = crashedAfter(world, secondOf(world, 'leftovers.cleared'));
  crashed.outside.files['shared.txt'] = 'bad t1';
  expect((await run(crashed, over)).exit.code).toBe(0);
  expect(facts(crashed, 'leftovers.taken_up')[0]).toMatchObject({ task: 't1', conflicts: [] });
  expect(facts(crashed, 'dirt.found')).toEqual([]);
  expect(crashed.outside.commits[1]!.files['shared.txt']).toBe('bad t1, mended t1');
  leave(crashed);
  leave(world);
});

test('what a failed task left behind is landed with it in the next cycle', async () => {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => {
      if (seen.task !== 't1') return honest(seen, w);
      const again = seen.prompt.includes('Try t1 again') || w.outside.feedback.length > 0;
      return again ? { write: { 'b.txt': 'new' }, say: DONE } : { write: { 'a.txt': 'old' }, timeOut: true };
    },
  });
  const over = { limits: { onExhausted: 'fail' as const, maxStuck: 0 } };
  expect((await run(world, over)).exit.code).toBe(8);
  world.outside.feedback.push({ id: 'batch', text: 'Try t1 again.' });
  expect((await run(world, over)).exit.code).toBe(0);
  const landed = world.outside.commits.find((commit) => /Ralph-Task: t1\n/.test(commit.message))!;
  expect([landed.files['a.txt'], landed.files['b.txt']]).toEqual(['old', 'new']);
  leave(world);
});

test('in a new cycle, what the last one left proves nothing by itself', async () => {
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) =>
      seen.task === 't1' && w.outside.feedback.length > 0
        ? { say: DONE }
        : seen.task === 't1'
          ? { write: { 'a.txt': 'old' }, timeOut: true }
          : honest(seen, w),
  });
  const over = { limits: { onExhausted: 'fail' as const, maxStuck: 0 } };
  expect((await run(world, over)).exit.code).toBe(8);
  world.outside.feedback.push({ id: 'batch', text: 'Try again.' });
  expect((await run(world, over)).exit.code).toBe(8);
  expect(statuses(world)).toEqual({ t1: 'failed', feedback: 'done' });
  leave(world);
});
