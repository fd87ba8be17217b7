/**
 * What comes back after a failed commit, a crash, a rewound branch or a `git restore`: nothing that was
 * accepted is dropped on the way, and nothing counts that was not verified.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { facts, sessionDir, verdicts } from './journal.ts';
import { DONE, makeProject, type Project, type Ran } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const PRD = '- [ ] US-1: one\n  - crit\n- [ ] US-2: two\n';
const run = (command: string) => ({ do: [{ run: command }, { say: DONE }] });
const landed = (made: Project, path: string) => made.git('show', `HEAD:${path}`);
const said = ({ out, err }: Ran) => `${out}\n${err}`;

/** The scripted agent with other runs: as if a person had given it better instructions. */
function repair(made: Project, ...runs: unknown[]): void {
  made.write('agent.json', JSON.stringify({ runs }));
  made.git('commit', '-qm', 'a better agent', 'agent.json');
}

describe('accepted work whose commit failed', () => {
  test('is done again where another task changed its file meanwhile, and both are in HEAD at the end', async () => {
    project = makeProject({
      files: { 'PRD.md': PRD },
      runs: [run('echo {{task}} >> CHANGELOG; echo {{task}} > {{task}}.txt')],
    });
    project.write('.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n');
    chmodSync(join(project.dir, '.git/hooks/pre-commit'), 0o755);
    expect((await project.ralph(['run', '--no-wait'])).code).toBe(8);
    rmSync(join(project.dir, '.git/hooks/pre-commit'));
    const ran = await project.ralph(['run', '--no-wait']);
    expect(ran.code).toBe(0);
    expect(said(ran)).toMatch(/US-2 could not be put back whole.*CHANGELOG.*open again, uncharged/);
    expect(landed(project, 'CHANGELOG')).toBe('US-1\nUS-2');
    expect(landed(project, 'US-2.txt')).toBe('US-2');
    expect(project.git('status', '--porcelain')).toBe('');
    expect(facts(project, 'task.charged')).toEqual([]);
    const { kept } = facts(project, 'leftovers.taken_up').at(-1) as unknown as {
      kept: Record<string, string>;
    };
    const prompt = readFileSync(join(sessionDir(project), 'logs/iteration-003.prompt.md'), 'utf8');
    const file = join(sessionDir(project), kept.CHANGELOG!);
    expect(prompt).toContain(`CHANGELOG (what you had made of it: ${file})`);
    expect(readFileSync(file, 'utf8')).toBe('US-2\n');
  });
});

describe('unfinished work whose file another task changed', () => {
  test('is kept as a file that the prompt, the notice and `ralph why` name, and undoes nothing', async () => {
    project = makeProject({
      files: { 'PRD.md': PRD, 'list.txt': 'hi\n' },
      runs: [
        { when: { task: 'US-1', attempt: 1 }, do: [{ run: 'echo one >> list.txt' }, { exit: 3 }] },
        {
          when: { task: 'US-1', attempt: 2 },
          do: [{ run: 'echo one >> list.txt; touch bad' }, { say: DONE }],
        },
        run('echo {{task}} >> list.txt; rm -f bad'),
      ],
      config: 'limits: { retry_delays_s: [0] }\ngates: [{ name: t, run: "test ! -f bad" }]\n',
    });
    const ran = await project.ralph(['run', '--no-wait']);
    expect(ran.code).toBe(0);
    expect(verdicts(project).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'US-1 died',
      'US-2 accepted',
      'US-1 rejected',
      'US-1 accepted',
    ]);
    expect(landed(project, 'list.txt')).toBe('hi\nUS-2\none\nUS-1');
    const file = join(sessionDir(project), 'attempts/001/not-put-back.list.txt');
    expect(readFileSync(file, 'utf8')).toBe('hi\none\n');
    expect(said(ran)).toContain(file);
    for (const n of ['003', '004'])
      expect(readFileSync(join(sessionDir(project), `logs/iteration-${n}.prompt.md`), 'utf8')).toContain(
        file,
      );
    const why = await project.ralph(['why', 'US-1']);
    expect(why.out).toMatch(/not put back: list\.txt; .*attempts\/001\/not-put-back\.list\.txt/);
  });
});

describe('a branch that an attempt rewound', () => {
  const rewinds = {
    when: { task: 'US-2' },
    do: [{ run: 'git reset -q --hard HEAD~1; echo 2 > US-2.txt' }, { say: DONE }],
  };
  const make = () =>
    makeProject({ files: { 'PRD.md': PRD }, runs: [rewinds, run('echo {{task}} > {{task}}.txt')] });

  /** The command as it is printed, in a shell. */
  async function printed(made: Project): Promise<string> {
    const why = await made.ralph(['why']);
    const command = /`(git merge [^`]*)`/.exec(why.out)?.[1] ?? '';
    const env = { PATH: process.env.PATH ?? '', HOME: made.home };
    execFileSync('sh', ['-c', command], { cwd: made.dir, env, stdio: 'pipe' });
    return command;
  }

  test.each(['resume', 'run'])(
    'is whole again after the printed command and one `ralph %s`',
    async (command) => {
      project = make();
      expect((await project.ralph(['run', '--no-wait'])).code).toBe(7);
      expect(await printed(project)).toMatch(/^git merge --autostash refs\/ralph\//);
      repair(project, run('echo {{task}} > {{task}}.txt'));
      expect((await project.ralph([command, '--no-wait'])).code).toBe(0);
      expect(landed(project, 'US-1.txt')).toBe('US-1');
      expect(landed(project, 'US-2.txt')).toBe('US-2');
      expect(facts(project, 'attempt.started').map(({ item }) => item?.task)).toEqual([
        'US-1',
        'US-2',
        'US-2',
      ]);
    },
  );

  test('is gone on with by one `ralph resume` alone, and the task whose work is gone is done again', async () => {
    project = make();
    expect((await project.ralph(['run', '--no-wait'])).code).toBe(7);
    const again = await project.ralph(['run', '--no-wait']);
    expect(again.code).toBe(7);
    expect(said(again)).toMatch(/`ralph resume` opens the tasks again whose work is gone/);
    repair(project, run('echo {{task}} > {{task}}.txt'));
    const ran = await project.ralph(['resume', '--no-wait']);
    expect(ran.code).toBe(0);
    expect(said(ran)).toMatch(/US-1 is open again: its commit \w+ is not in the branch any more/);
    expect(landed(project, 'US-1.txt')).toBe('US-1');
    expect(landed(project, 'US-2.txt')).toBe('US-2');
    expect(landed(project, 'PRD.md')).toBe(PRD.replaceAll('[ ]', '[x]').trim());
  });

  test('and a branch that a person rebased keeps its tasks done', async () => {
    project = make();
    repair(project, run('echo {{task}} > {{task}}.txt'));
    expect((await project.ralph(['run', '-n', '1', '--no-wait'])).code).toBe(1);
    project.git('commit', '-q', '--amend', '-m', 'another message');
    expect((await project.ralph(['run', '--no-wait'])).code).toBe(7);
    expect((await project.ralph(['resume', '--no-wait'])).code).toBe(0);
    expect(facts(project, 'attempt.started').length).toBe(2);
  });
});

describe('marks that an agent committed', () => {
  const marks = (made: Project) => made.read('PRD.md').match(/\[.\]/g);

  test('are its claim, also when `git restore` brings them back; a person who was told may mark again', async () => {
    project = makeProject({
      files: { 'PRD.md': PRD },
      runs: [run("sed -i 's/\\[ \\]/[x]/' PRD.md; git commit -qam did")],
    });
    const first = await project.ralph(['run', '--no-wait', '-n', '1']);
    expect(first.code).toBe(1);
    expect(said(first)).toMatch(
      /A commit of iteration 1 marks US-1, US-2 as done in PRD\.md\. .*leave it so/,
    );
    expect(marks(project)).toEqual(['[ ]', '[ ]']);
    project.git('restore', 'PRD.md');
    const second = await project.ralph(['run', '--no-wait', '-n', '1']);
    expect(second.code).toBe(1);
    expect(said(second)).toMatch(/that is the agent's own word and was not verified, so US-1 stays open/);
    expect(marks(project)).toEqual(['[ ]', '[ ]']);
    project.write('PRD.md', PRD.replaceAll('[ ]', '[x]'));
    expect((await project.ralph(['run', '--no-wait'])).code).toBe(0);
  });
});
