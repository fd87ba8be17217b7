/** The five roles of a session in memory: plays in which everybody does the job. */
import { type Policy, TEAMS } from '../../src/core/index.ts';
import { DONE, type Play } from './world.ts';

export const FULL: Partial<Policy> = { team: 'full', modes: [...TEAMS.full!] };
export const QUALIFIED = {
  status: 'completed',
  verdict: 'Qualified',
  criteria_results: [{ criterion: 'it works', met: true, note: 'saw it' }],
};
export const result = (payload: Record<string, unknown>) => ({ emit: [{ topic: 'ralph.result', payload }] });
export const taskText = (id: string, dependsOn: string[] = []) => JSON.stringify({ id, dependsOn });

/** Everybody does the job; a test overrides single modes. */
export const crew =
  (over: Partial<Record<string, Play>> = {}): Play =>
  (seen, world) => {
    const own = over[seen.mode];
    if (own) return own(seen, world);
    switch (seen.mode) {
      case 'INITIALIZE':
      case 'UPDATE':
        return { session: { 'plan.md': `the plan ${seen.mode}` }, say: DONE };
      case 'brainstorm':
        return { session: { [`questions/${seen.category}.md`]: '' }, say: DONE };
      case 'TASK_BREAKDOWN':
        return {
          session: {
            'tasks/task-1.md': taskText('task-1'),
            'tasks/task-2.md': taskText('task-2'),
            'tasks/task-3.md': taskText('task-3', ['task-1', 'task-2']),
          },
          say: DONE,
        };
      case 'REBREAKDOWN':
        return { session: { 'tasks/task-4.md': taskText('task-4') }, say: DONE };
      case 'SPLIT_TASK':
        return {
          session: {
            [`tasks/${seen.task}a.md`]: taskText(`${seen.task}a`),
            [`tasks/${seen.task}b.md`]: taskText(`${seen.task}b`, [`${seen.task}a`]),
          },
          say: DONE,
        };
      case 'feedback-analysis':
        return { session: { 'questions/feedback-driven.md': '' }, say: DONE };
      case 'TASK_REVIEW':
        return result(QUALIFIED);
      case 'SESSION_REVIEW':
        return { session: { 'review.md': 'Complete' }, say: DONE };
      case 'STAGE':
        return { session: { 'knowledge/how-to/build.md': 'build it so' }, say: DONE };
      case 'implement':
      case 'review-fix':
        return { write: { [`${seen.task}.txt`]: `made ${seen.task}` }, say: DONE };
      default:
        return { say: DONE };
    }
  };

/** Without rounds of questions, which most stories are not about. */
export const QUICK = { ...FULL, limits: { maxCycles: 0, onExhausted: 'fail' as const } };
