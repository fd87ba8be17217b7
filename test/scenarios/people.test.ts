/** What people do at awkward moments: answers, silence, pauses, guidance, cancellations. */
import { expect, test } from 'vitest';
import { append, Fenced, intake } from '../../src/engine/index.ts';
import {
  crashedAfter,
  DONE,
  facts,
  findings,
  honest,
  leave,
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

const MINUTE = 60_000;
const ask = (text: string) => [{ topic: 'human.interact', payload: text }];
const questions = (onTimeout: 'proceed' | 'default' | 're_ask' | 'stop') => ({
  ...policy().questions,
  interactTimeoutS: 60,
  interactOnTimeout: onTimeout,
});
const asksOnce: Play = (seen, world) =>
  seen.attempt === 1 ? { emit: ask('Which colour?'), say: 'I asked.' } : honest(seen, world);

async function silence(onTimeout: 'proceed' | 'default' | 're_ask' | 'stop', text = 'Which colour?') {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) => (seen.attempt === 1 ? { emit: ask(text), say: 'I asked.' } : honest(seen, w)),
  });
  const first = await run(world, { questions: questions(onTimeout), wait: onTimeout !== 'stop' });
  return { world, first };
}

test('silence with proceed tells the agent and goes on, after the time and not before', async () => {
  const { world, first } = await silence('proceed');
  expect(first.exit.code).toBe(0);
  expect(first.waits[0]).toBeGreaterThan(0);
  expect(first.waits[0]).toBeLessThanOrEqual(MINUTE);
  expect(facts(world, 'question.expired').map((fact) => fact.outcome)).toEqual(['proceed']);
  expect(world.prompts.at(-1)).toContain('Which colour?');
  leave(world);
});

test('silence with default takes the default the agent offered', async () => {
  const options = 'Options: (A) red (B) blue\n\nDefault if no response: (B)';
  const { world, first } = await silence('default', `Which colour? ${options}`);
  expect(first.exit.code).toBe(0);
  const expired = facts(world, 'question.expired');
  expect(expired.map((fact) => [fact.outcome, fact.text])).toEqual([['default', 'blue']]);
  expect(world.prompts.at(-1)).toContain('blue');
  leave(world);
});

test('silence with re_ask asks again with a new deadline', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: asksOnce });
  const over = { questions: questions('re_ask') };
  expect((await run(world, over)).exit.code).toBe(3);
  world.outside.now += 10 * MINUTE;
  expect((await run(world, over)).exit.code).toBe(3);
  const asked = facts(world, 'question.asked').map((fact) => fact.question);
  expect(asked.map((question) => question.id)).toEqual(['q1', 'q2']);
  expect(asked[1]!.deadline).toBeGreaterThan(asked[0]!.deadline!);
  expect([...world.house.state.openQuestions]).toEqual(['q2']);
  leave(world);
});

test('a question that was asked again is told once, with its answer and without the silence before', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: asksOnce });
  const over = { questions: questions('re_ask') };
  await run(world, over);
  world.outside.now += 10 * MINUTE;
  await run(world, over);
  send(world, { type: 'ANSWER', text: 'blue' });
  expect((await run(world, over)).exit.code).toBe(0);
  const told = world.prompts.at(-1)!;
  expect(told.match(/Which colour\?/g)).toHaveLength(1);
  expect(told).toContain('blue');
  expect(told).not.toContain('Nobody answered');
  leave(world);
});

test('silence with stop stops once and leaves the question open without a deadline', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: asksOnce });
  const over = { questions: questions('stop'), wait: true };
  expect((await run(world, over)).exit.code).toBe(3);
  expect([...world.house.state.openQuestions]).toEqual(['q1']);
  expect(world.house.state.questions.get('q1')!.question.deadline).toBeNull();
  // The next start waits for the answer again instead of stopping at once.
  await expect(run(world, over)).rejects.toThrow(/waits for a message/);
  send(world, { type: 'ANSWER', text: 'blue' });
  expect((await play(world)).exit.code).toBe(0);
  leave(world);
});

test('a pause counts against no deadline', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: asksOnce });
  const over = { questions: questions('proceed') };
  expect((await run(world, over)).exit.code).toBe(3);
  const deadline = world.house.state.questions.get('q1')!.question.deadline!;
  send(world, { type: 'PAUSE' });
  expect((await run(world, over)).exit.code).toBe(7);
  world.outside.now += 60 * MINUTE;
  send(world, { type: 'RESUME' });
  expect((await run(world, over)).exit.code).toBe(3);
  expect(world.house.state.questions.get('q1')!.question.deadline).toBe(deadline + 60 * MINUTE);
  leave(world);
});

test('a question asked live stands while its agent works on, and closes with its task', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) => ({ ...honest(seen, w), emit: ask('Blue?') }),
  });
  expect((await run(world, { questions: questions('proceed') })).exit.code).toBe(0);
  const asked = world.records.findIndex((record) => record.facts.some((f) => f.type === 'question.asked'));
  const ended = world.records.findIndex((record) => record.facts.some((f) => f.type === 'attempt.ended'));
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(ended);
  expect(world.house.state.openQuestions.size).toBe(0);
  leave(world);
});

test('an answer skips the cooldown', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) =>
      seen.attempt === 1 ? { say: '<promise>DECIDE:left or right?</promise>' } : honest(seen, w),
  });
  const over = { limits: { cooldownS: 600 } };
  expect((await run(world, over)).exit.code).toBe(3);
  send(world, { type: 'ANSWER', text: 'left' });
  const second = await run(world, over);
  expect(second.exit.code).toBe(0);
  expect(second.waits).toEqual([]);
  leave(world);
});

test('the cooldown stands between two agent runs', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }, { id: 't2' }], play: honest });
  const played = await run(world, { limits: { cooldownS: 600 } });
  expect(played.exit.code).toBe(0);
  expect(played.waits).toEqual([600_000]);
  leave(world);
});

test('an answer whose agent died before it could read it stands in the next prompt too', async () => {
  let tries = 0;
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) => {
      tries += 1;
      if (tries === 1) return { say: '<promise>DECIDE:left or right?</promise>' };
      if (tries === 2) return { die: { kind: 'network', message: 'reset' } };
      return seen.prompt.includes('go left') ? honest(seen, w) : { say: 'nobody told me' };
    },
  });
  expect((await run(world)).exit.code).toBe(3);
  send(world, { type: 'ANSWER', text: 'go left' });
  expect((await run(world)).exit.code).toBe(0);
  leave(world);
});

test('guidance that stood in the prompt of a lost attempt stands in the next one', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
  send(world, { type: 'STEER', text: 'use bar' });
  await run(world);
  const spawned = world.records.find((record) => record.facts.some((f) => f.type === 'attempt.spawned'))!;
  const crashed = crashedAfter(world, spawned.seq);
  expect((await run(crashed)).exit.code).toBe(0);
  expect(crashed.prompts.length).toBe(1);
  expect(crashed.prompts[0]).toContain('use bar');
  leave(crashed);
  leave(world);
});

test('guidance that arrives during an attempt makes its complete claim unfinished', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) => ({
      ...honest(seen, w),
      ...(seen.iteration === 1
        ? { during: (now: World) => send(now, { type: 'STEER', text: 'use baz' }) }
        : {}),
    }),
  });
  expect((await run(world)).exit.code).toBe(0);
  expect(facts(world, 'verdict.reached').map((fact) => fact.value)).toEqual(['unfinished', 'accepted']);
  expect(facts(world, 'task.charged')).toEqual([]);
  expect(findings(world)).toContain('undelivered_steer');
  expect(world.prompts[1]).toContain('use baz');
  leave(world);
});

/** A person steers, and the agent takes it in while it works. */
async function steeredLive(now: World): Promise<void> {
  send(now, { type: 'STEER', text: 'use baz' });
  await intake(now.house);
  const messages = now.house.state.guidance.map(({ message }) => message.id);
  await append(now.house, [{ type: 'guidance.reached', iteration: 1, messages, questions: [], how: 'live' }]);
}

test('guidance that reached the agent while it worked is followed, and is not said again', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: (seen, w) => ({
      ...honest(seen, w),
      ...(seen.iteration === 1 ? { during: steeredLive } : {}),
    }),
  });
  expect((await run(world)).exit.code).toBe(0);
  expect(facts(world, 'verdict.reached').map((fact) => fact.value)).toEqual(['accepted', 'accepted']);
  expect(world.prompts.filter((prompt) => prompt.includes('use baz'))).toEqual([]);
  leave(world);
});

test('guidance that reached an agent which then died stands in the next prompt', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) =>
      seen.iteration > 1
        ? honest(seen, w)
        : {
            die: { kind: 'network', message: 'reset' },
            during: steeredLive,
          },
  });
  expect((await run(world)).exit.code).toBe(0);
  expect(world.prompts[1]).toContain('use baz');
  leave(world);
});

test.each([{ task: 't1' }, { target: 'orchestrator' }])(
  'standing guidance %o that was delivered does not keep a task open for ever',
  async (given) => {
    const world = makeWorld({ tasks: [{ id: 't1' }, { id: 't2' }], play: honest });
    send(world, { type: 'STEER', text: 'use bar', ...given });
    expect((await run(world)).exit.code).toBe(0);
    expect(facts(world, 'verdict.reached').map((fact) => fact.value)).toEqual(['accepted', 'accepted']);
    leave(world);
  },
);

test('a task cancelled while its agent works stays cancelled', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: (seen, w) => ({
      ...honest(seen, w),
      ...(seen.task === 't1'
        ? { during: (now: World) => send(now, { type: 'TASK', op: 'cancel', task: 't1' }) }
        : {}),
    }),
  });
  expect((await run(world)).exit.code).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'cancelled', t2: 'done' });
  leave(world);
});

test('a cancelled task asks nothing, also when its agent blocks afterwards', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: (seen, w) =>
      seen.task === 't1'
        ? {
            say: '<promise>BLOCKED:no key</promise>',
            during: (now) => send(now, { type: 'TASK', op: 'cancel', task: 't1' }),
          }
        : honest(seen, w),
  });
  expect((await run(world)).exit.code).toBe(0);
  expect(facts(world, 'question.asked')).toEqual([]);
  leave(world);
});

test('a task cancelled right before its prompt is sealed starts no agent', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: honest,
    gate: (_def, files) => {
      if (!files['t1.txt'] && !files['t2.txt'] && !facts(world, 'message.received').length)
        send(world, { type: 'TASK', op: 'cancel', task: 't1' });
      return { code: 0, output: '3 passed' };
    },
  });
  const gate = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };
  const gates = [{ ...gate, baseline: 'no_regression' as const }];
  expect((await run(world, { gates })).exit.code).toBe(0);
  expect(facts(world, 'attempt.started').map((fact) => fact.item.task)).toEqual(['t2']);
  leave(world);
});

test('ticking a held task in the list closes its question', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: (seen, w) => (seen.task === 't1' ? { say: '<promise>BLOCKED:no key</promise>' } : honest(seen, w)),
  });
  expect((await run(world)).exit.code).toBe(2);
  world.outside.list![0]!.status = 'done';
  expect((await run(world)).exit.code).toBe(0);
  expect(world.house.state.openQuestions.size).toBe(0);
  leave(world);
});

test('deleting a held task from the list closes its question', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: (seen, w) => (seen.task === 't1' ? { say: '<promise>BLOCKED:no key</promise>' } : honest(seen, w)),
  });
  expect((await run(world)).exit.code).toBe(2);
  world.outside.list!.shift();
  expect((await run(world)).exit.code).toBe(0);
  leave(world);
});

test("UNBLOCK closes the question and restarts the task's budgets", async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) => (seen.files['key.txt'] ? honest(seen, w) : { say: DONE }),
  });
  const over = { limits: { maxStuck: 0 } };
  expect((await run(world, over)).exit.code).toBe(2);
  expect(world.house.state.tasks.get('t1')!.charged).toBe(3);
  world.outside.files['key.txt'] = 'here';
  send(world, { type: 'UNBLOCK', task: 't1' });
  expect((await run(world, over)).exit.code).toBe(0);
  leave(world);
});

test('UNBLOCK of a task that waits for its review leaves it there', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    reviewed: true,
    play: (seen, w) =>
      seen.mode === 'TASK_REVIEW' && !seen.files['browser.txt']
        ? { say: '<promise>BLOCKED:no browser</promise>' }
        : honest(seen, w),
  });
  expect((await run(world, PAIR)).exit.code).toBe(2);
  world.outside.files['browser.txt'] = 'yes';
  send(world, { type: 'UNBLOCK', task: 't1' });
  expect((await run(world, PAIR)).exit.code).toBe(0);
  expect(facts(world, 'attempt.started').map((fact) => fact.item.mode)).toEqual([
    'implement',
    'TASK_REVIEW',
    'TASK_REVIEW',
  ]);
  leave(world);
});

test("the agent's own answer to its question, as a file, is not taken while it works", async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen) =>
      seen.attempt === 1
        ? {
            emit: ask('May I?'),
            during: (now) =>
              send(now, { type: 'ANSWER', question: 'q1', text: 'yes', confirmed: false, from: 'file' }),
            say: 'waiting',
          }
        : { say: DONE },
  });
  await run(world);
  const answered = facts(world, 'question.answered');
  expect(answered).toEqual([]);
  expect([...world.house.state.openQuestions]).toEqual(['q1']);
  leave(world);
});

test('a runner whose append is fenced stops at once and writes nothing more', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    play: (seen, w) => ({
      ...honest(seen, w),
      during: (now) => {
        now.fenced = true;
      },
    }),
  });
  await expect(run(world)).rejects.toThrow(Fenced);
  expect(world.records.at(-1)!.facts.map((fact) => fact.type)).toEqual(['attempt.spawned']);
  expect(world.house.live.size).toBe(0);
  expect(world.outside.commits.length).toBe(1);
  leave(world);
});

test('a run fenced by a message that arrives while its agent works stops too', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) => ({
      ...honest(seen, w),
      during: (now) => {
        now.fenced = true;
        send(now, { type: 'INFO', text: 'hello' });
      },
    }),
  });
  await expect(run(world)).rejects.toThrow(Fenced);
  expect(world.house.live.size).toBe(0);
  leave(world);
});

test('PAUSE and ABORT are for the session, whatever role they name', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
  send(world, { type: 'PAUSE', target: 'planner' });
  expect((await run(world)).exit.code).toBe(7);
  send(world, { type: 'ABORT', target: 'Ralph-v2-Librarian' });
  expect((await run(world)).exit.code).toBe(9);
  leave(world);
});

test('a pause said by somebody whose name begins with "engine" is waited in like any other', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
  send(world, { type: 'PAUSE', from: 'engineer@desk' });
  await expect(run(world, { wait: true })).rejects.toThrow(/waits for a message/);
  leave(world);
});

test('a pause dated in the future can be resumed', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
  send(world, { type: 'PAUSE', createdAt: world.outside.now + 3_600_000 });
  expect((await run(world)).exit.code).toBe(7);
  world.outside.now += 1_000;
  send(world, { type: 'RESUME' });
  expect((await run(world)).exit.code).toBe(0);
  leave(world);
});

test('feedback that names the cycle it opens is not stale', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
  expect((await run(world)).exit.code).toBe(0);
  send(world, { type: 'FEEDBACK', iteration: 2, text: 'The title is wrong.' });
  expect((await run(world)).exit.code).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'done', feedback: 'done' });
  leave(world);
});

test('a review that ends after its task was cancelled moves nothing', async () => {
  const world = makeWorld({
    tasks: [{ id: 't1' }, { id: 't2' }],
    reviewed: true,
    play: (seen, w) =>
      seen.task === 't1' && seen.mode === 'TASK_REVIEW'
        ? {
            emit: [{ topic: 'ralph.result', payload: reviewed('Failed') }],
            during: (now) => send(now, { type: 'TASK', op: 'cancel', task: 't1' }),
          }
        : honest(seen, w),
  });
  expect((await run(world, PAIR)).exit.code).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'cancelled', t2: 'done' });
  leave(world);
});

test('a reopened task is not done again by saying so: only new work proves anything', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
  expect((await run(world)).exit.code).toBe(0);
  send(world, { type: 'TASK', op: 'reopen', task: 't1' });
  world.play = (seen) =>
    seen.attempt === 2 ? { say: DONE } : { write: { 't1.txt': 'made better' }, say: DONE };
  expect((await run(world)).exit.code).toBe(0);
  expect(facts(world, 'verdict.reached').map((fact) => fact.value)).toEqual([
    'accepted',
    'rejected',
    'accepted',
  ]);
  leave(world);
});
