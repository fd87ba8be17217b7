/** People beside the loop: from another terminal, by a signal of the process, with a second loop. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, prompt, sessionDir, sessions, started, until, verdicts } from './journal.ts';
import {
  DONE,
  HONEST,
  makeProject,
  type Project,
  result,
  type ScriptedRun,
  type Started,
  story,
  taskList,
} from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a'), story('b')]) };
const code = async (...args: string[]) => (await project.ralph(args)).code;
const runs = () => facts(project, 'attempt.spawned').length;
/** The first iteration writes half of its work and then hangs; the later ones are honest. */
const SLOW: ScriptedRun[] = [
  {
    when: { iteration: 1 },
    do: [
      { write: { path: 'half.txt', content: 'half\n' } },
      { run: 'echo $PPID > .git/agent.pid' },
      { hang: true },
    ],
  },
  ...HONEST,
];

/** Starts the loop and waits until its agent is at work. */
async function atWork(...args: string[]): Promise<Started> {
  const running = project.start(['run', '--json', ...args]);
  await until(() => existsSync(join(project.dir, '.git/agent.pid')) && runs() === 1, 'the agent at work');
  return running;
}

const agentIsAlive = () => {
  const pid = project.read('.git/agent.pid').trim();
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
};

test('a second loop is refused and names the first; windows look on; pause from another terminal, then resume', async () => {
  project = makeProject({ files: LIST, runs: SLOW });
  const running = await atWork();
  const [id] = sessions(project);
  const second = await project.ralph(['run']);
  expect([second.code, second.err]).toEqual([
    5,
    expect.stringMatching(new RegExp(`pid ${running.child.pid} on .*${id}`)),
  ]);
  for (const flags of [['--new'], ['--session', id!], ['other', '--new']])
    expect(await code('run', ...flags)).toBe(5);
  const looked = json<{ live: { iteration: number }[]; status: string }>(
    await project.ralph(['status', '--json']),
  );
  expect(looked).toMatchObject({ status: 'in_progress', live: [{ iteration: 1 }] });
  expect((await project.ralph(['archive'])).out).not.toContain('Moved');

  expect(json(await project.ralph(['pause', 'lunch', '--json']))).toMatchObject({
    outcome: 'queued',
    session_id: id,
  });
  const ran = await running.done;
  expect(result(ran).exit).toMatchObject({ code: 7, word: 'STOPPED' });
  expect(agentIsAlive()).toBe(false);
  expect(facts(project, 'attempt.ended')[0]).toMatchObject({ stoppedFor: 'pause' });
  expect(facts(project, 'task.charged')).toEqual([]);
  expect(json(await project.ralph(['status', '--json']))).toMatchObject({
    paused: true,
    status: 'in_progress',
    exit: { code: 7 },
  });
  expect(await code('run')).toBe(7);
  expect(runs()).toBe(1);
  expect(await code('resume')).toBe(0);
  expect(prompt(project, 2)).toContain('lunch');
  expect(project.git('log', '-2', '--format=', '--name-only').split('\n')).toContain('half.txt');
  expect(project.git('status', '--porcelain')).toBe('');
});

test('with --wait a paused loop stays, and `ralph resume` elsewhere tells it to go on', async () => {
  project = makeProject({ files: LIST, runs: SLOW });
  const running = await atWork('--wait');
  expect(await code('pause')).toBe(0);
  await until(() => facts(project, 'attempt.ended').length === 1, 'the attempt ended by the pause');
  const told = await project.ralph(['resume', '--json']);
  expect([told.code, json(told)]).toMatchObject([0, { outcome: 'queued' }]);
  expect(result(await running.done).exit.code).toBe(0);
  expect(facts(project, 'run.started')).toHaveLength(1);
});

test('stop lets the live agent finish and be judged; nothing new starts; run goes on', async () => {
  const wait = { run: 'echo $PPID > .git/agent.pid; while ! test -e .git/go; do sleep 0.1; done' };
  project = makeProject({
    files: LIST,
    runs: [{ when: { iteration: 1 }, do: [wait, ...HONEST[1]!.do] }, ...HONEST],
  });
  const running = await atWork();
  expect(await code('stop', 'enough', 'for', 'tonight')).toBe(0);
  await until(() => facts(project, 'stop.asked').length === 1, 'the stop taken in');
  project.write('.git/go', '');
  const reason = 'stopped by a person: enough for tonight; `ralph run` goes on';
  expect(result(await running.done).exit).toMatchObject({ code: 7, reason });
  for (const window of ['status', 'why']) expect((await project.ralph([window])).out).toContain(reason);
  expect(verdicts(project)).toEqual(['a accepted']);
  const late = await project.ralph(['stop']);
  expect(late.out).toMatch(/no effect/);
  expect(await code('run')).toBe(0);
});

test('abort ends at once and for good; run again is 9; --reopen takes it up', async () => {
  project = makeProject({ files: LIST, runs: SLOW });
  const running = await atWork();
  expect(await code('abort', 'wrong direction')).toBe(0);
  expect(result(await running.done).exit).toMatchObject({ code: 9, word: 'ABORTED' });
  expect(agentIsAlive()).toBe(false);
  expect(project.read('half.txt')).toBe('half\n');
  const tasks = json<{ id: string; marker: string }[]>(await project.ralph(['tasks', '--json']));
  expect(tasks.map(({ marker }) => marker)).toEqual(['[F]', '[ ]']);
  const again = await project.ralph(['run']);
  expect(again.code).toBe(9);
  expect(again.out + again.err).toContain('--reopen');
  expect(started(project)).toBe(1);
  expect(json(await project.ralph(['status', '--json']))).toMatchObject({
    status: 'blocked',
    status_detail: 'aborted',
  });
  expect(await code('run', '--reopen')).toBe(0);
  expect(verdicts(project)).toEqual(['a accepted', 'b accepted']);
});

test('abort and pause without a runner take effect at once', async () => {
  project = makeProject({
    files: LIST,
    runs: [{ when: { task: 'a' }, do: HONEST[1]!.do }, { do: [{ say: 'hm' }] }],
  });
  expect(await code('run', '-n', '1')).toBe(1);
  expect((await project.ralph(['pause', 'later'])).out).toMatch(/paused/);
  expect(await code('run')).toBe(7);
  expect((await project.ralph(['pause'])).out).toMatch(/no effect/);
  expect((await project.ralph(['abort'])).out).toMatch(/abort/);
  expect(await code('run')).toBe(9);
  expect(await code('resume')).toBe(9);
  expect(started(project)).toBe(1);
});

test.each([
  ['SIGINT', 130, 'INTERRUPTED'],
  ['SIGTERM', 143, 'TERMINATED'],
] as const)(
  '%s ends the agent, charges nothing and exits %i; run again goes on',
  async (signal, exit, word) => {
    project = makeProject({ files: LIST, runs: SLOW });
    const running = await atWork();
    running.child.kill(signal);
    const ran = await running.done;
    expect(ran.code).toBe(exit);
    expect(result(ran).exit).toMatchObject({ code: exit, word });
    expect(agentIsAlive()).toBe(false);
    expect(facts(project, 'attempt.ended')[0]).toMatchObject({ stoppedFor: 'signal' });
    expect(facts(project, 'task.charged')).toEqual([]);
    expect(existsSync(join(sessionDir(project), 'lock'))).toBe(false);
    expect(await code('run')).toBe(0);
    expect(sessions(project)).toHaveLength(1);
    expect(project.git('log', '--format=', '--name-only').split('\n')).toContain('half.txt');
  },
);

test('a second Ctrl-C does not wait for an agent that ignores the first', async () => {
  project = makeProject({ files: LIST, runs: [{ do: [{ ignore_sigterm: true }, ...SLOW[0]!.do] }] });
  const running = await atWork();
  running.child.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 300));
  running.child.kill('SIGINT');
  expect((await running.done).code).toBe(130);
  expect(agentIsAlive()).toBe(false);
  expect(facts(project, 'run.stopped')).toMatchObject([{ code: 130 }]);
});

test('kill -9 in an attempt: the next start names it, charges nothing, keeps the work and leaves nothing running', async () => {
  project = makeProject({ files: LIST, runs: SLOW });
  const running = await atWork();
  running.child.kill('SIGKILL');
  await running.done;
  expect(agentIsAlive()).toBe(true);
  expect((await project.ralph(['status'])).out).toMatch(/crash|without a word/);
  expect(await code('resume')).toBe(0);
  expect(agentIsAlive()).toBe(false);
  expect(facts(project, 'attempt.lost')).toMatchObject([{ iteration: 1, changes: [{ path: 'half.txt' }] }]);
  expect(facts(project, 'task.charged')).toEqual([]);
  expect(prompt(project, 2)).toContain('iteration 1: the runner was gone');
  expect(prompt(project, 2)).toContain('half.txt');
  expect((await project.ralph(['why', '1'])).out).toMatch(/lost/);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('another objective beside an open session: 5 naming both; --new sets it aside; several need --session', async () => {
  const half = [{ write: { path: '{{task}}-{{iteration}}.txt', content: 'x\n' } }];
  project = makeProject({
    runs: [
      { when: { iteration: 1 }, do: [...half, { say: '<promise>DECIDE:Red or blue?</promise>' }] },
      { do: [...half, { say: DONE }] },
    ],
  });
  expect(await code('run', 'paint the shed')).toBe(3);
  const other = await project.ralph(['run', 'mow the lawn']);
  const [first] = sessions(project);
  expect([other.code, other.err]).toEqual([
    5,
    expect.stringMatching(new RegExp(`${first}[\\s\\S]*paint the shed[\\s\\S]*mow the lawn[\\s\\S]*--new`)),
  ]);
  expect(await code('run', 'mow the lawn', '--new')).toBe(3);
  expect(sessions(project)).toHaveLength(2);
  const second = sessions(project)[1]!;
  expect(project.read('ralph/decide.txt').match(/Red or blue/g)).toHaveLength(1);
  const plain = await project.ralph(['run']);
  expect([plain.code, plain.err]).toEqual([
    5,
    expect.stringMatching(new RegExp(`${first}.*${second}[\\s\\S]*--session`)),
  ]);
  expect(await code('answer', 'blue', '--session', first!)).toBe(0);
  expect(await code('run', '--session', first!)).toBe(0);
  expect(facts(project, 'attempt.started', first)).toHaveLength(2);
  expect(prompt(project, 2, first)).toContain('blue');
  expect(facts(project, 'attempt.started', second)).toHaveLength(1);
  expect(await code('answer', 'red', '--session', second)).toBe(0);
  expect(await code('run')).toBe(0);
  expect(project.git('status', '--porcelain')).toBe('');
  expect(json<object[]>(await project.ralph(['sessions', '--json']))).toHaveLength(2);
});

test('a signal file dropped by hand steers, a wrong one is rejected with its reason', async () => {
  project = makeProject({ files: LIST, runs: SLOW });
  const running = await atWork();
  const inputs = join('.ralph-sessions', sessions(project)[0]!, 'signals');
  project.write(
    join(inputs, 'inputs/signal.261128-010101-aaaa.yaml'),
    'type: steer\ntarget: " executor "\nmessage: Use otters.\n',
  );
  project.write(
    join(inputs, 'inputs/signal.261128-010102-bbbb.yaml'),
    'type: STEER\ntarget: plumber\nmessage: x\n',
  );
  await until(
    () => existsSync(join(project.dir, inputs, 'rejected/signal.261128-010102-bbbb.yaml.reason.txt')),
    'the rejection',
  );
  expect(project.read(join(inputs, 'rejected/signal.261128-010102-bbbb.yaml.reason.txt'))).toMatch(
    /executor/,
  );
  project.write(join(inputs, 'inputs/signal.261128-010103-cccc.yaml'), 'type: PAUSE\n');
  expect(result(await running.done).exit.code).toBe(7);
  expect(await code('resume')).toBe(0);
  expect(prompt(project, 2)).toContain('Use otters.');
  expect(project.read(join(inputs, 'processed/signal.261128-010101-aaaa.yaml'))).toMatch(/handling_metadata/);
});
