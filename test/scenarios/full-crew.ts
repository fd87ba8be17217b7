/** The crew with two tasks and a third one after feedback, for tests of what people see of a session. */
import { crew } from './crew.ts';
import { DONE, type Play } from './world.ts';

export { FULL } from './crew.ts';

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

export const crewOf = (over: Partial<Record<string, Play>> = {}): Play =>
  crew({
    TASK_BREAKDOWN: () => defined('task-1', 'task-2'),
    REBREAKDOWN: () => defined('task-3'),
    TASK_REVIEW: () => QUALIFIED,
    ...over,
  });
