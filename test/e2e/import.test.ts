import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project?.remove());

const PLAN = '# Shop\n\n## Phase 1\n\n- [x] US-1: Sell\n- [ ] US-2: Buy (P1)\n  - it costs money\n';
const TWO = JSON.stringify({
  stories: [{ id: 's1', title: 'A story', passes: false }],
  tasks: [{ id: 't1', title: 'A task', done: true }],
});
const target = () => JSON.parse(project.read('ralph/tasks.json'));

test('a Markdown plan is shown with a difference, then written as ralph/tasks.json, and runs', async () => {
  project = makeProject({ files: { 'plan.md': PLAN } });
  const dry = await project.ralph(['import', 'plan.md', '--dry-run']);
  expect(dry).toMatchObject({ code: 0, err: '' });
  expect(dry.out).toContain('plan.md (markdown): 2 tasks, 1 done');
  expect(dry.out).toContain('[x] US-1  Sell');
  expect(dry.out).toContain('[ ] US-2  Buy  (1 criterion)');
  expect(dry.out).toMatch(/ralph\/tasks\.json \(new\):\n {2}\+\{/);
  expect(dry.out).toContain('ralph run --tasks plan.md');
  expect(existsSync(join(project.dir, 'ralph'))).toBe(false);
  const ran = await project.ralph(['import', 'plan.md']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.out).toContain('Written: ralph/tasks.json.');
  expect(target().userStories).toMatchObject([
    { id: 'US-1', passes: true },
    { id: 'US-2', acceptanceCriteria: ['it costs money'], priority: 1, passes: false },
  ]);
  expect(project.read('plan.md')).toBe(PLAN);
  project.git('add', '-A');
  project.git('commit', '-qm', 'plan');
  expect((await project.ralph(['run'])).code).toBe(0);
  expect(target().userStories[1].passes).toBe(true);
});

test('what is there is written over only with --yes, and what the two disagree on is named', async () => {
  const there = taskList([story('US-2', { passes: true }), story('US-9')]);
  project = makeProject({ files: { 'plan.md': PLAN, 'ralph/tasks.json': there } });
  const refused = await project.ralph(['import', 'plan.md']);
  expect(refused.code).toBe(5);
  expect(refused.err).toContain('ralph/tasks.json is there already; nothing was written.');
  expect(refused.out).toContain(
    'plan.md and ralph/tasks.json disagree on US-2 (open in plan.md); plan.md rules.',
  );
  expect(refused.out).toContain('1 of ralph/tasks.json would be gone: US-9.');
  expect(refused.out).toMatch(/\n {2}-.*US-9/);
  expect(project.read('ralph/tasks.json')).toBe(there);
  const said = await project.ralph(['import', 'plan.md', '--yes', '--json']);
  expect(JSON.parse(said.out)).toMatchObject({
    file: 'plan.md',
    dialect: 'markdown',
    tasks: [
      { id: 'US-1', status: 'done' },
      { id: 'US-2', status: 'todo' },
    ],
    usable_directly: true,
    write: { path: 'ralph/tasks.json', exists: true },
    written: true,
  });
  expect(target().userStories).toHaveLength(2);
  const again = await project.ralph(['import', 'plan.md', '--json']);
  expect(JSON.parse(again.out)).toMatchObject({ write: null, written: false });
});

test('one of several lists has to be named where nobody can be asked', async () => {
  project = makeProject({ files: { 'two.json': TWO } });
  const refused = await project.ralph(['import', 'two.json']);
  expect(refused.code).toBe(5);
  expect(refused.err).toContain('2 lists in the file could be the tasks: "stories" (1), "tasks" (1)');
  const told = await project.ralph(['import', 'two.json', '--json']);
  expect(JSON.parse(told.out)).toMatchObject({
    exit: { code: 5 },
    choices: [{ list: 'stories', tasks: 1, first: 'A story' }, { list: 'tasks' }],
  });
  const named = await project.ralph(['import', 'two.json', '--list', 'tasks', '--to', 'lists/mine.json']);
  expect(named.code).toBe(0);
  expect(named.out).toContain('Every task in it is done');
  expect(JSON.parse(project.read('lists/mine.json')).userStories).toMatchObject([{ id: 't1', passes: true }]);
  const wrong = await project.ralph(['import', 'two.json', '--list', 'storys']);
  expect(wrong.err).toContain('did you mean "stories"?');
});

test('comments and trailing commas are told with their line, and --fix takes them out', async () => {
  const loose =
    '{\r\n  // mine\r\n  "userStories": [\r\n    { "id": "a", "title": "A", "passes": false },\r\n  ]\r\n}\r\n';
  project = makeProject({ files: { 'prd.json': loose } });
  const refused = await project.ralph(['import', 'prd.json']);
  expect(refused.code).toBe(5);
  expect(refused.err).toContain('prd.json:2:');
  expect(refused.err).toContain(
    'ralph import prd.json --fix repairs it (line 2: a comment would be removed; line 4:',
  );
  const shown = await project.ralph(['import', 'prd.json', '--fix']);
  expect(shown.code).toBe(5);
  expect(shown.out).toContain('-  // mine');
  expect(project.read('prd.json')).toBe(loose);
  const fixed = await project.ralph(['import', 'prd.json', '--fix', '--yes']);
  expect(fixed).toMatchObject({ code: 0, err: '' });
  expect(project.read('prd.json')).toBe(
    '{\r\n  "userStories": [\r\n    { "id": "a", "title": "A", "passes": false }\r\n  ]\r\n}\r\n',
  );
  expect(existsSync(join(project.dir, 'ralph/tasks.json'))).toBe(false);
});

test('what is no task list is refused with the reason', async () => {
  project = makeProject({
    files: {
      '.ralphrc': 'MAX_CALLS=5\nX=$(touch pwned)\n',
      '.ralph/status.json': '{"status": "running", "loop_count": 3}',
      'empty.json': '{"userStories": []}',
      'empty.md': '# Nothing\n',
      'prd.json': taskList([story('a')]),
      'cycle.yaml': 'tasks:\n  - {id: a, title: A, dependsOn: [b]}\n  - {id: b, title: B, dependsOn: [a]}\n',
    },
  });
  writeFileSync(join(project.dir, 'latin.json'), Buffer.from([0x7b, 0xe9, 0x7d]));
  writeFileSync(join(project.dir, 'huge.json'), Buffer.alloc(11 * 1024 * 1024, 0x20));
  mkdirSync(join(project.dir, 'folder'));
  symlinkSync('gone', join(project.dir, 'dangling.json'));
  const refusals: [string, string][] = [
    ['.ralphrc', 'holds settings, not tasks: MAX_CALLS=5, X=$(touch pwned)'],
    ['.ralph/status.json', 'never used'],
    ['empty.json', 'holds no task'],
    ['empty.md', 'holds no task'],
    ['cycle.yaml', 'wait for each other: a → b → a'],
    ['latin.json', 'UTF-8'],
    ['huge.json', '11.0 MB; at most 10 MB'],
    ['folder', 'is a folder'],
    ['dangling.json', 'is not there'],
    ['prd.jsn', 'Did you mean prd.json?'],
  ];
  for (const [file, words] of refusals) {
    const ran = await project.ralph(['import', file]);
    expect(ran.err, file).toContain(words);
    expect(ran.err, file).toMatch(/\n {2}why: .+\n {2}fix: .+/);
    expect(ran.code, file).toBe(5);
  }
  expect(existsSync(join(project.dir, 'pwned'))).toBe(false);
  const odd = await project.ralph(['import', 'prd.json', '--to', 'list.md']);
  expect(odd.err).toContain('Name a file that ends in .json');
  const itself = await project.ralph(['import', 'prd.json', '--to', 'prd.json']);
  expect(itself).toMatchObject({ code: 0, out: expect.stringContaining('Nothing to write') });
});

test('a list is imported from another folder, and into a link that stays one', async () => {
  project = makeProject({ files: { 'sub/plan.md': PLAN, 'real.json': '{}\n' } });
  symlinkSync('real.json', join(project.dir, 'link.json'));
  const ran = await project.ralph(['import', 'plan.md', '--to', '../link.json', '--yes', '-C', 'sub']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(project.read('real.json')).userStories).toHaveLength(2);
});
