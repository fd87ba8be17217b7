/** `.ralph/loops.json` and `ralph loops --json` tell of a loop in the same words, whatever it does. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readLoops } from '../../src/store/index.ts';
import { until } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

type Row = Record<string, unknown>;
const NAMES = ['loop_id', 'session_id', 'primary', 'branch', 'onto', 'worktree', 'state', 'landed'];

async function both(): Promise<{ told: Row[]; drawn: Row[] }> {
  const { out } = await project.ralph(['loops', '--json']);
  const drawn = join(project.dir, '.ralph/loops.json');
  return {
    told: (JSON.parse(out) as Row[]).map((row) => Object.fromEntries(NAMES.map((n) => [n, row[n]]))),
    drawn: existsSync(drawn) ? JSON.parse(project.read('.ralph/loops.json')) : [],
  };
}

/** In every name of every row; the file may follow a moment later. Answers the state of the loop. */
async function alike(expected: Row): Promise<void> {
  await vi.waitFor(async () => {
    const { told, drawn } = await both();
    expect(drawn).toEqual(told);
    const row = drawn.find(({ loop_id }) => loop_id === 'one')!;
    expect(Object.keys(row)).toEqual(NAMES);
    expect(row).toMatchObject({ branch: 'ralph/one', onto: 'main', ...expected });
  }, 20_000);
}

function make(runs: ScriptedRun[]): void {
  project = makeProject({
    files: { 'shared.txt': 'was\n', 'one.json': taskList([story('A')]), 'main.json': taskList([story('M')]) },
    runs,
  });
}

const RUN = ['run', '--worktree', 'one', '--tasks', 'one.json'];
const go = () => writeFileSync(join(project.home, 'go'), '');
const WAIT = 'until [ -e "$HOME/go" ]; do sleep 0.1; done';
const going = () => readLoops(project.dir)[0]?.session !== null;

test('while it runs, when a limit stopped it, when it has landed and when it is pruned', async () => {
  make([
    { when: { iteration: 1 }, do: [{ run: WAIT }, { say: 'Not done yet.' }] },
    { do: [{ run: 'echo a > a.txt' }, { say: DONE }] },
  ]);
  const run = project.start([...RUN, '-n', '1']);
  await until(() => existsSync(join(project.dir, '.ralph/loops.json')) && going(), 'it runs');
  await alike({ state: 'in_progress', landed: false, primary: true });
  go();
  expect((await run.done).code).toBe(1);
  await alike({ landed: false, primary: false });
  expect((await project.ralph(RUN)).code).toBe(0);
  await alike({ state: 'landed', landed: true, primary: false });
  expect((await project.ralph(['loops', 'prune'])).code).toBe(0);
  expect(await both()).toEqual({ told: [], drawn: [] });
});

test('while it waits for its turn, when it is parked, when it is merged, and when it is given up', async () => {
  make([
    { when: { task: 'M' }, do: [{ run: `${WAIT}; echo main > shared.txt` }, { say: DONE }] },
    { do: [{ run: 'echo one > shared.txt' }, { say: DONE }] },
  ]);
  const main = project.start(['run', '--tasks', 'main.json']);
  await until(() => existsSync(join(project.dir, '.ralph/loop.lock')), 'a run in the main checkout');
  const one = project.start(RUN);
  await until(() => readLoops(project.dir)[0]?.standing === 'queued', 'it waits for its turn');
  await alike({ state: 'queued', landed: false });
  go();
  await main.done;
  expect((await one.done).code).toBe(8);
  await alike({ state: 'needs_review', landed: false });
  const tree = readLoops(project.dir)[0]!.worktree;
  project.git('-C', tree, 'merge', '-q', '-X', 'ours', '--no-edit', 'main');
  expect((await project.ralph(['loops', 'merge', 'one'])).code).toBe(0);
  await alike({ state: 'landed', landed: true });
  expect((await project.ralph(['loops', 'discard', 'one', '--yes'])).code).toBe(0);
  const { told, drawn } = await both();
  expect([drawn, told.map(({ loop_id }) => loop_id)]).toEqual([told, ['main']]);
});

test('when it was killed: who hears people is told anew by the next one that draws, all else at once', async () => {
  make([{ do: [{ run: WAIT }, { run: 'echo a > a.txt' }, { say: DONE }] }]);
  const run = project.start(RUN);
  await until(() => existsSync(join(project.dir, '.ralph/loops.json')) && going(), 'it runs');
  run.child.kill('SIGKILL');
  await run.done;
  const { told, drawn } = await both();
  expect(drawn).toEqual([{ ...told[0], primary: true }]);
  go();
  expect((await project.ralph(RUN)).code).toBe(0);
  await alike({ state: 'landed', landed: true, primary: false });
});
