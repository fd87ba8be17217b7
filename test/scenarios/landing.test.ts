/** Sessions of loops: done is what has landed, and every window of the session says the same. */
import { afterEach, expect, test } from 'vitest';
import type { LandingFact } from '../../src/core/index.ts';
import { newsOf } from '../../src/engine/news.ts';
import { describeFact, fold, nextWords, statusJson } from '../../src/views/index.ts';
import { everyPrefix } from './prefix.ts';
import { crashedAfter, facts, honest, leave, makeWorld, run, send, type World } from './world.ts';

const LOOP = { loop: 'fix', branch: 'ralph/fix', onto: 'main' };
const OVER = { loop: LOOP };
const LANDED: LandingFact = { type: 'loop.landed', ...LOOP, commit: 'c0ffee', merged: false };
const PARKED: LandingFact = {
  type: 'loop.parked',
  ...LOOP,
  why: 'it and main change the same places of a.txt',
  files: ['a.txt'],
  next: 'In /tree: git merge main, settle the conflict and commit. Then `ralph loops merge fix`.',
};
const QUEUED: LandingFact = { type: 'loop.queued', ...LOOP, why: 'loop other lands now', next: 'Wait.' };
const NOBODY = { runner: null };

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) leave(world);
});

/** A loop with one task; each landing takes the next of these outcomes, the last one for good. */
function loopOf(...outcomes: LandingFact[]): World {
  const left = [...outcomes];
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: honest,
    lands: async ({ outside }) => {
      const fact = (left.length > 1 ? left.shift() : left[0])!;
      outside.landed = fact.type === 'loop.landed';
      return fact;
    },
  });
  worlds.push(world);
  return world;
}

const types = (world: World) => world.records.flatMap((record) => record.facts.map(({ type }) => type));
/** What people are told in their chats. */
const ended = (world: World) => {
  const state = fold(world.records);
  const news = world.records.flatMap((record) => newsOf(record, state, { sessionId: 's', loop: 'fix' }));
  return news.flatMap((one) => (one.kind === 'ended' ? [one.exit] : []));
};

test('a loop lands before its session ends, and the end says where its work is', async () => {
  const world = loopOf(LANDED);
  const { exit } = await run(world, OVER);
  expect(exit).toEqual({
    code: 0,
    word: 'COMPLETE',
    reason: 'the only task is done. Loop fix landed on main: c0ffee',
  });
  expect(types(world).slice(-2)).toEqual(['loop.landed', 'run.stopped']);
  expect(statusJson(world.house.state, 0, NOBODY)).toMatchObject({ status_detail: 'completed', exit });
  expect(ended(world)).toEqual([exit]);
});

test('a landing that is parked is no success: exit, status, line and chat name the file and what to do', async () => {
  const world = loopOf(PARKED);
  const { exit } = await run(world, OVER);
  expect([exit.code, exit.reason]).toEqual([
    8,
    'Loop fix is done and did not land on main: it and main change the same places of a.txt. What to do: In /tree: git merge main, settle the conflict and commit. Then `ralph loops merge fix`',
  ]);
  expect(statusJson(world.house.state, 0, NOBODY)).toMatchObject({
    status: 'awaiting_feedback',
    status_detail: 'needs_review',
    exit,
    next_action: PARKED.type === 'loop.parked' && PARKED.next,
  });
  expect(describeFact(facts(world, 'loop.parked')[0]!, 0)).toContain('change the same places of a.txt');
  expect(ended(world)).toEqual([exit]);
});

test('the next start tries a parked landing again, without an agent', async () => {
  const world = loopOf(PARKED, LANDED);
  expect((await run(world, OVER)).exit.code).toBe(8);
  expect((await run(world, OVER)).exit.code).toBe(0);
  expect(facts(world, 'attempt.started')).toHaveLength(1);
  expect(world.house.state.landing).toEqual(LANDED);
});

test('a loop whose turn has not come is queued: it is not complete, and the next start lands it', async () => {
  const world = loopOf(QUEUED, LANDED);
  const { exit } = await run(world, OVER);
  expect([exit.code, exit.reason]).toEqual([8, expect.stringContaining('loop other lands now')]);
  expect(statusJson(world.house.state, 0, NOBODY).status_detail).toBe('queued');
  expect((await run(world, OVER)).exit.code).toBe(0);
});

test('what an agent makes after a landing has to land as well', async () => {
  const world = loopOf(LANDED);
  await run(world, OVER);
  world.outside.list!.push({ ...world.outside.list![0]!, id: 't2', status: 'todo', order: 1 });
  expect((await run(world, OVER)).exit.code).toBe(0);
  expect(types(world).filter((type) => type === 'loop.landed')).toHaveLength(2);
});

test('a session that is no loop ends as before', async () => {
  const world = loopOf(LANDED);
  expect((await run(world)).exit).toMatchObject({ code: 0, reason: 'the only task is done' });
  expect(types(world)).not.toContain('loop.landed');
});

test.each([
  ['PAUSE', 7],
  ['HALT', 7],
  ['ABORT', 9],
] as const)(
  '%s is heard while a landing waits; nothing is said to be done, and the next start lands it',
  async (type, code) => {
    let tries = 0;
    const world = makeWorld({
      tasks: [{ id: 't1' }],
      play: honest,
      lands: async (there, signal) => {
        tries += 1;
        if (tries > 1) return LANDED;
        send(there, { type, text: 'wait' });
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return QUEUED;
      },
    });
    worlds.push(world);
    expect((await run(world, { ...OVER, wait: false })).exit.code).toBe(code);
    expect(types(world)).not.toContain('loop.queued');
    if (type === 'PAUSE') send(world, { type: 'RESUME', createdAt: world.outside.now + 1 });
    const reopened = type === 'ABORT';
    expect((await run(world, { ...OVER, wait: false }, { reopened })).exit.code).toBe(0);
    expect(facts(world, 'attempt.started')).toHaveLength(1);
  },
);

test.each(['PAUSE', 'HALT', 'ABORT', 'SIGINT'] as const)(
  '%s that is heard when the branch has moved already changes nothing: it has landed, and is complete',
  async (word) => {
    const world = makeWorld({
      tasks: [{ id: 't1' }],
      play: honest,
      lands: async (there, signal) => {
        const { interrupt } = there.house;
        if (word === 'SIGINT') {
          interrupt.signal = word;
          interrupt.wake();
        } else send(there, { type: word, text: 'too late' });
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        there.outside.landed = true;
        return LANDED;
      },
    });
    worlds.push(world);
    const { exit } = await run(world, { ...OVER, wait: false });
    expect(exit).toMatchObject({ code: 0, reason: expect.stringContaining('landed on main') });
    expect(types(world).slice(-2)).toEqual(['loop.landed', 'run.stopped']);
    expect(statusJson(world.house.state, 0, NOBODY)).toMatchObject({ status_detail: 'completed', exit });
    expect(ended(world)).toEqual([exit]);
    expect(fold(world.records)).toMatchObject({ aborted: null, stopAsked: null, paused: null });
  },
);

test.each(['PAUSE', 'HALT', 'ABORT'] as const)(
  '%s between the landing and the end has no effect',
  async (type) => {
    const world = loopOf(LANDED);
    const { recorded } = world.house;
    world.house.recorded = (record) => {
      recorded(record);
      if (record.facts.some((fact) => fact.type === 'loop.landed')) send(world, { type, text: 'too late' });
    };
    expect((await run(world, { ...OVER, wait: false })).exit.code).toBe(0);
    expect(facts(world, 'message.received').map(({ action }) => action)).toEqual([
      'no effect: the session is over',
    ]);
  },
);

test('a loop that was given up goes on only at a person’s word', async () => {
  const world = loopOf(PARKED);
  await run(world, OVER);
  const { house } = world;
  const discarded: LandingFact = { type: 'loop.discarded', ...LOOP, keptAs: 'refs/ralph/discarded/fix' };
  house.state.landing = discarded;
  expect(statusJson(house.state, 0, NOBODY)).toMatchObject({ status: 'blocked', status_detail: 'aborted' });
  expect(nextWords(house.state, 0, NOBODY)).toContain('git merge refs/ralph/discarded/fix');
  expect((await run(world, OVER)).exit).toMatchObject({
    code: 9,
    reason: expect.stringContaining('refs/ralph/discarded/fix'),
  });
  expect((await run(world, OVER, { reopened: true })).exit.code).toBe(8);
});

test.each([
  ['lands', [LANDED]],
  ['is parked', [PARKED]],
] as const)('every prefix of a session that %s resumes', async (_, outcomes) => {
  const story = {
    number: 'loop',
    says: '',
    play: async () => {
      const world = loopOf(...outcomes);
      worlds.splice(worlds.indexOf(world), 1);
      await run(world, OVER);
      return world;
    },
  };
  await everyPrefix(story);
});

test('killed between the landing and its fact, the next start finds it landed and says so', async () => {
  const world = loopOf(LANDED);
  await run(world, OVER);
  const seq = world.records.find(({ facts: told }) => told.some(({ type }) => type === 'loop.landed'))!.seq;
  const copy = crashedAfter(world, seq - 1);
  worlds.push(copy);
  expect(nextWords(copy.house.state, 0, { runner: { pid: 1, host: 'h', startedAt: 0 } })).toContain(
    'loop fix lands on main',
  );
  expect((await run(copy, OVER)).exit.code).toBe(0);
  expect(facts(copy, 'loop.landed')).toEqual([LANDED]);
});
