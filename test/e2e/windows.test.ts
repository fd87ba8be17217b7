/** Windows: what they show people and programs, on an empty project, in the middle and at the end. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, sessionDir, sessions, until } from './journal.ts';
import { DONE, HONEST, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const LOOKS = ['status', 'inbox', 'why', 'events', 'logs', 'tasks', 'interventions'];
const look = async <T = Record<string, unknown>>(...args: string[]) =>
  json<T>(await project.ralph([...args, '--json']));

test('on an empty project every window says that there is nothing yet, and makes nothing', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a')]) } });
  for (const name of [
    ...LOOKS.filter((look) => !['tasks', 'interventions'].includes(look)),
    'pause',
    'answer',
    'resume',
  ]) {
    const ran = await project.ralph([name]);
    expect([ran.code, ran.err], name).toEqual([5, expect.stringMatching(/no session[\s\S]*ralph run/i)]);
  }
  const all = await project.ralph(['sessions', '--json']);
  expect([all.code, json<unknown[]>(all)]).toEqual([0, []]);
  const dry = await project.ralph(['run', '--dry-run']);
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('scripted')]);
  expect(existsSync(join(project.dir, '.ralph-sessions'))).toBe(false);
  expect(project.git('status', '--porcelain', '--ignored')).toBe('');
});

test('the shapes of a session that stopped with a question, had a rejection, and published a topic', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a'), story('b', { dependsOn: ['a'] })]) },
    runs: [
      {
        when: { iteration: 1 },
        do: [
          { emit: { topic: 'build.note', payload: 'hello' } },
          { emit: { topic: 'ralph.note', payload: 'n' } },
          { say: DONE },
        ],
      },
      { when: { iteration: 2 }, do: [...HONEST[1]!.do] },
      {
        when: { iteration: 3 },
        do: [{ print: 'thinking…\n' }, { say: '<promise>DECIDE:Red or blue?</promise>' }],
      },
      ...HONEST,
    ],
    config: 'gates: [{ name: there, run: "test -e a.txt" }]\n',
  });
  expect((await project.ralph(['run'])).code).toBe(3);
  const [id] = sessions(project);

  expect(await look('status')).toMatchObject({
    status: 'blocked',
    status_detail: 'blocked',
    session_id: id,
    current_state: 'BATCHING',
    tasks_summary: { total: 2, completed: 1, failed: 0, pending: 1 },
    paused: false,
    phase: 'BATCHING',
    exit: { code: 3, word: 'DECIDE', reason: expect.any(String) },
    open_questions: [{ id: 'q1', kind: 'decision', text: 'Red or blue?', hold: 'session' }],
    iterations: 3,
    stuck_count: expect.any(Number),
    cost_usd: null,
    live: [],
  });
  expect(await look('sessions')).toMatchObject([
    { session_id: id, exit: { code: 3 }, running: false, open_questions: 1 },
  ]);
  expect(await look('inbox')).toMatchObject([
    { id: 'q1', kind: 'decision', about: 'b', text: 'Red or blue?', hold: 'session', iteration: 3 },
  ]);
  const [first, second] = await look<Record<string, unknown>[]>('tasks');
  expect(first).toMatchObject({
    id: 'a',
    title: 'Make a',
    status: 'done',
    marker: '[x]',
    attempts: 0, // an accepted attempt gives the budget back
    runs: 2,
    depends_on: [],
  });
  expect(first).toMatchObject({
    complexity: expect.stringMatching(/simple|medium/),
    timeout_s: expect.any(Number),
  });
  expect(second).toMatchObject({
    id: 'b',
    status: 'todo',
    marker: '[ ]',
    attempts: 0,
    runs: 1,
    depends_on: ['a'],
  });
  expect(await look('events')).toMatchObject([{ topic: 'build.note', payload: 'hello', iteration: 1 }]);
  expect(await look('events', '--topic', 'test.*')).toEqual([]);
  expect(await look('interventions')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        iteration: 1,
        event_type: 'false_completion_detected',
        severity: 'critical',
      }),
      expect.objectContaining({ iteration: 1, event_type: 'no_files_detected' }),
    ]),
  );
  expect((await project.ralph(['logs', '3'])).out).toContain('thinking…');
  const noLog = await project.ralph(['logs', '77']);
  expect([noLog.code, noLog.err]).toEqual([5, expect.stringContaining('77')]);

  expect(await look('why')).toMatchObject({
    about: 'session',
    exit: { code: 3 },
    open_questions: [{ id: 'q1' }],
    next: expect.stringContaining('answer'),
  });
  expect(await look('why', 'a')).toMatchObject({
    about: 'task',
    task: { status: 'done' },
    iterations: [{ outcome: 'rejected' }, { outcome: 'accepted', gates: [{}] }],
  });
  expect(await look('why', '1')).toMatchObject({ about: 'iteration' });
  const unknown = await project.ralph(['why', 'zz']);
  expect(unknown.out + unknown.err).toMatch(/zz/);
  const rejected = (await project.ralph(['why', '1'])).out;
  const accepted = (await project.ralph(['why', '2'])).out;
  expect(rejected).toMatch(
    /claim +complete[\s\S]*evidence +.*0 files[\s\S]*gates[\s\S]*verdict +rejected[\s\S]*next/,
  );
  expect(accepted).toMatch(
    /claim +complete[\s\S]*evidence +.*1 file[\s\S]*gates +there[\s\S]*passed[\s\S]*verdict +accepted[\s\S]*next/,
  );
  for (const name of ['status', 'sessions', 'inbox', 'tasks', 'events']) {
    const ran = await project.ralph([name]);
    expect([ran.code, ran.err, ran.out.trim()], name).toEqual([0, '', expect.stringMatching(/\S/)]);
  }
});

test('archive: refused words for what is open, logs only when asked, a suffix for a second on one day', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a')]) } });
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(0);
  const first = sessionDir(project);
  const moved = await look<{ folder: string; moved: string[] }>('archive', '--label', 'v1');
  expect(moved.folder).toMatch(/^\.ralph\/archive\/\d{4}-\d\d-\d\d-v1$/);
  expect(moved.moved).toHaveLength(1);
  expect(existsSync(join(first, 'logs/summary.csv'))).toBe(true);
  expect(existsSync(join(project.dir, moved.folder, moved.moved[0]!, 'journal.jsonl'))).toBe(true);
  expect(existsSync(join(project.dir, moved.folder, moved.moved[0]!, 'logs'))).toBe(false);

  project.write('ralph/tasks.json', taskList([story('b')]));
  project.git('commit', '-qam', 'next');
  expect((await project.ralph(['run'])).code).toBe(0);
  const again = await look<{ folder: string; moved: string[] }>('archive', '--label', 'v1', '--include-logs');
  expect(again.folder).toBe(`${moved.folder}-2`);
  expect(existsSync(join(project.dir, again.folder, again.moved[0]!, 'logs/summary.csv'))).toBe(true);
  expect(await look<unknown[]>('sessions')).toEqual([]);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('logs -f follows a running iteration, and a plain run prints each step as a line', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]) },
    runs: [{ do: [{ say: 'line one' }, { sleep_ms: 3000 }, { say: 'line two' }, ...HONEST[1]!.do] }],
  });
  const running = project.start(['run', '--color', 'never']);
  await until(() => facts(project, 'attempt.spawned').length === 1, 'the agent at work');
  const follow = await project.ralph(['logs', '1', '-f']);
  expect(follow.out).toContain('line one');
  expect(follow.out).toContain('line two');
  const ran = await running.done;
  expect(ran.code).toBe(0);
  for (const words of [/iteration 1 · implement a/, /verdict: accepted/, /landed: a as [0-9a-f]{7}/])
    expect(ran.out).toMatch(words);
  expect(ran.out).not.toContain('\u001b[');
});

test('while a first baseline runs, every window names the gate, and `logs -f` waits for the agent', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]) },
    config: 'gates: [{ name: slow, run: "while ! test -e .git/go; do sleep 0.1; done" }]\n',
  });
  const running = project.start(['run']);
  await until(() => facts(project, 'baseline.started').length === 1, 'the gate at work');
  const named = /baseline of gate slow is being run/;
  expect((await project.ralph(['status'])).out).toMatch(named);
  const early = await project.ralph(['logs']);
  expect(early).toMatchObject({ code: 5, out: '' });
  expect(early.err).toMatch(/^No iteration has started yet\.\n.*baseline of gate slow.*\n.*ralph logs -f/);
  const following = project.start(['logs', '-f']);
  await new Promise((resolve) => following.child.stderr!.once('data', resolve));
  project.write('.git/go', '');
  expect(await following.done).toMatchObject({ code: 0, err: expect.stringMatching(named) });
  expect((await following.done).out).toContain(DONE);
  const { code, out } = await running.done;
  expect(code).toBe(0);
  expect(out).toMatch(/gate slow runs before iteration 1 starts.*\nbaseline of gate slow: passed/);
});
