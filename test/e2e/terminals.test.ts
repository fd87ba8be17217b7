/** What happens around a run's own process: its terminal closes, its output goes nowhere, it fails itself. */

import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, until, verdicts } from './journal.ts';
import { HONEST, makeProject, PROGRAM, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a'), story('b')]) };
const HANGS = [
  { when: { iteration: 1 }, do: [{ run: 'echo $PPID > .git/agent.pid' }, { hang: true }] },
  ...HONEST,
];
const agentIsAlive = () => {
  const pid = project.read('.git/agent.pid').trim();
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
};
const agentWorks = () =>
  until(() => project.read('.git/agent.pid').trim() !== '' && agentIsAlive(), 'an agent');

test('a terminal that closes ends the agent and the run, which goes on later', async () => {
  project = makeProject({ files: LIST, runs: HANGS });
  const running = project.start(['run']);
  await agentWorks();
  running.child.kill('SIGHUP');
  const { code } = await running.done;
  expect([code, agentIsAlive()]).toEqual([143, false]);
  expect(facts(project, 'run.stopped').at(-1)!.reason).toMatch(/^SIGHUP/);
  expect((await project.ralph(['run'])).code).toBe(0);
});

test('under nohup a closed terminal changes nothing', async () => {
  project = makeProject({ files: LIST, runs: HANGS });
  const running = project.start(['run'], { env: { _: '/usr/bin/nohup' } });
  await agentWorks();
  running.child.kill('SIGHUP');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(agentIsAlive()).toBe(true);
  running.child.kill('SIGTERM');
  expect((await running.done).code).toBe(143);
});

/** Runs with stdout and stderr on a device that takes nothing; answers the exit code. */
function onFullDisk(...args: string[]): Promise<number | null> {
  const full = openSync('/dev/full', 'w');
  const env = { PATH: process.env.PATH, HOME: project.home, GIT_CONFIG_GLOBAL: '/dev/null' };
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: project.dir,
    env,
    stdio: ['ignore', full, full],
  });
  return new Promise((resolve) => child.on('close', resolve));
}

test.each([[[]], [['--json']]])(
  'a run goes on to its end where its output cannot be written %j',
  async (flags) => {
    project = makeProject({ files: LIST });
    expect(await onFullDisk('run', ...flags)).toBe(0);
    expect(verdicts(project)).toEqual(['a accepted', 'b accepted']);
  },
);

test('a window that cannot write its output says 70 and not 1', async () => {
  project = makeProject({ files: LIST });
  await project.ralph(['run']);
  expect(await onFullDisk('status')).toBe(70);
});

test('a defect outside of every promise ends the agent, is 70, and running again goes on', async () => {
  project = makeProject({ files: LIST, runs: HANGS });
  project.write('.git/defect.cjs', "process.on('SIGUSR2', () => { throw new Error('a defect'); });\n");
  const running = project.start(['run'], {
    env: { NODE_OPTIONS: `--require ${join(project.dir, '.git/defect.cjs')}` },
  });
  await agentWorks();
  running.child.kill('SIGUSR2');
  const { code, err } = await running.done;
  expect([code, agentIsAlive()]).toEqual([70, false]);
  expect(err).toContain('a defect');
  expect((await project.ralph(['run'])).code).toBe(0);
});

test('an agent that deletes the session with `git clean -x` is told as what it is', async () => {
  project = makeProject({
    files: LIST,
    runs: [{ do: [{ run: 'git clean -fdxq; rm -rf .ralph-sessions' }] }],
  });
  const { code, out, err } = await project.ralph(['run']);
  expect([code, out + err]).toEqual([
    70,
    expect.stringMatching(/deleted .*\.ralph-sessions.*journal .* is lost/),
  ]);
  expect(out + err).not.toMatch(/not a git repository|defect/);
});
