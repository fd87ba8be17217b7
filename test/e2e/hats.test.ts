/** `ralph hats`: what it shows of the project's own configuration, as a person and as a program reads it. */
import { afterEach, describe, expect, test } from 'vitest';
import { DONE, makeProject, type Project } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const OWN = `roles:
  planner: { model: large }
  lead: { triggers: [work.start], publishes: [build.task] }
  builder: { name: Builder, triggers: [build.task], publishes: [build.done], max_activations: 5 }
required_topics: [build.done]
`;

/** A project with this configuration, and what a command about it says. */
async function asked(config: string, ...args: string[]) {
  project?.remove();
  project = makeProject({ config });
  return project.ralph(['hats', ...args]);
}

describe('roles that fit together', () => {
  test('are listed, one’s own first, each with who plays it', async () => {
    const { code, out, err } = await asked(OWN);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'lead',
      'builder',
      'planner',
      'questioner',
      'executor',
      'reviewer',
      'librarian',
      '',
    ]);
    expect(out).toContain('woken by build.task · publishes build.done · agent scripted');
  });

  test('are shown one by one, also by an older name', async () => {
    const { out } = await asked(OWN, 'show', 'builder', '--json');
    expect(JSON.parse(out)).toMatchObject({
      name: 'builder',
      title: 'Builder',
      kind: 'own',
      default: false,
      triggers: ['build.task'],
      max_activations: 5,
      agent: 'scripted',
    });
    const meant = await asked('roles: { executor: { model: small } }\n', 'show', 'builder');
    expect([meant.code, meant.err]).toEqual([0, '']);
    expect(meant.out).toBe(
      'executor: a built-in role, woken by its phase\n  also called  builder\n  agent        scripted, model small\n',
    );
  });

  test('are drawn as a graph', async () => {
    const { out } = await asked(OWN, 'graph');
    expect(out.split('\n')[0]).toBe('flowchart TD');
    expect(out).toContain('r1 -->|"build.task"| r2');
    const { edges } = JSON.parse((await asked(OWN, 'graph', '--json')).out);
    expect(edges).toContainEqual({ from: 'builder', to: '(done)', topic: 'build.done', heard: true });
    expect((await asked('', 'graph')).out).toContain('no roles of your own');
  });

  test('are valid', async () => {
    const { code, out } = await asked(OWN, 'validate', '--json');
    expect([code, JSON.parse(out)]).toEqual([
      0,
      {
        valid: true,
        problems: [],
        warnings: [],
        not_carried_out: [],
      },
    ]);
  });
});

describe('what is wrong', () => {
  const WRONG = OWN.replace('publishes: [build.task]', 'publishes: [build.tsak]');

  test('is told with its line and its fix, and ends with 5', async () => {
    const { code, out } = await asked(WRONG, 'validate');
    expect(code).toBe(5);
    expect(out).toContain('ralph.yml:7: Nothing ever wakes roles.builder');
    expect(out).toContain('fix: Did you mean build.tsak?');
    const json = await asked(WRONG, 'validate', '--json');
    expect([json.code, JSON.parse(json.out)]).toEqual([
      5,
      expect.objectContaining({
        valid: false,
        problems: [expect.objectContaining({ code: 'config.unreachable_role' })],
      }),
    ]);
    expect((await asked(WRONG, 'list')).code).toBe(5);
  });

  test('about the command line is told with what was meant', async () => {
    expect((await asked(OWN, 'show', 'bulder')).err).toContain('fix: Did you mean builder?');
    expect((await asked(OWN, 'show')).err).toContain('No role was named');
    expect((await asked(OWN, 'grpah')).err).toContain('Did you mean graph?');
  });
});

test('a run by topics only: build, review, rejected, build, approved', async () => {
  project?.remove();
  const tell = (topic: string) => ({ emit: { topic, payload: `see ${topic}` } });
  project = makeProject({
    config: `roles:
  builder: { triggers: [review.rejected], publishes: [build.done], instructions: Build it. }
  reviewer: { triggers: [build.done], publishes: [review.rejected, review.approved] }
required_topics: [review.approved]
`,
    runs: [
      {
        when: { topic: 'work.start' },
        do: [{ write: { path: 'a.txt', content: 'half\n' } }, tell('build.done')],
      },
      { when: { role: 'reviewer', iteration: 2 }, do: [tell('review.rejected')] },
      {
        when: { topic: 'review.rejected' },
        do: [{ write: { path: 'a.txt', content: 'whole\n' } }, tell('build.done')],
      },
      { when: { role: 'reviewer' }, do: [tell('review.approved'), { say: DONE }] },
    ],
  });
  const ran = await project.ralph(['run', 'Make a.txt whole']);
  expect([ran.code, ran.err]).toEqual([0, '']);
  const events = await project.ralph(['events', '--json']);
  const told = events.out.trim().startsWith('[')
    ? (JSON.parse(events.out) as { topic: string }[])
    : events.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { topic: string });
  expect(told.map(({ topic }) => topic)).toEqual([
    'work.start',
    'build.done',
    'review.rejected',
    'build.done',
    'review.approved',
  ]);
  expect(project.git('show', 'HEAD:a.txt').trim()).toBe('whole');
  expect(project.git('log', '-1', '--format=%B')).toContain('Ralph-Task: objective');
});
