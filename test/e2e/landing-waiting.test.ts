/** Loops that wait in the queue and whose process is gone: who lands them, who leaves them alone, and how that is ended. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readLoops } from '../../src/store/index.ts';
import { until } from './journal.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project.remove());

/** Slow where the loop's work is. */
const GATE = '[ ! -e a.txt ] || [ ! -e "$HOME/slow" ] || { echo $$ > "$HOME/gate.pid"; sleep 300; }';
const standing = () => readLoops(project.dir).map((loop) => `${loop.id} ${loop.standing}`);
const atGate = () => existsSync(join(project.home, 'gate.pid'));

/** A loop that is done and waits, whose landing was ended by Ctrl-C while its gate ran. */
async function waiting(): Promise<void> {
  project = makeProject({
    files: { 'A.json': taskList([story('A')]) },
    config: `land: branch\ngates: [{ name: slow, run: '${GATE}' }]\n`,
    runs: [
      { when: { task: 'A' }, do: [{ run: 'echo a > a.txt' }, { say: DONE }] },
      {
        do: [
          {
            run: 'touch "$HOME/at-work"; for n in $(seq 600); do [ -e "$HOME/go" ] && break; sleep 0.1; done',
          },
          { run: 'echo o > o.txt' },
          { say: DONE },
        ],
      },
    ],
  });
  expect((await project.ralph(['run', '--worktree', 'one', '--tasks', 'A.json'])).code).toBe(0);
  writeFileSync(join(project.home, 'slow'), '');
  const merging = project.start(['loops', 'merge', 'one']);
  await until(atGate, 'the gate of the landing');
  merging.child.kill('SIGINT');
  await merging.done;
  rmSync(join(project.home, 'gate.pid'));
  expect(standing()).toEqual(['one queued']);
}

test('a run that Ctrl-C ended lands nobody else’s loop', async () => {
  await waiting();
  const here = project.start(['run', 'something here', '--json']);
  await until(() => existsSync(join(project.home, 'at-work')), 'the agent');
  here.child.kill('SIGINT');
  expect((await here.done).code).toBe(130);
  expect([atGate(), ...standing()]).toEqual([false, 'one queued']);
});

test('Ctrl-C ends the landing of a loop that waited for a run; the loop waits on', async () => {
  await waiting();
  writeFileSync(join(project.home, 'go'), '');
  const here = project.start(['run', 'something here', '--json']);
  await until(atGate, 'the gate of the landing');
  const pid = Number(readFileSync(join(project.home, 'gate.pid'), 'utf8'));
  here.child.kill('SIGINT');
  const ended = await here.done;
  expect(() => process.kill(pid, 0)).toThrow();
  expect([ended.code, ended.err, ...standing()]).toEqual([
    0,
    expect.stringContaining('`ralph loops merge one` lands it'),
    'one queued',
  ]);
});
