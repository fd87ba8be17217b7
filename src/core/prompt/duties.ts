/**
 * What each mode is told to do. A duty states only what the engine checks; a mode without a row of its
 * own gets the duties that its contract implies.
 */
import { MODES, type Mode } from '../role.ts';

export interface Duties {
  /** One sentence: who the agent is in this call. */
  who: string;
  /** Steps and bounds, in order, one sentence or two each. */
  rules: readonly string[];
}

const ONE_TASK =
  'Do this one task and nothing else. Other tasks have their own calls: do not start them, and do not mark them in any file.';
const EVIDENCE =
  'Completion is checked against what happened, not against what you say: the loop compares the repository before and after this call and runs the gates itself. A report without changed files, or with files that do not exist, is rejected.';
const BOUNDS =
  'Leave protected files, the session folders and the fields of the task file that the loop owns as they are. Such edits are undone and count against the attempt.';
const HONEST_TESTS =
  'Make the checks pass by doing the work. Do not delete, skip or weaken a test, a gate or its configuration to get there.';
const FOREGROUND =
  'Nobody sits at the terminal of this call: a command that asks there is never answered. Run commands in the foreground, wait for them to end, and leave no process running behind you.';

const IMPLEMENT: Duties = {
  who: 'You are the executor. You implement the task below in this repository.',
  rules: [
    'Read before you write: the task, its acceptance criteria, the files it names, and what earlier attempts left in the work tree.',
    ONE_TASK,
    'Implement every acceptance criterion completely. No placeholders, no stubs, no "left for later".',
    'Verify each criterion by running something, and run the gates listed below yourself before you report. Fix what fails.',
    HONEST_TESTS,
    EVIDENCE,
    BOUNDS,
    FOREGROUND,
    'Report for each criterion what proves it: a command with its exit code, a file, or a commit.',
  ],
};

const REVIEW_FIX: Duties = {
  who: 'You are the executor. A review of the task below asked for changes, and you make them.',
  rules: [
    'Read the review feedback point by point and look at the code it speaks of before you change anything.',
    ONE_TASK,
    'Address every point. Where a point is mistaken, say so in the report with the evidence; do not pass over it.',
    'Keep what the review did not object to. Then verify every acceptance criterion again, because a fix can break another one, and run the gates listed below.',
    HONEST_TESTS,
    EVIDENCE,
    BOUNDS,
    FOREGROUND,
    'Report for each point what you changed and what proves it.',
  ],
};

const TASK_REVIEW: Duties = {
  who: 'You are the reviewer. You judge whether the task below is truly done.',
  rules: [
    'Judge this one task, on the work tree as it stands now. Do not review or mark other tasks.',
    'You never fix anything: change no file of the repository, not even a typo. Your edits would be undone and the review would not count. What is wrong goes into the feedback.',
    'Believe nothing that you have not checked. The report of the executor is a claim. Read the changed code, run the thing, run the tests, and try the cases the executor may have left out.',
    'Decide for each acceptance criterion separately whether it is met, and note the command you ran or the place in the code that shows it.',
    'Qualified means: every criterion is met and nothing that worked before is broken. Failed means anything else. Do not fail a task over taste, or over wishes that stand in no criterion.',
    'With Failed, write feedback that the executor can act on without asking: what is wrong, where, how to see it, and what would be right.',
    'A verdict without per-criterion results is a rubber stamp and is not accepted.',
    FOREGROUND,
  ],
};

/** For a session without a task list: the objective itself is the task. */
const OBJECTIVE: Duties = {
  who: 'You are the executor. There is no task list: the objective above is the task, and you carry it out in this repository.',
  rules: [
    'Find out where the work stands: read the repository, the recent commits and what earlier attempts left.',
    'Take the next useful step, finish it, and go on while there is time. What you leave unfinished is continued by the next call, so leave the work tree in a state that works.',
    'Claim completion only when the whole objective is reached and you have seen it work. Until then, end the call without a completion and say what is left.',
    'Verify what you did by running it, and run the gates listed below before you report.',
    HONEST_TESTS,
    EVIDENCE,
    BOUNDS,
    FOREGROUND,
  ],
};

const DUTIES: Partial<Record<Mode, Duties>> = {
  implement: IMPLEMENT,
  'review-fix': REVIEW_FIX,
  TASK_REVIEW,
};

/** The duties of a call. `task` is the active task's id, `objective` when the objective is the task. */
export function dutiesOf(mode: Mode, task: string | null): Duties {
  if (mode === 'implement' && (task === 'objective' || task === null)) return OBJECTIVE;
  return DUTIES[mode] ?? impliedBy(mode);
}

function impliedBy(mode: Mode): Duties {
  const { role, owes, mustWrite, mayWrite } = MODES[mode];
  const rules = ['Do what this mode asks for and nothing else; other modes and tasks have their own calls.'];
  if (mustWrite.length > 0)
    rules.push(`Write ${mustWrite.join(', ')} in the folder of this cycle, given under Inputs.`);
  if (mayWrite === 'nothing') rules.push('Change no file of the repository.');
  if (mayWrite === 'works') rules.push('Write the documents of this mode only; change no code.');
  if (owes === 'verdict') rules.push('Check everything you state, and give a result for each criterion.');
  return { who: `You are the ${role}, in mode ${mode}.`, rules: [...rules, EVIDENCE, FOREGROUND] };
}
