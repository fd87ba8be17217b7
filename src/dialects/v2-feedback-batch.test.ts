import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { feedbackTemplate, readFeedback, writeFeedback } from './index.ts';

const at = Date.parse('2026-02-08T14:30:00Z');
const none = { cycle: 2, at, words: null, wish: null, attachments: [] };
const read = (text: string, attachments: string[] = []) =>
  readFeedback('iterations/2/feedbacks/20260208-143000', text, attachments);

describe('a batch of feedback that is written', () => {
  it('is the empty form where nothing was said', () => {
    expect(writeFeedback(none)).toBe(feedbackTemplate(2, '2026-02-08T14:30:00Z'));
    expect(read(writeFeedback(none)).untouched).toBe(true);
  });

  it('says for which cycle the words of a file are, and keeps them', () => {
    const text = writeFeedback({ ...none, words: '# Critical Issues\n- [ ] ISS-001: it crashes\n' });
    expect(text).toBe(
      '---\niteration: 2\ntimestamp: 2026-02-08T14:30:00Z\nprevious_iteration: 1\n---\n\n# Critical Issues\n- [ ] ISS-001: it crashes\n',
    );
    expect(read(text)).toMatchObject({ cycle: 2, at, warnings: [], issues: [{ id: 'ISS-001' }] });
  });

  it('keeps a front matter that is there, and says where it is wrong', () => {
    const words = '---\niteration: 7\n---\nIt crashes.\n';
    const text = writeFeedback({ ...none, words });
    expect(text).toBe(words);
    expect(read(text).warnings[0]).toContain('says iteration 7');
  });

  it('holds a wish as one requirement, whatever its lines look like', () => {
    expect(read(writeFeedback({ ...none, wish: 'read from stdin' })).issues).toEqual([
      { id: 'REQ-001', kind: 'requirement', text: 'read from stdin' },
    ]);
    const { issues } = read(writeFeedback({ ...none, wish: 'three things:\n- a\n- b\n\n# c' }));
    expect(issues).toMatchObject([{ kind: 'requirement', text: expect.stringContaining('# c') }]);
    const both = read(writeFeedback({ ...none, words: '## Quality Issues\n- slow\n', wish: 'faster' }));
    expect(both.issues.map(({ kind, text }) => [kind, text])).toEqual([
      ['quality', 'slow'],
      ['requirement', 'faster'],
    ]);
  });

  it('keeps wish and index apart from issues below a heading of the first level', () => {
    const words = '# Critical Issues\n- ISS-001: it is slow\n';
    const { issues, artifacts } = read(
      writeFeedback({ ...none, words, wish: 'faster', attachments: ['app.log'] }),
      ['app.log'],
    );
    expect(issues).toEqual([
      { id: 'ISS-001', kind: 'critical', text: 'it is slow' },
      { id: 'REQ-001', kind: 'requirement', text: 'faster' },
    ]);
    expect(artifacts).toEqual([{ file: 'app.log', description: '', present: true }]);
  });

  it('lists what lies beside it once, in the index that is there', () => {
    const words =
      '## Critical Issues\n- bad\n\n## Artifacts Index\n| File | Description |\n|--|--|\n| app.log | Monday |\n\n## New Requirements\n- more\n';
    const text = writeFeedback({ ...none, words, attachments: ['app.log', 'b.png'] });
    expect(text.match(/Artifacts Index/g)).toHaveLength(1);
    expect(read(text, ['app.log', 'b.png'])).toMatchObject({
      warnings: [],
      artifacts: [
        { file: 'app.log', description: 'Monday', present: true },
        { file: 'b.png', present: true },
      ],
      issues: [{ text: 'bad' }, { text: 'more' }],
    });
    const made = writeFeedback({ ...none, wish: 'see the log', attachments: ['app.log'] });
    expect(made).toContain(
      '## Artifacts Index\n| File | Description |\n|------|-------------|\n| app.log | |\n',
    );
  });

  it('never throws, says what the words say, and names every attachment once', () => {
    const word = fc.stringMatching(/^[b-m]{4,9}$/);
    const bits = fc.constantFrom('---', '## Artifacts Index', '| a | b |', '|--|--|', '```', '- [ ] x', '');
    const words = fc.array(fc.oneof(word, bits), { maxLength: 12 }).map((lines) => lines.join('\n'));
    const names = fc.uniqueArray(fc.stringMatching(/^[n-z]{4,9}\.log$/), { maxLength: 3 });
    fc.assert(
      fc.property(words, fc.option(word), names, (said, wish, attachments) => {
        const text = writeFeedback({ ...none, words: said, wish, attachments });
        for (const line of said.split('\n')) expect(text).toContain(line);
        for (const name of attachments) expect(text.split(name)).toHaveLength(2);
      }),
      { numRuns: 200 },
    );
  });
});
