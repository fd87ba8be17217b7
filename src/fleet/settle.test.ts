/** An agent that is hired for a conflict, on real git: when it is, what is asked of what it made, and once only. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gitIn } from '../repo/test-ground.ts';
import { tellLoop } from '../store/index.ts';
import type { Astray, Settler, Settling, SettlingJob } from './index.ts';
import { openFleet, type TestFleet } from './test-fleet.ts';

let fleet: TestFleet;
let tree: string;
beforeEach(async () => {
  fleet = openFleet();
  tree = await fleet.loop('one');
  fleet.commit(tree, { 'a.txt': 'one\nmine\nthree\n', 'c.txt': 'c\n' }, 'Say mine');
  fleet.commit(fleet.root, { 'a.txt': 'one\nyours\nthree\n' }, 'Say yours');
});
afterEach(() => {
  fleet.check();
  fleet.remove();
});

/** Somebody who is hired, with a work tree of their own, and what they were given. */
function hire(work: (dir: string, job: SettlingJob) => Settling | Promise<Settling>) {
  const jobs: SettlingJob[] = [];
  const dir = join(fleet.root, '..', 'settling');
  let cleared = 0;
  const settler: Settler = {
    agent: 'somebody',
    barred: null,
    intents: ['Mine is said'],
    gates: [],
    isOrder: (path) => path === 'ralph.yml',
    async work(job) {
      jobs.push(job);
      if (job.session === null) {
        fleet.git('worktree', 'add', '-q', '-f', '--detach', dir, job.draft);
        await job.begun('s1');
      }
      return work(dir, job);
    },
    async done(keep) {
      cleared += 1;
      if (!gitIn(fleet.root, 'worktree', 'list').includes('settling')) return null;
      fleet.git('worktree', 'remove', '--force', dir);
      return keep ? 'here' : null;
    },
  };
  return { jobs, settler, cleared: () => cleared };
}

const commits = (text: string) => (dir: string) => done(dir, fleet.commit(dir, { 'a.txt': text }));
const done = (dir: string, head: string): Settling => ({ kind: 'done', tree: dir, given: [], head });
const BOTH = 'one\nmine and yours\nthree\n';
const facts = () =>
  readFileSync(join(fleet.root, '.ralph', 'journal.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string })
    .filter(({ type }) => type.startsWith('loop.'));

test('is told in the journal before it begins, and what it made is the merge that lands', async () => {
  const [main, tip] = ['main', 'ralph/one'].map((name) => fleet.git('rev-parse', name));
  const { settler, jobs, cleared } = hire(commits(BOTH));
  const landing = await fleet.land('one', { settler });
  const merge = fleet.git('rev-parse', 'main');
  expect(landing).toMatchObject({ kind: 'landed', commit: merge, merged: true });
  expect(fleet.git('log', '-1', '--format=%P')).toBe(`${main} ${tip}`);
  expect(fleet.git('log', '-1', '--format=%B')).toContain('Ralph-Conflict-Settled-By: somebody');
  expect(readFileSync(join(fleet.root, 'a.txt'), 'utf8')).toBe(BOTH);
  expect(facts().map(({ type }) => type)).toEqual(
    ['created', 'queued', 'hired', 'hired', 'settled', 'landing', 'landed'].map((word) => `loop.${word}`),
  );
  expect(fleet.known('one').hired).toMatchObject({ agent: 'somebody', session: 's1', settled: merge });
  for (const word of ['a.txt', 'Mine is said', 'Say mine', 'Say yours', main!, tip!])
    expect(jobs[0]!.prompt).toContain(word);
  expect(cleared()).toBe(1);
});

test('gates run where it worked, and an objection leaves the branch of the loop where it was', async () => {
  const tip = fleet.git('rev-parse', 'ralph/one');
  const ran: (string | undefined)[] = [];
  const run = (_: string, where?: string) => {
    ran.push(where);
    return Promise.resolve('2 failed');
  };
  const { settler } = hire(commits(BOTH));
  const landing = await fleet.land('one', { settler, gates: { required: ['test'], passedOn: null, run } });
  expect(landing).toMatchObject({
    kind: 'parked',
    files: ['a.txt'],
    why: expect.stringContaining(
      'settled it so that gate test does not pass on what main would be: 2 failed',
    ),
    next: expect.stringContaining('What it made: here.'),
  });
  expect(ran).toEqual([join(fleet.root, '..', 'settling')]);
  expect(fleet.git('rev-parse', 'ralph/one')).toBe(tip);
});

describe('what is refused', () => {
  test.each<[string, (dir: string) => Settling | Promise<Settling>, string]>([
    ['a mark that is left', commits('one\n<<<<<<< mine\nthree\n'), 'left marks of the conflict in a.txt'],
    ['a line beside the conflict', commits('ONE\nmine\nthree\n'), 'changed a.txt outside of the conflict'],
    [
      'a file that is gone',
      (dir) => {
        gitIn(dir, 'rm', '-q', 'a.txt');
        return done(dir, fleet.commit(dir, {}));
      },
      'removed a.txt',
    ],
    [
      'another file',
      (dir) => done(dir, fleet.commit(dir, { 'a.txt': BOTH, 'c.txt': 'C\n' })),
      'changed c.txt',
    ],
    [
      'work that is in no commit',
      (dir) => {
        const settled = commits(BOTH)(dir);
        fleet.commit(dir, { 'left.txt': 'l\n' });
        gitIn(dir, 'reset', '-q', '--soft', 'HEAD~1');
        return settled;
      },
      'left left.txt in no commit',
    ],
    [
      'more text than can be read',
      (dir) => done(dir, fleet.commit(dir, { 'a.txt': `one\n${'x'.repeat(51 * 1024 * 1024)}\nthree\n` })),
      'removed a.txt, or made it no text, or more than any server takes',
    ],
    ['an agent that failed', () => ({ kind: 'failed', why: 'did not: it crashed' }), 'did not: it crashed'],
  ])('%s', async (_, work, why) => {
    const refs = fleet.git('for-each-ref', 'refs/heads');
    const { settler, cleared } = hire(work);
    const landing = await fleet.land('one', { settler });
    expect(landing).toMatchObject({
      kind: 'parked',
      why: expect.stringContaining(
        `it and main change the same places of a.txt, and somebody, which was hired to settle that, ${why}`,
      ),
    });
    expect([fleet.git('for-each-ref', 'refs/heads'), cleared()]).toEqual([refs, 1]);
    expect(fleet.known('one')).toMatchObject({ standing: 'needs_review', hired: { settled: null } });
  });
});

describe('once for each time that a loop is queued', () => {
  const interrupted = () => hire(() => ({ kind: 'interrupted' }));

  test('one that was broken off goes on in its session', async () => {
    const first = interrupted();
    expect(await fleet.land('one', { settler: first.settler })).toMatchObject({ kind: 'queued' });
    expect([first.cleared(), fleet.known('one').standing]).toEqual([0, 'queued']);
    const again = hire(commits(BOTH));
    expect(await fleet.land('one', { settler: again.settler })).toMatchObject({ kind: 'landed' });
    expect(again.jobs.map(({ session, draft }) => [session, draft])).toEqual([['s1', first.jobs[0]!.draft]]);
  });

  test('a run of the loop in between is no other landing', async () => {
    await fleet.land('one', { settler: interrupted().settler });
    await tellLoop(fleet.root, Date.now(), { type: 'loop.session', loop: 'one', session: 's0' });
    const again = hire(commits(BOTH));
    expect(await fleet.land('one', { settler: again.settler })).toMatchObject({ kind: 'landed' });
    expect(again.jobs[0]!.session).toBe('s1');
  });

  test('where one side changed meanwhile nobody is hired anew, and a landing after that may hire again', async () => {
    await fleet.land('one', { settler: interrupted().settler });
    fleet.commit(fleet.root, { 'd.txt': 'd\n' });
    const again = hire(commits(BOTH));
    expect(await fleet.land('one', { settler: again.settler })).toMatchObject({
      kind: 'parked',
      why: expect.stringContaining('somebody was hired before one of them changed'),
    });
    expect([again.jobs, again.cleared()]).toEqual([[], 1]);
    expect(await fleet.land('one', { settler: again.settler, asked: true })).toMatchObject({
      kind: 'landed',
    });
  });

  test('after one that was hired in vain only a person hires again, or the loop itself once it has gone on', async () => {
    await fleet.land('one', { settler: hire(() => ({ kind: 'failed', why: 'did not' })).settler });
    const again = hire(() => ({ kind: 'failed', why: 'did not' }));
    fleet.commit(fleet.root, { 'd.txt': 'd\n' });
    await tellLoop(fleet.root, Date.now(), { type: 'loop.session', loop: 'one', session: 's0' });
    const plain = { kind: 'parked', why: expect.stringContaining('one was before and did not settle it') };
    expect(await fleet.land('one', { settler: again.settler })).toMatchObject(plain);
    expect(await fleet.land('one', { settler: again.settler })).toMatchObject(plain);
    expect(again.jobs).toEqual([]);
    await fleet.land('one', { settler: again.settler, asked: true });
    expect(again.jobs).toHaveLength(1);
    fleet.commit(tree, { 'e.txt': 'e\n' });
    await fleet.land('one', { settler: again.settler });
    expect(again.jobs).toHaveLength(2);
  });
});

test('what it made is heard by the hooks of the user’s as any merge is', async () => {
  const file = join(fleet.root, '.git', 'hooks', 'commit-msg');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\ngrep -q ^Merge "$1" || exit 0\necho no ticket >&2\nexit 1\n', {
    mode: 0o755,
  });
  const refs = fleet.git('for-each-ref', 'refs/heads');
  expect(await fleet.land('one', { settler: hire(commits(BOTH)).settler })).toMatchObject({
    kind: 'parked',
    why: expect.stringContaining(
      `settled it, but hook ${file} does not let its merge with main pass: no ticket`,
    ),
  });
  expect(fleet.git('for-each-ref', 'refs/heads')).toBe(refs);
});

describe('branches that it moved', () => {
  const onDraft = (dir: string, ref: string) => {
    const from = fleet.git('rev-parse', ref);
    gitIn(dir, 'update-ref', `refs/heads/${ref}`, 'HEAD');
    return { ref: `refs/heads/${ref}`, from, to: fleet.git('rev-parse', ref), session: 's1', hired: true };
  };

  test('to something of its own are not heard of with what it made: all is parked, and how each goes back', async () => {
    const moved: Astray[] = [];
    const { settler } = hire((dir) => {
      for (const ref of ['main', 'ralph/one']) moved.push({ ...onDraft(dir, ref), its: true });
      return commits(BOTH)(dir);
    });
    const landing = await fleet.land('one', { settler, moved: () => moved });
    const [main, own] = moved as [Astray, Astray];
    expect(landing).toMatchObject({
      kind: 'parked',
      why: expect.stringContaining(
        `did more than that: main was moved from ${main.from.slice(0, 12)} to ${main.to.slice(0, 12)} in session s1, to a commit that was made there and that nobody accepted, and ralph/one was`,
      ),
      next: expect.stringContaining(
        `Put main back: \`git update-ref refs/heads/main ${main.from} ${main.to}\`. Until then commit nothing in ${fleet.root}, where that move shows as changes. Put ralph/one back: `,
      ),
    });
    const again = hire(commits(BOTH));
    const held = await fleet.land('one', { settler: again.settler, moved: () => moved, asked: true });
    expect(held).toMatchObject({
      kind: 'parked',
      why: expect.stringContaining('main was moved from'),
      next: expect.stringMatching(/^Put main back: .+ Put ralph\/one back: .+ Then `ralph loops merge one`/),
    });
    expect([again.jobs, fleet.git('rev-parse', 'main')]).toEqual([[], main.to]);
    for (const { ref, from, to } of [main, own]) fleet.git('update-ref', ref, from, to);
    expect(fleet.git('status', '--porcelain')).toBe('');
    expect(
      await fleet.land('one', { settler: again.settler, moved: () => moved, asked: true }),
    ).toMatchObject({
      kind: 'landed',
    });
  });

  test('before it was killed, which its session does not tell, are known by the draft', async () => {
    const from = fleet.git('rev-parse', 'main');
    const first = hire((dir) => {
      onDraft(dir, 'main');
      return { kind: 'interrupted' };
    });
    expect(await fleet.land('one', { settler: first.settler })).toMatchObject({ kind: 'queued' });
    const again = hire(commits(BOTH));
    const draft = first.jobs[0]!.draft;
    expect(await fleet.land('one', { settler: again.settler })).toMatchObject({
      kind: 'parked',
      next: expect.stringContaining(`git update-ref refs/heads/main ${from} ${draft}`),
    });
    expect(again.jobs).toEqual([]);
  });

  test('to what it did not make hold nothing up, but where a work tree shows the move as changes', async () => {
    const moved: Astray[] = [];
    const by = () => moved;
    fleet.git('branch', 'other', 'main~1');
    const { settler } = hire((dir) => {
      moved.push({ ...onDraft(dir, 'other'), its: false });
      return commits(BOTH)(dir);
    });
    expect(await fleet.land('one', { settler, moved: by })).toMatchObject({ kind: 'landed' });
    fleet.commit(tree, { 'd.txt': 'd\n' });
    const [from, to] = ['main', 'main~1'].map((name) => fleet.git('rev-parse', name)) as [string, string];
    fleet.git('update-ref', 'refs/heads/main', to);
    const set = { ref: 'refs/heads/main', from, to, session: 's0', hired: false, its: false };
    expect(await fleet.land('one', { moved: () => [set] })).toMatchObject({
      kind: 'parked',
      why: expect.stringContaining('which does not hold what it held'),
      next: expect.stringContaining(`git update-ref refs/heads/main ${from} ${to}`),
    });
    fleet.git('reset', '-q', '--hard');
    expect(await fleet.land('one', { moved: () => [set] })).toMatchObject({ kind: 'landed' });
  });

  test('by an attempt of the loop to work that was accepted since hold nothing up either, but there', async () => {
    const two = await fleet.loop('two');
    const from = fleet.git('rev-parse', 'main');
    const to = fleet.commit(two, { 'e.txt': 'e\n' });
    fleet.commit(two, { 'f.txt': 'f\n' });
    fleet.git('update-ref', 'refs/heads/main', to);
    const moved = { ref: 'refs/heads/main', from, to, session: 's0', hired: false, its: true };
    expect(await fleet.land('two', { moved: () => [moved] })).toMatchObject({
      kind: 'parked',
      next: expect.stringContaining('Until then commit nothing'),
    });
    fleet.git('reset', '-q', '--hard');
    expect(await fleet.land('two', { moved: () => [moved] })).toMatchObject({ kind: 'landed' });
  });
});

test('where nothing is left to spend nobody is hired', async () => {
  const { settler, jobs } = hire(commits(BOTH));
  const barred = '$5.00 of $5 are spent (--max-cost)';
  expect(await fleet.land('one', { settler: { ...settler, barred } })).toMatchObject({
    kind: 'parked',
    why: expect.stringContaining(`somebody was not hired for it: ${barred}`),
  });
  expect(jobs).toEqual([]);
});

test('a file that is no UTF-8 comes back byte by byte', async () => {
  const text = (line: string, beside = '\xe9') => Buffer.from(`${beside}\n${line}\nend\n`, 'latin1');
  const write = (dir: string, bytes: Buffer) => {
    writeFileSync(join(dir, 'latin.txt'), bytes);
    return fleet.commit(dir, {});
  };
  write(fleet.root, text('as it was'));
  write(await fleet.loop('two'), text('mine'));
  write(fleet.root, text('yours'));
  const recoded = hire((dir) => done(dir, write(dir, text('both', '\xef\xbf\xbd'))));
  expect(await fleet.land('two', { settler: recoded.settler })).toMatchObject({
    kind: 'parked',
    why: expect.stringContaining('changed latin.txt outside of the conflict'),
  });
  const kept = hire((dir) => done(dir, write(dir, text('both'))));
  expect(await fleet.land('two', { settler: kept.settler, asked: true })).toMatchObject({ kind: 'landed' });
  expect(readFileSync(join(fleet.root, 'latin.txt'))).toEqual(text('both'));
});

test('nobody is hired for what is no conflict of lines', async () => {
  fleet.git('rm', '-q', 'a.txt');
  fleet.git('commit', '-q', '-m', 'gone');
  const { settler, jobs } = hire(commits(BOTH));
  expect(await fleet.land('one', { settler })).toMatchObject({
    kind: 'parked',
    why: expect.stringContaining('somebody was not hired for it: that of a.txt is no conflict of lines'),
  });
  expect(jobs).toEqual([]);
});

describe('a conflict that no agent may settle', () => {
  test('one that is no file’s is parked in git’s words', async () => {
    const lines = (from: number) => Array.from({ length: 30 }, (_, n) => `${from + n}\n`).join('');
    const names = ['f1', 'f2', 'f3', 'f4'];
    const files = Object.fromEntries(names.map((name, n) => [`d/${name}`, lines(n * 100)]));
    fleet.commit(fleet.root, files);
    const two = await fleet.loop('two');
    fleet.commit(two, { 'd/new': 'n\n' });
    for (const [n, name] of names.entries()) {
      const to = n < 2 ? 'x' : 'y';
      mkdirSync(join(fleet.root, to), { recursive: true });
      fleet.git('mv', `d/${name}`, `${to}/${name}`);
    }
    fleet.commit(fleet.root, {});
    const { settler, jobs } = hire(commits(BOTH));
    const refs = fleet.git('for-each-ref', 'refs/heads');
    const words = 'CONFLICT (directory rename split): Unclear where to rename d to';
    for (const who of [settler, null])
      expect(await fleet.land('two', { settler: who })).toMatchObject({
        kind: 'parked',
        files: [],
        why: expect.stringContaining(`though no single file is in conflict: ${words}`),
        next: expect.stringContaining('git merge main'),
      });
    expect([jobs, fleet.known('two').hired, fleet.git('for-each-ref', 'refs/heads')]).toEqual([
      [],
      null,
      refs,
    ]);
    // Beside one of lines it must not be passed over either.
    fleet.commit(two, { 'a.txt': 'one\nmine\nthree\n' });
    fleet.commit(fleet.root, { 'a.txt': 'one\ntheirs\nthree\n' });
    expect(await fleet.land('two', { settler })).toMatchObject({
      kind: 'parked',
      files: ['a.txt'],
      why: expect.stringContaining(`was not hired for it: it is about more than lines: ${words}`),
    });
    expect(jobs).toEqual([]);
  });

  test('nor one of a file by which agents are told what to do', async () => {
    fleet.commit(fleet.root, { 'ralph.yml': 'gates: []\n' });
    fleet.commit(await fleet.loop('two'), { 'ralph.yml': 'gates: [{ name: a }]\n' });
    fleet.commit(fleet.root, { 'ralph.yml': 'gates: [{ name: b }]\n' });
    const { settler, jobs } = hire(commits(BOTH));
    expect(await fleet.land('two', { settler })).toMatchObject({
      kind: 'parked',
      files: ['ralph.yml'],
      why: expect.stringContaining(
        'somebody was not hired for it: ralph.yml is a file by which agents are told',
      ),
      next: expect.stringMatching(
        /git merge main, settle the conflict and commit\. Then `ralph loops merge two`/,
      ),
    });
    expect([jobs, fleet.known('two').hired]).toEqual([[], null]);
  });
});
