/** Every stop has one reason and one exit code, the same for people and for programs. */
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { csv, facts, sessionDir, started, verdicts } from './journal.ts';
import {
  DONE,
  HONEST,
  makeProject,
  type Project,
  result,
  type ScriptedRun,
  story,
  taskList,
} from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const list = (...ids: string[]) => ({ 'ralph/tasks.json': taskList(ids.map((id) => story(id))) });
const say = (text: string): ScriptedRun[] => [{ do: [{ say: text }] }];

interface Ending {
  code: number;
  word: string;
  runs: ScriptedRun[];
  args?: string[];
}

const ENDINGS: Ending[] = [
  { code: 0, word: 'COMPLETE', runs: HONEST },
  {
    code: 1,
    word: 'LIMIT',
    runs: [{ do: [{ append: { path: 'log.txt', content: 'step {{iteration}}\n' } }] }],
    args: ['-n', '2'],
  },
  { code: 2, word: 'BLOCKED', runs: say('<promise>BLOCKED:missing API key</promise>') },
  { code: 3, word: 'DECIDE', runs: say('<promise>DECIDE:WebSockets or polling?</promise>') },
  { code: 4, word: 'STUCK', runs: say('I looked around.'), args: ['--max-stuck', '2'] },
];

describe.each(ENDINGS)('exit $code $word', ({ code, word, runs, args = [] }) => {
  test('is the code, the printed word and the reason, with and without --json', async () => {
    project = makeProject({ files: list('a'), runs });
    const plain = await project.ralph(['run', ...args]);
    const first = project;
    project = makeProject({ files: list('a'), runs });
    first.remove();
    const told = await project.ralph(['run', '--json', ...args]);

    expect([plain.code, told.code]).toEqual([code, code]);
    expect(plain.out).toMatch(
      new RegExp(
        [
          'Ralph Loop Summary\n─{18}',
          `Exit: {8}${word} \\(code ${code}\\)`,
          'Iterations: {2}\\d+ / \\d+',
          'Duration: {4}\\S.*',
          `Stories: {5}${code === 0 ? 1 : 0}/1 complete`,
          'Avg/iter: {4}\\S.*',
          'Stuck iters: \\d+',
          'Log: {9}ralph/logs/summary.csv',
        ].join('\n'),
      ),
    );
    const lines = told.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const last = lines.at(-1);
    expect(last).toMatchObject({ type: 'result', exit: { code, word } });
    expect(last.exit.reason).not.toBe('');
    expect(last.session_id).toMatch(/^\d{6}-\d{6}$/);
    expect(lines.slice(0, -1).every((line) => typeof line.type === 'string' && line.type !== 'result')).toBe(
      true,
    );
    expect(lines.map((line) => line.type)).toEqual(
      expect.arrayContaining(['run.started', 'attempt.ended', 'verdict.reached', 'run.stopped']),
    );
    expect(facts(project, 'run.stopped').map((fact) => [fact.code, fact.word])).toEqual([[code, word]]);
  });
});

test('telemetry: one row per iteration, a log and a prompt each, and a link on the desk', async () => {
  project = makeProject({
    files: list('a', 'b'),
    runs: [
      { when: { iteration: 2 }, do: [{ say: 'I looked around and found "nothing", really.' }] },
      ...HONEST,
    ],
  });
  const ran = await project.ralph(['run', '--quiet']);
  expect(ran.code).toBe(0);
  expect(ran.out.trimStart()).toMatch(/^Ralph Loop Summary/);
  expect(ran.out).toContain('Stuck iters: 1');
  const { header, rows } = csv(project);
  expect(header).toBe(
    'iteration,mode,duration_seconds,commit_hash,stories_complete,stories_total,stuck_count,timestamp,task_id,role,agent,model,outcome,cost_usd,input_tokens,output_tokens',
  );
  expect(rows.map((row) => row.iteration)).toEqual(['1', '2', '3']);
  expect(rows.map((row) => row.stuck_count)).toEqual(['0', '1', '0']);
  expect(rows.map((row) => row.stories_complete)).toEqual(['1', '1', '2']);
  expect(rows.map((row) => row.task_id)).toEqual(['a', 'b', 'b']);
  expect(rows[0]!.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(rows[1]!.commit_hash).toBe('');
  const commits = project.git('log', '--format=%h', '--abbrev=7').split('\n');
  expect([rows[2]!.commit_hash, rows[0]!.commit_hash]).toEqual(commits.slice(0, 2));
  const logs = join(sessionDir(project), 'logs');
  expect(readFileSync(join(logs, 'iteration-002.log'), 'utf8')).toContain('found "nothing", really.');
  for (const number of ['001', '002', '003']) {
    expect(existsSync(join(logs, `iteration-${number}.log`))).toBe(true);
    expect(existsSync(join(logs, `iteration-${number}.prompt.md`))).toBe(true);
  }
  expect(lstatSync(join(project.dir, 'ralph/logs')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(project.dir, 'ralph/logs/summary.csv'), 'utf8')).toContain(header);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('a list finished on its last allowed iteration exits 0', async () => {
  project = makeProject({ files: list('a', 'b') });
  expect((await project.ralph(['run', '-n', '2', '--json'])).code).toBe(0);
  expect(started(project)).toBe(2);
});

test('exit 1, then run again: it goes on in the same session with a fresh allowance', async () => {
  project = makeProject({ files: list('a', 'b', 'c') });
  expect((await project.ralph(['run', '-n', '1', '--json'])).code).toBe(1);
  expect((await project.ralph(['run', '-n', '1', '--json'])).code).toBe(1);
  const last = await project.ralph(['run', '-n', '1', '--json']);
  expect(result(last).exit.code).toBe(0);
  expect(facts(project, 'attempt.started').map((fact) => fact.iteration)).toEqual([1, 2, 3]);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('two fruitless iterations, a commit, and two more do not add up to four', async () => {
  const commit = [
    { append: { path: 'a.txt', content: '{{iteration}}\n' } },
    { run: 'git add a.txt && git commit -qm step' },
  ];
  project = makeProject({
    files: list('a'),
    runs: [
      { when: { iteration: 3 }, do: commit },
      { when: { iteration: 6 }, do: [...commit, { say: DONE }] },
      ...say('Nothing yet.'),
    ],
    config: 'limits: { max_task_attempts: 20 }\n',
  });
  expect((await project.ralph(['run', '--json'])).code).toBe(0);
  expect(csv(project).rows.map((row) => row.stuck_count)).toEqual(['1', '2', '0', '1', '2', '0']);
});

test('of ten tasks one is bad: nine are done, one question is asked, exit 2', async () => {
  const ids = Array.from({ length: 10 }, (_, index) => `t${index + 1}`);
  project = makeProject({
    files: list(...ids),
    runs: [{ when: { task: 't1' }, do: [{ say: DONE }] }, ...HONEST],
  });
  const ran = await project.ralph(['run', '--json'], { timeoutMs: 90_000 });
  expect(result(ran).exit).toMatchObject({ code: 2, word: 'BLOCKED' });
  const stories = JSON.parse(project.read('ralph/tasks.json')).userStories as {
    id: string;
    passes: boolean;
  }[];
  expect(stories.filter(({ passes }) => passes).map(({ id }) => id)).toEqual(ids.slice(1));
  expect(facts(project, 'question.asked').map(({ question }) => [question.kind, question.about])).toEqual([
    ['blocker', 't1'],
  ]);
  expect(verdicts(project).filter((line) => line.startsWith('t1 '))).toHaveLength(3);
  expect(project.read('ralph/blocked.txt')).toContain('t1');
});

test('--max-stuck 1 stops after one fruitless iteration, 0 is off, a negative number is refused', async () => {
  project = makeProject({ files: list('a'), runs: say('Hm.') });
  expect((await project.ralph(['run', '--max-stuck', '1'])).code).toBe(4);
  expect(started(project)).toBe(1);
  expect((await project.ralph(['run', '--max-stuck', '0', '-n', '1'])).code).toBe(1);
  expect(started(project)).toBe(2);
  for (const value of ['-1', 'many', '1.5']) {
    const refused = await project.ralph(['run', '--max-stuck', value]);
    expect(refused.code).toBe(5);
    expect(refused.err).toMatch(/max[-_]stuck/);
  }
  expect(started(project)).toBe(2);
});

test('an agent that keeps dying is not tried three times by its tasks but ends in exit 6', async () => {
  project = makeProject({
    files: list('a'),
    runs: [{ do: [{ say: 'boom' }, { exit: 1 }] }],
    config: 'limits: { retry_delays_s: [0], max_subagent_retries: 2 }\n',
  });
  const ran = await project.ralph(['run', '--json']);
  expect(result(ran).exit).toMatchObject({ code: 6, word: 'AGENT_FAILURE' });
  expect(started(project)).toBe(3);
  expect(facts(project, 'task.charged')).toEqual([]);
  expect(csv(project).rows.every((row) => row.stuck_count === '0')).toBe(true);
});
