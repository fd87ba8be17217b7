/**
 * What an agent says it did, held against what happened: false evidence is named with the reason, true
 * evidence is linked to the task's criteria, and `ralph why` shows the receipt.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { facts, sessionDir } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project?.remove());

const CRITERIA = ['the parser reads a list', 'its tests pass', 'the notes say so'];
const GATE = 'gates: [{ name: test, run: "sh test.sh" }]\n';

function make(runs: ScriptedRun[], files: Record<string, string> = {}, config = GATE): Project {
  return makeProject({
    files: {
      'ralph/tasks.json': taskList([story('a', { acceptanceCriteria: CRITERIA })]),
      'src/y.ts': 'export const y = 1;\n',
      'test.sh': 'exit 0\n',
      ...files,
    },
    runs,
    config,
  });
}

const write = (path: string, content = 'export const x = 1;\n') => ({ write: { path, content } });
const report = (payload: Record<string, unknown>) => ({
  emit: { topic: 'ralph.result', payload: { status: 'completed', ...payload } },
});

function findings(n = 0) {
  return facts(project, 'verdict.reached')[n]!.findings.filter(({ kind }) => kind.startsWith('evidence_'));
}

async function why(subject: string) {
  const ran = await project.ralph(['why', subject, '--json']);
  const told = JSON.parse(ran.out);
  return {
    text: (await project.ralph(['why', subject])).out,
    receipt: (told.iterations?.[0] ?? told).receipt,
  };
}

test('false evidence is named and why; true evidence is linked to its criteria', async () => {
  project = make([
    {
      do: [
        write('src/x.ts', 'export {};\n'.repeat(40)),
        report({
          files_modified: ['src/x.ts:10-40', 'src/y.ts', 'src/ghost.ts'],
          evidence: [
            { criterion: CRITERIA[0], kind: 'file', value: 'src/x.ts' },
            { criterion: '2', kind: 'command', value: 'sh test.sh', exit_code: 0 },
          ],
          criteria_results: [
            { criterion: CRITERIA[1], met: true },
            { criterion: CRITERIA[2], met: true, note: 'see `src/y.ts`' },
          ],
        }),
      ],
    },
  ]);
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(0);
  expect(findings()).toEqual([
    {
      kind: 'evidence_validation_failed',
      detail:
        'Claimed, and not so: src/y.ts (it is as it was before this task); src/ghost.ts (there is no such file).',
      about: ['file'],
    },
  ]);
  const { text, receipt } = await why('a');
  expect(receipt.files).toMatchObject([
    { path: 'src/x.ts', lines: '10-40', status: 'changed', held: true, from: ['outbox'] },
    { path: 'src/y.ts', status: 'unchanged', wrong: true },
    { path: 'src/ghost.ts', status: 'absent', wrong: true },
  ]);
  expect(
    receipt.criteria.map(({ number, held }: { number: number; held: boolean }) => [number, held]),
  ).toEqual([
    [1, true],
    [2, true],
    [3, false],
  ]);
  expect(text).toContain('claimed src/x.ts (lines 10-40): changed');
  expect(text).toContain('claimed src/y.ts: claimed and unchanged: it is as it was before this task');
  expect(text).toMatch(/criterion 2 \(its tests pass\): held by `sh test\.sh` exit 0/);
  expect(text).toMatch(/criterion 3 \(the notes say so\): not held: src\/y\.ts it is as it was/);
  const kept = JSON.parse(readFileSync(join(sessionDir(project), 'attempts/001/evidence.json'), 'utf8'));
  expect(kept.evidence.receipt.files).toHaveLength(3);
});

test('a criterion that nobody gave evidence for is listed, too', async () => {
  const payload = {
    status: 'completed',
    evidence: [{ criterion: '2', kind: 'file', value: 'src/x.ts' }],
  };
  const runs = [
    { do: [{ write: { path: 'src/x.ts', content: 'x\n' } }, { emit: { topic: 'ralph.result', payload } }] },
  ];
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a', { acceptanceCriteria: CRITERIA })]) },
    runs,
  });
  expect((await project.ralph(['run'])).code).toBe(0);
  const { text, receipt } = await why('a');
  expect(receipt.criteria).toMatchObject([
    { number: 1, met: null, held: false, by: [] },
    { number: 2, held: true },
    { number: 3, met: null, held: false, by: [] },
  ]);
  expect(text).toMatch(/criterion 1 \(.*\): no evidence given/);
  expect(text).toMatch(/criterion 3 \(.*\): no evidence given/);
});

test('prose counts: what is true needs no asking again, what is false is named', async () => {
  const prose = `I created \`src/x.ts\`, lines 1-1, and updated \`src/y.ts\`. I did not touch \`src/z.ts\`.\n\n${DONE}`;
  project = make([{ when: { iteration: 1 }, do: [write('src/x.ts'), { say: prose }] }]);
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(0);
  expect(findings()).toEqual([
    {
      kind: 'evidence_validation_failed',
      detail: 'Claimed, and not so: src/y.ts (it is as it was before this task).',
      about: ['file'],
    },
  ]);
  project.remove();

  project = make([{ do: [write('src/x.ts'), { say: `Die Datei \`src/x.ts\` wurde angelegt.\n\n${DONE}` }] }]);
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(0);
  expect(findings()).toEqual([]);
});

test('an agent that tells of files and claims nothing is told that they are not there', async () => {
  project = make([{ do: [{ say: 'Files created:\n\n- `src/a.ts`\n- `src/b.ts`' }] }]);
  await project.ralph(['run', '-n', '1']);
  expect(findings()).toMatchObject([{ detail: expect.stringMatching(/src\/a\.ts .*src\/b\.ts/) }]);
});

test('an invented commit and lines behind the end of a file are false claims, each in its own words', async () => {
  project = make([
    {
      do: [
        write('src/x.ts', 'x\n'.repeat(10)),
        { run: 'git add src/x.ts && git commit -qm mine && git rev-parse HEAD > .git/mine' },
        report({
          files_modified: ['src/x.ts:900-950'],
          evidence: [
            { kind: 'commit', value: 'deadbeefcafe' },
            { criterion: '1', kind: 'commit', value: 'feedface01' },
          ],
        }),
      ],
    },
  ]);
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(0);
  expect(findings()).toEqual([
    {
      kind: 'evidence_validation_failed',
      detail:
        'Claimed, and not so: src/x.ts lines 900-950 (it has 10 lines); commit deadbeefcafe (the repository has no such commit); commit feedface01 (the repository has no such commit).',
      about: ['lines', 'commit'],
    },
  ]);
  const { intervention } = facts(project, 'intervention.chosen')[0]!;
  expect(intervention.sentence).toContain('named commits that were not made');
  expect(intervention.sentence).not.toContain('files that do not exist');
  expect((await why('1')).text).toContain('claimed commit deadbeefcafe: not so: the repository has no such');
});

test('paths are read as agents write them', async () => {
  project = make(
    [
      {
        do: [
          write('src/deep/Chart.ts'),
          write('docs/one.md'),
          write('dist/out.js'),
          { run: 'git mv src/y.ts src/z.ts && rm old.txt && echo 1 > src/tmp.ts && rm src/tmp.ts' },
          report({
            files_modified: [
              join('/elsewhere', 'x.ts'),
              './src/deep/Chart.ts',
              'src\\deep\\Chart.ts',
              'SRC/deep/chart.ts',
              'docs/*.md',
              'lib/*.ts',
              'dist/out.js',
              'src/y.ts -> src/z.ts',
              'old.txt',
              'src/tmp.ts',
              'ralph/tasks.json',
              '../outside.ts',
            ],
          }),
          { say: 'Removed `old.txt`, renamed `src/y.ts` to `src/z.ts` and removed `test.sh`.' },
        ],
      },
    ],
    { '.gitignore': 'dist/\n', 'old.txt': 'old\n' },
  );
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(0);
  const { receipt } = await why('1');
  const told = receipt.files.map(
    ({ path, status, held, wrong }: Record<string, unknown>) =>
      `${path} ${status}${held ? ' held' : ''}${wrong ? ' wrong' : ''}`,
  );
  expect(told).toEqual([
    '/elsewhere/x.ts outside',
    'src/deep/Chart.ts changed held',
    'docs/*.md changed held',
    'lib/*.ts unchanged wrong',
    'dist/out.js ignored',
    'src/y.ts deleted held',
    'src/z.ts changed held',
    'old.txt deleted held',
    'src/tmp.ts absent wrong',
    'ralph/tasks.json bookkeeping',
    '../outside.ts outside',
    'test.sh unchanged wrong',
  ]);
});

test('an absolute path and a run in a sub-folder name the same file', async () => {
  project = make([]);
  const dir = join(project.dir, 'app');
  mkdirSync(join(dir, 'ralph'), { recursive: true });
  writeFileSync(join(dir, 'ralph/tasks.json'), taskList([story('a')]));
  writeFileSync(
    join(dir, 'ralph.yml'),
    'agent: scripted\nagents:\n  scripted: { command: ["ralph", "__script-agent", "agent.json"] }\n',
  );
  writeFileSync(
    join(dir, 'agent.json'),
    JSON.stringify({
      runs: [
        {
          do: [
            write('one.ts'),
            write('two.ts'),
            { say: `Created one.ts, \`app/two.ts\` and "${join(dir, 'one.ts')}".\n\n${DONE}` },
          ],
        },
      ],
    }),
  );
  project.git('add', '-A');
  project.git('commit', '-qm', 'app');
  const ran = await project.ralph(['run', '-n', '1'], { cwd: dir });
  expect(ran.code, ran.err + ran.out).toBe(0);
  const told = JSON.parse((await project.ralph(['why', '1', '--json'], { cwd: dir })).out);
  expect(told.findings).toEqual([]);
  expect(told.receipt.files.map(({ path, held }: { path: string; held: boolean }) => [path, held])).toEqual([
    ['app/one.ts', true],
    ['app/two.ts', true],
  ]);
});

test('a command that was claimed green and is not is named; a review without code is no liar', async () => {
  const review = {
    status: 'completed',
    verdict: 'Qualified',
    files_modified: ['src/y.ts'],
    criteria_results: CRITERIA.map((criterion) => ({ criterion, met: true, note: '`sh test.sh`' })),
  };
  project = make(
    [
      { when: { mode: 'TASK_REVIEW' }, do: [{ emit: { topic: 'ralph.result', payload: review } }] },
      {
        when: { attempt: 1, mode: 'implement' },
        do: [write('test.sh', 'exit 3\n'), { say: `\`sh test.sh\` passes.\n\n${DONE}` }],
      },
      {
        do: [
          write('test.sh', 'exit 0 # ok\n'),
          { say: `Fixed \`test.sh\`: \`sh test.sh\` exits with exit code 0.\n\n${DONE}` },
        ],
      },
    ],
    {},
    `${GATE}team: pair\n`,
  );
  expect((await project.ralph(['run', '-n', '5'])).code).toBe(0);
  expect(findings(0)).toMatchObject([
    { detail: 'Claimed, and not so: `sh test.sh` with exit 0 (the gate ended with exit 3).' },
  ]);
  expect(findings(1)).toEqual([]);
  expect(facts(project, 'verdict.reached').at(-1)).toMatchObject({
    item: { mode: 'TASK_REVIEW' },
    value: 'accepted',
  });
  expect(findings(2)).toEqual([]);
});

test('a reset shows in events.json and profile.json at once; a damaged file is set aside and named', async () => {
  project = make([{ do: [{ say: DONE }] }]);
  await project.ralph(['run', '-n', '1']);
  const at = (name: string) => join(project.dir, '.ralph/interventions', name);
  const read = (name: string) => JSON.parse(readFileSync(at(name), 'utf8'));
  expect(read('events.json').events.length).toBeGreaterThan(0);
  expect(JSON.parse((await project.ralph(['interventions', '--json'])).out)).toHaveLength(
    read('events.json').events.length,
  );
  writeFileSync(at('events.json'), '{"events": [');
  const reset = await project.ralph(['interventions', '--reset']);
  expect([reset.code, reset.err]).toEqual([0, expect.stringContaining('events.json was damaged')]);
  expect(readFileSync(at('events.json.damaged-1'), 'utf8')).toBe('{"events": [');
  expect([read('events.json').events, read('profile.json').agents]).toEqual([[], {}]);
  expect((await project.ralph(['interventions', '--json'])).out).toBe('[]\n');
});
