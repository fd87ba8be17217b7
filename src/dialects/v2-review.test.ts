import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReview, writeMinimalReview } from './index.ts';

describe('review.md', () => {
  it.each([
    ['## Assessment\nComplete', 'Complete'],
    ['## Assessment: Complete', 'Complete'],
    ['**Overall Assessment:** ✅ Complete', 'Complete'],
    ['- **Assessment**: Gaps Identified', 'Gaps Identified'],
    ['### 5. Final Assessment\n\n**Gaps Identified**', 'Gaps Identified'],
    ['## Assessment\n- [x] Complete\n- [ ] Gaps Identified', 'Complete'],
    ['| Assessment | Complete |', 'Complete'],
    ['Verdict: Complete, no gaps identified', 'Complete'],
    ['Assessment: Incomplete', 'Gaps Identified'],
    ['Assessment: Not complete', 'Gaps Identified'],
    ['---\nassessment: Complete\n---\n# Review', 'Complete'],
    ['Assessment: Complete | Gaps Identified\n\nAssessment: Complete', 'Complete'],
    ['Assessment: Complete | Gaps Identified', null],
    ['## Assessment\n- [ ] Complete\n- [ ] Gaps Identified', null],
    ['The work is complete.', null],
    ['```\nsee below\n```\n', null],
    ['', null],
  ])('says in %j how it stands', (text, expected) => {
    expect(readReview(text).assessment).toBe(expected);
    expect(readReview(`\ufeff${text.replaceAll('\n', '\r\n')}`).assessment).toBe(expected);
  });

  it('names the gaps', () => {
    const text = `# Review
Assessment: Gaps Identified

## Gaps Identified
1. No test of the **parser**,
   nor of the store
2. No docs
   - of the flags

## Next
- Feedback
`;
    expect(readReview(text)).toEqual({
      assessment: 'Gaps Identified',
      gaps: ['No test of the **parser**, nor of the store', 'No docs'],
    });
    expect(readReview('## Gaps\n### Gap 1: No docs\nThere are none.').gaps).toEqual(['Gap 1: No docs']);
    expect(readReview('## Gaps\nThe docs are missing.').gaps).toEqual(['The docs are missing.']);
  });

  it.each(['- None', 'None.', 'No gaps identified.', '- [x] docs', '- N/A', ''])('%j is no gap', (line) => {
    expect(readReview(`Assessment: Complete\n## Gaps\n${line}\n`)).toEqual({
      assessment: 'Complete',
      gaps: [],
    });
  });

  it('complete with a gap is not complete', () => {
    expect(readReview('Assessment: Complete\n## Gaps\n- No docs').assessment).toBe('Gaps Identified');
  });

  it('never throws', () => {
    const bits = [
      '# Review',
      '## Assessment',
      'Complete',
      'Gaps Identified',
      '## Gaps',
      '- x',
      '```',
      '<!--',
      '---',
      '| a |',
    ];
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...bits), { maxLength: 20 }).map((lines) => lines.join('\n')),
    );
    fc.assert(
      fc.property(text, (review) => {
        const { assessment, gaps } = readReview(review);
        expect(assessment === 'Complete' && gaps.length > 0).toBe(false);
      }),
    );
  });
});

describe('a review that code writes', () => {
  const facts = {
    cycle: 1,
    at: 0,
    reason: 'the reviewer gave none in three calls.',
    tasks: [{ id: 'task-1', title: 'Build it', outcome: 'failed' }],
    gaps: [] as string[],
  };

  it('has the form of one', () => {
    expect(writeMinimalReview({ ...facts, gaps: ['task-1 failed'] })).toBe(`---
iteration: 1
assessment: Gaps Identified
created_at: 1970-01-01T00:00:00Z
---

# Session Review (Iteration 1)

Written by the engine: the reviewer gave none in three calls.

## Assessment
Gaps Identified

## Tasks
- task-1, Build it: failed

## Gaps
- task-1 failed
`);
  });

  it('reads back as it was meant', () => {
    const gap = fc.stringMatching(/^[B-M][a-z]{4,9}( [a-z]{1,6}){0,3}$/);
    fc.assert(
      fc.property(fc.uniqueArray(gap, { maxLength: 4 }), (gaps) => {
        expect(readReview(writeMinimalReview({ ...facts, gaps }))).toEqual({
          assessment: gaps.length === 0 ? 'Complete' : 'Gaps Identified',
          gaps,
        });
      }),
    );
  });
});
