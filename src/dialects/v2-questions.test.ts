import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openQuestions, questionFaults, questionsOfLastRound, readQuestions } from './index.ts';

const FILE = `---
category: technical
iteration: 1
cycle: 2
created_at: 2026-02-08T14:30:00Z
updated_at: 2026-02-08T14:30:00Z
---
# Technical questions

## Cycle 1

### Question 1
- **ID**: Q-TECH-001
- **Question**: Which store holds the sessions?
  A file or a database?
- **Priority**: High
- **Status**: Answered
- **Impact**: Everything that reads them

### Question 2
- **ID**: Q-TECH-002
- **Question**: Which Node version?
- **Priority**: Low
- **Status**: Open
- **Impact**: The build

## Answers (Cycle 1)

### Q-TECH-001
- **Answer**: A file.
  It is enough.
- **Source**: docs/design.md
- **Confidence**: High
- **Implication**: No migration

### Q-TECH-002
- **Answer**: Research Needed

## Cycle 2

### Question 1
- **ID**: Q-TECH-003
- **Question**: Who rotates the file?
- **Priority**: Medium
- **Status**: Answered
- **Impact**: Disk
`;

const ids = (text: string) => openQuestions(text).map(({ id }) => id);

describe('a file of questions', () => {
  it('is read with its rounds and answers', () => {
    const { category, rounds, faults } = readQuestions(FILE);
    expect(category).toBe('technical');
    expect(faults).toEqual([]);
    expect(rounds.map(({ cycle, questions }) => [cycle, questions.length])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(rounds[0]!.questions[0]).toEqual({
      id: 'Q-TECH-001',
      text: 'Which store holds the sessions?\n  A file or a database?',
      priority: 'High',
      status: 'Answered',
      impact: 'Everything that reads them',
      line: 12,
      answer: {
        text: 'A file.\n  It is enough.',
        source: 'docs/design.md',
        confidence: 'High',
        implication: 'No migration',
        researchNeeded: false,
      },
    });
  });

  it('a status does not answer, and "Research Needed" does', () => {
    expect(ids(FILE)).toEqual(['Q-TECH-003']);
    expect(readQuestions(FILE).rounds[0]!.questions[1]!.answer?.researchNeeded).toBe(true);
    expect(questionsOfLastRound(FILE)).toBe(1);
  });

  it.each([
    ['CRLF and a BOM', `\ufeff${FILE.replaceAll('\n', '\r\n')}`],
    ['plain labels', FILE.replace(/- \*\*(\w+)\*\*:/g, '$1:')],
    ['colons in bold', FILE.replace(/- \*\*(\w+)\*\*:/g, '**$1:**')],
    ['deeper headings', FILE.replaceAll('\n## ', '\n### ').replaceAll('\n### Q', '\n#### Q')],
    [
      'answers by number',
      FILE.replace('### Q-TECH-001', '### Answer 1').replace('### Q-TECH-002', '### Answer 2'),
    ],
    ['ids in headings', FILE.replaceAll(/### Question \d\n- \*\*ID\*\*: (\S+)/g, '### $1: a question')],
    [
      'answers below their questions',
      FILE.replace('- **Status**: Open', '- **Answer**: Node 20').replace(
        /### Q-TECH-002[\s\S]*?(?=## Cy)/,
        '',
      ),
    ],
  ])('reads the same with %s', (_what, text) => {
    const { rounds, faults } = readQuestions(text);
    expect(faults).toEqual([]);
    expect(rounds.map(({ questions }) => questions.map(({ id }) => id))).toEqual([
      ['Q-TECH-001', 'Q-TECH-002'],
      ['Q-TECH-003'],
    ]);
    expect(rounds[0]!.questions[0]!.answer?.text).toMatch(/^A file\.\n *It is enough\.$/);
    expect(ids(text)).toEqual(['Q-TECH-003']);
  });

  it('bullets that begin with an id are questions, and answers', () => {
    const text = `## Cycle 1
- [ ] **Q-RISK-001**: What if the disk is full? (Priority: High)
- **Q-RISK-002**: What if two run at once?
  - Priority: Low

## Answers (Cycle 1)
- **Q-RISK-001**: The run stops and says so.
`;
    const [round] = readQuestions(text).rounds;
    expect(round!.questions.map(({ id, text: words }) => [id, words])).toEqual([
      ['Q-RISK-001', 'What if the disk is full?'],
      ['Q-RISK-002', 'What if two run at once?'],
    ]);
    expect(round!.questions[0]!.answer?.text).toBe('The run stops and says so.');
    expect(round!.questions[1]!.priority).toBe('Low');
    expect(ids(text)).toEqual(['Q-RISK-002']);
    expect(questionFaults(text)).toEqual([]);
  });

  it.each(['', 'Pending', 'TBD', '[To be filled]', '-', '_not yet answered_', 'Unanswered.'])(
    'an answer of %j is none',
    (answer) => {
      expect(ids(FILE.replace('A file.\n  It is enough.', answer))).toContain('Q-TECH-001');
    },
  );

  it('a category without a round is cycle 1', () => {
    expect(readQuestions('### Question 1\nID: Q-1\nQuestion: Why?').rounds).toMatchObject([
      { cycle: 1, questions: [{ id: 'Q-1', text: 'Why?', answer: null }] },
    ]);
  });

  it('says what is wrong', () => {
    expect(questionFaults(null)).toEqual(['the file of questions is missing']);
    expect(questionFaults('\n')).toEqual(['the file of questions is empty']);
    expect(questionFaults('# Technical\n\nNothing yet.')[0]).toContain('there is no question');
    expect(questionFaults(FILE.replaceAll('Q-TECH-002', 'Q-TECH-001'))).toEqual([
      'Q-TECH-001 stands twice, in lines 12 and 20',
    ]);
    expect(questionFaults(FILE.replace('### Q-TECH-002', '### Q-TECH-009'))).toEqual([
      'the answer to "Q-TECH-009" answers no question of this file',
    ]);
    expect(questionFaults('## Cycle 1\n### Question 1\n- **Priority**: High\n')).toEqual([
      'the question in line 2 has no ID',
      'the question in line 2 has no words',
    ]);
  });

  it('never throws, and an open question is one of the file', () => {
    const bits = FILE.split('\n').concat(['```', '<!--', '---', '\r', '- Q-1', '### Answer 99']);
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...bits), { maxLength: 40 }).map((lines) => lines.join('\n')),
    );
    fc.assert(
      fc.property(text, (file) => {
        const all = readQuestions(file).rounds.flatMap(({ questions }) => questions);
        expect(openQuestions(file).length).toBeLessThanOrEqual(all.length);
        expect(questionsOfLastRound(file)).toBeLessThanOrEqual(all.length);
      }),
      { numRuns: 300 },
    );
  });
});
