import { describe, expect, test } from 'vitest';
import { NO_CLAIM, type ResultObject } from './claim.ts';
import type { GateResult } from './evidence.ts';
import { judge } from './judge.ts';
import type { Evidence } from './judgement.ts';
import type { GateDef } from './policy.ts';
import { evidenceOf, reportOf } from './test-facts.ts';

const complete = evidenceOf().claim;
const kinds = (evidence: Partial<Evidence>) =>
  judge(evidenceOf(evidence)).findings.map((found) => found.kind);
const value = (evidence: Partial<Evidence>) => judge(evidenceOf(evidence)).value;
const nothing = { changed: [], standing: [] };
const result = (over: Partial<ResultObject>): ResultObject => ({
  status: 'completed',
  mode: null,
  taskId: null,
  summary: '',
  filesModified: [],
  blockers: [],
  question: null,
  evidence: [],
  verdict: null,
  criteriaResults: [],
  feedback: '',
  successCriteriaMet: null,
  ...over,
});

const def: GateDef = {
  name: 'test',
  run: 'npm test',
  timeoutS: 60,
  required: true,
  minTests: 0,
  baseline: 'no_regression',
};
const ran = (outcome: GateResult['outcome'], failures: string[] = []): GateResult => ({
  gate: 'test',
  run: 'npm test',
  tree: 't',
  outcome,
  exitCode: outcome === 'passed' ? 0 : 1,
  durationMs: 1,
  tests: null,
  failures,
  excerpt: 'output',
  output: null,
});
const gate = (
  after: GateResult,
  baseline: GateResult | null = ran('passed'),
  over: Partial<GateDef> = {},
) => ({
  gates: [{ def: { ...def, ...over }, after, baseline, onceGreen: false }],
});

describe('accepted', () => {
  test('by what earlier attempts left is said to be that, and no change of its own is made up', () => {
    const earlier = { attempts: [1, 3], paths: ['a.txt', 'b.txt', 'c.txt', 'd.txt'] };
    const silent = { ...complete, files: [] };
    const told = judge(evidenceOf({ ...gate(ran('passed')), changed: [], claim: silent, earlier }));
    expect(told.value).toBe('accepted');
    expect(told.reason).toBe(
      'claimed, and the work of attempts 1 and 3 (a.txt, b.txt, c.txt and 1 more) stands; this attempt itself changed nothing; every required gate holds',
    );
    expect(told.findings).toMatchObject([
      { kind: 'evidence_missing', detail: expect.stringContaining('This attempt itself changed nothing;') },
    ]);
  });
  test('needs a claim, a standing change, and every required gate', () => {
    expect(judge(evidenceOf(gate(ran('passed'))))).toMatchObject({ value: 'accepted', charged: false });
  });
  test('work of an earlier attempt that still stands counts', () => {
    expect(value({ changed: [] })).toBe('accepted');
  });
  test('a task that needs no change needs none', () => {
    expect(value({ ...nothing, needsNoChange: true })).toBe('accepted');
  });
  test('a silent agent that marked its own task has claimed it', () => {
    expect(value({ claim: NO_CLAIM, marked: ['t1'] })).toBe('accepted');
    expect(value({ claim: NO_CLAIM, marked: ['t2'] })).toBe('unfinished');
  });
  test('a timed-out attempt with a complete claim is judged like any other', () => {
    expect(value({ report: reportOf({ ending: 'timed_out', timeout: 'wall' }) })).toBe('accepted');
  });
  test('guidance that had not reached the agent makes it unfinished, uncharged', () => {
    expect(judge(evidenceOf({ undeliveredSteer: true }))).toMatchObject({
      value: 'unfinished',
      charged: false,
    });
  });
});

describe('unfinished, blocked, died', () => {
  test('a turn that ended with a question and nothing else waits: uncharged, and nothing is held against it', () => {
    const asking = { claim: NO_CLAIM, changed: [], standing: [], asked: true };
    expect(judge(evidenceOf(asking))).toMatchObject({ value: 'blocked', charged: false, findings: [] });
    expect(judge(evidenceOf({ ...asking, asked: false }))).toMatchObject({
      value: 'rejected',
      charged: true,
    });
    const tampered = { path: 'a', what: 'protected_changed' as const, detail: 'd', keptAs: null };
    expect(value({ ...asking, trespass: [tampered] })).toBe('rejected');
    expect(value({ ...asking, report: reportOf({ ending: 'timed_out', timeout: 'wall' }) })).toBe('rejected');
  });
  test('a question beside a complete claim without work does not save the claim', () => {
    expect(value({ changed: [], standing: [], asked: true })).toBe('rejected');
  });
  test('a real change without a claim is unfinished and uncharged', () => {
    expect(judge(evidenceOf({ claim: NO_CLAIM }))).toMatchObject({ value: 'unfinished', charged: false });
  });
  test.each(['blocked', 'decide'] as const)('a %s claim is blocked and uncharged', (kind) => {
    const claim = { ...NO_CLAIM, kind, text: 'no key' };
    expect(judge(evidenceOf({ claim, ...nothing }))).toMatchObject({ value: 'blocked', charged: false });
  });
  test('a crash is died, never tried', () => {
    const report = reportOf({ ending: 'died', exitCode: 1 });
    expect(judge(evidenceOf({ report }))).toMatchObject({ value: 'died', charged: false });
  });
  test('tiny output, no tool call, no change and no claim is an idle run, and died', () => {
    const report = reportOf({ toolCalls: 0, finalMessage: 'Hello!' });
    expect(value({ report, claim: NO_CLAIM, ...nothing })).toBe('died');
    expect(kinds({ report, claim: NO_CLAIM, ...nothing })).toContain('idle_run');
    expect(value({ report: reportOf({ toolCalls: null }), claim: NO_CLAIM, ...nothing })).toBe('rejected');
  });
});

describe('rejected', () => {
  test('no claim and no change: no_files_detected, charged', () => {
    const judgement = judge(evidenceOf({ claim: NO_CLAIM, ...nothing }));
    expect(judgement).toMatchObject({ value: 'rejected', charged: true });
    expect(judgement.findings.map((found) => found.kind)).toEqual(['no_files_detected']);
  });
  describe('work left uncommitted in a repository inside this one', () => {
    const lib = { path: 'lib', submodule: true, files: ['y.txt'] };
    const inside = (over: Partial<Evidence> = {}) => judge(evidenceOf({ ...nothing, inner: [lib], ...over }));

    test('is no false completion: it is unfinished, and where it has to be committed is named', () => {
      const { value, findings, charged, reason } = inside();
      expect({ value, charged, reason }).toEqual({
        value: 'unfinished',
        charged: false,
        reason: 'the work lies in lib and is not committed there',
      });
      expect(findings.map(({ kind }) => kind)).not.toContain('false_completion_detected');
      expect(findings.map(({ kind }) => kind)).not.toContain('no_files_detected');
      expect(findings.find(({ kind }) => kind === 'uncommitted_inside')?.detail).toMatch(
        /not committed in the submodule lib: y\.txt/,
      );
    });
    test('without a claim it is work, too', () => {
      expect(inside({ claim: NO_CLAIM })).toMatchObject({ value: 'unfinished' });
    });
    test('a repository that is no submodule can be held by no commit, and that is said', () => {
      const { findings } = inside({ inner: [{ ...lib, submodule: false }] });
      expect(findings.map(({ detail }) => detail).join()).toMatch(
        /lib, a repository of its own that is no submodule/,
      );
    });
    test('beside other work it is told and keeps nothing from being accepted', () => {
      const { value, findings } = judge(evidenceOf({ inner: [lib] }));
      expect([value, findings.map(({ kind }) => kind)]).toEqual([
        'accepted',
        expect.arrayContaining(['uncommitted_inside']),
      ]);
    });
    test('beside other work it keeps the task open where the claim names it', () => {
      const file = { path: 'lib/y.txt', from: ['result' as const], lines: null, status: 'ignored' as const };
      const receipt = {
        files: [{ ...file, held: false, wrong: false, why: 'w' }],
        commands: [],
        criteria: [],
        more: 0,
      };
      expect(judge(evidenceOf({ inner: [lib], receipt })).value).toBe('unfinished');
    });
  });

  test('only task files, notes or logs: bookkeeping_only', () => {
    expect(kinds({ claim: NO_CLAIM, ...nothing, bookkeeping: true })).toEqual(['bookkeeping_only']);
  });
  test('complete without a change of its own: a false completion', () => {
    expect(value(nothing)).toBe('rejected');
    expect(kinds(nothing)).toEqual(['no_files_detected', 'false_completion_detected']);
  });
  test('a claimed file that is not there', () => {
    const file = { path: 'b.txt', from: ['prose' as const], lines: null, status: 'absent' as const };
    const wrong = { ...file, held: false, wrong: true, why: 'there is no such file' };
    const receipt = { files: [wrong], commands: [], criteria: [], more: 0 };
    const { value, findings } = judge(evidenceOf({ receipt }));
    expect(value).toBe('accepted');
    expect(findings).toEqual([
      {
        kind: 'evidence_validation_failed',
        detail: 'Claimed, and not so: b.txt (there is no such file).',
        about: ['file'],
      },
    ]);
  });
  test('complete without any evidence is asked for it and not rejected', () => {
    const claim = { ...complete, files: [] };
    expect(value({ claim })).toBe('accepted');
    expect(kinds({ claim })).toEqual(['evidence_missing']);
  });
  test('a result "failed" is charged', () => {
    const claim = { ...NO_CLAIM, kind: 'failed' as const };
    expect(judge(evidenceOf({ claim }))).toMatchObject({ value: 'rejected', charged: true });
  });
  test('out of time without a claim is charged, its work kept', () => {
    const report = reportOf({ ending: 'timed_out', timeout: 'idle' });
    expect(judge(evidenceOf({ claim: NO_CLAIM, report }))).toMatchObject({
      value: 'rejected',
      charged: true,
    });
    expect(kinds({ claim: NO_CLAIM, report })).toEqual(['timed_out']);
  });
  test.each(['protected_changed', 'illegal_task_change'] as const)('%s keeps the task open', (what) => {
    const trespass = [{ path: 'p', what, detail: 'put back', keptAs: null }];
    expect(value({ trespass })).toBe('rejected');
    expect(kinds({ trespass })).toContain(what);
  });
  test('a denied gate command voids the claim', () => {
    expect(value({ deniedGate: 'npm test' })).toBe('rejected');
  });
  test('what a limit ended is never charged and not told that it did nothing', () => {
    const report = reportOf({ ending: 'interrupted' });
    const judgement = judge(evidenceOf({ report, stoppedFor: 'limit', claim: NO_CLAIM, ...nothing }));
    expect(judgement).toMatchObject({ value: 'rejected', charged: false, findings: [] });
    const review = judge(
      evidenceOf({ mode: 'TASK_REVIEW', report, stoppedFor: 'limit', claim: NO_CLAIM, ...nothing }),
    );
    expect(review).toMatchObject({ value: 'rejected', charged: false });
  });
});

describe('gates', () => {
  test.each([
    ['a missing tool', ran('unavailable'), null, 'gate_unavailable'],
    ['no test was run', ran('empty'), null, 'gate_empty'],
    ['a failure without a baseline', ran('failed', ['x']), null, 'gate_failed'],
    ['a failure that was not there before', ran('failed', ['x']), ran('passed'), 'gate_regressed'],
    ['a new failure beside an old one', ran('failed', ['x', 'y']), ran('failed', ['x']), 'gate_regressed'],
    ['out of time', ran('timed_out'), ran('passed'), 'gate_regressed'],
  ])('%s rejects', (_says, after, baseline, kind) => {
    expect(kinds(gate(after, baseline))).toContain(kind);
    expect(value(gate(after, baseline))).toBe('rejected');
    expect(value({ ...gate(after, baseline), claim: NO_CLAIM })).toBe('rejected');
  });
  test('the same failure as before is accepted with a warning', () => {
    const same = gate(ran('failed', ['x']), ran('failed', ['x']));
    expect(value(same)).toBe('accepted');
    expect(kinds(same)).toEqual(['gate_red_before']);
  });
  test('a gate that never ended, neither before nor after, proves nothing', () => {
    const never = gate(ran('timed_out'), ran('timed_out'));
    expect(value(never)).toBe('rejected');
    expect(kinds(never)).toContain('gate_failed');
    expect(judge(evidenceOf(never)).reason).toMatch(/proves nothing until it ends \(`timeout_s`/);
    expect(value(gate(ran('timed_out'), ran('timed_out'), { required: false }))).toBe('accepted');
  });
  test('unless it must pass, or was green once', () => {
    const must = gate(ran('failed', ['x']), ran('failed', ['x']), { baseline: 'must_pass' });
    expect(kinds(must)).toContain('gate_failed');
    const once = gate(ran('failed', ['x']), ran('failed', ['x']));
    once.gates[0]!.onceGreen = true;
    expect(kinds(once)).toContain('gate_regressed');
  });
  test('a gate that is not required only tells', () => {
    expect(value(gate(ran('failed', ['x']), ran('passed'), { required: false }))).toBe('accepted');
  });
});

describe('findings that stand beside any value', () => {
  test.each(['prompt_echo', 'forged_claim', 'asked_and_notified', 'unlisted_topic'] as const)(
    '%s',
    (mark) => {
      expect(kinds({ claim: { ...complete, marks: [mark] } })).toContain(mark);
      expect(value({ claim: { ...complete, marks: [mark] } })).toBe('accepted');
    },
  );
  test('background_left, oscillation, history_rewritten, extra_completion', () => {
    expect(kinds({ report: reportOf({ leftBehind: ['node server.js'] }) })).toEqual(['background_left']);
    expect(kinds({ oscillates: true })).toEqual(['oscillation']);
    expect(kinds({ historyRewritten: true })).toContain('history_rewritten');
    expect(value({ historyRewritten: true })).toBe('rejected');
    expect(kinds({ marked: ['t1', 't2'] })).toEqual(['extra_completion']);
  });
  test('a complete claim about another task claims nothing here', () => {
    const claim = { ...complete, result: result({ taskId: 't9' }) };
    expect(value({ claim })).toBe('unfinished');
    expect(kinds({ claim })).toEqual(['extra_completion']);
  });
});

describe('reviews', () => {
  const says = (over: Partial<ResultObject>, rest: Partial<Evidence> = {}) =>
    judge(
      evidenceOf({
        mode: 'TASK_REVIEW',
        ...nothing,
        claim: { ...complete, files: [], result: result(over) },
        ...rest,
      }),
    );
  const met = [{ criterion: 'works', met: true, note: '' }];
  test('a verdict of either kind is an accepted review', () => {
    expect(says({ verdict: 'Qualified', criteriaResults: met })).toMatchObject({
      value: 'accepted',
      findings: [],
      review: { verdict: 'Qualified' },
    });
    expect(says({ verdict: 'Failed', feedback: 'no' })).toMatchObject({
      value: 'accepted',
      review: { verdict: 'Failed', feedback: 'no' },
    });
  });
  test('without a verdict the review itself is rejected', () => {
    const judgement = says({});
    expect(judgement).toMatchObject({ value: 'rejected', charged: true, review: null });
    expect(judgement.findings.map((found) => found.kind)).toEqual(['no_verdict']);
  });
  test('an unmet criterion, or a Failed in the task file, outweighs Qualified', () => {
    const unmet = [{ criterion: 'works', met: false, note: 'crashes' }];
    expect(says({ verdict: 'Qualified', criteriaResults: unmet }).review).toEqual({
      verdict: 'Failed',
      feedback: 'works: crashes',
    });
    const review = { verdict: 'Failed' as const, feedback: 'file says no' };
    expect(says({ verdict: 'Qualified', criteriaResults: met }, { review }).review).toEqual(review);
  });
  test('Qualified without a result per criterion is a rubber stamp', () => {
    const judgement = says({ verdict: 'Qualified' }, { hasCriteria: true });
    expect(judgement.findings.map((found) => found.kind)).toEqual(['rubber_stamp']);
  });
  test('the file alone may carry the verdict', () => {
    const review = { verdict: 'Qualified' as const, feedback: '' };
    const judgement = judge(
      evidenceOf({ mode: 'TASK_REVIEW', ...nothing, claim: NO_CLAIM, marked: ['t1'], review }),
    );
    expect(judgement.review?.verdict).toBe('Qualified');
  });
});
