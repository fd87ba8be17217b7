/** `--allow-dirty`: what a person left uncommitted beside the work of agents is never passed by in silence. */
import { afterEach, expect, test } from 'vitest';
import { DONE, makeProject, type Project } from './project.ts';

let project: Project;
afterEach(() => project.remove());

const LIST = { 'PRD.md': '- [ ] a: one\n', 'shared.txt': 'base\n' };
const work = [{ write: { path: 'a.txt', content: 'x\n' } }];

test('a file of yours that changed with the task keeps it from landing, named, until you commit it', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      { do: [...work, { write: { path: 'shared.txt', content: 'base\nmine\nagent\n' } }, { say: DONE }] },
    ],
    config: 'gates: [{ name: t, run: "grep -q agent shared.txt", baseline: must_pass }]\n',
  });
  project.write('shared.txt', 'base\nmine\n');
  const ran = await project.ralph(['run', '--allow-dirty', '--no-wait']);
  expect([ran.code, ran.out]).toEqual([
    8,
    expect.stringContaining('shared.txt holds your uncommitted edits'),
  ]);
  expect((await project.ralph(['why', 'a'])).out).toContain('shared.txt holds your uncommitted edits');
  expect(project.git('show', '--name-only', '--format=', 'HEAD').split('\n')).toEqual(['PRD.md', 'a.txt']);
  expect(project.git('status', '--short')).toBe('M shared.txt');
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(8);
  project.git('commit', '-qam', 'mine');
  const landed = await project.ralph(['run', '--no-wait']);
  expect([landed.code, landed.out]).toEqual([0, expect.stringContaining('the only task is done')]);
});

test("files of yours that an agent's own commit took along are named, with the way back", async () => {
  project = makeProject({
    files: LIST,
    runs: [{ do: [...work, { run: 'git add -A; git commit -qm mine' }, { say: DONE }] }],
  });
  project.write('notes.txt', 'my own\n');
  const start = project.git('rev-parse', '--short=9', 'HEAD');
  const ran = await project.ralph(['run', '--allow-dirty', '--no-wait']);
  expect(ran.code).toBe(0);
  expect(`${ran.out}${ran.err}`).toContain('what you had left uncommitted: notes.txt');
  const status = await project.ralph(['status']);
  expect(status.out).toContain(`git reset --soft ${start}`);
});

test('files of yours that nobody touched are no reason to say anything', async () => {
  project = makeProject({ files: LIST, runs: [{ do: [...work, { say: DONE }] }] });
  project.write('shared.txt', 'base\nmine\n');
  const ran = await project.ralph(['run', '--allow-dirty', '--no-wait']);
  expect([ran.code, ran.out.includes('uncommitted')]).toEqual([0, false]);
});
