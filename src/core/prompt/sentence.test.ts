import { describe, expect, it } from 'vitest';
import { FINDING_KINDS, type InterventionKind } from '../finding.ts';
import { sentenceFor } from './sentence.ts';

const KINDS: InterventionKind[] = ['remind', 'insist', 'more_time', 'diagnose', 'other_agent', 'question'];

describe('a correction', () => {
  it.each(FINDING_KINDS)('for %s names iteration, task and what counts as evidence, in one line', (kind) => {
    const said = new Set<string>();
    const finding = { kind, detail: 'npm test failed\n3 tests' };
    for (const intervention of KINDS) {
      for (const tooOften of [undefined, 'changed no file in 3 of your last 5 iterations']) {
        const sentence = sentenceFor(finding, {
          kind: intervention,
          iteration: 12,
          task: 'task-3',
          tooOften,
        });
        expect(sentence.toLowerCase()).toContain('iteration 12, on task task-3, ');
        expect(sentence).toContain('Evidence that counts: ');
        expect(sentence).toContain('Seen: npm test failed 3 tests.');
        expect(sentence).not.toMatch(/\n|<promise>|EXIT_SIGNAL/);
        said.add(sentence.replaceAll('**CRITICAL**: ', ''));
      }
    }
    // A tripped circuit breaker changes what is demanded only where the same agent goes on.
    expect(said.size).toBe(KINDS.length + 1);
  });

  it('insisting is louder than reminding, and aggressive wording says how often', () => {
    const finding = { kind: 'no_files_detected' as const, detail: '' };
    const at = { iteration: 2, task: 'E1-02' };
    expect(sentenceFor(finding, { kind: 'remind', ...at })).not.toContain('MUST');
    expect(sentenceFor(finding, { kind: 'insist', ...at })).toMatch(
      /^\*\*CRITICAL\*\*: In iteration 2, on task E1-02, .* MUST /,
    );
    const tooOften = 'changed no file in 3 of your last 5 iterations';
    expect(sentenceFor(finding, { kind: 'insist', ...at, tooOften })).toContain(`You have ${tooOften};`);
  });

  it('names the new limit after a timeout', () => {
    const time = { beforeS: 360, afterS: 540 };
    const at = { iteration: 1, task: 't', time };
    const late = { kind: 'timed_out' as const, detail: '' };
    expect(sentenceFor(late, { kind: 'more_time', ...at })).toContain('raised from 360 s to 540 s');
    expect(sentenceFor(late, { kind: 'remind', ...at })).toContain('raised from 360 s to 540 s');
    const other = { kind: 'gate_failed' as const, detail: '' };
    expect(sentenceFor(other, { kind: 'remind', ...at })).not.toContain('raised');
  });

  it('false evidence is worded by what it was about', () => {
    const at = { kind: 'remind' as const, iteration: 1, task: 't' };
    const said = (...about: ('file' | 'lines' | 'command' | 'commit')[]) =>
      sentenceFor({ kind: 'evidence_validation_failed', detail: '', about }, at);
    expect(said('file')).toContain('named files that do not exist');
    expect(said()).toBe(said('file'));
    expect(said('command')).toContain('gave results of commands');
    for (const other of ['lines', 'command', 'commit'] as const)
      expect(said(other)).not.toContain('files that do not exist');
    expect(said('file', 'commit')).toMatch(/named files .*, and the report named commits/);
  });

  it('work on the session names no task', () => {
    const at = { iteration: 1, task: 'session' };
    expect(sentenceFor({ kind: 'no_verdict', detail: '' }, { kind: 'remind', ...at })).toMatch(
      /^In iteration 1, a review/,
    );
  });
});
