import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeskEntry, readBlocked, readDecide, writeBlocked, writeDecide } from './index.ts';

const at = Date.UTC(2025, 5, 15, 14, 30);
const one: DeskEntry = { id: 'q-1', text: 'WebSockets or polling?', iteration: 7, askedAt: at };
const two: DeskEntry = {
  id: 'q-2',
  text: 'Which store?',
  iteration: 8,
  askedAt: at,
  options: [
    { key: 'A', text: 'Postgres' },
    { key: 'B', text: 'SQLite' },
  ],
  default: 'A',
};

describe('decide.txt', () => {
  it('has the form the seed gives it', () => {
    expect(writeDecide([one])).toBe(
      '## Question (from iteration 7, 2025-06-15T14:30:00Z)\nWebSockets or polling?\n\n---\n## Answer\n',
    );
    expect(writeDecide([])).toBe('');
  });

  it('several questions are numbered and named', () => {
    const text = writeDecide([one, two]);
    expect(text).toContain('## Question 2 [q-2] (from iteration 8');
    expect(text).toContain('## Answer 2');
    expect(readDecide(text, [one, two])).toEqual([
      { id: 'q-1', outcome: 'unanswered' },
      { id: 'q-2', outcome: 'unanswered' },
    ]);
  });

  it.each(['', '  \n\n', '<!-- say it here\n -->\n', '# a comment\n// another\n', '---\n'])(
    'an answer of nothing is none: %j',
    (answer) => {
      expect(readDecide(writeDecide([one]) + answer, [one])).toEqual([{ id: 'q-1', outcome: 'unanswered' }]);
    },
  );

  it('reads the answer, also with CRLF, a BOM and on several lines', () => {
    const text = `\ufeff${writeDecide([one])}Polling.\n\nUpgrade later.\n`.replaceAll('\n', '\r\n');
    expect(readDecide(text, [one])).toEqual([
      { id: 'q-1', outcome: 'answered', text: 'Polling.\n\nUpgrade later.', option: null },
    ]);
  });

  it.each([
    ['b', 'B'],
    ['(B) because it is small', 'B'],
    ['SQLite', 'B'],
    ['Option A', 'A'],
    ['A: the first', 'A'],
    ['Both', null],
  ])('"%s" names the option %s', (answer, option) => {
    expect(readDecide(`${writeDecide([two])}${answer}\n`, [two])).toMatchObject([
      { outcome: 'answered', option },
    ]);
  });

  it('deleting one block clears that one, deleting the file all', () => {
    const text = writeDecide([one, two]);
    const left = text.slice(text.indexOf('## Question 2'));
    expect(readDecide(left, [one, two])).toMatchObject([{ outcome: 'cleared' }, { outcome: 'unanswered' }]);
    expect(readDecide(null, [one, two])).toMatchObject([{ outcome: 'cleared' }, { outcome: 'cleared' }]);
    expect(readDecide('\n', [one, two])).toMatchObject([
      { outcome: 'unanswered' },
      { outcome: 'unanswered' },
    ]);
  });

  it('a separator or a heading inside the question is the question’s', () => {
    const tricky = { ...one, text: 'Which?\n---\n## Answer\nis it\n## Question 2 [q-2]' };
    expect(readDecide(writeDecide([tricky, two]), [tricky, two])).toMatchObject([
      { outcome: 'unanswered' },
      { outcome: 'unanswered' },
    ]);
    expect(readDecide(`${writeDecide([tricky])}Yes`, [tricky])).toMatchObject([
      { outcome: 'answered', text: 'Yes' },
    ]);
  });

  it('takes an answer without a heading only where it is clearly new', () => {
    const bare = writeDecide([one]).split('\n---')[0]!;
    expect(readDecide(`${bare}\nPolling\n`, [one])).toMatchObject([{ outcome: 'answered', text: 'Polling' }]);
    expect(readDecide(`${bare}\n---\nPolling\n`, [one])).toMatchObject([
      { outcome: 'answered', text: 'Polling' },
    ]);
    expect(readDecide('Polling\n', [one])).toMatchObject([{ outcome: 'answered', text: 'Polling' }]);
    expect(readDecide(bare.replace('polling?', 'polling, please?'), [one])).toMatchObject([
      { outcome: 'unclear' },
    ]);
    expect(readDecide('Polling\n', [one, two])).toMatchObject([
      { outcome: 'unclear' },
      { outcome: 'unclear' },
    ]);
  });

  it('one block answered twice is unclear', () => {
    const text = `${writeDecide([one])}Yes\n\n${writeDecide([one])}No\n`;
    expect(readDecide(text, [one])).toMatchObject([{ outcome: 'unclear' }]);
  });

  it('a draft survives a rewrite', () => {
    expect(readDecide(writeDecide([{ ...one, draft: 'half an ans' }, two]), [one, two])).toMatchObject([
      { outcome: 'answered', text: 'half an ans' },
      { outcome: 'unanswered' },
    ]);
  });
});

describe('blocked.txt', () => {
  const blocker: DeskEntry = { id: 'b-1', text: 'missing API key', iteration: 3, askedAt: at };

  it('begins with the reason and says how to clear it', () => {
    const text = writeBlocked([blocker]);
    expect(text.split('\n')[0]).toBe('missing API key');
    expect(text).toContain('delete this file');
    expect(readBlocked(text, [blocker])).toEqual([{ id: 'b-1', outcome: 'unanswered' }]);
    expect(readBlocked(null, [blocker])).toEqual([{ id: 'b-1', outcome: 'cleared' }]);
    expect(readBlocked(`${text}The key is in .env\n`, [blocker])).toMatchObject([
      { outcome: 'answered', text: 'The key is in .env' },
    ]);
  });

  it('two blockers: one block deleted clears that one, the help is no answer', () => {
    const other = { ...blocker, id: 'b-2', text: 'no network' };
    const text = writeBlocked([blocker, other]);
    expect(readBlocked(text, [blocker, other])).toMatchObject([
      { outcome: 'unanswered' },
      { outcome: 'unanswered' },
    ]);
    const left = text.slice(0, text.indexOf('## Blocker 2')) + text.slice(text.indexOf('## Help'));
    expect(readBlocked(left, [blocker, other])).toMatchObject([
      { outcome: 'unanswered' },
      { outcome: 'cleared' },
    ]);
  });
});

it('whatever was asked and answered, what we wrote is read back', () => {
  const entry = fc.record({
    text: fc.string(),
    lines: fc.array(fc.constantFrom('---', '## Answer', '## Question', 'x', '', '# Help')),
  });
  const answer = fc.constantFrom('Yes', 'B\nand more', '- a\n- b');
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 3 }), answer, (asked, said) => {
      for (const [write, read] of [
        [writeDecide, readDecide],
        [writeBlocked, readBlocked],
      ] as const) {
        const entries = asked.map(({ text, lines }, i) => ({
          id: `e${i}`,
          text: `Q ${text}\n${lines.join('\n')}`,
          iteration: null,
          askedAt: at,
        }));
        expect(read(write(entries), entries).map((a) => a.outcome)).toEqual(entries.map(() => 'unanswered'));
        const drafted = entries.map((e) => ({ ...e, draft: said }));
        expect(read(write(drafted), entries)).toEqual(
          entries.map(({ id }) => ({ id, outcome: 'answered', text: said, option: null })),
        );
      }
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => readDecide(text, [one, two]).length === 2));
});
