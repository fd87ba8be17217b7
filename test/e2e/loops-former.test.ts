/** Loops that nobody can go to any more: what became of them, and their record, are told under their names. */
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
afterEach(() => project?.remove());

const list = taskList([story('a'), story('b')]);
const runs = [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }];
const ralph = (...args: string[]) => project.ralph(args);
const session = async (): Promise<string> => JSON.parse((await ralph('loops', '--json')).out)[0].session_id;
const tree = (name: string) => realpathSync(join(project.dir, '.ralph/worktrees', name));

/** Every window that only looks shows its record, and says beside it what became of it. */
async function isTold(...notes: string[]): Promise<void> {
  for (const args of [
    ['status', '@one'],
    ['status', '--session', '@one'],
    ['why', 'a', '--session', '@one'],
    ['logs', '--session', '@one'],
    ['loops', 'logs', 'one'],
    ['loops', 'attach', 'one'],
    ['inbox', '--session', '@one'],
    ['events', '--session', '@one'],
  ]) {
    const { code, out, err } = await ralph(...args);
    for (const note of notes) expect([args, code, err]).toEqual([args, 0, expect.stringContaining(note)]);
    if (args.includes('logs') || args.includes('attach')) expect(out).toContain('COMPLETE');
  }
}

/** Whoever has something to say to it is told the same, and nothing is left in a mailbox. */
async function isRefused(what: string, record: string): Promise<void> {
  for (const args of [
    ['loops', 'stop', 'one'],
    ['tell', 'more', '--session', '@one'],
    ['unblock', 'a', '--session', '@one'],
    ['feedback', '-m', 'more', '--session', '@one'],
    ['run', '--session', '@one'],
  ]) {
    const { code, err } = await ralph(...args);
    expect([args, code, err]).toEqual([args, 5, expect.stringContaining(what)]);
    expect(err).toContain(record);
    expect(err).toContain('`ralph status @one` shows what is left of it');
  }
}

test('a loop whose work tree was deleted is read, spoken to and gone on with by its name', async () => {
  project = makeProject({ files: { 'prd.json': list }, runs });
  expect((await ralph('run', '--worktree', 'one', '-n', '1')).code).toBe(1);
  rmSync(tree('one'), { recursive: true });
  await isTold(
    'The work tree of loop one is gone. What to do: `ralph run --worktree one` makes it again from branch ralph/one',
  );
  const told = await ralph('tell', 'keep it small', '--session', '@one', '--json');
  expect([told.code, JSON.parse(told.out).session_id]).toEqual([0, await session()]);
  expect((await ralph('run', '--session', '@one')).code).toBe(0);
  expect(project.git('ls-tree', '--name-only', 'main', '--', 'a.txt', 'b.txt')).toBe('a.txt\nb.txt');
});

test('a loop that was pruned is told to be, first from its session and then from the archive', async () => {
  project = makeProject({ files: { 'prd.json': list }, runs });
  expect((await ralph('run', '--worktree', 'one')).code).toBe(0);
  const id = await session();
  expect((await ralph('loops', 'prune')).code).toBe(0);
  const what = 'Loop one landed on main and was pruned.';
  await isTold(`${what} What to do: \`ralph run --worktree one\` begins a new loop.`);
  await isRefused(what, `.ralph-sessions/${id}`);
  expect((await ralph('archive', '--label', 'v1')).out).toContain(id);
  const { out } = await ralph('status', id);
  expect(out).toContain('tasks 2/2 done');
  await isTold(what, `Session ${id} was archived; this is .ralph/archive/`);
  await isRefused(what, `-v1/${id}`);
  expect(existsSync(join(project.dir, '.ralph-sessions', id, 'signals'))).toBe(false);
  const discard = await ralph('loops', 'discard', 'one', '--yes');
  expect([discard.code, discard.err]).toEqual([5, expect.stringContaining(what)]);
  // The name means the next one of it.
  project.write('prd.json', taskList([story('c')]));
  project.git('commit', '-q', '-am', 'one more');
  expect((await ralph('run', '--worktree', 'one')).code).toBe(0);
  expect((await ralph('status', '@one')).err).toBe('');
});

test('a loop that was given up says where its work is kept, and a landed one that its session was archived', async () => {
  project = makeProject({ files: { 'prd.json': list }, runs });
  expect((await ralph('run', '--worktree', 'one', '-n', '1')).code).toBe(1);
  expect((await ralph('loops', 'discard', 'one', '--yes')).code).toBe(0);
  await isTold('Loop one was discarded by a person; its work is kept as refs/ralph/discarded/one.');
  await isRefused('Loop one was discarded by a person', '.ralph-sessions/');
  expect((await ralph('run', '--worktree', 'one')).code).toBe(0);
  expect((await ralph('archive')).code).toBe(0);
  await isTold('Loop one has landed on main, and its session is not among the others any more.');
});

test('a work tree of a person in which a run worked is told to be gone', async () => {
  project = makeProject({ files: { 'prd.json': list, '.gitignore': '.trees/\n' }, runs });
  const feature = join(realpathSync(project.dir), '.trees/feature');
  project.git('worktree', 'add', '-q', '-b', 'feature', feature);
  expect((await project.ralph(['run', '-n', '1'], { cwd: feature })).code).toBe(1);
  project.git('worktree', 'remove', '--force', feature);
  const { code, err } = await ralph('status', '@feature');
  expect([code, err]).toEqual([0, expect.stringContaining(`The work tree ${feature} is gone.`)]);
});
