/**
 * Two tasks that both leave unfinished work in one file. What Ralph sets aside and takes up again is a task's and
 * nobody else's: no honest agent is accused of it, it is out of the tree while others work, and it lands whole.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { facts, until, verdicts } from './journal.ts';
import { DONE, makeProject, type Project, type Ran, story, taskList } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const two = { 'ralph/tasks.json': taskList([story('a'), story('b')]) };
const done = (run: string) => ({ do: [{ run }, { say: DONE }] });
const first = (run: string) => ({ when: { attempt: 1 }, ...done(run) });
const landed = (made: Project, path: string) => made.git('show', `HEAD:${path}`);
const short = (made: Project) => verdicts(made).map((line) => line.split(' ').slice(0, 2).join(' '));

const GATE = 'gates:\n  - { name: chk, run: "test -f shared.txt && ! grep -q BUG shared.txt" }\n';
const BUG = 'echo BUG {{task}} >> shared.txt';
/** Goes on with what is there of its own; where that could not be put back, it is done again. */
const FIX =
  'grep -q BUG shared.txt && sed -i "s/BUG {{task}}/good {{task}}/" shared.txt || echo good {{task}} >> shared.txt';

function accusesNobody(made: Project, ran: Ran): void {
  expect(facts(made, 'dirt.found')).toEqual([]);
  expect(ran.out + ran.err).not.toMatch(/left to you|protected_changed|person/i);
  expect(made.git('status', '--porcelain')).toBe('');
}

describe('both fail once on the same file, and both are done at the end', () => {
  test.each([
    ['of the project', { 'shared.txt': 'base\n' }, 'base\ngood a\ngood b'],
    ['that is new', {}, 'good a\ngood b'],
  ])('%s', async (_, files, end) => {
    project = makeProject({
      files: { ...two, ...files },
      runs: [first(BUG), done(FIX)],
      config: GATE.replace('test -f shared.txt && ', ''),
    });
    const ran = await project.ralph(['run']);
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('taken up: the earlier work of a')]);
    expect(short(project)).toEqual(['a rejected', 'b rejected', 'a accepted', 'b accepted']);
    expect(landed(project, 'shared.txt')).toBe(end);
    accusesNobody(project, ran);
  });

  test('that the first of them had deleted', async () => {
    project = makeProject({
      files: { ...two, 'shared.txt': 'base\n' },
      runs: [
        { when: { task: 'a', attempt: 1 }, ...done('rm shared.txt') },
        { when: { task: 'a' }, ...done('test ! -f shared.txt && echo good a > shared.txt') },
        first(BUG),
        done(FIX),
      ],
      config: GATE,
    });
    const ran = await project.ralph(['run']);
    expect(ran.code).toBe(0);
    expect(short(project)).toEqual(['a rejected', 'b rejected', 'a accepted', 'b accepted']);
    expect(landed(project, 'shared.txt')).toBe('good a\ngood b');
    accusesNobody(project, ran);
  });

  test('each out of attempts, and unblocked by a person', async () => {
    project = makeProject({
      files: { ...two, 'shared.txt': 'base\n' },
      runs: [first(BUG), done(FIX)],
      config: `${GATE}limits: { max_task_attempts: 1 }\n`,
    });
    expect((await project.ralph(['run', '--no-wait'])).code).toBe(2);
    for (const task of ['b', 'a']) expect((await project.ralph(['unblock', task])).code).toBe(0);
    const ran = await project.ralph(['run', '--no-wait']);
    expect(ran.code).toBe(0);
    expect(landed(project, 'shared.txt')).toBe('base\ngood a\ngood b');
    accusesNobody(project, ran);
  });

  test('and the runner is killed while the first is at it again', async () => {
    project = makeProject({
      files: { ...two, 'shared.txt': 'base\n' },
      runs: [
        first(BUG),
        { when: { task: 'a', attempt: 2 }, do: [{ run: 'touch .git/again; exec sleep 300' }] },
        done(FIX),
      ],
      config: GATE,
    });
    const killed = project.start(['run']);
    await until(() => existsSync(join(project!.dir, '.git/again')), 'a is at it again');
    killed.child.kill('SIGKILL');
    await killed.done;
    const ran = await project.ralph(['resume']);
    expect(ran.code).toBe(0);
    expect(landed(project, 'shared.txt')).toBe('base\ngood a\ngood b');
    expect(facts(project, 'dirt.found')).toEqual([]);
    expect(ran.out + ran.err).not.toMatch(/left to you|protected_changed/);
  });
});

test('what is accepted lands whole, also the part that an earlier attempt ran out of time over', async () => {
  project = makeProject({
    files: { ...two, 'index.ts': 'base\n' },
    runs: [
      { when: { attempt: 1 }, do: [{ run: 'echo first {{task}} >> index.ts; exec sleep 60' }] },
      {
        do: [
          { run: 'echo {{task}} > {{task}}.ts' },
          { say: `Created \`{{task}}.ts\`, updated \`index.ts\`\n\n${DONE}` },
        ],
      },
    ],
    config:
      'mode: speed\nmodes: { speed: 2 }\nadaptive_timeout: { min_timeout: 1 }\nlimits: { max_stuck: 0 }\n',
  });
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(0);
  const [, byA] = facts(project, 'commit.landed')
    .map(({ paths }) => paths)
    .reverse();
  expect(byA).toEqual(['a.ts', 'index.ts', 'ralph/tasks.json']);
  // Where it could not be put back, the claim to have made it is not believed.
  expect(landed(project, 'index.ts')).toBe('base\nfirst a');
  expect(verdicts(project).at(-1)).toBe('b accepted evidence_validation_failed');
  accusesNobody(project, ran);
});

test('a file that a finished task made just so is not taken away with what another task left', async () => {
  project = makeProject({
    files: two,
    runs: [
      { when: { task: 'a', attempt: 1 }, ...done('mkdir -p pkg; touch pkg/__init__.py bad') },
      { when: { task: 'a' }, ...done('rm -f bad; echo a > pkg/a.py') },
      done('mkdir -p pkg; touch pkg/__init__.py; echo b > pkg/b.py'),
    ],
    config: 'gates:\n  - { name: chk, run: "test ! -f bad" }\n',
  });
  expect((await project.ralph(['run', '-n', '2'])).code).toBe(1);
  expect(short(project)).toEqual(['a rejected', 'b accepted']);
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(0);
  expect(project.git('ls-files', 'pkg')).toBe('pkg/__init__.py\npkg/a.py\npkg/b.py');
  accusesNobody(project, ran);
});

test('what a person writes into such a file between two runs stays theirs', async () => {
  project = makeProject({
    files: { ...two, 'shared.txt': 'base\n' },
    runs: [first(BUG), done('git checkout -q -- shared.txt; echo {{task}} > {{task}}.txt')],
    config: GATE,
  });
  expect((await project.ralph(['run', '-n', '2'])).code).toBe(1);
  project.write('shared.txt', 'base\nan hour of work\n');
  const ran = await project.ralph(['run', '-n', '1']);
  expect(ran.out + ran.err).toMatch(/left to you: shared\.txt/);
  expect(ran.out).toMatch(/protected_changed/);
  expect(project.read('shared.txt')).toMatch(/an hour of work/);
  expect(landed(project, 'shared.txt')).toBe('base');
});
