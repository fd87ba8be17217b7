/**
 * Whole-loop stories that a plausible machine gets wrong. Each plays itself out in a world and says
 * how it must end; the prefix property plays every one of them again from each of its records.
 */
import { expect } from 'vitest';
import {
  commitFiles,
  DONE,
  type Doing,
  facts,
  findings,
  honest,
  makeWorld,
  PAIR,
  type Play,
  play,
  policy,
  reviewed,
  run,
  send,
  statuses,
  type World,
} from './world.ts';

export interface Story {
  /** The scenario or case number it stands for. */
  number: string;
  says: string;
  play(): Promise<World>;
  /** The policy a resumed prefix runs under. */
  over?: Parameters<typeof policy>[0];
  /** Messages or outside events that a bare resume cannot replay: the prefix check is lighter. */
  outside?: true;
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `t${index + 1}` }));
const code = (played: { exit: { code: number } }) => played.exit.code;
const review = (verdict: 'Qualified' | 'Failed', feedback?: string): Doing => ({
  emit: [{ topic: 'ralph.result', payload: reviewed(verdict, feedback) }],
});
const liar: Play = () => ({ say: DONE });
const GATE = {
  name: 'test',
  run: 'npm test',
  timeoutS: 60,
  required: true,
  minTests: 0,
  baseline: 'no_regression' as const,
};

async function story1(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: ({ iteration }) => ({
      write: { 'work.txt': `step ${iteration}` },
      commit: true,
      say: 'Some progress.',
    }),
  });
  expect(code(await run(world, { limits: { maxIterations: 6 } }))).toBe(1);
  expect(facts(world, 'attempt.started').length).toBe(6);
  expect(statuses(world)).toEqual({ t1: 'todo' });
  expect(facts(world, 'task.charged')).toEqual([]);
  return world;
}

async function story2(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: () => ({ say: 'I looked around.' }) });
  expect(code(await run(world))).toBe(4);
  expect(facts(world, 'attempt.started').length).toBe(3);
  return world;
}

async function story3(): Promise<World> {
  const world = makeWorld({
    tasks: ids(10),
    play: (seen, w) => (seen.task === 't1' ? liar(seen, w) : honest(seen, w)),
  });
  expect(code(await run(world))).toBe(2);
  expect(Object.values(statuses(world)).filter((status) => status === 'done').length).toBe(9);
  expect(facts(world, 'question.asked').length).toBe(1);
  return world;
}

async function story4(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    reviewed: true,
    play: ({ mode, iteration }) =>
      mode === 'TASK_REVIEW'
        ? review('Failed', `issue ${iteration}`)
        : { write: { 't1.txt': `version ${iteration}` }, say: DONE },
  });
  expect(code(await run(world, { ...PAIR, limits: { maxStuck: 3 } }))).toBe(0);
  const reviews = facts(world, 'review.recorded');
  expect(reviews.length).toBe(5);
  expect(reviews.at(-1)!.feedback).toMatch(/^\[AUTO-APPROVED AT CAP\]/);
  return world;
}

async function story5(): Promise<World> {
  const world = makeWorld({ tasks: ids(3), play: honest });
  expect(code(await run(world, { limits: { maxIterations: 3 } }))).toBe(0);
  return world;
}

async function story6(): Promise<World> {
  const world = makeWorld({ tasks: ids(3), play: honest });
  expect(code(await run(world, { limits: { maxIterations: 2 } }))).toBe(1);
  expect(code(await run(world, { limits: { maxIterations: 2 } }))).toBe(0);
  return world;
}

async function story8(): Promise<World> {
  const world = makeWorld({ tasks: ids(2), play: () => ({ die: { kind: 'overload', message: '529' } }) });
  const first = await run(world);
  expect(code(first)).toBe(6);
  expect(first.waits).toEqual([30_000, 60_000, 60_000]);
  world.play = honest;
  expect(code(await run(world))).toBe(0);
  return world;
}

async function story9(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) =>
      seen.prompt.includes('use the test key')
        ? honest(seen, w)
        : { say: '<promise>BLOCKED:missing API key</promise>' },
  });
  expect(code(await run(world, { limits: { maxStuck: 1 } }))).toBe(2);
  expect(facts(world, 'task.charged')).toEqual([]);
  expect(code(await run(world, { limits: { maxStuck: 1 } }))).toBe(2);
  expect(facts(world, 'attempt.started').length).toBe(1);
  send(world, { type: 'ANSWER', text: 'use the test key' });
  expect(code(await run(world, { limits: { maxStuck: 1 } }))).toBe(0);
  return world;
}

async function story11(): Promise<World> {
  const world = makeWorld({ tasks: ids(2), reviewed: true, play: honest });
  expect(code(await run(world, PAIR))).toBe(0);
  expect(facts(world, 'attempt.started').map((fact) => fact.item.mode)).not.toContain('SESSION_REVIEW');
  return world;
}

async function story12(): Promise<World> {
  const world = makeWorld({
    tasks: ids(3),
    reviewed: true,
    play: (seen, w) => {
      const first = seen.mode === 'TASK_REVIEW' && seen.task === 't1' && !seen.files['fix.txt'];
      if (first) return review('Failed', 'needs a fix');
      if (seen.mode === 'review-fix') return { write: { 'fix.txt': 'fixed' }, say: DONE };
      return honest(seen, w);
    },
  });
  expect(code(await run(world, PAIR))).toBe(0);
  const order = facts(world, 'attempt.started').map(({ item }) => `${item.mode} ${item.subject}`);
  expect(order.slice(0, 5)).toEqual([
    'implement t1',
    'TASK_REVIEW t1',
    'review-fix t1',
    'TASK_REVIEW t1',
    'implement t2',
  ]);
  return world;
}

async function story15(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => (seen.task === 't1' ? liar(seen, w) : honest(seen, w)),
  });
  await run(world);
  const verdicts = facts(world, 'verdict.reached').filter((fact) => fact.item.task === 't1');
  expect(verdicts.map((fact) => fact.value)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(statuses(world)).toEqual({ t1: 'todo', t2: 'done' });
  return world;
}

async function story16(): Promise<World> {
  let paused = false;
  const runs: string[] = [];
  const world = makeWorld({ tasks: ids(1), play: honest });
  world.gate = ({ name }) => {
    runs.push(name);
    if (name === 'second' && !paused) {
      paused = true;
      send(world, { type: 'PAUSE', text: 'meeting' });
    }
    return { code: 0, output: 'ok' };
  };
  const gates = [
    { ...GATE, name: 'first', baseline: 'must_pass' as const },
    { ...GATE, name: 'second', baseline: 'must_pass' as const },
  ];
  expect(code(await run(world, { gates }))).toBe(7);
  expect(code(await run(world, { gates }))).toBe(7);
  expect(statuses(world)).not.toEqual({ t1: 'done' });
  const before = runs.length;
  send(world, { type: 'RESUME' });
  expect(code(await run(world, { gates }))).toBe(0);
  expect(runs.slice(before)).not.toContain('first');
  expect(facts(world, 'attempt.started').length).toBe(1);
  return world;
}

async function story17(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: honest });
  send(world, { type: 'STEER', text: 'use bar', createdAt: world.outside.now - 10 });
  send(world, { type: 'PAUSE', createdAt: world.outside.now });
  expect(code(await run(world))).toBe(7);
  world.outside.now += 5_000;
  send(world, { type: 'STEER', text: 'use baz' });
  expect(code(await run(world))).toBe(0);
  expect(world.prompts[0]).toContain('use baz');
  expect(world.prompts[0]).toContain('use bar');
  return world;
}

async function story18(): Promise<World> {
  const world = makeWorld({ tasks: ids(2), play: honest });
  expect(code(await run(world, { limits: { maxIterations: 1 } }))).toBe(1);
  world.outside.now += 1_000;
  send(world, { type: 'HALT' });
  world.outside.now += 1_000;
  expect(code(await run(world))).toBe(0);
  expect(world.outside.processed.at(-1)!.action).toMatch(/no effect/);
  return world;
}

async function story19(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => {
      if (seen.files['again.txt']) return honest(seen, w);
      return {
        write: { 'half.txt': 'half' },
        during: (now) => send(now, { type: 'ABORT', text: 'wrong way' }),
      };
    },
  });
  expect(code(await run(world))).toBe(9);
  expect(statuses(world).t1).toBe('failed');
  expect(world.outside.files['half.txt']).toBe('half');
  expect(code(await run(world))).toBe(9);
  world.outside.files['again.txt'] = 'yes';
  const judged = facts(world, 'verdict.reached').length;
  expect(judged).toBe(0);
  expect(code(await run(world, {}, { reopened: true }))).toBe(0);
  expect(facts(world, 'verdict.reached').map((fact) => fact.iteration)).not.toContain(1);
  return world;
}

async function story20(): Promise<World> {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }, { id: 't3', dependsOn: ['t1'] }],
    play: honest,
    commitFails: (id) => (id === 't1' ? 'pre-commit: lint failed' : null),
  });
  const { exit } = await run(world);
  expect(exit.code).toBe(8);
  expect(exit.reason).toMatch(/not landed: t1/);
  expect(statuses(world)).toEqual({ t1: 'done', t2: 'done', t3: 'todo' });
  world.commitFails = () => null;
  expect(code(await run(world))).toBe(0);
  const landed = world.outside.commits.filter((commit) => /Ralph-Task: t1\n/.test(commit.message));
  expect(landed.length).toBe(1);
  expect(landed[0]!.files['t1.txt']).toBe('made t1');
  return world;
}

async function story21(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: ({ files }) =>
      files['t1.txt'] ? { say: `Already done.\n${DONE}` } : { write: { 't1.txt': 'x' }, timeOut: true },
  });
  expect(code(await run(world))).toBe(0);
  expect(facts(world, 'verdict.reached').map((fact) => fact.value)).toEqual(['rejected', 'accepted']);
  expect(facts(world, 'attempt.started').at(-1)!.allowance.wallMs).toBe(1_350_000);
  return world;
}

async function story22(): Promise<World> {
  const seenBy: Record<string, string[]> = {};
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => {
      seenBy[`${seen.task}.${seen.attempt}`] = Object.keys(seen.files);
      if (seen.task === 't1' && seen.attempt === 1) return { write: { 'broken.txt': 'bad' }, say: DONE };
      if (seen.task === 't1') return { write: { 'broken.txt': 'good' }, say: DONE };
      return honest(seen, w);
    },
    gate: (_def, files) =>
      files['broken.txt'] === 'bad' ? { code: 1, output: 'broken' } : { code: 0, output: 'ok' },
  });
  expect(code(await run(world, { gates: [GATE] }))).toBe(0);
  expect(seenBy['t2.1']).not.toContain('broken.txt');
  expect(seenBy['t1.2']).toContain('broken.txt');
  const second = world.outside.commits.find((commit) => /Ralph-Task: t2/.test(commit.message))!;
  expect(Object.keys(second.files)).not.toContain('broken.txt');
  return world;
}

/** Both fail once on one file; what could not be put back over the work of the other is done again. */
async function overlap(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    files: { 'shared.txt': 'base' },
    play: ({ task, attempt, files }) => {
      const text = files['shared.txt']!;
      if (attempt === 1) return { write: { 'shared.txt': `${text} BUG-${task}` }, say: DONE };
      const good = `good-${task}`;
      const bare = text.replace(` BUG-${task}`, '').replace(` ${good}`, '');
      return { write: { 'shared.txt': `${bare} ${good}` }, say: DONE };
    },
    gate: (_def, files) =>
      files['shared.txt']!.includes('BUG') ? { code: 1, output: 'a bug' } : { code: 0, output: 'ok' },
  });
  expect(code(await run(world, { gates: [GATE], limits: { maxStuck: 0 } }))).toBe(0);
  const values = facts(world, 'verdict.reached').map(({ item, value }) => `${item.task} ${value}`);
  expect(values).toEqual(['t1 rejected', 't2 rejected', 't1 accepted', 't2 accepted']);
  expect(facts(world, 'dirt.found')).toEqual([]);
  expect(world.outside.commits.at(-1)!.files['shared.txt']).toBe('base good-t1 good-t2');
  return world;
}

async function story23(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: ({ prompt }) =>
      prompt.includes('polling') ? { say: DONE } : { say: '<promise>DECIDE:sockets or polling?</promise>' },
  });
  expect(code(await run(world))).toBe(3);
  world.outside.files['human.txt'] = 'by hand';
  commitFiles(world.outside, world.outside.files, 'a person');
  world.outside.files['draft.txt'] = 'draft';
  world.outside.desk.push({
    id: 'q1',
    kind: 'answered',
    text: 'polling',
    file: 'decide.txt',
    writtenAt: world.outside.now + 5,
  });
  expect(code(await run(world, { limits: { maxStuck: 1 } }))).toBe(4);
  expect(findings(world)).toContain('no_files_detected');
  expect(statuses(world)).toEqual({ t1: 'todo' });
  return world;
}

async function story24(): Promise<World> {
  const questions = { ...policy().questions, interactTimeoutS: 60, interactOnTimeout: 'proceed' as const };
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) =>
      seen.prompt.includes('blue')
        ? honest(seen, w)
        : { emit: [{ topic: 'human.interact', payload: 'Which colour?' }], say: 'asked' },
  });
  expect(code(await run(world, { questions }))).toBe(3);
  send(world, { type: 'ANSWER', text: 'blue' });
  world.outside.now += 3_600_000;
  expect(code(await run(world, { questions }))).toBe(0);
  expect(facts(world, 'question.expired')).toEqual([]);
  return world;
}

async function story26(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => {
      if (seen.prompt.includes('go left') || seen.prompt.includes('cleared')) return honest(seen, w);
      return {
        say:
          seen.task === 't1'
            ? '<promise>DECIDE:left or right?</promise>'
            : '<promise>BLOCKED:no key</promise>',
      };
    },
  });
  const questions = { ...policy().questions, hold: 'task' as const };
  expect(code(await run(world, { questions }))).toBe(2);
  world.outside.desk.push({ id: 'q2', kind: 'cleared', file: 'blocked.txt' });
  expect(code(await run(world, { questions }))).toBe(3);
  world.outside.desk.push({
    id: 'q1',
    kind: 'answered',
    text: 'go left',
    file: 'decide.txt',
    writtenAt: world.outside.now + 5,
  });
  expect(code(await run(world, { questions }))).toBe(0);
  expect(
    facts(world, 'question.answered')
      .map((fact) => fact.id)
      .sort(),
  ).toEqual(['q1', 'q2']);
  return world;
}

async function story28(): Promise<World> {
  let pauses = 0;
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) => (pauses++ < 5 ? { during: (now) => send(now, { type: 'PAUSE' }) } : honest(seen, w)),
  });
  for (let i = 0; i < 5; i++) {
    expect(code(await run(world))).toBe(7);
    world.outside.now += 1_000;
    send(world, { type: 'RESUME' });
  }
  expect(code(await run(world))).toBe(0);
  expect(facts(world, 'task.charged')).toEqual([]);
  return world;
}

async function story31(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: () => ({ die: { kind: 'limit', message: 'limit', resetsAt: 1_000 } }),
  });
  expect(code(await run(world))).toBe(6);
  expect(facts(world, 'attempt.started').length).toBe(5);
  return world;
}

async function story32(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    reviewed: true,
    play: ({ mode }) => {
      if (mode === 'TASK_REVIEW') return review('Failed', 'wrong');
      return mode === 'review-fix' ? { say: DONE } : { write: { 't1.txt': 'x' }, say: DONE };
    },
  });
  await run(world, PAIR);
  const fixes = facts(world, 'verdict.reached').filter((fact) => fact.item.mode === 'review-fix');
  expect(fixes.length).toBeGreaterThan(0);
  expect(fixes.every((fact) => fact.value === 'rejected')).toBe(true);
  expect(facts(world, 'review.recorded').length).toBe(1);
  return world;
}

async function story33(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: honest });
  expect(code(await run(world))).toBe(0);
  world.outside.feedback.push({ id: 'batch-1', text: 'The title is wrong.' });
  expect(code(await run(world))).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'done', feedback: 'done' });
  expect(world.prompts.at(-1)).toContain('The title is wrong.');
  expect(world.house.state.cycle).toBe(2);
  return world;
}

async function story34(): Promise<World> {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2', dependsOn: ['t1'] }],
    play: (seen, w) => (seen.files['fine.txt'] ? honest(seen, w) : liar(seen, w)),
  });
  expect(code(await run(world, { limits: { onExhausted: 'fail', maxStuck: 0 } }))).toBe(8);
  expect(statuses(world)).toEqual({ t1: 'failed', t2: 'failed' });
  world.outside.files['fine.txt'] = 'yes';
  send(world, { type: 'TASK', op: 'reopen', task: 't1' });
  expect(code(await run(world))).toBe(0);
  return world;
}

async function story36(): Promise<World> {
  const world = makeWorld({ tasks: ids(6), play: honest });
  expect(
    code(
      await run(world, {
        limits: { maxIterations: 4 },
        parallel: { executors: 3, reviewers: 3, questioners: 3 },
      }),
    ),
  ).toBe(1);
  expect(facts(world, 'attempt.started').length).toBe(4);
  return world;
}

async function story37(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: honest, commitFails: () => 'hook says no' });
  const { exit } = await run(world);
  expect(exit.code).toBe(8);
  expect(exit.reason).toMatch(/not landed/);
  expect(code(await run(world))).toBe(8);
  world.commitFails = () => null;
  expect(code(await run(world))).toBe(0);
  expect(facts(world, 'attempt.started').length).toBe(1);
  return world;
}

async function story38(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => (seen.task === 't1' ? { say: '<promise>BLOCKED:no key</promise>' } : honest(seen, w)),
  });
  expect(code(await run(world))).toBe(2);
  send(world, { type: 'TASK', op: 'cancel', task: 't1' });
  expect(code(await run(world))).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'cancelled', t2: 'done' });
  return world;
}

async function story40(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: honest });
  send(world, { type: 'RESUME', createdAt: world.outside.now - 60_000 });
  send(world, { type: 'PAUSE' });
  expect(code(await run(world))).toBe(7);
  return world;
}

async function story42(): Promise<World> {
  const world = makeWorld({
    tasks: ids(10),
    play: (seen, w) => (seen.task === 't1' ? { die: true } : honest(seen, w)),
  });
  const first = await run(world);
  expect([2, 6]).toContain(first.exit.code);
  await run(world);
  expect(Object.values(statuses(world)).filter((status) => status === 'done').length).toBe(9);
  return world;
}

async function stuckAndOn(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: ({ iteration }) =>
      iteration === 3 ? { write: { 'a.txt': 'a' }, commit: true, say: 'half' } : { say: 'nothing yet' },
  });
  expect(code(await run(world, { limits: { maxTaskAttempts: 10, maxIterations: 5 } }))).toBe(1);
  expect(facts(world, 'attempt.started').length).toBe(5);
  return world;
}

async function case303(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: () => ({ list: (tasks) => tasks.map((def) => ({ ...def, status: 'done' as const })), say: DONE }),
  });
  expect(code(await run(world))).toBe(4);
  expect(findings(world)).toContain('bookkeeping_only');
  expect(world.outside.list![0]!.status).toBe('todo');
  return world;
}

async function case304(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: honest,
    gate: () => ({ code: 0, output: 'no tests found' }),
  });
  await run(world, { gates: [GATE] });
  expect(findings(world)).toContain('gate_empty');
  expect(statuses(world)).toEqual({ t1: 'todo' });
  return world;
}

/** What git ignores is in no tree, so a gate that was red says nothing about the next attempt. */
async function redAndIgnored(): Promise<World> {
  let built = false;
  let runs = 0;
  const world = makeWorld({
    tasks: ids(1),
    play: ({ attempt }) => {
      built = attempt > 1;
      return { write: { 'code.js': 'written' }, say: DONE };
    },
    gate: () => {
      runs += 1;
      return built ? { code: 0, output: '3 passed' } : { code: 1, output: 'nothing is built' };
    },
  });
  const gates = [{ ...GATE, baseline: 'must_pass' as const }];
  expect(code(await run(world, { gates }))).toBe(0);
  expect(runs).toBe(2);
  expect(facts(world, 'attempt.started').length).toBe(2);
  return world;
}

async function case305(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => (seen.task === 't2' ? { write: { 't2.txt': 'bad' }, say: DONE } : honest(seen, w)),
    gate: (_def, files) =>
      files['t2.txt'] === 'bad'
        ? { code: 1, output: 'x', failures: ['old fails', 'new fails'] }
        : { code: 1, output: 'x', failures: ['old fails'] },
  });
  await run(world, { gates: [GATE] });
  expect(statuses(world)).toEqual({ t1: 'done', t2: 'todo' });
  expect(findings(world)).toContain('gate_red_before');
  expect(findings(world)).toContain('gate_regressed');
  return world;
}

async function case309(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) => ({ ...honest(seen, w), leftBehind: ['node server.js'] }),
  });
  expect(code(await run(world))).toBe(0);
  expect(findings(world)).toContain('background_left');
  return world;
}

async function case310(): Promise<World> {
  let first = true;
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) => {
      if (!first) return honest(seen, w);
      first = false;
      return {
        die: { kind: 'limit', message: '5-hour limit', resetsAt: w.outside.now + 7_200_000 },
        tookMs: 1_000,
      };
    },
  });
  const played = await run(world);
  expect(code(played)).toBe(0);
  expect(played.waits).toEqual([7_199_000]);
  expect(facts(world, 'task.charged')).toEqual([]);
  return world;
}

async function case311(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: (seen, w) => ({ ...honest(seen, w), denied: 'npm test' }),
  });
  await run(world, { gates: [GATE] });
  expect(findings(world)).toContain('denied_gate');
  expect(statuses(world)).toEqual({ t1: 'todo' });
  return world;
}

async function deniedElse(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: (seen, w) => ({ ...honest(seen, w), denied: 'ls' }) });
  expect(code(await run(world, { gates: [{ ...GATE, run: 'npm run tools' }] }))).toBe(0);
  expect(findings(world)).not.toContain('denied_gate');
  return world;
}

async function case312(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: () => ({ say: 'Hello!', toolCalls: 0 }) });
  expect(code(await run(world))).toBe(6);
  expect(facts(world, 'attempt.started').length).toBe(2);
  expect(facts(world, 'task.charged')).toEqual([]);
  return world;
}

async function case313(): Promise<World> {
  const world = makeWorld({
    tasks: ids(3),
    play: (seen, w) => ({
      ...honest(seen, w),
      list: (tasks) => tasks.map((def) => ({ ...def, status: 'done' as const })),
    }),
  });
  expect(code(await run(world))).toBe(0);
  expect(facts(world, 'attempt.started').length).toBe(3);
  expect(findings(world)).toContain('extra_completion');
  return world;
}

async function bareObjective(): Promise<World> {
  const world = makeWorld({ play: honest });
  expect(code(await run(world))).toBe(0);
  expect(statuses(world)).toEqual({ objective: 'done' });
  return world;
}

async function blockedReview(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    reviewed: true,
    play: (seen, w) =>
      seen.mode === 'TASK_REVIEW' ? { say: '<promise>BLOCKED:no browser</promise>' } : honest(seen, w),
  });
  expect(code(await run(world, PAIR))).toBe(2);
  expect(world.house.state.tasks.get('t1')!.status).toBe('review');
  expect(world.house.state.tasks.get('t1')!.review.count).toBe(0);
  return world;
}

async function humanEditsList(): Promise<World> {
  const world = makeWorld({ tasks: ids(2), play: honest });
  expect(code(await run(world, { limits: { maxIterations: 1 } }))).toBe(1);
  world.outside.list!.push({ ...world.outside.list![1]!, id: 't9', title: 'Added by hand', order: 2 });
  expect(code(await run(world))).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'done', t2: 'done', t9: 'done' });
  return world;
}

async function pauseOthers(): Promise<World> {
  const questions = { ...policy().questions, hold: 'task' as const };
  const world = makeWorld({
    tasks: ids(3),
    play: (seen, w) => (seen.task === 't1' ? { say: '<promise>DECIDE:a or b?</promise>' } : honest(seen, w)),
  });
  expect(code(await run(world, { questions }))).toBe(3);
  expect(statuses(world)).toEqual({ t1: 'todo', t2: 'done', t3: 'done' });
  return world;
}

async function costBinds(): Promise<World> {
  const world = makeWorld({ tasks: ids(5), play: (seen, w) => ({ ...honest(seen, w), costUsd: 1 }) });
  const { exit } = await run(world, { limits: { maxCostUsd: 2 } });
  expect(exit.code).toBe(1);
  expect(facts(world, 'attempt.started').length).toBe(2);
  return world;
}

async function historyLeft(): Promise<World> {
  const world = makeWorld({ tasks: ids(2), play: honest });
  expect(code(await run(world, { limits: { maxIterations: 1 } }))).toBe(1);
  world.outside.head = world.outside.commits[0]!.id;
  commitFiles(world.outside, { 'other.txt': 'x' }, 'another branch');
  const { exit } = await run(world);
  expect(exit.code).toBe(7);
  expect(exit.reason).toMatch(/no longer contains .* the work of t1: .*merge --autostash/);
  world.outside.now += 1_000;
  send(world, { type: 'RESUME' });
  expect(code(await run(world))).toBe(0);
  expect(facts(world, 'attempt.started').map(({ item }) => item.task)).toEqual(['t1', 't1', 't2']);
  return world;
}

async function stopWhileRunning(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => ({ ...honest(seen, w), during: (now) => send(now, { type: 'HALT' }) }),
  });
  expect(code(await run(world))).toBe(7);
  expect(statuses(world)).toEqual({ t1: 'done', t2: 'todo' });
  return world;
}

async function story35(): Promise<World> {
  const world = makeWorld({ tasks: ids(1), play: honest });
  send(world, { type: 'PAUSE' });
  await expect(run(world, { wait: true })).rejects.toThrow(/waits for a message/);
  world.outside.now += 10;
  send(world, { type: 'HALT' });
  expect((await play(world)).exit.code).toBe(7);
  return world;
}

/** The loop's own unblocking, at most so many times for each task. */
const AUTO = (maxAutoAttempts: number) => ({ unblock: { auto: true, maxAutoAttempts } });

async function autoUnblocked(): Promise<World> {
  const world = makeWorld({
    tasks: [...ids(1), { id: 't2', dependsOn: ['t1'] }],
    play: (seen, w) =>
      seen.task === 't1' && seen.attempt < 4
        ? { write: { [`part-${seen.iteration}.txt`]: 'x' }, timeOut: true }
        : honest(seen, w),
  });
  expect(code(await run(world, AUTO(1)))).toBe(0);
  const [given, ...more] = facts(world, 'task.unblocked');
  expect(given).toMatchObject({ task: 't1', by: 'engine', auto: true, grant: { multiplier: 2 } });
  expect(more).toEqual([]);
  expect(facts(world, 'question.asked')).toEqual([]);
  return world;
}

async function autoBounded(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: ({ iteration }) => ({ write: { [`part-${iteration}.txt`]: 'x' }, timeOut: true }),
  });
  const timeout = { ...policy().timeout, maxS: 1_000_000 };
  expect(code(await run(world, { ...AUTO(2), timeout, limits: { maxStuck: 0 } }))).toBe(2);
  for (const id of ['t1', 't2'])
    expect(facts(world, 'task.unblocked').filter((fact) => fact.task === id)).toHaveLength(2);
  expect(facts(world, 'attempt.started').length).toBeLessThanOrEqual(2 * 3 * 3);
  const before = facts(world, 'attempt.started').length;
  // Held by its question; another start gives no count back.
  expect(code(await run(world, { ...AUTO(2), timeout, limits: { maxStuck: 0 } }))).toBe(2);
  expect(facts(world, 'attempt.started')).toHaveLength(before);
  return world;
}

async function ladderToAnother(): Promise<World> {
  const world = makeWorld({
    tasks: ids(2),
    play: (seen, w) => (seen.task === 't1' && seen.agent === 'played' ? liar(seen, w) : honest(seen, w)),
  });
  expect(code(await run(world, { fallback: ['second'] }))).toBe(0);
  const agents = facts(world, 'attempt.started').map(({ item, agent }) => `${item.task} ${agent}`);
  expect(agents).toEqual(['t1 played', 't2 played', 't1 played', 't1 second']);
  const kinds = facts(world, 'intervention.chosen').map(({ intervention }) => intervention.kind);
  expect(kinds).toEqual(['remind', 'other_agent']);
  expect(facts(world, 'notice.given').map(({ level }) => level)).toEqual(['critical']);
  return world;
}

async function ladderToQuestion(): Promise<World> {
  const world = makeWorld({
    tasks: ids(1),
    play: () => ({ say: 'I thought about it.' }),
  });
  const over = { limits: { maxTaskAttempts: 9, maxStuck: 0 }, fallback: ['second'] };
  expect(code(await run(world, over))).toBe(2);
  const kinds = facts(world, 'intervention.chosen').map(({ agent, intervention }) => [
    agent,
    intervention.kind,
  ]);
  expect(kinds).toEqual([
    ['played', 'remind'],
    ['played', 'insist'],
    ['played', 'other_agent'],
    ['second', 'remind'],
    ['second', 'insist'],
    ['second', 'question'],
  ]);
  expect(facts(world, 'question.asked')[0]!.question.text).toContain('other_agent second (iteration 3)');
  return world;
}

export const STORIES: Story[] = [
  {
    number: '1',
    says: 'commits without a claim end at the iteration limit, nothing charged',
    play: story1,
    over: { limits: { maxIterations: 6 } },
  },
  { number: '2', says: 'an agent that never changes anything is stuck', play: story2 },
  { number: '3', says: 'one bad task first of ten: nine done and one question', play: story3 },
  { number: '4', says: 'five review rejections approve at the cap', play: story4, over: PAIR },
  {
    number: '5',
    says: 'a list finished on its last allowed iteration is complete',
    play: story5,
    over: { limits: { maxIterations: 3 } },
  },
  { number: '6', says: 'after a limit, running again goes on', play: story6 },
  { number: '8', says: 'an outage is retried after 0, 30, 60 and 60 seconds', play: story8 },
  {
    number: '9',
    says: 'a blocker with max-stuck 1, answered, goes on',
    play: story9,
    over: { limits: { maxStuck: 1 } },
    outside: true,
  },
  {
    number: '11',
    says: 'a reviewed list that is all approved has no session review',
    play: story11,
    over: PAIR,
  },
  { number: '12', says: 'implement, review, fix, review, then the next story', play: story12, over: PAIR },
  { number: '15', says: 'a lie is rejected again after another task landed', play: story15 },
  { number: '16', says: 'a pause during a gate leaves only that gate to run', play: story16, outside: true },
  {
    number: '17',
    says: 'STEER then PAUSE stays paused, PAUSE then STEER goes on',
    play: story17,
    outside: true,
  },
  { number: '18', says: 'a stop without a runner has no effect', play: story18, outside: true },
  {
    number: '19',
    says: 'an abort fails what was in progress and is never judged',
    play: story19,
    outside: true,
  },
  { number: '20', says: 'a failed commit leaves the verdict and is tried again', play: story20 },
  { number: '21', says: 'work of a timed-out attempt counts for the next claim', play: story21 },
  { number: '22', says: 'leftovers are set aside and taken up', play: story22, over: { gates: [GATE] } },
  {
    number: 'overlap',
    says: 'two tasks that fail on one file are told apart',
    play: overlap,
    over: { gates: [GATE], limits: { maxStuck: 0 } },
  },
  { number: '23', says: "what a person did meanwhile is not the agent's", play: story23, outside: true },
  {
    number: '24',
    says: 'an answer in the mailbox beats a deadline that passed',
    play: story24,
    outside: true,
  },
  {
    number: '26',
    says: 'two questions, one answered and one cleared, each count once',
    play: story26,
    outside: true,
  },
  { number: '28', says: 'five pauses are never an agent failure', play: story28, outside: true },
  { number: '31', says: 'a limit that is past ends after the row of deaths', play: story31 },
  {
    number: '32',
    says: 'a fix that changed nothing since the review is rejected',
    play: story32,
    over: PAIR,
  },
  { number: '33', says: 'feedback becomes a task of the next cycle', play: story33, outside: true },
  {
    number: '34',
    says: 'a reopened task is worked on, and what failed with it',
    play: story34,
    outside: true,
  },
  { number: '35', says: 'a stop ends a runner that waits in a pause', play: story35, outside: true },
  {
    number: '36',
    says: 'four iterations are at most four agent runs, also three at a time',
    play: story36,
    over: { limits: { maxIterations: 4 } },
  },
  { number: '37', says: 'a list whose last commit fails is not complete', play: story37 },
  { number: '38', says: 'cancelling a task closes its question', play: story38, outside: true },
  { number: '40', says: 'a RESUME older than the PAUSE does not resume', play: story40, outside: true },
  { number: '42', says: 'an agent that dies on one task does not stop the others', play: story42 },
  { number: '303', says: 'only the task file changed: bookkeeping', play: case303 },
  { number: '304', says: 'a gate without tests does not verify', play: case304, over: { gates: [GATE] } },
  {
    number: 'red-again',
    says: 'a red gate is run again on the same tree',
    play: redAndIgnored,
    outside: true,
  },
  {
    number: '305',
    says: 'an old failure is told, a new one is charged',
    play: case305,
    over: { gates: [GATE] },
  },
  { number: '309', says: 'a background job is ended and named', play: case309 },
  { number: '310', says: 'a provider limit with a reset time is waited for exactly', play: case310 },
  { number: '311', says: 'a denied gate command voids the claim', play: case311, over: { gates: [GATE] } },
  {
    number: 'denied-else',
    says: 'a denied command that only looks like a part of a gate voids nothing',
    play: deniedElse,
    over: { gates: [{ ...GATE, run: 'npm run tools' }] },
  },
  { number: '312', says: 'two idle runs are an agent failure, not charged attempts', play: case312 },
  { number: '313', says: 'extra completions are ignored unless verified on their own', play: case313 },
  {
    number: 'stuck',
    says: '2 stuck, 1 commit, 2 stuck goes on',
    play: stuckAndOn,
    over: { limits: { maxTaskAttempts: 10, maxIterations: 5 } },
  },
  { number: 'objective', says: 'a bare objective is the task', play: bareObjective },
  {
    number: 'review-blocked',
    says: 'a blocked review leaves status and count alone',
    play: blockedReview,
    over: PAIR,
  },
  { number: 'human-list', says: 'a task added by hand is worked on', play: humanEditsList, outside: true },
  {
    number: 'hold-task',
    says: 'a decision that holds only its task lets the others go on',
    play: pauseOthers,
    over: { questions: { ...policy().questions, hold: 'task' } },
  },
  { number: 'cost', says: 'a money cap binds', play: costBinds, over: { limits: { maxCostUsd: 2 } } },
  {
    number: '177',
    says: 'a branch that was moved away pauses with an explanation',
    play: historyLeft,
    outside: true,
  },
  {
    number: 'stop',
    says: 'a stop lets the live agent finish and be judged',
    play: stopWhileRunning,
    outside: true,
  },
  {
    number: 'auto-unblock',
    says: 'a task that only ran out of time gets more by itself, once',
    play: autoUnblocked,
    over: AUTO(1),
  },
  {
    number: 'auto-unblock-bound',
    says: 'the loop unblocks each task as often as it may, and then asks',
    play: autoBounded,
    over: AUTO(2),
  },
  {
    number: 'ladder-other-agent',
    says: 'the circuit breaker hands the task to the next agent, which does it',
    play: ladderToAnother,
    over: { fallback: ['second'] },
  },
  {
    number: 'ladder-question',
    says: 'each agent has a ladder of its own, and a question is the last step',
    play: ladderToQuestion,
    over: { limits: { maxTaskAttempts: 9, maxStuck: 0 }, fallback: ['second'] },
  },
];
