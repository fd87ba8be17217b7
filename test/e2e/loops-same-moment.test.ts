/** Several commands about loops at the same moment: one has it, the others say who does, and nothing is half done. */
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { marked } from '../kill/killing.ts';
import { json, sessions, until } from './journal.ts';
import { DONE, makeProject, type Project, type ProjectOptions, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const WAITS = 'touch "$HOME/at-it"; until [ -e "$HOME/go" ]; do sleep 0.05; done';

function begin(more: ProjectOptions = {}): void {
  project = makeProject({
    files: { 'A.json': taskList([story('A')]), 'B.json': taskList([story('B')]) },
    ...more,
  });
}

const atIt = () => until(() => existsSync(join(project.home, 'at-it')), 'it is at work');
const goOn = () => writeFileSync(join(project.home, 'go'), '');
const rows = async () => json<Record<string, unknown>[]>(await project.ralph(['loops', '--json']));
const waiting = { runs: [{ do: [{ run: WAITS }, { run: 'echo x > {{task}}.txt' }, { say: DONE }] }] };

test('of several starts of one loop at the same moment one works, and the others say which', async () => {
  begin(waiting);
  const starts = [1, 2, 3].map(() => project.start(['run', '--worktree', 'one', '--tasks', 'A.json']));
  await atIt();
  await until(() => starts.filter(({ child }) => child.exitCode !== null).length === 2, 'two are refused');
  goOn();
  const ends = await Promise.all(starts.map(({ done }) => done));
  expect(ends.map(({ code }) => code).sort()).toEqual([0, 5, 5]);
  for (const { code, err } of ends)
    if (code === 5)
      expect(err).toMatch(/Another start is making loop one right now|Another run is working here/);
  expect(sessions(project)).toHaveLength(1);
  expect(await rows()).toMatchObject([{ loop_id: 'one', state: 'landed' }]);
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(2);
  expect(marked(project)).toEqual([]);
});

test('while a run works in a loop, it is neither merged, discarded nor pruned, and each says that it runs', async () => {
  begin(waiting);
  const run = project.start(['run', '--worktree', 'one', '--tasks', 'A.json']);
  await atIt();
  for (const words of [
    ['merge', 'one'],
    ['discard', 'one', '--yes'],
  ]) {
    const { code, err } = await project.ralph(['loops', ...words]);
    expect([words[0], code, err]).toEqual([words[0], 5, expect.stringContaining('A run works in loop one')]);
    expect(err).toContain('ralph loops stop one');
  }
  expect(json(await project.ralph(['loops', 'prune', '--json']))).toMatchObject({
    removed: [],
    kept: [{ loop: 'one', why: 'its work has not landed' }],
  });
  goOn();
  expect(await run.done).toMatchObject({ code: 0 });
});

test('while a loop is made, it is neither pruned nor discarded', async () => {
  begin({ config: `worktree: { run: ['${WAITS}'] }\n` });
  const run = project.start(['run', '--worktree', 'one', '--tasks', 'A.json']);
  await atIt();
  expect(json(await project.ralph(['loops', 'prune', '--json']))).toMatchObject({ removed: [] });
  const refused = await project.ralph(['loops', 'discard', 'one', '--yes']);
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('is making loop one right now')]);
  goOn();
  expect(await run.done).toMatchObject({ code: 0 });
  expect(await rows()).toMatchObject([{ loop_id: 'one', state: 'landed' }]);
});

test('while a loop is merged, a run and a discard of it say so, and the merge lands it', async () => {
  begin({ config: `land: branch\ngates: [{ name: slow, run: '[ ! -e m.txt ] || { ${WAITS}; }' }]\n` });
  expect((await project.ralph(['run', '--worktree', 'one', '--tasks', 'A.json'])).code).toBe(0);
  project.write('m.txt', 'on\n');
  project.git('add', 'm.txt');
  project.git('commit', '-qm', 'Main moves on');
  const merge = project.start(['loops', 'merge', 'one']);
  await atIt();
  const lands = expect.stringContaining('Loop one is landing');
  for (const words of [
    ['run', '--worktree', 'one', '--tasks', 'A.json'],
    ['loops', 'discard', 'one', '--yes'],
    ['loops', 'merge', 'one'],
  ]) {
    const { code, err } = await project.ralph(words);
    expect([words.join(' '), code, err]).toEqual([words.join(' '), 5, lands]);
  }
  goOn();
  const merged = await merge.done;
  expect([merged.code, merged.err]).toEqual([0, expect.any(String)]);
  expect(project.git('log', '--merges', '--format=%s', 'main')).toContain('Merge loop one');
  expect(await rows()).toMatchObject([{ loop_id: 'one', state: 'landed' }]);
});

test('two loops that are merged at the same moment land one after the other', async () => {
  begin({ config: 'land: branch\ngates: [{ name: slow, run: "sleep 0.3" }]\n' });
  for (const [name, list] of [
    ['one', 'A.json'],
    ['two', 'B.json'],
  ] as const)
    expect((await project.ralph(['run', '--worktree', name, '--tasks', list])).code).toBe(0);
  const tree = realpathSync(join(project.dir, '.ralph/worktrees/one'));
  const merges = ['one', 'two'].map((name) => project.ralph(['loops', 'merge', name]));
  expect((await Promise.all(merges)).map(({ code, err }) => (code === 0 ? 0 : err))).toEqual([0, 0]);
  expect(project.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(
    expect.arrayContaining(['A.txt', 'B.txt']),
  );
  expect((await rows()).map(({ state }) => state)).toEqual(['landed', 'landed']);
  expect(project.git('-C', tree, 'status', '--porcelain')).toBe('');
  expect(project.git('status', '--porcelain')).toBe('');
});
