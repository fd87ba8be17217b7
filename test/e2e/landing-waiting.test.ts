/** Loops that wait in the queue and whose process is gone: who lands them, who leaves them alone, and how that is ended. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readLoops, tellLoop } from '../../src/store/index.ts';
import { until } from './journal.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project.remove());

/** Slow where the loop's work is. */
const GATE = '[ ! -e a.txt ] || [ ! -e "$HOME/slow" ] || { echo $$ > "$HOME/gate.pid"; sleep 300; }';
const standing = () => readLoops(project.dir).map((loop) => `${loop.id} ${loop.standing}`);
const atGate = () => {
  const file = join(project.home, 'gate.pid');
  return existsSync(file) && readFileSync(file, 'utf8').endsWith('\n');
};

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

/** Ends what is started when the gate of its landing runs, which ends as well; tells how it ended. */
async function endedAtGate(args: string[], cwd = project.dir) {
  const here = project.start(args, { cwd });
  await until(atGate, 'the gate of the landing');
  const pid = Number(readFileSync(join(project.home, 'gate.pid'), 'utf8'));
  here.child.kill('SIGINT');
  const ended = await here.done;
  expect(() => process.kill(pid, 0)).toThrow();
  return ended;
}

test('Ctrl-C before a run has begun, while it lands what was broken off, ends that and begins nothing', async () => {
  await waiting();
  const [from, to] = ['main', 'ralph/one'].map((name) => project.git('rev-parse', name)) as [string, string];
  await tellLoop(project.dir, Date.now(), { type: 'loop.landing', loop: 'one', from, to });
  const sessions = () => readdirSync(join(project.dir, '.ralph-sessions')).length;
  const before = sessions();
  const { code, out, err } = await endedAtGate(['run', 'something here', '--json']);
  expect([code, err, ...standing()]).toEqual([
    130,
    expect.stringContaining('`ralph loops merge one` lands it'),
    'one queued',
  ]);
  expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
    session_id: null,
    exit: { code: 130, reason: 'SIGINT: nothing was begun; run again to begin' },
  });
  expect([sessions(), project.git('rev-parse', 'main')]).toEqual([before, from]);
});

test('Ctrl-C while a run that had nothing to do lands its loop ends the gate, and the loop waits', async () => {
  await waiting();
  rmSync(join(project.home, 'slow'));
  const { worktree } = readLoops(project.dir)[0]!;
  expect((await project.ralph(['run', '--json'], { cwd: worktree })).code).toBe(0);
  const config = join(worktree, 'ralph.yml');
  writeFileSync(config, readFileSync(config, 'utf8').replace('land: branch', 'land: merge'));
  project.git('-C', worktree, 'commit', '-qam', 'It lands');
  project.write('m.txt', 'm\n');
  project.git('add', 'm.txt');
  project.git('commit', '-qm', 'main moves on');
  const main = project.git('rev-parse', 'main');
  writeFileSync(join(project.home, 'slow'), '');
  const { code, out } = await endedAtGate(['run', '--tasks', 'A.json', '--json'], worktree);
  expect([code, standing(), project.git('rev-parse', 'main')]).toEqual([130, ['one queued'], main]);
  expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
    exit: {
      reason: expect.stringMatching(
        /^SIGINT: Loop one is done and waits to land on main: it was interrupted/,
      ),
    },
    landing: { outcome: 'queued' },
  });
  rmSync(join(project.home, 'slow'));
  expect((await project.ralph(['loops', 'merge', 'one'])).code).toBe(0);
});

test('another loop’s broken configuration is told and is no fault of the run that looks back', async () => {
  await waiting();
  rmSync(join(project.home, 'slow'));
  writeFileSync(join(project.home, 'go'), '');
  const tree = readLoops(project.dir)[0]!.worktree;
  writeFileSync(join(tree, 'ralph.yml'), 'gates: 7\n');
  const here = await project.ralph(['run', 'something here', '--json']);
  expect([here.code, here.err]).toEqual([0, expect.stringContaining('Loop one waits on')]);
  expect(JSON.parse(here.out.trim().split('\n').at(-1)!).exit.code).toBe(0);
  expect(standing()).toEqual(['one queued']);
});

test('a gate that was red before the loop began keeps nothing from landing, on its own tip or on a merge', async () => {
  const top = 'top=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")';
  const moved = `cd "$top" && echo m > m.txt && git add m.txt && git commit -qm meanwhile`;
  project = makeProject({
    files: { 'A.json': taskList([story('A')]), 'B.json': taskList([story('B')]) },
    config: "gates: [{ name: old, run: 'echo Error: as ever; exit 1' }]\n",
    runs: [
      { when: { task: 'A' }, do: [{ run: 'echo a > a.txt' }, { say: DONE }] },
      { do: [{ run: `echo b > b.txt; ${top}; ${moved}` }, { say: DONE }] },
    ],
  });
  const ran = async (loop: string, list: string) => {
    const { code, err } = await project.ralph(['run', '--worktree', loop, '--tasks', list]);
    return [code, code === 0 ? '' : err];
  };
  expect(await ran('one', 'A.json')).toEqual([0, '']);
  expect(await ran('two', 'B.json')).toEqual([0, '']);
  expect(standing()).toEqual(['one landed', 'two landed']);
});
