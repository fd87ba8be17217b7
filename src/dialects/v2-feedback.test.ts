import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { feedbackTemplate, qualifyIssues, readFeedback } from './index.ts';

const STAMP = '2026-02-08T14:30:00Z';
const at = Date.parse(STAMP);
const BATCH = `---
iteration: 2
timestamp: ${STAMP}
previous_iteration: 1
---

# Feedback Batch: ${STAMP}

## Critical Issues
- [ ] **ISS-001**: It crashes on empty input
  - Evidence: app.log, lines 45-61
  - Suggested Fix: check the length

    \`\`\`ts
    # not a heading
    \`\`\`
- [ ] **ISS-002**: It is slow

## Quality Issues
- [ ] **Q-001**: Names are odd

## New Requirements
- Read from stdin

## Artifacts Index
| File | Description |
|------|-------------|
| app.log | Server logs of Monday |
| gone.png | A picture |
`;
const folder = 'iterations/2/feedbacks/20260208-143000';

describe('a batch of feedback', () => {
  it('is read with all it says', () => {
    expect(readFeedback(folder, BATCH, ['app.log', 'big.bin'])).toEqual({
      cycle: 2,
      at,
      issues: [
        {
          id: 'ISS-001',
          kind: 'critical',
          text: 'It crashes on empty input\n- Evidence: app.log, lines 45-61\n- Suggested Fix: check the length\n\n  ```ts\n  # not a heading\n  ```',
        },
        { id: 'ISS-002', kind: 'critical', text: 'It is slow' },
        { id: 'Q-001', kind: 'quality', text: 'Names are odd' },
        { id: 'REQ-001', kind: 'requirement', text: 'Read from stdin' },
      ],
      artifacts: [
        { file: 'app.log', description: 'Server logs of Monday', present: true },
        { file: 'gone.png', description: 'A picture', present: false },
        { file: 'big.bin', description: '', present: true },
      ],
      untouched: false,
      warnings: ['20260208-143000: gone.png is in its index and does not lie beside it'],
    });
  });

  it('reads the same with CRLF, a BOM and other bullets', () => {
    const expected = readFeedback(folder, BATCH, []).issues;
    expect(readFeedback(folder, `\ufeff${BATCH.replaceAll('\n', '\r\n')}`, []).issues).toEqual(expected);
    expect(readFeedback(folder, BATCH.replaceAll('- [ ] **', '* **'), []).issues).toEqual(expected);
    expect(readFeedback(folder, BATCH.replaceAll('- [ ] **ISS-00', '1. ISS-00'), []).issues[1]).toEqual(
      expected[1],
    );
  });

  it('headings are issues as well', () => {
    const text = `## Critical Issues

### ISS-003: It crashes
Since Monday.

#### Evidence
- the log

### [ISS-004] It is slow

## Quality issues
### The names
are odd
`;
    expect(readFeedback('x', text, []).issues).toEqual([
      { id: 'ISS-003', kind: 'critical', text: 'It crashes\nSince Monday.\n\n#### Evidence\n- the log' },
      { id: 'ISS-004', kind: 'critical', text: 'It is slow' },
      { id: 'Q-001', kind: 'quality', text: 'The names\nare odd' },
    ]);
  });

  it.each([
    ['as the form is made', feedbackTemplate(2, STAMP)],
    [
      'as the form of old shows it',
      BATCH.replace(
        /## Critical[\s\S]*/,
        '## Critical Issues\n- [ ] **ISS-001**: Description\n  - Evidence: app.log, lines 45-60\n  - Suggested Fix: ...\n\n## New Requirements\n- Feature X\n\n## Artifacts Index\n| File | Description |\n|--|--|\n| app.log | Server logs |\n',
      ),
    ],
    [
      'with hints in comments',
      '# Feedback Batch\n\n<!-- write\n- [ ] here -->\n\n## Critical Issues\n- [ ] \n',
    ],
  ])('in which nobody has written is no feedback: %s', (_what, text) => {
    const { untouched, issues, warnings } = readFeedback('b', text, ['a.png']);
    expect([untouched, issues]).toEqual([true, []]);
    expect(warnings).toEqual(['b: nobody has written anything into the form, so it is no feedback']);
  });

  it('that is empty says so', () => {
    expect(readFeedback('b', '\n', [])).toMatchObject({
      untouched: true,
      warnings: ['b: feedbacks.md is empty, so it is no feedback'],
    });
  });

  it('a form of which one line is filled in has one issue', () => {
    const text = feedbackTemplate(2, STAMP).replace('**Q-001**: Description', '**Q-001**: Names are odd');
    expect(readFeedback('b', text, []).issues).toEqual([
      { id: 'Q-001', kind: 'quality', text: 'Names are odd' },
    ]);
  });

  it('loses nothing that stands elsewhere', () => {
    const { issues, warnings } = readFeedback(
      'b',
      'The button is too small.\n\n# Remarks\n- Nice work\n',
      [],
    );
    expect(issues).toEqual([
      { id: 'REQ-001', kind: 'requirement', text: 'The button is too small.' },
      { id: 'REQ-002', kind: 'requirement', text: 'Remarks\n- Nice work' },
    ]);
    expect(warnings).toEqual([
      'b: what stands under no heading is taken as a requirement',
      'b: "Remarks" is taken as a requirement',
    ]);
    expect(readFeedback('b', '## Critical Issues\nIt crashes.\nOften.\n', []).issues[0]!.text).toBe(
      'It crashes.\nOften.',
    );
  });

  it('an id that stands twice names one issue', () => {
    const text = '## Critical Issues\n- ISS-001: a\n- ISS-001: b\n- c\n';
    expect(readFeedback('b', text, []).issues.map(({ id }) => id)).toEqual(['ISS-001', 'ISS-002', 'ISS-003']);
  });

  it('belongs to the cycle of its folder, and to the time it tells', () => {
    const other = readFeedback('iterations/3/feedbacks/mine/', BATCH, ['app.log', 'gone.png']);
    expect(other).toMatchObject({ cycle: 3, at });
    expect(other.warnings).toEqual([
      "mine: its front matter says iteration 2; the folder counts, which is 3's",
    ]);
    expect(readFeedback('mine', BATCH, []).cycle).toBe(2);
    expect(readFeedback('20260208-143000', 'Words', []).at).toBe(at);
    expect(readFeedback('mine', 'Words', [])).toMatchObject({ cycle: null, at: null });
    expect(readFeedback('mine', BATCH.replace(STAMP, '2026-02-08T21:30:00+0700'), []).at).toBe(at);
  });

  it('ids of several batches are qualified where two use them', () => {
    const issue = (id: string) => ({ id, kind: 'critical' as const, text: 'x' });
    const batches = [
      { batch: 'a', issues: [issue('ISS-001'), issue('ISS-002')] },
      { batch: 'b', issues: [issue('ISS-001')] },
    ];
    expect(qualifyIssues(batches).map(({ id, batch }) => [id, batch])).toEqual([
      ['a/ISS-001', 'a'],
      ['ISS-002', 'a'],
      ['b/ISS-001', 'b'],
    ]);
  });

  it('never throws, and every issue has an id of its own and words', () => {
    const bits = BATCH.split('\n').concat(['```', '<!--', '-->', '---', '\r', '-', '- ISS-1', '### Q-1']);
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...bits), { maxLength: 40 }).map((lines) => lines.join('\n')),
    );
    fc.assert(
      fc.property(fc.string(), text, fc.array(fc.string(), { maxLength: 3 }), (name, batch, files) => {
        const { issues, untouched } = readFeedback(name, batch, files);
        expect(untouched).toBe(issues.length === 0);
        expect(new Set(issues.map(({ id }) => id)).size).toBe(issues.length);
        for (const issue of issues) expect(issue.text).not.toBe('');
      }),
      { numRuns: 300 },
    );
  });

  it('keeps every word that people write below a heading of the form', () => {
    const word = fc.stringMatching(/^[b-m]{4,9}$/);
    const heading = fc.constantFrom(
      '## Critical Issues',
      '## Quality Issues',
      '## New Requirements',
      '# Remarks',
      '',
    );
    const line = fc.tuple(
      fc.constantFrom('- [ ] ', '- ', '### ', '  - ', '', '1. ', '> ', '- [x] ISS-001: '),
      word,
    );
    fc.assert(
      fc.property(heading, fc.array(line, { minLength: 1, maxLength: 6 }), (head, lines) => {
        const text = `${head}\n${lines.map((parts) => parts.join('')).join('\n')}\n`;
        const told = readFeedback('b', text, [])
          .issues.map((issue) => issue.text)
          .join('\n');
        for (const [, written] of lines) expect(told).toContain(written);
      }),
      { numRuns: 300 },
    );
  });
});
