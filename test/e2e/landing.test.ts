/** Loops that land through the queue, with the real program: each in a work tree and on a branch of its own. */
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readLoops, tellLoop } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
afterEach(() => {
  expect(project.git('fsck', '--full', '--no-dangling')).not.toMatch(/missing|corrupt|broken/);
  project.remove();
});

/** A loop as `ralph run --worktree` makes one, with a list of its own. */
async function makeLoop(id: string, task: string): Promise<string> {
  const tree = join(project.home, `tree-${id}`);
  project.git('worktree', 'add', '-q', '-b', `ralph/${id}`, tree, 'main');
  const where = { onto: 'refs/heads/main', base: project.git('rev-parse', 'main') };
  const worktree = realpathSync(tree);
  const branch = `refs/heads/ralph/${id}`;
  await tellLoop(project.dir, Date.now(), { type: 'loop.created', loop: id, branch, worktree, ...where });
  writeFileSync(join(tree, 'list.json'), taskList([story(task)]));
  return worktree;
}

const run = (cwd: string, ...more: string[]) =>
  project.ralph(['run', '--tasks', 'list.json', '--json', ...more], { cwd });
const result = ({ out }: { out: string }) => JSON.parse(out.trim().split('\n').at(-1)!);
const standing = () => readLoops(project.dir).map((loop) => `${loop.id} ${loop.standing}`);

function make(config = ''): void {
  project = makeProject({
    files: { 'shared.txt': 'as it was\n', '.gitignore': 'list.json\nnode_modules/\n' },
    config,
    runs: [
      { when: { task: 'A' }, do: [{ run: 'echo a > a.txt' }, { say: DONE }] },
      { when: { task: 'B' }, do: [{ run: 'echo b > b.txt; echo B > shared.txt' }, { say: DONE }] },
      { when: { task: 'C' }, do: [{ run: 'echo C > shared.txt' }, { say: DONE }] },
    ],
  });
}

test('two loops at once land, a third that is in conflict is parked and lands when a person has settled it', async () => {
  make();
  const trees = {
    a: await makeLoop('one', 'A'),
    b: await makeLoop('two', 'B'),
    c: await makeLoop('three', 'C'),
  };
  const both = await Promise.all([run(trees.a), run(trees.b)]);
  expect(both.map(({ code, err }) => [code, code === 0 ? '' : err])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect(result(both[0]!)).toMatchObject({ landing: { outcome: 'landed', loop: 'one', onto: 'main' } });
  expect([project.read('a.txt'), project.read('b.txt'), project.read('shared.txt')]).toEqual([
    'a\n',
    'b\n',
    'B\n',
  ]);
  expect(project.git('status', '--porcelain')).toBe('');
  const before = project.git(
    'for-each-ref',
    'refs/heads/main',
    'refs/heads/ralph/one',
    'refs/heads/ralph/two',
  );
  const third = await run(trees.c);
  expect([third.code, third.err]).toEqual([
    8,
    expect.stringContaining('change the same places of shared.txt'),
  ]);
  expect(result(third)).toMatchObject({
    exit: { code: 8, word: 'AWAITING' },
    landing: { outcome: 'parked', files: ['shared.txt'] },
    unmerged: [{ loop: 'three', branch: 'ralph/three', onto: 'main' }],
  });
  expect(project.git('for-each-ref', 'refs/heads/main', 'refs/heads/ralph/one', 'refs/heads/ralph/two')).toBe(
    before,
  );
  expect(standing()).toEqual(['one landed', 'two landed', 'three needs_review']);
  project.git('-C', trees.c, 'merge', '-q', '-X', 'ours', '--no-edit', 'main');
  const again = await run(trees.c);
  expect([again.code, again.err]).toEqual([0, expect.stringContaining('Loop three landed on main')]);
  expect(project.read('shared.txt')).toBe('C\n');
  expect(standing().at(-1)).toBe('three landed');
});

test('land: branch leaves the work on its branch, and a command takes it over or says why not', async () => {
  make('land: branch\n');
  const tree = await makeLoop('one', 'A');
  const before = project.git('rev-parse', 'main');
  const kept = await run(tree);
  expect([kept.code, result(kept).landing.outcome]).toEqual([0, 'on_branch']);
  expect(kept.err).toContain('stays on its branch ralph/one');
  expect(project.git('rev-parse', 'main')).toBe(before);
  // As `ralph run --worktree` tells it.
  const session = result(kept).session_id as string;
  await tellLoop(project.dir, Date.now(), { type: 'loop.session', loop: 'one', session });
  const config = project.read('ralph.yml');
  const hand = (line: string) =>
    writeFileSync(join(tree, 'ralph.yml'), config.replace('land: branch', `land: { command: '${line}' }`));
  hand('echo no way; exit 3');
  const refused = await run(tree);
  expect([refused.code, refused.err]).toEqual([8, expect.stringContaining('no way')]);
  hand('echo "$RALPH_LOOP $RALPH_BRANCH $RALPH_ONTO" > ../handed');
  const handed = await run(tree);
  expect([handed.code, result(handed).landing.outcome]).toEqual([0, 'handed_over']);
  expect(project.git('-C', tree, 'status', '--porcelain')).toBe('M ralph.yml');
  expect(project.git('rev-parse', 'main')).toBe(before);
  expect(standing()).toEqual(['one handed_over']);
});
