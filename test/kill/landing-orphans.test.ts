/**
 * What a landing that was killed left at work: a gate, or the command of `land`. Nobody hears it any more, so the next
 * start ends it before the same is done again, and no process of anybody else's.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLoops } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, story, taskList } from '../e2e/project.ts';
import { kill, marked, told } from './killing.ts';

/** Hangs where it is called for the first time; later it notes whether the first one is still there. */
const HANGS =
  'if [ ! -e $HOME/first ]; then echo $$ > $HOME/pid; mv $HOME/pid $HOME/first; sleep 600; elif grep -qa . /proc/$(cat $HOME/first)/cmdline; then touch $HOME/both; else touch $HOME/gone; fi';

function project(config: string): Project {
  const made = makeProject({
    files: { 'A.json': taskList([story('A')]) },
    config,
    runs: [
      { when: { task: 'A' }, do: [{ run: 'echo a > a.txt' }, { say: DONE }] },
      { do: [{ run: 'echo h > here.txt' }, { say: DONE }] },
    ],
  });
  onTestFinished(() => made.remove());
  return made;
}

const RUN = ['run', '--worktree', 'one', '--tasks', 'A.json'];
/** One that has ended and that nobody asked about has no command line. */
const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`).length > 0;

/** Kills who lands while it hangs; then the next start, which must find nobody left. */
async function killedAndFinished(at: Project, by: string[], next: string[]): Promise<void> {
  const stranger = spawn('sleep', ['600'], { cwd: at.dir });
  onTestFinished(() => void stranger.kill());
  const started = at.start(by);
  await told(at, 'first');
  await kill(started);
  const pid = Number(readFileSync(join(at.home, 'first'), 'utf8'));
  expect([started.child.signalCode, isAlive(pid)]).toEqual(['SIGKILL', true]);
  const { code, err } = await at.ralph(next);
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  expect([isAlive(pid), existsSync(join(at.home, 'both')), isAlive(stranger.pid!)]).toEqual([
    false,
    false,
    true,
  ]);
  expect(existsSync(join(at.home, 'gone'))).toBe(true);
  expect(marked(at)).toEqual([]);
}

test('the command of `land` is ended before the next start of the loop calls it again', async () => {
  const at = project(`land: { command: '${HANGS}' }\n`);
  await killedAndFinished(at, RUN, RUN);
  expect(readLoops(at.dir)[0]!.standing).toBe('handed_over');
});

test.each([
  ['`ralph loops merge`', ['loops', 'merge', 'one']],
  ['the end of a run in the main checkout', ['run', 'something here']],
])('a gate is ended before %s runs it again', async (_, next) => {
  const at = project(
    `land: branch\ngates: [{ name: slow, run: '[ ! -e a.txt ] || [ ! -e $HOME/slow ] || { ${HANGS}; }' }]\n`,
  );
  expect((await at.ralph(RUN)).code).toBe(0);
  at.git('commit', '-q', '--allow-empty', '-m', 'main moves on');
  at.git('-C', readLoops(at.dir)[0]!.worktree, 'commit', '-q', '--allow-empty', '-m', 'and so does the loop');
  writeFileSync(join(at.home, 'slow'), '');
  await killedAndFinished(at, ['loops', 'merge', 'one'], next);
  expect(readLoops(at.dir)[0]!.standing).toBe('landed');
});
