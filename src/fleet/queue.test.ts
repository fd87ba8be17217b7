/** Landings on real git: what reaches the integration branch, and what is parked with nothing moved. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findProgram, ownIdentity, processTable } from '../process/index.ts';
import { gitIn, testEnv } from '../repo/test-ground.ts';
import { takeLock, tellLoop, treeLock } from '../store/index.ts';
import { openFleet, type TestFleet } from './test-fleet.ts';

let fleet: TestFleet;
beforeEach(() => {
  fleet = openFleet();
});
afterEach(() => {
  fleet.check();
  fleet.remove();
});

const main = () => fleet.git('rev-parse', 'main');
const tipOf = (id: string) => fleet.git('rev-parse', `ralph/${id}`);

describe('what fits lands', () => {
  test('a branch that is ahead of main lands as it is, and the main checkout has its files', async () => {
    const tree = await fleet.loop('one');
    const tip = fleet.commit(tree, { 'c.txt': 'c\n' });
    expect(await fleet.land('one')).toEqual({
      kind: 'landed',
      commit: tip,
      onto: 'refs/heads/main',
      merged: false,
    });
    expect([main(), tipOf('one')]).toEqual([tip, tip]);
    expect(readFileSync(join(fleet.root, 'c.txt'), 'utf8')).toBe('c\n');
    expect(fleet.git('status', '--porcelain')).toBe('');
    expect(fleet.known('one')).toMatchObject({ standing: 'landed', landed: tip, landing: null });
  });

  test('where main moved on, a merge lands that names the loop, made without touching a work tree', async () => {
    const tree = await fleet.loop('one');
    const tip = fleet.commit(tree, { 'a.txt': 'ONE\ntwo\nthree\n' });
    const before = fleet.commit(fleet.root, { 'a.txt': 'one\ntwo\nTHREE\n' });
    const landing = await fleet.land('one', { title: 'Greets\nand more', trailers: ['Ralph-Session: s1'] });
    expect(landing).toMatchObject({ kind: 'landed', commit: main(), merged: true });
    expect(fleet.git('log', '-1', '--format=%P %an')).toBe(`${before} ${tip} A User`);
    expect(fleet.git('log', '-1', '--format=%B')).toBe(
      'Merge loop one: Greets\n\nRalph-Loop: one\nRalph-Session: s1',
    );
    expect(readFileSync(join(fleet.root, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nTHREE\n');
    expect(tipOf('one')).toBe(tip);
  });

  test('a branch that is checked out nowhere is moved by its ref alone', async () => {
    fleet.git('branch', 'next');
    const tree = await fleet.loop('one', 'next');
    const tip = fleet.commit(tree, { 'c.txt': 'c\n' });
    const before = main();
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: tip });
    expect([fleet.git('rev-parse', 'next'), main()]).toEqual([tip, before]);
    expect(existsSync(join(fleet.root, 'c.txt'))).toBe(false);
  });

  test('two landers at once land both, one after the other', async () => {
    for (const id of ['one', 'two']) fleet.commit(await fleet.loop(id), { [`${id}.txt`]: `${id}\n` });
    const both = await Promise.all(['one', 'two'].map((id) => fleet.land(id, { wait: true })));
    expect(both.map(({ kind }) => kind)).toEqual(['landed', 'landed']);
    for (const id of ['one', 'two']) fleet.git('merge-base', '--is-ancestor', `ralph/${id}`, 'main');
    expect(fleet.git('status', '--porcelain')).toBe('');
  });

  test('a loop without commits of its own has landed, and so has one that a person merged', async () => {
    const before = main();
    await fleet.loop('none');
    expect(await fleet.land('none')).toMatchObject({ kind: 'landed', commit: before });
    fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    fleet.git('merge', '-q', '--no-ff', '--no-edit', 'ralph/one');
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: main() });
  });

  test('changes of a person that landing does not touch stay in the main checkout', async () => {
    const tip = fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    writeFileSync(join(fleet.root, 'b.txt'), 'mine\n');
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: tip });
    expect(fleet.git('status', '--porcelain')).toBe('M b.txt');
    expect(readFileSync(join(fleet.root, 'b.txt'), 'utf8')).toBe('mine\n');
  });
});

describe('git itself', () => {
  /** A program named git in front of git that notes each call, and plays an old one where it is told to. */
  function counting(old: boolean) {
    const bin = join(fleet.root, '..', 'bin');
    const log = join(bin, 'calls');
    mkdirSync(bin);
    writeFileSync(log, '');
    const real = findProgram('git', testEnv())!;
    const refuse = old ? 'case "$*" in *--write-tree*) exit 129;; esac\n' : '';
    writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$*" >>"${log}"\n${refuse}exec "${real}" "$@"\n`, {
      mode: 0o755,
    });
    const env = testEnv({ PATH: `${bin}${delimiter}${process.env.PATH}` });
    return { env, calls: () => readFileSync(log, 'utf8').split('\n').filter(Boolean) };
  }

  test('a landing without gates costs at most six processes, a merge included', async () => {
    for (const id of ['one', 'two']) fleet.commit(await fleet.loop(id), { [`${id}.txt`]: `${id}\n` });
    const { env, calls } = counting(false);
    const work = ['one', 'two'].map((id) => ({ task: id, commit: tipOf(id), said: ['x'], left: new Map() }));
    expect(await fleet.land('one', { env, work: work.slice(0, 1) })).toMatchObject({
      kind: 'landed',
      merged: false,
    });
    expect(calls().length).toBeLessThanOrEqual(4);
    const before = calls().length;
    expect(await fleet.land('two', { env, work: work.slice(1) })).toMatchObject({
      kind: 'landed',
      merged: true,
    });
    expect(calls().length - before).toBeLessThanOrEqual(6);
  });

  test('one before 2.38 merges in the work tree of the loop, and takes a conflict back there', async () => {
    const tree = await fleet.loop('one');
    const tip = fleet.commit(tree, { 'a.txt': 'ONE\ntwo\nthree\n' });
    const before = fleet.commit(fleet.root, { 'a.txt': 'Eins\ntwo\nthree\n' });
    const { env } = counting(true);
    expect(await fleet.land('one', { env })).toMatchObject({ kind: 'parked', files: ['a.txt'] });
    expect([tipOf('one'), main(), gitIn(tree, 'status', '--porcelain')]).toEqual([tip, before, '']);
    const settled = fleet.commit(fleet.root, { 'a.txt': 'one\ntwo\nthree\n' });
    expect(await fleet.land('one', { env })).toMatchObject({ kind: 'landed', merged: true });
    expect(fleet.git('log', '-1', '--format=%P')).toBe(`${tip} ${settled}`);
  });
});

describe('what does not fit is parked, and nothing moves', () => {
  /** Lands it and expects that no ref moved and that the registry says the same. */
  async function parks(id: string, more: Parameters<TestFleet['land']>[1] = {}) {
    const refs = fleet.git('for-each-ref');
    const landing = await fleet.land(id, more);
    expect(landing.kind).toBe('parked');
    expect(fleet.git('for-each-ref')).toBe(refs);
    const { why, files, next } = landing as Extract<typeof landing, { kind: 'parked' }>;
    expect(fleet.known(id)).toMatchObject({
      standing: 'needs_review',
      parked: { why, files, next },
      landing: null,
    });
    expect(next).toContain(`ralph loops merge ${id}`);
    return { why, files, next };
  }

  test('a conflict is named with its files, and lands once a person settled it', async () => {
    const tree = await fleet.loop('one');
    fleet.commit(tree, { 'a.txt': 'ONE\ntwo\nthree\n', 'b.txt': 'B\n', 'c.txt': 'c\n' });
    fleet.commit(fleet.root, { 'a.txt': 'Eins\ntwo\nthree\n', 'b.txt': 'Be\n' });
    const { why, files, next } = await parks('one');
    expect(why).toBe('it and main change the same places of a.txt, b.txt');
    expect(files).toEqual(['a.txt', 'b.txt']);
    expect(next).toContain(`In ${tree}: git merge main`);
    expect(gitIn(tree, 'status', '--porcelain')).toBe('');
    expect(() => gitIn(tree, 'merge', '-q', 'main')).toThrow();
    expect((await parks('one')).why).toContain('a merge is under way');
    const settled = fleet.commit(tree, { 'a.txt': 'both\n', 'b.txt': 'both\n' });
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: settled });
  });

  test('a dirty main checkout that landing would overwrite keeps its changes', async () => {
    fleet.commit(await fleet.loop('one'), { 'a.txt': 'new\n', 'c.txt': 'c\n' });
    writeFileSync(join(fleet.root, 'a.txt'), 'mine\n');
    writeFileSync(join(fleet.root, 'c.txt'), 'mine too\n');
    const { why, files } = await parks('one');
    expect(why).toContain(`in ${fleet.root} hold`);
    expect(files.every((path) => ['a.txt', 'c.txt'].includes(path))).toBe(true);
    expect(['a.txt', 'c.txt'].map((path) => readFileSync(join(fleet.root, path), 'utf8'))).toEqual([
      'mine\n',
      'mine too\n',
    ]);
    expect(fleet.git('stash', 'list')).toBe('');
  });

  test('work that is in no commit, a branch of another name and an unfinished operation', async () => {
    const tree = await fleet.loop('one');
    fleet.commit(tree, { 'c.txt': 'c\n' });
    writeFileSync(join(tree, 'd.txt'), 'd\n');
    expect(await parks('one')).toMatchObject({ files: ['d.txt'] });
    rmSync(join(tree, 'd.txt'));
    gitIn(tree, 'switch', '-q', '-c', 'elsewhere');
    expect((await parks('one')).why).toContain('is on elsewhere and not on ralph/one');
  });

  test('an integration branch that is gone, or that does not hold where the loop began', async () => {
    fleet.commit(fleet.root, { 'oops.txt': 'to be taken out\n' });
    fleet.git('branch', 'next');
    fleet.commit(await fleet.loop('one', 'next'), { 'c.txt': 'c\n' });
    fleet.git('branch', '-f', 'next', 'main~1');
    expect((await parks('one')).why).toContain('would bring back what was taken out');
    fleet.git('branch', '-D', '-q', 'next');
    expect((await parks('one')).why).toContain('next, which it was to land on, is gone');
  });

  test('a rebase under way in the checkout of the integration branch', async () => {
    fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    fleet.commit(fleet.root, { 'a.txt': 'two\n' });
    fleet.git('branch', 'other', 'main~1');
    fleet.git('switch', '-q', 'other');
    fleet.commit(fleet.root, { 'a.txt': 'three\n' });
    fleet.git('switch', '-q', 'main');
    expect(() => fleet.git('rebase', '-q', 'other')).toThrow();
    expect((await parks('one')).why).toContain('a rebase is under way');
  });

  test('a branch of the loop that a person deleted', async () => {
    const tree = await fleet.loop('one');
    gitIn(tree, 'switch', '-q', '--detach');
    fleet.git('branch', '-D', '-q', 'ralph/one');
    expect((await parks('one')).why).toBe('its branch ralph/one is gone');
  });

  const TOKEN = `ghp_${'aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY2'}`;

  test('a token in a commit that an agent made itself is named by its place alone', async () => {
    const tree = await fleet.loop('one');
    fleet.commit(tree, { 'deep/in side.txt': `a\nb\n${TOKEN}\n` });
    fleet.commit(tree, { 'deep/in side.txt': 'taken out again\n' });
    const { why, files } = await parks('one');
    expect(why).toMatch(/deep\/in side\.txt, line 3, in commit [0-9a-f]{12}, holds what looks like a GitHub/);
    expect(files).toEqual(['deep/in side.txt:3']);
    expect(readFileSync(join(fleet.root, '.ralph', 'journal.jsonl'), 'utf8')).not.toContain(TOKEN);
  });

  test('attributes of the branch hide no token', async () => {
    const tree = await fleet.loop('one');
    fleet.commit(tree, { '.gitattributes': '*.pem -diff\n', 'a.pem': `${TOKEN}\n` });
    expect((await parks('one')).files).toEqual(['a.pem:1']);
  });

  test('a file of the user’s that git ignores and the loop commits', async () => {
    fleet.commit(fleet.root, { '.gitignore': 'local.cfg\n' });
    writeFileSync(join(fleet.root, 'local.cfg'), 'mine\n');
    const tree = await fleet.loop('one');
    writeFileSync(join(tree, 'local.cfg'), 'theirs\n');
    gitIn(tree, 'add', '-f', 'local.cfg');
    fleet.commit(tree, { 'c.txt': 'c\n' });
    expect((await parks('one')).files).toEqual(['local.cfg']);
    expect(readFileSync(join(fleet.root, 'local.cfg'), 'utf8')).toBe('mine\n');
  });

  test('a branch that was set back and holds its work no more', async () => {
    const tree = await fleet.loop('one');
    const tip = fleet.commit(tree, { 'c.txt': 'c\n' });
    gitIn(tree, 'reset', '-q', '--hard', 'main');
    expect((await parks('one', { lastHead: tip })).why).toContain(
      `does not hold commit ${tip.slice(0, 12)} any more`,
    );
    gitIn(tree, 'merge', '-q', tip);
    expect(await fleet.land('one', { lastHead: tip })).toMatchObject({ kind: 'landed', commit: tip });
  });

  describe('tasks that are done, and the branch was reset', () => {
    const SAID = ['Ralph-Session: s1', 'Ralph-Task: T1', 'Ralph-Attempt: 1'];

    /** The commit of T1 was taken off, and another one is there in its place. */
    async function resetLoop() {
      const tree = await fleet.loop('one');
      const tip = fleet.commit(tree, { 'c.txt': 'c\n' });
      const blob = gitIn(tree, 'rev-parse', 'HEAD:c.txt');
      gitIn(tree, 'reset', '-q', '--hard', 'main');
      fleet.commit(tree, { 'd.txt': 'd\n' });
      const left = new Map([['c.txt', new Set([blob])]]);
      return { tree, tip, work: [{ task: 'T1', commit: tip, said: SAID, left }] };
    }

    test('their work has to be there; the words bring it back', async () => {
      const { tree, tip, work } = await resetLoop();
      const { why, next } = await parks('one', { work });
      expect(why).toContain('no longer contains the work of T1');
      expect(next).toContain(`git -C ${tree} merge --autostash ${tip.slice(0, 12)}`);
      gitIn(tree, 'merge', '-q', '--no-edit', tip);
      expect(await fleet.land('one', { work })).toMatchObject({ kind: 'landed' });
      expect(fleet.git('show', 'main:c.txt')).toBe('c');
    });

    test('also where the branch brings nothing at all', async () => {
      const { tree, work } = await resetLoop();
      gitIn(tree, 'reset', '-q', '--hard', 'main');
      expect((await parks('one', { work })).why).toContain('no longer contains the work of T1');
    });

    test.each<[string, (tree: string, tip: string) => void]>([
      ['rebased', (tree, tip) => gitIn(tree, 'cherry-pick', tip)],
      [
        'amended',
        (tree) => {
          writeFileSync(join(tree, 'c.txt'), 'another\n');
          gitIn(tree, 'add', '-A');
          gitIn(tree, 'commit', '-qm', `In their words\n\n${SAID.join('\n')}`);
        },
      ],
      [
        'squashed',
        (tree, tip) => {
          gitIn(tree, 'checkout', '-q', tip, '--', 'c.txt');
          gitIn(tree, 'commit', '-q', '--amend', '-m', 'all of it');
        },
      ],
      ['accepted without it', (tree, tip) => gitIn(tree, 'merge', '-q', '--no-edit', '-s', 'ours', tip)],
      [
        'merged where it lands',
        (_, tip) => {
          fleet.git('cherry-pick', tip);
        },
      ],
    ])('%s by a person, it lands', async (_, does) => {
      const { tree, tip, work } = await resetLoop();
      does(tree, tip);
      expect(await fleet.land('one', { work })).toMatchObject({ kind: 'landed' });
    });
  });

  test('a token that the branch has already is nothing new', async () => {
    fleet.commit(fleet.root, { 'fixture.txt': `${TOKEN}\n` });
    const tip = fleet.commit(await fleet.loop('one'), { 'copy.txt': `${TOKEN}\n` });
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: tip });
  });

  test('a file that no server takes', async () => {
    const tree = await fleet.loop('one');
    fleet.commit(tree, { 'big.bin': '\0'.repeat(51 * 1024 * 1024) });
    expect((await parks('one')).why).toContain('big.bin has 51 MiB');
  });
});

describe('gates', () => {
  const gates = (said: string | null, passedOn: string | null = null) => {
    const ran: string[] = [];
    const run = (name: string) => {
      ran.push(`${name} ${gitIn(`${fleet.root}/../one`, 'rev-parse', 'HEAD')}`);
      return Promise.resolve(said);
    };
    return { ran, gates: { required: ['test'], passedOn, run } };
  };

  test('run on the merge, in the work tree of the loop; a red one parks with its last words', async () => {
    const tree = await fleet.loop('one');
    const tip = fleet.commit(tree, { 'c.txt': 'c\n' });
    const before = fleet.commit(fleet.root, { 'd.txt': 'd\n' });
    const red = gates('1\n2\n3\n4\n5\n6 failed');
    const landing = await fleet.land('one', { gates: red.gates });
    expect(landing).toMatchObject({ kind: 'parked', why: expect.stringContaining('2\n3\n4\n5\n6 failed') });
    expect(main()).toBe(before);
    expect(gitIn(tree, 'log', '-1', '--format=%P')).toBe(`${before} ${tip}`);
    expect(red.ran).toEqual([`test ${tipOf('one')}`]);
    const green = gates(null);
    const repaired = fleet.commit(tree, { 'c.txt': 'repaired\n' });
    expect(await fleet.land('one', { gates: green.gates })).toMatchObject({
      kind: 'landed',
      commit: repaired,
    });
    expect(green.ran).toHaveLength(1);
  });

  test('do not run again on the commit that they passed on', async () => {
    const tip = fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    const red = gates('never asked', tip);
    expect(await fleet.land('one', { gates: red.gates })).toMatchObject({ kind: 'landed', commit: tip });
    expect(red.ran).toEqual([]);
  });

  test('where main moves while they run, the landing begins again with what it is now', async () => {
    const tip = fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    let moved = '';
    const run = () => {
      if (moved === '') moved = fleet.commit(fleet.root, { 'd.txt': 'd\n' });
      return Promise.resolve(null);
    };
    const landing = await fleet.land('one', { gates: { required: ['test'], passedOn: null, run } });
    expect(landing).toMatchObject({ kind: 'landed', commit: main(), merged: true });
    expect(fleet.git('log', '-1', '--format=%P')).toBe(`${moved} ${tip}`);
  });
});

describe('a landing that was broken off', () => {
  const told = async (id: string, to: string) => {
    const at = Date.now();
    await tellLoop(fleet.root, at, { type: 'loop.queued', loop: id, head: tipOf(id) });
    await tellLoop(fleet.root, at, { type: 'loop.landing', loop: id, from: main(), to });
  };

  test('before the branch moved is taken up', async () => {
    const tip = fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    await told('one', tip);
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: tip });
  });

  test('after the branch moved is known to have landed, and nothing is merged twice', async () => {
    fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    fleet.commit(fleet.root, { 'd.txt': 'd\n' });
    const tree = fleet.git('merge-tree', '--write-tree', 'main', 'ralph/one');
    const to = fleet.git('commit-tree', tree, '-p', 'main', '-p', 'ralph/one', '-m', 'merge');
    await told('one', to);
    fleet.git('merge', '-q', '--ff-only', to);
    const later = fleet.commit(fleet.root, { 'e.txt': 'e\n' });
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: to });
    expect(main()).toBe(later);
    expect(fleet.known('one')).toMatchObject({ standing: 'landed', landed: to });
  });
});

describe('whose turn it is', () => {
  test('a run that works in the main checkout is waited for', async () => {
    const tip = fleet.commit(await fleet.loop('one'), { 'c.txt': 'c\n' });
    const file = treeLock(fleet.root);
    const runner = await takeLock({ file, identity: ownIdentity(), sessionId: 's9', now: Date.now() });
    if (runner.kind !== 'taken') throw new Error('the lock was not free');
    const before = main();
    expect(await fleet.land('one')).toMatchObject({
      kind: 'queued',
      why: expect.stringContaining('session s9'),
    });
    expect([main(), fleet.known('one').standing]).toEqual([before, 'queued']);
    const landing = fleet.land('one', { wait: true });
    await expect.poll(() => fleet.told.join('\n')).toContain('waits to land: a run works in');
    await runner.release();
    expect(await landing).toMatchObject({ kind: 'landed', commit: tip });
  });

  test('one that was done earlier lands first, unless its process is gone', async () => {
    for (const id of ['early', 'late']) fleet.commit(await fleet.loop(id), { [`${id}.txt`]: `${id}\n` });
    const other = spawn('sleep', ['60']);
    try {
      const row = (await processTable()).find(({ pid }) => pid === other.pid)!;
      const by = { ...ownIdentity(), pid: row.pid, startTime: row.startTime };
      const head = tipOf('early');
      await tellLoop(fleet.root, Date.now() - 10, { type: 'loop.queued', loop: 'early', head, by });
      expect(await fleet.land('late')).toMatchObject({
        kind: 'queued',
        why: 'loop early was done earlier and lands first',
      });
    } finally {
      const gone = new Promise((resolve) => other.once('exit', resolve));
      other.kill();
      await gone;
    }
    expect(await fleet.land('late')).toMatchObject({ kind: 'landed' });
  });

  test('one whose landing was broken off waits on, and holds nobody up while its process lives', async () => {
    for (const id of ['early', 'late']) fleet.commit(await fleet.loop(id), { [`${id}.txt`]: `${id}\n` });
    const ending = new AbortController();
    const run = () => {
      ending.abort();
      return Promise.resolve(null);
    };
    const gates = { required: ['test'], passedOn: null, run };
    const broken = await fleet.land('early', { wait: true, signal: ending.signal, gates });
    expect(broken).toMatchObject({ kind: 'queued', why: 'it was interrupted' });
    expect(fleet.known('early')).toMatchObject({ standing: 'queued', queued: { by: null } });
    expect(await fleet.land('late')).toMatchObject({ kind: 'landed' });
  });

  test('a work tree that was never worked in is no reason to wait', async () => {
    fleet.git('branch', 'next');
    const tree = join(fleet.root, '..', 'next');
    fleet.git('worktree', 'add', '-q', tree, 'next');
    const tip = fleet.commit(await fleet.loop('one', 'next'), { 'c.txt': 'c\n' });
    expect(await fleet.land('one')).toMatchObject({ kind: 'landed', commit: tip });
    expect(existsSync(join(tree, 'c.txt'))).toBe(true);
    expect(existsSync(join(tree, '.ralph'))).toBe(false);
    mkdirSync(join(tree, '.ralph'));
  });
});
