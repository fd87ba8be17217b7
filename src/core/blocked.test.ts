import { describe, expect, test } from 'vitest';
import { blockage } from './blocked.ts';
import { decide } from './decide.ts';
import type { Fact } from './event.ts';
import { DEPENDENCY_FAILED } from './evolve-task.ts';
import type { Finding } from './finding.ts';
import type { State } from './state.ts';
import { suggest } from './suggest.ts';
import {
  asked,
  begun,
  ended,
  further,
  given,
  itemOn,
  judged,
  listed,
  moved,
  NOON,
  policyOf,
  started,
  taskOf,
  tried,
  waved,
  waveEnded,
} from './test-facts.ts';

const late: Finding = { kind: 'timed_out', detail: 'The attempt ran out of its wall time.' };
const silent: Finding = { kind: 'timed_out', detail: 'The attempt ran out of its idle time.' };
const red = (gate: string): Finding => ({ kind: 'gate_failed', detail: `Gate "${gate}" failed.`, gate });
const lie: Finding = { kind: 'false_completion_detected', detail: 'Claimed.' };
const empty: Finding = { kind: 'no_files_detected', detail: 'Nothing.' };

/** Three charged tries at t1 with these findings each. */
const tries = (...each: Finding[][]): Fact[] =>
  each.flatMap((findings, index) => tried(index + 1, 't1', { findings }));

const names = (state: State) => {
  const { blocked, waiting } = blockage(state);
  return {
    blocked: blocked.map(({ task, kind }) => `${task.def.id} ${kind}`),
    waiting: waiting.map(({ task, on }) => `${task.def.id} for ${on.join(', ')}`),
  };
};

describe('what is blocked', () => {
  const chain = listed(
    taskOf('t1', { order: 0 }),
    taskOf('t2', { order: 1, dependsOn: ['t1'] }),
    taskOf('t3', { order: 2, dependsOn: ['t2'] }),
    taskOf('t4', { order: 3 }),
  );

  test('nothing, while every task has its turn before it', () => {
    expect(names(given(started(), chain))).toEqual({ blocked: [], waiting: [] });
  });

  test('a task with an open question about it; what depends on it waits, through any number', () => {
    expect(names(given(started(), chain, asked('q1')))).toEqual({
      blocked: ['t1 question'],
      waiting: ['t2 for t1', 't3 for t1'],
    });
  });

  test('a task out of attempts, before it is asked about', () => {
    const state = given(started(), chain, ...tries([late], [late], [late]));
    expect(names(state).blocked).toEqual(['t1 attempts']);
    expect(blockage(state).blocked[0]).toMatchObject({
      since: NOON,
      why: 'out of attempts: 3 attempts were rejected',
    });
  });

  test('a task that failed for good, and not those that failed with it', () => {
    const failed = moved('t1', 'failed', 'engine', '3 attempts were rejected');
    const doomed = [moved('t2', 'failed', 'engine', `${DEPENDENCY_FAILED}: t1`)];
    expect(names(given(started(), chain, failed, ...doomed))).toEqual({
      blocked: ['t1 failed'],
      waiting: ['t2 for t1', 't3 for t1'],
    });
  });

  test('not a task whose dependency was cancelled: it waits for that one', () => {
    const doomed = moved('t2', 'failed', 'engine', `${DEPENDENCY_FAILED}: t1`);
    expect(names(given(started(), chain, moved('t1', 'cancelled', 'person'), doomed))).toEqual({
      blocked: [],
      waiting: ['t2 for t1', 't3 for t1'],
    });
  });

  test('tasks that wait for each other are no endless search', () => {
    const ring = listed(taskOf('t1', { dependsOn: ['t2'] }), taskOf('t2', { dependsOn: ['t1'] }));
    expect(names(given(started(), ring))).toEqual({ blocked: [], waiting: [] });
  });

  test('before any run: what the list itself marks as failed', () => {
    const list = listed(taskOf('t1', { status: 'failed' }), taskOf('t2', { order: 1, dependsOn: ['t1'] }));
    const state = given(list);
    expect(names(state)).toEqual({ blocked: ['t1 failed'], waiting: ['t2 for t1'] });
    expect(blockage(state).blocked[0]).toMatchObject({ since: null });
  });
});

describe('what may help after one attempt', () => {
  const oneTry = (findings: Finding[], others: string[]) => {
    const policy = { limits: { maxTaskAttempts: 1 }, fallback: ['second'] };
    const state = given(started(policy), listed(taskOf('t1')), ...tries(findings));
    return suggest(state, blockage(state).blocked[0]!, others);
  };

  test('that did no work: the agent of `fallback`, which has not tried', () => {
    const { strategy, reason, commands } = oneTry([lie], ['second']);
    expect([strategy, reason]).toEqual([
      'other_agent',
      'played ended once without the work; second has not tried.',
    ]);
    expect(commands.at(-1)).toBe('ralph run --task t1 --agent second');
    expect(oneTry([lie], []).reason).toBe(
      'played ended once without the work, and no other agent is installed.',
    );
  });

  test('that no setting mends: it is said of one', () => {
    const odd: Finding = { kind: 'protected_changed', detail: 'x' };
    expect(oneTry([odd], ['second']).reason).toBe(
      'Its one attempt ended in a way that no setting mends: rejected: protected_changed.',
    );
  });
});

describe('what may help', () => {
  const way = (facts: Fact[], { others = [] as string[], policy = {} } = {}) => {
    const state = given(started(policy), listed(taskOf('t1')), ...facts);
    return suggest(state, blockage(state).blocked[0]!, others);
  };

  test.each<[string, Finding[][], string]>([
    ['only out of time', [[late], [late], [late]], 'increase_timeout'],
    ['out of time and once red', [[late], [red('test')], [late]], 'manual_review'],
    ['silent every time', [[silent], [silent], [silent]], 'manual_review'],
    ['the same gate each time', [[red('test')], [red('lint'), red('test')], [red('test')]], 'fix_gate'],
    ['another gate each time', [[red('test')], [red('lint')], [red('types')]], 'manual_review'],
    ['lies, and nobody else is there', [[lie], [empty], [lie, empty]], 'manual_review'],
    [
      'attempts that undo each other',
      [[late], [late, { kind: 'oscillation', detail: 'Back.' }], [late]],
      'manual_review',
    ],
    [
      'a gate it may not run',
      [[{ kind: 'denied_gate', detail: 'No.' }], [red('a')], [red('a')]],
      'manual_review',
    ],
  ])('%s', (_says, findings, strategy) => {
    expect(way(tries(...findings))).toMatchObject({ strategy });
  });

  test('another agent, where one is there that has not tried', () => {
    const found = way(tries([lie], [empty], [lie]), { others: ['played', 'codex'] });
    expect(found).toMatchObject({
      strategy: 'other_agent',
      commands: ['ralph unblock t1', 'ralph run --task t1 --agent codex'],
    });
  });

  test('a split, once the largest allowance was not enough', () => {
    const timeout = { ...policyOf().timeout, maxS: 900 };
    const found = way(tries([late], [late], [late]), { policy: { timeout } });
    expect(found.strategy).toBe('split');
    expect(found.reason).toContain('900 s of at most 900 s');
  });

  test('the attempts since the last unblocking are what counts', () => {
    const again: Fact = {
      type: 'task.unblocked',
      task: 't1',
      by: 'me',
      reason: 'r',
      grant: null,
      auto: false,
    };
    const later = [4, 5, 6].flatMap((n) => tried(n, 't1', { findings: [late] }));
    expect(way([...tries([lie], [lie], [lie]), again, ...later]).strategy).toBe('increase_timeout');
  });

  test('a question that only a person can answer comes first', () => {
    const found = way([
      ...tries([late], [late], [late]),
      asked('q1', { options: [{ key: 'A', text: 'left' }] }),
    ]);
    expect(found).toMatchObject({
      strategy: 'manual_review',
      commands: ['ralph answer q1 --option A', 'ralph run'],
    });
  });

  test('an aborted session is taken up as a whole', () => {
    const aborted: Fact[] = [
      moved('t1', 'failed'),
      { type: 'abort.asked', by: 'me', text: '' },
      { type: 'abort.done', tasks: [] },
    ];
    expect(way(aborted).commands).toEqual(['ralph run --reopen']);
  });

  test('a name that a shell would read is quoted', () => {
    const state = given(
      started(),
      listed(taskOf("it's; rm")),
      asked('q1', { about: "it's; rm", askedBy: 'engine' }),
    );
    expect(suggest(state, blockage(state).blocked[0]!, []).commands[0]).toBe("ralph why 'it'\\''s; rm'");
  });
});

describe('unblocking', () => {
  const unblocked = (over: object = {}): Fact => ({
    type: 'task.unblocked',
    task: 't1',
    by: 'me',
    reason: 'r',
    grant: null,
    auto: false,
    ...over,
  });

  test('gives so many tries, and then the task is out of attempts again', () => {
    const state = given(
      started(),
      listed(taskOf('t1')),
      ...tries([lie], [lie], [lie]),
      unblocked({ attempts: 1 }),
    );
    expect(names(state).blocked).toEqual([]);
    further(state, tried(4, 't1', { findings: [lie] }));
    expect(blockage(state).blocked[0]).toMatchObject({
      kind: 'attempts',
      why: 'out of attempts: 1 attempt was rejected',
    });
    further(state, [unblocked()]);
    further(state, tried(5, 't1', { findings: [lie] }));
    expect(names(state).blocked).toEqual([]);
  });

  test('the bound on its tries survives a start after a limit', () => {
    const state = given(started(), listed(taskOf('t1')), unblocked({ attempts: 1 }));
    further(state, [{ type: 'run.stopped', code: 1, word: 'LIMIT', reason: '' }, started()]);
    further(state, tried(1, 't1', { findings: [lie] }));
    expect(names(state).blocked).toEqual(['t1 attempts']);
  });

  test('what was granted is over when the task is done', () => {
    const state = given(
      started(),
      listed(taskOf('t1')),
      unblocked({ attempts: 2, grant: { timeoutS: 7, multiplier: 1 } }),
    );
    further(state, [moved('t1', 'done')]);
    expect(state.tasks.get('t1')).toMatchObject({ tries: null, grant: null });
    expect(state.tasks.get('t1')?.unblocks).toMatchObject([{ attempts: 2, after: 0, at: NOON }]);
  });
});

describe('the loop unblocks by itself', () => {
  const step = (state: State) => decide(state, { now: NOON, live: new Set() });
  const auto = (maxAutoAttempts: number) =>
    started({ unblock: { auto: true, maxAutoAttempts }, limits: { maxStuck: 0 } });
  /** Plays the same fruitless try until the law no longer starts one; answers how many it took. */
  const playOut = (state: State, findings: Finding[]) => {
    let iteration = 0;
    for (let steps = 0; steps < 200; steps++) {
      const next = step(state);
      if (next.do === 'open') further(state, tried(++iteration, 't1', { findings }));
      else if (next.do === 'record') further(state, next.facts);
      else return { iteration, stopped: next };
    }
    throw new Error('endless');
  };

  test('never where it is not told to', () => {
    const state = given(started({ limits: { maxStuck: 0 } }), listed(taskOf('t1')));
    expect(playOut(state, [late])).toMatchObject({ iteration: 3, stopped: { code: 2 } });
    expect(state.tasks.get('t1')?.unblocks).toEqual([]);
  });

  test.each([0, 1, 2, 3])('%i times at most for a task that only runs out of time', (most) => {
    const state = given(auto(most), listed(taskOf('t1')));
    expect(playOut(state, [late])).toMatchObject({ iteration: 3 * (most + 1), stopped: { code: 2 } });
    const unblocks = state.tasks.get('t1')!.unblocks;
    expect(unblocks.map((one) => one.auto)).toEqual(Array(most).fill(true));
    expect(unblocks.map(({ grant }) => grant?.multiplier)).toEqual([2, 4, 8].slice(0, most));
  });

  test('not a task that failed for another reason', () => {
    const state = given(auto(3), listed(taskOf('t1')));
    expect(playOut(state, [red('test')])).toMatchObject({ iteration: 3, stopped: { code: 2 } });
  });

  test('a person’s unblocking gives the count of its own none back', () => {
    const state = given(auto(1), listed(taskOf('t1')));
    playOut(state, [late]);
    further(state, [
      { type: 'question.closed', id: 'q1', why: 'unblocked by me' },
      { type: 'task.unblocked', task: 't1', by: 'me', reason: 'r', grant: null, auto: false },
    ]);
    const item = itemOn('t1');
    for (const n of [7, 8, 9])
      further(state, [
        waved(n, item),
        begun(n, item),
        ended(n),
        judged(n, item, { findings: [late] }),
        { type: 'task.charged', task: 't1', budget: 'evidence', iteration: n },
        waveEnded(n),
      ]);
    expect(step(state)).toMatchObject({ do: 'record', facts: [{ type: 'question.asked' }] });
  });

  test('one that was asked about in an earlier run, and never one that an agent asked about', () => {
    const engines = given(
      auto(1),
      listed(taskOf('t1')),
      ...tries([late], [late], [late]),
      asked('q1', { kind: 'blocker', askedBy: 'engine' }),
    );
    expect(step(engines)).toMatchObject({
      do: 'record',
      facts: [
        { type: 'question.closed', id: 'q1' },
        { type: 'task.unblocked', auto: true },
      ],
    });
    const agents = given(
      auto(1),
      listed(taskOf('t1')),
      ...tries([late], [late], [late]),
      asked('q1', { kind: 'blocker' }),
    );
    expect(step(agents)).toMatchObject({ do: 'stop', code: 2 });
  });
});
