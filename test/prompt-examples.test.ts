// The files that a prompt shows as examples are those that our own readers accept.
import { describe, expect, it } from 'vitest';
import { buildPrompt, MODES, type Mode, type PromptInput, type TaskDef } from '../src/core/index.ts';
import {
  keepPartOne,
  planFaults,
  questionFaults,
  readQuestions,
  readReport,
  readReview,
  readTaskFile,
} from '../src/dialects/index.ts';

const TASK: TaskDef = {
  id: 'task-3',
  title: 'A task',
  description: '',
  acceptance: [],
  priority: 0,
  order: 0,
  dependsOn: [],
  status: 'doing',
  files: [],
  changes: 'expected',
};

function promptFor(mode: Mode, more: Partial<PromptInput['session']> = {}): string {
  return buildPrompt({
    objective: 'Build a calculator',
    role: MODES[mode].role,
    mode,
    iteration: 1,
    attempt: 1,
    allowance: { wallMs: 900_000, idleMs: 600_000 },
    task: TASK,
    session: {
      dir: 's/260208-143000',
      cycleDir: 's/260208-143000/iterations/2',
      cycle: 2,
      inputs: [],
      feedback: [],
      ...more,
    },
  });
}

/** The example under a heading of the prompt. */
function example(prompt: string, title: string): string {
  const text = prompt.split(`### ${title}\n`)[1] ?? '';
  return /```text\n([\s\S]*?)\n```/.exec(text)?.[1] ?? '';
}

describe('an example in a prompt is read as it is meant', () => {
  it.each([
    ['TASK_BREAKDOWN', 'task-3'],
    ['REBREAKDOWN', 'task-7'],
    ['SPLIT_TASK', 'task-3a'],
  ] as const)('the task file of %s', (mode, id) => {
    const text = example(promptFor(mode), 'How a task file is written');
    expect(readTaskFile(`iterations/2/tasks/${id}.md`, text)).toEqual({
      def: {
        id,
        title: 'Report the column of a syntax error',
        description: 'A syntax error tells where it is, so that people find it in a long expression.',
        acceptance: [
          '`node calc.js "2+"` prints a line that holds "column 3"',
          '`npm test` runs a test for an error in the middle and one at the end',
        ],
        priority: 0,
        order: 0,
        dependsOn: [],
        status: 'todo',
        files: ['src/parse.js', 'test/parse.test.js'],
        changes: 'expected',
      },
      references: 3,
      faults: [],
      warnings: [],
    });
  });

  it('plan.md of the first cycle and of a later one', () => {
    expect(planFaults(example(promptFor('INITIALIZE'), 'How plan.md is written'), 1)).toEqual([]);
    expect(planFaults(example(promptFor('UPDATE'), 'How plan.md is written'), 2)).toEqual([]);
  });

  it('questions, and answers that are appended to them', () => {
    const asked = example(
      promptFor('brainstorm', { category: 'technical' }),
      'How a file of questions is written',
    );
    expect(questionFaults(asked)).toEqual([]);
    expect(readQuestions(asked)).toMatchObject({
      category: 'technical',
      rounds: [
        {
          cycle: 1,
          questions: [
            {
              id: 'Q-TECH-001',
              text: 'Does the lexer keep the offset of each token?',
              priority: 'High',
              status: 'Open',
              impact: 'With it an error can name its column without a change of the grammar.',
              answer: null,
            },
          ],
        },
      ],
    });
    const second = asked
      .slice(asked.indexOf('### Question 1'))
      .replace('Question 1', 'Question 2')
      .replace('001', '002');
    const answers = example(promptFor('research'), 'How answers are appended');
    const answered = `${asked}\n\n${second}\n\n${answers}\n`;
    expect(questionFaults(answered)).toEqual([]);
    expect(readQuestions(answered).rounds[0]?.questions.map(({ answer }) => answer)).toMatchObject([
      { confidence: 'High', researchNeeded: false, source: expect.stringContaining('src/lex.js:22') },
      { confidence: 'Low', researchNeeded: true },
    ]);
  });

  it('feedback taken apart into questions', () => {
    const asked = example(promptFor('feedback-analysis'), 'How a file of questions is written');
    expect(questionFaults(asked)).toEqual([]);
    expect(readQuestions(asked)).toMatchObject({
      category: 'feedback-driven',
      rounds: [{ questions: [{ id: 'Q-FB-001', text: expect.stringMatching(/^ISS-001: /) }] }],
    });
  });

  it('a report with both its parts', () => {
    const reportPath = 's/260208-143000/iterations/2/reports/task-3-report.md';
    const one = example(promptFor('implement', { reportPath }), 'How PART 1 of a report is written');
    expect(readReport(one)).toMatchObject({ partTwo: null, recommendation: null });
    for (const mode of ['TASK_REVIEW', 'TIMEOUT_FAIL'] as const) {
      const two = example(promptFor(mode, { reportPath }), 'How PART 2 of a report is written');
      const whole = `${one}\n\n${two}\n`;
      const read = readReport(whole);
      expect(read).toMatchObject({ partTwo: two, recommendation: 'Failed' });
      expect(read.feedback).toMatch(/^- test\/parse\.test\.js:61 passes with every error/);
      expect(keepPartOne(`${one}\n`, whole)).toEqual({ text: whole, changed: false });
    }
  });

  it('the review of a session', () => {
    const text = example(promptFor('SESSION_REVIEW'), 'How review.md is written');
    expect(readReview(text)).toEqual({
      assessment: 'Gaps Identified',
      gaps: [
        'An empty expression: src/parse.js:31 returns undefined. Run `node calc.js ""`. Right would be the error of "2+".',
      ],
    });
  });
});
