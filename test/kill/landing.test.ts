/**
 * kill -9 in the middle of a landing, at each of its boundaries: of the run that lands at its end and of `ralph loops
 * merge`. Where git is at work it dies as well, or goes on alone. Whoever comes next finishes the landing: one merge,
 * nothing lost, nothing of the user's touched.
 */
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readLoops } from '../../src/store/index.ts';
import { kill, told, until } from './killing.ts';
import {
  expectLanded,
  gitStopping,
  holdMain,
  killGit,
  type Lander,
  lander,
  type Scene,
  scene,
  slowFile,
  standing,
  treeOf,
} from './landing.ts';

const QUEUED = { state: 'queued', landed: false, runner: null, next: 'ralph loops merge one' };

/** Who is killed, and who finishes. */
const LANDERS: [string, Lander, string[]][] = [
  ['a run that lands at its end', 'run', ['loops', 'merge', 'one']],
  ['`ralph loops merge`', 'merge', ['run', '--worktree', 'one', '--tasks', 'one.json']],
];

describe.each(LANDERS)('killed: %s', (_, by, finish) => {
  async function begin(options: Parameters<typeof scene>[1] = {}): Promise<Scene> {
    const made = await scene(by, options);
    onTestFinished(() => made.project.remove());
    return made;
  }
  const finished = async (at: Scene) => expectLanded(at, await at.project.ralph(finish));

  test('while it waits for its turn', async () => {
    const at = await begin();
    const held = await holdMain(at.project);
    const started = lander(at.project, by);
    let said = '';
    started.child.stderr!.on('data', (text: string) => {
      said += text;
    });
    await until('its turn', () => said.includes('waits to land'));
    await kill(started);
    await held.release();
    expect(await standing(at.project)).toMatchObject(QUEUED);
    await finished(at);
  });

  test('while a gate runs on the merged tree', async () => {
    const hangs = 'if [ ! -e "$HOME/gated" ]; then touch "$HOME/gated"; sleep 600; fi';
    const gate = `if [ -e moved.txt ]; then echo ran >> "$HOME/gates"; ${hangs}; fi`;
    const at = await begin({ gate });
    const started = lander(at.project, by);
    await told(at.project, 'gated');
    await kill(started);
    expect(await standing(at.project)).toMatchObject(QUEUED);
    await finished(at);
    expect(readFileSync(join(at.project.home, 'gates'), 'utf8')).toBe('ran\nran\n');
  });

  test.each(['before', 'after'] as const)(
    'when the merge was made, right %s the branch is moved',
    async (how) => {
      const at = await begin();
      const { project } = at;
      const env = gitStopping(project, { cwd: project.dir, call: 'merge --ff-only', how });
      const started = lander(project, by, env);
      await told(project, 'stopped');
      await kill(started);
      killGit(project);
      expect(await standing(project)).toMatchObject(QUEUED);
      await finished(at);
    },
  );

  test('while the files of the main checkout are half entered, and git with it', async () => {
    const at = await begin();
    const { project } = at;
    slowFile(project, 'many/20.txt', project.dir);
    const env = gitStopping(project, { cwd: project.dir, call: 'merge --ff-only', how: 'noted' });
    const started = lander(project, by, env);
    await told(project, 'entering');
    await kill(started);
    killGit(project);
    writeFileSync(join(project.home, 'go-on'), '');
    expect(project.git('status', '--porcelain')).toContain('many/');
    const half = { checkout: realpathSync(project.dir), files: expect.arrayContaining(['many/00.txt']) };
    expect(await standing(project)).toMatchObject({ ...QUEUED, half_entered: [half] });
    const said = `a landing of loop one was broken off in ${half.checkout}, and `;
    expect((await project.ralph(['loops'])).out).toContain(`\n  ${said}`);
    expect((await project.ralph(['status'])).out).toMatch(
      new RegExp(`Landing: +${said}.*many/00.txt.*; ralph loops merge one completes it`),
    );
    const status = JSON.parse((await project.ralph(['status', '--json'])).out);
    expect(status.half_entered).toEqual([{ loop: 'one', ...half, next: QUEUED.next }]);
    await finished(at);
    expect(await standing(project)).not.toHaveProperty('half_entered');
    expect((await project.ralph(['status'])).out).not.toContain('Landing:');
  });

  test('while the files of the main checkout are entered, and git goes on alone', async () => {
    const at = await begin();
    const { project } = at;
    slowFile(project, 'many/20.txt', project.dir);
    const started = lander(project, by);
    await told(project, 'entering');
    await kill(started);
    const finishing = project.ralph(finish);
    const next = () => readLoops(project.dir)[0]!.queued?.by?.pid ?? started.child.pid;
    await until('the next landing', () => next() !== started.child.pid);
    writeFileSync(join(project.home, 'go-on'), '');
    expectLanded(at, await finishing);
  });

  test('while the work tree of the loop is half entered for its gates, and git with it', async () => {
    const at = await begin({ gate: 'true' });
    const { project } = at;
    slowFile(project, 'moved.txt', treeOf(project));
    const env = gitStopping(project, { cwd: treeOf(project), call: 'merge --ff-only', how: 'noted' });
    const started = lander(project, by, env);
    await told(project, 'entering');
    await kill(started);
    killGit(project);
    writeFileSync(join(project.home, 'go-on'), '');
    expect(await standing(project)).toMatchObject({
      ...QUEUED,
      half_entered: [{ checkout: treeOf(project), files: expect.any(Array) }],
    });
    await finished(at);
  });

  test('after it has landed', async () => {
    const at = await begin();
    const started = lander(at.project, by);
    await until('landed', () => readLoops(at.project.dir)[0]?.standing === 'landed');
    await kill(started);
    expect(await standing(at.project)).toMatchObject({ state: 'landed', landed: true });
    expectLanded(at, await at.project.ralph(['loops', 'merge', 'one']));
  });
});
