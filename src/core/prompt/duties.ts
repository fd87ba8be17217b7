/** What each mode is told to do. A duty states only what the engine checks, in words that need no other page. */
import type { Mode } from '../role.ts';
import { implement, reviewFix } from './duties-executor.ts';
import { hat } from './duties-hat.ts';
import { promote, stage } from './duties-librarian.ts';
import { initialize, rebreakdown, splitTask, taskBreakdown, update } from './duties-planner.ts';
import { brainstorm, feedbackAnalysis, research } from './duties-questioner.ts';
import { sessionReview, taskReview, timeoutFail } from './duties-reviewer.ts';
import type { Duties, Scene } from './ground-rules.ts';
import { inertLine } from './inert.ts';
import type { PromptInput } from './input.ts';

const DUTIES: Record<Mode, (scene: Scene) => Duties> = {
  INITIALIZE: initialize,
  TASK_BREAKDOWN: taskBreakdown,
  UPDATE: update,
  REBREAKDOWN: rebreakdown,
  SPLIT_TASK: splitTask,
  brainstorm,
  research,
  'feedback-analysis': feedbackAnalysis,
  implement,
  'review-fix': reviewFix,
  TASK_REVIEW: taskReview,
  SESSION_REVIEW: sessionReview,
  TIMEOUT_FAIL: timeoutFail,
  STAGE: stage,
  PROMOTE: promote,
  hat,
};

/** The duties of a call. Where the objective itself is the task, its id is `objective`. */
export function dutiesOf(input: PromptInput): Duties {
  return DUTIES[input.mode](sceneOf(input));
}

function sceneOf({ task, attempt, session, completionWord, hat, role, events = [] }: PromptInput): Scene {
  const safe = (text: string) => inertLine(text, completionWord ?? null).slice(0, 300);
  return {
    task: task === null ? null : task.id === 'objective' ? task.id : safe(task.id),
    attempt,
    hat: hat === undefined ? null : { name: safe(hat.title ?? role), woken: events.length > 0 },
    cycle:
      session === undefined
        ? null
        : {
            number: session.cycle,
            session: safe(session.dir.replace(/\/+$/, '').split('/').at(-1) ?? ''),
            category: safe(session.category ?? ''),
            round: session.round ?? 1,
            scopeChange: session.scopeChange !== undefined,
            report: session.reportPath ? safe(session.reportPath) : null,
          },
  };
}
