import { describe, expect, it } from 'vitest';
import { FINDING_KINDS, type InterventionKind } from '../finding.ts';
import { sentenceFor } from './sentence.ts';

const KINDS: InterventionKind[] = ['remind', 'insist', 'more_time', 'diagnose', 'other_agent'];

describe('a correction', () => {
  it.each(FINDING_KINDS)('for %s names iteration, task and what counts as evidence, in one line', (kind) => {
    const said = new Set<string>();
    for (const intervention of KINDS) {
      const sentence = sentenceFor({ kind, detail: 'npm test failed\n3 tests' }, intervention, 12, 'task-3');
      expect(sentence.toLowerCase()).toContain('iteration 12, on task task-3, ');
      expect(sentence).toContain('Evidence that counts: ');
      expect(sentence).toContain('Seen: npm test failed 3 tests.');
      expect(sentence).not.toMatch(/\n|<promise>|EXIT_SIGNAL/);
      said.add(sentence);
    }
    expect(said.size).toBe(KINDS.length);
  });

  it('insisting is louder than reminding', () => {
    const finding = { kind: 'no_files_detected' as const, detail: '' };
    expect(sentenceFor(finding, 'remind', 2, 'E1-02')).not.toContain('MUST');
    expect(sentenceFor(finding, 'insist', 2, 'E1-02')).toMatch(
      /^\*\*CRITICAL\*\*: In iteration 2, on task E1-02, .* MUST /,
    );
  });

  it('a question speaks to a person and changes no prompt', () => {
    expect(sentenceFor({ kind: 'gate_failed', detail: 'x' }, 'question', 1, 't')).toBe('');
  });

  it('work on the session names no task', () => {
    expect(sentenceFor({ kind: 'no_verdict', detail: '' }, 'remind', 1, 'session')).toMatch(
      /^In iteration 1, a review/,
    );
  });
});
