/** What may be meant as a task and is read as none is never passed by in silence. */
import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project } from './project.ts';

let project: Project;
afterEach(() => project.remove());

test.each([
  ['mis-typed checkboxes', '- [ ] a: real\n-[ ] b: typo\n* [ ]c: typo\n', 'lines 2 and 3: these look like'],
  ['a comment without an end', '- [ ] a: real\n\n<!--\n- [ ] b: lost\n', 'line 3: this HTML comment'],
  ['a fence without an end', '- [ ] a: real\n\n```\n- [ ] b: lost\n', 'line 3: this code fence'],
])('%s: told by tasks, the dry run, the run, its end, and status', async (_what, list, told) => {
  project = makeProject({ files: { 'PRD.md': list } });
  expect((await project.ralph(['tasks'])).err).toContain(told);
  expect((await project.ralph(['run', '--dry-run'])).err).toContain(told);
  const ran = await project.ralph(['run', '--no-wait']);
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining(told)]);
  expect(ran.out).toContain(`not read in PRD.md: ${told}`);
  expect((await project.ralph(['status'])).out).toContain(told);
  expect((await project.ralph(['tasks'])).err).toContain(told);
  expect((await project.ralph(['run', '--no-wait'])).out).toContain(`not read: ${told}`);
});

test('--fix makes checkboxes of them, and nothing is said any more', async () => {
  project = makeProject({ files: { 'PRD.md': '- [ ] a: real\n-[ ] b: typo\n\n```\n- [ ] c\n```\n' } });
  const fixed = await project.ralph(['import', 'PRD.md', '--fix', '--yes']);
  expect([fixed.code, fixed.out]).toEqual([0, expect.stringContaining('a check box was completed')]);
  expect(project.read('PRD.md')).toBe('- [ ] a: real\n- [ ] b: typo\n\n```\n- [ ] c\n```\n');
  expect((await project.ralph(['tasks'])).err).toContain('line 5: 1 check box is left out');
  const ran = await project.ralph(['run', '--no-wait', '--allow-dirty']);
  expect([ran.code, ran.out]).toEqual([0, expect.stringMatching(/all 2 tasks are done\n/)]);
  expect(ran.err).not.toContain('check box');
});
