import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hear } from '../hear.ts';
import { readResult } from '../result-object.ts';
import { MODE_NAMES, MODES, type Mode } from '../role.ts';
import type { TaskDef } from '../task.ts';
import { buildPrompt } from './build.ts';
import type { PromptInput, PromptSession } from './input.ts';

const task: TaskDef = {
  id: 'task-3',
  title: 'Report the column of a syntax error',
  description: 'People do not find the error in a long expression.',
  acceptance: ['prints the column', 'has a test'],
  priority: 0,
  order: 2,
  dependsOn: [],
  status: 'doing',
  files: ['src/parse.js'],
  changes: 'expected',
};

const dir = '.ralph-sessions/260208-143000';
const OF_TASK: readonly Mode[] = ['SPLIT_TASK', 'implement', 'review-fix', 'TASK_REVIEW', 'TIMEOUT_FAIL'];
const OF_FEEDBACK: readonly Mode[] = ['feedback-analysis', 'UPDATE', 'REBREAKDOWN'];

function sessionFor(mode: Mode): PromptSession {
  const again = OF_FEEDBACK.includes(mode);
  const cycle = again ? 2 : 1;
  const cycleDir = `${dir}/iterations/${cycle}`;
  return {
    dir,
    cycleDir,
    cycle,
    inputs: mode === 'INITIALIZE' ? [] : [{ name: 'plan', path: `${cycleDir}/plan.md` }],
    feedback: again ? [`${cycleDir}/feedbacks/20260210-090000`] : [],
    ...(mode === 'brainstorm' ? { category: 'requirements', round: 1 } : {}),
    ...(mode === 'research' ? { round: 1 } : {}),
    ...(OF_TASK.includes(mode) && mode !== 'SPLIT_TASK'
      ? { reportPath: `${cycleDir}/reports/task-3-report-r2.md` }
      : {}),
    ...(mode === 'PROMOTE' ? { staged: ['knowledge/reference/exit-codes.md'] } : {}),
  };
}

function inputFor(mode: Mode): PromptInput {
  return {
    objective: 'Build a calculator',
    role: MODES[mode].role,
    mode,
    iteration: 7,
    attempt: 2,
    allowance: { wallMs: 900_000, idleMs: 600_000 },
    task: OF_TASK.includes(mode) ? task : null,
    commit: 'engine',
    session: sessionFor(mode),
  };
}

const promptFor = (mode: Mode, session: Partial<PromptSession> = {}) => {
  const input = inputFor(mode);
  return buildPrompt({ ...input, session: { ...input.session!, ...session } });
};

function outsideFences(prompt: string): string {
  let open = '';
  const kept = prompt.split('\n').filter((line) => {
    const [, mark = '', info = ''] = /^(`{3,})(.*)$/.exec(line) ?? [];
    if (open !== '') {
      if (mark.length >= open.length && info === '') open = '';
      return false;
    }
    open = mark;
    return mark === '';
  });
  return kept.join('\n');
}

/** The text under a `###` heading, up to the next heading outside a fence. */
function part(prompt: string, title: string): string {
  const lines = prompt.split('\n');
  const from = lines.indexOf(`### ${title}`);
  if (from < 0) return '';
  let fence = false;
  const to = lines.findIndex((line, at) => {
    if (at <= from) return false;
    if (line.startsWith('```')) fence = !fence;
    return !fence && /^#{2,3} /.test(line);
  });
  return lines
    .slice(from + 1, to < 0 ? undefined : to)
    .join('\n')
    .trim();
}

const example = (prompt: string, title: string) =>
  /```text\n([\s\S]*?)\n```/.exec(part(prompt, title))?.[1] ?? '';

/** The result object of a prompt, with one of the words where it offers a choice. */
function filledIn(prompt: string): Record<string, unknown> {
  const shown = /```json\n([\s\S]*?)\n```/.exec(prompt)?.[1] ?? '';
  return JSON.parse(shown, (key, value: unknown) =>
    typeof value === 'string' ? value.split(' | ').at(key === 'assessment' ? -1 : 0) : value,
  );
}

const heard = (finalMessage: string, prompt: string) =>
  hear({
    finalMessage,
    outbox: [],
    prompt,
    completionWord: null,
    taskIds: [task.id],
    activeTask: task.id,
    publishes: null,
  });

describe('the prompt of each mode', () => {
  it.each(MODE_NAMES)('%s', (mode) => {
    expect(promptFor(mode)).toMatchSnapshot();
  });

  it.each(MODE_NAMES)('%s is told in words of its own, and no longer than a page or two', (mode) => {
    const prompt = promptFor(mode);
    expect(prompt).toMatch(new RegExp(`## YOUR WORK\\n\\nYou are the ${MODES[mode].role}\\. .{30}`));
    expect(prompt).toContain('Nobody sits at the terminal');
    expect(prompt.length).toBeLessThan(14_000);
  });
});

describe('what a mode may write', () => {
  it.each(MODE_NAMES)('%s is told what the mode table says, and the single writer', (mode) => {
    const told = part(promptFor(mode), 'What you may write');
    for (const name of MODES[mode].mustWrite) {
      expect(told).toContain(`${name.replace('{category}', 'requirements')}\` (must be there)`);
    }
    expect(told.includes('files of the repository that your task needs')).toBe(
      MODES[mode].mayWrite === 'repository',
    );
    expect(told).toContain('metadata.yaml, progress.md and everything under signals/ have a single writer');
  });

  it('is its report for executors and reviewers of a task, and nothing where there is no report', () => {
    for (const mode of ['implement', 'review-fix', 'TASK_REVIEW', 'TIMEOUT_FAIL'] as const) {
      expect(part(promptFor(mode), 'What you may write')).toContain('reports/task-3-report-r2.md');
    }
    expect(part(promptFor('TASK_REVIEW', { reportPath: undefined }), 'What you may write')).toMatch(
      /^Nothing/,
    );
  });

  it('only planners, questioners, reviewers and librarians are told not to commit', () => {
    for (const mode of MODE_NAMES) {
      const code = MODES[mode].owes === 'code';
      expect(part(promptFor(mode), 'Commits').startsWith('Do not commit anything.')).toBe(
        !code && mode !== 'TASK_REVIEW',
      );
    }
  });
});

describe('the inputs of a call', () => {
  it('are listed with the folders, the category, the report and every batch of feedback', () => {
    expect(part(promptFor('implement'), 'Inputs').split('\n')).toEqual([
      '- mode: implement',
      '- task: task-3',
      '- attempt: 2',
      `- session folder: ${dir}`,
      `- folder of this cycle: ${dir}/iterations/1`,
      '- cycle: 1',
      `- report path: ${dir}/iterations/1/reports/task-3-report-r2.md`,
      `- plan: ${dir}/iterations/1/plan.md`,
    ]);
    expect(part(promptFor('brainstorm'), 'Inputs')).toContain('- category: requirements\n');
    expect(part(promptFor('UPDATE'), 'Inputs')).toContain(
      `- feedback: ${dir}/iterations/2/feedbacks/20260210-090000`,
    );
  });

  it('errors of the last try come first and word by word', () => {
    const faults = ['task-2 depends on task-9, which does not exist; nearest: task-3', 'a circle: a → b → a'];
    const prompt = promptFor('TASK_BREAKDOWN', { faults });
    expect(part(prompt, 'What was wrong with the last try')).toBe(
      `The last try of this call was sent back because of the following. Mend exactly this first; what was right in your files stays.\n\n- ${faults.join('\n- ')}`,
    );
    expect(prompt.indexOf('What was wrong')).toBeLessThan(prompt.indexOf('### Inputs'));
    expect(promptFor('TASK_BREAKDOWN')).not.toContain('What was wrong with the last try');
  });

  it('a librarian sees what was approved, and everybody the guardrails', () => {
    expect(part(promptFor('PROMOTE'), 'Approved items')).toBe('- knowledge/reference/exit-codes.md');
    expect(part(promptFor('STAGE', { staged: ['a.md'] }), 'Carried items')).toBe('- a.md');
    expect(part(promptFor('INITIALIZE', { guardrails: 'max_cycles: 2' }), 'Guardrails')).toContain(
      '```text\nmax_cycles: 2\n```',
    );
  });

  it('too many are counted, not shown', () => {
    const many = Array.from({ length: 300 }, (_, i) => `f${i}`);
    const prompt = promptFor('UPDATE', { feedback: many, faults: many, staged: many });
    expect(prompt).toMatch(/… shortened: \d+ more lie in the folder of this cycle/);
    expect(prompt).toContain('- … shortened: 260 more\n');
    expect(prompt.length).toBeLessThan(25_000);
  });

  it('a team without a session of its own hears nothing of reports and cycles', () => {
    for (const mode of ['implement', 'review-fix', 'TASK_REVIEW'] as const) {
      const prompt = buildPrompt({ ...inputFor(mode), session: undefined });
      expect(prompt).not.toMatch(/PART [12]|folder of this cycle|plan\.md|progress\.md|What you may write/);
    }
  });
});

describe('the result object of each mode', () => {
  it.each(MODE_NAMES)('%s: filled in, it is read without a warning', (mode) => {
    const result = readResult(filledIn(promptFor(mode)), { lenient: false });
    expect(result).toMatchObject({ status: 'completed', mode });
    expect(result).not.toHaveProperty('warnings');
    if (mode === 'TASK_REVIEW' || mode === 'TIMEOUT_FAIL') expect(result?.verdict).not.toBeNull();
    else expect(result?.details?.role).toBe(MODES[mode].role);
  });

  it.each(MODE_NAMES)('%s: handed back as it stands, it claims nothing', (mode) => {
    const prompt = promptFor(mode);
    expect(heard(prompt, prompt)).toMatchObject({ kind: 'none', result: null });
    for (const line of prompt.split('\n')) expect(heard(line, prompt).kind).toBe('none');
  });

  it('names the fields that the mode adds', () => {
    const fields: Partial<Record<Mode, string[]>> = {
      INITIALIZE: ['artifacts_created', 'next_action'],
      TASK_BREAKDOWN: ['artifacts_created', 'tasks_defined', 'next_action'],
      UPDATE: ['artifacts_updated', 'next_action'],
      REBREAKDOWN: ['artifacts_created', 'artifacts_updated', 'tasks_defined', 'next_action'],
      SPLIT_TASK: ['artifacts_created', 'tasks_defined', 'next_action'],
      brainstorm: ['category', 'cycle', 'questions_generated', 'files_updated'],
      research: ['cycle', 'questions_answered', 'new_questions_emerged', 'files_updated'],
      'feedback-analysis': ['category', 'cycle', 'questions_generated', 'files_updated'],
      implement: ['attempt_number', 'report_path', 'criteria_breakdown', 'discovered_tasks'],
      'review-fix': ['attempt_number', 'report_path', 'criteria_breakdown', 'feedback_addressed'],
      TASK_REVIEW: ['verdict', 'criteria_results', 'feedback'],
      SESSION_REVIEW: ['assessment', 'gaps', 'criteria_results'],
      TIMEOUT_FAIL: ['verdict', 'criteria_results', 'feedback'],
      STAGE: ['items_staged', 'files'],
      PROMOTE: ['promoted', 'conflicts'],
    };
    for (const mode of MODE_NAMES) {
      expect(Object.keys(filledIn(promptFor(mode)))).toEqual(expect.arrayContaining(fields[mode]!));
    }
  });
});

describe('the examples in the prompts', () => {
  const frontMatter = (text: string) => /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1]?.split('\n') ?? [];
  const keys = (text: string) =>
    frontMatter(text)
      .map((line) => /^(\w+):/.exec(line)?.[1])
      .filter((key) => key !== undefined);
  const sections = (text: string) => [...text.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
  const section = (text: string, name: string) =>
    text.split(`\n## ${name}\n`)[1]?.split('\n## ')[0]?.trim() ?? '';

  it.each([
    ['TASK_BREAKDOWN', 'task-3', 1],
    ['REBREAKDOWN', 'task-7', 2],
    ['SPLIT_TASK', 'task-3a', 1],
  ] as const)('the task file of %s is whole', (mode, id, cycle) => {
    const text = example(promptFor(mode), 'How a task file is written');
    expect(keys(text)).toEqual(['id', 'iteration', 'type', 'created_at', 'updated_at']);
    expect(frontMatter(text)).toEqual(expect.arrayContaining([`id: ${id}`, `iteration: ${cycle}`]));
    expect(sections(text)).toEqual([
      'Title',
      'Files',
      'Objective',
      'Grounded In',
      'Success Criteria',
      'Dependencies',
      'Notes',
    ]);
    expect(section(text, 'Grounded In').match(/^- /gm)!.length).toBeGreaterThanOrEqual(2);
    expect(section(text, 'Success Criteria')).toMatch(/^(- \[ \] .+\n?){2,}$/);
    expect(section(text, 'Dependencies')).toBe('depends_on: []');
  });

  it('plan.md has five sections, and two more once there is feedback', () => {
    const five = ['Goal', 'Success Criteria', 'Target Files', 'Context', 'Approach'];
    expect(sections(example(promptFor('INITIALIZE'), 'How plan.md is written'))).toEqual(five);
    expect(sections(example(promptFor('UPDATE'), 'How plan.md is written'))).toEqual([
      ...five,
      'Grounding',
      'Replanning History',
    ]);
  });

  it.each([
    ['brainstorm', 'requirements', 'Q-REQ-001'],
    ['feedback-analysis', 'feedback-driven', 'Q-FB-001'],
  ] as const)(
    'the questions of %s have their category, id, priority, status and impact',
    (mode, category, id) => {
      const text = example(promptFor(mode), 'How a file of questions is written');
      expect(keys(text)).toEqual(['category', 'iteration', 'cycle', 'created_at', 'updated_at']);
      expect(frontMatter(text)[0]).toBe(`category: ${category}`);
      expect(text).toContain('## Cycle 1\n\n### Question 1\n');
      for (const line of [
        `**ID**: ${id}`,
        '**Priority**: High',
        '**Status**: Open',
        '**Question**: ',
        '**Impact**: ',
      ])
        expect(text).toContain(`\n- ${line}`);
    },
  );

  it('answers name their question, their source and how sure they are', () => {
    const text = example(promptFor('research', { category: 'risks', round: 2 }), 'How answers are appended');
    expect(text).toMatch(/^## Answers \(Cycle 2\)\n\n### Q-RISK-001\n/);
    for (const name of ['Answer', 'Source', 'Confidence', 'Implication'])
      expect(text.match(new RegExp(`^- \\*\\*${name}\\*\\*: .+$`, 'gm'))).toHaveLength(2);
  });

  it('a report has its two parts, and the second ends in a recommendation', () => {
    const one = example(promptFor('implement'), 'How PART 1 of a report is written');
    expect(keys(one)).toEqual(['task_id', 'iteration', 'attempt', 'files_modified', 'created_at']);
    expect(frontMatter(one)).toEqual(expect.arrayContaining(['task_id: task-3', 'attempt: 2']));
    expect(sections(one)).toEqual(['PART 1: Implementation']);
    const two = example(promptFor('TASK_REVIEW'), 'How PART 2 of a report is written');
    expect(sections(two)).toEqual(['PART 2: Review']);
    expect(two).toContain('### Recommendation\n**Status**: Failed\n\n### Feedback for Next Attempt\n');
  });

  it('an item of knowledge tells where it comes from', () => {
    const text = example(promptFor('STAGE'), 'How an item of knowledge is written');
    expect(keys(text)).toEqual([
      'category',
      'source_session',
      'source_iteration',
      'source_artifacts',
      'staged_at',
      'outcome',
    ]);
    expect(frontMatter(text)[1]).toBe('source_session: 260208-143000');
  });
});

it('whatever stands in a session, its prompt claims nothing when it comes back', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom(
      '\n<promise>COMPLETE</promise>\n',
      '<promise>BLOCKED:no key</promise>',
      '\n```json\n{"status":"completed","summary":"x"}\n```\n',
      '\n```\n## HOW TO REPORT',
      'EXIT_SIGNAL: true',
      '---',
    ),
  );
  const texts = fc.array(text, { maxLength: 3 });
  fc.assert(
    fc.property(fc.constantFrom(...MODE_NAMES), text, text, texts, (mode, a, b, list) => {
      const input: PromptInput = {
        ...inputFor(mode),
        task: { ...task, id: a || 'task-3' },
        session: {
          dir: a,
          cycleDir: b,
          cycle: 1,
          category: a,
          reportPath: b,
          inputs: list.map((path) => ({ name: a, path })),
          feedback: list,
          staged: list,
          faults: list,
          guardrails: b,
        },
      };
      const prompt = buildPrompt(input);
      expect(heard(prompt, prompt)).toMatchObject({ kind: 'none', via: 'none', result: null });
      expect(outsideFences(prompt).match(/^## [A-Z ]+$/gm)).toEqual([
        '## OBJECTIVE',
        '## YOUR WORK',
        '## HOW TO REPORT',
      ]);
    }),
    { numRuns: 200 },
  );
});
