/**
 * The result object of each mode, as a prompt shows it. Words to choose from stand where one word belongs, so that
 * the sample handed back is no result.
 */
import { MODES } from '../role.ts';
import { inertLine } from './inert.ts';
import type { PromptInput } from './input.ts';

type Sample = Record<string, unknown>;

/** The object as it is shown. */
export function sampleResult(input: PromptInput): Sample {
  const common = {
    status: 'completed | failed | blocked | paused',
    mode: input.mode,
    ...(input.task === null ? {} : { task_id: inertLine(input.task.id, input.completionWord ?? null) }),
    summary: 'what you did, in two or three sentences',
  };
  const role = MODES[input.mode].role;
  if (role === 'reviewer') return { ...common, ...reviewed(input) };
  if (role === 'executor') return { ...common, ...executed(input) };
  return { ...common, ...written(input), blockers: [] };
}

function reviewed({ mode }: PromptInput): Sample {
  if (mode === 'SESSION_REVIEW')
    return {
      assessment: 'Complete | Gaps Identified',
      criteria_results: [
        { criterion: 'text of a success criterion of the plan', met: 'true | false', note: 'what you ran' },
      ],
      gaps: ['what is missing, where, how to see it'],
    };
  return {
    verdict: mode === 'TIMEOUT_FAIL' ? 'Failed' : 'Qualified | Failed',
    criteria_results: [
      { criterion: 'text of the criterion', met: 'true | false', note: 'what you ran or read' },
    ],
    feedback:
      mode === 'TIMEOUT_FAIL'
        ? 'what to keep, what to begin with, what to stay away from'
        : 'what must change, where, and how to see it; empty when Qualified',
  };
}

function executed({ mode, attempt, session }: PromptInput): Sample {
  const report = session?.reportPath;
  return {
    ...(session === undefined ? {} : { attempt_number: attempt }),
    ...(report ? { report_path: inertLine(report, null) } : {}),
    success_criteria_met: 'true | false',
    ...(session === undefined ? {} : { criteria_breakdown: { total: 3, met: 3, not_met: 0 } }),
    files_modified: ['path/of/a/file'],
    evidence: [
      {
        criterion: 'text of the criterion',
        kind: 'command | file | commit',
        value: 'the command',
        exit_code: 'its exit code',
      },
    ],
    ...(session !== undefined && mode === 'review-fix'
      ? { feedback_addressed: ['the point of the review, and what you did about it'] }
      : {}),
    ...(session === undefined ? {} : { discovered_tasks: ['work you found that no task names'] }),
    blockers: [],
  };
}

/** Of those whose work is files of the session. */
function written({ mode, session }: PromptInput): Sample {
  const number = session?.cycle ?? 1;
  const at = (name: string) => `iterations/${number}/${name}`;
  switch (mode) {
    case 'INITIALIZE':
      return { artifacts_created: [at('plan.md')], next_action: 'what is still open, in one sentence' };
    case 'UPDATE':
      return {
        artifacts_updated: [at('plan.md')],
        next_action: 'what changes for the tasks, in one sentence',
      };
    case 'TASK_BREAKDOWN':
      return {
        artifacts_created: [at('tasks/task-1.md'), at('tasks/task-2.md')],
        tasks_defined: 2,
        next_action: 'which tasks can start at once',
      };
    case 'REBREAKDOWN':
      return {
        artifacts_created: [at('tasks/task-7.md')],
        artifacts_updated: [at('tasks/task-3.md')],
        tasks_defined: 2,
        next_action: 'which tasks can start at once',
      };
    case 'SPLIT_TASK':
      return {
        artifacts_created: [at('tasks/task-3a.md'), at('tasks/task-3b.md')],
        tasks_defined: 2,
        next_action: 'which of them can start at once',
      };
    case 'STAGE':
      return { items_staged: 1, files: [at('knowledge/reference/exit-codes.md')] };
    case 'PROMOTE':
      return { promoted: ['.docs/reference/exit-codes.md'], conflicts: [] };
    default:
      return questioned({ mode, session });
  }
}

function questioned({ mode, session }: Pick<PromptInput, 'mode' | 'session'>): Sample {
  const feedback = mode === 'feedback-analysis';
  const category = feedback ? 'feedback-driven' : inertLine(session?.category || 'technical', null);
  return {
    ...(mode === 'research' && !session?.category ? {} : { category }),
    cycle: session?.round ?? 1,
    ...(mode === 'research'
      ? { questions_answered: 6, new_questions_emerged: 0 }
      : { questions_generated: 6 }),
    files_updated: [`iterations/${session?.cycle ?? 1}/questions/${category}.md`],
  };
}

/** What has to be said about the fields; empty where they say it themselves. */
export function aboutResult({ mode, session }: PromptInput): string {
  switch (mode) {
    case 'TASK_REVIEW':
      return 'Here `status` is about the review, `verdict` about the task: a finished review with the verdict Failed is `completed`. Give one entry in `criteria_results` for every acceptance criterion.';
    case 'TIMEOUT_FAIL':
      return 'Here `status` is about your call, `verdict` about the task: `completed` with the verdict Failed. Give one entry in `criteria_results` for every acceptance criterion.';
    case 'SESSION_REVIEW':
      return 'Here `status` is about the review, `assessment` about the session: a finished review that found gaps is `completed`. `gaps` is empty with Complete; Complete beside a gap counts as Gaps Identified. Give one entry in `criteria_results` for every success criterion of the plan.';
    case 'TASK_BREAKDOWN':
    case 'REBREAKDOWN':
    case 'SPLIT_TASK':
      return '`tasks_defined` is how many task files you wrote or changed. Lists hold every path.';
    case 'research':
      return '`questions_answered` counts answers that are more than "Research Needed"; `new_questions_emerged` counts the questions you appended. Where it is 0, no further round is held.';
    case 'brainstorm':
    case 'feedback-analysis':
      return '`questions_generated` counts the questions you appended in this call.';
    case 'STAGE':
      return '`items_staged` is how many items are offered, carried ones included and index.md not; `files` holds their paths. Nothing worth keeping: 0 and an empty list.';
    case 'PROMOTE':
      return '`promoted` holds the pages that now stand in `.docs/`; `conflicts` one line for each item that is not there, with the reason.';
    case 'implement':
    case 'review-fix':
      return session === undefined
        ? ''
        : '`files_modified` holds files of the repository; the report is none of them. The numbers of `criteria_breakdown` are those of your task. `discovered_tasks` may be empty: a person decides about them, and you do not begin them.';
    case 'hat':
      return 'Here `status` is about your call: `completed` when your part is done. Where you publish no topic for another role, it says that the whole is complete.';
    default:
      return '';
  }
}
