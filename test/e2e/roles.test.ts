/** Roles that are played by agents of their own: each call goes to the agent of its role, with its model. */
import { afterEach, describe, expect, test } from 'vitest';
import { facts } from './journal.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a'), story('b')]) };
const BUILDS = { do: [{ run: 'echo built > {{task}}.txt' }, { say: DONE }] };
const JUDGES = {
  do: [
    {
      emit: {
        topic: 'ralph.result',
        payload: {
          status: 'completed',
          mode: 'TASK_REVIEW',
          verdict: 'Qualified',
          criteria_results: [{ criterion: 'exists', met: true }],
        },
      },
    },
  ],
};
const BREAKS = { do: [{ say: 'I am not the one for this.' }] };

/** The agent of the project builds and cannot review; `second` reviews and cannot build. */
function two(agents: string, roles: string): Project {
  return makeProject({
    files: {
      ...LIST,
      'second.json': JSON.stringify({ runs: [{ when: { mode: 'TASK_REVIEW' }, ...JUDGES }, BREAKS] }),
    },
    runs: [{ when: { mode: 'TASK_REVIEW' }, ...BREAKS }, BUILDS],
    config: `${agents}  second: { command: ["ralph", "__script-agent", "second.json"] }\nteam: pair\nmodel: large\nroles:\n${roles
      .split('\n')
      .map((line) => `  ${line}\n`)
      .join('')}`,
  });
}

const calls = (made: Project) =>
  facts(made, 'attempt.started').map(({ item, agent, model }) => [
    (item as { mode: string }).mode,
    agent,
    model,
  ]);

describe('roles.reviewer.agent', () => {
  test('reviews are made by it, the work by the other', async () => {
    project = two('', 'reviewer: { agent: second, model: small }');
    const dry = await project.ralph(['run', '--dry-run', '--json']);
    expect(JSON.parse(dry.out)).toMatchObject({ agent: 'scripted', roles: { reviewer: 'second' } });
    const ran = await project.ralph(['run']);
    expect([ran.code, ran.err]).toEqual([0, '']);
    expect(calls(project)).toEqual([
      ['implement', 'scripted', 'large'],
      ['TASK_REVIEW', 'second', 'small'],
      ['implement', 'scripted', 'large'],
      ['TASK_REVIEW', 'second', 'small'],
    ]);
    expect(project.git('show', 'HEAD:b.txt')).toBe('built');
  });

  test('that is not there keeps the run from starting, and says what it plays', async () => {
    project = two('  third: { command: ["no-such-program-here"] }\n', 'reviewer: { agent: third }');
    const ran = await project.ralph(['run']);
    expect([ran.code, ran.err]).toEqual([5, expect.stringContaining('roles.reviewer.agent')]);
    // A team without a reviewer does not need it.
    expect((await project.ralph(['run', '--skip-review', '--dry-run'])).code).toBe(0);
  });
});

describe('roles.executor.agent', () => {
  test('works, whoever `agent` names; `--agent` is nearer', async () => {
    project = two('', 'executor: { agent: scripted }');
    project.write('ralph.yml', project.read('ralph.yml').replace('agent: scripted', 'agent: second'));
    project.git('commit', '-qam', 'swapped');
    const dry = await project.ralph(['run', '--dry-run', '--json', '--agent', 'second']);
    expect(JSON.parse(dry.out)).toMatchObject({ agent: 'second', roles: {} });
    expect((await project.ralph(['run'])).code).toBe(0);
    expect(calls(project).slice(0, 2)).toEqual([
      ['implement', 'scripted', null],
      ['TASK_REVIEW', 'second', 'large'],
    ]);
  });
});

test('what a run would not carry out of a role is refused, with its line', async () => {
  project = two('', 'reviewer: { agent: second, instructions: Be kind. }\nscout: { phase: PLANNING }');
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(5);
  expect(ran.err).toContain('ralph.yml:8: roles.reviewer.instructions is set');
  expect(ran.err).toContain('ralph.yml:9: roles.scout.phase is set');
});
