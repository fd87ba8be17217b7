/** What an agent does to the repository itself: nothing of it may end in "done", or cost a person's work. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const list = { 'ralph/tasks.json': taskList([story('a')]) };

test('a commit taken off the branch stops the run, and the words say how to bring it back', async () => {
  project = makeProject({
    files: list,
    runs: [{ do: [{ run: 'git reset -q --hard HEAD~1 && echo x > a.txt' }, { say: DONE }] }],
  });
  project.write('user.txt', 'mine\n');
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'a person\u2019s commit');
  const before = project.git('rev-parse', 'HEAD');
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(7);
  const ref = /git merge --autostash (refs\/ralph\/\S+?)`/.exec(ran.out)?.[1];
  expect(project.git('rev-parse', ref ?? 'none')).toBe(before);
});

test('a nested repository cannot be landed, and is not called done', async () => {
  project = makeProject({
    files: list,
    runs: [
      {
        do: [
          {
            run: 'mkdir n && cd n && git init -q && echo a > a && git add a && git -c user.name=x -c user.email=x@y commit -qm n',
          },
          { say: DONE },
        ],
      },
    ],
  });
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(8);
  expect(ran.out).toMatch(/left out of the commit: n, a repository of its own .*git submodule add/);
});

test('work hidden from git with assume-unchanged is not landed by silence', async () => {
  project = makeProject({
    files: { ...list, 'base.txt': 'base\n' },
    runs: [
      {
        do: [
          { run: 'git update-index --assume-unchanged base.txt && echo changed > base.txt' },
          { say: DONE },
        ],
      },
    ],
  });
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(8);
  expect(ran.out).toMatch(/left out of the commit: base.txt/);
});

test('uncommitted work that the agent throws away is put back and told', async () => {
  project = makeProject({
    files: { ...list, 'mine.txt': 'committed\n' },
    runs: [
      { do: [{ run: 'git checkout -q -- mine.txt && rm -f draft.txt && echo x > a.txt' }, { say: DONE }] },
    ],
  });
  project.write('mine.txt', 'edited by hand\n');
  project.write('draft.txt', 'a draft\n');
  const ran = await project.ralph(['run', '--allow-dirty', '-n', '1']);
  expect(ran.code).toBe(1);
  expect(project.read('mine.txt')).toBe('edited by hand\n');
  expect(project.read('draft.txt')).toBe('a draft\n');
  expect(ran.out).toMatch(/protected_changed/);
});

test('a red gate that was red before is accepted with open words, not with "every gate holds"', async () => {
  project = makeProject({ files: list });
  const ran = await project.ralph(['run', '--gate', 'test -f never.txt']);
  expect(ran.code).toBe(0);
  expect(ran.out).toMatch(/accepted — claimed and changed; 1 of 1 gates fail as they did before/);
  expect(ran.out).toMatch(/red as before they began: gate-1/);
  expect(existsSync(join(project.dir, 'a.txt'))).toBe(true);
});

test('a commit hook that hangs does not make the run deaf', async () => {
  project = makeProject({ files: list });
  project.write('.git/hooks/pre-commit', '#!/bin/sh\nexec sleep 300\n');
  project.git('config', 'core.hooksPath', '.git/hooks');
  const { chmodSync } = await import('node:fs');
  chmodSync(join(project.dir, '.git/hooks/pre-commit'), 0o755);
  const started = project.start(['run']);
  for (let i = 0; i < 300 && !existsSync(join(project.dir, '.git/index.lock')); i++)
    await new Promise((next) => setTimeout(next, 100));
  started.child.kill('SIGTERM');
  const ran = await started.done;
  expect(ran.code).toBe(143);
  expect(existsSync(join(project.dir, '.git/index.lock'))).toBe(false);
});

test('a key in the work is not committed, it is named with its line, and a person who commits it lands the task', async () => {
  const token = ['ghp', 'q7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEo'].join('_');
  project = makeProject({
    files: list,
    runs: [
      {
        do: [
          { write: { path: 'src/client.ts', content: `// client\nconst token = "${token}";\n` } },
          { say: DONE },
        ],
      },
    ],
  });
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(8);
  expect(ran.out).toMatch(/src\/client\.ts, line 2, holds what looks like a GitHub token: take it out/);
  expect(ran.out).not.toContain(token);
  expect(project.git('log', '--all', '--oneline', '--', 'src/client.ts')).toBe('');
  project.git('add', 'src/client.ts');
  project.git('commit', '-q', '-m', 'it opens nothing');
  const again = await project.ralph(['run']);
  expect([again.code, again.out]).toEqual([0, expect.stringContaining('complete')]);
});

test('a file that no server takes is left out of every commit, and told', async () => {
  project = makeProject({
    files: list,
    runs: [{ do: [{ run: 'truncate -s 60M dump.bin' }, { say: DONE }] }],
  });
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(8);
  expect(ran.out).toMatch(/dump\.bin has 60 MiB/);
});
