/** Loops that somebody comes back to: gone on with, damaged by hand, refused, given up and pruned. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { tellLoop } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const IDS = ['US-001', 'US-002', 'US-003', 'US-004'];
const files = { 'prd.json': taskList(IDS.map((id) => story(id))) };
const runs = [{ do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] }];
const loops = async (cwd = project.dir) =>
  JSON.parse((await project.ralph(['loops', '--json'], { cwd })).out) as Record<string, unknown>[];
const tree = (name: string) => realpathSync(join(project.dir, '.ralph/worktrees', name));
/** One more iteration of it. */
const step = (args: string[], cwd = project.dir) => project.ralph(['run', '-n', '1', ...args], { cwd });
const made = () => project.git('diff', '--name-only', 'main...ralph/one', '--', '*.txt').split('\n');

test('an open loop is gone on with by its name, and by a plain run inside its work tree', async () => {
  project = makeProject({ files, runs });
  await step(['--worktree', 'one']);
  const [first] = await loops();
  await step(['--worktree', 'one']);
  const inside = await step([], tree('one'));
  expect(inside.err).not.toContain('begun at');
  expect(made()).toEqual(IDS.slice(0, 3).map((id) => `${id}.txt`));
  const rows = await loops(tree('one'));
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    loop_id: 'one',
    session_id: first!.session_id,
    tasks: { done: 3, total: 4 },
  });
  expect(project.git('status', '--porcelain')).toBe('');
});

test('a work tree that a person deleted is made again from its branch, with its commits', async () => {
  project = makeProject({ files, runs });
  await step(['--worktree', 'one']);
  const place = tree('one');
  const [before] = await loops();
  rmSync(place, { recursive: true });
  const again = await step(['--worktree', 'one']);
  expect(again.err).toContain('The work tree of loop one was gone; it was made again from branch ralph/one');
  expect(tree('one')).toBe(place);
  expect(made()).toEqual(['US-001.txt', 'US-002.txt']);
  expect((await loops())[0]).toMatchObject({ session_id: before!.session_id, tasks: { done: 2 } });
});

test('a branch that was switched or deleted is said, with the way back, and nothing is touched', async () => {
  project = makeProject({ files, runs });
  await step(['--worktree', 'one']);
  const tip = project.git('rev-parse', 'ralph/one');
  const place = tree('one');
  project.git('-C', place, 'switch', '-q', '-c', 'other');
  const switched = await step(['--worktree', 'one']);
  expect([switched.code, switched.err]).toEqual([5, expect.stringContaining('is on branch other')]);
  project.git('-C', place, 'switch', '-q', 'ralph/one');
  project.git('update-ref', '-d', 'refs/heads/ralph/one');
  const deleted = await step(['--worktree', 'one']);
  expect([deleted.code, deleted.err]).toEqual([
    5,
    expect.stringContaining('Branch ralph/one of loop one is gone'),
  ]);
  expect(deleted.err).toContain(`git branch ralph/one ${tip}`);
  expect((await loops())[0]!.next).toContain(
    `its branch is gone (git branch ralph/one ${tip} brings it back)`,
  );
  project.git('branch', 'ralph/one', tip);
  await step(['--worktree', 'one']);
  expect(made()).toEqual(['US-001.txt', 'US-002.txt']);
});

test('names that cannot be a branch and a folder, or that mean something else, are refused with one that could', async () => {
  project = makeProject({ files, runs });
  for (const name of [
    'main',
    'all',
    '../x',
    'a b',
    'x.lock',
    'x..y',
    'größe',
    '260208-143000',
    'x'.repeat(51),
  ]) {
    const { code, err } = await step(['--worktree', name]);
    expect([name, code, err]).toEqual([name, 5, expect.stringContaining('cannot name a loop')]);
  }
  project.git('branch', 'ralph/mine');
  project.git('branch', 'ralph/deep/er');
  for (const name of ['mine', 'deep']) {
    const { code, err } = await step(['--worktree', name]);
    expect([name, code, err]).toEqual([name, 5, expect.stringContaining('no loop of ours made it')]);
  }
  expect(project.git('branch', '--list', 'ralph/*').split('\n')).toHaveLength(2);
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
  // They are no loops of ours, and listed as that.
  expect(await loops()).toMatchObject([
    { loop_id: 'deep/er', state: 'unknown' },
    { loop_id: 'mine', state: 'unknown' },
  ]);
  for (const action of ['merge', 'discard']) {
    const { code, err } = await project.ralph([
      'loops',
      action,
      'mine',
      ...(action === 'discard' ? ['--yes'] : []),
    ]);
    expect([code, err]).toEqual([
      5,
      expect.stringContaining('mine is no loop that is known: branch ralph/mine'),
    ]);
  }
  project.git('branch', '-D', 'ralph/mine', 'ralph/deep/er');
  project.git('branch', 'ralph');
  const beside = await step(['--worktree', 'one']);
  expect([beside.code, beside.err]).toEqual([5, expect.not.stringContaining('differently')]);
  expect(beside.err).toContain('fix: git branch -m ralph ralph-mine');
});

test('without git, without a commit and on no branch there is no loop, and what to do is said', async () => {
  project = makeProject({ files, runs, git: false });
  const refused = async (what: string) => {
    const { code, err } = await step(['--worktree', 'one']);
    expect([code, err]).toEqual([5, expect.stringContaining(what)]);
  };
  await refused('is in no git repository');
  project.git('init', '-q', '-b', 'main');
  await refused('has no commit yet');
  project.git('config', 'user.name', 'Test');
  project.git('config', 'user.email', 'test@example.invalid');
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'first');
  project.git('switch', '-q', '--detach');
  await refused('is on no branch');
  project.git('switch', '-q', 'main');
  await step(['--worktree', 'one']);
  expect(made()).toEqual(['US-001.txt']);
});

test('a project in a folder of its repository works there, also where paths hold spaces and letters of all kinds', async () => {
  const below = 'ein Ördner/app';
  project = makeProject({ runs });
  mkdirSync(join(project.dir, below), { recursive: true });
  for (const name of ['ralph.yml', 'agent.json']) project.write(`${below}/${name}`, project.read(name));
  project.write(`${below}/prd.json`, files['prd.json']);
  project.git('rm', '-q', 'ralph.yml', 'agent.json');
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'below');
  const cwd = join(project.dir, below);
  const { err } = await step(['--worktree', 'one'], cwd);
  expect(
    project.git('-c', 'core.quotePath=false', 'diff', '--name-only', 'main', 'ralph/one', '--', '*.txt'),
    err,
  ).toBe(`${below}/US-001.txt`);
  expect(await loops(cwd)).toMatchObject([{ loop_id: 'one', tasks: { done: 1 } }]);
  expect(project.git('status', '--porcelain')).toBe('');
});

test('a loop is not given up while a run works in it', async () => {
  project = makeProject({ files, runs: [{ do: [{ sleep_ms: 4000 }, { say: DONE }] }] });
  const run = project.ralph(['run', '--worktree', 'one']);
  await vi.waitFor(async () => expect((await loops())[0]?.runner).toEqual(expect.any(Number)), 30_000);
  const refused = await project.ralph(['loops', 'discard', 'one', '--yes']);
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('A run works in loop one')]);
  expect((await project.ralph(['loops', 'stop', 'one'])).code).toBe(0);
  await run;
  expect((await project.ralph(['loops', 'discard', 'one', '--yes'])).code).toBe(0);
});

test('prune takes away what has landed, spares what lies uncommitted there, and the name begins anew', async () => {
  project = makeProject({ files, runs });
  await step(['--worktree', 'one']);
  const [before] = await loops();
  project.git('merge', '-q', '--ff-only', 'ralph/one');
  const commit = project.git('rev-parse', 'main');
  await tellLoop(project.dir, Date.now(), { type: 'loop.landed', loop: 'one', commit });
  const left = join(tree('one'), 'left.txt');
  writeFileSync(left, 'left\n');
  const prune = async () => JSON.parse((await project.ralph(['loops', 'prune', '--json'])).out);
  expect(await prune()).toEqual({
    removed: [],
    kept: [{ loop: 'one', why: 'left.txt in its work tree is in no commit' }],
    ignored_gone: [],
  });
  rmSync(left);
  expect(await prune()).toEqual({ removed: ['one'], kept: [], ignored_gone: [] });
  expect(project.git('branch', '--list', 'ralph/*')).toBe('');
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
  await step(['--worktree', 'one']);
  const rows = await loops();
  expect(rows).toHaveLength(1);
  expect(rows[0]!.session_id).not.toBe(before!.session_id);
  expect(made()).toHaveLength(1);
});

test('a dry run says what would be done with the loop, and makes none', async () => {
  project = makeProject({ files, runs });
  const fresh = await project.ralph(['run', '--dry-run', '--worktree', 'one']);
  expect([fresh.code, fresh.out]).toEqual([
    0,
    expect.stringContaining('Loop:      one, a new one on branch ralph/one'),
  ]);
  expect(await loops()).toEqual([]);
  const odd = await project.ralph(['run', '--dry-run', '--worktree', 'main']);
  expect([odd.code, odd.err]).toEqual([5, expect.stringContaining('cannot name a loop')]);
  await step(['--worktree', 'one']);
  const [{ session_id: session } = {}] = await loops();
  const known = await project.ralph(['run', '--dry-run', '--worktree', 'one', '--json']);
  expect(JSON.parse(known.out)).toMatchObject({
    loop: { loop_id: 'one', made: true, branch: 'ralph/one', worktree: tree('one') },
    session,
    open_tasks: IDS.slice(1),
  });
});

test('what was changed in files that a loop was given is kept outside of git, and is no work tree to take away', async () => {
  project = makeProject({
    config: 'worktree: { copy: [".env", "keys", "conf/local/a"] }\n',
    files: { 'prd.json': taskList([story('US-001')]), '.gitignore': '.env\nkeys/\nconf/\n*.local\n' },
    runs: [
      {
        do: [
          {
            run: 'touch {{task}}.txt; echo NEW=1 >> .env; echo s > own.local; mkdir -p conf/more; touch conf/mine conf/local/b conf/more/c',
          },
          { say: DONE },
        ],
      },
    ],
  });
  project.write('.env', 'OLD=1\n');
  project.write('conf/local/a', 'a\n');
  project.write('keys/a', 'a\n');
  expect((await project.ralph(['run', '--worktree', 'one'])).code).toBe(0);
  const pruned = await project.ralph(['loops', 'prune', '--json']);
  expect(JSON.parse(pruned.out)).toMatchObject({
    removed: [],
    kept: [
      { loop: 'one', why: expect.stringContaining('.env in its work tree was changed since it was given') },
    ],
  });
  const { code, out } = await project.ralph(['loops', 'discard', 'one', '--yes', '--json']);
  expect(code).toBe(0);
  // Nothing of git holds it, so it is said to be gone.
  expect((JSON.parse(out) as { ignored_gone: string[] }).ignored_gone.toSorted()).toEqual([
    'conf/local/b',
    'conf/mine',
    'conf/more/',
    'own.local',
  ]);
  const { kept_files: folder } = JSON.parse(out) as { kept_files: string };
  expect(folder).toBe(join(realpathSync(project.dir), '.ralph/discarded/one'));
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('OLD=1\nNEW=1\n');
  // What is as it was given needs no copy, and the user's own is as it was.
  expect(readdirSync(folder)).toEqual(['.env']);
  expect(project.read('.env')).toBe('OLD=1\n');
  expect(project.git('status', '--porcelain')).toBe('');
});

test('the doctor names the loop that hears people for all, and completions name every loop where one is meant', async () => {
  project = makeProject({
    files,
    runs: [
      { do: [{ run: 'until [ -e "$HOME/go" ]; do sleep 0.1; done; echo x > {{task}}.txt' }, { say: DONE }] },
    ],
  });
  const { done } = project.start(['run', '--worktree', 'one', '-n', '1']);
  await vi.waitFor(
    async () => expect(await loops()).toMatchObject([{ loop_id: 'one', primary: true }]),
    30_000,
  );
  const doctor = await project.ralph(['doctor', '--no-agent']);
  expect(doctor.out).toContain('@one runs now; @one is the primary: it hears people for all of them');
  const completed = async (...words: string[]) =>
    (await project.ralph(['__complete', 'bash', '--', ...words])).out
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t')[0]);
  expect(await completed('tell', '--session', '@')).toEqual(['@one', '']);
  expect(await completed('loops', 'merge', '')).toEqual(['one', '']);
  writeFileSync(join(project.home, 'go'), '');
  await done;
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
  expect(await completed('tell', '--session', '@')).toEqual(expect.arrayContaining(['@main', '@one']));
  expect(await completed('loops', 'attach', '')).toEqual(expect.arrayContaining(['main', 'one']));
  expect(await completed('loops', 'discard', '')).toEqual(['one', '']);
  expect((await project.ralph(['doctor', '--no-agent'])).out).not.toContain('is the primary');
});

test('a loop is taken away without another one whose name begins with its own', async () => {
  project = makeProject({ files, runs });
  const names = ['one', 'one.going', 'one-2'];
  for (const name of names) await project.ralph(['run', '-n', '1', '--worktree', name]);
  const links = () =>
    readdirSync(join(project.dir, '.ralph/worktrees')).filter((name) =>
      existsSync(join(project.dir, '.ralph/worktrees', name, '.git')),
    );
  expect(links().sort()).toEqual([...names].sort());
  expect((await project.ralph(['loops', 'discard', 'one', '--yes'])).code).toBe(0);
  expect(links().sort()).toEqual(['one-2', 'one.going']);
});

test('a commit that came after a loop was given up is kept when what was left of it is taken away', async () => {
  project = makeProject({ files, runs });
  await step(['--worktree', 'one']);
  // As a discard leaves it that was killed.
  await tellLoop(project.dir, Date.now(), { type: 'loop.discarded', loop: 'one', keptAs: null });
  const commit = ['commit', '-q', '--allow-empty', '-m', 'late'];
  project.git('-C', tree('one'), ...commit);
  const late = project.git('rev-parse', 'ralph/one');
  expect((await project.ralph(['loops', 'prune'])).out).toContain('Taken away: one');
  expect(project.git('for-each-ref', '--contains', late, '--format=%(refname)')).toBe(
    'refs/ralph/discarded/one',
  );
});
