import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hear } from './hear.ts';
import { readResult } from './result-object.ts';
import { MODE_NAMES } from './role.ts';

const read = (object: Record<string, unknown>) =>
  readResult({ status: 'completed', ...object }, { lenient: false });

describe('what a role adds to its result', () => {
  it('a planner tells its files and how many tasks it wrote', () => {
    const result = read({
      mode: 'TASK_BREAKDOWN',
      artifacts_created: ['tasks/task-1.md', 'tasks/task-2.md'],
      artifactsUpdated: 'plan.md',
      tasks_defined: 2,
      next_action: 'start with task-1',
    });
    expect(result?.details).toEqual({
      role: 'planner',
      artifactsCreated: ['tasks/task-1.md', 'tasks/task-2.md'],
      artifactsUpdated: ['plan.md'],
      tasksDefined: 2,
      nextAction: 'start with task-1',
    });
    expect(result?.warnings).toBeUndefined();
  });

  it('a questioner tells its counts: as numbers, as lists, or as yes and no', () => {
    const result = read({
      mode: 'research',
      category: 'technical',
      cycle: '2',
      questions_generated: ['Q-TECH-001', 'Q-TECH-002'],
      questions_answered: 0,
      new_questions_emerged: true,
      files_updated: ['questions/technical.md'],
    });
    expect(result?.details).toEqual({
      role: 'questioner',
      category: 'technical',
      cycle: 2,
      questionsGenerated: 2,
      questionsAnswered: 0,
      newQuestionsEmerged: 1,
      filesUpdated: ['questions/technical.md'],
    });
  });

  it('an executor tells its report, and a breakdown whose third number follows from two', () => {
    const result = read({
      mode: 'implement',
      attempt_number: 2,
      report_path: 'reports/task-3-report-r2.md',
      criteria_breakdown: { total: 3, met: 2 },
      feedback_addressed: ['ISS-001'],
      discovered_tasks: [{ title: 'Old parser', description: 'is unused' }],
      steer_response: 'adjusted',
    });
    expect(result).toMatchObject({
      steerResponse: 'adjust',
      details: {
        role: 'executor',
        attemptNumber: 2,
        reportPath: 'reports/task-3-report-r2.md',
        criteriaBreakdown: { total: 3, met: 2, notMet: 1 },
        feedbackAddressed: ['ISS-001'],
        discoveredTasks: ['Old parser: is unused'],
      },
    });
  });

  it('a librarian tells what it staged and what it left alone', () => {
    expect(read({ mode: 'STAGE', items_staged: 0, files: [] })?.details).toEqual({
      role: 'librarian',
      itemsStaged: 0,
      files: [],
    });
    expect(read({ mode: 'PROMOTE', promoted: ['a.md'], conflicts: [{ file: 'b.md' }] })?.details).toEqual({
      role: 'librarian',
      promoted: ['a.md'],
      conflicts: ['b.md'],
    });
  });

  it('a reviewer of the session tells its assessment, which is a verdict where it names no other', () => {
    expect(read({ mode: 'SESSION_REVIEW', assessment: 'complete', gaps: [] })).toMatchObject({
      verdict: 'Qualified',
      details: { role: 'reviewer', assessment: 'Complete', gaps: [] },
    });
    expect(
      read({ mode: 'SESSION_REVIEW', assessment: 'Gaps identified.', gaps: ['no tests'] }),
    ).toMatchObject({
      verdict: 'Failed',
      details: { assessment: 'Gaps Identified', gaps: ['no tests'] },
    });
    expect(readResult({ assessment: 'Complete' }, { lenient: false })?.status).toBe('completed');
  });

  it('complete beside gaps is not complete, unless the gaps are none', () => {
    expect(read({ assessment: 'Complete', gaps: ['the printer'] })).toMatchObject({
      verdict: 'Failed',
      details: { assessment: 'Gaps Identified' },
      warnings: [expect.stringContaining('counts as Gaps Identified')],
    });
    expect(read({ assessment: 'Complete', gaps: 'None.' })?.details).toEqual({
      role: 'reviewer',
      assessment: 'Complete',
      gaps: [],
    });
  });

  it('a result of somebody who adds nothing has no details', () => {
    const result = read({ mode: 'implement', summary: 'done', files_modified: ['a.ts'] });
    expect(result).not.toHaveProperty('details');
    expect(result).not.toHaveProperty('warnings');
  });
});

describe('whose fields are read', () => {
  it.each([
    ['REBREAKDOWN_TASK', 'SPLIT_TASK'],
    ['review', 'TASK_REVIEW'],
    ['Session-Review', 'SESSION_REVIEW'],
    ['feedback analysis', 'feedback-analysis'],
    ['pondering', 'pondering'],
  ])('the mode %s is read as %s', (word, mode) => {
    expect(read({ mode: word })?.mode).toBe(mode);
  });

  it('without a mode the fields of one role alone tell it', () => {
    expect(read({ items_staged: 1, files: ['a.md'] })?.details).toEqual({
      role: 'librarian',
      itemsStaged: 1,
      files: ['a.md'],
    });
    expect(read({ files: ['a.md'], category: 'x' })).not.toHaveProperty('details');
  });

  it('a mode whose fields are not there yields to fields that are', () => {
    expect(read({ mode: 'implement', tasks_defined: 3 })?.details).toEqual({
      role: 'planner',
      tasksDefined: 3,
    });
  });
});

describe('fields of the wrong type', () => {
  it('are left out and told, each in one sentence', () => {
    const result = read({
      mode: 'brainstorm',
      category: {},
      questions_generated: 'a few',
      cycle: -1,
      files_updated: 7,
      new_questions_emerged: 2,
    });
    expect(result?.details).toEqual({ role: 'questioner', newQuestionsEmerged: 2 });
    expect(result?.warnings).toEqual([
      '`category` is passed over: it should be a text.',
      '`cycle` is passed over: it should be a whole number.',
      '`questions_generated` is passed over: it should be a whole number.',
      '`files_updated` is passed over: it should be a list of texts.',
    ]);
  });

  it.each([[{ total: 2, met: 3 }], [{ met: 1 }], ['3/3'], [[1, 2]]])(
    'the breakdown %j says nothing',
    (criteria_breakdown) => {
      const result = read({ mode: 'implement', criteria_breakdown });
      expect(result).not.toHaveProperty('details');
      expect(result?.warnings).toHaveLength(1);
    },
  );

  it('whatever stands in them, a result is read and its details have the declared types', () => {
    const names = [
      'mode',
      'artifacts_created',
      'tasks_defined',
      'next_action',
      'category',
      'cycle',
      'questions_generated',
      'new_questions_emerged',
      'files_updated',
      'attempt_number',
      'report_path',
      'criteria_breakdown',
      'discovered_tasks',
      'assessment',
      'gaps',
      'items_staged',
      'files',
      'promoted',
      'conflicts',
    ];
    const value = fc.oneof(
      fc.constantFrom<unknown>(...MODE_NAMES, 'Complete', 'Gaps Identified', { total: 2, met: 1 }, [{}], 3),
      fc.anything({ maxDepth: 3 }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (object) => {
        const result = read(object);
        expect(result?.status).toBe('completed');
        for (const [key, said] of Object.entries(result?.details ?? {})) {
          if (key === 'criteriaBreakdown') {
            const { total, met, notMet } = said as { total: number; met: number; notMet: number };
            expect([total, met, notMet].every((n) => Number.isInteger(n) && n >= 0)).toBe(true);
          } else if (Array.isArray(said)) expect(said.every((text) => typeof text === 'string')).toBe(true);
          else expect(['string', 'number']).toContain(typeof said);
        }
        for (const warning of result?.warnings ?? []) expect(warning).toMatch(/^`\w+` .*\.$/);
      }),
      { numRuns: 500 },
    );
  });
});

it('what the outbox says holds, and the message fills what it leaves open; the worse assessment wins', () => {
  const said = (payload: Record<string, unknown>, message: Record<string, unknown>) =>
    hear({
      finalMessage: `\`\`\`json\n${JSON.stringify({ status: 'completed', ...message })}\n\`\`\``,
      outbox: [{ kind: 'result', result: read(payload)! }],
      prompt: '',
      completionWord: null,
      taskIds: [],
      activeTask: null,
      publishes: null,
    }).result;
  expect(said({ tasks_defined: 4 }, { tasks_defined: 5, next_action: 'review' })?.details).toEqual({
    role: 'planner',
    tasksDefined: 4,
    nextAction: 'review',
  });
  expect(said({ assessment: 'Complete' }, { assessment: 'Gaps Identified' })).toMatchObject({
    verdict: 'Failed',
    details: { assessment: 'Gaps Identified' },
  });
});
