/** A cancelled task stays cancelled: in the list where it has a sign for it, else in what sessions remember. */
import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project.remove());

const LISTS = {
  markdown: {
    'PRD.md': '- [ ] US-1: one\n  - crit\n- [ ] US-2: two\n- [ ] US-3: three\n',
  },
  json: { 'prd.json': taskList(['US-1', 'US-2', 'US-3'].map((id) => story(id))) },
};
const MARK = {
  markdown: ['PRD.md', '- [C] US-2: two'],
  json: ['prd.json', '"status": "cancelled"'],
} as const;
const kinds = ['markdown', 'json'] as const;

test.each(kinds)('%s: the mark is written at once, committed, and lasts over sessions', async (kind) => {
  project = makeProject({ files: LISTS[kind] });
  const [file, sign] = MARK[kind];
  expect((await project.ralph(['run', '-n', '1', '--no-wait'])).code).toBe(1);
  await project.ralph(['tasks', 'cancel', 'US-2', '--reason', 'no longer']);
  expect(project.read(file)).toContain(sign);
  const ended = await project.ralph(['run', '--no-wait']);
  expect(ended.code).toBe(0);
  expect(ended.out).toContain('2 done, 1 cancelled');
  expect(ended.out).not.toContain('all 3 tasks are done');
  expect(project.git('show', `HEAD:${file}`)).toContain(sign);
  const again = await project.ralph(['run', '--no-wait']);
  expect([again.code, again.out]).toEqual([0, expect.stringContaining('done or cancelled')]);
  expect(project.git('log', '--format=%B')).not.toContain('Ralph-Task: US-2');
});

test.each(kinds)('%s: reopened, it is open in the list as well and is worked on', async (kind) => {
  project = makeProject({ files: LISTS[kind] });
  const [file, sign] = MARK[kind];
  await project.ralph(['run', '-n', '1', '--no-wait']);
  await project.ralph(['tasks', 'cancel', 'US-2']);
  await project.ralph(['tasks', 'reopen', 'US-2']);
  expect(project.read(file)).not.toContain(sign);
  const ended = await project.ralph(['run', '--no-wait']);
  expect([ended.code, ended.out]).toEqual([0, expect.stringContaining('all 3 tasks are done')]);
});

test('whoever takes the mark away in the file opens the task again', async () => {
  project = makeProject({ files: LISTS.markdown });
  await project.ralph(['run', '-n', '1', '--no-wait']);
  await project.ralph(['tasks', 'cancel', 'US-2']);
  project.write('PRD.md', project.read('PRD.md').replace('[C]', '[ ]'));
  const ended = await project.ralph(['run', '--no-wait']);
  expect([ended.code, ended.out]).toEqual([0, expect.stringContaining('all 3 tasks are done')]);
});

test('a list without a sign for it: the next session remembers, and says so', async () => {
  const steps = '# Plan\n\n1. first thing\n2. second thing\n3. third thing\n';
  project = makeProject({ files: { 'PRD.md': steps } });
  await project.ralph(['run', '-n', '1', '--no-wait']);
  const { out } = await project.ralph(['tasks', '--json']);
  const { id } = (JSON.parse(out) as { id: string }[])[1]!;
  await project.ralph(['tasks', 'cancel', id, '--reason', 'no longer']);
  expect((await project.ralph(['run', '--no-wait'])).out).toContain('2 done, 1 cancelled');
  const again = await project.ralph(['run', '--no-wait']);
  expect([again.code, again.out]).toEqual([0, expect.stringContaining('2 done, 1 cancelled')]);
  expect((await project.ralph(['tasks'])).out).toMatch(/\[C\] second-thing.* no longer \(session \d/);
  expect(project.read('PRD.md')).toContain('2. second thing\n');
});
