/** The journal that names loops is deleted or damaged: what we made is known by other evidence, and nothing else is. */
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const files = { 'prd.json': taskList([story('A'), story('B')]) };
const runs = [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }];
const journal = () => join(project.dir, '.ralph/journal.jsonl');
const tree = (name: string) => realpathSync(join(project.dir, '.ralph/worktrees', name));
const begin = (name: string) => project.ralph(['run', '-n', '1', '--worktree', name]);
async function listed() {
  const { code, out, err } = await project.ralph(['loops', '--json']);
  expect(code).toBe(0);
  return { rows: JSON.parse(out) as Record<string, unknown>[], err };
}

test('a loop whose journal was deleted is taken back by the list, once and in one line, and is as it was', async () => {
  project = makeProject({ files, runs });
  await begin('one');
  const [before] = (await listed()).rows;
  rmSync(journal());
  const found = await listed();
  expect(found.err.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^Nothing in \.ralph\/journal\.jsonl told of loop one \(by its work tree and session \S+\) any more.*taken back\.$/,
    ),
  ]);
  expect(found.rows).toEqual([
    { ...before, taken_back: expect.stringMatching(/^its work tree and session /) },
  ]);
  expect(await listed()).toEqual({ rows: [before], err: '' });
  const on = await project.ralph(['run', '--worktree', 'one']);
  expect([on.code, on.out]).toEqual([0, expect.stringContaining('Loop one landed on main')]);
  expect(existsSync(join(project.dir, 'B.txt'))).toBe(true);
});

test('a run by the name of a lost loop goes on in it, also where the whole folder .ralph was deleted', async () => {
  project = makeProject({ files, runs });
  await begin('one');
  const at = tree('one');
  rmSync(join(project.dir, '.ralph'), { recursive: true });
  const plan = await project.ralph(['run', '--worktree', 'one', '--dry-run', '--json']);
  expect(JSON.parse(plan.out)).toMatchObject({ loop: { loop_id: 'one', made: true, worktree: at } });
  expect(existsSync(journal())).toBe(false);
  const on = await project.ralph(['run', '--worktree', 'one']);
  expect([on.code, on.err]).toEqual([0, expect.stringContaining('taken back')]);
  expect(on.out).toContain('Loop one landed on main');
  expect(tree('one')).toBe(at);
});

test('without its session a loop is known by its work tree alone; without that by its session and its branch', async () => {
  project = makeProject({ files, runs });
  await begin('one');
  await begin('two');
  const [, two] = (await listed()).rows;
  rmSync(journal());
  rmSync(tree('two'), { recursive: true });
  rmSync(join(project.dir, '.ralph-sessions', readSession('one')), { recursive: true });
  const { rows } = await listed();
  expect(rows).toMatchObject([
    { loop_id: 'one', state: 'begun', session_id: null, taken_back: 'its work tree' },
    {
      loop_id: 'two',
      session_id: two!.session_id,
      worktree: two!.worktree,
      next: expect.stringContaining('its work tree is gone; ralph run --worktree two'),
    },
  ]);
});

/** The session that worked in this loop, by what its journal says. */
function readSession(loop: string): string {
  const folder = join(project.dir, '.ralph-sessions');
  const says = (id: string) => {
    const file = join(folder, id, 'journal.jsonl');
    return existsSync(file) && readFileSync(file, 'utf8').includes(`"loop":"${loop}"`);
  };
  return readdirSync(folder).find(says)!;
}

test('branches and work trees that Ralph did not make are listed as such, with what to do, and never claimed', async () => {
  project = makeProject({ files, runs });
  project.git('branch', 'ralph/mine');
  project.git('worktree', 'add', '-q', '-b', 'ralph/own', join(project.home, 'own'));
  const { rows } = await listed();
  expect(rows).toMatchObject([
    {
      loop_id: 'mine',
      state: 'unknown',
      branch: 'ralph/mine',
      worktree: null,
      next: expect.stringMatching(/nothing shows that Ralph made it; git log ralph\/mine .*git branch -m/),
    },
    { loop_id: 'own', state: 'unknown', worktree: realpathSync(join(project.home, 'own')) },
  ]);
  const refused = await begin('mine');
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('no loop of ours made it')]);
  const pruned = await project.ralph(['loops', 'prune', 'own']);
  expect([pruned.code, pruned.err]).toEqual([5, expect.stringContaining('own is no loop that is known')]);
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(2);
  // Nor is the name of a lost loop, given to another branch.
  await begin('one');
  rmSync(journal());
  project.git('worktree', 'remove', '--force', tree('one'));
  project.git('branch', '-D', '-q', 'ralph/one');
  project.git('branch', 'ralph/one', 'main');
  const one = (await listed()).rows.find(({ loop_id }) => loop_id === 'one');
  expect(one).toMatchObject({ state: 'unknown', session_id: null });
});

test('a journal that is deleted while the run works keeps no loop from landing, and the end of a run counts what was lost', async () => {
  const top = '$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")';
  project = makeProject({
    files: { 'prd.json': taskList([story('A')]), 'other.json': taskList([story('X'), story('Y')]) },
    runs: [
      { when: { task: 'A' }, do: [{ run: `echo a > a.txt; rm ${top}/.ralph/journal.jsonl` }, { say: DONE }] },
      ...runs,
    ],
  });
  await project.ralph(['run', '-n', '1', '--worktree', 'other', '--tasks', 'other.json']);
  const { code, err, out } = await project.ralph([
    'run',
    '--worktree',
    'one',
    '--tasks',
    'prd.json',
    '--json',
  ]);
  expect([code, err]).toEqual([0, expect.stringMatching(/told of loops (one|other) .* and/)]);
  const end = JSON.parse(out.trim().split('\n').at(-1)!);
  expect(end).toMatchObject({ landing: { outcome: 'landed' }, unmerged: [{ loop: 'other', onto: 'main' }] });
});

test('a damaged line costs nothing that other lines and the session tell', async () => {
  project = makeProject({ files: { 'prd.json': taskList([story('A')]) }, runs, config: 'land: branch\n' });
  await project.ralph(['run', '--worktree', 'one']);
  project.write('A.txt', 'mine\n');
  expect((await project.ralph(['loops', 'merge', 'one'])).code).toBe(8);
  const [before] = (await listed()).rows;
  expect(before).toMatchObject({ state: 'needs_review' });
  writeFileSync(journal(), readFileSync(journal(), 'utf8').replace('"loop.created"', '"loop.crea'));
  const { rows, err } = await listed();
  expect(err).toContain('.ralph/journal.jsonl:');
  expect(rows).toEqual([{ ...before, taken_back: expect.any(String) }]);
  // Where the lines are gone altogether the session says it.
  rmSync(journal());
  expect((await listed()).rows).toEqual([{ ...before, taken_back: expect.any(String) }]);
});

test('a branch that a person begins by the name of a loop that has landed and was pruned stays theirs', async () => {
  project = makeProject({ files, runs });
  await project.ralph(['run', '--worktree', 'one']);
  expect((await project.ralph(['loops', 'prune'])).out).toContain('Taken away: one');
  rmSync(journal());
  project.git('switch', '-q', '-c', 'ralph/one');
  project.git('commit', '-q', '--allow-empty', '-m', 'mine');
  project.git('switch', '-q', 'main');
  project.git('merge', '-q', 'ralph/one');
  expect((await listed()).rows).toMatchObject([{ loop_id: 'one', state: 'unknown', branch: 'ralph/one' }]);
  await project.ralph(['loops', 'prune']);
  expect(project.git('branch', '--list', 'ralph/one').trim()).toBe('ralph/one');
});
