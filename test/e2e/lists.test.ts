/** Task lists stay the user's: the engine moves marks, after a verdict, and nothing else. */
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, prompt, started, verdicts } from './journal.ts';
import { DONE, makeProject, type Project, result, type ScriptedRun, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const REVIEW = { reviewStatus: null, reviewCount: 0, reviewFeedback: '' };
const code = async (...args: string[]) => (await project.ralph(args)).code;
const stories = () => JSON.parse(project.read('ralph/tasks.json')).userStories as Record<string, unknown>[];

function review(verdict: 'Qualified' | 'Failed', feedback = ''): Record<string, unknown> {
  const criteria_results = [{ criterion: 'exists', met: verdict === 'Qualified' }];
  return {
    emit: {
      topic: 'ralph.result',
      payload: { status: 'completed', mode: 'TASK_REVIEW', verdict, feedback, criteria_results },
    },
  };
}

/** Writes a version of the file and claims it. */
const WORK = [{ write: { path: '{{task}}.txt', content: 'version {{iteration}}\n' } }, { say: DONE }];

/** Lines of the whole history that changed in a file, without those that only moved a comma. */
function changedLines(path: string): string[] {
  const root = project.git('rev-list', '--max-parents=0', 'HEAD');
  return project
    .git('diff', '-U0', root, '--', path)
    .split('\n')
    .filter((line) => /^[-+](?![-+])/.test(line));
}

test('the review cycle of tasks.json: null, needs_review, changes_requested, needs_review, approved', async () => {
  const watch = (status: string) => ({
    run: `node -e "const s=JSON.parse(require('fs').readFileSync('ralph/tasks.json')).userStories[0]; console.log(process.env.RALPH_MODE, s.reviewStatus, s.reviewCount, s.passes)" >> .git/seen.log # ${status}`,
  });
  const runs: ScriptedRun[] = [
    { when: { iteration: 1 }, do: [watch('first'), ...WORK] },
    { when: { iteration: 2 }, do: [watch('review'), review('Failed', 'a.txt has no version 3.')] },
    { when: { iteration: 3 }, do: [watch('fix'), ...WORK] },
    { do: [watch('second review'), review('Qualified', 'Fine.')] },
  ];
  const text = taskList([story('a', { ...REVIEW, owner: 'Ünal', tags: ['x', { y: 1 }] })], {
    branchName: 'ralph/x',
  });
  project = makeProject({
    files: { 'ralph/tasks.json': text, 'ralph/prd.md': '# Why\n\nBecause of otters.\n' },
    runs,
  });
  expect(await code('run')).toBe(0);
  expect(project.read('.git/seen.log').trim().split('\n')).toEqual([
    'implement null 0 false',
    'TASK_REVIEW needs_review 0 false',
    'review-fix changes_requested 1 false',
    'TASK_REVIEW needs_review 1 false',
  ]);
  expect(stories()[0]).toMatchObject({
    reviewStatus: 'approved',
    reviewCount: 2,
    passes: true,
    owner: 'Ünal',
  });
  expect(prompt(project, 1)).toContain('Because of otters.');
  expect(prompt(project, 3)).toContain('a.txt has no version 3.');
  expect(facts(project, 'attempt.started').map(({ item }) => item.mode)).toEqual([
    'implement',
    'TASK_REVIEW',
    'review-fix',
    'TASK_REVIEW',
  ]);
  expect(changedLines('ralph/tasks.json').every((line) => /"(passes|review\w+)":/.test(line))).toBe(true);
  expect(project.git('status', '--porcelain')).toBe('');
  expect(
    project
      .read('ralph/logs/summary.csv')
      .split('\n')
      .slice(1, 5)
      .map((row) => row.split(',')[1]),
  ).toEqual(['implement', 'review', 'review-fix', 'review']);
});

test('at the cap a review with issues approves, and says so; below it nobody may claim that', async () => {
  const text = taskList([story('a', REVIEW)]);
  const runs: ScriptedRun[] = [
    { when: { mode: 'TASK_REVIEW' }, do: [review('Failed', 'Still wrong.')] },
    { do: WORK },
  ];
  project = makeProject({ files: { 'ralph/tasks.json': text }, runs });
  expect(await code('run', '--review-cap', '2')).toBe(0);
  expect(stories()[0]).toMatchObject({ reviewStatus: 'approved', reviewCount: 2, passes: true });
  expect(stories()[0]!.reviewFeedback).toMatch(/^\[AUTO-APPROVED AT CAP\]/);
  project.remove();

  const early = story('a', {
    ...REVIEW,
    passes: true,
    reviewStatus: 'approved',
    reviewCount: 1,
    reviewFeedback: '[AUTO-APPROVED AT CAP] no',
  });
  project = makeProject({
    files: { 'ralph/tasks.json': text },
    runs: [
      {
        when: { iteration: 2 },
        do: [{ write: { path: 'ralph/tasks.json', content: taskList([early]) } }, { say: 'Reviewed.' }],
      },
      { when: { mode: 'TASK_REVIEW' }, do: [review('Qualified')] },
      { do: WORK },
    ],
  });
  expect(await code('run')).toBe(0);
  expect(facts(project, 'review.recorded').map(({ verdict }) => verdict)).toEqual(['Failed', 'Qualified']);
  expect(verdicts(project)[1]).toContain('illegal_task_change');
});

test('--skip-review: an accepted verdict passes a story without a reviewer', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a', REVIEW)]) },
    runs: [{ do: WORK }],
  });
  expect(await code('run', '--skip-review')).toBe(0);
  expect(started(project)).toBe(1);
  expect(stories()[0]).toMatchObject({ passes: true });
});

test('what an agent may not do to the list is undone, kept beside the attempt, and held against it', async () => {
  const tamper = (over: Record<string, unknown>, ...more: Record<string, unknown>[]) => ({
    write: { path: 'ralph/tasks.json', content: taskList([story('a', { ...REVIEW, ...over }), ...more]) },
  });
  const others = [story('b', REVIEW)];
  const runs: ScriptedRun[] = [
    { when: { iteration: 1 }, do: [...WORK.slice(0, 1), tamper({ reviewCount: 3 }, ...others), WORK[1]!] },
    { when: { iteration: 2 }, do: [tamper({})] },
    {
      when: { iteration: 3 },
      do: [...WORK.slice(0, 1), { write: { path: 'ralph/tasks.json', content: '{"userSto' } }, WORK[1]!],
    },
  ];
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a', REVIEW), ...others]) },
    runs,
    config: 'limits: { max_task_attempts: 9 }\n',
  });
  expect(await code('run', '-n', '3', '--task', 'a', '--max-stuck', '0')).toBe(1);
  for (const line of verdicts(project)) expect(line).toMatch(/^a rejected.*illegal_task_change/);
  expect(stories()).toMatchObject([
    { id: 'a', passes: false, reviewCount: 0 },
    { id: 'b', passes: false },
  ]);
  expect(project.git('diff', 'HEAD', '--', 'ralph/tasks.json')).toBe('');
  const kept = facts(project, 'attempt.ended').flatMap(({ trespass }) =>
    trespass.map(({ keptAs }) => keptAs),
  );
  expect(kept.length).toBeGreaterThan(2);
  for (const path of kept) expect(path).toMatch(/^attempts\/00\d\//);
});

test('plain prd.json and a Markdown PRD.md: only the marks change', async () => {
  const prd = `{"branchName":"ralph/x","userStories":[\n\t{"id":"US-1","title":"One","acceptanceCriteria":["x"],"priority":2,"passes":false,"notes":""},\n\t{"id":"US-2","title":"Two","acceptanceCriteria":["x"],"priority":1,"passes":false,"notes":""}\n]}`;
  project = makeProject({ files: { 'prd.json': prd }, runs: [{ do: WORK }] });
  expect(await code('run')).toBe(0);
  expect(project.read('prd.json')).toBe(prd.replaceAll('"passes":false', '"passes":true'));
  expect(facts(project, 'attempt.started').map(({ item }) => item.task)).toEqual(['US-2', 'US-1']);
  project.remove();

  const md =
    '# Plan\r\n\r\nSome words.\r\n\r\n- [ ] First thing\r\n  - it works\r\n- [x] Old thing\r\n* [ ] Second **thing**\r\n\r\n```\r\n- [ ] not a task\r\n```\r\nThe end, without a newline';
  project = makeProject({
    files: { 'PRD.md': md },
    runs: [{ do: [{ append: { path: 'work.txt', content: '{{task}}\n' } }, { say: DONE }] }],
  });
  expect(await code('run')).toBe(0);
  expect(project.read('PRD.md')).toBe(
    md.replace('- [ ] First', '- [x] First').replace('* [ ] Second', '* [x] Second'),
  );
  expect(json<unknown[]>(await project.ralph(['tasks', '--json']))).toHaveLength(3);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('no list: the objective is the task, said on the line or in a file', async () => {
  project = makeProject({
    files: { 'docs/wish.md': 'Write {{otter}} facts.\n\nAt least "three".\n' },
    runs: [{ do: [{ write: { path: 'otters.txt', content: '{{task}}\n' } }, { say: DONE }] }],
  });
  const ran = await project.ralph(['run', 'count', 'the', 'otters', '--json']);
  expect(result(ran).exit.code).toBe(0);
  expect(project.read('otters.txt')).toBe('objective\n');
  expect(prompt(project, 1)).toContain('count the otters');
  expect(project.git('log', '-1', '--format=%s')).toContain('count the otters');
  project.write('otters.txt', 'none\n');
  project.git('commit', '-qam', 'by hand');
  expect(await code('run', '-p', 'docs/wish.md')).toBe(0);
  expect(prompt(project, 1)).toContain('At least "three".');
  const missing = await project.ralph(['run', '-p', 'docs/nowhere.md']);
  expect([missing.code, missing.err]).toEqual([5, expect.stringContaining('docs/nowhere.md')]);
  const nothing = await project.ralph(['run']);
  expect([nothing.code, nothing.err]).toEqual([5, expect.stringContaining('nothing to work on')]);
});

test('a list beside an objective: the objective is the context of every task', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a')]) }, runs: [{ do: WORK }] });
  expect(await code('run', 'for the spring release')).toBe(0);
  expect(prompt(project, 1)).toContain('for the spring release');
  expect(prompt(project, 1)).toContain('Write a.txt');
});

test('the list may change while the loop runs: a person adds a story, an agent adds an open one', async () => {
  const added = taskList([story('a'), story('b'), story('c', { priority: 3 })]);
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a'), story('b')]) },
    runs: [
      { when: { task: 'a' }, do: [{ write: { path: 'ralph/tasks.json', content: added } }, ...WORK] },
      { do: WORK },
    ],
  });
  expect(await code('run')).toBe(0);
  expect(stories().map(({ id, passes }) => [id, passes])).toEqual([
    ['a', true],
    ['b', true],
    ['c', true],
  ]);
});

test('a story that depends on another waits for it; a loop or a stranger among them is refused with its ids', async () => {
  project = makeProject({
    files: {
      'ralph/tasks.json': taskList([
        story('a', { dependsOn: ['b'], priority: 1 }),
        story('b', { priority: 9 }),
      ]),
    },
    runs: [{ do: WORK }],
  });
  expect(await code('run')).toBe(0);
  expect(facts(project, 'attempt.started').map(({ item }) => item.task)).toEqual(['b', 'a']);
  for (const [stories, words] of [
    [[story('c', { dependsOn: ['d'] }), story('d', { dependsOn: ['c'] })], /c.*d/],
    [[story('c', { dependsOn: ['cc'] })], /cc/],
  ] as const) {
    project.write('ralph/tasks.json', taskList([...stories]));
    project.git('commit', '-qam', 'list');
    const refused = await project.ralph(['run', '--new']);
    expect([refused.code, refused.err + refused.out]).toEqual([5, expect.stringMatching(words)]);
  }
});

test.each([
  [
    "sed -i 's/T-2: Make file number 2/T-9: Something else entirely/; s/f2.txt exists/zzz holds/' PRD.md",
    'T-2',
  ],
  ["sed -i '/T-3/d;/f3.txt/d' PRD.md; echo '- [ ] T-9: extra' >> PRD.md", 'T-3'],
])('an agent that puts another task in the place of one: %s', async (tamper, lost) => {
  const lines = [1, 2, 3].map((n) => `- [ ] T-${n}: Make file number ${n}\n  - f${n}.txt exists\n`);
  project = makeProject({
    files: { 'PRD.md': `# Files\n\n${lines.join('')}` },
    runs: [{ do: [{ run: `echo 1 > f1.txt; ${tamper}` }, { say: DONE }] }],
  });
  expect(await code('run', '-n', '1')).toBe(1);
  expect(verdicts(project)[0]).toMatch(/^T-1 rejected.*illegal_task_change/);
  expect((await project.ralph(['why', 'T-1'])).out).toContain(`"${lost}" was deleted`);
  for (const line of lines) expect(project.read('PRD.md')).toContain(line);
  expect((await project.ralph(['tasks'])).out).toContain('T-9');
});
