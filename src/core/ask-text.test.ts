import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuestionText } from './ask-text.ts';

describe('a question in one sentence', () => {
  it('options and default are taken out of the text', () => {
    expect(
      readQuestionText(
        'Decision needed: should we use SQLite or PostgreSQL? Options: (A) SQLite — simpler, no infra. (B) PostgreSQL — scales better. Default if no response: SQLite',
      ),
    ).toEqual({
      text: 'Decision needed: should we use SQLite or PostgreSQL?',
      options: [
        { key: 'A', text: 'SQLite — simpler, no infra' },
        { key: 'B', text: 'PostgreSQL — scales better' },
      ],
      default: 'SQLite',
      kind: 'decision',
      hold: null,
    });
  });

  it('the parts may stand on lines of their own', () => {
    const asked = readQuestionText(
      'Which cache?\n\n**Options:**\n- (A) Redis\n- (B) memory (fast)\n\nDefault if no response: B.\n\nSee docs/cache.md',
    );
    expect(asked).toMatchObject({
      text: 'Which cache?\n\nSee docs/cache.md',
      options: [
        { key: 'A', text: 'Redis' },
        { key: 'B', text: 'memory (fast)' },
      ],
      default: 'B',
    });
  });

  it('a numbered list, and options without a heading, are options too', () => {
    expect(readQuestionText('Which?\n1. tabs\n2. spaces').options).toEqual([
      { key: '1', text: 'tabs' },
      { key: '2', text: 'spaces' },
    ]);
    expect(readQuestionText('Use (A) Redis or (B) memory?')).toMatchObject({
      text: 'Use',
      options: [
        { key: 'A', text: 'Redis' },
        { key: 'B', text: 'memory?' },
      ],
    });
  });

  it.each([
    'Is option (A) still what you want?',
    'WebSockets or polling?',
    'Should the default be 3?',
    'Options: (A) only one',
    'The function f(a) and g(b) differ: keep both?',
  ])('%j is asked as it stands', (text) => {
    expect(readQuestionText(text)).toMatchObject({ text, options: [], default: null });
  });

  it('an approval asked for is a permission: silence is not a yes', () => {
    expect(readQuestionText('Approval needed: drop the table users').kind).toBe('permission');
  });
});

describe('a question as an object', () => {
  it('is taken part by part, as a value or as JSON', () => {
    const asked = {
      text: 'Which?',
      options: [
        { key: 'x', text: 'left' },
        { key: 'y', text: 'right' },
      ],
      default: 'x',
      kind: 'clarification',
      hold: 'task',
    };
    expect(readQuestionText(asked)).toEqual(asked);
    expect(readQuestionText(JSON.stringify(asked))).toEqual(asked);
  });

  it('plain options are keyed A, B; unknown kinds and holds are left out', () => {
    expect(
      readQuestionText({ question: 'Which?', options: ['left', 'right'], kind: 'order', hold: 'world' }),
    ).toEqual({
      text: 'Which?',
      options: [
        { key: 'A', text: 'left' },
        { key: 'B', text: 'right' },
      ],
      default: null,
      kind: 'decision',
      hold: null,
    });
  });

  it('nothing asked is an empty text', () => {
    for (const nothing of ['', '  ', null, 7, [], {}]) expect(readQuestionText(nothing).text).toBe('');
  });
});

it('reading a question never throws and never loses all of its text', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('Options:', ' (A) ', ' (B) ', '\n', 'Default if no response: ', '1. ', '2. ', '{', '"'),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }).map((p) => p.join('')),
      (text) => {
        const asked = readQuestionText(text);
        if (text.trim() !== '' && !text.trim().startsWith('{')) expect(asked.text).not.toBe('');
      },
    ),
  );
  fc.assert(fc.property(fc.anything(), (value) => void readQuestionText(value)));
});
