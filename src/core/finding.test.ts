/** Detection: given these facts of an attempt, when it is judged, then this finding, with its event. */
import { describe, expect, test } from 'vitest';
import { NO_CLAIM } from './claim.ts';
import type { GateResult } from './evidence.ts';
import { FINDING_KINDS, FINDINGS, type FindingKind } from './finding.ts';
import { judge } from './judge.ts';
import type { Evidence } from './judgement.ts';
import { MODE_NAMES, MODES } from './role.ts';
import { evidenceOf, reportOf } from './test-facts.ts';

const NOTHING: Partial<Evidence> = { changed: [], standing: [] };
const complete = evidenceOf().claim;
const ran = (outcome: GateResult['outcome'], tests: number | null = null): GateResult => ({
  gate: 'test',
  run: 'npm test',
  tree: 't',
  outcome,
  exitCode: 1,
  durationMs: 1,
  tests,
  failures: outcome === 'failed' ? ['adds'] : [],
  excerpt: '',
  output: null,
});
const gate = (after: GateResult, baseline: GateResult | null): Partial<Evidence> => ({
  gates: [
    {
      def: {
        name: 'test',
        run: 'npm test',
        timeoutS: 60,
        required: true,
        minTests: 0,
        baseline: 'no_regression',
      },
      after,
      baseline,
      onceGreen: false,
    },
  ],
});
const trespass = (what: 'protected_changed' | 'role_violation' | 'illegal_task_change', path = 'p') => ({
  trespass: [{ path, what, detail: `${path} was put back`, keptAs: null }],
});
const marked = (mark: 'prompt_echo' | 'forged_claim' | 'asked_and_notified' | 'unlisted_topic') => ({
  claim: { ...complete, marks: [mark, mark] },
});
const review: Partial<Evidence> = { mode: 'TASK_REVIEW', ...NOTHING };

const LIB = { path: 'lib', submodule: true, files: ['y.txt'] };

/** Kind → what happened, and the event that other tools read. */
const CASES: Record<FindingKind, [Partial<Evidence> | null, string, string]> = {
  no_files_detected: [{ ...NOTHING, claim: NO_CLAIM }, 'no_files_detected', 'critical'],
  bookkeeping_only: [{ ...NOTHING, claim: NO_CLAIM, bookkeeping: true }, 'no_files_detected', 'warning'],
  // What is claimed and not so is the receipt's matter, with its own tests.
  evidence_validation_failed: [null, 'evidence_validation_failed', 'warning'],
  evidence_missing: [{ claim: { ...complete, files: [] } }, 'evidence_validation_failed', 'info'],
  false_completion_detected: [NOTHING, 'false_completion_detected', 'critical'],
  gate_failed: [gate(ran('failed'), null), 'gate_failed', 'warning'],
  gate_unavailable: [gate(ran('unavailable'), null), 'gate_unavailable', 'warning'],
  gate_empty: [gate(ran('empty'), null), 'gate_empty', 'warning'],
  gate_regressed: [gate(ran('failed'), ran('passed')), 'gate_regressed', 'warning'],
  gate_red_before: [gate(ran('failed'), ran('failed')), 'gate_red_before', 'warning'],
  protected_changed: [trespass('protected_changed'), 'protected_changed', 'critical'],
  role_violation: [trespass('role_violation'), 'role_violation', 'warning'],
  illegal_task_change: [trespass('illegal_task_change'), 'illegal_task_change', 'critical'],
  forged_claim: [marked('forged_claim'), 'forged_claim', 'critical'],
  rubber_stamp: [
    { ...review, hasCriteria: true, review: { verdict: 'Qualified', feedback: '' } },
    'rubber_stamp',
    'warning',
  ],
  asked_and_notified: [marked('asked_and_notified'), 'asked_and_notified', 'info'],
  oscillation: [{ oscillates: true }, 'oscillation', 'warning'],
  denied_gate: [{ deniedGate: 'npm test' }, 'denied_gate', 'critical'],
  permission_refused: [
    { refused: ['`git push`: the rule "git push*" says deny'] },
    'permission_refused',
    'warning',
  ],
  background_left: [{ report: reportOf({ leftBehind: ['vite'] }) }, 'background_left', 'info'],
  uncommitted_inside: [{ ...NOTHING, inner: [LIB] }, 'evidence_validation_failed', 'warning'],
  prompt_echo: [marked('prompt_echo'), 'prompt_echo', 'warning'],
  unlisted_topic: [marked('unlisted_topic'), 'unlisted_topic', 'info'],
  extra_completion: [{ marked: ['t1', 't2'] }, 'extra_completion', 'info'],
  idle_run: [{ ...NOTHING, claim: NO_CLAIM, report: reportOf({ toolCalls: 0 }) }, 'idle_run', 'critical'],
  timed_out: [{ report: reportOf({ ending: 'timed_out', timeout: 'wall' }) }, 'timed_out', 'warning'],
  undelivered_steer: [{ undeliveredSteer: true }, 'undelivered_steer', 'info'],
  no_verdict: [{ ...review, claim: NO_CLAIM }, 'no_verdict', 'warning'],
  history_rewritten: [{ historyRewritten: true }, 'history_rewritten', 'critical'],
  branch_moved: [
    { trespass: [{ path: 'refs/heads/other', what: 'branch_moved', detail: 'Moved.', keptAs: null }] },
    'branch_moved',
    'critical',
  ],
  branch_changed: [{ branchChanged: 'main to other' }, 'branch_changed', 'warning'],
  tests_dropped: [gate(ran('passed', 3), ran('passed', 5)), 'tests_dropped', 'warning'],
};

const found = (over: Partial<Evidence>) => judge(evidenceOf(over)).findings;
const kinds = (over: Partial<Evidence>) => found(over).map(({ kind }) => kind);

describe('each finding', () => {
  test.each(FINDING_KINDS)('%s', (kind) => {
    const [over, eventType, severity] = CASES[kind];
    expect(FINDINGS[kind]).toEqual({ eventType, severity });
    if (over === null) return;
    expect(kinds(over).filter((one) => one === kind)).toEqual([kind]);
    // Ordinary work shows none of them.
    expect(kinds({})).toEqual([]);
  });
  test('stands once in an iteration, with everything it was found in', () => {
    const paths = ['a', 'b', 'c', 'd', 'e', 'f', 'a'];
    const all = paths.flatMap((path) => trespass('protected_changed', path).trespass);
    expect(found({ trespass: all })).toMatchObject([
      {
        kind: 'protected_changed',
        detail:
          'a was put back · b was put back · c was put back · d was put back · e was put back · and 1 more',
      },
      { kind: 'false_completion_detected' },
    ]);
  });
  test('two gates are two findings', () => {
    const [one] = gate(ran('failed'), null).gates!;
    const two = { ...one!, def: { ...one!.def, name: 'lint', run: 'npm run lint' } };
    expect(found({ gates: [one!, two] }).map(({ gate }) => gate)).toEqual(['test', 'lint', undefined]);
  });
});

describe('only where the mode’s contract calls for it', () => {
  const idleModes = MODE_NAMES.filter((mode) => MODES[mode].owes !== 'code');
  test.each(idleModes)('%s changes no file and is no liar', (mode) => {
    expect(kinds({ mode, ...NOTHING })).not.toContain('no_files_detected');
    expect(kinds({ mode, ...NOTHING })).not.toContain('false_completion_detected');
    expect(kinds({ mode, ...NOTHING, claim: NO_CLAIM })).not.toContain('no_files_detected');
  });
  test('nor is a task that needs no change, work that stands from before, a failure that is told, or an interruption', () => {
    expect(kinds({ ...NOTHING, needsNoChange: true })).toEqual([]);
    expect(kinds({ changed: [] })).toEqual([]);
    expect(kinds({ ...NOTHING, claim: { ...NO_CLAIM, kind: 'failed' } })).toEqual([]);
    const ended = reportOf({ ending: 'interrupted' });
    expect(kinds({ ...NOTHING, claim: NO_CLAIM, report: ended, stoppedFor: 'limit' })).toEqual([]);
  });
  test('whoever claims another task and changes nothing has changed nothing', () => {
    expect(kinds({ ...NOTHING, claim: NO_CLAIM, marked: ['t2'] })).toEqual([
      'extra_completion',
      'no_files_detected',
    ]);
    expect(kinds({ ...NOTHING, task: 't2', claim: complete, marked: ['t1'] })).toContain('no_files_detected');
  });
});
