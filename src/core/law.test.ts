/** Limits, progress, budgets and the closed unions: the small rules of the law. */
import { describe, expect, test } from 'vitest';
import type { Fact, TimeGrant } from './event.ts';
import { evolve, exhausted } from './evolve.ts';
import { FINDING_KINDS, FINDINGS } from './finding.ts';
import {
  allowance,
  iterationLimit,
  limitReached,
  noLiveUsage,
  reckonTime,
  taskCostReached,
  timeoutS,
} from './limits.ts';
import { PHASE_NAMES, PHASES } from './phase.ts';
import { closeWave } from './progress.ts';
import { QUESTION_EXIT } from './question.ts';
import { MODE_NAMES, MODES, TEAMS } from './role.ts';
import { EXITS } from './step.ts';
import { MARKERS, naturalOrder } from './task.ts';
import {
  asked,
  begun,
  ended,
  further,
  given,
  itemOn,
  judged,
  listed,
  markOf,
  moved,
  NOON,
  policyOf,
  reportOf,
  started,
  taskOf,
  tried,
  waved,
  waveEnded,
} from './test-facts.ts';

describe('how long one attempt may take', () => {
  const timeout = (over: object, timeouts: number) => {
    const policy = policyOf({ timeout: { ...policyOf().timeout, complexityScaling: false, ...over } });
    const task = given(started(), listed(taskOf('t1'))).tasks.get('t1')!;
    return timeoutS(policy, { ...task, timeouts });
  };
  test.each([
    [0, 900],
    [1, 1350],
    [2, 2025],
    [3, 3037],
    [4, 3600],
    [40, 3600],
  ])('after %i timeouts: %i s', (timeouts, seconds) => {
    expect(timeout({}, timeouts)).toBe(seconds);
  });
  test('the result is floored, and clamped from below too', () => {
    expect(timeout({ baseS: 101, growth: 1.01 }, 1)).toBe(102);
    expect(timeout({ baseS: 5 }, 0)).toBe(60);
  });
  test('without failure scaling timeouts change nothing', () => {
    expect(timeout({ failureScaling: false }, 3)).toBe(900);
  });
  test('the class of the task is a factor, within the bounds', () => {
    const of = (title: string, timeouts = 0) => {
      const task = { def: taskOf('t1', { title }), timeouts, grant: null };
      return timeoutS(policyOf(), task);
    };
    expect([of('Fix it'), of('Go on'), of('A parser'), of('A chart')]).toEqual([900, 1350, 1800, 2700]);
    expect([of('A chart', 1), of('A chart', 1000)]).toEqual([3600, 3600]);
    expect(timeoutS(policyOf(), null)).toBe(900);
  });
  test('what was granted is a factor within the bounds, or the limit itself beyond them', () => {
    const of = (grant: TimeGrant, timeouts = 0) =>
      timeoutS(policyOf(), { def: taskOf('t1', { title: 'Fix it' }), timeouts, grant });
    expect(of({ timeoutS: null, multiplier: 3 })).toBe(2700);
    expect(of({ timeoutS: null, multiplier: 3 }, 1)).toBe(3600);
    expect(of({ timeoutS: null, multiplier: 0.01 })).toBe(60);
    expect(of({ timeoutS: 7200, multiplier: 1 }, 2)).toBe(7200);
    expect(of({ timeoutS: 20, multiplier: 9 })).toBe(20);
  });
  test('a journal of a version without classes reckons as that version did', () => {
    const { complexityScaling: _a, classes: _b, learn: _c, ...old } = policyOf().timeout;
    const policy = policyOf({ timeout: old });
    const task = { def: taskOf('t1', { title: 'A chart' }), timeouts: 1, grant: null };
    expect(reckonTime(policy, task)).toMatchObject({ timeoutS: 1350, complexity: 'ui_heavy', multiplier: 1 });
  });
  test('only a timeout of the wall clock gives more time', () => {
    const run = (timeout: 'wall' | 'idle') => {
      const report = reportOf({ ending: 'timed_out', timeout });
      const late = [{ kind: 'timed_out' as const, detail: 'late' }];
      return given(
        started(),
        listed(taskOf('t1')),
        waved(1, itemOn('t1')),
        begun(1, itemOn('t1')),
        ended(1, { report }),
        judged(1, itemOn('t1'), { value: 'unfinished', findings: late }),
      ).tasks.get('t1')!.timeouts;
    };
    expect([run('wall'), run('idle')]).toEqual([1, 0]);
  });
  describe('what accepted attempts took', () => {
    const chart = taskOf('t1', { title: 'A chart' });
    const task = { def: chart, timeouts: 1, grant: null };
    /** A session in which these attempts at charts were accepted, ms each. */
    const known = (...tookMs: number[]) =>
      given(
        started(),
        listed(chart),
        ...tookMs.flatMap((durationMs, index) => {
          const iteration = index + 1;
          const begins = begun(iteration, itemOn('t1'));
          const time = reckonTime(policyOf(), task);
          return [
            waved(iteration, itemOn('t1')),
            begins.type === 'attempt.started' ? { ...begins, time } : begins,
            ended(iteration, { durationMs }),
            judged(iteration, itemOn('t1'), { value: 'accepted', charged: false }),
            waveEnded(iteration),
          ];
        }),
      ).durations;
    const learning = policyOf({ timeout: { ...policyOf().timeout, learn: true } });
    const six = [100_000, 700_000, 200_000, 650_500, 300_000, 400_000];

    test('fewer than five say nothing', () => {
      expect(reckonTime(learning, task, known(...six.slice(0, 4)))).toMatchObject({
        p90S: null,
        samples: 4,
        learned: false,
        timeoutS: 3600,
      });
    });
    test('five and more are told, and used only where it is asked for', () => {
      expect(reckonTime(policyOf(), task, known(...six))).toMatchObject({
        p90S: 700,
        samples: 6,
        learned: false,
        timeoutS: 3600,
      });
      expect(reckonTime(learning, task, known(...six))).toMatchObject({ learned: true, timeoutS: 1050 });
      expect(reckonTime(learning, task, known(...six.slice(0, 5)))).toMatchObject({ p90S: 700 });
      expect(timeoutS(learning, { ...task, timeouts: 9 }, known(...six))).toBe(3600);
      expect(timeoutS(learning, { ...task, timeouts: 0 }, known(1, 1, 1, 1, 1))).toBe(60);
    });
    test('a new session begins with those of earlier ones, and its journal alone explains the number', () => {
      const created: Fact = {
        type: 'session.created',
        id: '260102-120000',
        objective: '',
        timezone: 'UTC',
        product: 'ralph',
        ground: '.',
        durations: { simple: [], medium: [], complex: [1], ui_heavy: six },
      };
      const { durations } = given(created, started(), listed(chart));
      expect(reckonTime(learning, task, durations)).toMatchObject({ learned: true, samples: 6, p90S: 700 });
      const { durations: _, ...old } = created;
      expect(given(old as Fact, started(), listed(chart)).durations.ui_heavy).toEqual([]);
    });
    test('the last fifty of a class are remembered, and those of another class are not mixed in', () => {
      const many = known(...Array.from({ length: 60 }, (_, index) => index));
      expect([many.ui_heavy.length, many.ui_heavy[0], many.medium]).toEqual([50, 10, []]);
    });
  });
  test('idle stands apart', () => {
    expect(allowance(policyOf(), null)).toEqual({ wallMs: 900_000, idleMs: 600_000 });
  });
});

describe('when the run has had enough', () => {
  test('20 + 6 per open task, 50 with brainstorm, or the number that was given', () => {
    const two = listed(taskOf('t1'), taskOf('t2'));
    expect(iterationLimit(given(started(), two))).toBe(32);
    expect(iterationLimit(given(started({ modes: ['brainstorm', 'implement'] }), two))).toBe(62);
    expect(iterationLimit(given(started({ limits: { maxIterations: 4 } }), two))).toBe(4);
  });
  test('a task that was done before does not widen the limit', () => {
    expect(iterationLimit(given(started(), listed(taskOf('t1', { status: 'done' }))))).toBe(20);
  });
  test('died and interrupted runs use no iteration; timed-out ones do', () => {
    const used = (...facts: Fact[]) => given(started(), listed(taskOf('t1')), ...facts).run!.used;
    const run = [waved(1, itemOn('t1')), begun(1, itemOn('t1'))];
    expect(used(...run, ended(1))).toBe(1);
    expect(used(...run, ended(1, { report: reportOf({ ending: 'timed_out' }) }))).toBe(1);
    expect(used(...run, ended(1, { report: reportOf({ ending: 'died' }) }))).toBe(0);
    const interrupted = reportOf({ ending: 'interrupted' });
    expect(used(...run, ended(1, { report: interrupted, stoppedFor: 'pause' }))).toBe(0);
    expect(used(...run, ended(1, { report: interrupted, stoppedFor: 'limit' }))).toBe(1);
  });
  test('limits go on after a crash and restart after any stop', () => {
    const stopped: Fact = { type: 'run.stopped', code: 2, word: 'BLOCKED', reason: '' };
    const one = [started(), listed(taskOf('t1')), ...tried(1, 't1')];
    expect(given(...one, started()).run!.used).toBe(1);
    expect(given(...one, stopped, started()).run!.used).toBe(0);
  });
  test('money and tokens bind, live spending included', () => {
    const state = given(started({ limits: { maxCostUsd: 2, maxTokens: 100 } }), listed(taskOf('t1')));
    expect(limitReached(state)).toBeNull();
    expect(limitReached(state, { ...noLiveUsage(), costUsd: 2 })).toMatch(/max-cost/);
    expect(limitReached(state, { ...noLiveUsage(), tokens: 100 })).toMatch(/max-tokens/);
  });
  test('what other loops spent today counts for the day', () => {
    const start = started({ limits: { maxCostUsdPerDay: 5 } });
    if (start.type === 'run.started') start.spentTodayUsd = 4;
    expect(limitReached(given(start), { ...noLiveUsage(), costUsd: 1 })).toMatch(/per_day/);
  });
  test('time counts while an agent works, and not in pauses or between runs', () => {
    const hour = 3_600_000;
    const pause: Fact = { type: 'session.paused', at: NOON, text: '', by: 'anna' };
    const note: Fact = { type: 'notice.given', level: 'info', text: 'x' };
    const working = () =>
      given(started(), listed(taskOf('t1')), waved(1, itemOn('t1')), begun(1, itemOn('t1')));
    expect(further(working(), [note], NOON + hour).run!.activeMs).toBe(hour);
    expect(further(further(working(), [pause]), [note], NOON + hour).run!.activeMs).toBeLessThan(60_000);
    expect(further(given(started()), [note], NOON + hour).run!.activeMs).toBeLessThan(60_000);
  });
  test("a task's own cap counts from its last restart of budgets", () => {
    const policy = policyOf({ limits: { maxCostUsdPerTask: 1 } });
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: 1, model: null };
    const run = [waved(1, itemOn('t1')), begun(1, itemOn('t1')), ended(1, { report: reportOf({ usage }) })];
    const state = given(started(), listed(taskOf('t1')), ...run, asked('q1'));
    expect(taskCostReached(policy, state.tasks.get('t1')!)).toBe(true);
    further(state, [
      { type: 'question.answered', id: 'q1', text: 'go', option: null, by: 'a', via: 'message' },
    ]);
    expect(taskCostReached(policy, state.tasks.get('t1')!)).toBe(false);
    expect(state.tasks.get('t1')!.costUsd).toBe(1);
  });
});

describe('progress of a wave', () => {
  const wave = (...facts: Fact[]) => {
    const state = given(
      started(),
      listed(taskOf('t1')),
      waved(1, itemOn('t1')),
      begun(1, itemOn('t1')),
      ...facts,
    );
    const [fact] = closeWave(state);
    return fact?.type === 'wave.ended' ? [fact.progress, fact.neutral, fact.dead] : [];
  };
  const at = (head: string) => ended(1, { after: markOf('tree-1', head) });
  test.each<[string, Fact[], boolean[]]>([
    [
      'accepted is progress',
      [at('c1'), judged(1, itemOn('t1'), { value: 'accepted' })],
      [true, false, false],
    ],
    [
      'unfinished on a new tree is progress',
      [at('c1'), judged(1, itemOn('t1'), { value: 'unfinished', newTree: true })],
      [true, false, false],
    ],
    [
      'unfinished on a tree seen before is none',
      [at('c1'), judged(1, itemOn('t1'), { value: 'unfinished' })],
      [false, false, false],
    ],
    [
      'rejected with a commit to a new tree is progress',
      [at('c2'), judged(1, itemOn('t1'), { newTree: true })],
      [true, false, false],
    ],
    [
      'rejected on a new tree without a commit is none',
      [at('c1'), judged(1, itemOn('t1'), { newTree: true })],
      [false, false, false],
    ],
    ['a commit to a tree seen before is none', [at('c2'), judged(1, itemOn('t1'))], [false, false, false]],
    ['died is neutral and dead', [at('c1'), judged(1, itemOn('t1'), { value: 'died' })], [false, true, true]],
    [
      'a limit that is waited for is neutral and not dead',
      [at('c1'), judged(1, itemOn('t1'), { value: 'died', parks: true })],
      [false, true, false],
    ],
    [
      'a question leaves the counter as it is',
      [at('c1'), judged(1, itemOn('t1'), { value: 'blocked' }), asked('q1', { iteration: 1 })],
      [false, true, false],
    ],
    [
      'a lost attempt is neutral',
      [{ type: 'attempt.lost', iteration: 1, reason: '', ended: [], after: null, changes: [] }],
      [false, true, false],
    ],
  ])('%s', (_says, facts, expected) => {
    expect(wave(...facts)).toEqual(expected);
  });
  test('a row of deaths is broken by any attempt that ended, also one that asked', () => {
    const dead = tried(1, 't1', { value: 'died' });
    const state = given(started(), listed(taskOf('t1')), ...dead);
    expect(state.deadRow).toBe(1);
    const asks = [waved(2, itemOn('t1')), begun(2, itemOn('t1')), ended(2)];
    further(state, [...asks, judged(2, itemOn('t1'), { value: 'blocked' }), waveEnded(2, { neutral: true })]);
    expect(state.deadRow).toBe(0);
  });
  test('only a change of phase outside the inner three sets the counter to 0', () => {
    const state = given(started(), listed(taskOf('t1')), waveEnded(1));
    expect(further(state, [{ type: 'phase.entered', phase: 'EXECUTING_BATCH' }]).stuck).toBe(1);
    expect(further(state, [{ type: 'phase.entered', phase: 'SESSION_REVIEW' }]).stuck).toBe(0);
  });
});

describe('budgets', () => {
  const spent = () => given(started(), listed(taskOf('t1')), ...tried(1, 't1'), ...tried(2, 't1'));
  const charged = (...facts: Fact[]) => further(spent(), facts).tasks.get('t1')!.charged;
  const q = asked('q1');
  test.each<[string, Fact[], number]>([
    ['nothing', [], 2],
    ['an accepted attempt', [moved('t1', 'review')], 0],
    ['an answer', [q, { type: 'question.answered', id: 'q1', text: '', option: null, by: '', via: '' }], 0],
    ['a clearing', [q, { type: 'question.closed', id: 'q1', why: '' }], 0],
    ['silence', [q, { type: 'question.expired', id: 'q1', outcome: 'proceed', text: '' }], 2],
    ['an unblock', [moved('t1', 'todo', 'person')], 0],
    ['a reopen', [moved('t1', 'failed'), moved('t1', 'todo', 'person')], 0],
    ['a limit and a new start', [{ type: 'run.stopped', code: 1, word: '', reason: '' }, started()], 0],
    ['a stop and a new start', [{ type: 'run.stopped', code: 7, word: '', reason: '' }, started()], 2],
    ['a crash and a new start', [started()], 2],
  ])('after %s', (_says, facts, expected) => {
    expect(charged(...facts)).toBe(expected);
  });
  test('a held task keeps its budget over a new start', () => {
    const facts: Fact[] = [q, { type: 'run.stopped', code: 1, word: '', reason: '' }, started()];
    expect(charged(...facts)).toBe(2);
  });
});

describe('what a person does to the list', () => {
  const edit = (set: ReturnType<typeof taskOf>[], gone: string[] = []): Fact => {
    const read = listed(...set);
    return read.type === 'tasks.read' ? { ...read, gone } : read;
  };
  const held = () => given(started(), listed(taskOf('t1'), taskOf('t2')), asked('q1'));
  test.each(['done', 'cancelled', 'failed'] as const)('marked %s by hand: its question closes', (status) => {
    const state = further(held(), [edit([taskOf('t1', { status })])]);
    expect(state.tasks.get('t1')).toMatchObject({ status, landed: 'landed' });
    expect(state.openQuestions.size).toBe(0);
  });
  test('deleted: its question closes', () => {
    const state = further(held(), [edit([], ['t1'])]);
    expect([state.tasks.has('t1'), state.openQuestions.size]).toEqual([false, 0]);
  });
  test('only a person reopens what is done', () => {
    const done = () => given(started(), listed(taskOf('t1', { status: 'done' })));
    const open = edit([taskOf('t1')]);
    expect(further(done(), [open]).tasks.get('t1')!.status).toBe('todo');
    const agent = open.type === 'tasks.read' ? { ...open, by: 'agent' } : open;
    expect(further(done(), [agent]).tasks.get('t1')!.status).toBe('done');
  });
  test('words that an agent changed are remembered with what they were, until a person changes them', () => {
    const set = (criterion: string, by: string): Fact => {
      const read = edit([taskOf('t1', { acceptance: ['stays', criterion] })]);
      return read.type === 'tasks.read' ? { ...read, by } : read;
    };
    const reworded = (...facts: Fact[]) =>
      given(started(), listed(taskOf('t1', { acceptance: ['stays', 'works'] })), ...facts).tasks.get('t1')!
        .reworded;
    expect(reworded()).toBeNull();
    expect(reworded(set('anything', 'agent'))).toMatchObject({ before: ['works'], after: ['anything'] });
    expect(reworded(set('a lot', 'agent'), set('anything', 'agent'))).toMatchObject({
      before: ['works'],
      after: ['anything'],
    });
    expect(reworded(set('anything', 'agent'), set('works', 'agent'))).toBeNull();
    expect(reworded(set('anything', 'agent'), set('anything', 'engine'))).not.toBeNull();
    expect(reworded(set('anything', 'agent'), set('anything else', 'person'))).toBeNull();
  });
  test('dependents that failed with a task come back with it, all the way', () => {
    const state = given(
      started(),
      listed(taskOf('a'), taskOf('b', { dependsOn: ['a'] }), taskOf('c', { dependsOn: ['b'] })),
      moved('a', 'failed', 'engine', 'no budget'),
      moved('b', 'failed', 'engine', 'dependency failed: a'),
      moved('c', 'failed', 'engine', 'dependency failed: b'),
      moved('a', 'todo', 'person'),
    );
    expect([...state.tasks.values()].map((task) => task.status)).toEqual(['todo', 'todo', 'todo']);
  });
});

describe('closed unions', () => {
  test('a fact nobody knows is a bug, said aloud', () => {
    const strange = { type: 'moon.landed' } as unknown as Fact;
    expect(() => evolve(given(), { seq: 1, at: NOON, facts: [strange] })).toThrow(/moon.landed/);
    expect(() => exhausted(strange as never)).toThrow(/unknown fact/);
  });
  test('every finding has a row, and no row is without its finding', () => {
    expect(Object.keys(FINDINGS).sort()).toEqual([...FINDING_KINDS].sort());
  });
  test('every phase leads on to COMPLETE', () => {
    expect(Object.keys(PHASES).sort()).toEqual([...PHASE_NAMES].sort());
    for (const phase of PHASE_NAMES) {
      let at = phase;
      for (let i = 0; i < PHASE_NAMES.length && !PHASES[at].inner; i++) at = PHASES[at].next;
      expect(at === 'COMPLETE' || PHASES[at].inner, phase).toBe(true);
    }
  });
  test('every mode has a contract and belongs to a phase or is called by name', () => {
    expect(Object.keys(MODES).sort()).toEqual([...MODE_NAMES, 'hat'].sort());
    for (const team of Object.values(TEAMS)) for (const mode of team) expect(MODES[mode]).toBeDefined();
  });
  test('every kind of question has an exit that exists', () => {
    for (const code of Object.values(QUESTION_EXIT)) expect(EXITS[code]).toBeDefined();
  });
  test('no two statuses share a marker', () => {
    expect(new Set(Object.values(MARKERS)).size).toBe(Object.keys(MARKERS).length);
  });
  test('ids sort the way people count', () => {
    expect(['task-10', 'task-2', 'task-2a', 'a'].sort(naturalOrder)).toEqual([
      'a',
      'task-2',
      'task-2a',
      'task-10',
    ]);
  });
});
