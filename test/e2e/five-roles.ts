/** A crew for the five-role session: scripted runs of every mode that write what their prompts ask for. */
import type { ScriptedRun } from './project.ts';

const cycle = '{{session}}/iterations/{{cycle}}';

export const writeWork = (path: string, content: string) => ({
  write: { path: `${cycle}/${path}`, content },
});
export const done = (more: Record<string, unknown> = {}) => ({
  emit: { topic: 'ralph.result', payload: { status: 'completed', mode: '{{mode}}', ...more } },
});

export function taskFile(id: string, file: string, dependsOn: string[] = []): string {
  return `---
id: ${id}
iteration: 1
type: Parallelizable
created_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-01T00:00:00Z
---
# ${id}

## Title
Write ${file}

## Files
- \`${file}\`

## Objective
${file} says what it is.

## Grounded In
- plan.md, Approach
- README.md

## Success Criteria
- [ ] ${file} exists

## Dependencies
depends_on: [${dependsOn.join(', ')}]
`;
}

export const PLAN = `# Plan

## Goal
Three files that say what they are.

## Success Criteria
- The files exist.

## Target Files
- \`one.txt\`, \`two.txt\`, \`three.txt\`

## Context
A small project with a README.

## Approach
One task a file.
`;

const LATER = `${PLAN}
## Grounding
Feedback of the first cycle.

## Replanning History
- Iteration 2: one more file.
`;

const QUESTIONS = `---
category: {{category}}
iteration: {{cycle}}
cycle: 1
created_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-01T00:00:00Z
---
## Cycle 1

### Question 1
- **ID**: Q-001
- **Question**: What of {{category}} is not said?
- **Priority**: High
- **Status**: Answered
- **Impact**: The plan.

## Answers (Cycle 1)

### Q-001
- **Answer**: Everything is said in the README.
- **Source**: README.md
- **Confidence**: High
- **Implication**: None.
`;

export const NOTE = `---
category: how-to
source_session: s
source_iteration: 1
source_artifacts: [plan.md]
staged_at: 2026-01-01T00:00:00Z
---
# How files are written

One at a time.
`;

export const QUALIFIED = done({
  verdict: 'Qualified',
  criteria_results: [{ criterion: 'the file exists', met: true, note: 'ls shows it' }],
});

/** Everybody does the job. The first that fits is played, so a test puts its own in front. */
export const CREW: ScriptedRun[] = [
  { when: { mode: 'INITIALIZE' }, do: [writeWork('plan.md', PLAN), done()] },
  { when: { mode: 'brainstorm' }, do: [writeWork('questions/{{category}}.md', QUESTIONS), done()] },
  { when: { mode: 'research' }, do: [done()] },
  {
    when: { mode: 'TASK_BREAKDOWN' },
    do: [
      writeWork('tasks/task-1.md', taskFile('task-1', 'one.txt')),
      writeWork('tasks/task-2.md', taskFile('task-2', 'two.txt')),
      writeWork('tasks/task-3.md', taskFile('task-3', 'three.txt', ['task-1', 'task-2'])),
      done({ tasks_defined: 3 }),
    ],
  },
  { when: { mode: 'feedback-analysis' }, do: [writeWork('questions/feedback-driven.md', QUESTIONS), done()] },
  { when: { mode: 'UPDATE' }, do: [writeWork('plan.md', LATER), done()] },
  {
    when: { mode: 'REBREAKDOWN' },
    do: [writeWork('tasks/task-4.md', taskFile('task-4', 'four.txt', ['task-3'])), done()],
  },
  { when: { mode: 'TASK_REVIEW' }, do: [QUALIFIED] },
  {
    when: { mode: 'SESSION_REVIEW' },
    do: [
      writeWork('review.md', '# Session Review\n\n## Assessment\nComplete\n\n## Gaps\n- None\n'),
      done({ assessment: 'Complete' }),
    ],
  },
  { when: { mode: 'STAGE' }, do: [writeWork('knowledge/how-to/files.md', NOTE), done({ items_staged: 1 })] },
  { when: { mode: 'PROMOTE' }, do: [done()] },
  {
    when: { role: 'executor' },
    do: [{ write: { path: '{{task}}.out', content: 'made {{attempt}}\n' } }, done()],
  },
];
