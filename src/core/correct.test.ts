/** The ladder: given these attempts, when the next is judged, then this correction. */
import { describe, expect, test } from 'vitest';
import { NO_CLAIM } from './claim.ts';
import { openCorrection } from './correct.ts';
import { decide } from './decide.ts';
import type { Fact } from './event.ts';
import { agentFor } from './fallback.ts';
import { feedbackFor, standingFeedback } from './feedback.ts';
import type { Intervention } from './finding.ts';
import { judge } from './judge.ts';
import type { Evidence } from './judgement.ts';
import type { InterventionPolicy } from './policy.ts';
import { settle } from './settle.ts';
import type { State } from './state.ts';
import {
  asked,
  begun,
  ended,
  evidenceOf,
  further,
  given,
  itemOn,
  listed,
  NOON,
  type PolicyChange,
  policyOf,
  reportOf,
  started,
  taskOf,
  waved,
  waveEnded,
} from './test-facts.ts';

const NOTHING = { changed: [], standing: [], newTree: false };
const LIES: Partial<Evidence> = NOTHING;
const SILENT: Partial<Evidence> = { ...NOTHING, claim: NO_CLAIM };
const LATE: Partial<Evidence> = {
  ...NOTHING,
  claim: NO_CLAIM,
  report: reportOf({ ending: 'timed_out', timeout: 'wall' }),
};
const broken = (failures: string[]): Partial<Evidence> => {
  const def = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };
  const after = { gate: 'test', run: 'npm test', tree: 't', exitCode: 1, durationMs: 1, tests: null };
  return {
    gates: [
      {
        def: { ...def, baseline: 'must_pass' },
        after: { ...after, outcome: 'failed', failures, excerpt: '', output: null },
        baseline: null,
        onceGreen: false,
      },
    ],
  };
};
/** Nothing that could be corrected: it names its evidence. */
const WORKS: Partial<Evidence> = {};

type Rules = PolicyChange & { over?: Partial<InterventionPolicy> };
function session({ over = {}, ...change }: Rules = {}, tasks = 1): State {
  const interventions = { ...policyOf().interventions, ...over };
  const list = Array.from({ length: tasks }, (_, index) => taskOf(`t${index + 1}`));
  const limits = { maxStuck: 0, maxTaskAttempts: 20, ...change.limits };
  return given(started({ interventions, ...change, limits }), listed(...list));
}

interface Call {
  task?: string;
  mode?: 'implement' | 'TASK_REVIEW';
  at?: number;
}

/** Plays the next attempt with this evidence; answers the facts that its verdict wrote. */
function attempt(state: State, over: Partial<Evidence>, { task = 't1', mode, at = NOON }: Call = {}): Fact[] {
  const iteration = state.lastIteration + 1;
  const item = itemOn(task, mode);
  const begins = begun(iteration, item);
  const agent = agentFor(state, item, 0);
  further(
    state,
    [waved(iteration, item), begins.type === 'attempt.started' ? { ...begins, agent } : begins],
    at,
  );
  further(state, [ended(iteration, { report: over.report ?? reportOf() })], at);
  const evidence = evidenceOf({ task, mode: item.mode, ...over });
  const facts = settle({
    state,
    attempt: state.attempts.get(iteration)!,
    evidence,
    judgement: judge(evidence),
    tree: `tree-${iteration}`,
    at,
  });
  further(state, [...facts, waveEnded(iteration)], at);
  return facts;
}

const chosen = (facts: Fact[]): Intervention[] =>
  facts.flatMap((fact) => (fact.type === 'intervention.chosen' ? [fact.intervention] : []));
const kind = (facts: Fact[]): string => chosen(facts)[0]?.kind ?? 'none';
const kinds = (state: State, evidence: Partial<Evidence>[], call: Call = {}): string[] =>
  evidence.map((over) => kind(attempt(state, over, call)));
const notices = (facts: Fact[]): string[] =>
  facts.flatMap((fact) => (fact.type === 'notice.given' ? [`${fact.level} ${fact.text}`] : []));
/** Thresholds that never trip. */
const CALM = { thresholdNoFiles: 99, thresholdFalseCompletion: 99 };

describe('the ladder', () => {
  test('remind after the first fruitless try, insist after the second, then what else applies', () => {
    const state = session({ over: CALM });
    expect(kinds(state, [LIES, LIES, LIES, LIES])).toEqual(['remind', 'insist', 'diagnose', 'question']);
  });
  test('each names the iteration, the task and what counts as evidence', () => {
    const [remind] = chosen(attempt(session(), LIES));
    for (const line of remind!.sentence.split('\n'))
      expect(line).toMatch(/In iteration 1, on task t1, .*Evidence that counts: /);
    expect(remind!.findings).toEqual(['no_files_detected', 'false_completion_detected']);
  });
  test('aggressive mode starts at insist', () => {
    expect(kind(attempt(session({ over: { aggressive: true } }), SILENT))).toBe('insist');
  });
  test('switched off, findings are told and nothing is corrected', () => {
    const state = session({ over: { enabled: false } });
    for (let n = 0; n < 5; n++) {
      const facts = attempt(state, LIES);
      expect(facts.find((fact) => fact.type === 'verdict.reached')).toMatchObject({
        findings: [{ kind: 'no_files_detected' }, { kind: 'false_completion_detected' }],
      });
      expect([...chosen(facts), ...notices(facts)]).toEqual([]);
    }
  });
  test('more time only after a timeout, naming it', () => {
    const state = session({ timeout: { ...policyOf().timeout, complexityScaling: false } });
    expect(kinds(state, [LATE, LATE])).toEqual(['remind', 'insist']);
    const [third] = chosen(attempt(state, { ...LATE }));
    expect(third).toMatchObject({ kind: 'more_time', findings: ['timed_out'] });
    expect(third!.sentence).toContain('raised from 900 s to 3037 s');
  });
  test('more time is skipped where the allowance is the largest, and after silence', () => {
    const most = { ...policyOf().timeout, maxS: 900 };
    expect(kinds(session({ timeout: most }), [LATE, LATE, LATE])[2]).toBe('diagnose');
    const idle = { ...LATE, report: reportOf({ ending: 'timed_out' as const, timeout: 'idle' as const }) };
    expect(kinds(session(), [idle, idle, idle])[2]).toBe('diagnose');
  });
  test('diagnose after the same failure three times, not after three different ones', () => {
    const same = broken(['adds', 'subtracts']);
    expect(kinds(session(), [same, same, same])).toEqual(['remind', 'insist', 'diagnose']);
    expect(kinds(session(), [broken(['a']), broken(['b']), broken(['c'])])[2]).toBe('insist');
  });
  test('the question comes when the same failure outlives everything, or with the last attempt', () => {
    const same = broken(['adds']);
    expect(kinds(session(), [same, same, same, same])[3]).toBe('question');
    const state = session({ limits: { maxTaskAttempts: 3 } });
    expect(kinds(state, [broken(['a']), broken(['b']), broken(['c'])])[2]).toBe('question');
  });
  test('unfinished work is reminded and never climbs', () => {
    const messy: Partial<Evidence> = { claim: NO_CLAIM, report: reportOf({ leftBehind: ['vite'] }) };
    expect(
      kinds(
        session(),
        [messy, messy, messy, messy].map((one) => ({ ...one })),
      ),
    ).toEqual(Array(4).fill('remind'));
  });
  test('what is only told to people corrects nothing', () => {
    expect(kind(attempt(session(), { ...broken(['x']), claim: NO_CLAIM, gates: [] }))).toBe('none');
    expect(kind(attempt(session(), WORKS))).toBe('none');
  });
  test('an agent that died is not corrected', () => {
    expect(kind(attempt(session(), { ...NOTHING, report: reportOf({ ending: 'died' }) }))).toBe('none');
  });
  test('a reviewer without a verdict climbs on its own, and no other agent takes over', () => {
    const state = session({ fallback: ['other'], modes: ['implement', 'TASK_REVIEW'] });
    attempt(state, WORKS);
    const dumb = { ...NOTHING, claim: NO_CLAIM };
    expect(kinds(state, [dumb, dumb, dumb], { mode: 'TASK_REVIEW' })).toEqual(['remind', 'insist', 'insist']);
  });
  test('the most severe finding leads', () => {
    const claim = { ...evidenceOf().claim, files: [], marks: ['forged_claim' as const] };
    const [only] = chosen(attempt(session(), { ...broken(['x']), claim }));
    expect(only!.findings).toEqual([
      'forged_claim',
      'false_completion_detected',
      'gate_failed',
      'evidence_missing',
    ]);
  });
  test('accepted work without evidence is asked for it in the next prompt of that agent', () => {
    const state = session({}, 2);
    const claim = { ...evidenceOf().claim, files: [] };
    expect(kind(attempt(state, { claim }))).toBe('remind');
    expect(feedbackFor(state, itemOn('t2'), agentFor(state, itemOn('t2'), 0))).toMatchObject([
      { iteration: 1, task: 't1' },
    ]);
    attempt(state, SILENT, { task: 't2' });
    expect(
      feedbackFor(state, itemOn('t2'), agentFor(state, itemOn('t2'), 0)).map(({ iteration }) => iteration),
    ).toEqual([2]);
  });
});

describe('the circuit breaker', () => {
  test('two false completions of the last five: aggressive wording, one notice that asks nothing of anybody', () => {
    const state = session({}, 2);
    expect(chosen(attempt(state, LIES))[0]!.aggressive).toBeUndefined();
    const second = attempt(state, LIES, { task: 't2' });
    expect(chosen(second)).toMatchObject([{ kind: 'insist', aggressive: true }]);
    expect(chosen(second)[0]!.sentence).toContain(
      'You have claimed completion without progress in 2 of your last 2',
    );
    expect(notices(second)).toEqual([
      'warning Circuit breaker: played claimed completion without progress in 2 of its last 2 iterations (interventions.threshold_false_completion: 2). Nothing of that was accepted, and the loop goes on by itself: the next prompt says so in the strongest words (`fallback` has no other agent that could take over).',
    ]);
    expect(notices(attempt(state, LIES))).toEqual([]);
  });
  test('three iterations without files of the last five, and again only after it was closed', () => {
    const state = session({ over: { thresholdFalseCompletion: 99 } });
    const told = [
      SILENT,
      SILENT,
      SILENT,
      SILENT,
      ...Array(4).fill({ claim: NO_CLAIM }),
      SILENT,
      SILENT,
      SILENT,
    ];
    const heard = told.map((over) => notices(attempt(state, over)).length);
    expect(heard).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
  });
  test('only bookkeeping counts as no files', () => {
    const state = session();
    const notes = { ...SILENT, bookkeeping: true };
    expect([notes, notes, notes].map((over) => notices(attempt(state, over)).length)).toEqual([0, 0, 1]);
  });
  test('other failures of a tripped agent climb as ever', () => {
    const state = session({ fallback: ['other'] }, 3);
    attempt(state, LIES, { task: 't2' });
    attempt(state, LIES, { task: 't3' });
    expect(kind(attempt(state, { ...broken(['x']), claim: NO_CLAIM }))).toBe('remind');
  });
  test('it goes on at another agent, which gets the task, the story and a ladder of its own', () => {
    const state = session({ fallback: ['second', 'third'] }, 2);
    attempt(state, LIES);
    const trip = attempt(state, LIES);
    expect(chosen(trip)).toMatchObject([{ kind: 'other_agent', agent: 'second', aggressive: true }]);
    expect(notices(trip)[0]).toMatch(/second takes over task t1 and 1 other task\.$/);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('second');
    expect(feedbackFor(state, itemOn('t1'), agentFor(state, itemOn('t1'), 0))[0]!.sentence).toContain(
      'Another agent worked on this',
    );
    const relieved = state.owed.map(({ sentence }) => sentence).reverse();
    expect(relieved[0]).toMatch(/^\*\*CRITICAL\*\*: In iteration 2, on task t1, /);
    expect(relieved.join()).not.toContain('Another agent');
    expect(kinds(state, [SILENT, SILENT, SILENT])).toEqual(['remind', 'insist', 'other_agent']);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('third');
  });
});

describe('a tripped agent and its other tasks', () => {
  const next = (state: State) => decide(state, { now: NOON, live: new Set() });
  test('the next waves go to the one that takes over, on every open task that it has not tried', () => {
    const state = session({ fallback: ['second'] }, 3);
    kinds(state, [LIES]);
    kinds(state, [LIES], { task: 't2' });
    expect(['t1', 't2', 't3'].map((id) => agentFor(state, itemOn(id), 0))).toEqual(Array(3).fill('second'));
  });
  test('a task that the other has tried stays where it is, and a step without a trip moves its own task only', () => {
    const state = session({ fallback: ['second', 'third'] }, 3);
    further(state, [{ type: 'task.unblocked', task: 't3', by: 'a', reason: '', grant: null, auto: false }]);
    state.tasks.get('t3')!.agent = 'second';
    kinds(state, [LIES], { task: 't3' });
    state.tasks.get('t3')!.agent = 'played';
    kinds(state, [LIES, LIES]);
    expect(agentFor(state, itemOn('t3'), 0)).toBe('played');
    const calm = session({ fallback: ['second'], over: CALM }, 2);
    kinds(calm, [LIES, LIES, LIES, LIES]);
    expect(['t1', 't2'].map((id) => agentFor(calm, itemOn(id), 0))).toEqual(['second', 'played']);
  });
  test('with the default limits the fallback agent gets its attempt before the run can be stuck', () => {
    const state = session({ fallback: ['second'], limits: { maxStuck: 3, maxTaskAttempts: 3 } }, 2);
    kinds(state, [LIES]);
    kinds(state, [LIES], { task: 't2' });
    expect(next(state)).toMatchObject({ do: 'open', items: [{ item: { task: 't1' } }] });
    expect(agentFor(state, itemOn('t1'), 0)).toBe('second');
    kinds(state, [SILENT]);
    // Three waves without progress, and t2 was given to an agent that has not begun: only that goes on.
    expect(next(state)).toMatchObject({ do: 'open', items: [{ item: { task: 't2' } }] });
    kinds(state, [SILENT], { task: 't2' });
    expect(next(state)).toMatchObject({ do: 'stop', code: 4 });
  });
  test('each step that changes the means goes on once, and limits still bind', () => {
    const state = session({ over: CALM, limits: { maxStuck: 3, maxTaskAttempts: 20 } });
    expect(kinds(state, [LIES, LIES, LIES])[2]).toBe('diagnose');
    expect(next(state)).toMatchObject({ do: 'open' });
    state.run!.used = 1000;
    expect(next(state)).toMatchObject({ do: 'stop', code: 1 });
    state.run!.used = 3;
    kinds(state, [LIES]);
    expect(next(state)).toMatchObject({ do: 'stop', code: 4 });
  });
  test('a step whose attempt died has not had it', () => {
    const state = session({ over: CALM, limits: { maxStuck: 3, maxTaskAttempts: 20 } });
    kinds(state, [LIES, LIES, LIES]);
    attempt(state, { ...NOTHING, report: reportOf({ ending: 'died' }) });
    expect(next(state)).toMatchObject({ do: 'open' });
  });
  test('a step chosen with the last attempt that the limits allow is for a person', () => {
    const state = session({ over: CALM, limits: { maxStuck: 3, maxTaskAttempts: 3 } });
    expect(kinds(state, [LIES, LIES, LIES])[2]).toBe('diagnose');
    expect(next(state)).toMatchObject({ do: 'stop', code: 4 });
  });
});

describe('who takes over', () => {
  const tries = [broken(['a']), broken(['a']), broken(['a']), broken(['a'])];
  test('after diagnosing, the next of fallback', () => {
    const state = session({ fallback: ['second'], over: CALM });
    expect(kinds(state, tries)).toEqual(['remind', 'insist', 'diagnose', 'other_agent']);
    expect(kinds(state, tries)).toEqual(['remind', 'insist', 'diagnose', 'question']);
  });
  test('an agent that is down or told to wait is passed over', () => {
    const state = session({ fallback: ['down', 'parked', 'well'] });
    further(state, [{ type: 'provider.parked', agent: 'parked', until: NOON + 1_000, reason: '5h' }]);
    state.down.set('down', { kind: 'auth', message: 'log in' });
    kinds(state, tries);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('well');
  });
  test('the task stays with it over a new start, unless that names other agents', () => {
    const state = session({ fallback: ['second'] });
    kinds(state, tries);
    further(state, [started({ fallback: ['second'] })]);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('second');
    further(state, [started({ agent: 'third', fallback: ['second'] })]);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('third');
  });
  test('a task that is done and reopened begins with the agent of the policy', () => {
    const state = session({ fallback: ['second'] });
    kinds(state, [...tries, WORKS]);
    expect(state.tasks.get('t1')).toMatchObject({ status: 'done', agent: null, corrections: [] });
  });
  test('for one that is down another stands in, and only where all are down the run stops', () => {
    const state = session({ fallback: ['second'], over: CALM }, 2);
    kinds(state, tries);
    state.down.set('played', { kind: 'auth', message: 'log in' });
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({
      do: 'open',
      items: [{ item: { task: 't2' } }],
    });
    expect(agentFor(state, itemOn('t2'), NOON)).toBe('second');
    state.down.set('second', { kind: 'auth', message: 'log in there' });
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({ do: 'stop', code: 6 });
  });
  test('one that is told to wait is waited for where nobody else has work', () => {
    const state = session({ fallback: ['second'], over: CALM }, 2);
    kinds(state, tries);
    further(state, [{ type: 'provider.parked', agent: 'played', until: NOON + 9_000, reason: '5h' }]);
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({ do: 'open' });
    further(state, [{ type: 'provider.parked', agent: 'second', until: NOON + 5_000, reason: '5h' }]);
    expect(decide(state, { now: NOON, live: new Set() })).toEqual({
      do: 'wait',
      until: NOON + 5_000,
      for: 'provider',
    });
  });
});

describe('the end of the ladder', () => {
  test('is a question that holds the task and names what was tried', () => {
    const state = session({ over: CALM });
    kinds(state, [LIES, LIES, LIES, LIES]);
    const step = decide(state, { now: NOON, live: new Set() });
    expect(step).toMatchObject({
      do: 'record',
      facts: [{ type: 'question.asked', question: { kind: 'blocker', about: 't1', hold: 'task' } }],
    });
    expect(JSON.stringify(step)).toContain(
      'every correction that applies was tried. Corrections chosen: remind (iteration 1), insist (iteration 2), diagnose (iteration 3). Last reason: No file',
    );
  });
  test('being stuck is said first, and names the open correction', () => {
    const state = session({ limits: { maxStuck: 3, maxTaskAttempts: 3 } });
    kinds(state, [LIES, LIES, LIES]);
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({
      code: 4,
      reason:
        'no progress in 3 iterations in a row (--max-stuck 3); open correction of t1: question (iteration 3: no_files_detected, false_completion_detected), after remind (iteration 1), insist (iteration 2)',
    });
    expect(openCorrection(state)?.task).toBe('t1');
  });
  test('a person who acts on the task starts its ladder anew; its sentences stay', () => {
    const state = session({ over: CALM });
    kinds(state, [LIES, LIES, LIES, LIES]);
    further(state, [
      asked('q1'),
      { type: 'question.answered', id: 'q1', text: 'try again', option: null, by: 'anna', via: 'message' },
    ]);
    expect(feedbackFor(state, itemOn('t1'), agentFor(state, itemOn('t1'), 0)).length).toBeGreaterThan(4);
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({ do: 'open' });
    expect(kinds(state, [LIES, LIES])).toEqual(['remind', 'insist']);
  });
  test('so it does after a tripped breaker: no old count, and the first agent again', () => {
    const state = session({ fallback: ['second'] }, 2);
    kinds(state, [LIES, LIES, LIES, LIES]);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('second');
    further(state, [
      { type: 'task.unblocked', task: 't1', by: 'anna', reason: '', grant: null, auto: false },
    ]);
    expect([agentFor(state, itemOn('t1'), 0), agentFor(state, itemOn('t2'), 0)]).toEqual([
      'played',
      'second',
    ]);
    expect(kinds(state, [LIES, LIES, LIES])).toEqual(['remind', 'other_agent', 'remind']);
  });
  test('an agent that asked is the one that hears the answer', () => {
    const state = session({ fallback: ['second'] });
    kinds(state, [LIES, LIES]);
    const answered: Fact = {
      type: 'question.answered',
      id: 'q1',
      text: 'left',
      option: null,
      by: 'anna',
      via: 'message',
    };
    further(state, [asked('q1', { askedBy: 'second' }), answered]);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('second');
    further(state, [asked('q2', { askedBy: 'engine' }), { ...answered, id: 'q2' }]);
    expect(agentFor(state, itemOn('t1'), 0)).toBe('played');
  });
  test('the loop that unblocks by itself goes on where the ladder stands', () => {
    const state = session({ over: CALM });
    kinds(state, [LIES, LIES]);
    const unblocked = { task: 't1', by: 'engine', reason: '', grant: null } as const;
    further(state, [{ type: 'task.unblocked', ...unblocked, auto: true }]);
    expect(kind(attempt(state, LIES))).toBe('diagnose');
    further(state, [{ type: 'task.unblocked', ...unblocked, by: 'anna', auto: false }]);
    expect(kind(attempt(state, LIES))).toBe('remind');
  });
});

describe('a second run', () => {
  const stopped = (code: number): Fact => ({ type: 'run.stopped', code, word: 'STUCK', reason: '' });
  const again = (state: State, change: PolicyChange = {}) =>
    further(state, [stopped(4), started({ ...change, limits: { maxStuck: 0, maxTaskAttempts: 20 } })]);

  test('goes on at the cheapest rung that was not tried yet, and asks when none is left', () => {
    const state = session();
    expect(kinds(state, [LIES, LIES, LIES])).toEqual(['remind', 'insist', 'question']);
    again(state);
    expect(kinds(state, [LIES, LIES])).toEqual(['diagnose', 'question']);
    expect(JSON.stringify(decide(state, { now: NOON, live: new Set() }))).toContain(
      'Corrections chosen: remind (iteration 1), insist (iteration 2), diagnose (iteration 4).',
    );
  });
  test('asks at once about a task that is out of attempts, and goes on with the others', () => {
    const limits = { maxTaskAttempts: 3, maxStuck: 3 };
    const state = session({ limits }, 2);
    kinds(state, [LIES, LIES, LIES]);
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({ do: 'stop', code: 4 });
    further(state, [stopped(4), started({ limits })]);
    const step = decide(state, { now: NOON, live: new Set() });
    expect(step).toMatchObject({
      facts: [{ type: 'question.asked', question: { about: 't1', hold: 'task' } }],
    });
    further(state, step.do === 'record' ? step.facts : []);
    const open = { do: 'open', items: [{ item: { task: 't2' } }] };
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject(open);
    further(state, [stopped(4), started({ limits: { ...limits, maxTaskAttempts: 9 } })]);
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject(open);
    further(state, [
      { type: 'task.unblocked', task: 't1', by: 'anna', reason: '', grant: null, auto: false },
    ]);
    expect(state.tasks.get('t1')).toMatchObject({ charged: 0 });
  });
  test('has more attempts where it allows more', () => {
    const state = session({ limits: { maxTaskAttempts: 3 } });
    kinds(state, [LIES, LIES, LIES]);
    further(state, [stopped(4), started({ limits: { maxTaskAttempts: 5 } })]);
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({ do: 'open' });
  });
  test('begins with an attempt, not with the question that the first run ended in', () => {
    const state = session();
    kinds(state, [LIES, LIES, LIES]);
    again(state);
    expect(decide(state, { now: NOON, live: new Set() })).toMatchObject({
      do: 'open',
      items: [{ item: { task: 't1' } }],
    });
  });
  test('goes on in the middle of the ladder, too', () => {
    const state = session({ over: CALM });
    expect(kinds(state, [LIES])).toEqual(['remind']);
    again(state, { interventions: { ...policyOf().interventions, ...CALM } });
    expect(kinds(state, [LIES, LIES, LIES])).toEqual(['insist', 'diagnose', 'question']);
  });
  test('names other agents: what they are told begins with the first rung, and none gets it twice', () => {
    const state = session({ over: CALM });
    kinds(state, [LIES, LIES, LIES, LIES]);
    again(state, { fallback: ['second'], interventions: { ...policyOf().interventions, ...CALM } });
    expect(kinds(state, [LIES, LIES])).toEqual(['other_agent', 'remind']);
  });
});

describe('what stands in the next prompt', () => {
  const words = (state: State, task = 't1') =>
    feedbackFor(state, itemOn(task), agentFor(state, itemOn(task), 0)).map(({ iteration }) => iteration);
  test('newest first, in each prompt of the task until it is accepted', () => {
    const state = session();
    kinds(state, [SILENT, SILENT]);
    expect(words(state)).toEqual([2, 1]);
    attempt(state, WORKS);
    expect(words(state)).toEqual([]);
  });
  test('the same words about another iteration stand once, the newest', () => {
    const state = session();
    const messy: Partial<Evidence> = { claim: NO_CLAIM, report: reportOf({ leftBehind: ['vite'] }) };
    kinds(state, [messy, messy, messy]);
    expect(words(state)).toEqual([3]);
  });
  test('the agent hears of it in its next prompt, whatever that is about, and only there', () => {
    const state = session({}, 3);
    attempt(state, SILENT);
    expect(words(state, 't2')).toEqual([1]);
    attempt(state, WORKS, { task: 't2' });
    expect(words(state, 't3')).toEqual([]);
    expect(words(state)).toEqual([1]);
  });
  test('a prompt whose agent died has told nobody', () => {
    const state = session({}, 3);
    attempt(state, SILENT);
    attempt(state, { ...NOTHING, report: reportOf({ ending: 'died' }) }, { task: 't2' });
    expect(words(state, 't2')).toEqual([1]);
  });
  test('it leaves after feedback_rotation_days of the journal’s time', () => {
    const DAY = 86_400_000;
    const state = session({ over: { feedbackRotationDays: 2 } });
    attempt(state, SILENT);
    attempt(state, SILENT, { at: NOON + 1.5 * DAY });
    expect(words(state)).toEqual([2, 1]);
    expect(standingFeedback(state).map(({ iteration }) => iteration)).toEqual([2, 1]);
    further(state, [{ type: 'notice.given', level: 'info', text: 'later' }], NOON + 3 * DAY);
    expect(words(state)).toEqual([2]);
    expect(standingFeedback(state).map(({ iteration }) => iteration)).toEqual([2]);
  });
  test('switched off at a later start, nothing old is said either', () => {
    const state = session();
    attempt(state, SILENT);
    further(state, [started({ interventions: { ...policyOf().interventions, enabled: false } })]);
    expect(words(state)).toEqual([]);
  });
});
