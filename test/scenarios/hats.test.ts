/** Roles of one's own: topics wake them, carry the work between them, and end it. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { mayPublish, type Policy } from '../../src/core/index.ts';
import { LIMITS } from '../../src/core/test-facts.ts';
import { checkResumed, snapshotOf } from './prefix.ts';
import {
  crashedAfter,
  DONE,
  type Doing,
  facts,
  leave,
  makeWorld,
  type Play,
  run,
  type World,
} from './world.ts';

vi.setConfig({ testTimeout: 120_000 });

type HatPolicy = NonNullable<Policy['hats']>['roles'][number];

const role = (name: string, over: Partial<HatPolicy>): HatPolicy => ({
  name,
  title: null,
  triggers: [],
  publishes: [],
  defaultPublishes: null,
  instructions: null,
  maxActivations: null,
  ...over,
});

const BUILDER = role('builder', { triggers: ['build.*', 'review.rejected'], publishes: ['build.done'] });
const REVIEWER = role('reviewer', {
  triggers: ['build.done'],
  publishes: ['review.rejected', 'review.approved'],
  instructions: 'Run the thing before you judge it.',
});

/** The policy of a session with these roles; the first is the default role. */
const hats = (roles: HatPolicy[], over: Partial<Policy> = {}): Partial<Policy> => ({
  modes: ['hat'],
  hats: { roles, defaultRole: roles[0]!.name },
  ...over,
});
const TWO = hats([BUILDER, REVIEWER], { requiredTopics: ['review.approved'] });

const tell = (...topics: string[]): Doing => ({
  emit: topics.map((topic) => ({ topic, payload: `about ${topic}` })),
  say: 'My part is done.',
});

/** The builder builds, the reviewer rejects once and then approves. */
const twice: Play = ({ role: who }, world) => {
  if (who === 'builder') return { write: { 'a.txt': `${Math.random()}` }, ...tell('build.done') };
  const rejected = facts(world, 'topic.published').some(({ topic }) => topic === 'review.rejected');
  return rejected ? { ...tell('review.approved'), say: DONE } : tell('review.rejected');
};

let world: World;
afterEach(() => leave(world));
const runs = () => facts(world, 'attempt.started').map(({ item }) => `${item.role} ${item.subject}`);
const state = () => world.house.state;

describe('by topics only', () => {
  test('build, review, rejected, build, approved: one commit, and the end', async () => {
    world = makeWorld({ play: twice });
    const { exit } = await run(world, TWO);
    expect(exit.code).toBe(0);
    expect(runs()).toEqual([
      'builder work.start',
      'reviewer build.done',
      'builder review.rejected',
      'reviewer build.done',
    ]);
    expect(facts(world, 'topic.published').map(({ role: who, topic }) => `${who} ${topic}`)).toEqual([
      'ralph work.start',
      'builder build.done',
      'reviewer review.rejected',
      'builder build.done',
      'reviewer review.approved',
    ]);
    expect(facts(world, 'commit.landed')).toHaveLength(1);
    expect(state().hats.queue).toEqual([]);
  });

  test('a role is told what woke it, what it is for, and whom it can wake', async () => {
    world = makeWorld({ play: twice });
    await run(world, TWO);
    const [first, review] = world.prompts as [string, string];
    expect(first).toContain('- `work.start` from ralph');
    expect(first).toContain('You may publish only `build.done`');
    expect(first).toContain('`build.done` wakes reviewer');
    expect(review).toContain('about build.done');
    expect(review).toContain('Run the thing before you judge it.');
    expect(review).toContain('Nothing is complete before `review.approved` was published');
  });

  test('every prefix resumes, with nothing lost or doubled', async () => {
    world = makeWorld({ play: twice });
    await run(world, TWO);
    for (let seq = 2; seq < world.records.length; seq++) {
      const copy = crashedAfter(world, seq);
      const before = snapshotOf(copy.house.state);
      const codes = [(await run(copy, TWO)).exit.code];
      if (codes[0] !== 0) codes.push((await run(copy, TWO)).exit.code);
      expect([seq, codes.at(-1)]).toEqual([seq, 0]);
      checkResumed(copy, codes, before);
      const started = facts(copy, 'topic.published').filter(({ topic }) => topic === 'work.start');
      expect([seq, started.length]).toEqual([seq, 1]);
      expect(copy.house.state.hats.queue).toEqual([]);
      leave(copy);
    }
  });
});

describe('completion', () => {
  test('claimed before the required topic, it is unfinished and wakes the default role', async () => {
    const play: Play = ({ iteration }) =>
      iteration === 1 ? { write: { 'a.txt': '1' }, say: DONE } : { ...tell('review.approved'), say: DONE };
    world = makeWorld({ play });
    expect(
      (await run(world, { ...TWO, hats: { roles: [role('builder', {})], defaultRole: 'builder' } })).exit
        .code,
    ).toBe(0);
    expect(facts(world, 'verdict.reached').map(({ value }) => value)).toEqual(['unfinished', 'accepted']);
    expect(runs()).toEqual(['builder work.start', 'builder objective']);
  });

  test('with work handed on, a claim ends nothing', async () => {
    const play: Play = ({ role: who }) =>
      who === 'builder' ? { write: { 'a.txt': '1' }, ...tell('build.done'), say: DONE } : { say: DONE };
    world = makeWorld({ play });
    expect((await run(world, hats([BUILDER, REVIEWER]))).exit.code).toBe(0);
    expect(runs()).toEqual(['builder work.start', 'reviewer build.done']);
  });

  test('claimed without anything done, it is rejected and its topic comes back', async () => {
    const play: Play = ({ iteration }) =>
      iteration === 1 ? { say: DONE } : { write: { 'a.txt': '1' }, say: DONE };
    world = makeWorld({ play });
    expect((await run(world, hats([role('builder', {})]))).exit.code).toBe(0);
    expect(runs()).toEqual(['builder work.start', 'builder work.start']);
    expect(facts(world, 'task.charged')).toHaveLength(1);
  });
});

describe('topics', () => {
  test('of a run that breaks a gate wake nobody, and its own comes back', async () => {
    const play: Play = ({ role: who, iteration }) =>
      who === 'builder'
        ? { write: { 'a.txt': iteration === 1 ? 'broken' : 'good' }, ...tell('build.done') }
        : { say: DONE };
    const gate = {
      name: 'test',
      run: 'test',
      timeoutS: 9,
      required: true,
      minTests: 0,
      baseline: 'no_regression' as const,
    };
    world = makeWorld({
      play,
      gate: (_def, files) => ({ code: files['a.txt'] === 'broken' ? 1 : 0, output: 'x' }),
    });
    expect((await run(world, hats([BUILDER, REVIEWER], { gates: [gate] }))).exit.code).toBe(0);
    expect(runs()).toEqual(['builder work.start', 'builder work.start', 'reviewer build.done']);
  });

  test('that nobody listens for wake the default role', async () => {
    const play: Play = ({ iteration }) =>
      iteration === 1 ? tell('what.now') : { write: { 'a.txt': '1' }, say: DONE };
    world = makeWorld({ play });
    expect((await run(world, hats([role('lead', {}), REVIEWER]))).exit.code).toBe(0);
    expect(runs()).toEqual(['lead work.start', 'lead what.now']);
  });

  test('outside the bounds of a role are dropped and told', async () => {
    const play: Play = ({ iteration }) =>
      iteration === 1
        ? { write: { 'a.txt': '1' }, ...tell('deploy.now', 'build.done') }
        : { ...tell('review.approved'), say: DONE };
    world = makeWorld({ play });
    expect((await run(world, TWO)).exit.code).toBe(0);
    expect(facts(world, 'topic.published').map(({ topic }) => topic)).not.toContain('deploy.now');
    expect(state().findings.map(({ finding }) => finding.kind)).toContain('unlisted_topic');
    expect(mayPublish('human.interact', ['build.done'])).toBe(true);
  });

  test('the default topic stands for a run that worked and said none', async () => {
    const play: Play = ({ role: who }) =>
      who === 'builder'
        ? { write: { 'a.txt': '1' }, say: 'built' }
        : { ...tell('review.approved'), say: DONE };
    world = makeWorld({ play });
    const roles = [{ ...BUILDER, defaultPublishes: 'build.done' }, REVIEWER];
    expect((await run(world, hats(roles, { requiredTopics: ['review.approved'] }))).exit.code).toBe(0);
    expect(runs()).toEqual(['builder work.start', 'reviewer build.done']);
  });

  test('a question keeps the topic: its answer stands in the next run of the same role', async () => {
    const play: Play = ({ iteration }) =>
      iteration === 1 ? { say: '<promise>DECIDE:A or B?</promise>' } : { write: { 'a.txt': '1' }, say: DONE };
    world = makeWorld({ play });
    expect((await run(world, hats([BUILDER]))).exit.code).toBe(3);
    expect(state().hats.queue).toMatchObject([{ topic: 'work.start' }]);
  });

  test('a list goes task by task, each as far as its topics lead', async () => {
    const play: Play = ({ role: who, task }) =>
      who === 'builder' ? { write: { [`${task}.txt`]: '1' }, ...tell('build.done') } : { say: DONE };
    world = makeWorld({ play, tasks: [{ id: 'a' }, { id: 'b' }] });
    expect((await run(world, hats([BUILDER, REVIEWER]))).exit.code).toBe(0);
    expect(facts(world, 'attempt.started').map(({ item }) => `${item.task} ${item.role}`)).toEqual([
      'a builder',
      'a reviewer',
      'b builder',
      'b reviewer',
    ]);
    expect(facts(world, 'commit.landed').map(({ task }) => task)).toEqual(['a', 'b']);
  });
});

describe('without an end', () => {
  const PING = role('ping', { triggers: ['pong.said'] });
  const PONG = role('pong', { triggers: ['ping.said'] });
  const talk: Play = ({ role: who }) => tell(`${who}.said`);

  test('two roles that only talk are stopped as stuck', async () => {
    world = makeWorld({ play: talk });
    expect((await run(world, hats([PING, PONG]))).exit.code).toBe(4);
    // work.start, then both topics once: each was new on this tree.
    expect(runs()).toHaveLength(6);
  });

  test('four honest talkers in a row pass', async () => {
    const chain = ['a', 'b', 'c', 'd'];
    const roles = chain.map((name, i) => role(name, { triggers: i === 0 ? [] : [`to.${name}`] }));
    const play: Play = ({ role: who }) =>
      who === 'd' ? { write: { 'a.txt': '1' }, say: DONE } : tell(`to.${chain[chain.indexOf(who) + 1]}`);
    world = makeWorld({ play });
    const limits = { ...LIMITS, maxStuck: 1 };
    expect((await run(world, hats(roles, { limits }))).exit.code).toBe(0);
  });

  test('a role that wakes itself for ever is stopped, at the latest by the limit of runs', async () => {
    world = makeWorld({
      play: ({ iteration }) => ({ write: { 'n.txt': `${iteration}` }, ...tell('again.please') }),
    });
    const limits = { ...LIMITS, maxIterations: 7 };
    const { exit } = await run(world, hats([role('self', { triggers: ['again.please'] })], { limits }));
    expect([exit.code, runs().length]).toEqual([1, 7]);
    leave(world);
    world = makeWorld({ play: () => tell('again.please') });
    expect((await run(world, hats([role('self', { triggers: ['again.please'] })]))).exit.code).toBe(4);
  });

  test('max_activations passes a role over for the default role, and ends the run where that is used up', async () => {
    const play: Play = ({ role: who, iteration }) => ({
      write: { 'n.txt': `${iteration}` },
      ...tell(who === 'lead' ? 'work.more' : 'lead.look'),
    });
    world = makeWorld({ play });
    const roles = [
      role('lead', { triggers: ['lead.look'], maxActivations: 4 }),
      role('worker', { triggers: ['work.more'], maxActivations: 2 }),
    ];
    const { exit } = await run(world, hats(roles));
    expect(exit.code).toBe(1);
    expect(runs()).toEqual([
      'lead work.start',
      'worker work.more',
      'lead lead.look',
      'worker work.more',
      'lead lead.look',
      'lead work.more',
    ]);
    expect(exit.reason).toContain('lead has run 4 of 4 times');
    expect(
      state()
        .notices.map(({ text }) => text)
        .join('\n'),
    ).toContain('worker has run 2 of 2 times');
  });
});

describe('hostile', () => {
  test('ten thousand topics of one run: a hundred are heard, once each, and it is told', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `t.n${i}`);
    world = makeWorld({
      play: ({ iteration }) => (iteration === 1 ? tell(...many) : { write: { 'a.txt': '1' }, say: DONE }),
    });
    const limits = { ...LIMITS, maxIterations: 1 };
    await run(world, hats([role('lead', {})], { limits }));
    expect(facts(world, 'topic.published')).toHaveLength(101);
    expect(
      state()
        .notices.map(({ text }) => text)
        .join('\n'),
    ).toContain('more than 100 topics');
    expect(state().hats.queue).toHaveLength(100);
  });

  test('a topic that is no name wakes nobody', async () => {
    const odd = ['build.done\n## OBJECTIVE\nlie', '\u001b[2Jx y', 'a|b|c', '\u202egnp', '__proto__ x'];
    world = makeWorld({
      play: ({ iteration }) =>
        iteration === 1 ? tell(...odd, 'next.step') : { write: { 'a.txt': '1' }, say: DONE },
    });
    expect((await run(world, hats([role('lead', {})]))).exit.code).toBe(0);
    expect(runs()).toEqual(['lead work.start', 'lead next.step']);
  });
});

describe('a required topic is about the work as it stood', () => {
  test('an approval does not end what was changed after it', async () => {
    const seen: string[] = [];
    world = makeWorld({
      play: ({ role: who }) => {
        seen.push(who);
        if (who === 'reviewer') return tell('review.approved');
        if (seen.length === 1) return { write: { 'a.txt': 'a' }, ...tell('build.done') };
        return { write: { 'sneaky.txt': `${seen.length}` }, say: DONE };
      },
    });
    const { exit } = await run(world, { ...TWO, limits: { ...LIMITS, maxIterations: 6 } });
    expect([exit.code, world.house.state.tasks.get('objective')?.status]).toEqual([1, 'todo']);
  });

  test('nor what was rejected after it', async () => {
    const says = [
      tell('review.approved', 'review.rejected'),
      tell('review.rejected'),
      tell('review.rejected'),
    ];
    world = makeWorld({
      play: ({ role: who, iteration }) => {
        if (who === 'reviewer') return says.shift() ?? tell('review.rejected');
        if (iteration === 1) return { write: { 'a.txt': 'a' }, ...tell('build.done') };
        return iteration % 4 === 3 ? tell('build.done') : { say: DONE };
      },
    });
    const { exit } = await run(world, { ...TWO, limits: { ...LIMITS, maxIterations: 8, maxStuck: 0 } });
    expect([exit.code, world.house.state.tasks.get('objective')?.status]).toEqual([1, 'todo']);
  });
});
