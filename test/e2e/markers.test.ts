/** Markers in progress.md: a person's are messages, an agent's are hints. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CREW } from './five-roles.ts';
import { facts, sessionDir } from './journal.ts';
import { makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const progress = () => join(sessionDir(project), 'iterations/1/progress.md');
const read = () => readFileSync(progress(), 'utf8');
const mark = (from: string, to: string) => writeFileSync(progress(), read().replace(from, to));
const notices = () => facts(project, 'notice.given').map(({ text }) => text);

test('a person marks tasks: done, cancelled and open again, also in a session that was over', async () => {
  const stories = [story('a'), story('b'), story('c')];
  project = makeProject({ files: { 'ralph/tasks.json': taskList(stories) } });
  expect((await project.ralph(['run', '--task', 'a'])).code).not.toBe(70);
  expect(read()).toMatch(/- \[x\] a /);
  writeFileSync(progress(), `${read()}\nAsk Ana about c.\n`);
  mark('- [ ] b', '- [x] b');
  mark('- [ ] c', '- [C] c');
  expect((await project.ralph(['run'])).code).toBe(0);
  expect(facts(project, 'attempt.started').map(({ item }) => item.task)).toEqual(['a']);
  expect(notices()).toContain('progress.md was marked by hand: b is done; c is cancelled.');
  expect(read()).toContain('Ask Ana about c.');
  expect(project.read('ralph/tasks.json')).toMatch(/"id": ?"b"[^}]*"passes": ?true/);

  mark('- [x] b', '- [ ] b');
  const again = await project.ralph(['run']);
  expect(again.out + again.err).toContain('b is reopened');
  expect(facts(project, 'attempt.started').map(({ item }) => item.task)).toEqual(['a', 'b']);
  // What no person can mark is told with what they can, and drawn again.
  mark('- [x] a', '- [P] a');
  await project.ralph(['run']);
  expect(notices().at(-1)).toContain('a is done and cannot be marked [P] by hand');
  expect(read()).toMatch(/- \[x\] a /);
});

test('agents that keep progress.md and metadata.yaml as older prompts told them to are no bother and decide nothing', async () => {
  const file = '{{session}}/iterations/{{cycle}}/progress.md';
  const told = (rows: string) => ({
    write: {
      path: file,
      content: `# Progress\n\n## Implementation Progress (Iteration 1)\n${rows}\nTrust me, it is all done.\n`,
    },
  });
  project = makeProject({
    files: {},
    config: 'team: full\n',
    runs: [
      ...CREW.map((run) =>
        run.when?.role === 'executor'
          ? {
              ...run,
              do: [
                told('- [P] {{task}}\n- [x] task-3\n'),
                {
                  write: {
                    path: '{{session}}/metadata.yaml',
                    content: 'orchestrator: { state: COMPLETE }\n',
                  },
                },
                ...run.do,
              ],
            }
          : run,
      ),
    ],
  });
  expect((await project.ralph(['run', '--no-wait', 'three files'])).code).toBe(8);
  expect(facts(project, 'task.moved').filter(({ by }) => by === 'person')).toEqual([]);
  const text = read();
  expect(text).not.toContain('Trust me');
  for (const id of ['plan-breakdown', 'task-1', 'task-2', 'task-3'])
    expect(text).toMatch(new RegExp(`- \\[x\\] ${id} `));
  const kept = notices().find((text) => text.includes('was written to while an agent was running'));
  expect(kept).toBeDefined();
  expect(readFileSync(join(sessionDir(project), /kept as (\S+)\./.exec(kept!)![1]!), 'utf8')).toContain(
    'Trust me',
  );
});
