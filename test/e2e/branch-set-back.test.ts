/**
 * A branch loses commits of tasks that are done, by a person or an agent: nothing that it does not hold is called done,
 * complete or landed. The words bring the commits back; going on without them does the work anew.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { facts, json, sessions, until } from './journal.ts';
import { DONE, makeProject, type Project, type Ran } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const LIST = '- [ ] T1: one\n- [ ] T2: two\n';
const WRITES = { run: 'echo {{task}} > {{task}}.txt' };

interface Kind {
  run: string[];
  resume: string[];
  branch: string;
  tree: () => string;
}
const LOOP: Kind = {
  run: ['run', '--worktree', 'p', '--no-wait'],
  resume: ['resume', '--session', '@p', '--no-wait'],
  branch: 'ralph/p',
  tree: () => realpathSync(join(project.dir, '.ralph/worktrees/p')),
};
const MAIN: Kind = {
  run: ['run', '--no-wait'],
  resume: ['resume', '--no-wait'],
  branch: 'main',
  tree: () => project.dir,
};

const started = () => facts(project, 'attempt.started').map(({ item }) => item?.task);
const onMain = () => project.git('show', 'main:T1.txt', 'main:T2.txt', 'main:PRD.md');
const ALL = `T1\nT2\n${LIST.replaceAll('[ ]', '[x]').trim()}`;

/** The first task is committed; `base` is where the branch began. */
async function oneDone(kind: Kind): Promise<{ base: string; tip: string }> {
  project = makeProject({ files: { 'PRD.md': LIST }, runs: [{ do: [WRITES, { say: DONE }] }] });
  const base = project.git('rev-parse', 'main');
  expect((await project.ralph([...kind.run, '-n', '1'])).code).toBe(1);
  return { base, tip: project.git('rev-parse', kind.branch) };
}

async function expectWords(kind: Kind, tip: string, ran: Ran): Promise<string> {
  expect([ran.code, ran.out]).toEqual([7, expect.stringContaining('with it went the work of T1')]);
  const git = kind === LOOP ? `git -C ${kind.tree()}` : 'git';
  const back = `${git} merge --autostash ${tip.slice(0, 12)}`;
  expect(ran.out).toContain(`run \`${back}\`, then \`ralph ${kind.resume.slice(0, -1).join(' ')}\``);
  const rows = json<{ loop_id: string; next: string }[]>(await project.ralph(['loops', '--json']));
  expect(rows.find(({ loop_id: id }) => id === (kind === LOOP ? 'p' : 'main'))?.next).toContain(back);
  return back;
}

function sets(kind: Kind, how: string, base: string): void {
  if (how === 'update-ref') project.git('update-ref', `refs/heads/${kind.branch}`, base);
  else project.git('-C', kind.tree(), 'reset', '-q', how, base);
}

describe.each<[string, Kind]>([
  ['a loop', LOOP],
  ['the main checkout', MAIN],
])('the branch of %s is reset between two runs', (_, kind) => {
  test.each(['update-ref', '--soft', '--mixed'])(
    '%s: to go on without the commit does its task anew, and all of it is there in the end',
    async (how) => {
      const { base, tip } = await oneDone(kind);
      sets(kind, how, base);
      const ran = await project.ralph(kind.run);
      await expectWords(kind, tip, ran);
      expect((await project.ralph(kind.run)).code).toBe(7);
      const again = await project.ralph(kind.resume);
      expect([again.code, again.out + again.err]).toEqual([0, expect.any(String)]);
      expect([started(), onMain()]).toEqual([['T1', 'T1', 'T2'], ALL]);
      expect(project.git('-C', kind.tree(), 'status', '--porcelain')).toBe('');
    },
  );

  test('--hard, and with it the marks of the list: what the list opens is done anew', async () => {
    const { base, tip } = await oneDone(kind);
    sets(kind, '--hard', base);
    const ran = await project.ralph(kind.run);
    expect([ran.code, ran.out]).toEqual([
      7,
      expect.stringContaining(`merge --autostash ${tip.slice(0, 12)}`),
    ]);
    expect(ran.out).toContain('What still counts as done is in it all the same');
    expect((await project.ralph(kind.resume)).code).toBe(0);
    expect([started(), onMain()]).toEqual([['T1', 'T1', 'T2'], ALL]);
  });

  test('the words bring the commit back, and nothing is done twice', async () => {
    const { base, tip } = await oneDone(kind);
    sets(kind, 'update-ref', base);
    const back = await expectWords(kind, tip, await project.ralph(kind.run));
    execFileSync('sh', ['-c', back], { cwd: project.dir, stdio: 'pipe' });
    const again = await project.ralph(kind.run);
    expect([again.code, again.out + again.err]).toEqual([0, expect.any(String)]);
    expect([started(), onMain()]).toEqual([['T1', 'T2'], ALL]);
  });

  test('a rebase that gives the commit another id, message and content leaves its task done', async () => {
    const { tip } = await oneDone(kind);
    const tree = kind.tree();
    project.git('-C', tree, 'reset', '-q', '--hard', `${tip}~1`);
    writeFileSync(join(tree, 'other.txt'), 'other\n');
    project.git('-C', tree, 'add', '-A');
    project.git('-C', tree, 'commit', '-qm', 'below');
    project.git('-C', tree, 'cherry-pick', '--no-commit', tip);
    project.git('-C', tree, 'commit', '-qm', 'in their words');
    const ran = await project.ralph(kind.run);
    expect([ran.code, ran.out]).toEqual([
      7,
      expect.stringContaining('What still counts as done is in it all the same'),
    ]);
    expect((await project.ralph(kind.resume)).code).toBe(0);
    expect([started(), onMain()]).toEqual([['T1', 'T2'], ALL]);
  });

  test('after its run was killed: its task is done anew', async () => {
    project = makeProject({
      files: { 'PRD.md': LIST },
      runs: [
        {
          when: { task: 'T2' },
          do: [
            { run: 'touch "$HOME/began"; until [ -e "$HOME/go" ]; do sleep 0.05; done' },
            WRITES,
            { say: DONE },
          ],
        },
        { do: [WRITES, { say: DONE }] },
      ],
    });
    const base = project.git('rev-parse', 'main');
    const run = project.start(kind.run);
    await until(() => existsSync(join(project.home, 'began')), 'the agent');
    run.child.kill('SIGKILL');
    await run.done;
    sets(kind, 'update-ref', base);
    writeFileSync(join(project.home, 'go'), '');
    let ran = await project.ralph(kind.run);
    if (ran.code === 7) ran = await project.ralph(kind.resume);
    expect([ran.code, ran.out + ran.err]).toEqual([0, expect.any(String)]);
    expect(onMain()).toBe(ALL);
  });

  test('during an attempt, by its agent: its task is done anew', async () => {
    project = makeProject({
      files: { 'PRD.md': LIST },
      runs: [
        {
          when: { task: 'T2', attempt: 1 },
          do: [{ run: 'git reset -q --soft HEAD~1' }, WRITES, { say: DONE }],
        },
        { do: [WRITES, { say: DONE }] },
      ],
    });
    const ran = await project.ralph(kind.run);
    expect([ran.code, ran.out]).toEqual([7, expect.stringContaining('commits were taken off the branch')]);
    const again = await project.ralph(kind.resume);
    expect([again.code, again.out + again.err]).toEqual([0, expect.any(String)]);
    expect(onMain()).toBe(ALL);
  });
});

test('a loop that waited for its landing and whose branch was reset is parked, and not called landed', async () => {
  project = makeProject({
    files: { 'PRD.md': LIST },
    runs: [{ do: [WRITES, { say: DONE }] }],
    config: 'land: branch\n',
  });
  const base = project.git('rev-parse', 'main');
  expect((await project.ralph(LOOP.run)).code).toBe(0);
  const tip = project.git('rev-parse', 'ralph/p');
  project.git('-C', LOOP.tree(), 'reset', '-q', '--hard', base);
  writeFileSync(join(LOOP.tree(), 'other.txt'), 'other\n');
  project.git('-C', LOOP.tree(), 'add', '-A');
  project.git('-C', LOOP.tree(), 'commit', '-qm', 'another thing');
  const merged = await project.ralph(['loops', 'merge', 'p']);
  const back = `git -C ${LOOP.tree()} merge --autostash ${tip.slice(0, 12)}`;
  expect([merged.code, merged.out + merged.err]).toEqual([8, expect.stringContaining(back)]);
  expect(project.git('rev-parse', 'main')).toBe(base);
  expect((await project.ralph(['loops'])).out).toContain(back);
  execFileSync('sh', ['-c', back], { cwd: project.dir, stdio: 'pipe' });
  expect((await project.ralph(['loops', 'merge', 'p'])).code).toBe(0);
  expect(onMain()).toBe(ALL);
  expect(sessions(project)).toHaveLength(1);
});
