/** Loops that land through the queue, with the real program: each in a work tree and on a branch of its own. */
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readLoops } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';
import { onTerminal, whyNoPty } from './pty.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
afterEach(() => {
  expect(project.git('fsck', '--full', '--no-dangling')).not.toMatch(/missing|corrupt|broken/);
  project.remove();
});

/** A loop of that name, with the list of that task. */
const run = (loop: string, task: string) =>
  project.ralph(['run', '--worktree', loop, '--tasks', `${task}.json`, '--json']);
const treeOf = (loop: string) => realpathSync(join(project.dir, '.ralph', 'worktrees', loop));
const result = ({ out }: { out: string }) => JSON.parse(out.trim().split('\n').at(-1)!);
const standing = () =>
  readLoops(project.dir)
    .map((loop) => `${loop.id} ${loop.standing}`)
    .sort();

/** An agent that is at work until the others have landed. */
const UNTIL_TOLD = 'for n in $(seq 900); do [ -e "$HOME/go" ] && break; sleep 0.1; done';

function make(config = ''): void {
  project = makeProject({
    files: {
      'shared.txt': 'as it was\n',
      ...Object.fromEntries(['A', 'B', 'C'].map((task) => [`${task}.json`, taskList([story(task)])])),
    },
    config,
    runs: [
      { when: { task: 'A' }, do: [{ run: 'echo a > a.txt' }, { say: DONE }] },
      { when: { task: 'B' }, do: [{ run: 'echo b > b.txt; echo B > shared.txt' }, { say: DONE }] },
      { when: { task: 'C' }, do: [{ run: UNTIL_TOLD }, { run: 'echo C > shared.txt' }, { say: DONE }] },
    ],
  });
}

test('two loops at once land, a third that is in conflict is parked and lands when a person has settled it', async () => {
  make();
  const begun = run('three', 'C');
  await vi.waitFor(() => treeOf('three'), 30_000);
  const both = await Promise.all([run('one', 'A'), run('two', 'B')]);
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
  writeFileSync(join(project.home, 'go'), '');
  const third = await begun;
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
  expect(standing()).toEqual(['one landed', 'three needs_review', 'two landed']);
  project.git('-C', treeOf('three'), 'merge', '-q', '-X', 'ours', '--no-edit', 'main');
  const again = await project.ralph(['loops', 'merge', 'three']);
  expect([again.code, again.out]).toEqual([0, expect.stringContaining('Loop three landed on main')]);
  expect(project.read('shared.txt')).toBe('C\n');
  expect(standing()).toContain('three landed');
});

test('land: branch leaves the work on its branch, and a command takes it over or says why not', async () => {
  make('land: branch\n');
  const before = project.git('rev-parse', 'main');
  const kept = await run('one', 'A');
  expect([kept.code, result(kept).landing.outcome]).toEqual([0, 'on_branch']);
  expect(kept.err).toContain('stays on its branch ralph/one');
  expect(project.git('rev-parse', 'main')).toBe(before);
  const config = project.read('ralph.yml');
  const hand = (line: string) => {
    project.write('ralph.yml', config.replace('land: branch', `land: { command: '${line}' }`));
    project.git('commit', '-qam', 'another landing');
  };
  hand('echo no way; exit 3');
  const refused = await run('two', 'B');
  expect([refused.code, refused.err]).toEqual([8, expect.stringContaining('no way')]);
  hand('echo "$RALPH_LOOP $RALPH_BRANCH $RALPH_ONTO" > "$HOME/handed"');
  const main = project.git('rev-parse', 'main');
  const handed = await run('three', 'A');
  expect([handed.code, result(handed).landing.outcome]).toEqual([0, 'handed_over']);
  expect(readFileSync(join(project.home, 'handed'), 'utf8')).toMatch(/^three \S*ralph\/three \S*main\n$/);
  expect(project.git('rev-parse', 'main')).toBe(main);
  expect(standing()).toEqual(['one open', 'three handed_over', 'two needs_review']);
});

test('an untracked list is given to the loop, is in no commit, and says in the main checkout what has landed', async () => {
  make();
  project.write('own.json', taskList([story('A'), story('Z')]));
  const { code, err } = await project.ralph([
    'run',
    '--worktree',
    'one',
    '--tasks',
    'own.json',
    '--task',
    'A',
    '--json',
  ]);
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  expect(project.read('a.txt')).toBe('a\n');
  const passes = JSON.parse(project.read('own.json')).userStories.map(
    ({ passes }: { passes: boolean }) => passes,
  );
  expect(passes).toEqual([true, false]);
  expect(project.git('status', '--porcelain')).toBe('?? own.json');
});

test('a loop that has landed is gone on with inside its work tree, with all that lies there, and lands again', async () => {
  make();
  expect((await run('one', 'A')).code).toBe(0);
  const tree = treeOf('one');
  writeFileSync(join(tree, 'mine.txt'), 'mine\n');
  writeFileSync(join(tree, 'A.json'), taskList([story('A', { passes: true }), story('B')]));
  project.git('-C', tree, 'commit', '-qam', 'one more');
  const again = await project.ralph(['run', '--allow-dirty', '--new', '--tasks', 'A.json', '--json'], {
    cwd: tree,
  });
  expect([again.code, again.err]).toEqual([0, expect.stringContaining('Loop one landed on main')]);
  expect(readFileSync(join(tree, 'mine.txt'), 'utf8')).toBe('mine\n');
  expect(project.read('b.txt')).toBe('b\n');
});

test('a branch that lost its work has not landed, and a new loop of its name keeps what it held', async () => {
  make('land: branch\n');
  expect((await run('one', 'A')).code).toBe(0);
  const work = project.git('rev-parse', 'ralph/one');
  project.git('-C', treeOf('one'), 'reset', '-q', '--hard', 'main');
  const { code, out } = await project.ralph(['loops', 'merge', 'one']);
  expect([code, out]).toEqual([8, expect.stringContaining(work.slice(0, 12))]);
  expect((await project.ralph(['loops', 'discard', 'one', '--yes'])).code).toBe(0);
  expect(project.git('for-each-ref', '--contains', work)).toContain('refs/ralph/discarded/one');
});

test("the gates' word is about the content that they ran on: what a hook made of it has to pass them again", async () => {
  make("gates: [{ name: small, run: '! grep -q A a.txt' }]\n");
  const plain = await run('one', 'A');
  expect([plain.code, plain.err]).toEqual([0, expect.not.stringContaining('gate small runs')]);
  expect(result(plain)).toMatchObject({ landing: { outcome: 'landed' } });
  project.git('rm', '-q', 'a.txt');
  project.git('commit', '-qm', 'anew');
  // Tidies what is committed, as formatters do.
  const hook = '#!/bin/sh\n[ -e a.txt ] || exit 0\necho A > a.txt\ngit add a.txt\n';
  writeFileSync(join(project.dir, '.git/hooks/pre-commit'), hook, { mode: 0o755 });
  project.write('A.json', taskList([story('A')]));
  project.git('commit', '-qam', 'again');
  const before = project.git('rev-parse', 'main');
  const tidied = await run('two', 'A');
  expect([tidied.code, tidied.err]).toEqual([
    8,
    expect.stringContaining('gate small does not pass on what main would be'),
  ]);
  expect(project.git('rev-parse', 'main')).toBe(before);
  expect(project.git('show', 'ralph/two:a.txt')).toBe('A');
});

test('Ctrl-C at a landing by hand ends its gates; the loop waits in the queue and lands later', async () => {
  const gate = '[ ! -e "$HOME/slow" ] || { echo $$ > "$HOME/gate.pid"; sleep 300; }';
  make(`land: branch\ngates: [{ name: slow, run: '${gate}' }]\n`);
  expect((await run('one', 'A')).code).toBe(0);
  const before = project.git('rev-parse', 'main');
  writeFileSync(join(project.home, 'slow'), '');
  const { child, done } = project.start(['loops', 'merge', 'one']);
  const pid = await vi.waitFor(() => Number(readFileSync(join(project.home, 'gate.pid'), 'utf8')), 30_000);
  child.kill('SIGINT');
  const ran = await done;
  expect([ran.code, ran.out]).toEqual([130, expect.stringContaining('`ralph loops merge one` lands it')]);
  expect(() => process.kill(pid, 0)).toThrow();
  expect([project.git('rev-parse', 'main'), ...standing()]).toEqual([before, 'one queued']);
  rmSync(join(project.home, 'slow'));
  expect((await project.ralph(['loops', 'merge', 'one'])).code).toBe(0);
  expect(standing()).toEqual(['one landed']);
});

test.skipIf(whyNoPty() !== null)(
  'at a terminal, giving a loop up is asked; a no leaves all as it is',
  async () => {
    make('land: branch\n');
    expect((await run('one', 'A')).code).toBe(0);
    const no = onTerminal(project, ['loops', 'discard', 'one']);
    await no.sees('Discard loop one?');
    no.type('n');
    expect(await no.done).toBe(7);
    expect(standing()).toEqual(['one open']);
    const yes = onTerminal(project, ['loops', 'discard', 'one']);
    await yes.sees('Discard loop one?');
    yes.type('y');
    expect(await yes.done).toBe(0);
    expect(project.git('branch', '--list', 'ralph/*')).toBe('');
  },
);

test('a branch that git may not move keeps its files as they were, and what a person has there', async () => {
  make();
  project.write('mine.txt', 'mine\n');
  project.git('add', 'mine.txt');
  project.write('shared.txt', 'as it was\nand more\n');
  const hook = join(project.dir, '.git', 'hooks', 'reference-transaction');
  writeFileSync(hook, '#!/bin/sh\n[ "$1" = prepared ] || exit 0\n! grep -q " refs/heads/main$"\n', {
    mode: 0o755,
  });
  const before = [project.git('status', '--porcelain'), project.git('rev-parse', 'main')];
  const parked = await run('one', 'A');
  expect([parked.code, parked.err]).toEqual([8, expect.stringContaining('git could not move main')]);
  expect([project.git('status', '--porcelain'), project.git('rev-parse', 'main')]).toEqual(before);
  expect(project.read('shared.txt')).toBe('as it was\nand more\n');
  rmSync(hook);
  expect((await project.ralph(['loops', 'merge', 'one'])).code).toBe(0);
  expect([project.read('a.txt'), project.read('shared.txt'), project.git('status', '--porcelain')]).toEqual([
    'a\n',
    'as it was\nand more\n',
    before[0],
  ]);
});
