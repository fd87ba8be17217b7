/** Loops in work trees of their own, with the real program and real git. */
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const IGNORED = '.env\nnode_modules/\n';
const own = [{ do: [{ run: 'pwd > {{task}}.txt' }, { say: DONE }] }];
const loops = async (cwd = project.dir) =>
  JSON.parse((await project.ralph(['loops', '--json'], { cwd })).out) as Record<string, unknown>[];
const tree = (name: string) => realpathSync(join(project.dir, '.ralph/worktrees', name));

test('a loop works in a work tree of its own on its own branch, with the list and the files that no commit has', async () => {
  project = makeProject({
    files: { '.gitignore': IGNORED, 'a.txt': 'old\n' },
    config: 'land: branch\nworktree: { copy: [".env"], run: ["echo ready > .env2"] }\n',
    runs: [
      {
        do: [
          { run: 'cat .env .env2 a.txt node_modules/x > {{task}}.txt; pwd >> {{task}}.txt' },
          { say: DONE },
        ],
      },
    ],
  });
  project.write('prd.json', taskList([story('US-001'), story('US-002')]));
  project.write('.env', 'secret\n');
  project.write('node_modules/x', 'package\n');
  project.write('a.txt', 'edited\n');
  const before = project.git('rev-parse', 'main');
  const { code, err } = await project.ralph(['run', '--worktree', 'fix']);
  expect([code, err]).toEqual([0, expect.any(String)]);
  expect(err).toContain('Uncommitted here, and so not in the loop: a.txt');
  const made = readFileSync(join(tree('fix'), 'US-001.txt'), 'utf8');
  expect(made).toBe(`secret\nready\nold\npackage\n${tree('fix')}\n`);
  expect(tree('fix').startsWith(realpathSync(project.home))).toBe(true);
  // The main checkout is as it was.
  expect(project.git('rev-parse', 'main')).toBe(before);
  expect(project.read('a.txt')).toBe('edited\n');
  expect(project.git('symbolic-ref', '--short', 'HEAD')).toBe('main');
  expect(existsSync(join(project.dir, 'US-001.txt'))).toBe(false);
  // And no commit of the loop holds what it was given.
  expect(project.git('diff', '--name-only', 'main', 'ralph/fix').split('\n')).toEqual([
    'US-001.txt',
    'US-002.txt',
  ]);
  const [row] = await loops();
  expect(row).toMatchObject({
    loop_id: 'fix',
    primary: false,
    branch: 'ralph/fix',
    worktree: tree('fix'),
    landed: false,
    runner: null,
    tasks: { done: 2, total: 2 },
  });
  expect(readdirSync(join(project.dir, '.ralph-sessions'))).toContain(row!.session_id);
  expect((await project.ralph(['loops'])).out).toContain('fix · ');
  for (const window of ['sessions', 'status'])
    expect((await project.ralph([window])).out).toMatch(/Loops: +fix \(\w+\); ralph loops\n$/);
});

test('several loops at once, each told of, none in the way of another; the name may be left to us', async () => {
  project = makeProject({
    config: 'land: branch\n',
    files: { 'prd.json': taskList([story('US-001')]) },
    runs: own,
  });
  const runs = [['--worktree', 'one'], ['--worktree', 'two'], ['--worktree']];
  const done = await Promise.all(runs.map((args) => project.ralph(['run', ...args])));
  expect(done.map(({ code }) => code)).toEqual([0, 0, 0]);
  const rows = await loops();
  expect(rows.map(({ loop_id: id }) => id)).toEqual(expect.arrayContaining(['one', 'two']));
  expect(rows).toHaveLength(3);
  expect(new Set(rows.map(({ session_id: id }) => id)).size).toBe(3);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('of two starts for one name one works and the other is told; what a refused start made is gone again', async () => {
  project = makeProject({
    config: 'land: branch\n',
    files: { 'prd.json': taskList([story('US-001')]) },
    runs: [{ do: [{ sleep_ms: 3000 }, { run: 'touch {{task}}.txt' }, { say: DONE }] }],
  });
  const both = await Promise.all([1, 2].map(() => project.ralph(['run', '--worktree', 'one'])));
  expect(both.map(({ code }) => code).sort()).toEqual([0, 5]);
  expect(both.find(({ code }) => code === 5)!.err).toMatch(
    /Another (run is working here|start is making loop one)/,
  );
  const refused = await project.ralph(['run', '--worktree', 'two', '--agent', 'nobody']);
  expect(refused.code).toBe(5);
  const unready = await project.ralph(['run', '--worktree', 'three', '--tasks', 'none.json']);
  expect(unready.code).toBe(5);
  expect((await loops()).map(({ loop_id: id }) => id)).toEqual(['one']);
  expect(project.git('branch', '--list', 'ralph/*', '--format=%(refname:short)')).toBe('ralph/one');
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(2);
});

test('a loop that is given up leaves its commits and its uncommitted work under a name of ours', async () => {
  project = makeProject({
    config: 'land: branch\n',
    files: { 'prd.json': taskList([story('US-001')]) },
    runs: own,
  });
  expect((await project.ralph(['run', '--worktree', 'one'])).code).toBe(0);
  const tip = project.git('rev-parse', 'ralph/one');
  expect((await project.ralph(['loops', 'discard', 'one'])).code).toBe(5);
  const pruned = await project.ralph(['loops', 'prune', '--json']);
  expect(JSON.parse(pruned.out)).toMatchObject({ removed: [], kept: [{ loop: 'one' }] });
  writeFileSync(join(tree('one'), 'left.txt'), 'left\n');
  const { code, out, err } = await project.ralph(['loops', 'discard', 'one', '--yes', '--json']);
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toEqual({
    loop_id: 'one',
    kept_as: 'refs/ralph/discarded/one',
    kept_besides: [],
    kept_files: null,
    ignored_gone: [],
  });
  expect(project.git('rev-parse', 'refs/ralph/discarded/one^')).toBe(tip);
  expect(project.git('show', 'refs/ralph/discarded/one:left.txt')).toBe('left');
  expect(project.git('branch', '--list', 'ralph/*')).toBe('');
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
  expect(await loops()).toEqual([]);
});

test('a loop is looked into, followed and stopped by its name from the main checkout', async () => {
  project = makeProject({
    files: { 'prd.json': taskList([story('US-001'), story('US-002')]) },
    runs: [{ do: [{ sleep_ms: 3000 }, { run: 'touch {{task}}.txt' }, { say: DONE }] }],
  });
  const run = project.ralph(['run', '--worktree', 'one']);
  await vi.waitFor(async () => expect((await loops())[0]?.runner).toEqual(expect.any(Number)), 30_000);
  const attached = project.ralph(['loops', 'attach', 'one']);
  await vi.waitFor(async () => expect((await project.ralph(['loops', 'logs', 'one'])).code).toBe(0), 30_000);
  const stop = await project.ralph(['loops', 'stop', '@one', 'enough', 'for', 'now', '--json']);
  expect(JSON.parse(stop.out)).toMatchObject({ session_id: (await loops())[0]!.session_id });
  expect((await run).code).toBe(7);
  const seen = await attached;
  expect([seen.code, seen.err]).toEqual([0, expect.stringContaining('Nobody works in session')]);
  const log = await project.ralph(['loops', 'logs', 'one', '1']);
  expect(log).toMatchObject({ code: 0, out: seen.out });
  const nameless = await project.ralph(['loops', 'stop']);
  expect([nameless.code, nameless.err]).toEqual([5, expect.stringContaining('No loop was named')]);
  const wrong = await project.ralph(['loops', 'logs', 'on']);
  expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining('Did you mean @one?')]);
});

test('a loop is not given up while a repository of its own lies in its work tree', async () => {
  project = makeProject({
    config: 'land: branch\n',
    files: { 'prd.json': taskList([story('US-001')]) },
    runs: own,
  });
  expect((await project.ralph(['run', '--worktree', 'one'])).code).toBe(0);
  const inner = join(tree('one'), 'inner');
  project.git('init', '-q', inner);
  writeFileSync(join(inner, 'a.txt'), 'a\n');
  const { code, err } = await project.ralph(['loops', 'discard', 'one', '--yes']);
  expect([code, err]).toEqual([
    5,
    expect.stringContaining('a repository of its own with what is nowhere else: inner (uncommitted: a.txt)'),
  ]);
  expect(existsSync(join(inner, 'a.txt'))).toBe(true);
});

test('a loop that was made and has nothing to do is said to be taken away again', async () => {
  project = makeProject({ files: { 'prd.json': taskList([story('US-001', { passes: true })]) } });
  const { code, out, err } = await project.ralph(['run', '--worktree', 'one']);
  expect(code).toBe(0);
  expect(out + err).toContain('Loop one was not begun: its work tree and its branch are taken away again.');
  expect(await loops()).toEqual([]);
});
