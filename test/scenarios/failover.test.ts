/**
 * Providers that say no, through whole runs: who goes on, who is waited for and how long, who is told, and that
 * none of it is charged. The stories with one start are played again from each of their records.
 */
import { describe, expect, test } from 'vitest';
import type { AgentError } from '../../src/core/index.ts';
import { everyPrefix } from './prefix.ts';
import {
  type Doing,
  facts,
  honest,
  leave,
  makeWorld,
  PAIR,
  type Play,
  policy,
  reviewed,
  run,
  statuses,
  type World,
} from './world.ts';

const HOUR = 3_600_000;
const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `t${index + 1}` }));
const TWO = { agent: 'claude', fallback: ['codex'] };

/** What each agent's provider says at a time, in ms since the world began; null: nothing, it works. */
type Provider = (at: number, agent: string) => Partial<AgentError> | null;

/** Honest agents, each run of which takes a minute, and a second where the provider says no. */
function makeServed(provider: Provider, tasks = 3, doing: Play = honest): World {
  let born = 0;
  const world = makeWorld({
    tasks: ids(tasks),
    play: (seen, w): Doing => {
      const no = provider(w.outside.now - born, seen.agent);
      return no === null ? doing(seen, w) : { die: no, tookMs: 1_000 };
    },
  });
  born = world.outside.now;
  return world;
}

const limit = (resetsAt: number | null = null) => ({
  kind: 'limit' as const,
  message: 'limit hit',
  resetsAt,
});
const started = (world: World) =>
  facts(world, 'attempt.started').map(({ agent, item }) => `${agent} ${item.task}`);
const notices = (world: World) => facts(world, 'notice.given').map(({ text }) => text);

function uncharged(world: World): void {
  expect(facts(world, 'task.charged')).toEqual([]);
  expect(facts(world, 'wave.ended').filter(({ dead }) => dead)).toEqual([]);
  for (const task of world.house.state.tasks.values())
    expect([task.fruitless, task.charged], task.def.id).toEqual([0, 0]);
  for (const item of world.house.state.items.values()) expect(item.died).toBe(0);
}

/** Claude is limited for two and a half minutes from its second run on. */
async function limitedThenBack(): Promise<World> {
  let reset = 0;
  const world = makeServed((at, agent) => {
    if (agent !== 'claude' || at < 30_000 || at >= 210_000) return null;
    return limit(reset);
  }, 6);
  reset = world.outside.now + 210_000;
  const { exit, waits } = await run(world, TWO);
  expect(exit.code, exit.reason).toBe(0);
  expect(waits).toEqual([]);
  return world;
}

describe('a limit of one', () => {
  test('the other goes on with every task, and the first is back at the reset', async () => {
    const world = await limitedThenBack();
    expect(started(world)).toEqual([
      'claude t1',
      'claude t2',
      'codex t2',
      'codex t3',
      'codex t4',
      'claude t5',
      'claude t6',
    ]);
    expect(notices(world)).toEqual([
      expect.stringMatching(
        /^claude: limit until (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC; codex goes on\. It said: limit hit$/,
      ),
      expect.stringMatching(/^claude is back: its limit ended at .* UTC; codex went on meanwhile\.$/),
    ]);
    uncharged(world);
    leave(world);
  });

  test(
    'a run that is killed at any record ends the same',
    () => everyPrefix({ number: 'failover', says: '', play: limitedThenBack, over: TWO }),
    120_000,
  );

  test('--no-wait goes on with the other, and stops with 6 only when that is limited too', async () => {
    const world = makeServed((_, agent) => (agent === 'claude' ? limit(Date.UTC(2100, 0, 1)) : null), 2);
    expect((await run(world, { ...TWO, park: false })).exit.code).toBe(0);
    uncharged(world);
    leave(world);
    const both = makeServed(() => limit(Date.UTC(2100, 0, 1)), 2);
    const { exit, waits } = await run(both, { ...TWO, park: false });
    expect([exit.code, waits]).toEqual([6, []]);
    expect(exit.reason).toMatch(/^the provider's limit lasts until 2100-01-01/);
    expect(started(both)).toEqual(['claude t1', 'codex t1']);
    leave(both);
  });

  test('a reviewer has its own fallback, and the executor keeps its agent', async () => {
    const world = makeServed(
      (at, agent) => (agent === 'strict' && at < 10 * HOUR ? limit(Date.UTC(2100, 0, 1)) : null),
      2,
      (seen, w) =>
        seen.mode === 'TASK_REVIEW'
          ? { emit: [{ topic: 'ralph.result', payload: reviewed('Qualified') }] }
          : honest(seen, w),
    );
    const roles = { reviewer: { agent: 'strict', model: null, fallback: ['mild'] } };
    const { exit } = await run(world, { ...PAIR, ...TWO, roles });
    expect(exit.code, exit.reason).toBe(0);
    const reviewers = facts(world, 'attempt.started').filter(({ item }) => item.role === 'reviewer');
    expect(reviewers.map(({ agent }) => agent)).toEqual(['strict', 'mild', 'mild']);
    const others = facts(world, 'attempt.started').filter(({ item }) => item.role === 'executor');
    expect(new Set(others.map(({ agent }) => agent))).toEqual(new Set(['claude']));
    uncharged(world);
    leave(world);
  });

  test('of several runs side by side that meet it, it is one limit', async () => {
    const world = makeServed((_, agent) => (agent === 'claude' ? limit(Date.UTC(2100, 0, 1)) : null), 3);
    const parallel = { ...policy().parallel, executors: 3 };
    expect((await run(world, { ...TWO, parallel })).exit.code).toBe(0);
    expect(facts(world, 'provider.parked').map(({ row }) => row)).toEqual(
      facts(world, 'provider.parked').map(() => 1),
    );
    uncharged(world);
    leave(world);
  });
});

describe('a limit of all', () => {
  test('the one that ends first is waited for, and goes on alone until the other is back', async () => {
    const world = makeServed((at, agent) => {
      const ends = agent === 'claude' ? 5 * HOUR : 2 * HOUR;
      return at < ends ? limit(world.outside.now - at + ends) : null;
    }, 2);
    const { exit, waits } = await run(world, TWO);
    expect(exit.code, exit.reason).toBe(0);
    expect(waits).toEqual([2 * HOUR - 2_000]);
    expect(started(world)).toEqual(['claude t1', 'codex t1', 'codex t1', 'codex t2']);
    expect(notices(world)[1]).toMatch(/^codex: limit until .*; the run waits for it\./);
    uncharged(world);
    leave(world);
  });

  test('a second limit of the same agent is waited for as well', async () => {
    const world = makeServed((at) => {
      const began = world.outside.now - at;
      if (at < HOUR) return limit(began + HOUR);
      return at < 3 * HOUR ? limit(began + 3 * HOUR) : null;
    }, 1);
    const { exit, waits } = await run(world, { agent: 'claude' });
    expect(exit.code, exit.reason).toBe(0);
    expect(waits).toEqual([HOUR - 1_000, 2 * HOUR - 1_000]);
    uncharged(world);
    leave(world);
  });

  test('one that names no time is tried again after a minute, ten, an hour and four; then the run stops', async () => {
    const world = makeServed(() => limit(), 1);
    const { exit, waits } = await run(world, { agent: 'claude' });
    expect(exit.code).toBe(6);
    expect(exit.reason).toBe('5 runs in a row died: limit: limit hit');
    expect(waits).toEqual([60_000, 600_000, HOUR, 4 * HOUR]);
    uncharged(world);
    // Who starts again says: try again, and has all tries anew.
    expect((await run(world, { agent: 'claude' })).waits).toEqual([60_000, 600_000, HOUR, 4 * HOUR]);
    leave(world);
  });

  test('one that names no time and works again goes on', async () => {
    const world = makeServed((at) => (at < 5 * 60_000 ? limit() : null), 2);
    const { exit, waits } = await run(world, { agent: 'claude' });
    expect([exit.code, waits]).toEqual([0, [60_000, 600_000]]);
    expect(world.house.state.parked.size).toBe(0);
    leave(world);
  });
});

describe('an agent that needs a person', () => {
  const auth = { kind: 'auth' as const, message: 'Not logged in.' };
  const billing = { kind: 'billing' as const, message: 'Credit balance is too low.' };

  test.each([auth, billing])('$kind: the other goes on to the end, and the run tells it', async (error) => {
    const world = makeServed((_, agent) => (agent === 'claude' ? error : null), 2);
    const { exit } = await run(world, TWO);
    expect(exit.code, exit.reason).toBe(0);
    expect(started(world)).toEqual(['claude t1', 'codex t1', 'codex t2']);
    expect(notices(world)).toEqual([
      `claude cannot work (${error.kind}): ${error.message} codex goes on; claude is tried again at the next start.`,
    ]);
    uncharged(world);
    leave(world);
  });

  test('with nobody left it is exit 6, which names both', async () => {
    const world = makeServed((_, agent) => (agent === 'claude' ? auth : billing), 2);
    const { exit } = await run(world, TWO);
    expect(exit.code).toBe(6);
    expect(exit.reason).toBe(
      'the agent claude cannot work (auth): Not logged in.; the agent codex cannot work (billing): Credit balance is too low.',
    );
    expect(started(world)).toEqual(['claude t1', 'codex t1']);
    expect(statuses(world)).toEqual({ t1: 'todo', t2: 'todo' });
    uncharged(world);
    leave(world);
  });

  test('one that is down and one that is limited: the limit is waited for', async () => {
    const world = makeServed((at, agent) => {
      if (agent === 'claude') return auth;
      return at < HOUR ? limit(world.outside.now - at + HOUR) : null;
    }, 1);
    const { exit, waits } = await run(world, TWO);
    expect([exit.code, waits]).toEqual([0, [HOUR - 2_000]]);
    leave(world);
  });
});

describe('an overload or a broken connection', () => {
  const busy = { kind: 'overload' as const, message: '529' };

  test('is tried again at once, then the other goes on while it is left alone for longer and longer', async () => {
    const world = makeServed((at, agent) => (agent === 'claude' && at < 100_000 ? busy : null), 4);
    const { exit, waits } = await run(world, TWO);
    expect([exit.code, waits]).toEqual([0, []]);
    expect(started(world)).toEqual([
      'claude t1',
      'claude t1',
      'codex t1',
      'claude t2',
      'codex t2',
      'claude t3',
      'claude t4',
    ]);
    expect(notices(world)[0]).toMatch(
      /^claude: overload, and nobody says until when; codex goes on, and claude is tried/,
    );
    uncharged(world);
    leave(world);
  });

  test('with --no-wait its retries are waited for all the same', async () => {
    const world = makeServed((at) => (at < 20_000 ? { kind: 'network', message: 'ECONNRESET' } : null), 1);
    const { exit, waits } = await run(world, { agent: 'claude', park: false });
    expect([exit.code, waits]).toEqual([0, [30_000]]);
    leave(world);
  });

  test('one that never ends costs the other nothing, and is tried once an hour', async () => {
    const world = makeServed((_, agent) => (agent === 'claude' ? busy : null), 12);
    expect((await run(world, TWO)).exit.code).toBe(0);
    const tries = facts(world, 'attempt.started').filter(({ agent }) => agent === 'claude');
    expect(tries.length).toBe(5);
    uncharged(world);
    leave(world);
  });
});

describe('an agent that crashes again and again', () => {
  const crash = { kind: 'crash' as const, message: 'segmentation fault' };

  test('the other goes on after the row that would have ended the run, and is done', async () => {
    const world = makeServed((_, agent) => (agent === 'claude' ? crash : null), 3);
    const { exit } = await run(world, TWO);
    expect(exit.code, exit.reason).toBe(0);
    const agents = facts(world, 'attempt.started').map(({ agent }) => agent);
    expect(agents).toEqual([...Array(5).fill('claude'), ...Array(3).fill('codex')]);
    expect(notices(world)[0]).toMatch(/^claude: crash, and nobody says until when; codex goes on/);
    expect(facts(world, 'task.charged')).toEqual([]);
    leave(world);
  });

  test('where the other crashes as well, the run stops with 6', async () => {
    const world = makeServed(() => crash, 3);
    expect((await run(world, TWO)).exit.code).toBe(6);
    expect(facts(world, 'attempt.started').length).toBeLessThanOrEqual(6);
    leave(world);
  });
});

test('a prompt that is too long is no outage: nobody takes over, and the run stops after its tries', async () => {
  const world = makeServed(() => ({ kind: 'prompt_too_long', message: 'prompt is too long' }), 1);
  const { exit } = await run(world, TWO);
  expect(exit.code).toBe(6);
  expect(exit.reason).toMatch(/prompt_too_long/);
  expect(new Set(started(world))).toEqual(new Set(['claude t1']));
  expect(facts(world, 'provider.parked')).toEqual([]);
  expect(facts(world, 'task.charged')).toEqual([]);
  leave(world);
});
