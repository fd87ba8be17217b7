/** A crew of the five roles that does its job, for tests of what people see of a session; single modes may differ. */
import { type Policy, TEAMS } from '../../src/core/index.ts';
import { DONE, type Play } from './world.ts';

export const FULL: Partial<Policy> = { team: 'full', modes: [...TEAMS.full!] };

export const reported = (payload: Record<string, unknown>) => ({
  emit: [{ topic: 'ralph.result', payload: { status: 'completed', ...payload } }],
});

export const QUALIFIED = reported({
  verdict: 'Qualified',
  criteria_results: [{ criterion: 'it works', met: true, note: 'saw it' }],
});

const defined = (...ids: string[]) => ({
  session: Object.fromEntries(ids.map((id) => [`tasks/${id}.md`, JSON.stringify({ id, dependsOn: [] })])),
  say: DONE,
});

export const crewOf =
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
        return defined('task-1', 'task-2');
      case 'REBREAKDOWN':
        return defined('task-3');
      case 'feedback-analysis':
        return { session: { 'questions/feedback-driven.md': '' }, say: DONE };
      case 'TASK_REVIEW':
        return QUALIFIED;
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
