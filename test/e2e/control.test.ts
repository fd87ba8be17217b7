/** PAUSE, a restart, RESUME and ABORT in each phase of a session: files are kept, nothing is done twice. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { findByMarker } from '../../src/process/index.ts';
import { facts, json, sessionDir, started, until, verdicts } from './journal.ts';
import {
  DONE,
  makeProject,
  type Project,
  type ProjectOptions,
  result,
  type Started,
  story,
  taskList,
} from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => {
  for (const { marker } of existsSync(join(project.dir, '.ralph-sessions'))
    ? facts(project, 'attempt.started')
    : [])
    for (const { pid } of findByMarker({ name: 'RALPH_MARKER', value: marker })) process.kill(pid, 'SIGKILL');
  project?.remove();
});

const LIST = { 'ralph/tasks.json': taskList([story('a'), story('b')]) };
const make = (options: ProjectOptions) => {
  project = makeProject({ files: LIST, ...options });
};
const code = async (...args: string[]) => (await project.ralph(args)).code;
const begin = (...args: string[]): Started => project.start(['run', '--json', ...args]);
const stands = (path: string) => existsSync(join(project.dir, path));
const reached = (path: string) => until(() => stands(path), path);
const markers = async () =>
  json<{ marker: string }[]>(await project.ralph(['tasks', '--json'])).map(({ marker }) => marker);
const WRITES = { write: { path: '{{task}}.txt', content: 'made {{task}}\n' } };
/** Leaves word where it is and stays there until the word is taken away and `.git/go` is there. */
const held = (word: string) =>
  `touch .git/${word}; while ! test -e .git/go; do sleep 0.1; done; rm .git/${word}`;

/** The runner dies without a word, as in a power cut. */
async function killed(running: Started): Promise<void> {
  running.child.kill('SIGKILL');
  await running.done;
}

/** What an abort leaves behind, in the files that other tools read. */
function expectAborted(): void {
  const meta = (path: string) => parse(readFileSync(join(sessionDir(project), path), 'utf8'));
  expect(meta('metadata.yaml')).toMatchObject({ status: 'aborted', orchestrator: { state: 'COMPLETE' } });
  expect(meta('iterations/1/metadata.yaml').completed_at).toEqual(expect.anything());
  expect(facts(project, 'abort.done')).toHaveLength(1);
}

test('waiting for an answer: paused, killed, started again, resumed, it waits for the same answer; aborted, it is over', async () => {
  const asks = { say: '<promise>DECIDE:Firefox or Chrome?</promise>' };
  make({
    runs: [{ when: { iteration: 1 }, do: [{ write: { path: 'half.txt', content: 'half\n' } }, asks] }],
  });
  const running = begin('--wait');
  await reached('ralph/decide.txt');
  expect(await code('pause')).toBe(0);
  await until(() => facts(project, 'session.paused').length === 1, 'the pause taken in');
  await killed(running);
  expect(await code('run')).toBe(7);
  expect(await code('resume')).toBe(3);
  expect(started(project)).toBe(1);
  expect(facts(project, 'question.asked')).toHaveLength(1);
  expect(await code('abort')).toBe(0);
  expect(await code('run')).toBe(9);
  expect(project.read('half.txt')).toBe('half\n');
  expectAborted();
});

test('executing: the agent ends, uncharged; paused over a restart; resumed it works on; aborted the task fails and its files stay', async () => {
  const half = { write: { path: 'half.txt', content: 'half\n' } };
  make({ runs: [{ do: [half, { run: 'touch .git/{{iteration}}' }, { hang: true }] }] });
  const running = begin();
  await reached('.git/1');
  expect(await code('pause', 'meeting')).toBe(0);
  expect(result(await running.done).exit.code).toBe(7);
  expect(await markers()).toEqual(['[ ]', '[ ]']);
  expect(await code('run')).toBe(7);
  expect(started(project)).toBe(1);
  const again = project.start(['resume', '--json']);
  await reached('.git/2');
  expect(await code('abort', 'wrong')).toBe(0);
  expect(result(await again.done).exit.code).toBe(9);
  expect(await markers()).toEqual(['[F]', '[ ]']);
  expect(facts(project, 'task.charged')).toEqual([]);
  expect(project.read('half.txt')).toBe('half\n');
  expectAborted();
});

test('gates: a pause ends the gate and judges nothing; resumed only the gate runs again; aborted, it is never judged', async () => {
  make({
    runs: [{ do: [WRITES, { say: DONE }] }],
    // Without the work it passes at once: that is the baseline.
    config: `gates:\n  - { name: slow, run: "test ! -e a.txt || { ${held('gate')}; }" }\n`,
  });
  const running = begin();
  await reached('.git/gate');
  expect(await code('pause')).toBe(0);
  expect(result(await running.done).exit.code).toBe(7);
  expect([verdicts(project), started(project)]).toEqual([[], 1]);
  expect(await markers()).toEqual(['[/]', '[ ]']);
  rmSync(join(project.dir, '.git/gate'));
  expect(await code('run')).toBe(7);
  expect(stands('.git/gate')).toBe(false);
  const again = project.start(['resume', '--json']);
  await reached('.git/gate');
  expect(started(project)).toBe(1);
  expect(await code('abort')).toBe(0);
  expect(result(await again.done).exit.code).toBe(9);
  expect(project.read('a.txt')).toBe('made a\n');
  expect(await markers()).toEqual(['[F]', '[ ]']);
  expect(verdicts(project)).toEqual([]);
  expectAborted();
});

test('landing: a pause leaves the verdict, and the work lands after it, once; an abort leaves what is done', async () => {
  const hook = `#!/bin/sh\nif test -e .git/free; then exit 0; fi\n${held('hook')}\n`;
  make({ runs: [{ do: [WRITES, { say: DONE }] }], files: { ...LIST, 'hooks/pre-commit': hook } });
  chmodSync(join(project.dir, 'hooks/pre-commit'), 0o755);
  project.git('commit', '-qam', 'hook');
  project.git('config', 'core.hooksPath', 'hooks');
  const running = begin();
  await reached('.git/hook');
  expect(await code('pause')).toBe(0);
  expect(result(await running.done).exit.code).toBe(7);
  expect(verdicts(project)).toEqual(['a accepted']);
  expect(await markers()).toEqual(['[x]', '[ ]']);
  rmSync(join(project.dir, '.git/hook'));
  const again = project.start(['resume', '--json']);
  await reached('.git/hook');
  expect(await code('abort')).toBe(0);
  expect(result(await again.done).exit.code).toBe(9);
  expect((await markers())[0]).toBe('[x]');
  expect(project.read('a.txt')).toBe('made a\n');
  expect(verdicts(project)[0]).toBe('a accepted');
  expectAborted();
  // Done work of an aborted session lands when the session is opened again, and only then.
  project.write('.git/free', '');
  expect(await code('run', '--reopen')).toBe(0);
  const trailers = project.git('log', '--format=%(trailers:key=Ralph-Task,valueonly)', '--', 'a.txt');
  expect(trailers.split('\n').filter((line) => line !== '')).toEqual(['a']);
});

test('complete: neither a pause nor an abort changes anything', async () => {
  make({ runs: [{ do: [WRITES, { say: DONE }] }] });
  expect(await code('run')).toBe(0);
  const head = project.git('rev-parse', 'HEAD');
  for (const command of ['pause', 'abort']) {
    expect((await project.ralph([command])).out).toContain('no effect');
    expect(await code('run')).toBe(0);
  }
  expect(await markers()).toEqual(['[x]', '[x]']);
  expect(project.git('rev-parse', 'HEAD')).toBe(head);
  expect(facts(project, 'abort.done')).toEqual([]);
});

test('killed in the middle of the abort, the checklist is done again at the next start, and only once', async () => {
  const half = { write: { path: 'half.txt', content: 'half\n' } };
  make({ runs: [{ do: [half, { ignore_sigterm: true }, { run: 'touch .git/working' }, { hang: true }] }] });
  const running = begin();
  await reached('.git/working');
  expect(await code('abort', 'wrong direction')).toBe(0);
  await until(() => facts(project, 'abort.asked').length === 1, 'the abort taken in');
  // The agent ignores SIGTERM, so the checklist cannot have begun.
  await killed(running);
  expect(facts(project, 'abort.done')).toEqual([]);
  expect(await code('run')).toBe(9);
  expect(await markers()).toEqual(['[F]', '[ ]']);
  const [attempt] = facts(project, 'attempt.started');
  expect(findByMarker({ name: 'RALPH_MARKER', value: attempt?.marker ?? '' })).toEqual([]);
  expectAborted();
  expect(await code('run')).toBe(9);
  expectAborted();
  expect(project.read('half.txt')).toBe('half\n');
});

test('killed right after the checklist was written down, its files are drawn at the next look', async () => {
  make({ runs: [{ do: [{ run: 'touch .git/working' }, { hang: true }] }] });
  const running = begin();
  await reached('.git/working');
  expect(await code('abort')).toBe(0);
  await until(() => facts(project, 'abort.done').length === 1, 'the checklist written down');
  await killed(running);
  for (const file of ['metadata.yaml', 'iterations/1/metadata.yaml', 'iterations/1/progress.md'])
    rmSync(join(sessionDir(project), file), { force: true });
  expect(await code('run')).toBe(9);
  expectAborted();
  const progress = readFileSync(join(sessionDir(project), 'iterations/1/progress.md'), 'utf8');
  expect(progress).toMatch(/\[F\] a .*Aborted by signal/);
  expect(readdirSync(join(sessionDir(project), 'signals/inputs'))).toEqual([]);
});
