/** What a librarian is told: to write down what outlives the session, and to bring what was approved to its place. */
import {
  type Duties,
  FOREGROUND,
  type Format,
  ONE_MODE,
  type Scene,
  SEEN,
  WORKS_CHECKED,
} from './ground-rules.ts';

export function stage(scene: Scene): Duties {
  return {
    who: 'You are the librarian. The cycle is over, and you write down what it taught that will be useful after this session.',
    rules: [
      ONE_MODE,
      'Read plan.md, the answers, the reports with their reviews, review.md, and what is already in `.docs/`.',
      'Keep what is true beyond this session and costs time to find out again: how something is done here, a fact that is looked up, why a thing is as it is, a trap. Not what was done, not what the code says plainly, not opinions.',
      'Nothing worth keeping is a good result: then write nothing and report 0 items.',
      'One file for one thing, in one of four folders of `knowledge/`. tutorials: a way for a beginner, from start to end. how-to: steps to one goal, for somebody who knows why. reference: facts to look up, without opinion. explanation: why it is so, and what was decided against.',
      'Where `.docs/` already has a page about it, write the page as it should be then, under the same folder and name: it is merged when a person has approved it. Never the same thing twice.',
      'Items that were carried from an earlier cycle are offered again: check that they still hold, mend them, and keep their `carried_from_iteration` and `original_staged_at`.',
      'No passwords, keys, tokens or names of people, and no paths that exist on one machine only.',
      SEEN,
      'Then write `knowledge/index.md`: one line per item with its path and what it is good for.',
      'Write only below `knowledge/` in the folder of this cycle. `.docs/` is not touched before a person has approved.',
      WORKS_CHECKED,
      FOREGROUND,
    ],
    formats: [item(scene), INDEX],
  };
}

export function promote(): Duties {
  return {
    who: 'You are the librarian. A person has approved the items below, and you bring them into the documentation of the project.',
    rules: [
      ONE_MODE,
      'Take exactly the items that are listed under "Approved items", and nothing else that lies beside them.',
      'Each one goes to `.docs/<category>/<name>.md`, with the category of its front matter and its own file name. Leave out of the front matter what only the session needs to know; keep `source_session` and `source_iteration`.',
      'Where the page is not there, write it.',
      'Where the page is there and is older than `staged_at` of the item, merge: keep what still holds, put the new in where a reader looks for it, say nothing twice.',
      'Where the page is newer than `staged_at`, or people wrote what the item knows nothing of, never overwrite it: write the item beside it as `<name>.incoming.md` and list it under `conflicts`. A person merges it.',
      'An item whose front matter cannot be read, or that is gone, is left out and listed under `conflicts` with the reason. The others go on.',
      'Correct links between the pages that you move. Change nothing else in `.docs/`, and nothing outside it; the items themselves stay where they are.',
      'The loop compares `.docs/` before and after this call. What was overwritten against these rules is restored.',
      FOREGROUND,
    ],
  };
}

function item({ cycle }: Scene): Format {
  return {
    title: 'How an item of knowledge is written',
    terms:
      'The category is the name of its folder; source_artifacts are paths relative to the folder of the session; outcome stays `pending`. The words in the example are of another project.',
    example: `---
category: reference
source_session: ${cycle?.session ?? '260208-143000'}
source_iteration: ${cycle?.number ?? 1}
source_artifacts:
  - iterations/${cycle?.number ?? 1}/reports/task-3-report.md
staged_at: 2026-02-08T19:00:00Z
outcome: pending
---

# Exit codes of calc

| code | when |
|---|---|
| 0 | the expression has a value |
| 2 | a syntax error; the message names the column, counted from 1 |

Set in bin/calc.js:14, held by test/exit.test.js.`,
  };
}

const INDEX: Format = {
  title: 'How index.md is written',
  terms: 'Paths relative to `knowledge/`.',
  example: `# Staged knowledge

- [Exit codes of calc](reference/exit-codes.md): looked up by everybody who calls it from a script`,
};
