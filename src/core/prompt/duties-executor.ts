/** What an executor is told: to carry out one task, or to mend it after a review. */
import {
  BOUNDS,
  type Duties,
  EVIDENCE,
  FOREGROUND,
  type Format,
  HONEST_TESTS,
  ONE_TASK,
  type Scene,
} from './ground-rules.ts';

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

export function implement(scene: Scene): Duties {
  if (scene.task === 'objective' || scene.task === null) return OBJECTIVE;
  return scene.cycle === null ? IMPLEMENT : inSession(IMPLEMENT, scene, IMPLEMENT_ORDER);
}

export function reviewFix(scene: Scene): Duties {
  return scene.cycle === null ? REVIEW_FIX : inSession(REVIEW_FIX, scene, REVIEW_FIX_ORDER);
}

const READ =
  'Read the context: plan.md, the task, the answers and the feedback that it names under Grounded In, and the reports of earlier attempts. What they say about other tasks is for your understanding only.';
const MARK =
  'The loop has marked the task as in progress, and marks it again after this call. You set no marker in any file.';
const STEER =
  'Between two steps take up what people have said meanwhile; what you made of it is `steer_response` in the result: restart, adjust or scope_change.';
const COMPILE_TIME =
  "Verify every criterion as far as it shows at build time: build, linter, types, unit tests, the gates. Running the finished thing as its user would is the review's part; what you already see fail is yours.";

const IMPLEMENT_ORDER = [READ, MARK, 'Implement.', STEER, COMPILE_TIME];
const REVIEW_FIX_ORDER = [
  READ,
  'Then the feedback of the review, in PART 2 of the last report: every point of it, and the code it speaks of.',
  MARK,
  'Make the changes that the feedback asks for.',
  STEER,
  COMPILE_TIME,
];

const BOUNDS_IN_SESSION =
  'Leave protected files, the task files and everything in the session folders but your own report as they are. Such edits are undone and count against the attempt.';

/** The duties of every team, whose first is to read, in the order of work that a session with reports has. */
function inSession(duties: Duties, scene: Scene, order: readonly string[]): Duties {
  const report =
    scene.cycle?.report == null
      ? []
      : [
          `Last, write PART 1 of the report to \`${scene.cycle.report}\`: what you changed, each criterion with what proves it, each command with its exit code. Write what happened, also where it is unpleasant; reports of earlier attempts stay as they are.`,
        ];
  return {
    who: duties.who,
    rules: [
      `Work in this order. ${order.map((step, i) => `(${String.fromCharCode(97 + i)}) ${step}`).join(' ')}`,
      ...duties.rules.slice(1).map((rule) => (rule === BOUNDS ? BOUNDS_IN_SESSION : rule)),
      ...report,
    ],
    ...(scene.cycle?.report == null ? {} : { formats: [partOne(scene)] }),
  };
}

function partOne(scene: Scene): Format {
  return {
    title: 'How PART 1 of a report is written',
    terms:
      'The front matter stands once, at the top of the file. The words in the example are of another project.',
    example: `---
task_id: ${scene.task}
iteration: ${scene.cycle?.number ?? 1}
attempt: ${scene.attempt}
files_modified:
  - src/parse.js
  - test/parse.test.js
created_at: 2026-02-08T15:10:00Z
---

# Report: ${scene.task}

## PART 1: Implementation

### Summary
A syntax error carries the offset of its token, and the command line prints it as a column.

### Success Criteria
- [x] \`node calc.js "2+"\` prints a line that holds "column 3": seen, exit 2
- [x] a test for an error in the middle and one at the end: test/parse.test.js:61, :70

### Verification
- \`npm run lint\`: exit 0
- \`npm test\`: exit 0, 43 tests

### Notes
Nothing is left open. Found on the way: \`src/old-lex.js\` is used by nobody.`,
  };
}
