/** The time of an attempt, with real processes and seconds instead of minutes. */
import { afterEach, expect, test } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project.remove());

/** Leaves a file at once, then works for some seconds; that is too much for the first two allowances. */
const slow = (attempt: number) => ({
  when: { attempt },
  do: [{ write: { path: `part-${attempt}.txt`, content: 'x\n' } }, { sleep_ms: 4_200 }, { say: DONE }],
});

const CONFIG = 'mode: speed\nmodes: { speed: 1 }\nadaptive_timeout: { min_timeout: 1 }\n';

test('a task on a screen gets 3, 4 and 6 s; its class is told before, and its work is kept', async () => {
  const chart = story('sales', { acceptanceCriteria: ['per month', 'a Chart of it'] });
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([chart]) },
    runs: [slow(1), slow(2), slow(3)],
    config: CONFIG,
  });
  const dry = await project.ralph(['run', '--dry-run']);
  expect(dry.out).toContain("sales: ui_heavy because of 'Chart' in acceptance 2; 1 s × 3.0 = 3 s");
  const before = JSON.parse((await project.ralph(['tasks', '--json'])).out);
  expect(before).toMatchObject([{ id: 'sales', complexity: 'ui_heavy', timeout_s: 3 }]);
  expect((await project.ralph(['run'])).code).toBe(0);
  const why = JSON.parse((await project.ralph(['why', 'sales', '--json'])).out);
  expect(
    why.iterations.map(({ time, evidence }: Record<string, Record<string, unknown>>) => [
      time!.timeout_s,
      evidence!.ending,
    ]),
  ).toEqual([
    [3, 'timed_out'],
    [4, 'timed_out'],
    [6, 'ended'],
  ]);
  expect((await project.ralph(['why', 'sales'])).out).toContain('1 s × 3.0 × 1.5² = 6 s');
  expect(JSON.parse((await project.ralph(['tasks', '--json'])).out)).toMatchObject([
    { id: 'sales', complexity: 'ui_heavy', timeout_s: 6 },
  ]);
  const landed = project.git('ls-files');
  for (const part of ['part-1.txt', 'part-2.txt', 'part-3.txt']) expect(landed).toContain(part);
}, 90_000);

test('a new session knows what accepted attempts took in an earlier one', async () => {
  const tasks = [1, 2, 3, 4, 5].map((n) => story(`fix-${n}`, { title: `Fix rounding ${n}` }));
  project = makeProject({
    files: { 'ralph/tasks.json': taskList(tasks) },
    runs: [{ do: [{ write: { path: '{{task}}.txt', content: 'x\n' } }, { say: DONE }] }],
    config: 'adaptive_timeout: { learn: true, min_timeout: 30 }\n',
  });
  expect((await project.ralph(['run'])).code).toBe(0);
  const told = /90 % of 5 accepted \w+ attempts\) = 30 s \(min\)/;
  project.write('ralph/tasks.json', taskList([story('fix-6', { title: 'Fix rounding 6' })]));
  project.git('commit', '-qam', 'One more');
  expect((await project.ralph(['run', '--new', '--dry-run'])).out).toMatch(told);
  expect((await project.ralph(['run', '--new'])).code).toBe(0);
  expect((await project.ralph(['why', 'fix-6'])).out).toMatch(told);
}, 90_000);
