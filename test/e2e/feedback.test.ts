/** Feedback and notes from a terminal: what a person gives for the next cycle, and decides on at the end of one. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CREW } from './five-roles.ts';
import { facts, json, sessionDir } from './journal.ts';
import { makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

interface Given {
  iteration: number;
  file: string;
  attachments: string[];
  issues: { id: string; text: string }[];
  empty: boolean;
  warnings: string[];
  next: string;
}
const give = async (...args: string[]) => json<Given>(await project.ralph(['feedback', ...args, '--json']));
const batches = () => readdirSync(join(sessionDir(project), 'iterations/2/feedbacks'));
const modes = () => facts(project, 'attempt.started').map(({ item }) => item.mode);

test('feedback: a form first, then words with files beside them; what cannot be given changes nothing', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a')]) } });
  const early = await project.ralph(['feedback', '-m', 'more']);
  expect([early.code, early.err]).toEqual([5, expect.stringContaining('There is no session here yet')]);
  expect((await project.ralph(['run'])).code).toBe(0);

  const form = await project.ralph(['feedback']);
  expect([form.code, form.out]).toEqual([
    0,
    expect.stringContaining('Fill it in. `ralph run` opens cycle 2'),
  ]);
  const again = await project.ralph(['feedback']);
  expect(again.out).toContain('An empty form lies there already');
  expect(batches()).toHaveLength(1);
  // Nobody has written into it, so nothing begins; a run says so, once.
  symlinkSync('/', join(sessionDir(project), 'iterations/2/feedbacks/away'));
  for (let n = 0; n < 2; n++)
    expect((await project.ralph(['run', '--session', basename(sessionDir(project))])).code).toBe(0);
  expect(facts(project, 'notice.given').map(({ text }) => text)).toEqual([
    expect.stringContaining('nobody has written anything into it'),
    expect.stringContaining('iterations/2/feedbacks/away is a link'),
  ]);
  rmSync(join(sessionDir(project), 'iterations/2/feedbacks/away'));
  expect(modes()).toEqual(['implement']);

  project.write('words.md', '# Critical Issues\n- [ ] ISS-001: it is slow\n');
  project.write('app.log', 'a\0b');
  for (const [args, said] of [
    [['gone.md'], 'There is no file gone.md'],
    [['app.log'], 'app.log is no Markdown'],
    [['words.md', 'ralph'], 'ralph is no file'],
    [['-m', ' '], 'the feedback is empty'],
    [['words.md', '-'], '- is only understood as the first file'],
  ] as const) {
    const refused = await project.ralph(['feedback', ...args]);
    expect([refused.code, refused.err]).toEqual([5, expect.stringContaining(said)]);
  }
  project.write('binary.md', 'a\0b');
  expect((await project.ralph(['feedback', 'binary.md'])).err).toContain('binary.md is not text');
  expect(batches()).toHaveLength(1);

  const given = await give('words.md', 'app.log');
  expect(given).toMatchObject({
    iteration: 2,
    attachments: ['app.log'],
    issues: [{ id: 'ISS-001', text: 'it is slow' }],
    empty: false,
    warnings: [expect.stringContaining('nobody has written anything into it')],
  });
  expect(readFileSync(given.file, 'utf8')).toMatch(/^---\niteration: 2\n/);
  expect(readFileSync(join(given.file, '../app.log'), 'utf8')).toBe('a\0b');
  expect((await give('-m', 'read from stdin')).issues).toEqual([
    { id: 'REQ-001', kind: 'requirement', text: 'read from stdin' },
  ]);
  // What lies in the cycle that is on is nobody's to read, and that is told.
  const stray = join(sessionDir(project), 'iterations/1/feedbacks/mine');
  mkdirSync(stray, { recursive: true });
  writeFileSync(join(stray, 'feedbacks.md'), 'The button is too small.\n');
  expect((await give('-m', 'and faster')).warnings.join('\n')).toContain(
    'iterations/1/feedbacks/mine lies in the cycle that is on already',
  );
  expect(batches()).toHaveLength(4);

  for (const name of ['words.md', 'app.log', 'binary.md']) project.git('add', name);
  project.git('commit', '-qm', 'words');
  await project.ralph(['run', '--no-wait']);
  expect(facts(project, 'feedback.received').map(({ text }) => text)).toEqual([
    expect.stringContaining('it is slow'),
    expect.stringContaining('read from stdin'),
    expect.stringContaining('and faster'),
  ]);
  expect(facts(project, 'cycle.started').at(-1)).toMatchObject({ cycle: 2 });
});

test('a form that nobody filled in is named where a run finds nothing else to work on', async () => {
  project = makeProject();
  expect((await project.ralph(['run', 'one thing'])).code).toBe(0);
  expect((await project.ralph(['feedback'])).code).toBe(0);
  const ran = await project.ralph(['run']);
  expect([ran.code, ran.err]).toEqual([5, expect.stringMatching(/nobody has written anything into it/)]);
});

test('notes: the inbox shows what each would change, `knowledge` what became of it', async () => {
  project = makeProject({
    files: {
      'ralph/tasks.json': taskList([story('a')]),
      '.docs/how-to/files.md': '# How files are written\n\nAll at once.\n',
    },
    config: 'team: full\n',
    runs: CREW,
  });
  expect((await project.ralph(['run', '--no-wait'])).code).toBe(8);
  const inbox = await project.ralph(['inbox']);
  expect(inbox.out).toContain('How files are written · other words stand there');
  expect(inbox.out).toContain('-All at once.');
  expect(inbox.out).toContain('.docs/how-to/files.incoming.md');
  const [question] = json<{ staged: { path: string; against: string }[] }[]>(
    await project.ralph(['inbox', '--json']),
  );
  expect(question!.staged).toMatchObject([{ path: 'knowledge/how-to/files.md', against: 'different' }]);
  expect((await project.ralph(['knowledge'])).out).toContain('waiting for a yes or no');
  expect((await project.ralph(['knowledge', 'show', 'how-to/files'])).out).toContain('One at a time.');
  const unknown = await project.ralph(['knowledge', 'show', 'flies']);
  expect([unknown.code, unknown.err]).toEqual([5, expect.stringContaining('Did you mean files?')]);
  expect(unknown.err).toMatch(/why: There (?:is only \S+\.|are \S+, .+\.)\n/);

  expect((await project.ralph(['approve'])).code).toBe(0);
  expect((await project.ralph(['knowledge'])).out).toContain('approved; `ralph run`');
  await project.ralph(['run', '--no-wait']);
  const after = json<{ staged: { status: string }[]; docs: { path: string; incoming: boolean }[] }>(
    await project.ralph(['knowledge', '--json']),
  );
  expect(after.staged).toMatchObject([{ status: 'promoted' }]);
  expect(after.docs).toMatchObject([{ path: '.docs/how-to/files.incoming.md', incoming: true }]);
  expect(project.read('.docs/how-to/files.md')).toContain('All at once.');
});

test('feedback that an agent writes opens no cycle by itself; a person gives it again', async () => {
  const mine = '{{session}}/iterations/2/feedbacks/20260101-000000/feedbacks.md';
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]) },
    runs: [
      {
        do: [
          { write: { path: 'a.out', content: 'made\n' } },
          { write: { path: mine, content: 'Do it all again, and more of it.\n' } },
          { emit: { topic: 'ralph.result', payload: { status: 'completed' } } },
        ],
      },
    ],
  });
  expect((await project.ralph(['run'])).code).toBe(0);
  const told = () => facts(project, 'notice.given').map(({ text }) => text);
  expect(told()).toEqual([
    expect.stringContaining('was written while an agent was running, so it opens no cycle'),
  ]);
  expect((await project.ralph(['run'])).code).toBe(0);
  expect(facts(project, 'feedback.received')).toEqual([]);
  const again = await project.ralph(['feedback', /ralph feedback (\S+)`/.exec(told()[0]!)![1]!]);
  expect([again.code, again.err]).toEqual([0, '']);
  await project.ralph(['run', '--no-wait']);
  expect(facts(project, 'cycle.started')).toHaveLength(1);
  expect(facts(project, 'feedback.received')).toHaveLength(1);
});
