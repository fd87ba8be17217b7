/**
 * A person moves, deletes or forgets what a loop works with while its agent is at work: the run ends with what happened
 * and the words that mend it, nothing that was committed is lost, and doing as the words say goes on to the end.
 */
import { existsSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { ownIdentity } from '../../src/process/index.ts';
import { takeLock, tellLoop } from '../../src/store/index.ts';
import { marked } from '../kill/killing.ts';
import { json, sessionDir, sessions, until } from './journal.ts';
import { DONE, makeProject, type Project, type Ran, type Started, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const ATTENDS =
  '[ -e "$HOME/began" ] || { touch "$HOME/began"; until [ -e "$HOME/go" ]; do sleep 0.05; done; }';

interface Scene {
  run: Started;
  /** The work tree of the loop. */
  tree: string;
  /** Its first task's commit. */
  tip: string;
}

/** One task of the loop is committed, and the agent of the second is at work. */
async function atWork(): Promise<Scene> {
  project = makeProject({
    files: { 'prd.json': taskList([story('T1'), story('T2')]) },
    runs: [
      { when: { task: 'T1' }, do: [{ write: { path: 'T1.txt', content: '1\n' } }, { say: DONE }] },
      { do: [{ run: ATTENDS }, { write: { path: 'T2.txt', content: '2\n' } }, { say: DONE }] },
    ],
  });
  project.write('second.txt', '2\n');
  project.git('add', 'second.txt');
  project.git('commit', '-qm', 'second');
  const run = project.start(['run', '--worktree', 'one', '--tasks', 'prd.json']);
  await until(() => existsSync(join(project.home, 'began')), 'the agent');
  const tree = realpathSync(join(project.dir, '.ralph/worktrees/one'));
  return { run, tree, tip: project.git('rev-parse', 'ralph/one') };
}

/** The agent goes on to its end, and the run after it. */
async function ended({ run }: Scene): Promise<Ran> {
  writeFileSync(join(project.home, 'go'), '');
  return run.done;
}

async function loop(): Promise<Record<string, unknown>> {
  const rows = json<Record<string, unknown>[]>(await project.ralph(['loops', '--json']));
  return rows.find(({ loop_id: id }) => id === 'one')!;
}

/** Paused with these words, which every window has, and nothing is left behind. */
async function expectPaused({ tip }: Scene, ran: Ran, words: string[]): Promise<void> {
  expect([ran.code, ran.err]).toEqual([7, expect.not.stringContaining('defect')]);
  for (const word of [...words, 'ralph resume --session @one']) expect(ran.out).toContain(word);
  expect(ran.out).not.toContain('`ralph resume`');
  expect(ran.out).not.toContain('ralph run --worktree');
  expect(await loop()).toMatchObject({ state: 'paused', runner: null, tasks: { done: 1, total: 2 } });
  expect((await loop()).next).toContain('ralph resume --session @one');
  expect((await project.ralph(['status', '--session', '@one'])).out).toContain(words[0]);
  expect(marked(project)).toEqual([]);
  expect(project.git('cat-file', '-t', tip)).toBe('commit');
}

async function goesOn(): Promise<void> {
  const again = await project.ralph(['resume', '--session', '@one']);
  expect([again.code, again.out + again.err]).toEqual([0, expect.any(String)]);
  expect(project.git('show', 'main:T1.txt', 'main:T2.txt')).toBe('1\n2');
  expect(await loop()).toMatchObject({ state: 'landed', tasks: { done: 2, total: 2 } });
  expect(project.git('status', '--porcelain')).toBe('');
  expect(project.git('fsck', '--full', '--strict', '--no-dangling')).toBe('');
}

const away = (tree: string) => rmSync(tree, { recursive: true });
const REMOVED: [string, (tree: string) => void][] = [
  ['rm -rf', away],
  ['rm -rf and git worktree prune', (tree) => [away(tree), project.git('worktree', 'prune')]],
  ['git worktree remove --force', (tree) => project.git('worktree', 'remove', '--force', tree)],
];

test.each(REMOVED)('its work tree is removed while an agent works in it: %s', async (_, remove) => {
  const at = await atWork();
  remove(at.tree);
  const ran = await ended(at);
  await expectPaused(at, ran, ['was removed', 'Its commits are on branch ralph/one', 'makes it again']);
  expect(ran.out).not.toContain('git init');
  expect(project.git('rev-parse', 'ralph/one')).toBe(at.tip);
  await goesOn();
});

test('its work tree and its branch are removed while an agent works in it: its commits are kept, and named', async () => {
  const at = await atWork();
  project.git('worktree', 'remove', '--force', at.tree);
  project.git('branch', '-D', 'ralph/one');
  const ran = await ended(at);
  expect([ran.code, ran.err]).toEqual([7, expect.not.stringContaining('defect')]);
  const ref = project.git('for-each-ref', `--contains=${at.tip}`, '--format=%(refname)');
  expect(ref).toMatch(/^refs\/ralph\/.+\/2$/);
  expect(ran.out).toContain(ref);
  const back = await project.ralph(['resume', '--session', '@one']);
  expect([back.code, back.err]).toEqual([5, expect.stringContaining(`git branch ralph/one ${at.tip}`)]);
  project.git('branch', 'ralph/one', at.tip);
  await goesOn();
});

test('its runner is killed and its work tree removed: it is made again, and the attempt is lost', async () => {
  const at = await atWork();
  at.run.child.kill('SIGKILL');
  await at.run.done;
  away(at.tree);
  writeFileSync(join(project.home, 'go'), '');
  const again = await project.ralph(['run', '--worktree', 'one']);
  expect([again.code, again.err]).toEqual([0, expect.stringContaining('it was made again')]);
  expect(project.git('show', 'main:T1.txt', 'main:T2.txt')).toBe('1\n2');
  expect(marked(project)).toEqual([]);
});

test('git forgets its work tree while an agent works in it: the files stay, and moved away they are in nobody’s way', async () => {
  const at = await atWork();
  rmSync(join(project.dir, '.git/worktrees/one'), { recursive: true });
  const ran = await ended(at);
  await expectPaused(at, ran, ['git was made to forget the work tree', `mv ${at.tree} ${at.tree}-mine`]);
  expect(existsSync(join(at.tree, 'T2.txt'))).toBe(true);
  renameSync(at.tree, `${at.tree}-mine`);
  await goesOn();
});

test('its branch is deleted while an agent works on it, and brought back as the words say', async () => {
  const at = await atWork();
  project.git('update-ref', '-d', 'refs/heads/ralph/one');
  const back = `git branch ralph/one ${at.tip}`;
  await expectPaused(at, await ended(at), ['the branch ralph/one was removed', back]);
  const refused = await project.ralph(['resume', '--session', '@one']);
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining(back)]);
  project.git('branch', 'ralph/one', at.tip);
  await goesOn();
});

test('its branch is set back while an agent works on it, and what was taken off is merged again', async () => {
  const at = await atWork();
  project.git('update-ref', 'refs/heads/ralph/one', 'main');
  const kept = `refs/ralph/${sessions(project)[0]}/2`;
  const back = `in ${at.tree} with \`git merge --autostash ${kept}\``;
  await expectPaused(at, await ended(at), ['commits were taken off the branch', back]);
  expect(project.git('rev-parse', kept)).toBe(at.tip);
  project.git('-C', at.tree, 'merge', '--autostash', kept);
  await goesOn();
});

test('its work tree is switched to another branch while an agent works in it', async () => {
  const at = await atWork();
  project.git('-C', at.tree, 'switch', '-q', '-c', 'mine');
  const back = `git -C ${at.tree} switch ralph/one`;
  const ran = await ended(at);
  await expectPaused(at, ran, ['was switched from ralph/one to mine', back]);
  expect(ran.out).not.toContain('or stay');
  const refused = await project.ralph(['resume', '--session', '@one']);
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining(back)]);
  project.git('-C', at.tree, 'switch', '-q', 'ralph/one');
  await goesOn();
});

test('a person commits on its branch and on main while an agent works: both land', async () => {
  const at = await atWork();
  writeFileSync(join(at.tree, 'theirs.txt'), 'theirs\n');
  project.git('-C', at.tree, 'add', 'theirs.txt');
  project.git('-C', at.tree, 'commit', '-qm', 'Theirs, beside the agent');
  project.write('moved.txt', 'on\n');
  project.git('add', 'moved.txt');
  project.git('commit', '-qm', 'Main moves on');
  const ran = await ended(at);
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('landed on main by a merge')]);
  for (const path of ['T1.txt', 'T2.txt', 'theirs.txt', 'moved.txt']) project.git('show', `main:${path}`);
  expect(project.git('log', '--merges', '--format=%s', 'main')).toBe('Merge loop one');
});

test('main is set back while an agent works: what was taken out of it does not come back, and the words land the rest', async () => {
  const at = await atWork();
  const base = project.git('rev-parse', 'main');
  project.git('reset', '-q', '--hard', 'HEAD~1');
  const ran = await ended(at);
  const rebase = `git rebase --onto main ${base.slice(0, 12)}`;
  expect([ran.code, ran.out]).toEqual([8, expect.stringContaining(rebase)]);
  expect(await loop()).toMatchObject({ state: 'needs_review', next: expect.stringContaining(rebase) });
  project.git('-C', at.tree, 'rebase', '-q', '--onto', 'main', base.slice(0, 12));
  const merged = await project.ralph(['loops', 'merge', 'one']);
  expect([merged.code, merged.err]).toEqual([0, expect.any(String)]);
  expect(project.git('ls-tree', '--name-only', 'main').split('\n')).not.toContain('second.txt');
  expect(project.git('show', 'main:T2.txt')).toBe('2');
});

test('a session that is held for a moment, by a message that is just taken in, is waited for by a start', async () => {
  const at = await atWork();
  at.run.child.kill('SIGKILL');
  await at.run.done;
  writeFileSync(join(project.home, 'go'), '');
  const id = sessions(project)[0]!;
  const file = join(sessionDir(project, id), 'lock');
  const held = await takeLock({ file, identity: ownIdentity(), sessionId: id, now: Date.now() });
  if (held.kind !== 'taken') throw new Error('the session is held');
  const started = project.start(['run', '--worktree', 'one']);
  // It has the work tree, and meets a session that is held.
  const lock = join(at.tree, '.ralph/tree.lock');
  await until(
    () => existsSync(lock) && project.git('-C', at.tree, 'rev-parse', 'HEAD') === at.tip,
    'a start',
  );
  await new Promise((done) => setTimeout(done, 1500));
  expect(started.child.exitCode).toBe(null);
  await held.release();
  expect(await started.done).toMatchObject({ code: 0 });
});

test('a loop that was killed right after it landed is told so in its session before it is taken away', async () => {
  const at = await atWork();
  project.write('ralph.yml', `${project.read('ralph.yml')}land: branch\n`);
  at.run.child.kill('SIGKILL');
  await at.run.done;
  writeFileSync(join(project.home, 'go'), '');
  writeFileSync(join(at.tree, 'ralph.yml'), project.read('ralph.yml'));
  project.git('checkout', '-q', 'ralph.yml');
  await project.ralph(['run', '--worktree', 'one']);
  project.git('-C', at.tree, 'checkout', '-q', 'ralph.yml');
  project.git('merge', '-q', '--ff-only', 'ralph/one');
  const commit = project.git('rev-parse', 'main');
  await tellLoop(project.dir, Date.now(), { type: 'loop.landed', loop: 'one', commit });
  const pruned = json(await project.ralph(['loops', 'prune', '--json']));
  expect(pruned).toMatchObject({ removed: ['one'] });
  const status = await project.ralph(['status', '--session', sessions(project)[0]!]);
  expect(status.out).toContain('Loop one landed on main');
});
