/** A file's name is what an agent makes of it: people see it as git quotes it, programs as it is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const NAME = 'a\u001b[31mred\u001b]0;title\u0007\nnext.txt';
const QUOTED = '"a\\033[31mred\\033]0;title\\a\\nnext.txt"';
const STEERS = /[\u0000-\u0009\u000b-\u001f\u007f]/;

test('a file whose name steers terminals is named as git quotes it, wherever its conflict is told', async () => {
  const write = `printf 'loop\\n' > "$(printf 'a\\033[31mred\\033]0;title\\a\\nnext.txt')"`;
  const meanwhile = 'for n in $(seq 300); do [ -e "$HOME/go" ] && break; sleep 0.1; done';
  project = makeProject({
    files: { 'prd.json': taskList([story('US-001')]) },
    runs: [{ do: [{ run: write }, { run: meanwhile }, { say: DONE }] }],
  });
  const begun = project.start(['run', '--worktree', 'p']);
  writeFileSync(join(project.dir, NAME), 'main\n');
  await vi.waitFor(() => project.git('rev-parse', 'ralph/p'), 30_000);
  project.git('add', '--', NAME);
  project.git('commit', '-q', '-m', 'The same name');
  writeFileSync(join(project.home, 'go'), '');
  const ran = await begun.done;
  expect([ran.code, ran.out]).toEqual([8, expect.stringContaining(`change the same places of ${QUOTED}`)]);
  for (const args of [['loops'], ['why', '--session', '@p'], ['status', '--session', '@p']]) {
    const { out, err } = await project.ralph(args);
    expect([args, out]).toEqual([args, expect.stringContaining(QUOTED)]);
    expect([args, STEERS.test(out + err)]).toEqual([args, false]);
  }
  expect([STEERS.test(ran.out), STEERS.test(ran.err)]).toEqual([false, false]);
  const told = await project.ralph(['run', '--worktree', 'p', '--json']);
  expect(JSON.parse(told.out.trim().split('\n').at(-1)!)).toMatchObject({ landing: { files: [NAME] } });
});
