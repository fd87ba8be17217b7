/** Teams that come with roles: each is valid as it is, and an example of each runs to its end. */
import { afterEach, expect, test } from 'vitest';
import { DONE, makeProject, type Project } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const tell = (topic: string) => ({ emit: { topic, payload: `see ${topic}` } });
const write = (content: string) => ({ write: { path: 'a.txt', content } });

/** The topics of an example, and who says each; the last speaker completes. */
const EXAMPLES: Record<string, [role: string, says: string][]> = {
  feature: [
    ['designer', 'plan.ready'],
    ['builder', 'build.done'],
    ['reviewer', 'review.rejected'],
    ['builder', 'build.done'],
    ['reviewer', 'review.approved'],
  ],
  bugfix: [
    ['reproducer', 'bug.reproduced'],
    ['fixer', 'fix.ready'],
    ['verifier', 'fix.verified'],
  ],
  review: [
    ['critic', 'review.written'],
    ['checker', 'review.disputed'],
    ['critic', 'review.written'],
    ['checker', 'review.confirmed'],
  ],
  docs: [
    ['writer', 'docs.written'],
    ['editor', 'docs.approved'],
  ],
};
const WORKERS = ['builder', 'reproducer', 'fixer', 'critic', 'writer'];

test.each(Object.entries(EXAMPLES))('%s: is valid, shown, and runs to its end', async (team, example) => {
  project?.remove();
  project = makeProject({
    config: `team: ${team}\n`,
    runs: example.map(([role, topic], i) => ({
      when: { role, iteration: i + 1 },
      do: [
        ...(WORKERS.includes(role) ? [write(`${i}\n`)] : []),
        tell(topic),
        ...(i === example.length - 1 ? [{ say: DONE }] : []),
      ],
    })),
  });
  const valid = await project.ralph(['hats', 'validate', '--json']);
  expect([valid.code, JSON.parse(valid.out)]).toEqual([
    0,
    { valid: true, problems: [], warnings: [], not_carried_out: [] },
  ]);
  const shown = JSON.parse((await project.ralph(['hats', 'show', example[0]![0], '--json'])).out);
  expect(shown).toMatchObject({ kind: 'own', default: true, from: `team ${team}` });
  const ran = await project.ralph(['run', 'Do it']);
  expect([ran.code, ran.err]).toEqual([0, '']);
  const { out } = await project.ralph(['events', '--json']);
  const told = (JSON.parse(out) as { topic: string }[]).map(({ topic }) => topic);
  expect(told).toEqual(['work.start', ...example.map(([, topic]) => topic)]);
  expect(project.git('log', '-1', '--format=%B')).toContain('Ralph-Task: objective');
});

test('what a person says about a role of the preset goes before it, key by key, under either name', async () => {
  for (const section of ['roles', 'hats']) {
    project?.remove();
    project = makeProject({ config: `team: docs\n${section}: { editor: { max_activations: 3 } }\n` });
    const { code, out } = await project.ralph(['hats', 'show', 'editor', '--json']);
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ max_activations: 3, triggers: ['docs.written'], from: 'team docs' }),
    ]);
  }
});
